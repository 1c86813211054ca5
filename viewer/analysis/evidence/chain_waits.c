/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sample of a giver says: it waits for others in turn, serves, writes, or makes.
 */
#include "chain_priv.h"

#include "shares.h"

#define WRITES_PCT 10 /* of a giver's time: from here on it may be one that writes files */
#define GIVEN_MAX 4u /* waits of one thread that are compared with what another gives */

static enum ana_take take_of(struct ana_evidence *e, const struct wire_sample *w)
{
	return ana_waitkind_of(w, ana_pystacks_get(&e->stacks, w->stack),
			       ana_linktexts_get(&e->links, w->links));
}

/* To those who wait for it, who are not yet there or slow: @links awaits that. */
static bool delivers(struct ana_evidence *e, const struct wire_sample *w,
		     const struct ana_links *links)
{
	return ana_links_deliver(ana_linktexts_get(&e->links, w->links), links);
}

static bool writes(struct ana_evidence *e, const struct wire_sample *w,
		   const struct ana_links *links)
{
	if (ana_pystacks_get(&e->stacks, w->stack)->code == ANA_CODE_CHECKPOINT)
		return true;
	if (ana_sample_runs(w))
		return false;
	return w->wait == WIRE_WAIT_WRITE ||
	       ((w->wait == WIRE_WAIT_SOCKET || w->wait == WIRE_WAIT_PIPE) &&
		take_of(e, w) == ANA_TAKE_GIVES && !delivers(e, w, links));
}

static bool reads(const struct wire_sample *w)
{
	return w->wait == WIRE_WAIT_READ || w->wait == WIRE_WAIT_FAULT ||
	       w->wait == WIRE_WAIT_SOCKET || w->wait == WIRE_WAIT_PIPE;
}

/*
 * It writes, or sends to others than who awaits with these links, for a tenth of its time or more,
 * since 2 s before, and longer than it reads.
 */
bool ana_chain_is_writer(const struct chain_search *f, const struct ana_thread_samples *s,
			 const struct ana_links *links)
{
	int64_t written = 0, read = 0, all = 0, from = f->far ? f->a : f->a - ANA_LOOK_BACK_NS;
	struct ana_shares h;
	size_t i;

	if (!ana_shares_of(s, from, f->b, &h))
		return false;
	for (i = h.first; i < h.end; i++) {
		const struct wire_sample *w = &s->sample[i];
		int64_t ns = i + 1 < h.end ? s->sample[i + 1].t_ns - w->t_ns : f->b - w->t_ns;

		all += ns;
		if (writes(f->e, w, links))
			written += ns;
		else if (reads(w) && !delivers(f->e, w, links))
			read += ns;
	}
	return written && written * (__int128)100 >= (__int128)WRITES_PCT * all && written > read;
}

/*
 * A library's own thread, at a listening socket and, now and then, at connections beside it (zmq),
 * or an event loop of Python's at both at once: what comes may be batches of the job's own
 * processes as well as requests. A loop that only serves, by its name, is none.
 */
bool ana_chain_is_messenger(const struct chain_search *f, const struct wire_sample *w,
			    const struct ana_links *l)
{
	const struct ana_pystack *k = ana_pystacks_get(&f->e->stacks, w->stack);

	if (ana_sample_runs(w) || !ana_links_await_kind(l, 'l'))
		return false;
	return !w->stack || (!k->no_work && k->take == ANA_TAKE_EVENT &&
			     (ana_links_await_kind(l, 't') || ana_links_await_kind(l, 'u') ||
			      ana_links_await_kind(l, 's')));
}

bool ana_chain_at_one_place(const struct chain_search *f, const struct wire_sample *w,
			    const struct wire_sample *v)
{
	if (w->stack)
		return v->stack == w->stack;
	return ana_chain_is_messenger(f, w, ana_linktexts_get(&f->e->links, w->links)) &&
	       ana_chain_is_messenger(f, v, ana_linktexts_get(&f->e->links, v->links));
}

/* A thread of the chain, of another process than its last one, waits at the connection. */
static bool is_callers(struct chain_search *f, const struct ana_link *connection)
{
	const struct ana_chain_path *p = &f->path;
	uint8_t i;

	for (i = 0; i + 1 < p->links; i++)
		if (p->link[i].thread->pid != p->link[p->links - 1].thread->pid &&
		    ana_links_await(ana_linktexts_get(&f->e->links, p->link[i].awaits), connection))
			return true;
	return false;
}

/* At each connection of which both ends are known. */
static bool all_callers(struct chain_search *f, const struct ana_links *l)
{
	uint8_t i;

	for (i = 0; i < l->count; i++)
		if (l->link[i].kind == ANA_LINK_AWAITS && ana_link_is_connection(&l->link[i]) &&
		    !is_callers(f, &l->link[i]))
			return false;
	return true;
}

