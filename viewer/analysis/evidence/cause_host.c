/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece outside of loader waits and API calls: what the submitter did, by its own samples. What
 * proves nothing stays unknown; a user's own functions are no evidence by their names.
 */
#include "cause.h"
#include "rest.h"

/*
 * A framework's operators come to their next launch within this, and their frames are C code that
 * no stack of Python shows; who runs longer without any call of the driver works on the CPU.
 */
#define CPU_WORK_NS INT64_C(5000000)

/* What a stack's code alone tells; @other: it tells nothing. */
static enum ana_class class_of_code(const struct ana_pystack *k, enum ana_class other)
{
	switch (k->code) {
	case ANA_CODE_DATA:
		return ANA_INPUT_INLINE;
	case ANA_CODE_CHECKPOINT:
	case ANA_CODE_SAVE:
		return ANA_HOST_CHECKPOINT;
	case ANA_CODE_LOAD:
		return ANA_HOST_WARMUP;
	case ANA_CODE_EPOCH:
		return ANA_INPUT_EPOCH;
	default:
		return other;
	}
}

/* LEDGER 6, work on the CPU. In an operator of the framework it is the framework's. */
static bool is_own_work(const struct ana_cause *b, const struct ana_pystack *k)
{
	return k->own && b->unknown != ANA_HOST_DISPATCH;
}

/* What the program's own lines do before the lines that give the GPU work, and a copy follows. */
static bool is_before_copy(struct ana_cause *b, struct ana_evidence *e,
			   const struct ana_thread_samples *s, size_t i)
{
	enum ana_order order = b->given.made ? ana_order_of(&b->orders, e, s, i, b->start, b->end)
					     : ANA_ORDER_UNKNOWN;

	b->perhaps |= order == ANA_ORDER_PERHAPS;
	return order == ANA_ORDER_BEFORE;
}

/* The stack of a sample. A generator is an iterator, if a copy to the GPU comes next. */
static struct ana_pystack stack_of(struct ana_cause *b, struct ana_evidence *e,
				   const struct ana_thread_samples *s, size_t i)
{
	struct ana_pystack k = *ana_pystacks_get(&e->stacks, s->sample[i].stack);

	if (k.resumed.len && b->given.made && !k.iterates)
		k.iterates =
			ana_order_of(&b->orders, e, s, i, b->start, b->end) == ANA_ORDER_RESUMED;
	return k;
}

/* On a CPU. What an iterator computes before a batch is copied is that batch. */
static enum ana_class class_of_run(struct ana_cause *b, struct ana_evidence *e,
				   const struct ana_thread_samples *t, size_t i,
				   const struct ana_pystack *k)
{
	const struct wire_sample *s = &t->sample[i];

	if (s->flags & WIRE_SAMPLE_FL_GC && s->flags & WIRE_SAMPLE_FL_GIL)
		return ANA_HOST_GC;
	if (k->no_work)
		return ANA_HOST_NO_WORK;
	if (k->code == ANA_CODE_NEXT || k->code == ANA_CODE_HANDOFF)
		return ANA_INPUT_HANDOFF;
	if (k->code == ANA_CODE_PLAIN && b->owes && k->take == ANA_TAKE_ITEM)
		return ANA_INPUT_HANDOFF; /* it unpacks what it waited for in this piece */
	if (k->code == ANA_CODE_PLAIN && b->given.fed && k->iterates)
		return ANA_INPUT_INLINE;
	if (k->code == ANA_CODE_CPU)
		return ANA_HOST_CPU_WORK;
	if (!is_own_work(b, k))
		return class_of_code(k, ANA_HOST_DISPATCH);
	/* about to wait for others, or back from it, it makes nothing; nor do requests feed */
	if ((k->take == ANA_TAKE_NOT_TOLD || k->take == ANA_TAKE_ITEM) &&
	    !ana_callers_place(&e->callers, s->stack) && is_before_copy(b, e, t, i))
		return class_of_code(k, ANA_INPUT_INLINE);
	return class_of_code(k, b->end - b->start >= CPU_WORK_NS ? ANA_HOST_CPU_WORK
								 : ANA_HOST_DISPATCH);
}

/* Reading a file: by whose frames, because the innermost is the user's own, or by what follows. */
static enum ana_class class_of_read(struct ana_cause *b, struct ana_evidence *e,
				    const struct ana_thread_samples *s, size_t i,
				    const struct ana_pystack *k)
{
	if (k->user_leaf || (k->iterates && b->given.fed) || (k->own && is_before_copy(b, e, s, i)))
		return class_of_code(k, ANA_INPUT_INLINE);
	return class_of_code(k, ANA_HOST_UNKNOWN);
}

