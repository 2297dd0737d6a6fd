#include <stdio.h>
#include "ring.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SIZE 16

/* A ring of bytes. */
struct ring {
	int head;
};

typedef struct node { struct node *next; } node_t;
typedef struct { int x, y; } point_t;
typedef enum { RED, GREEN } color_t;
typedef int (*compare_fn)(const void *, const void *);
typedef unsigned long word_t;
enum mode { READ };

static int table[SIZE] = { 1, 2 };

int proto(int a);

// Pushes a byte.
static struct ring *ring_push(struct ring *r, int (*cb)(int))
{
	if (!r) return NULL;
	while (r->head) { r->ops->flush(r); }
	return cb ? alloc(MIN(1, 2)) : r;
}

char **names(void) { return 0; }

/* A place in it. */
typedef struct _slot {
	int key;
} slot, *slots;

RING_TEST(pushes) {
	ring_push(0, 0);
}
