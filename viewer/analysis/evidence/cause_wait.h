/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause_samples.c: what samples tell of a loader wait. Private to cause_wait.c, which decides by them
 * and by rows of batches. @from, @to: an interval; weights and votes go to @b.
 */
#ifndef ANALYSIS_CAUSE_WAIT_H
#define ANALYSIS_CAUSE_WAIT_H

#include "cause.h"

static inline int64_t overlap(const struct wire_batch *r, int64_t a, int64_t b)
{
	int64_t ns = base_min(r->end_ns, b) - base_max(r->start_ns, a);

	return ns > 0 ? ns : 0;
}

/* What it means for the batch that its maker is blocked so. @own: the trainer makes it itself. */
enum ana_class ana_wait_class(const struct wire_sample *s, bool own);

/* Votes of a thread's samples, whatever they show. */
void ana_wait_see(struct ana_cause *b, const struct ana_seen *s, int64_t from, int64_t to,
		  enum ana_class c, bool maker);

/* The trainer's own name the line that waits; those that do not wait show it at work on a batch. */
void ana_wait_see_trainer(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);

/*
 * The lines of @ns on a CPU, or waiting for one, for the hotspots alone. False: no sample of the
 * thread runs.
 */
bool ana_wait_share_run(struct ana_cause *b, const struct ana_seen *s, int64_t from, int64_t to,
			int64_t ns, enum ana_class c, bool maker);

/*
 * Gives @ns, in which the thread was blocked, to what its samples were blocked in. With @work those
 * that wait for work do not count. False: there are none.
 */
bool ana_wait_share_block(struct ana_cause *b, const struct ana_seen *s, int64_t from, int64_t to,
			  bool own, bool work, int64_t ns);

/* A thread that makes batches, over the whole wait, from its samples alone. False: there are none. */
bool ana_wait_maker(struct ana_cause *b, const struct ana_seen *s, bool own);

/* All workers that were seen, and the trainer @tid. False: none was. */
bool ana_wait_by_samples(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);

#endif