#define FOLLOWED ANA_CLASSES /* the time is the chain's (cause_chain.c) */

/*
 * Whether what the thread takes may be a batch, by what the GPU is given: an item of a queue, a
 * future or an iterator where the process copies to the GPU; what is known less, only where such a
 * copy ends the gap. What comes back for results that were sent away is none.
 */
static bool feeds(const struct ana_cause *b, enum ana_take take)
{
	if (b->given.answer && b->chain.piped)
		return false;
	if (take == ANA_TAKE_ITEM)
		return b->given.fed;
	return b->given.at_once;
}

/* Nobody is known who makes what the thread takes. */
static enum ana_class class_of_take_alone(struct ana_cause *b, struct ana_evidence *e,
					  const struct ana_thread_samples *t, size_t i,
					  const struct ana_pystack *k, enum ana_take take)
{
	const struct wire_sample *s = &t->sample[i];
	const struct ana_links *l = ana_linktexts_get(&e->links, s->links);
	bool data = b->given.fed && k->code == ANA_CODE_DATA;

	if (b->chain.called) /* it is of the job who answers, and nobody outside */
		return s->wait == WIRE_WAIT_SOCKET && k->take != ANA_TAKE_EVENT ? ANA_HOST_NET
										: ANA_HOST_WAIT;
	switch (s->wait) {
	case WIRE_WAIT_SOCKET:
		if (b->given.fed && !b->given.answer && (data || k->iterates))
			return ANA_INPUT_INLINE;
		if (k->take == ANA_TAKE_ITEM && is_before_copy(b, e, t, i))
			return ANA_INPUT_INLINE;
		/* data that somebody outside of the job was asked for */
		if (b->given.at_once && !b->given.answer && ana_links_await_kind(l, 'd') &&
		    !ana_links_await_kind(l, 'a') && !ana_callers_beside(&e->callers, l))
			return ANA_INPUT_FETCH;
		/* an event loop waits for anything */
		return k->take == ANA_TAKE_EVENT ? ANA_HOST_WAIT : ANA_HOST_NET;
	case WIRE_WAIT_PIPE:
		if (data)
			return ANA_INPUT_INLINE;
		break;
	default:
		break;
	}
	return take == ANA_TAKE_ITEM && k->iterates && b->given.fed ? ANA_INPUT_UNKNOWN
								    : ANA_HOST_WAIT;
}

/* It takes something there, and copies are made to the GPU: what it takes may be a batch. */
static bool at_place(struct ana_cause *b, const struct wire_sample *w)
{
	const uint32_t place = w->stack ? w->stack : ANA_PLACE_NATIVE;

	if (!b->given.fed)
		return false;
	if (!b->place)
		b->place = place;
	return b->place == place;
}

/* Few bytes come, from somebody who only slept: a sign of life, a turn, a barrier; no batch. */
static bool is_word(const struct ana_cause *b, struct ana_evidence *e)
{
	return b->given.read == ANA_READ_WORDS && ana_rest_all(b, e);
}

/*
 * A connection that brings little each time, at a line that does not come before the copy to the
 * GPU: the answer to what was sent (metrics, a turn, a barrier), no batch.
 */
static bool is_reply(struct ana_cause *b, struct ana_evidence *e,
		     const struct ana_thread_samples *s, size_t i, const struct ana_pystack *k)
{
	const struct ana_links *l = ana_linktexts_get(&e->links, s->sample[i].links);

	return s->sample[i].wait == WIRE_WAIT_SOCKET && k->take == ANA_TAKE_ITEM && !k->iterates &&
	       k->code != ANA_CODE_DATA && ana_links_await_kind(l, 't') &&
	       !ana_links_await_kind(l, 'd') && !is_before_copy(b, e, s, i);
}

/* What a chain that has makers makes of it. */
static enum ana_class class_of_made(struct ana_cause *b, struct ana_evidence *e,
				    const struct ana_thread_samples *s, size_t i,
				    const struct ana_pystack *k, enum ana_take take)
{
	if (s->sample[i].wait == WIRE_WAIT_PIPE && is_word(b, e))
		return ANA_HOST_WAIT;
	if (!feeds(b, take)) {
		b->named = !b->given.answer || !b->chain.piped;
		return b->named ? ANA_HOST_WAIT : ANA_HOST_NET;
	}
	if (ana_rest_visitors(b, e))
		return ANA_HOST_NO_WORK;
	return is_reply(b, e, s, i, k) ? ANA_HOST_NET : FOLLOWED;
}

