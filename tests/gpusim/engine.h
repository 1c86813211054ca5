/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - when work can run on an engine. A line is what is known of one engine's time: sorted
 * intervals that are taken, from a little before now to the end of what is queued. The past is
 * kept for SIM_HISTORY_NS because work that waited for a host function or a collective gets its
 * time late. Pure functions over caller-owned memory (which may lie in a shared segment: no
 * pointers inside); the caller holds whatever lock guards it.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdint.h>

#define SIM_SEGS 512 /* intervals a line keeps; beyond that neighbours merge */
#define SIM_MERGE_NS 5000 /* a hole of one owner shorter than this is not offered again */
#define SIM_HISTORY_NS 200000000 /* ready times before now by more than this are not served */

#define SIM_NOBODY (-2)

struct sim_seg {
	uint64_t start, end; /* end SIM_NEVER: taken, until nobody knows when */
	int32_t owner; /* process slot, or SIM_NOBODY: of several */
	int32_t pad;
};

/* The intervals are seg[first] .. seg[first + n - 1]; the rest is room to move in. */
struct sim_line {
	uint32_t first, n;
	struct sim_seg seg[2 * SIM_SEGS];
};

/* Earliest t >= ready at which [t, t + length) is free; SIM_NEVER when no end is known. */
uint64_t sim_line_fit(const struct sim_line *line, uint64_t ready, uint64_t length);

/* The same, where only intervals of other owners stand in the way. */
uint64_t sim_line_fit_owner(const struct sim_line *line, uint64_t ready, uint64_t length,
			    int32_t owner);

/* Takes [start, end) for owner; what ended long before `now` is forgotten first. */
void sim_line_take(struct sim_line *line, uint64_t now, uint64_t start, uint64_t end,
		   int32_t owner);

/* Gives the open interval of owner that began at start its end. */
void sim_line_close(struct sim_line *line, uint64_t start, uint64_t end, int32_t owner);

/* Frees what owner holds after `now`: its process is gone. */
void sim_line_purge(struct sim_line *line, uint64_t now, int32_t owner);

/* Another owner than `owner` that holds the line for longer than until t; -1: none. */
int32_t sim_line_holder(const struct sim_line *line, uint64_t t, int32_t owner);

#endif
