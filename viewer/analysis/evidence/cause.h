/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From evidence to classes: what caused a piece of a gap in which nothing was submitted.
 * Weights are gathered per class, then one rule decides. Time without a CPU is exact: a tenth of
 * the piece or more is its own part. Of the rest, idle workers take all with at least half; else
 * the heaviest class does, if it has 40 % and half as much again as the next; else it is split by
 * weight. Pure functions of the evidence.
 */
#ifndef ANALYSIS_CAUSE_H
#define ANALYSIS_CAUSE_H

#include "analysis/ledger.h"
#include "shares.h"
#include "analysis/time/span.h"

struct ana_vote { /* one sample, and the class it speaks for */
	const struct ana_thread_samples *thread;
	size_t sample; /* its index there */
	enum ana_class class;
	bool producer; /* of a thread that makes batches */
	int64_t weight;
};

struct ana_cause {
	/* the piece */
	int64_t start, end;
	enum ana_class unknown; /* its class by records alone ... */
	enum ana_confidence record_confidence; /* ... and how sure that is */
	bool limited; /* no class that evidence finds may be surer than that */
	/* evidence */
	int64_t weight[ANA_CLASSES];
	int64_t idle; /* within input.pipeline: workers had nothing to do, or were not let on */
	int64_t held; /* ... within that: a batch was ready that was not its turn */
	bool rows; /* told by rows of batches, which are exact */
	bool far; /* told by samples that lie before the piece */
	struct ana_vote *vote;
	size_t votes, vote_room;
	uint64_t producers; /* votes of producers */
	int err;
	/* the decision */
	bool decided; /* by weights: pieces without samples near it may share them */
	int64_t ns[ANA_CLASSES]; /* sums to end - start */
	enum ana_confidence confidence[ANA_CLASSES];
};

void ana_cause_begin(struct ana_cause *b, int64_t start, int64_t end, enum ana_class unknown,
		     enum ana_confidence record_confidence, bool limited);
void ana_cause_fini(struct ana_cause *b);
void ana_cause_add(struct ana_cause *b, int c, int64_t weight);
void ana_cause_vote(struct ana_cause *b, const struct ana_thread_samples *thread, size_t sample,
		    enum ana_class c, bool producer, int64_t weight);

/* Fills ns and confidence. All is b->unknown where nothing weighs. */
void ana_cause_decide(struct ana_cause *b);
/* The same where the class is known. */
void ana_cause_all(struct ana_cause *b, enum ana_class c, enum ana_confidence confidence);

/* @ns in parts proportional to @weight, which sum to it: largest remainder, then lower index. */
void ana_split(int64_t ns, const int64_t *weight, size_t n, int64_t *out);

/*
 * cause_wait.c: a loader wait of thread @tid of the process (0: of some thread).
 * cause_host.c: a piece outside of waits and calls of thread @tid. If samples show it in the
 * loader's next() for half of the piece, it is taken as a wait.
 * Both: false if there is no evidence; nothing is decided then.
 */
bool ana_cause_wait(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);
bool ana_cause_host(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);
/* Votes of @tid alone, for a piece whose class is known. False: no sample. */
bool ana_cause_votes(struct ana_cause *b, struct ana_evidence *e, uint32_t tid, enum ana_class c);

#endif
