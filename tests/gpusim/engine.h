/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - when work can run on an engine. A line is the future of one engine: the disjoint,
 * sorted intervals that are taken. Pure functions over caller-owned memory (which may lie in a
 * shared segment: no pointers inside); the caller holds whatever lock guards it.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdint.h>

#define SIM_SEGS 128 /* intervals a line remembers; nearest ones merge beyond that */
#define SIM_MERGE_NS 5000 /* a hole of one owner shorter than this is not offered again */

#define SIM_NOBODY (-2)

struct sim_seg {
	uint64_t start, end; /* end SIM_NEVER: taken, until nobody knows when */
	int32_t owner; /* process slot */
	int32_t pad;
};

struct sim_line {
	uint32_t n, pad;
	struct sim_seg seg[SIM_SEGS];
};

/* Earliest t >= ready at which [t, t + length) is free; SIM_NEVER when no end is known. */
uint64_t sim_line_fit(const struct sim_line *line, uint64_t ready, uint64_t length);

/* The same, where only intervals of other owners stand in the way. */
uint64_t sim_line_fit_owner(const struct sim_line *line, uint64_t ready, uint64_t length,
			    int32_t owner);

/* Takes [start, end) for owner; what ended before `now` is forgotten first. */
void sim_line_take(struct sim_line *line, uint64_t now, uint64_t start, uint64_t end,
		   int32_t owner);

/* Gives the open interval of owner that began at start its end. */
void sim_line_close(struct sim_line *line, uint64_t start, uint64_t end, int32_t owner);

/* Frees what owner holds after `now`: its process is gone. */
void sim_line_purge(struct sim_line *line, uint64_t now, int32_t owner);

#endif
