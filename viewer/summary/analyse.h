/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a run's path to its summary: opens the trace, runs the engine, finds the prices. The one way
 * in for every command that shows a run. Says what is wrong on stderr.
 */
#ifndef VIEW_ANALYSE_H
#define VIEW_ANALYSE_H

#include <stdbool.h>
#include "cost/rates.h"
#include "summary.h"

struct view_analysis {
	enum ana_window window;
	const bool *waste; /* [ANA_CLASSES], NULL: the ledger's rule */
	struct view_rate_options rates;
	/* Instead of a look-up: the rates of an earlier summary, by GPU (verify). NULL: look up. */
	const struct view_cost *fixed;
	const struct view_job *job; /* instead of a path: all its runs; NULL: the path's */
	bool series; /* what the page draws besides: ana_result.series */
	bool held_only; /* ana_options.held_only */
	bool keep; /* what is finished in the run's directory, and go on from there: parts_file.h */
	const struct ana_keeper *keeper; /* in the place of keep; NULL: as that says */
	uint32_t keep_every; /* ana_options.keep_every */
	const char *remedy; /* for a trace that cannot be opened; NULL: by what is wrong */
	bool no_projection; /* the summary's */
	bool quiet_when_empty; /* -ENODATA is the caller's to say */
	bool progress; /* on a terminal, a line about what takes long */
	/* As ana_options.on_step; may be NULL. */
	void (*on_step)(void *arg, const struct ana_step *s);
	/* Once it is open; may be NULL. */
	void (*on_trace)(void *arg, const struct view_trace *t);
	void *arg;
};

/* 0 and *s; negative errno after one line on stderr. -ENODATA: the run never touched a GPU. */
int view_analyse(const char *path, const struct view_analysis *o, struct view_summary **s);

#endif
