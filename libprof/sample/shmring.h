/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of records between two processes: one thread writes, one thread of another process reads.
 * Records are copied in and out, whole or not at all; nobody waits, no lock, no pointers inside.
 * A writer may die at any instruction: what it had pushed before is whole, the rest never was.
 *
 * The reader trusts nothing that lies in the shared memory: its own place in the ring is its own,
 * and what cannot be a record makes it skip all that is there. Memory of zeros is an empty ring.
 */
#ifndef PROF_SHMRING_H
#define PROF_SHMRING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct prof_shmring { /* in shared memory; the data lie elsewhere in it */
	_Alignas(64) _Atomic uint64_t head; /* bytes ever pushed, the writer's */
	_Alignas(64) _Atomic uint64_t tail; /* bytes ever pulled, as the reader tells the writer */
	_Atomic uint64_t dropped; /* records that found no room */
};

/* @size: of @data, a power of two. False: no room, and counted. */
bool prof_shmring_push(struct prof_shmring *r, uint8_t *data, uint32_t size, uint32_t kind,
		       const void *record, uint32_t len);

/*
 * The oldest record. @tail: the reader's place, kept by the reader, 0 at first. Its length and
 * *kind,
 * -EAGAIN if there is none, -EBADMSG if the ring is damaged: then it is empty again.
 */
ssize_t prof_shmring_pull(struct prof_shmring *r, const uint8_t *data, uint32_t size,
			  uint64_t *tail, uint32_t *kind, void *record, size_t room);

#endif
