/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When runs held their GPUs, by the clock of the process's time zone (tzset): on a working day,
 * from 7:00 to 19:00 and overnight, or at a weekend, from Saturday 0:00 to Monday 0:00. Days that
 * clocks are set on are as long as they were. Holidays are not known. One thread at a time.
 */
#ifndef FLEET_HOURS_H
#define FLEET_HOURS_H

#include "lines.h"

enum fleet_when {
	FLEET_WHEN_DAY,
	FLEET_WHEN_NIGHT,
	FLEET_WHEN_WEEKEND,
	FLEET_WHENS
};
extern const char *const fleet_when_names[FLEET_WHENS]; /* daytime overnight weekend */

/* When @unix_ns is, and when what comes next begins: above it. */
enum fleet_when fleet_when(int64_t unix_ns, int64_t *next_ns);

/*
 * The line's part in [@since, @until) of each, as if it were spread evenly over the run: they sum
 * to the whole. What does not count by time counts in each that has some. False: it has none there.
 */
bool fleet_hours_of(const struct fleet_line_row *l, int64_t since, int64_t until,
		    struct fleet_sums part[FLEET_WHENS], bool has[FLEET_WHENS]);

/* Makes @name ("Europe/Berlin") the process's; false: there is no such zone here. */
bool fleet_zone_set(const char *name);

/* What it is called. */
const char *fleet_zone(void);

#endif
