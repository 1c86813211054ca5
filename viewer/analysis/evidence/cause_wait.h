/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause_samples.c: what samples tell of a loader wait. Private to cause_wait.c, which decides by
 * them and by rows of batches. Weights and votes go to @b.
 */
#ifndef ANALYSIS_CAUSE_WAIT_H
#define ANALYSIS_CAUSE_WAIT_H

#include "cause.h"
#include "maker.h"

static inline int64_t overlap(const struct wire_batch *r, int64_t a, int64_t b)
{
	int64_t ns = base_min(r->end_ns, b) - base_max(r->start_ns, a);

	return ns > 0 ? ns : 0;
}

/* Whose samples vote: only a producer's make the cause sure. */
enum ana_voter {
	ANA_VOTER_OTHER,
	ANA_VOTER_PRODUCER,
};

/* Which samples of a blocked thread count. */
enum ana_blocked {
	ANA_BLOCKED_ANY,
	ANA_BLOCKED_AT_WORK, /* not those that wait for work */
};

/* A stretch of a thread's time, whose samples are asked. Empty if @to is not behind @from. */
struct ana_thread_part {
	const struct ana_thread_samples *thread; /* NULL: never seen */
	int64_t from, to;
};

/* Votes of the samples, whatever they show. */
void ana_wait_vote(struct ana_cause *b, const struct ana_thread_part *p, enum ana_class c,
		   enum ana_voter voter);

/* The trainer's own name the line that waits; those that do not wait show it at work on a batch. */
void ana_wait_vote_trainer(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);

/*
 * The lines of @ns on a CPU, or waiting for one, for the hotspots alone. False: no sample of the
 * thread runs.
 */
bool ana_wait_share_run(struct ana_cause *b, const struct ana_thread_part *p, int64_t ns,
			enum ana_class c, enum ana_voter voter);

/* Gives @ns, in which the thread was blocked, to what its samples were blocked in. False: none. */
bool ana_wait_share_block(struct ana_cause *b, struct ana_evidence *e,
			  const struct ana_thread_part *p, int64_t ns, enum ana_producer producer,
			  enum ana_blocked which);

/* A thread that makes batches, over the whole wait, from its samples alone. False: none. */
bool ana_wait_producer(struct ana_cause *b, struct ana_evidence *e,
		       const struct ana_thread_samples *s, enum ana_producer producer);

/*
 * Whether a wait of the trainer @tid, outside of torch's loader, is one of which a chain tells who
 * makes what it takes: then other processes that work meanwhile have no part in it.
 */
bool ana_wait_is_followed(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);

/* All workers that were seen, and the trainer @tid. False: none was. */
bool ana_wait_by_samples(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);

#endif
