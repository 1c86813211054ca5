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

struct wire_place { /* state of one (device, context, stream, tid) */
	uint64_t time;
	uint64_t corr;
	uint32_t symbol[3]; /* of its last three events, newest first */
	uint32_t seen;
};

struct wire_context { /* durations by what ran before, and by name alone */
	unsigned int bits;
	uint32_t *by_history; /* 1 << bits each; 0: not seen */
	uint32_t *by_symbol;
};

static inline uint32_t wire_symbol(uint32_t name, uint32_t shape, uint64_t bytes)
{
	return name * 0x9e3779b1u + shape * 0x85ebca77u + (uint32_t)bytes * 0xc2b2ae3du;
}

static inline uint32_t wire_slot(uint32_t hash, unsigned int bits)
{
	return (hash * 0x9e3779b1u) >> (32 - bits);
}

static inline uint32_t wire_history(const struct wire_place *p, uint32_t symbol)
{
	return symbol + p->symbol[0] * 0x27d4eb2fu + p->symbol[1] * 0x165667b1u +
	       p->symbol[2] * 0xd3a2646du;
}

static inline void wire_remember(struct wire_place *p, uint32_t symbol)
{
	p->symbol[2] = p->symbol[1];
	p->symbol[1] = p->symbol[0];
	p->symbol[0] = symbol;
}

#endif
