/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's job by the cgroup that a process is in: all that is left of it where a container
 * dropped the environment (apptainer exec --cleanenv). One with a cgroup namespace, or made by a
 * daemon (docker), does not tell. Any thread.
 */
#ifndef VIEW_JOB_CGROUP_H
#define VIEW_JOB_CGROUP_H

#include "identity.h"

/*
 * The number in a text of /proc/PID/cgroup: .../slurm/uid_0/job_9/step_0 (version 1) or
 * .../slurmstepd.scope/job_9/step_0 (2), also with a node's name at Slurm's; -1: there is none.
 */
int64_t view_job_in_cgroup(const char *text);

/* Of this process: fills the job's number where nothing is known of a job. */
void view_job_from_cgroup(struct view_job_identity *id);

#endif
