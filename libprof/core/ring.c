/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The byte ring. head and tail count bytes for ever; a position is the count modulo the size. Each
 * record stands behind a header and never wraps: what is left at the end of the memory becomes a
 * filler that the consumer steps over.
 *
 * Memory order: the producer's release of head makes a record visible to the consumer that acquires
 * it; the consumer's release of tail makes sure that it has done reading before the producer, which
 * acquires it, writes there again. Each side reads its own counter relaxed.
 */
#include "ring.h"

#include <stddef.h>

struct header {
	uint32_t bytes; /* of the record, without header and padding */
	uint32_t filler; /* nothing follows up to the end of the memory */
};

static uint32_t space_of(uint32_t bytes)
{
	return (uint32_t)sizeof(struct header) +
	       ((bytes + PROF_RING_ALIGN - 1) & ~(PROF_RING_ALIGN - 1));
}

static struct header *header_at(const struct prof_ring *r, uint64_t count)
{
	return (struct header *)(void *)(r->data + (count & (r->size - 1)));
}

static uint32_t left_at(const struct prof_ring *r, uint64_t count)
{
	return r->size - (uint32_t)(count & (r->size - 1));
}

void prof_ring_init(struct prof_ring *r, void *data, uint32_t size)
{
	r->data = data;
	r->size = size;
	r->pending = 0;
	r->tail_seen = 0;
	r->taken = 0;
	atomic_store_explicit(&r->head, 0, memory_order_relaxed);
	atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
}

/* Is there room for @space bytes behind @head? Reads the consumer's line only when it seems not. */
static int fits(struct prof_ring *r, uint64_t head, uint32_t space)
{
	if (head + space - r->tail_seen <= r->size)
		return 1;
	r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	return head + space - r->tail_seen <= r->size;
}

void *prof_ring_reserve(struct prof_ring *r, uint32_t bytes)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint32_t space, left = left_at(r, head), skip;
	struct header *h;

	r->pending = 0;
	if (bytes > r->size / 2 - sizeof(struct header))
		return NULL;
	space = space_of(bytes);
	skip = left < space ? left : 0;
	if (!fits(r, head, skip + space))
		return NULL;
	if (skip) {
		h = header_at(r, head);
		h->bytes = skip - (uint32_t)sizeof(*h);
		h->filler = 1;
	}
	h = header_at(r, head + skip);
	h->bytes = bytes;
	h->filler = 0;
	r->pending = skip + space;
	return h + 1;
}

void prof_ring_commit(struct prof_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	atomic_store_explicit(&r->head, head + r->pending, memory_order_release);
	r->pending = 0;
}

int prof_ring_half_full(struct prof_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (head - r->tail_seen <= r->size / 2)
		return 0;
	r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	return head - r->tail_seen > r->size / 2;
}

static void let_go(struct prof_ring *r, uint32_t space)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	atomic_store_explicit(&r->tail, tail + space, memory_order_release);
}

const void *prof_ring_peek(struct prof_ring *r, uint32_t *bytes)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	struct header *h;

	if (tail == head)
		return NULL;
	h = header_at(r, tail);
	if (h->filler) { /* never the last thing published: a record comes with it */
		let_go(r, left_at(r, tail));
		h = header_at(r, 0);
	}
	*bytes = h->bytes;
	r->taken = space_of(h->bytes);
	return h + 1;
}

void prof_ring_release(struct prof_ring *r)
{
	let_go(r, r->taken);
	r->taken = 0;
}
