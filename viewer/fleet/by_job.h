/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tables of jobs, and of their users, have in common: `fleet --by lost` and `--by unused`.
 * Groups of the first have the keys of enum fleet_job_key, those of the other the user alone. One
 * thread.
 */
#ifndef FLEET_BY_JOB_H
#define FLEET_BY_JOB_H

#include "fleet.h"
#include "base/jsonout.h"

/* How many rows of it are shown (--top). */
size_t fleet_table_shown(const struct fleet *f, const struct fleet_table *t);

/* "812 of ann", or of a table of users "ann". In @mem. */
const char *fleet_job_name(const struct fleet_group *g, bool jobs, struct base_arena *mem);

/* "user": [...], "job": [...]: of each group its keys, then what @put says. */
void fleet_json_jobs(struct base_jsonout *j, const struct fleet_table *users,
		     const struct fleet_table *jobs,
		     void (*put)(struct base_jsonout *j, const struct fleet_group *g));

/* "job,user,team,cluster"; and of a job. */
#define FLEET_CSV_JOB_HEAD "job,user,team,cluster"
void fleet_csv_job(FILE *out, const struct fleet_group *g);

/* Parts of something, by @name: NAME_ns and NAME_usd of each. */
struct fleet_parts {
	const char *const *name;
	int parts;
	const base_wide *ns, *usd;
};

void fleet_json_parts(struct base_jsonout *j, const struct fleet_parts *p);
void fleet_csv_parts_head(FILE *out, const struct fleet_parts *p);
void fleet_csv_parts(FILE *out, const struct fleet_parts *p);

#endif
