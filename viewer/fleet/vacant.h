/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in which jobs had GPUs and no process of them used these (LEDGER 12), in digests and summed
 * by user and job: before the first run, between runs, after the last, never used, and what is not
 * known.
 */
#ifndef FLEET_VACANT_H
#define FLEET_VACANT_H

#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "rollup.h"
#include "store.h"

/* digest.no_process; nothing where nothing is known. Reading: NULL, or what is wrong (static). */
void fleet_vacancy_make(struct fleet_digest *d, const struct view_summary *s);
void fleet_vacancy_put(struct base_jsonout *j, const struct fleet_digest *d);
/* Makes the smallest part one with what is not known; false: there is none left. */
bool fleet_vacancy_fold(struct fleet_digest *d);
const char *fleet_vacancy_read(struct fleet_digest *d, const struct base_json *no_process);

struct fleet_vacant {
	base_wide runs, held_ns; /* of jobs that tell what they were given */
	base_wide unpriced_ns; /* of held_ns */
	base_wide gaps, longest_ns, unseen_ns; /* as in struct ana_vacancy */
	base_wide ns[ANA_VACANTS], usd[ANA_VACANTS];
};

/*
 * Groups with their fleet_vacant, most unused first. Of their sums runs, FLEET_USD and
 * FLEET_HELD_NS alone are set: the latter two of what was unused.
 */
struct fleet_vacant_tables {
	struct fleet_table users; /* key: user */
	/* keys: fleet_job_key; those with nothing unused and nothing unseen are left out */
	struct fleet_table jobs;
	struct fleet_vacant total;
};

/* 0 or negative errno, said. */
int fleet_vacant_collect(struct fleet_vacant_tables *t, struct fleet_store *s,
			 const struct fleet_query *q);
bool fleet_vacant_fits(const struct fleet_vacant_tables *t);
void fleet_vacant_fini(struct fleet_vacant_tables *t);

base_wide fleet_vacant_ns(const struct fleet_vacant *v); /* of all parts */
base_wide fleet_vacant_usd(const struct fleet_vacant *v);

#endif
