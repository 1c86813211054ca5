/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a GPU is: how long each of its kernels took, by name. GPUs of one job run the same
 * kernels on data of the same shape, so one that takes longer over the same kernels, run equally
 * often, is slow: hot, shared or broken. One that has more to do runs more of them.
 */
#ifndef ANALYSIS_PACE_H
#define ANALYSIS_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANA_PACE_NAMES 65536u /* of one process; later names are left out */
#define ANA_PACE_LEAST_NS 1000000 /* in kernels that can be compared, for a figure */
#define ANA_STRAGGLER_PPM 30000 /* slower by so much is worth a word */

struct ana_pace_cell { /* of one name */
	uint64_t count;
	int64_t ns;
};

struct ana_pace_list { /* of one process */
	uint32_t source, room;
	struct ana_pace_cell *cell; /* by name id */
};

struct ana_pace { /* of one GPU; zero-initialise */
	struct ana_pace_list *list;
	uint32_t lists, last;
	int err;
};

void ana_pace_grow(struct ana_pace *p, uint32_t source, uint32_t name);
void ana_pace_fini(struct ana_pace *p);

static inline void ana_pace_add(struct ana_pace *p, uint32_t source, uint32_t name, int64_t ns)
{
	if (p->last >= p->lists || p->list[p->last].source != source ||
	    name >= p->list[p->last].room)
		ana_pace_grow(p, source, name);
	if (p->last < p->lists && name < p->list[p->last].room) {
		p->list[p->last].cell[name].count++;
		p->list[p->last].cell[name].ns += ns;
	}
}

struct ana_pace_row { /* one kernel on one GPU; the same hash is the same name */
	uint64_t hash;
	uint32_t gpu;
	uint64_t count;
	int64_t ns;
};

struct ana_pace_found {
	bool known;
	int64_t ppm; /* slower than the median of the others; < 0: faster */
};

/*
 * Compares. Sorts @row. Per name, the GPUs that ran it equally often to 1 % of the median count; at
 * least two, or it is left out. @found has @gpus entries. Pure.
 */
void ana_pace_compare(struct ana_pace_row *row, size_t rows, struct ana_pace_found *found,
		      size_t gpus);

#endif