/*
 * A connection that the other end asked for, who is none of the job's, brings requests. Where
 * nothing is known of sockets but that the chain's own are among them, the place tells.
 */
bool ana_chain_serves(struct chain_search *f, const struct wire_sample *w)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);

	if (ana_links_await_kind(l, 'a') || take_of(f->e, w) == ANA_TAKE_SERVES ||
	    ana_chain_no_work(f->e, w))
		return true;
	return w->wait == WIRE_WAIT_SOCKET && ana_callers_place(&f->e->callers, w->stack) &&
	       all_callers(f, l);
}

/*
 * It accepts where a connection came in at which a thread of the chain, of another process, waits:
 * that one is there already, and some other thread of its process has it.
 */
static bool is_at_door(struct chain_search *f, const struct wire_sample *w)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links), *of;
	const struct ana_chain_path *p = &f->path;
	uint8_t i, k;

	if (take_of(f->e, w) != ANA_TAKE_SERVES || ana_links_await_kind(l, 't') ||
	    ana_links_await_kind(l, 'u') || ana_links_await_kind(l, 's'))
		return false;
	for (i = 0; i + 1 < p->links; i++) {
		if (p->link[i].thread->pid == p->link[p->links - 1].thread->pid)
			continue;
		of = ana_linktexts_get(&f->e->links, p->link[i].awaits);
		for (k = 0; k < of->count; k++)
			if (of->link[k].kind == ANA_LINK_AWAITS && ana_links_admit(l, &of->link[k]))
				return true;
	}
	return false;
}

bool ana_chain_is_called(struct chain_search *f, const struct wire_sample *w)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);

	if (is_at_door(f, w))
		return true;
	if (!ana_links_await_kind(l, 'a') || ana_links_await_kind(l, 'l') ||
	    ana_links_await_kind(l, 's'))
		return false;
	return all_callers(f, l) && (ana_links_await_kind(l, 't') || ana_links_await_kind(l, 'u'));
}

const struct ana_links *ana_chain_awaited(struct chain_search *f, const struct wire_sample *w,
					  struct ana_links *room)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);

	if (w->wait != WIRE_WAIT_SOCKET ||
	    ana_pystacks_get(&f->e->stacks, w->stack)->take != ANA_TAKE_ITEM)
		return l;
	*room = *l;
	room->reads = true;
	return room;
}

bool ana_chain_asks_on(struct chain_search *f, const struct wire_sample *w)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);
	enum ana_take take;

	if (ana_sample_runs(w) || !l->awaits || ana_chain_in_driver(f->e, w, f->c->start))
		return false;
	if (ana_chain_is_messenger(f, w, l))
		return true;
	if (ana_chain_no_work(f->e, w))
		return false;
	take = take_of(f->e, w);
	return take == ANA_TAKE_ITEM || take == ANA_TAKE_EVENT ||
	       (take == ANA_TAKE_NOT_TOLD && w->wait == WIRE_WAIT_SOCKET);
}

static bool is_for_others(const struct wire_sample *w)
{
	return w->wait == WIRE_WAIT_GIL || w->wait == WIRE_WAIT_LOCK ||
	       w->wait == WIRE_WAIT_LOCK_SHARED || w->wait == WIRE_WAIT_QUEUE ||
	       w->wait == WIRE_WAIT_PIPE || w->wait == WIRE_WAIT_SOCKET ||
	       w->wait == WIRE_WAIT_SLEEP;
}

/*
 * At one line stand many calls: who sleeps there looked for nothing unless he slept before, too,
 * for it may be an answer that takes him so long, behind a request that he waited for.
 */
static bool may_be_like(const struct wire_sample *w, const struct wire_sample *before)
{
	return w->stack == before->stack &&
	       (w->wait != WIRE_WAIT_SLEEP || before->wait == WIRE_WAIT_SLEEP);
}

/*
 * The sample that tells what the one at @i awaits: itself, or, where it comes back from the same
 * wait and only lacks the interpreter, or was looked at too shortly, the last one at that place.
 */
size_t ana_chain_asks_as(struct chain_search *f, const struct ana_thread_samples *s, size_t i)
{
	const struct wire_sample *w = &s->sample[i];
	const int64_t since = f->a - ANA_LOOK_BACK_NS;
	size_t k, n;

	if (ana_chain_asks_on(f, w))
		return i;
	if (ana_sample_runs(w) || !w->stack || !is_for_others(w) ||
	    ana_linktexts_get(&f->e->links, w->links)->awaits ||
	    ana_chain_in_driver(f->e, w, f->c->start) || ana_chain_serves(f, w))
		return CHAIN_NOTHING;
	for (k = i, n = 0; n < ANA_STANDS_MAX && k && s->sample[k - 1].t_ns >= since; k--, n++)
		if (may_be_like(w, &s->sample[k - 1]) && ana_chain_asks_on(f, &s->sample[k - 1]))
			return k - 1;
	return CHAIN_NOTHING;
}

