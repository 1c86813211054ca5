/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of a run: summaries beside each other, each later one against the first. Pure: no
 * printing, no files. Every number is an integer: nanoseconds, millionths (ppm), nano-dollars,
 * counts; a difference is the later value less the first one, of the integers that are shown.
 *
 * Two runs are seldom the same job. What may be compared is decided part by part (view_part), and
 * what may not carries the reason; such values stand beside each other without a difference.
 *
 * Summaries may come from hostile files: no value in them overflows or divides by zero here.
 */
#ifndef VIEW_COMPARE_H
#define VIEW_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "report/text/text.h"
#include "summary/summary.h"

#define VIEW_COMPARE_SCHEMA "gpustarve.comparison/1"
#define VIEW_COMPARE_RUNS_MAX 26 /* A to Z */
#define VIEW_COMPARE_MONTH_MAX 1000000000 /* runs per month */

/* What a difference between two runs needs to mean something. */
enum view_part {
	VIEW_PART_FACT, /* settings: always */
	VIEW_PART_SHARE, /* of the GPU time: same window, GPUs and data */
	VIEW_PART_WASTE, /* ... and the same waste set */
	VIEW_PART_LOADER, /* per batch: same data set and batch size */
	VIEW_PART_STEP, /* wall time per step: steps told alike, same data */
	VIEW_PART_GPU_STEP, /* GPU time per step: also the same GPUs and window */
	/* dollars per step: as the time, the same window, and of the same GPUs the same prices */
	VIEW_PART_USD_STEP,
	VIEW_PART_RUN, /* wall time of the run: also as many steps, and both whole */
	VIEW_PART_GPU_RUN,
	VIEW_PART_USD_RUN, /* as USD_STEP, and as RUN */
	VIEW_PART_USD_UNIT, /* dollars of a sample, an epoch or a unit: the same window */
	VIEW_PARTS
};
extern const char *const view_part_names[VIEW_PARTS];

enum view_figure { /* of which kind a number is */
	VIEW_FIGURE_NS,
	VIEW_FIGURE_PPM,
	VIEW_FIGURE_USD, /* nano-dollars */
	VIEW_FIGURE_COUNT,
	VIEW_FIGURE_BYTES,
	VIEW_FIGURES
};
extern const char *const view_figure_names[VIEW_FIGURES];

/* Index 0 is the first run, 1 the later one, everywhere below. */
struct view_measure {
	const char *id, *title; /* static */
	enum view_figure figure;
	enum view_part part;
	bool known[2];
	int64_t value[2];
	bool comparable; /* both are known and their part may be compared */
	int64_t difference;
	bool has_change; /* comparable, and the first is above 0 */
	int64_t change_ppm;
};

struct view_class_change {
	enum ana_class class;
	int64_t ns[2], ppm[2];
	int64_t step_ns[2], step_nano_usd[2]; /* 0 where the run has no steps or no price */
};

enum view_finding_status {
	VIEW_FINDING_WENT,
	VIEW_FINDING_CAME,
	VIEW_FINDING_MOVED, /* to another line, or to another class at the same line */
	VIEW_FINDING_STAYED,
	VIEW_FINDING_STATES
};
extern const char *const view_finding_states[VIEW_FINDING_STATES];

/*
 * Who ran the line may be another. Of several findings of a run at a line it has the first, and the
 * figures are of all of them.
 */
struct view_finding_change {
	enum view_finding_status status;
	const struct view_finding *finding[2]; /* NULL: that run has none there */
	int64_t ns[2], ppm[2], step_ns[2];
};

enum view_limit { /* what a realised saving ended at */
	VIEW_LIMIT_NOTHING, /* the class did not shrink */
	VIEW_LIMIT_CHANGE, /* the class's own change */
	VIEW_LIMIT_WHOLE, /* the GPU time fell by less: it went elsewhere */
	VIEW_LIMIT_BOUND, /* the advice promised no more */
	VIEW_LIMITS
};
extern const char *const view_limit_names[VIEW_LIMITS];

/*
 * A piece of the first run's advice, and what came of it: the change of its classes at the places
 * where the first run had them (places that are new in the later run are not held against it),
 * at most the change of the GPU time as a whole, at most the bound, at least 0.
 */
struct view_promise {
	const struct view_advice *advice;
	int64_t upper_step_ns, upper_step_nano_usd; /* the bound per step of the first run */
	int64_t change_step_ns; /* less time is above 0 */
	int64_t step_ns, step_nano_usd; /* realised per step */
	int64_t run_ns, run_nano_usd; /* realised per run */
	/* the same for 1,000 samples, where steps are of other work */
	int64_t upper_samples_ns, upper_samples_nano_usd, samples_ns, samples_nano_usd;
	enum view_limit samples_limit;
	enum view_limit limit;
	/* its classes kept some of the bound; per step, and for 1,000 samples */
	bool kept, samples_kept;
};

struct view_saving { /* first less later: above 0 is a saving */
	int64_t step_ns, step_nano_usd; /* GPU time and dollars per step */
	int64_t run_ns, run_nano_usd;
	int64_t month_ns, month_nano_usd; /* at runs_per_month */
};

struct view_pair {
	size_t run; /* in view_comparison.run; the first is run 0 */
	const char *why[VIEW_PARTS]; /* NULL: comparable, else the reason */
	const char **refusal; /* "dollars per step, dollars of the run: their prices differ" */
	size_t refusals;
	bool other_rules; /* of classes: most is refused for that */
	bool priced[2], stepped[2];
	struct view_measure *measure;
	size_t measures;
	struct view_class_change *class; /* those that either run has, in the ledger's order */
	size_t classes;
	struct view_finding_change *finding; /* largest change first */
	size_t findings, findings_left_out; /* left out: beyond what is looked at, of both runs */
	struct view_promise *promise; /* in the order of the first run's advice */
	size_t promises;
	struct view_saving saving;
	const char **note; /* what else a reader should know */
	size_t notes;
	/* what the sentence tells the cost or the time of; NULL: nothing is comparable */
	const struct view_measure *headline;
	const char *unit; /* that it is of; NULL: a step */
	bool by_samples; /* steps are of other work: they are that unit, and so are promises */
	bool samples_gpu, samples_usd; /* what may then be compared for 1,000 of them */
	const char *sentence;
};

struct view_compared_run {
	const struct view_summary *summary; /* the caller's */
	const char *path; /* as it was named */
	char label[2]; /* "A" */
};

struct view_comparison {
	struct base_arena mem;
	struct view_compared_run *run;
	size_t runs;
	struct view_pair *pair; /* runs - 1 */
	int64_t runs_per_month; /* -1: not given, and no figure is per month */
};

/*
 * Compares @n summaries (2 to VIEW_COMPARE_RUNS_MAX), which must outlive the comparison; @path: as
 * the user named them, copied. Free with _fini.
 */
void view_compare(struct view_comparison *c, const struct view_summary *const *s,
		  const char *const *path, size_t n, int64_t runs_per_month);
void view_comparison_fini(struct view_comparison *c);

/* The measure of that id; never NULL for ids that measures.c has. */
const struct view_measure *view_pair_measure(const struct view_pair *p, const char *id);

/* The pages. Text in the columns of the terminal, 80 elsewhere. */
void view_compare_json(const struct view_comparison *c, FILE *f);
void view_compare_text(const struct view_comparison *c, FILE *f,
		       const struct view_text_style *style);
void view_compare_html(const struct view_comparison *c, FILE *f);

#endif
