/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that gpustarve check reads, and the baseline that it holds them against or writes. */
#ifndef VIEW_CHECK_BASE_H
#define VIEW_CHECK_BASE_H

#include "check_options.h"

struct check_base {
	struct check_run run[CHECK_RUNS_MAX];
	size_t runs;
	bool missing;
};

/* A run with its steps; @keep_summary: for the prediction, the caller frees it. Errors are said. */
int check_load_run(const struct check_opts *o, const char *path, struct base_arena *mem,
		   struct check_run *run, struct view_summary **keep_summary);

/*
 * check_wait.c: the same, with --at-step once it has taken so many steps or is over, and then these
 * alone. A run that says nothing new for ten minutes is waited for no longer.
 */
int check_await_run(const struct check_opts *o, const char *path, struct base_arena *mem,
		    struct check_run *run, struct view_summary **keep_summary);

/* From a file of ours or a run. What is not there is missing, and no error. */
int check_base_load(const struct check_opts *o, const char *path, struct base_arena *mem,
		    struct check_base *b);
void check_base_fini(struct check_base *b);

/*
 * check_training.c: --baselines. Looks once at the run @path, which may go on, holds its first
 * steps against those of the last runs of its training and keeps them beside. The exit status.
 */
int check_training(const struct check_opts *given, const char *path);

/*
 * Writes @run, with --add-to-baseline beside what @b holds, if it was asked for. Errors are said.
 */
int check_base_update(const struct check_opts *o, const struct check_base *b,
		      const struct check_run *run, size_t runs, struct check_result *r);

#endif
