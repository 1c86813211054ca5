/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kills threw away (LEDGER 9), in digests and summed by user and job. Thrown away is what was
 * lost and what had to be done again, at least: what became of unknown time nobody saw. Unsaved is
 * what had no checkpoint behind it when a run ended in order, or goes on.
 */
#ifndef FLEET_LOST_H
#define FLEET_LOST_H

#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "rollup.h"
#include "store.h"

/* digest.saves; nothing where nothing is known. Reading: NULL, or what is wrong (static). */
void fleet_saves_make(struct fleet_digest *d, const struct view_summary *s);
void fleet_saves_put(struct base_jsonout *j, const struct fleet_digest *d);
const char *fleet_saves_read(struct fleet_digest *d, const struct base_json *saves);

struct fleet_lost {
	base_wide runs, held_ns; /* of runs that tell of their saves */
	base_wide checkpoints, kills, failures;
	base_wide unpriced_ns; /* of held_ns */
	base_wide ns[FLEET_SAVES_PARTS], usd[FLEET_SAVES_PARTS];
	base_wide undecided_ns, undecided_usd; /* of SAVES_UNKNOWN: of runs that broke off */
};

/*
 * Groups with their fleet_lost, most thrown away first. Of their sums runs, FLEET_USD and
 * FLEET_HELD_NS alone are set: the latter two of what was thrown away.
 */
struct fleet_lost_tables {
	struct fleet_table users; /* key: user */
	struct fleet_table jobs; /* keys: fleet_job_key; jobs of whose runs none was killed or
				    failed, or has anything thrown away, unknown or unsaved are
				    left out; of the others all runs count */
	struct fleet_lost total;
	base_wide serving; /* runs of what saves nothing: in no sum, whatever they tell */
};

/* 0 or negative errno, said. */
int fleet_lost_collect(struct fleet_lost_tables *t, struct fleet_store *s,
		       const struct fleet_query *q);
bool fleet_lost_fits(const struct fleet_lost_tables *t);
void fleet_lost_fini(struct fleet_lost_tables *t);

base_wide fleet_lost_ns(const struct fleet_lost *l); /* thrown away; undecided comes on top */
base_wide fleet_lost_usd(const struct fleet_lost *l);

#endif
