/* SPDX-License-Identifier: Apache-2.0 */
/* Which run of a folder was written to last. */
#ifndef VIEW_NEWEST_H
#define VIEW_NEWEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When something was last written to a run directory, ns since 1970; -1: there is no stream in it. */
int64_t view_last_written(const char *dir);

/* The run below @base that was written to last, as a path; false: there is none. */
bool view_newest_run(const char *base, char *out, size_t room);

/* The folder of runs where none is named: GPUSTARVE_OUT, else gpustarve-runs. */
const char *view_runs_folder(void);

/* Says that a command wants a run and none was named, and which one that may be. */
void view_say_no_run(const char *command);

#endif
