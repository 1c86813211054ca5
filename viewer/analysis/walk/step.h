/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training steps of one process: from step ranges, from the ends of optimizer ranges, from the
 * operation that begins each, or from the loader's batches; and how much of each its GPUs spent
 * idle under a loader wait. Steps come and go in order of start.
 */
#ifndef ANALYSIS_STEP_H
#define ANALYSIS_STEP_H

#include "analysis/ledger.h"
#include "analysis/time/durations.h"
#include "analysis/time/span.h"

struct ana_open_step {
	struct ana_step step;
	/* So many steps before it is the nearest that ends later; 0: none. Of the last one without
	 * an end, not known yet. */
	uint32_t back;
};

struct ana_steps {
	enum ana_step_source source;
	uint32_t process; /* for on_step */
	void (*on_step)(void *arg, const struct ana_step *s);
	void *arg;
	const struct ana_observer *observer; /* borrowed; NULL: nobody looks on */
	struct ana_spans *unrecorded; /* borrowed: its kernels were not recorded; NULL: they were */
	struct ana_open_step *open;
	size_t head, tail, room;
	uint64_t count; /* that have a begin and an end */
	uint64_t skipped; /* optimizer: the first, whose begin is not known; period: not recorded */
	struct ana_durations durations, fed; /* fed: less what was exposed */
};

/* A step range, or with ANA_STEPS_OPTIMIZER an optimizer range. 0 or -ENOMEM. */
int ana_steps_range(struct ana_steps *s, int64_t start, int64_t end);

/* With ANA_STEPS_OPTIMIZER: the process began to train here, unless it had already. */
int ana_steps_begin(struct ana_steps *s, int64_t start);

/* With ANA_STEPS_PERIOD: the operation that begins each step began. 0 or -ENOMEM. */
int ana_steps_boundary(struct ana_steps *s, int64_t t);

/*
 * With ANA_STEPS_BATCHES: a wait for a batch began. @first of an iterator: the wait before it told
 * that there are no more batches. 0 or -ENOMEM.
 */
int ana_steps_batch(struct ana_steps *s, int64_t t, bool first);

/* [start, end) is idle under a wait. All ranges that begin before @end have come. */
void ana_steps_expose(struct ana_steps *s, int64_t start, int64_t end);

/* In [start, end) a GPU waited for input. */
void ana_steps_input(struct ana_steps *s, int64_t start, int64_t end);

/*
 * Nothing before @t will be exposed, or found to be a wait for input, any more: steps that ended
 * are done. 0 or -ENOMEM.
 */
int ana_steps_upto(struct ana_steps *s, int64_t t);

int ana_steps_finish(struct ana_steps *s);

/*
 * How many the process took, for all that its marks tell: a first step that ended with an optimizer
 * was one, though nobody knows where it began. Of those between operations the last is none: nobody
 * knows whether it came to its end.
 */
uint64_t ana_steps_taken(const struct ana_steps *s);

/*
 * Of all steps that have an end so far, those that may still be exposed among them. *ns is -1:
 * none.
 */
int ana_steps_median(const struct ana_steps *s, int64_t *ns);
void ana_steps_fini(struct ana_steps *s);

struct ana_archive; /* archive.h */
/* What has come so far. Read into one that has begun, of the same source. */
void ana_steps_archive(struct ana_steps *s, struct ana_archive *a);

#endif