static enum ana_class class_of_take(struct ana_cause *b, struct ana_evidence *e,
				    const struct ana_thread_samples *s, size_t i,
				    const struct ana_pystack *k, enum ana_take take)
{
	enum ana_class c;

	ana_chain_follow(&b->chain, e, s, i, b->start, b->end);
	switch (b->chain.found) {
	case ANA_CHAIN_MAKERS:
		c = class_of_made(b, e, s, i, k, take);
		b->doubted = c == FOLLOWED && ana_rest_servers(b, e);
		return c;
	case ANA_CHAIN_REQUESTS:
		b->unnamed = b->chain.unnamed;
		return ANA_HOST_NO_WORK;
	case ANA_CHAIN_WRITERS:
		return ANA_HOST_WAIT;
	default:
		return class_of_take_alone(b, e, s, i, k, take);
	}
}

/*
 * Nobody was found who ends the wait. What is read from a socket before a copy may be data or a
 * request: where nothing is told of the socket, others at the line may know.
 */
static bool is_alone(const struct ana_cause *b, struct ana_evidence *e, const struct wire_sample *w,
		     enum ana_class c)
{
	if (b->chain.found != ANA_CHAIN_NOBODY)
		return false;
	if (c == ANA_INPUT_INLINE)
		return w->wait == WIRE_WAIT_SOCKET &&
		       !ana_linktexts_get(&e->links, w->links)->awaits;
	return c == ANA_HOST_WAIT || c == ANA_HOST_NET || c == ANA_INPUT_UNKNOWN;
}

/* Blocked in something that somebody else ends: a lock, a queue, a socket, a child. */
static enum ana_class class_of_others(struct ana_cause *b, struct ana_evidence *e,
				      const struct ana_thread_samples *s,
				      const struct ana_shares *h, size_t i,
				      const struct ana_pystack *k, enum ana_take take)
{
	const struct wire_sample *w = &s->sample[i];
	enum ana_class c;

	switch (take) {
	case ANA_TAKE_ITEM:
	case ANA_TAKE_EVENT:
		c = class_of_take(b, e, s, i, k, take);
		if ((c == FOLLOWED || is_alone(b, e, w, c)) && at_place(b, w) &&
		    (c != FOLLOWED || b->doubted))
			b->alone += ana_shares_part(s, h, i);
		return c;
	case ANA_TAKE_SERVES:
		return ANA_HOST_NO_WORK;
	case ANA_TAKE_LOCK:
		if (ana_chain_held(e, s, i, b->start, b->end))
			return ANA_HOST_LOCK;
		/* of what, was not looked at: it may be no lock at all */
		if (!ana_linktexts_get(&e->links, w->links)->awaits && at_place(b, w))
			b->alone += ana_shares_part(s, h, i);
		return ANA_HOST_WAIT;
	default:
		return w->wait == WIRE_WAIT_SOCKET ? ANA_HOST_NET : ANA_HOST_WAIT;
	}
}

/* In torch's loader, without its range: it waits for a batch, whoever makes that. */
static enum ana_class class_of_loader(struct ana_cause *b, struct ana_evidence *e,
				      const struct ana_thread_samples *s, size_t i,
				      enum ana_class alone)
{
	ana_chain_follow(&b->chain, e, s, i, b->start, b->end);
	return b->chain.found == ANA_CHAIN_MAKERS ? FOLLOWED : alone;
}

/*
 * What multiprocessing reads; torch's loader's batches are no words, whatever comes through pipes.
 */
static enum ana_class class_of_queue(struct ana_cause *b, struct ana_evidence *e,
				     const struct ana_thread_samples *s, size_t i,
				     const struct ana_pystack *k)
{
	enum ana_class c = class_of_loader(b, e, s, i, ANA_INPUT_UNKNOWN);

	if (k->waits)
		return c;
	return is_word(b, e) ? ANA_HOST_WAIT : c;
}

/* Asleep, for all that is known of it, though it may ask others in between: its place may tell. */
static enum ana_class class_of_nap_alone(struct ana_cause *b, const struct ana_thread_samples *s,
					 const struct ana_shares *h, size_t i,
					 const struct ana_pystack *k)
{
	enum ana_class c = class_of_code(k, ANA_HOST_UNKNOWN);

	if (c == ANA_HOST_UNKNOWN && at_place(b, &s->sample[i]))
		b->alone += ana_shares_part(s, h, i);
	return c;
}

