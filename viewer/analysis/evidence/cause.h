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
#include "chain.h"
#include "loop_order.h"
#include "shares.h"
#include "split.h"
#include "analysis/time/span.h"

#define ANA_PLACE_NATIVE UINT32_MAX

enum ana_piece_kind { /* of gaps */
	ANA_PIECE_WAIT, /* for a loader */
	ANA_PIECE_HOST, /* neither that nor a call */
	ANA_PIECE_KINDS
};

struct ana_vote { /* one sample, and the class it speaks for */
	const struct ana_thread_samples *thread;
	size_t sample; /* its index there */
	enum ana_class class;
	bool producer; /* of a thread that makes batches */
	uint32_t path; /* in ana_cause.path, plus 1: how a chain led to it; 0: none did */
	int64_t weight;
};

enum ana_read { /* how much a thread read, against what was copied to the GPU meanwhile */
	ANA_READ_NOT_KNOWN,
	ANA_READ_ONE_LOOK, /* it is counted, but one look tells no difference */
	ANA_READ_WORDS, /* far less: what it waits for in read() is no batch */
	ANA_READ_DATA,
};

struct ana_given { /* to the GPU, around a piece: what a wait in it may have been for */
	bool fed; /* the process copied from host to device in the minute before the gap's end */
	bool at_once; /* such a copy ends the gap */
	/* results were copied to the host before the gap, as much as came from there */
	bool answer;
	enum ana_read read; /* what the submitter read in the 2 s up to the gap's end */
	/* the thread of the process that gave the operation before the gap; 0: not known */
	uint32_t left;
	/* at once, more than a number, and nothing of the kind came back: it was made here */
	bool made;
};

struct ana_owed { /* time of blocked samples that goes to the ends of a chain */
	const struct ana_thread_samples *thread;
	size_t sample; /* one of them */
	int64_t ns;
	int64_t asleep; /* within that */
};

struct ana_cause {
	/* the piece */
	int64_t start, end;
	enum ana_class unknown; /* its class by records alone ... */
	enum ana_confidence record_confidence; /* ... and how sure that is */
	bool limited; /* no class that evidence finds may be surer than that */
	struct ana_given given; /* the caller's, after ana_cause_begin, as is ... */
	bool ending; /* ... that the program may be about to end: nothing but saving is told */
	/* evidence */
	int64_t weight[ANA_CLASSES];
	int64_t idle; /* within input.pipeline: workers had nothing to do, or were not let on */
	int64_t held; /* ... within that: a batch was ready that was not its turn */
	bool rows; /* told by rows of batches, which are exact */
	bool far; /* told by samples that lie before the piece */
	struct ana_vote *vote;
	size_t votes, vote_room;
	uint64_t producers; /* votes of producers */
	struct ana_chain chain; /* the last that was followed */
	struct ana_owed *owed;
	size_t owes, owed_room;
	struct ana_chain_path *path; /* of votes */
	uint32_t paths, path_room;
	/*
	 * Where the thread takes what others make: the stack (string id) of its first sample that
	 * does so, ANA_PLACE_NATIVE without one of Python, 0: none; for how long it did, there, and
	 * nobody was seen to make it, or to end what the last one seen waits for; and whether it
	 * was seen to wait for work there.
	 */
	uint32_t place;
	int64_t alone, alone_of[ANA_CLASSES]; /* of: with which classes, but for chains */
	bool served;
	bool unnamed; /* of the sample at hand: so its chain is that waits for work */
	/* of the sample at hand: its chain's makers serve, and were met at work by chance */
	bool doubted;
	/* of the sample at hand: who makes what it takes is known, and not that this is data */
	bool named;
	bool asks; /* that is nearly all of the piece: waits at the same place may tell */
	/* who hands work to a thread without Python tells: to waits at ANA_PLACE_NATIVE, too */
	bool by_feeder;
	/* of the sample at hand: a batch is made there, for all that one look back tells */
	bool perhaps;
	int64_t undecided; /* the time of such samples */
	int64_t ran, ran_inline; /* on a CPU, all, and making batches: weights of samples */
	struct ana_order_memo orders, places; /* of ana_order_of; of ana_order_place */
	bool chained; /* ends of chains voted ... */
	enum ana_confidence chain_confidence; /* ... and the least sure of these chains was so */
	bool late; /* of a line whose chain was known when the piece was met: it is left out */
	int err;
	/* the decision */
	bool decided; /* by weights: pieces without samples near it may share them */
	/* the caller's, before hotspots are added: what it is and counts for among such pieces */
	enum ana_piece_kind kind;
	int64_t stand_ns;
	int64_t ns[ANA_CLASSES]; /* sums to end - start */
	enum ana_confidence confidence[ANA_CLASSES];
};

void ana_cause_begin(struct ana_cause *b, int64_t start, int64_t end, enum ana_class unknown,
		     enum ana_confidence record_confidence, bool limited);
void ana_cause_fini(struct ana_cause *b);
void ana_cause_add(struct ana_cause *b, int c, int64_t weight);
void ana_cause_vote(struct ana_cause *b, const struct ana_thread_samples *thread, size_t sample,
		    enum ana_class c, bool producer, int64_t weight);

/*
 * cause_chain.c. Owe: the time @ns of the blocked sample is the chain's that was followed for it.
 * Pay gives what is owed to the ends of the chains; before anything is decided. Copy: a vote of
 * another cause, with its path.
 */
void ana_cause_owe(struct ana_cause *b, const struct ana_thread_samples *s, size_t i, int64_t ns);
void ana_cause_pay(struct ana_cause *b, struct ana_evidence *e);
/*
 * The thread's @delay, if it mostly slept until it would ask again: it came late to see what it
 * waited for. False: it is its own.
 */
bool ana_cause_owe_delay(struct ana_cause *b, int64_t delay);
/*
 * Instead of a vote for the line that waits: who makes what is awaited has it, though the time is
 * of @class and no chain's. False: nobody's line is known.
 */
bool ana_cause_name(struct ana_cause *b, struct ana_evidence *e, const struct ana_thread_samples *s,
		    size_t at, enum ana_class class, int64_t ns);
void ana_cause_copy(struct ana_cause *b, const struct ana_cause *from, const struct ana_vote *v,
		    int64_t weight);

/* Fills ns and confidence. All is b->unknown where nothing weighs. */
void ana_cause_decide(struct ana_cause *b);
/* The same where the class is known. */
void ana_cause_all(struct ana_cause *b, enum ana_class c, enum ana_confidence confidence);

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
