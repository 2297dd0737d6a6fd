"""Methods as Go spells them: two spellings of one method are one."""

from __future__ import annotations

import pytest

from aurora_memory.go_methods import method


@pytest.mark.parametrize(
    ("text", "name", "types"),
    [
        ("Close() error", "Close", "():error"),
        ("func (c *conn) Close() error", "Close", "():error"),
        ("func (c conn[K, V]) Close()", "Close", "():"),
        ("Read(p []byte) (n int, err error)", "Read", "([]byte):int,error"),
        ("Read([]byte) (int, error)", "Read", "([]byte):int,error"),
        ("Swap(i, j int)", "Swap", "(int,int):"),
        ("Add(a, b int, rest ...string)", "Add", "(int,int,...string):"),
        ("Log(string, ...interface{})", "Log", "(string,...interface{}):"),
        ("Log(msg string, args ...any)", "Log", "(string,...interface{}):"),
        ("Write(w io.Writer, m map[string]http.Header) *url.URL", "Write", "(Writer,map[string]Header):*URL"),
        ("Each(f func(a int, b string) error)", "Each", "(func):"),
        ("Each(func(int, string) error)", "Each", "(func):"),
        ("Send(chan int, <-chan string)", "Send", "(chanint,<-chanstring):"),
        ("Done( // says when\n) <-chan struct{}", "Done", "():<-chanstruct{}"),
        (
            "Get(\n\tctx context.Context,\n\tkey string,\n) (\n\tvalue T,\n\tfound bool,\n)",
            "Get",
            "(Context,string):T,bool",
        ),
        ("x()", "x", "():"),
    ],
)
def test_a_method_is_its_name_and_its_types(text: str, name: str, types: str) -> None:
    assert method(text) == (name, types)


@pytest.mark.parametrize(
    "text", ["", "Close", "Close(", "Read(p []byte) (int,", "~int | string", "type T struct", "()"]
)
def test_what_is_no_method_or_was_cut_off_is_none(text: str) -> None:
    assert method(text) is None