/* Asleep before it asks an iterator's objects again: who makes the item is told, or nothing is. */
static enum ana_class class_of_nap(struct ana_cause *b, struct ana_evidence *e,
				   const struct ana_thread_samples *s, const struct ana_shares *h,
				   size_t i, const struct ana_pystack *k)
{
	enum ana_class c = class_of_take(b, e, s, i, k, ANA_TAKE_ITEM);

	if (b->chain.found == ANA_CHAIN_NOBODY)
		return class_of_nap_alone(b, s, h, i, k);
	if (c == FOLLOWED)
		at_place(b, &s->sample[i]);
	return c;
}

/* The sample beside it, at the same place: it woke up in between, looked, and slept again. */
static bool is_again(const struct ana_cause *b, const struct wire_sample *w,
		     const struct wire_sample *beside)
{
	return beside->t_ns >= b->start && beside->t_ns < b->end && !ana_sample_runs(beside) &&
	       beside->wait == WIRE_WAIT_SLEEP && beside->stack == w->stack && beside->cpu_ns &&
	       w->cpu_ns && beside->cpu_ns != w->cpu_ns;
}

static bool comes_again(const struct ana_cause *b, const struct ana_thread_samples *s, size_t i)
{
	const struct wire_sample *w = &s->sample[i];

	return (i > s->head && is_again(b, w, w - 1)) || (i + 1 < s->tail && is_again(b, w, w + 1));
}

/*
 * The program's own code sleeps, a copy to the GPU follows, and there is memory in which others may
 * have put what it looks for; or it reads data, no words.
 */
static bool may_poll(const struct ana_cause *b, struct ana_evidence *e, const struct wire_sample *w,
		     const struct ana_pystack *k)
{
	const struct ana_links *l = ana_linktexts_get(&e->links, w->links);

	return k->own && b->given.made &&
	       (ana_links_await_kind(l, 'm') || (!l->awaits && b->given.read == ANA_READ_DATA));
}

/*
 * Of one look alone nobody knows whether it sleeps once or looks again and again, nor always where
 * in the loop that is: its place may tell.
 */
static enum ana_class class_of_poll(struct ana_cause *b, struct ana_evidence *e,
				    const struct ana_thread_samples *s, const struct ana_shares *h,
				    size_t i, const struct ana_pystack *k)
{
	enum ana_order order = ana_order_place(&b->places, e, s, i, b->start);

	if (order == ANA_ORDER_BEHIND)
		return class_of_code(k, ANA_HOST_UNKNOWN);
	if (order == ANA_ORDER_BEFORE && comes_again(b, s, i))
		return class_of_nap(b, e, s, h, i, k);
	return class_of_nap_alone(b, s, h, i, k);
}

/* Blocked in something of which no other thread is known to end it. */
static enum ana_class class_of_rest(struct ana_cause *b, struct ana_evidence *e,
				    const struct ana_thread_samples *s, const struct ana_shares *h,
				    size_t i, const struct ana_pystack *k, enum ana_take take)
{
	const struct wire_sample *w = &s->sample[i];

	if (w->wait == WIRE_WAIT_SLEEP && take == ANA_TAKE_ITEM && k->take == ANA_TAKE_NOT_TOLD)
		return class_of_nap(b, e, s, h, i, k);
	if (w->wait == WIRE_WAIT_SLEEP && take == ANA_TAKE_NOT_TOLD && may_poll(b, e, w, k))
		return class_of_poll(b, e, s, h, i, k);
	if (take == ANA_TAKE_SERVES)
		return ANA_HOST_NO_WORK;
	if (w->wait != WIRE_WAIT_GPU && (take == ANA_TAKE_ITEM || take == ANA_TAKE_EVENT) &&
	    ana_linktexts_get(&e->links, w->links)->awaits)
		return class_of_take(b, e, s, i, k, take);
	if (w->wait == WIRE_WAIT_SLEEP && take == ANA_TAKE_NOT_TOLD && k->draws &&
	    !ana_linktexts_get(&e->links, w->links)->awaits)
		return class_of_nap_alone(b, s, h, i, k); /* what it asks was not looked at */
	return class_of_code(k, ANA_HOST_UNKNOWN);
}

static bool leads_to(const struct ana_chain *c, const struct ana_thread_samples *s)
{
	uint32_t k;
	uint8_t i;

	for (k = 0; c->found == ANA_CHAIN_MAKERS && k < c->paths; k++)
		for (i = 1; i < c->path[k].links; i++)
			if (c->path[k].link[i].thread == s)
				return true;
	return false;
}

/* waits before, with other links, that are asked who makes what was taken there */
#define TAKES_MAX 4u

/*
 * Half or more of those who have Python's lock meanwhile, of the thread's process, are of the
 * chain.
 */
