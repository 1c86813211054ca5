/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of chain.h: chain.c follows, chain_givers.c finds who can end a wait, chain_beyond.c
 * who does behind a library's own threads, chain_waits.c tells what a sample of theirs says,
 * chain_weigh.c what all ends come to. Nobody else includes this. One thread.
 */
#ifndef ANALYSIS_CHAIN_PRIV_H
#define ANALYSIS_CHAIN_PRIV_H

#include "chain.h"
#include "shares.h"

struct chain_giver { /* who can end a wait */
	const struct ana_thread_samples *thread;
	enum ana_link_kind kind;
	uint32_t samples; /* that say so */
};

struct chain_givers {
	struct chain_giver giver[ANA_CHAIN_GIVERS];
	uint32_t count;
	bool circle; /* only threads of the chain itself hold it */
};

struct chain_search {
	struct ana_chain *c;
	struct ana_evidence *e;
	struct ana_chain_path path; /* to the thread at hand */
	int64_t a, b; /* widened where nobody was seen */
	bool far; /* ... which they are */
	bool writers; /* were met */
	uint32_t looks; /* at givers */
	uint32_t *done; /* links of the threads of the path that were passed on; a stack */
	size_t dones, done_room;
	/* of each sample of the threads of the path, ana_chain_asks_as(); a stack, too */
	size_t *asks;
	size_t asked, asks_room;
};

/* ---- chain_givers.c: who gives --------------------------------------------------------------- */

/* How the thread's samples in [a, b), *n of them, hand what @links awaits; AWAITS: none does. */
enum ana_link_kind ana_chain_hands(struct ana_evidence *e, const struct ana_thread_samples *s,
				   const struct ana_links *links, int64_t a, int64_t b,
				   uint32_t *n);

/*
 * Givers in the search's interval, in the order of their numbers; not those of the path. It begins
 * 2 s earlier afterwards if only then somebody is there.
 */
void ana_chain_find(struct chain_givers *g, struct chain_search *f, const struct ana_links *links);

/*
 * Those whose code gives, from 2 s before the interval on; @unseen: of threads without a sample in
 * it.
 */
void ana_chain_find_before(struct chain_givers *g, const struct chain_search *f,
			   const struct ana_links *links, bool unseen);

/* All threads of other processes that were looked at in the interval; none if they are too many. */
void ana_chain_find_others(struct chain_givers *g, const struct chain_search *f);

/* What is awaited is an address of a library of C alone. */
bool ana_chain_is_native(const struct ana_links *links);

void ana_chain_sort(struct chain_givers *g);

/* Giver @i merely listens for others to come, and its process has one that does not. */
bool ana_chain_is_porter(const struct chain_search *f, const struct chain_givers *g, uint32_t i);

/* @links await a socket, too, of which nobody of the path has the other end. */
bool ana_chain_waits_outside(struct chain_search *f, const struct ana_links *links);

/*
 * ---- chain_beyond.c: who gives to a library's own threads
 * ----------------------------------------
 */

/*
 * @w waits in native code. Threads with Python of other processes that have, since 2 s before the
 * interval, the
 * other end of a connection for which a thread without Python in the same library waits in the
 * process of @w; or of one for which a process between waits.
 */
void ana_chain_find_beyond(struct chain_givers *g, struct chain_search *f,
			   const struct wire_sample *w);

/*
 * ---- chain_waits.c: what a sample of a giver says ---------------------------------------------
 */

#define CHAIN_NOTHING SIZE_MAX

bool ana_chain_is_writer(const struct chain_search *f, const struct ana_thread_samples *s,
			 const struct ana_links *links);

/*
 * What the sample awaits, perhaps in @room. A read from a socket is ended at the other end of that:
 * at the address of the reader's object another thread has a copy, or had something before, and
 * neither tells who is there.
 */
const struct ana_links *ana_chain_awaited(struct chain_search *f, const struct wire_sample *w,
					  struct ana_links *room);
bool ana_chain_is_messenger(const struct chain_search *f, const struct wire_sample *w,
			    const struct ana_links *l);

/* Two waits of one thread, at the same lines. */
bool ana_chain_at_one_place(const struct chain_search *f, const struct wire_sample *w,
			    const struct wire_sample *v);
bool ana_chain_serves(struct chain_search *f, const struct wire_sample *w);

/*
 * The search's last thread waits, in @w, for callers, all of whom are threads of the chain, of
 * other processes, that wait at the same connections: it has no requests of others.
 */
bool ana_chain_is_called(struct chain_search *f, const struct wire_sample *w);

/* It is blocked in a wait that others end, whom to look for makes sense. */
bool ana_chain_asks_on(struct chain_search *f, const struct wire_sample *w);

/* The thread's sample that tells what the one at @i awaits; CHAIN_NOTHING: it awaits nothing. */
size_t ana_chain_asks_as(struct chain_search *f, const struct ana_thread_samples *s, size_t i);
bool ana_chain_rests(struct ana_evidence *e, const struct wire_sample *w);

/* It takes something of Python's, and was not asked, or could not be, what. */
bool ana_chain_is_untold(struct ana_evidence *e, const struct wire_sample *w);

/*
 * The thread waits for Python's lock, in the samples of @h, and another maker of the same has it.
 */
bool ana_chain_is_behind(struct chain_search *f, const struct ana_thread_samples *s,
			 const struct ana_shares *h);
bool ana_chain_is_piped(const struct wire_sample *w);
bool ana_chain_was_piped(const struct chain_search *f, const struct ana_thread_samples *s);

/*
 * ---- chain_weigh.c: ends against each other ----------------------------------------------------
 */

/*
 * Of the ends from @first on: their time; whether they are batches; up to @last, whether they show
 * a giver at work, or at nobody's service.
 */
int64_t ana_chain_time_of(const struct ana_chain *c, uint32_t first);
bool ana_chain_brings_batches(const struct ana_chain *c, uint32_t first);
bool ana_chain_is_at_work(const struct ana_chain *c, uint32_t first, uint32_t last);

/*
 * The ends from @last on in place of those from @first, if they show work; else they are dropped.
 */
bool ana_chain_take_place(struct ana_chain *c, uint32_t first, uint32_t last);

/* Givers that do nothing, beside one that works. @first: the ends of each giver begin there. */
void ana_chain_leave_idle_out(struct chain_search *f, const struct chain_givers *g,
			      const uint32_t *first, uint32_t givers);

/* Total, confidence and what was found, of all ends. */
void ana_chain_sum_up(struct ana_chain *c);

#endif
