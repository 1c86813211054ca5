/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run id: what all processes of one job have in common, and the name of the run directory.
 * GPUSTARVE_RUN_ID; else cluster, job, step and restart of a numbered SLURM step; else
 * PMIX_NAMESPACE; else TORCHELASTIC_RUN_ID unless it is "none"; else <utc>-<command>-<random>.
 * libprof follows the same order, so that processes that are preloaded without us join the run.
 */
#ifndef VIEW_RUNID_H
#define VIEW_RUNID_H

#include <stddef.h>

#define VIEW_RUN_ID_BYTES 200

/* Fills @out with the id for a command (NULL-terminated). Only characters fit for a file name. */
void view_run_id(char *out, size_t room, char *const *command);

#endif