/* Asleep, or up to other things. */
bool ana_chain_rests(struct ana_evidence *e, const struct wire_sample *w)
{
	enum ana_take take = take_of(e, w);

	return w->wait == WIRE_WAIT_SLEEP || take == ANA_TAKE_GIVES || take == ANA_TAKE_SETTLES;
}

bool ana_chain_is_untold(struct ana_evidence *e, const struct wire_sample *w)
{
	enum ana_take take = take_of(e, w);

	return (w->wait == WIRE_WAIT_LOCK || w->wait == WIRE_WAIT_LOCK_SHARED) &&
	       !ana_linktexts_get(&e->links, w->links)->awaits &&
	       (take == ANA_TAKE_ITEM || take == ANA_TAKE_EVENT);
}

static bool had_lock(const struct chain_search *f, const struct ana_thread_samples *s)
{
	size_t i;

	for (i = ana_samples_from(s, f->a); i < s->tail && s->sample[i].t_ns < f->b; i++)
		if (s->sample[i].flags & WIRE_SAMPLE_FL_GIL)
			return true;
	return false;
}

/* It hands what the one who waits takes, or took up to 2 s before. */
static bool gives_there(struct chain_search *f, const struct ana_thread_samples *s)
{
	const struct ana_thread_samples *who = f->path.link[f->path.links - 1].thread;
	const int64_t since = f->far ? f->a : f->a - ANA_LOOK_BACK_NS;
	uint32_t links = 0, tried = 0, n;
	size_t i;

	for (i = ana_samples_from(who, f->b); tried < GIVEN_MAX && i > who->head; i--) {
		const struct wire_sample *w = &who->sample[i - 1];

		if (w->t_ns < since)
			break;
		if (w->links == links || !ana_chain_asks_on(f, w))
			continue;
		links = w->links;
		tried++;
		if (ana_chain_hands(f->e, s, ana_linktexts_get(&f->e->links, links), since, f->b,
				    &n) != ANA_LINK_AWAITS)
			return true;
	}
	return false;
}

static bool waits_for_lock(const struct ana_thread_samples *s, const struct ana_shares *h)
{
	size_t i;

	for (i = h->first; i < h->end; i++)
		if (s->sample[i].wait == WIRE_WAIT_GIL)
			return true;
	return false;
}

/*
 * Python's lock, for which the thread waits, was another one's that gives to who waits here: they
 * compute by turns, and it is with computing that both are late.
 */
bool ana_chain_is_behind(struct chain_search *f, const struct ana_thread_samples *s,
			 const struct ana_shares *h)
{
	struct ana_among among;
	uint32_t i;

	if (!waits_for_lock(s, h))
		return false;
	among = ana_evidence_among(f->e, f->a, f->b);
	for (i = 0; i < among.threads; i++) {
		const struct ana_thread_samples *t = among.thread[i];

		if (t != s && t->pid == s->pid && t->hands && had_lock(f, t) && gives_there(f, t))
			return true;
	}
	return false;
}

/* At a pipe, a socket, or a queue between processes, which is a pipe. */
bool ana_chain_is_piped(const struct wire_sample *w)
{
	return w->wait == WIRE_WAIT_SOCKET || w->wait == WIRE_WAIT_PIPE ||
	       w->wait == WIRE_WAIT_QUEUE;
}

/*
 * Whether it is of another process than the one that waits, or was seen at a pipe or socket, up to
 * 2 s before the interval: it has to do with others there.
 */
bool ana_chain_was_piped(const struct chain_search *f, const struct ana_thread_samples *s)
{
	int64_t since = f->far ? f->a : f->a - ANA_LOOK_BACK_NS;
	size_t i;

	if (s->pid != f->c->who->pid)
		return true;
	for (i = ana_samples_from(s, since); i < s->tail && s->sample[i].t_ns < f->b; i++) {
		const struct wire_sample *w = &s->sample[i];
		const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);

		if (ana_pystacks_get(&f->e->stacks, w->stack)->between)
			return true;
		if (ana_sample_runs(w))
			continue;
		if (ana_chain_is_piped(w) || ana_links_await_kind(l, 'p') ||
		    ana_links_await_kind(l, 'u') || ana_links_await_kind(l, 't'))
			return true;
	}
	return false;
}
