/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baseline file: what later runs are held against. Small JSON ("gpustarve.baseline/1"), made by
 * `gpustarve check --update-baseline`, fit for a repository: one line per fact, the same run gives
 * the same bytes. Read as hostile: everything out of range is refused with a reason.
 */
#ifndef CHECK_BASELINE_H
#define CHECK_BASELINE_H

#include "check_run.h"

#define CHECK_BASELINE_SCHEMA "gpustarve.baseline/1"
#define CHECK_RUNS_MAX 64
#define CHECK_RUNS_ADDED 16 /* that --add-to-baseline keeps */

/* 0 or negative errno. */
int check_baseline_write(const char *path, const struct check_run *run, size_t runs);

/*
 * Reads a file into @run. 0; -ENOENT and other errors of the file; -EBADMSG: it is no baseline, or
 * a damaged one; -EPROTO: of another version. *why (in @mem or static) says what is wrong.
 * On error nothing is to be freed.
 */
int check_baseline_read(const char *path, struct base_arena *mem,
			struct check_run run[CHECK_RUNS_MAX], size_t *runs, const char **why);

#endif
