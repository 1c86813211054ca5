/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the columns of a block subtract: where a place's next event should begin, which
 * correlation id it should have, and how long it should last. Encoder and decoder run the same
 * steps, inline in their loops. Private to wire; docs/FORMAT.md states the rules.
 *
 * All arithmetic is modulo 2^64 or 2^32: stamps are hostile.
 */
#ifndef WIRE_PREDICT_H
#define WIRE_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_CONTEXT_BITS_MAX 16 /* a decoder refuses more */

/* Start of an event against ... */
enum wire_start_model {
	WIRE_START_AFTER_END = 0, /* ... the end of the place's event before: one after another */
	WIRE_START_AFTER_START = 1, /* ... its start: events nest */
};

/*
 * Durations are expected by what ran before on the place, and by name alone where that was not
 * seen: two tables of 1 << bits entries, one behind the other; 0: not seen.
 */
struct wire_place { /* state of one (device, context, stream, tid) */
	uint64_t time;
	uint64_t corr;
	uint32_t history; /* of its last events' symbols, fading: the eighth is shifted out */
};

static inline uint32_t wire_symbol(uint32_t name, uint32_t shape, uint64_t bytes)
{
	return name * 0x9e3779b1u + shape * 0x85ebca77u + (uint32_t)bytes * 0xc2b2ae3du;
}

static inline uint32_t wire_slot(uint32_t hash, unsigned int bits)
{
	return (hash * 0x9e3779b1u) >> (32 - bits);
}

static inline uint32_t wire_history(uint32_t history, uint32_t symbol)
{
	return history << 4 ^ symbol;
}

#endif
