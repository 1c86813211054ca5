/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a GPU is: how long each of its kernels took, by name. GPUs of one job run the same
 * kernels on data of the same shape, so one that takes longer over the same kernels, run equally
 * often, is slow: hot, shared or broken. One that has more to do runs more of them.
 */
#ifndef ANALYSIS_KERNEL_SPEED_H
#define ANALYSIS_KERNEL_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANA_KERNEL_NAMES_MAX 65536u /* of one process; later names are left out */
#define ANA_KERNEL_SPEED_LEAST_NS 1000000 /* in kernels that can be compared, for a figure */
#define ANA_KERNEL_SPEED_SLOW_PPM 30000 /* slower by so much is worth a word */

struct ana_kernel_time { /* of one name */
	uint64_t count;
	int64_t ns;
};

struct ana_kernel_times { /* of one process */
	uint32_t source, room;
	struct ana_kernel_time *cell; /* by name id */
};

struct ana_kernel_speed { /* of one GPU; zero-initialise */
	struct ana_kernel_times *list;
	uint32_t lists, last;
	int err;
};

void ana_kernel_speed_grow(struct ana_kernel_speed *p, uint32_t source, uint32_t name);
void ana_kernel_speed_fini(struct ana_kernel_speed *p);

/* @sources: how many the plan has. Read into a zeroed one. */
struct ana_archive; /* archive.h */
void ana_kernel_speed_archive(struct ana_kernel_speed *p, uint32_t sources, struct ana_archive *a);

static inline void ana_kernel_speed_add(struct ana_kernel_speed *p, uint32_t source, uint32_t name,
					int64_t ns)
{
	if (p->last >= p->lists || p->list[p->last].source != source ||
	    name >= p->list[p->last].room)
		ana_kernel_speed_grow(p, source, name);
	if (p->last < p->lists && name < p->list[p->last].room) {
		p->list[p->last].cell[name].count++;
		p->list[p->last].cell[name].ns += ns;
	}
}

struct ana_kernel_speed_row { /* one kernel on one GPU; the same hash is the same name */
	uint64_t hash;
	uint32_t gpu;
	uint64_t count;
	int64_t ns;
};

struct ana_kernel_speed_found {
	bool known;
	int64_t ppm; /* slower than the median of the others; < 0: faster */
};

/*
 * Compares. Sorts @row. Per name, the GPUs that ran it equally often to 1 % of the median count; at
 * least two, or it is left out. @found has @gpus entries. Pure.
 */
void ana_kernel_speed_compare(struct ana_kernel_speed_row *row, size_t rows,
			      struct ana_kernel_speed_found *found, size_t gpus);

#endif
