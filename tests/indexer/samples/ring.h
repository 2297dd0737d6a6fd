#ifndef RING_H
#define RING_H
#include <stddef.h>
struct ring;
int ring_size(const struct ring *r);
#endif
