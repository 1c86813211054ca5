/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs brought forth, in digests and summed over groups of runs: samples, tokens, whatever
 * --unit and the program's own counter said. A sum has the dollars of the runs that told the unit,
 * failed ones among them, and no others. What of a run is known at least or at most makes such a
 * bound of the sum, and where it has runs of both kinds it is none. Epochs are of each run and in
 * no sum.
 */
#ifndef FLEET_UNITS_H
#define FLEET_UNITS_H

#include "base/arena.h"
#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "base/units.h"
#include "digest.h"

/*
 * digest.units: [["samples", count, divisor], ...], behind that "at_least" or "at_most" of what is
 * not exact; nothing where there are none.
 */
void fleet_units_make(struct fleet_digest *d, const struct view_summary *s);
void fleet_units_put(struct base_jsonout *j, const struct fleet_digest *d);
void fleet_units_read(struct fleet_digest *d, const struct base_json *units);

/*
 * The same out of the text of a digest as stores keep it (fleet_digest_write), without reading the
 * rest: @text begins with FLEET_UNITS_HEAD or says nothing. How many there were.
 */
#define FLEET_UNITS_HEAD "\"units\": ["
#define FLEET_UNITS_TEXT 1024 /* bytes of it that are enough */
size_t fleet_units_of(const char *text, struct fleet_unit unit[VIEW_OUTCOMES_MAX]);

struct fleet_unit_sum {
	const char *name;
	base_wide count, usd, runs; /* of the runs with dollars that told it */
	base_wide at_least, at_most; /* runs of these whose count is so */
	base_wide untold_usd; /* of the others */
};

struct fleet_unit_sums {
	struct fleet_unit_sum sum[VIEW_OUTCOMES_MAX];
	size_t sums;
	base_wide usd; /* of all runs */
};

/* A run with what it cost (@usd < 0: no price) and what it told. */
void fleet_unit_sums_add(struct fleet_unit_sums *s, struct base_arena *mem, int64_t usd,
			 const struct fleet_unit *unit, size_t units);

/* A sum of many runs at once, whose dollars are those of all; and what they leave, at the end. */
void fleet_unit_sums_take(struct fleet_unit_sums *s, struct base_arena *mem,
			  const struct fleet_unit_sum *sum);
void fleet_unit_sums_close(struct fleet_unit_sums *s);

/* By name: runs come in any order. */
void fleet_unit_sums_sort(struct fleet_unit_sums *s);

/* Its bound; VIEW_OUTCOME_BOUNDS: too low in some runs, and too high in others. */
enum view_outcome_bound fleet_unit_bound(const struct fleet_unit_sum *s);
const char *fleet_unit_bound_name(const struct fleet_unit_sum *s); /* the latter: "none" */

/* Nano-dollars of view_unit_per() of it, half to even; -1: of no use. */
base_wide fleet_unit_usd(const struct fleet_unit_sum *s);

#endif
