/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run id: what all processes of one job have in common, and the name of the run directory.
 * GPUSTARVE_RUN_ID; else cluster, job, step and restart of a numbered SLURM step; else
 * PMIX_NAMESPACE; else TORCHELASTIC_RUN_ID unless it is "none"; else <utc>-<command>-<random>.
 * libprof follows the same order, so that processes that are preloaded without us join the run.
 * Several commands of a step are told apart by turn.h.
 */
#ifndef VIEW_RUNID_H
#define VIEW_RUNID_H

#include <stdbool.h>
#include <stddef.h>

#define VIEW_RUN_ID_BYTES 200

/* Fills @out with the id for a command (NULL-terminated). Only characters fit for a file name. */
void view_run_id(char *out, size_t room, char *const *command);

/*
 * Whether this id is what the step that we are in is called, or (*batch) what the site's hooks call
 * the batch script; not where a wrapper above us, or the user, gave it.
 */
bool view_run_id_is_slurms(const char *id, bool *batch);

#endif
