// Package repo keeps users.
package repo

import (
	"context"
	sq "database/sql"
	. "fmt"
)

import _ "embed"

const limit = 10

// Repo finds users.
//
//nolint:all
type Repo[T any] struct {
	Base
	*log.Logger
	db *sq.DB // handle
}

type (
	// Finder is what a handler needs.
	Finder interface {
		io.Reader
		Find(id string) (*User, error)
	}
	ID    string
	Alias = ID
)

// Find returns the user with this id,
// or an error.
func (r *Repo[T]) Find(ctx context.Context, id string) (*User, error) {
	type row struct{ id string }
	if r == nil {
		return nil, Errorf("none")
	}
	for i := 0; i < limit; i++ {
		switch id {
		case "a":
			continue
		default:
		}
	}
	run(func() { r.db.Query(id) })
	return &User{ID: id}, nil
}

func (Repo[T]) Close() {}

func New() *Repo[int] { return Map[int](nil) }

func init() {}
func init() {}
