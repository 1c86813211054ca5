/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that go on, in a store of digests: rows as live/row.h has them, in a table beside the
 * digests. Many put them, nobody asks who else does. What is read is in the order in which
 * live_row_apply wants it; of a row there may be older ones as well, which change nothing.
 *
 * When a row came is the store's to say, by its own clock, in whole seconds: a server's, or, of
 * SQLite, of this machine since it started. Rows go some days after they came (those that
 * live_row_stays has after some weeks).
 */
#ifndef FLEET_PULSE_TABLE_H
#define FLEET_PULSE_TABLE_H

#include "base/arena.h"
#include "live/row.h"

#define FLEET_PULSES_BACK_S 3600 /* a run that nothing came of for so long is not asked for */
#define FLEET_PULSES_AGAIN_S 15 /* what came so long before a mark is read once more */
#define FLEET_PULSES_DAYS 2
#define FLEET_PULSES_BEGUN_DAYS 60

struct fleet_pulses_query {
	int64_t since; /* a mark of before: what is new; 0: all rows of runs that go on, or ... */
	const char *run; /* ... of this one alone; NULL: of any */
	const char *team; /* NULL: of any */
	bool newest; /* of the one run alone of which rows came last */
	bool unbilled; /* of those of which no digest came, as long as rows are kept */
};

struct fleet_pulses { /* zero-initialise it */
	struct live_row *row;
	size_t rows, room;
	struct base_arena mem; /* of their digits */
	int64_t mark; /* the store's clock before it was read */
};

/* One more row, whose digits are copied. 0 or -ENOMEM. */
int fleet_pulses_add(struct fleet_pulses *p, const struct live_row *r);
void fleet_pulses_fini(struct fleet_pulses *p);

/* Of rows with one key only the one that holds stays. */
void fleet_pulses_thin(struct fleet_pulses *p);

#endif
