/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums by name: the rows of a store become the groups that are shown. A sum has 128 bits, and no
 * cell of a row is above BASE_WIDE_MAX, so that none overflows before fleet_collect looks at it.
 * Caller-owned; zero-initialise. One thread at a time.
 */
#ifndef FLEET_ROLLUP_H
#define FLEET_ROLLUP_H

#include "base/arena.h"
#include "store.h"
#include "units.h"

struct fleet_sums {
	base_wide m[FLEET_MEASURES];
};

#define FLEET_KEYS_MAX 5

struct fleet_group {
	const char *key[FLEET_KEYS_MAX]; /* in the table's memory; "" is a name that is missing */
	struct fleet_sums sums;
	const char *text; /* what the table's user keeps beside it, or NULL */
	struct fleet_unit_sums *units; /* units.h; NULL: not asked for */
	struct fleet_lost *lost; /* lost.h; NULL: not asked for */
	struct fleet_vacant *vacant; /* vacant.h; NULL: not asked for */
};

enum fleet_job_key { /* of a table of jobs (by_job.h) */
	FLEET_JOB_NAME, /* or the run, which is of no job */
	FLEET_JOB_USER,
	FLEET_JOB_TEAM,
	FLEET_JOB_CLUSTER,
	FLEET_JOB_KEYS
};

struct fleet_table {
	struct base_arena mem;
	struct fleet_group *group;
	size_t groups, room;
	uint32_t *slot; /* index + 1 of the group by its keys' hash; a power of 2 */
	size_t slots;
	int keys;
};

void fleet_sums_add(struct fleet_sums *to, const struct fleet_sums *from);

/* The group of these @keys texts, made if it is new. NULL without memory. */
struct fleet_group *fleet_table_at(struct fleet_table *t, int keys, const char *const *key);
/* That group; NULL: there is none. Of a sorted table nothing is found. */
struct fleet_group *fleet_table_find(const struct fleet_table *t, int keys, const char *const *key);

/* An array, and its room, where one more than its @n fits; without memory the program ends. */
void *fleet_widened(void *old, size_t n, size_t *room, size_t bytes);

/* Most dollars first, then most time, then by name. */
void fleet_table_sort(struct fleet_table *t);
/* By name. */
void fleet_table_sort_names(struct fleet_table *t);

/* Is every sum of it one that can be shown (units.h)? */
bool fleet_table_fits(const struct fleet_table *t);
bool fleet_sums_fit(const struct fleet_sums *s);
void fleet_table_fini(struct fleet_table *t);

#endif
