/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a thread that waits to those who make what it waits for, by the links of samples: who holds
 * the awaited object and gives, what that thread waits for in turn, and so on. The ends of a chain
 * are the samples of the last ones, each with what it says of the batch. Threads that were merely
 * busy at the time are never in it. docs/LEDGER.md, 6.2, has the rules. One thread.
 */
#ifndef ANALYSIS_CHAIN_H
#define ANALYSIS_CHAIN_H

#include "analysis/ledger.h"
#include "evidence.h"
#include "waitkind.h"

#define ANA_CHAIN_DEPTH 4 /* threads behind the one that waits */
#define ANA_CHAIN_GIVERS 64 /* looked at of one wait */

enum ana_chain_found {
	ANA_CHAIN_NOBODY,
	ANA_CHAIN_MAKERS, /* its ends tell what they do */
	ANA_CHAIN_WRITERS, /* who gives writes files: no maker of batches */
	ANA_CHAIN_REQUESTS, /* who gives waits for requests or for a person */
};

struct ana_chain_link { /* one thread of the chain */
	const struct ana_thread_samples *thread;
	size_t sample; /* one that shows it waiting; of the last its first */
	uint32_t samples; /* that show it give to the one before; of the first: wait */
	uint8_t confidence; /* enum ana_confidence, of that */
	uint32_t awaits; /* string id of the links of that wait; of the last: 0 */
};

struct ana_chain_path { /* from the one that waits to one that makes */
	struct ana_chain_link link[ANA_CHAIN_DEPTH + 1];
	uint8_t links;
};

struct ana_chain_end { /* a sample of a maker */
	const struct ana_thread_samples *thread;
	size_t sample;
	enum ana_class class;
	bool idle; /* it waits for work */
	/*
	 * it sleeps, gives to others, waits for an end or in a circle, and merely holds what is
	 * awaited
	 */
	bool rests;
	/* it waits for requests, or at connections whose other ends are not known yet */
	bool unnamed;
	/*
	 * it waits in a lock or pipe, and nobody was seen to hold that; or it serves, and that is
	 * not what is waited for
	 */
	bool lost;
	bool called; /* lost: it waits for the next word of a thread of the chain */
	bool delay; /* time that it could run and had no CPU: its samples that run are the line */
	int64_t weight; /* ns of its time */
	uint32_t path; /* in ana_chain.path */
};

struct ana_chain {
	/* what was asked for */
	const struct ana_thread_samples *who;
	uint32_t links; /* string id */
	bool nap; /* it sleeps, and nothing tells for what */
	int64_t start, stop;
	/* what was found */
	enum ana_chain_found found;
	bool gives; /* code of the first threads was seen to give */
	bool unnamed; /* there are requests, and nearly all of the time is so */
	bool called; /* nobody was found but, perhaps beside others, a server that is called so */
	bool piped; /* some thread of it waits for a pipe or socket, or is of another process */
	enum ana_confidence confidence; /* of the path with most weight */
	int64_t total; /* of the weights */
	int8_t visited; /* the caller's (cause_host.c), 0 when it was followed anew */
	struct ana_chain_end *end;
	uint32_t ends, end_room;
	struct ana_chain_path *path;
	uint32_t paths, path_room;
	int err;
};

/*
 * Who makes what sample @sample of @who awaits in [a, b). What was asked last is remembered, in @c,
 * which is zero-initialised. Of a nap that awaits nothing, those of the one other process that is
 * at work, if there is one alone: whoever asks so knows that the thread waits for somebody.
 */
void ana_chain_follow(struct ana_chain *c, struct ana_evidence *e,
		      const struct ana_thread_samples *who, size_t sample, int64_t a, int64_t b);
void ana_chain_forget(struct ana_chain *c); /* what was asked last; its memory stays */
void ana_chain_fini(struct ana_chain *c);

/* Whether another thread was seen to hold what the sample awaits, in [a, b) or up to 2 s before. */
bool ana_chain_held(struct ana_evidence *e, const struct ana_thread_samples *who, size_t sample,
		    int64_t a, int64_t b);

/* A sample that waits for requests or for a person (no_work.h). */
bool ana_chain_no_work(struct ana_evidence *e, const struct wire_sample *s);

/*
 * A sample inside the GPU's driver or runtime tells nothing of input. Calls are known from @since
 * on, the start of the piece.
 */
bool ana_chain_in_driver(const struct ana_evidence *e, const struct wire_sample *s, int64_t since);

#endif
