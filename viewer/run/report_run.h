/* SPDX-License-Identifier: Apache-2.0 */
/* The end of `gpustarve run`: summary.json and report.html into the run directory, the verdict. */
#ifndef VIEW_REPORT_RUN_H
#define VIEW_REPORT_RUN_H

#include <stdbool.h>
#include "cost/rates.h"

struct view_run_report {
	const char *dir; /* of the run */
	const char *shown; /* the same as the user would write it */
	const char *record; /* our own run.json or exit file */
	int patience_s; /* how long to wait for other wrappers of the run */
	struct view_rate_options rates;
	bool no_projection; /* show sums alone */
	bool open; /* show the page in a browser */
	bool quiet; /* write the files, print no verdict */
	int killed; /* the command's status, where a signal ended it; 0: none did */
	bool told; /* of a full disk: say no more of it */
};

/* 0 or 1; says what went wrong on stderr. Runs in a process of its own. */
int view_run_report(const struct view_run_report *o);

/* One line of a command that a signal ended before anything of a GPU was seen. */
void view_run_note_killed(int status);

#endif