static bool makers_have_lock(const struct ana_cause *b, struct ana_evidence *e,
			     const struct ana_thread_samples *s)
{
	const struct ana_among among = ana_evidence_among(e, b->start, b->end);
	uint32_t makers = 0, others = 0, k;
	size_t i;

	for (k = 0; k < among.threads; k++) {
		const struct ana_thread_samples *t = among.thread[k];
		uint32_t n = 0;

		if (t == s || t->pid != s->pid)
			continue;
		for (i = ana_samples_from(t, b->start); i < t->tail && t->sample[i].t_ns < b->end;
		     i++)
			n += !!(t->sample[i].flags & WIRE_SAMPLE_FL_GIL);
		if (n)
			*(leads_to(&b->chain, t) ? &makers : &others) += n;
	}
	return makers && makers >= others;
}

/*
 * Python's lock. If those have it who make what the thread takes where it waits for batches, then
 * the batches are what it waits for here, too: *at is where it takes them.
 */
static enum ana_class class_of_gil(struct ana_cause *b, struct ana_evidence *e,
				   const struct ana_thread_samples *s, size_t i, size_t *at)
{
	uint32_t tried = 0, last = 0;
	size_t k;

	if (s->sample[i].flags & WIRE_SAMPLE_FL_GC)
		return ANA_HOST_GC;
	for (k = i; k > s->head && tried < TAKES_MAX; k--) {
		const struct wire_sample *w = &s->sample[k - 1];
		const struct ana_links *l = ana_linktexts_get(&e->links, w->links);
		const struct ana_pystack p = *ana_pystacks_get(&e->stacks, w->stack);
		enum ana_take take = ana_waitkind_of(w, &p, l);

		if (w->t_ns < b->start - ANA_LOOK_BACK_NS)
			break;
		if (ana_sample_runs(w) || !l->awaits || w->links == last ||
		    (take != ANA_TAKE_ITEM && take != ANA_TAKE_EVENT) || w->wait == WIRE_WAIT_GPU ||
		    ana_chain_no_work(e, w))
			continue;
		tried++;
		last = w->links;
		if (class_of_take(b, e, s, k - 1, &p, take) == FOLLOWED &&
		    makers_have_lock(b, e, s)) {
			*at = k - 1;
			return FOLLOWED;
		}
	}
	return ANA_HOST_LOCK;
}

/* FOLLOWED, from sample *at on, or the class. */
static enum ana_class class_of_block(struct ana_cause *b, struct ana_evidence *e,
				     const struct ana_thread_samples *s, const struct ana_shares *h,
				     size_t i, size_t *at)
{
	const struct wire_sample *w = &s->sample[i];
	const struct ana_pystack k = stack_of(b, e, s, i);
	enum ana_take take = ana_waitkind_of(w, &k, ana_linktexts_get(&e->links, w->links));

	if (ana_chain_no_work(e, w))
		return ANA_HOST_NO_WORK;
	if (w->wait == WIRE_WAIT_GIL)
		return class_of_gil(b, e, s, i, at);
	/* Importing and compiling wait for files, for locks, and for compilers of their own. */
	if (k.code == ANA_CODE_LOAD && w->wait != WIRE_WAIT_QUEUE)
		return ANA_HOST_WARMUP;
	if (w->wait == WIRE_WAIT_FAULT && w->target)
		return ANA_HOST_WARMUP; /* code that is used for the first time */
	switch (w->wait) {
	case WIRE_WAIT_READ:
	case WIRE_WAIT_FAULT:
		return class_of_read(b, e, s, i, &k);
	case WIRE_WAIT_WRITE:
		return ANA_HOST_CHECKPOINT;
	case WIRE_WAIT_QUEUE:
		return class_of_queue(b, e, s, i, &k);
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
		if (k.code == ANA_CODE_EPOCH)
			return ANA_INPUT_EPOCH;
		if (k.code == ANA_CODE_CHECKPOINT)
			return ANA_HOST_CHECKPOINT;
		if (k.code == ANA_CODE_NEXT || k.code == ANA_CODE_HANDOFF)
			return class_of_loader(b, e, s, i, ANA_INPUT_HANDOFF);
		return class_of_others(b, e, s, h, i, &k, take);
	case WIRE_WAIT_PIPE:
	case WIRE_WAIT_CHILD:
		if (k.code == ANA_CODE_EPOCH)
			return ANA_INPUT_EPOCH;
		if (k.code == ANA_CODE_DATA && w->wait == WIRE_WAIT_CHILD)
			return ANA_INPUT_INLINE;
		return class_of_others(b, e, s, h, i, &k, take);
	case WIRE_WAIT_SOCKET:
		return class_of_others(b, e, s, h, i, &k, take);
	default:
		return class_of_rest(b, e, s, h, i, &k, take);
	}
}

