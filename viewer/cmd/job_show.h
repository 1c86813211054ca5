/* SPDX-License-Identifier: Apache-2.0 */
/* What gpustarve job tells of jobs: a line for accounting, and a list. */
#ifndef VIEW_JOB_SHOW_H
#define VIEW_JOB_SHOW_H

#include "cost/rates.h"

struct view_job_choice {
	const char *dir, *cluster; /* NULL: the default, any */
	const char *lose, *token_file, *ca_file; /* of job safe; NULL: the default */
	struct view_rate_options rates;
};

/*
 * "gpustarve verdict=input-bound starved_pct=38.1 ...": lower-case name=value, less than 250 bytes,
 * for accounting that lower-cases what it is given. An exit status.
 */
int view_job_comment(const char *id, const struct view_job_choice *o);

/* The jobs in a folder of runs, one a line. An exit status. */
int view_job_list(const struct view_job_choice *o);

#endif
