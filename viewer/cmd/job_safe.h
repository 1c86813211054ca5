/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve job safe: whether a job may be stopped now, for scripts that preempt and cull. */
#ifndef VIEW_JOB_SAFE_H
#define VIEW_JOB_SAFE_H

#include "job_show.h"

/*
 * @id: a scheduler's job, a run's id or directory, or a collector's address of a run. One line and
 * an exit status: 0, VIEW_EXIT_COSTS, or VIEW_EXIT_ERROR where it is not known.
 */
int view_job_stop(const char *id, const struct view_job_choice *o);

/* --lose: "90s", "$2". False: it is neither, which was said. */
bool view_job_good_loss(const char *text);

#endif
