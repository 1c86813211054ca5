/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a run (model/model.h), the one that text, JSON and HTML show: made from a trace
 * (make.c), written as summary.json (write.c) and read back from it (read.c).
 */
#ifndef VIEW_SUMMARY_H
#define VIEW_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>
#include "cost/waste.h"
#include "model/model.h"
#include "trace/trace.h"

#define VIEW_SUMMARY_SCHEMA "gpustarve.summary/1"

/* What a summary is made with besides the trace. */
struct view_summary_options {
	enum ana_window window;
	const bool *waste; /* [ANA_CLASSES]; NULL: the ledger's rule */
};

/*
 * Makes the summary of a result. Takes @r and @rate over whatever happens; copies what it needs
 * of @t (may be NULL). 0 or -ENOMEM.
 */
int view_summary_make(struct view_summary **s, struct ana_result *r, const struct view_trace *t,
		      struct view_rate *rate, const struct view_summary_options *o);

/* Writes summary.json; its last member is a checksum of all before it. */
void view_summary_write(const struct view_summary *s, FILE *f);

/* Reads what view_summary_write wrote. 0, -errno, or -EBADMSG with *why (static). */
int view_summary_read(struct view_summary **s, const char *path, const char **why);

/*
 * The waste set of a stored summary in the classes of today: what other rules have taken out of a
 * class is waste if that was.
 */
void view_waste_of(const struct view_summary *s, bool waste[ANA_CLASSES]);

/* outcomes.c: what --unit of a command says in the place of what the run knows. */
void view_summary_set_units(struct view_summary *s, const struct view_unit *unit, size_t n);

/*
 * outcomes.c: where several loaders gave batches, a sentence that says which of them the outcomes
 * are of, or why there are none. NULL: there is one loader, or none is told.
 */
const char *view_outcome_loaders(const struct view_summary *s, struct base_arena *mem);

void view_summary_free(struct view_summary *s);

#endif
