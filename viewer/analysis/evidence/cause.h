/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From evidence to classes: who is to blame for a piece of a gap in which nothing was submitted.
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
	const struct ana_seen *seen;
	size_t sample; /* its index there */
	enum ana_class class;
	bool maker; /* of a thread that makes batches */
	int64_t weight;
};

struct ana_blame {
	/* the piece */
	int64_t start, end;
	enum ana_class unknown; /* what it is as far as nothing else is known ... */
	enum ana_confidence base; /* ... and how sure that is; no finer class is surer if medium */
	bool caps; /* base caps */
	/* evidence */
	int64_t weight[ANA_CLASSES];
	int64_t idle; /* within input.pipeline: workers had nothing to do, or were not let on */
	int64_t held; /* ... within that: a batch was ready that was not its turn */
	bool rows; /* told by rows of batches, which are exact */
	bool far; /* told by samples that lie before the piece */
	struct ana_vote *vote;
	size_t votes, vote_room;
	uint64_t makers; /* votes of makers */
	int err;
	/* the decision */
	bool decided; /* by weights: what the piece's kin may share */
	int64_t ns[ANA_CLASSES]; /* sums to end - start */
	enum ana_confidence confidence[ANA_CLASSES];
};

void ana_blame_begin(struct ana_blame *b, int64_t start, int64_t end, enum ana_class unknown,
		     enum ana_confidence base, bool caps);
void ana_blame_fini(struct ana_blame *b);
void ana_blame_add(struct ana_blame *b, int c, int64_t weight);
void ana_blame_vote(struct ana_blame *b, const struct ana_seen *seen, size_t sample,
		    enum ana_class c, bool maker, int64_t weight);

/* Fills ns and confidence. All is b->unknown where nothing weighs. */
void ana_blame_decide(struct ana_blame *b);
/* The same where the class is known. */
void ana_blame_all(struct ana_blame *b, enum ana_class c, enum ana_confidence confidence);

/* @ns in parts proportional to @weight, which sum to it: largest remainder, then lower index. */
void ana_split(int64_t ns, const int64_t *weight, size_t n, int64_t *out);

/*
 * cause_wait.c: a loader wait of thread @tid of the process (0: of some thread).
 * cause_host.c: a piece outside of waits and calls of thread @tid. If samples show it in the
 * loader's next() for half of the piece, it is taken as a wait.
 * Both: false if there is no evidence; nothing is decided then.
 */
bool ana_blame_wait(struct ana_blame *b, struct ana_evidence *e, uint32_t tid);
bool ana_blame_host(struct ana_blame *b, struct ana_evidence *e, uint32_t tid);
/* Votes of @tid alone, for a piece whose class is known. False: no sample. */
bool ana_blame_see(struct ana_blame *b, struct ana_evidence *e, uint32_t tid, enum ana_class c);

#endif