/* The samples in which the thread waits in the loader's next(), by what they stand for. */
static int64_t waiting(struct ana_evidence *e, const struct ana_thread_samples *s,
		       const struct ana_shares *h)
{
	int64_t ns = 0;
	size_t i;

	for (i = h->first; i < h->end; i++) {
		const struct wire_sample *w = &s->sample[i];

		if (ana_pystacks_get(&e->stacks, w->stack)->waits ||
		    (w->wait == WIRE_WAIT_QUEUE && !ana_chain_no_work(e, w)))
			ns += ana_shares_weight(s, h, i);
	}
	return ns;
}

/*
 * Behind the last operation, in a program that goes on: it sleeps for whatever reason, and the GPU
 * is held for nothing.
 */
static bool is_done(const struct ana_cause *b, struct ana_evidence *e, const struct wire_sample *w)
{
	return b->unknown == ANA_EXCLUDED_TEARDOWN && w->wait == WIRE_WAIT_SLEEP && w->stack &&
	       !ana_pystacks_get(&e->stacks, w->stack)->over;
}

static void add_blocked(struct ana_cause *b, struct ana_evidence *e,
			const struct ana_thread_samples *s, const struct ana_shares *h, size_t i)
{
	int64_t ns = ana_shares_part(s, h, i), alone = b->alone;
	size_t at = i;
	enum ana_class c;

	b->unnamed = b->perhaps = b->doubted = b->named = false;
	c = class_of_block(b, e, s, h, i, &at);
	if (c != FOLLOWED)
		b->alone_of[c] += b->alone - alone;
	if (c == ANA_HOST_UNKNOWN && is_done(b, e, &s->sample[i]))
		c = ANA_HOST_NO_WORK;
	b->undecided += b->perhaps ? ns : 0;
	if (c == FOLLOWED) {
		ana_cause_owe(b, s, at, ns);
		ana_cause_vote(b, s, i, ANA_INPUT_UNKNOWN, false, ns); /* the line that waits */
	} else {
		if (c == ANA_HOST_NO_WORK && at_place(b, &s->sample[i])) {
			b->served |= !b->unnamed;
			b->alone += b->unnamed ? ns : 0;
		}
		ana_cause_add(b, c, ns);
		if (c != ANA_HOST_WAIT || !b->named || !ana_cause_name(b, e, s, i, c, ns))
			ana_cause_vote(b, s, i, c, true, ns);
	}
}

/* Of one that runs; or of one that ran between samples, in code that they show blocked. */
static void add_run(struct ana_cause *b, struct ana_evidence *e, const struct ana_thread_samples *s,
		    const struct ana_shares *h, size_t i)
{
	const struct wire_sample *w = &s->sample[i];
	const bool runs = ana_sample_runs(w);
	struct ana_pystack k;
	enum ana_class c;
	int64_t ns;

	if (!runs && (h->running || !h->run))
		return;
	k = stack_of(b, e, s, i);
	b->perhaps = false;
	c = class_of_run(b, e, s, i, &k);
	b->ran += ana_shares_weight(s, h, i);
	b->ran_inline += c == ANA_INPUT_INLINE ? ana_shares_weight(s, h, i) : 0;
	ns = runs ? ana_shares_part(s, h, i)
		  : ana_scale(h->run, ana_shares_weight(s, h, i), h->waiting);
	b->undecided += b->perhaps ? ns : 0;
	ana_cause_add(b, c, ns);
	ana_cause_vote(b, s, i, c, runs, ns);
}

/* Waits first: what of them was followed tells what the thread unpacks. */
static void add_samples(struct ana_cause *b, struct ana_evidence *e,
			const struct ana_thread_samples *s, const struct ana_shares *h)
{
	size_t i;

	for (i = h->first; i < h->end; i++)
		if (!ana_sample_runs(&s->sample[i]))
			add_blocked(b, e, s, h, i);
	for (i = h->first; i < h->end; i++)
		add_run(b, e, s, h, i);
}

/*
 * Whose samples tell: the submitter's; where that is no Python thread and idles for half of the
 * piece or more, those of the Python thread that hands it work.
 */
static const struct ana_thread_samples *teller(const struct ana_cause *b, struct ana_evidence *e,
					       const struct ana_thread_samples *s,
					       struct ana_shares *h)
{
	const struct ana_thread_samples *best = s;
	struct ana_among among;
	struct ana_shares f;
	size_t i, most = 0;
	uint32_t k;

