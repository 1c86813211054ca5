/* SPDX-License-Identifier: Apache-2.0 */
/* What stands out in a summary, and what to do about it. Fills the summary's own arrays. */
#ifndef VIEW_FINDINGS_H
#define VIEW_FINDINGS_H

#include "model/model.h"

/*
 * Every class of waste or doubt that took time, the most first; split by the lines where samples
 * saw it. What is left of a split class is a finding of its own, behind the class's hotspots.
 */
void view_findings_add(struct view_summary *s);

/* A finding in words: what the GPU waited for or, where samples tell, who did what. */
const char *view_finding_words(const struct view_summary *s, struct base_arena *mem,
			       const struct view_finding *f, size_t columns);

/* "high: 214 samples of 4 threads"; "high" without any. */
const char *view_finding_evidence(struct base_arena *mem, const struct view_finding *f);

/* The first finding of a class with a hotspot; NULL: none has. */
const struct view_finding *view_finding_of(const struct view_summary *s, enum ana_class c);

/* What to do about the findings: one piece of advice per cause, the largest saving first. */
void view_advice_add(struct view_summary *s);

/*
 * What it says would make a cause known: that saves nothing by itself, and the advice has its place
 * by the time whose cause nobody knows.
 */
bool view_advice_only_tells(const struct view_advice *a);

/*
 * A number of workers or makers: it is about all input, whatever its class; else it is about its
 * class.
 */
bool view_advice_is_number(const struct view_advice *a);

/* num_workers=0: its saving is what is left where batches are made by whoever waits for them. */
bool view_advice_without_any(const struct view_advice *a);

/*
 * More workers or makers ask files or a network for as much more: one source for all may be what is
 * slow. ", if the source keeps up"; "".
 */
bool view_advice_asks_source(const struct view_summary *s, const struct view_advice *a);
const char *view_advice_if(const struct view_summary *s, const struct view_advice *a);

/*
 * What else there is to do about the same where the advice wants cores that are not here; NULL:
 * it does not, or nothing else.
 */
const struct view_advice *view_advice_else(const struct view_summary *s,
					   const struct view_advice *a);
/* ", or num_workers=1, at most 1.40 times the steps per hour": where there is no worker yet; "". */
const char *view_advice_one_here(const struct view_summary *s, struct base_arena *mem,
				 const struct view_advice *a);

/*
 * Workers make batches all the time, and more of them are advised: until they keep up, steps come
 * as batches do, and whatever else of a step takes less time makes none of them shorter.
 */
bool view_batches_bind(const struct view_summary *s);

/* Whether what it saves is of this class, alone or with others. */
bool view_advice_is_of(const struct view_summary *s, const struct view_advice *a, enum ana_class c);

/*
 * "of all waits for input, 69.0 %", "of all of host.dispatch, 43.3 %" (of the training time): what
 * it may save of, where it saves more than the first finding of its class is told to have taken.
 * NULL: it does not.
 */
const char *view_advice_about_words(const struct view_summary *s, struct base_arena *mem,
				    const struct view_advice *a);
/* The same without its share, which *ppm has then. */
const char *view_advice_about(const struct view_summary *s, struct base_arena *mem,
			      const struct view_advice *a, int64_t *ppm);

/*
 * What to do first: about what the verdict is about, though the largest saving may lie elsewhere,
 * or what saves most where more was lost there (view_lead_beside).
 * NULL: there is nothing, or nothing pressing: the run was busy, no GPU idle, no rank late.
 */
const struct view_advice *view_advice_first(const struct view_summary *s);

/*
 * What to do beside that: about another loss, which the first one does not spare, and worth a third
 * of it or more; something else than the first one says. NULL: there is none.
 */
const struct view_advice *view_advice_second(const struct view_summary *s);

/*
 * The findings by what they cost, the most first: indices into s->finding, s->findings of them, in
 * @mem. (The summary has them by how well what is known of them ranks their class's time.)
 */
const size_t *view_findings_by_cost(const struct view_summary *s, struct base_arena *mem);

/* What is left of a class of which other findings know lines: told with them, not beside them. */
bool view_finding_is_rest(const struct view_finding *f);

#endif
