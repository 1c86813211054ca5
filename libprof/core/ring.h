/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte ring with one producer and one consumer, which may be different threads: records of any
 * size, whole or not at all. No locks, no allocation, nobody ever waits. The memory is the
 * caller's.
 *
 * A record stays where it was written until the consumer lets it go, so both sides work in place.
 */
#ifndef PROF_RING_H
#define PROF_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define PROF_RING_ALIGN 8u /* of every record */

struct prof_ring {
	uint8_t *data;
	uint32_t size; /* power of two */
	uint32_t pending; /* producer: bytes of the record being written */
	uint64_t tail_seen; /* producer: the tail as last read */
	_Alignas(64) _Atomic uint64_t head; /* bytes ever published, written by the producer */
	_Alignas(64) _Atomic uint64_t tail; /* bytes ever let go, written by the consumer */
	uint32_t taken; /* consumer: bytes of the record being read */
};

/* @size: a power of two, at least 64; @data aligned to PROF_RING_ALIGN. Neither side is running. */
void prof_ring_init(struct prof_ring *r, void *data, uint32_t size);

/*
 * Producer: room for one record of @bytes, to be filled and committed; NULL if there is none now.
 * Reserving again without a commit forgets the first one. Records over half the size never fit.
 */
void *prof_ring_reserve(struct prof_ring *r, uint32_t bytes);

/* Producer: publishes the record reserved last. */
void prof_ring_commit(struct prof_ring *r);

/* Producer: true if more than half is in use. Reads the consumer's side only when it has to. */
int prof_ring_half_full(struct prof_ring *r);

/* Consumer: the oldest record and its size, NULL if there is none. It is valid until let go. */
const void *prof_ring_peek(struct prof_ring *r, uint32_t *bytes);

/* Consumer: lets the record peeked at last go. */
void prof_ring_release(struct prof_ring *r);

#endif
