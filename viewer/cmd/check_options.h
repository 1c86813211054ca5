/* SPDX-License-Identifier: Apache-2.0 */
/* What gpustarve check was asked for. */
#ifndef VIEW_CHECK_OPTIONS_H
#define VIEW_CHECK_OPTIONS_H

#include <stdbool.h>
#include "check/check_out.h"
#include "summary/analyse.h"

#define CHECK_BUDGETS_MAX 64
#define CHECK_ALSO_MAX 16

struct check_opts {
	struct check_budget budget[CHECK_BUDGETS_MAX];
	size_t budgets;
	const char *baseline, *out, *replay;
	const char *baselines; /* a folder, with a file for each training; NULL: none */
	bool update, add, require, fail_on_warn, has_waste, has_scale;
	bool waste[ANA_CLASSES];
	const struct check_format *format;
	struct {
		const struct check_format *format;
		const char *file;
	} also[CHECK_ALSO_MAX]; /* what is written beside */
	size_t alsos;
	struct check_options limits;
	struct check_scale scale;
	int64_t warmup; /* -1: found */
	uint64_t at_step; /* judge so many steps as soon as they are there; 0: all of the run */
	struct view_analysis analysis;
};

/*
 * From the command line, whose operands are argv[optind] and on: 1; 0: help was shown; -1: it
 * cannot be done, which has been said. Strings of argv stay there.
 */
int check_options(int argc, char **argv, struct check_opts *o);

#endif