	for (i = h->first; i < h->end; i++)
		if (s->sample[i].stack)
			return s;
	if (2 * h->waiting < b->end - b->start)
		return s;
	among = ana_evidence_among(e, b->start, b->end);
	for (k = 0; k < among.threads; k++) {
		const struct ana_thread_samples *t = among.thread[k];

		if (t == s || t->pid != e->pid || t->role != WIRE_ROLE_FEEDER ||
		    !ana_shares_of(t, b->start, b->end, &f) || f.end - f.first <= most)
			continue;
		most = f.end - f.first;
		*h = f;
		best = t;
	}
	return best;
}

/*
 * Who copies to the GPU may be one whom another thread waits for, which gives the GPU its other
 * work: then it is that one's wait.
 */
static const struct ana_thread_samples *waits_for(struct ana_cause *b, struct ana_evidence *e,
						  const struct ana_thread_samples *s,
						  struct ana_shares *h)
{
	const struct ana_thread_samples *t =
		b->given.at_once && b->given.left && b->given.left != s->tid
			? ana_evidence_thread(e, e->pid, b->given.left)
			: NULL;
	struct ana_shares f;
	size_t i;

	if (!ana_shares_of(t, b->start, b->end, &f))
		return s;
	for (i = f.first; i < f.end; i++) {
		const struct wire_sample *w = &t->sample[i];
		const struct ana_pystack k = *ana_pystacks_get(&e->stacks, w->stack);
		const struct ana_links *l = ana_linktexts_get(&e->links, w->links);
		enum ana_take take = ana_waitkind_of(w, &k, l);

		if (ana_sample_runs(w) || !l->awaits ||
		    (take != ANA_TAKE_ITEM && take != ANA_TAKE_EVENT))
			continue;
		ana_chain_follow(&b->chain, e, t, i, b->start, b->end);
		if (leads_to(&b->chain, s)) {
			*h = f;
			return t;
		}
	}
	return s;
}

static void as_wait(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_given given = b->given;

	ana_cause_begin(b, b->start, b->end, ANA_INPUT_UNKNOWN, ANA_MEDIUM, true);
	b->given = given;
	if (!ana_cause_wait(b, e, tid))
		ana_cause_all(b, ANA_INPUT_UNKNOWN, ANA_MEDIUM);
}

/* The same of what multiprocessing reads, where only processes below are known. */
static bool is_word_of_workers(const struct ana_cause *b, struct ana_evidence *e)
{
	uint32_t i;

	if (b->given.read != ANA_READ_WORDS)
		return false;
	for (i = 0; i < e->threads; i++)
		if (e->thread[i]->role == WIRE_ROLE_WORKER && ana_rest_works(b, e, e->thread[i]))
			return false;
	return true;
}

static void all_wait(struct ana_cause *b, const struct ana_thread_samples *s,
		     const struct ana_shares *h)
{
	const struct ana_given given = b->given;
	size_t i;

	ana_cause_begin(b, b->start, b->end, ANA_HOST_UNKNOWN, ANA_NONE, false);
	b->given = given;
	b->served = true; /* what others at this place wait for, too */
	ana_cause_add(b, ANA_HOST_WAIT, b->end - b->start);
	for (i = h->first; i < h->end; i++)
		ana_cause_vote(b, s, i, ANA_HOST_WAIT, true, ana_shares_weight(s, h, i));
	ana_cause_decide(b);
}

static bool in_loader(struct ana_evidence *e, const struct ana_thread_samples *s,
		      const struct ana_shares *h)
{
	size_t i;

	for (i = h->first; i < h->end; i++)
		if (ana_pystacks_get(&e->stacks, s->sample[i].stack)->waits)
			return true;
	return false;
}

/* It waits for a batch; but what comes through a pipe of the program's own may be less. */
static bool decide_wait(struct ana_cause *b, struct ana_evidence *e,
			const struct ana_thread_samples *s, const struct ana_shares *h)
{
	const bool loader = in_loader(e, s, h);
	const bool word = !loader && is_word_of_workers(b, e);
	size_t i;

	if (!loader && b->given.read == ANA_READ_ONE_LOOK)
		return false; /* its neighbours know more */
	if (word)
		all_wait(b, s, h);
	else
		as_wait(b, e, s->tid);
	for (i = h->first; i < h->end && !loader && !b->place; i++)
		if (s->sample[i].wait == WIRE_WAIT_QUEUE && !ana_chain_no_work(e, &s->sample[i]))
			at_place(b, &s->sample[i]);
	b->asks = b->place && b->ns[ANA_INPUT_UNKNOWN] == b->end - b->start;
	return true;
}

