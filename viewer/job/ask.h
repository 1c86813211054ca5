/* SPDX-License-Identifier: Apache-2.0 */
/* A job that a user names on the command line. What is wrong is said on stderr. */
#ifndef VIEW_JOB_ASK_H
#define VIEW_JOB_ASK_H

#include "find.h"

/* --dir, else GPUSTARVE_OUT, else ./gpustarve-runs. */
const char *view_job_out(const char *dir);

/*
 * The job that @id names below @dir (NULL: the default), on @cluster (NULL: any). NULL: there is
 * none, or several, which has been said. Free @j with view_jobs_fini in any case.
 */
struct view_job *view_job_or_say(struct view_jobs *j, const char *dir, const char *id,
				 const char *cluster);

#endif
