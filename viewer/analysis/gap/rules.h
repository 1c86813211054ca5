/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules: what a GPU was waiting for, piece by piece. docs/LEDGER.md has them with their
 * numbers, docs/CAUSES.md explains the classes.
 *
 * Each set of rules is a function that says, for an instant, which class holds and until when that
 * may be believed; the walk over an interval (gap.c, whose private header this is) takes it from
 * there.
 */
#ifndef ANALYSIS_RULES_H
#define ANALYSIS_RULES_H

#include "attribution.h"

#define ANA_TAIL_CELL_NS INT64_C(1000000000) /* what of the tail is decided at a time */

struct ana_ruled_piece {
	int c;
	enum ana_confidence confidence;
	int64_t until;
	enum ana_refine refine; /* what evidence may add */
	bool any; /* ... about any thread of the process, not the submitter */
};

struct ana_gap_decision {
	struct ana_walk *w;
	struct ana_gpu_state *g;
	const struct ana_open_gap *gap;
	const struct ana_call *call;
	struct ana_proc *process; /* of the submitter */
	struct ana_thread *thread; /* the submitter */
	bool masks; /* losses apply */
	bool outside; /* before the first or after the last operation */
	int64_t whole_start, whole_end; /* what is decided, for who asks for pieces */
	int64_t submitted; /* QUEUED from then on */
	int64_t queued_start, queued_end; /* for the rules on QUEUED */
	struct ana_timeline_stack *waits, *blocked; /* without launch records */
	/* functions on the CPU: of the stream of the operation that ends the gap, of any stream */
	struct ana_timeline_stack *host_code, *any_host_code;
	int64_t rest_start, rest_end; /* of the tail, what the samples of left tell of ... */
	int64_t ending_until; /* ... before it of saving alone */
	struct ana_proc
		*left; /* with left_tid: the submitter of the last operation; NULL: not known */
	uint32_t left_tid;
	struct ana_proc *waiter; /* whose evidence counts, and the thread's: 0: any */
	uint32_t waiter_tid;
	int64_t *sums; /* per class, for the longest gaps; NULL: not asked */
};

/* Sets class and confidence at @t, and moves p->until back to where they may change. */
typedef void ana_rules(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p);

ana_rules ana_rules_empty; /* LEDGER rules 1 to 6: nothing was submitted */
ana_rules ana_rules_lost_graph; /* LEDGER rule 0: a graph was submitted, and may be running */
ana_rules ana_rules_queued; /* LEDGER rules 7 to 11: submitted, not running */
ana_rules ana_rules_no_launches; /* a gap of a device without launch records */
ana_rules ana_rules_startup, ana_rules_started; /* the lead, before and after the first launch */
ana_rules ana_rules_teardown; /* the tail */
ana_rules ana_rules_unobserved; /* the recording had not begun */

/* LEDGER 5, loss: goes before every rule. False: nothing was lost there, ask the rules. */
bool ana_rules_loss(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p);

#endif