/* Who mostly makes batches while it runs is wanting a CPU for that. */
static enum ana_class starved_of(const struct ana_cause *b)
{
	return b->ran_inline && 2 * b->ran_inline >= b->ran && b->unknown != ANA_EXCLUDED_TEARDOWN
		       ? ANA_INPUT_CPU_STARVED
		       : ANA_HOST_CPU_STARVED;
}

/* No batch was made for a GPU to which nothing was given any more. */
static bool is_forgotten(const struct ana_cause *b, int c)
{
	if (b->ending)
		return c != ANA_HOST_CHECKPOINT;
	return c == ANA_INPUT_INLINE || c == ANA_INPUT_EPOCH || c == ANA_INPUT_HANDOFF;
}

/* What tells nothing of a tail. */
static void forget(struct ana_cause *b)
{
	int c;

	if (b->ending)
		b->idle = b->held = 0;
	for (c = 0; c < ANA_CLASSES; c++)
		if (c != ANA_HOST_UNKNOWN && is_forgotten(b, c)) {
			ana_cause_add(b, ANA_HOST_UNKNOWN, b->weight[c]);
			b->weight[c] = 0;
		}
}

/*
 * It was seen to wait for work: where it waits at the very same place in the same piece, and nobody
 * was seen who would end that, it waits for work, too. What it waits for is looked at from its
 * second look on, or later.
 */
static void serve_alone(struct ana_cause *b)
{
	int c;

	for (c = 0; c < ANA_CLASSES && b->served && !b->chained; c++) {
		ana_cause_add(b, ANA_HOST_NO_WORK, b->alone_of[c]);
		b->weight[c] -= b->alone_of[c];
	}
}

/*
 * The program of a main thread has ended: nothing of Python runs in it any more, or what the
 * interpreter calls at its end.
 */
static bool is_over(const struct ana_cause *b, struct ana_evidence *e,
		    const struct ana_thread_samples *s, const struct ana_shares *h)
{
	int64_t over = 0;
	size_t i;

	if (s->pid != e->pid || s->tid != e->pid || s->first_python >= b->start)
		return false;
	for (i = h->first; i < h->end; i++) {
		const struct wire_sample *w = &s->sample[i];

		/* between two statements at a terminal nothing of Python runs, either */
		if ((!w->stack || ana_pystacks_get(&e->stacks, w->stack)->over) &&
		    !ana_chain_no_work(e, w))
			over += ana_shares_weight(s, h, i);
	}
	return 2 * (__int128)over >= h->running + h->waiting;
}

bool ana_cause_host(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_thread_samples *own = ana_evidence_thread(e, e->pid, tid), *s, *t;
	struct ana_shares h;

	if (!ana_shares_of(own, b->start, b->end, &h))
		return false;
	if (b->unknown == ANA_EXCLUDED_TEARDOWN && is_over(b, e, own, &h)) {
		ana_cause_all(b, b->unknown, b->record_confidence);
		return true;
	}
	t = teller(b, e, own, &h);
	s = waits_for(b, e, t, &h);
	if (2 * (__int128)waiting(e, s, &h) >= b->end - b->start) {
		if (!b->ending)
			return decide_wait(b, e, s, &h);
		ana_cause_all(b, b->unknown, b->record_confidence);
		return true;
	}
	b->by_feeder = b->given.fed && t != own && s == t;
	add_samples(b, e, s, &h);
	if (b->undecided && 2 * b->undecided >= b->end - b->start - h.delay)
		return false; /* its neighbours know more */
	if (!ana_cause_owe_delay(b, h.delay))
		ana_cause_add(b, starved_of(b), h.delay);
	ana_cause_pay(b, e);
	b->asks =
		b->alone && 10 * (__int128)b->alone >= 9 * (__int128)(b->end - b->start - h.delay);
	serve_alone(b);
	if (b->unknown == ANA_EXCLUDED_TEARDOWN)
		forget(b);
	/* what is not known keeps the class it had */
	if (b->unknown != ANA_HOST_UNKNOWN) {
		ana_cause_add(b, b->unknown, b->weight[ANA_HOST_UNKNOWN]);
		b->weight[ANA_HOST_UNKNOWN] = 0;
	}
	ana_cause_decide(b);
	return true;
}

bool ana_cause_votes(struct ana_cause *b, struct ana_evidence *e, uint32_t tid, enum ana_class c)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);
	struct ana_shares h;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return false;
	for (i = h.first; i < h.end; i++)
		ana_cause_vote(b, s, i, c, true, ana_shares_weight(s, &h, i));
	return true;
}
