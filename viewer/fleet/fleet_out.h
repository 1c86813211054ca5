/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages of the fleet share: the order of their tables and the words. Private to them. */
#ifndef FLEET_OUT_H
#define FLEET_OUT_H

#include "base/amounts.h"
#include "fleet.h"

/* Tables of the overview, in order. */
#define FLEET_TABLES 11
extern const enum fleet_dim fleet_tables[FLEET_TABLES];
/* Is anything known by that name? */
bool fleet_is_told(const struct fleet_table *t, int by);

/* "By team"; the column's head. */
const char *fleet_title(int by);

/* A group's name as it is shown: file and line, a fix, or "untagged", "no price". */
const char *fleet_group_name(const struct fleet_group *g, int by, struct base_arena *mem);

/* "10,000 runs, 812.41 GPU-hours, 2026-01-05 to 2026-11-22" */
const char *fleet_words_scope(const struct fleet *f, struct base_arena *mem);
/* "$12.30, of which $3.10 (25.2 %) were wasted ..." */
const char *fleet_words_cost(const struct fleet *f, struct base_arena *mem);
/*
 * Remarks that belong to the numbers: no price, simulated, untagged, spikes. NULL after the last.
 */
const char *const *fleet_words_notes(const struct fleet *f, struct base_arena *mem);
const char *fleet_words_spike(const struct fleet *f, const struct fleet_spike *s,
			      struct base_arena *mem);
const char *fleet_words_rate(const struct fleet_group *g, struct base_arena *mem);

/*
 * "a: 50 runs, $1,234.00, 31.0 % of it ($382.54) in 13 that failed; 1,204 samples: $0.41 per 1,000
 * samples". @quanta: the dollars, as the group's row has them.
 */
const char *fleet_words_group(const struct fleet *f, const struct fleet_group *g, int by,
			      int64_t quanta, struct base_arena *mem);
/* Is that told of the groups of the table that was asked for? */
bool fleet_tells_groups(const struct fleet *f, int by);

/*
 * Into a base_unit. All amounts of a fleet have the scale of its sum, or cents and hundredths of an
 * hour where that is coarser: "$1,234,567.89", "2,412,345.10". Quanta: of the money's scale.
 */
struct base_scale fleet_money_scale(const struct fleet *f);
const char *fleet_usd(const struct fleet *f, char *out, base_wide nano_usd);
const char *fleet_usd_closed(const struct fleet *f, char *out, base_wide nano_usd, int64_t quanta);
const char *fleet_quanta(const struct fleet *f, char *out, int64_t quanta);
const char *fleet_time_name(const struct fleet *f); /* "GPU-hours": what ... */
/* ... a table's column is in */
const char *fleet_hours(const struct fleet *f, char *out, base_wide ns);
const char *fleet_hours_of_minutes(const struct fleet *f, char *out, base_wide minutes);
const char *fleet_gpu_time(const struct fleet *f, char *out, base_wide ns); /* with its name */
const char *fleet_runs_of(char *out, uint64_t n); /* "1 run", "10,000 runs" */
base_wide fleet_minutes(const struct fleet_sums *s); /* of all bands */

#endif
