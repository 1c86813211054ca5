/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of samples to who makes what.
 */
#include "chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maker.h"
#include "shares.h"

#define WRITES_PCT 10 /* of a giver's time: from here on it may be one that writes files */
#define BEFORE_MAX 4u /* waits at the same place that are asked for one in which nobody was seen */
#define LOOKS_MAX 256u /* at threads, of one chain: who waits for many, who wait for many */

struct giver { /* who can end a wait */
	const struct ana_thread_samples *thread;
	enum ana_link_kind kind;
	uint32_t samples;
};

struct givers {
	struct giver giver[ANA_CHAIN_GIVERS];
	uint32_t count;
	bool circle; /* only threads of the chain itself hold it */
};

struct search {
	struct ana_chain *c;
	struct ana_evidence *e;
	struct ana_chain_path path; /* to the thread at hand */
	int64_t a, b; /* widened where nobody was seen */
	bool far;
	bool writers; /* were met */
	uint32_t looks; /* at givers */
	uint32_t *done; /* links of the threads of the path that were passed on; a stack */
	size_t dones, done_room;
};

struct answer { /* who can end a wait, and what they do */
	int64_t ns; /* of their ends */
	bool circle; /* only threads of the chain itself hold it */
	bool idle; /* they merely hold it, and do nothing */
};

bool ana_chain_in_driver(const struct ana_evidence *e, const struct wire_sample *s, int64_t since)
{
	uint32_t class;

	if (s->wait == WIRE_WAIT_GPU)
		return true;
	return e->in_call && s->pid == e->pid && s->t_ns >= since &&
	       e->in_call(e->in_call_arg, s->tid, s->t_ns, &class);
}

bool ana_chain_no_work(struct ana_evidence *e, const struct wire_sample *s)
{
	return ana_no_work_of(s, ana_pystacks_get(&e->stacks, s->stack)->no_work,
			      ana_pystacks_text(&e->stacks, s->target),
			      ana_pystacks_text(&e->stacks, s->links)) != ANA_NO_WORK_NOT;
}

/* ---- who gives ------------------------------------------------------------------------------- */

/* How the thread's samples in [a, b) hand what @links awaits; AWAITS: no sample does. */
static enum ana_link_kind hands(struct ana_evidence *e, const struct ana_thread_samples *s,
				const struct ana_links *links, int64_t a, int64_t b, uint32_t *n)
{
	enum ana_link_kind best = ANA_LINK_AWAITS, kind;
	size_t i;

	*n = 0;
	for (i = ana_samples_from(s, a); i < s->tail && s->sample[i].t_ns < b; i++) {
		kind = ana_links_hand(ana_linktexts_get(&e->links, s->sample[i].links), links);
		if (kind == ANA_LINK_AWAITS)
			continue;
		if (kind == ANA_LINK_GIVES && best != ANA_LINK_GIVES)
			*n = 0;
		if (best == ANA_LINK_GIVES && kind != ANA_LINK_GIVES)
			continue;
		best = kind;
		(*n)++;
	}
	return best;
}

static bool in_path(const struct ana_chain_path *p, const struct ana_thread_samples *s)
{
	uint8_t i;

	for (i = 0; i < p->links; i++)
		if (p->link[i].thread == s)
			return true;
	return false;
}

static int by_thread(const void *a, const void *b)
{
	const struct ana_thread_samples *x = ((const struct giver *)a)->thread;
	const struct ana_thread_samples *y = ((const struct giver *)b)->thread;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/*
 * That a thread of C has the address of such a thing about it, in code that gives, tells less than that it has an
 * object: who has many stages of a library about it is not the only one that could end a wait within that.
 */
static bool is_native(const struct ana_links *links)
{
	return ana_links_await_kind(links, 'n') && !ana_links_await_kind(links, 'o') &&
	       !ana_links_await_kind(links, 'q') && !ana_links_await_kind(links, 'f');
}

/* Those whose code gives, and only where there are none those that hold. */
static void find_in(struct givers *g, const struct search *f, const struct ana_links *links,
		    int64_t a, int64_t b)
{
	enum ana_link_kind best = ANA_LINK_AWAITS;
	uint32_t i;

	*g = (struct givers){ 0 };
	for (i = 0; i < f->e->threads; i++) {
		const struct ana_thread_samples *s = f->e->thread[i];
		enum ana_link_kind kind;
		uint32_t n;

		kind = s->hands ? hands(f->e, s, links, a, b, &n) : ANA_LINK_AWAITS;
		if (kind == ANA_LINK_AWAITS)
			continue;
		if (in_path(&f->path, s)) {
			g->circle |= !is_native(links);
			continue;
		}
		if (kind == ANA_LINK_GIVES && best != ANA_LINK_GIVES)
			g->count = 0;
		if ((best == ANA_LINK_GIVES && kind != ANA_LINK_GIVES) ||
		    g->count == ANA_CHAIN_GIVERS)
			continue;
		best = kind;
		g->giver[g->count++] = (struct giver){ s, kind, n };
	}
	g->circle &= !g->count;
	qsort(g->giver, g->count, sizeof(*g->giver), by_thread);
}

/* In [a, b) it waits at a place where it listens. */
static bool listens(const struct search *f, const struct ana_thread_samples *s)
{
	size_t i;

	for (i = ana_samples_from(s, f->a); i < s->tail && s->sample[i].t_ns < f->b; i++)
		if (ana_links_await_kind(ana_linktexts_get(&f->e->links, s->sample[i].links), 'l'))
			return true;
	return false;
}

/*
 * What a process has as descriptors all its threads have: one that listens for others to come is not who
 * answers those who are there.
 */
static bool may_be_porter(const struct search *f, const struct ana_thread_samples *s)
{
	return s->pid != f->path.link[f->path.links - 1].thread->pid && listens(f, s);
}

static bool is_porter(const struct search *f, const struct givers *g, uint32_t i)
{
	const struct ana_thread_samples *s = g->giver[i].thread;
	uint32_t k;

	if (!may_be_porter(f, s))
		return false;
	for (k = 0; k < g->count; k++)
		if (g->giver[k].thread->pid == s->pid && !listens(f, g->giver[k].thread))
			return true;
	return false;
}

static bool has_others(const struct search *f, const struct givers *g)
{
	uint32_t i;

	for (i = 0; i < g->count; i++)
		if (!may_be_porter(f, g->giver[i].thread))
			return true;
	return false;
}

static void find(struct givers *g, struct search *f, const struct ana_links *links)
{
	struct givers near;

	find_in(g, f, links, f->a, f->b);
	if (g->circle || f->far || has_others(f, g))
		return;
	near = *g;
	f->a -= ANA_LOOK_BACK_NS;
	f->far = true;
	find_in(g, f, links, f->a, f->b);
	if (near.count ? has_others(f, g) : g->count || g->circle)
		return;
	*g = near;
	f->a += ANA_LOOK_BACK_NS;
	f->far = false;
}

bool ana_chain_held(struct ana_evidence *e, const struct ana_thread_samples *who, size_t sample,
		    int64_t a, int64_t b)
{
	struct search f = { .e = e, .a = a, .b = b };
	struct givers g;

	f.path.link[f.path.links++].thread = who;
	find(&g, &f, ana_linktexts_get(&e->links, who->sample[sample].links));
	return g.count != 0;
}

/* ---- what a giver does ----------------------------------------------------------------------- */

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
 * It writes, or sends to others than who awaits with these links, for a tenth of its time or more, since
 * 2 s before, and longer than it reads.
 */
static bool is_writer(const struct search *f, const struct ana_thread_samples *s,
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

static uint32_t keep_path(struct search *f)
{
	struct ana_chain *c = f->c;

	if (!base_vec_more(c->path, c->paths, c->path_room)) {
		c->err = -ENOMEM;
		return 0;
	}
	c->path[c->paths] = f->path;
	return c->paths++;
}

static void add_end(struct search *f, const struct ana_chain_end *end)
{
	struct ana_chain *c = f->c;

	if (end->weight <= 0)
		return;
	if (!base_vec_more(c->end, c->ends, c->end_room)) {
		c->err = -ENOMEM;
		return;
	}
	c->end[c->ends++] = *end;
}

static void follow(struct search *f, const struct ana_links *links, struct answer *out);

/*
 * A library's own thread, at a listening socket and, now and then, at connections beside it (zmq), or an event
 * loop of Python's at both at once: what comes may be batches of the job's own processes as well as
 * requests. A loop that only serves, by its name, is none.
 */
static bool is_messenger(const struct search *f, const struct wire_sample *w,
			 const struct ana_links *l)
{
	const struct ana_pystack *k = ana_pystacks_get(&f->e->stacks, w->stack);

	if (ana_sample_runs(w) || !ana_links_await_kind(l, 'l'))
		return false;
	return !w->stack ||
	       (!k->no_work && k->take == ANA_TAKE_EVENT &&
		(ana_links_await_kind(l, 't') || ana_links_await_kind(l, 'u') ||
		 ana_links_await_kind(l, 's')));
}

static bool at_one_place(const struct search *f, const struct wire_sample *w,
			 const struct wire_sample *v)
{
	if (w->stack)
		return v->stack == w->stack;
	return is_messenger(f, w, ana_linktexts_get(&f->e->links, w->links)) &&
	       is_messenger(f, v, ana_linktexts_get(&f->e->links, v->links));
}

/* Batches: those who send work for half of their time, and none of them waits for requests itself. */
static bool brings_batches(const struct ana_chain *c, uint32_t first)
{
	int64_t all = 0, work = 0;
	uint32_t i;

	for (i = first; i < c->ends; i++) {
		enum ana_class k = c->end[i].class;

		if (k == ANA_HOST_NO_WORK)
			return false;
		all += c->end[i].weight;
		if (k == ANA_INPUT_PREP || k == ANA_INPUT_CPU_STARVED || k == ANA_INPUT_FETCH)
			work += c->end[i].weight;
	}
	return work && 2 * (__int128)work >= all;
}

/*
 * Who waits for a socket, too, that nobody of the chain has the other end of: an event loop, which the
 * chain's first one could wake as well. It is not he that it waits for.
 */
static bool waits_outside(struct search *f, const struct ana_links *links)
{
	struct ana_links sockets;
	uint32_t samples;
	uint8_t i;

	if (!ana_links_sockets(links, &sockets))
		return false;
	for (i = 0; i < f->path.links; i++)
		if (hands(f->e, f->path.link[i].thread, &sockets, f->a - ANA_LOOK_BACK_NS, f->b,
			  &samples) != ANA_LINK_AWAITS)
			return false;
	return true;
}

static bool asks_on(struct search *f, const struct wire_sample *w)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);
	enum ana_take take;

	if (ana_sample_runs(w) || !l->awaits || ana_chain_in_driver(f->e, w, f->c->start))
		return false;
	if (is_messenger(f, w, l))
		return true;
	if (ana_chain_no_work(f->e, w))
		return false;
	take = take_of(f->e, w);
	return take == ANA_TAKE_ITEM || take == ANA_TAKE_EVENT ||
	       (take == ANA_TAKE_NOT_TOLD && w->wait == WIRE_WAIT_SOCKET);
}

/* A connection that the other end asked for, who is none of the job's, brings requests. */
static bool serves(struct search *f, const struct wire_sample *w)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);

	return ana_callers_of(&f->e->callers, w, l, f->b) ||
	       take_of(f->e, w) == ANA_TAKE_SERVES || ana_chain_no_work(f->e, w);
}

static bool counts_as_work(const struct ana_chain_end *end)
{
	enum ana_class k = end->class;

	return !end->rests && (k == ANA_INPUT_PREP || k == ANA_INPUT_CPU_STARVED ||
			       k == ANA_INPUT_FETCH || k == ANA_HOST_NO_WORK);
}

/* Whether the ends from @first to @last show a giver at work, or at nobody's service. */
static bool is_at_work(const struct ana_chain *c, uint32_t first, uint32_t last)
{
	int64_t all = 0, work = 0;
	uint32_t i;

	for (i = first; i < last; i++) {
		all += c->end[i].weight;
		work += counts_as_work(&c->end[i]) ? c->end[i].weight : 0;
	}
	return all && ana_works(work, all);
}

static int64_t time_of(const struct ana_chain *c, uint32_t first)
{
	int64_t ns = 0;
	uint32_t i;

	for (i = first; i < c->ends; i++)
		ns += c->end[i].weight;
	return ns;
}

/* The ends from @last on in place of those from @first, if they show work; else they are none. */
static bool take_place(struct ana_chain *c, uint32_t first, uint32_t last)
{
	uint32_t n = c->ends - last;

	if (!is_at_work(c, last, c->ends)) {
		c->ends = last;
		return false;
	}
	memmove(&c->end[first], &c->end[last], n * sizeof(*c->end));
	c->ends = first + n;
	return true;
}

/*
 * What is made anew for each wait, a future or a pool's result, is often gone before anybody was asked
 * for it, or only a thread that keeps such things has it: who gave at the same place before gives here. The
 * wait at @at awaits as @sample does; ends of its answer begin at @first.
 */
static void ask_as_before(struct search *f, const struct ana_thread_samples *s, size_t at,
			  size_t sample, uint32_t first, struct answer *out)
{
	const int64_t since = f->a - ANA_LOOK_BACK_NS;
	const uint32_t own = s->sample[sample].links, end = f->c->ends;
	uint32_t tried = 0, last = own;
	struct answer before;
	size_t i;

	for (i = at; tried < BEFORE_MAX && i && s->sample[i - 1].t_ns >= since; i--) {
		const struct wire_sample *v = &s->sample[i - 1];

		if (!at_one_place(f, &s->sample[at], v) || v->links == own || v->links == last ||
		    !asks_on(f, v))
			continue;
		follow(f, ana_linktexts_get(&f->e->links, v->links), &before);
		if (out->ns ? take_place(f->c, first, end) : before.ns != 0) {
			out->ns = time_of(f->c, first);
			return;
		}
		last = v->links;
		tried++;
	}
}

/* What the thread's wait at @at, which awaits as @sample does, is for. */
static void ask(struct search *f, const struct ana_thread_samples *s, size_t at, size_t sample,
		struct answer *out)
{
	const struct ana_links *l = ana_linktexts_get(&f->e->links, s->sample[sample].links);
	const uint32_t first = f->c->ends;

	f->path.link[f->path.links - 1].sample = at;
	follow(f, l, out);
	if (l->awaits && (out->ns ? out->idle : !out->circle))
		ask_as_before(f, s, at, sample, first, out);
}

/*
 * The time @ns of the thread's samples that await as the one at @at does: it goes to the ends of what
 * @sample waits for. False: nobody is known.
 */
static bool pass_on(struct search *f, const struct ana_thread_samples *s, size_t at, size_t sample,
		    int64_t ns, bool *circle)
{
	const uint32_t first = f->c->ends;
	struct answer got;
	uint32_t i;

	ask(f, s, at, sample, &got);
	*circle = got.circle;
	for (i = first; i < f->c->ends; i++)
		f->c->end[i].weight = ana_scale(ns, f->c->end[i].weight, got.ns);
	return got.ns != 0;
}

/* A blocked sample that asks nobody else: by what it is blocked in. */
static void blocked_end(struct search *f, struct ana_chain_end *end, const struct wire_sample *w)
{
	if (serves(f, w)) {
		end->class = ANA_HOST_NO_WORK;
		end->lost = false;
	} else {
		end->class = ana_maker_class(w, ANA_PRODUCER_WORKER);
		end->idle = w->wait == WIRE_WAIT_QUEUE;
		end->unnamed = false;
		f->c->piped |= w->wait == WIRE_WAIT_SOCKET || w->wait == WIRE_WAIT_PIPE;
	}
	add_end(f, end);
}

/* Whoever ends it is in this process or one beside it. */
static bool is_within(const struct wire_sample *w)
{
	return w->wait == WIRE_WAIT_LOCK || w->wait == WIRE_WAIT_LOCK_SHARED ||
	       w->wait == WIRE_WAIT_PIPE;
}

#define NOTHING SIZE_MAX

static bool is_for_others(const struct wire_sample *w)
{
	return w->wait == WIRE_WAIT_GIL || w->wait == WIRE_WAIT_LOCK ||
	       w->wait == WIRE_WAIT_LOCK_SHARED || w->wait == WIRE_WAIT_QUEUE ||
	       w->wait == WIRE_WAIT_PIPE || w->wait == WIRE_WAIT_SOCKET;
}

/*
 * The sample that tells what the one at @i awaits: itself, or, where it comes back from the same wait and
 * only lacks the interpreter, or was looked at too shortly, the last one at that place.
 */
static size_t asks_as(struct search *f, const struct ana_thread_samples *s, size_t i)
{
	const struct wire_sample *w = &s->sample[i];
	const int64_t since = f->a - ANA_LOOK_BACK_NS;
	size_t k, n;

	if (asks_on(f, w))
		return i;
	if (ana_sample_runs(w) || !w->stack || !is_for_others(w) ||
	    ana_linktexts_get(&f->e->links, w->links)->awaits ||
	    ana_chain_in_driver(f->e, w, f->c->start) || serves(f, w))
		return NOTHING;
	for (k = i, n = 0; n < ANA_STANDS_MAX && k && s->sample[k - 1].t_ns >= since; k--, n++)
		if (s->sample[k - 1].stack == w->stack && asks_on(f, &s->sample[k - 1]))
			return k - 1;
	return NOTHING;
}

static bool awaits_as(struct search *f, const struct ana_thread_samples *s, size_t i,
		      uint32_t links)
{
	size_t k = asks_as(f, s, i);

	return k != NOTHING && s->sample[k].links == links;
}

/* Samples that await the same as @sample, the first of which is at @at, together. */
static void awaiting(struct search *f, struct ana_chain_end *end, const struct ana_shares *h,
		     size_t at, size_t sample)
{
	const struct ana_thread_samples *s = end->thread;
	const struct wire_sample *w = &s->sample[sample];
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);
	const bool messenger = is_messenger(f, w, l);
	uint32_t first = f->c->ends;
	bool circle = false;
	int64_t ns = 0;
	size_t i;

	for (i = at; i < h->end; i++)
		if (awaits_as(f, s, i, w->links))
			ns += ana_shares_part(s, h, i);
	if (f->path.links <= ANA_CHAIN_DEPTH && ns && pass_on(f, s, at, sample, ns, &circle) &&
	    (!messenger || brings_batches(f->c, first)))
		return;
	f->c->ends = first;
	circle = circle && !messenger && !waits_outside(f, l);
	for (i = at; i < h->end; i++) {
		if (!awaits_as(f, s, i, w->links))
			continue;
		end->sample = i;
		end->weight = ana_shares_part(s, h, i);
		if (circle) {
			end->class = ANA_INPUT_PIPELINE;
			end->idle = true;
			add_end(f, end);
		} else {
			end->lost = f->path.links <= ANA_CHAIN_DEPTH && is_within(&s->sample[i]);
			end->unnamed = messenger && ana_links_await_kind(l, 's');
			blocked_end(f, end, &s->sample[i]);
		}
		end->idle = end->lost = end->unnamed = false;
	}
}

/* Whether the links of the thread at hand were met, since @mine; if not, they are now. */
static bool met(struct search *f, size_t mine, uint32_t links)
{
	size_t i;

	for (i = mine; i < f->dones; i++)
		if (f->done[i] == links)
			return true;
	if (!base_vec_more(f->done, f->dones, f->done_room))
		f->c->err = -ENOMEM;
	else
		f->done[f->dones++] = links;
	return false;
}

/* Time on a CPU, or waiting for one; the second by the first's lines. */
static void running(struct search *f, struct ana_chain_end *end, const struct ana_shares *h)
{
	const struct ana_thread_samples *s = end->thread;
	int64_t run = h->run, delay = h->delay;
	size_t i;

	for (i = h->first; i < h->end; i++) {
		bool runs = ana_sample_runs(&s->sample[i]);
		int64_t w = ana_shares_weight(s, h, i), all = h->running ? h->running : h->waiting;

		if ((h->running && !runs) || ana_chain_in_driver(f->e, &s->sample[i], f->c->start))
			continue;
		end->sample = i;
		end->class = ANA_INPUT_PREP;
		end->weight = ana_scale(run, w, all);
		add_end(f, end);
		end->class = ANA_INPUT_CPU_STARVED;
		end->delay = true;
		end->weight = ana_scale(delay, w, all);
		add_end(f, end);
		end->delay = false;
	}
}

/* Asleep, or up to other things. */
static bool rests(struct ana_evidence *e, const struct wire_sample *w)
{
	enum ana_take take = take_of(e, w);

	return w->wait == WIRE_WAIT_SLEEP || take == ANA_TAKE_GIVES || take == ANA_TAKE_SETTLES;
}

static bool had_lock(const struct search *f, const struct ana_thread_samples *s)
{
	size_t i;

	for (i = ana_samples_from(s, f->a); i < s->tail && s->sample[i].t_ns < f->b; i++)
		if (s->sample[i].flags & WIRE_SAMPLE_FL_GIL)
			return true;
	return false;
}

/* It hands what the one who waits takes, or took up to 2 s before. */
static bool gives_there(struct search *f, const struct ana_thread_samples *s)
{
	const struct ana_thread_samples *who = f->path.link[f->path.links - 1].thread;
	const int64_t since = f->far ? f->a : f->a - ANA_LOOK_BACK_NS;
	uint32_t links = 0, tried = 0, n;
	size_t i;

	for (i = ana_samples_from(who, f->b); tried < BEFORE_MAX && i > who->head; i--) {
		const struct wire_sample *w = &who->sample[i - 1];

		if (w->t_ns < since)
			break;
		if (w->links == links || !asks_on(f, w))
			continue;
		links = w->links;
		tried++;
		if (hands(f->e, s, ana_linktexts_get(&f->e->links, links), since, f->b, &n) !=
		    ANA_LINK_AWAITS)
			return true;
	}
	return false;
}

/* Whether it was seen at a pipe or socket, up to 2 s before the interval: it has to do with others there. */
static bool was_piped(const struct search *f, const struct ana_thread_samples *s)
{
	int64_t since = f->far ? f->a : f->a - ANA_LOOK_BACK_NS;
	size_t i;

	for (i = ana_samples_from(s, since); i < s->tail && s->sample[i].t_ns < f->b; i++) {
		const struct wire_sample *w = &s->sample[i];
		const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);

		if (ana_sample_runs(w))
			continue;
		if (w->wait == WIRE_WAIT_SOCKET || w->wait == WIRE_WAIT_PIPE ||
		    ana_links_await_kind(l, 'p') || ana_links_await_kind(l, 'u') ||
		    ana_links_await_kind(l, 't'))
			return true;
	}
	return false;
}

/*
 * Python's lock, for which the thread waits, was another one's that gives to who waits here: they compute by
 * turns, and it is with computing that both are late.
 */
static bool is_behind(struct search *f, const struct ana_thread_samples *s)
{
	uint32_t i;

	for (i = 0; i < f->e->threads; i++) {
		const struct ana_thread_samples *t = f->e->thread[i];

		if (t != s && t->pid == s->pid && t->hands && had_lock(f, t) && gives_there(f, t))
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

static void gather(struct search *f, const struct giver *g)
{
	struct ana_chain_end end = { .thread = g->thread };
	const size_t mine = f->dones;
	struct ana_shares h;
	bool behind;
	size_t i, k;

	if (!ana_shares_of(g->thread, f->a, f->b, &h))
		return;
	behind = waits_for_lock(g->thread, &h) && is_behind(f, g->thread);
	f->path.link[f->path.links++] = (struct ana_chain_link){
		.thread = g->thread,
		.sample = h.first,
		.samples = g->samples,
		.confidence = f->far || g->kind == ANA_LINK_HOLDS ? ANA_LOW
			      : g->samples >= 3		  ? ANA_HIGH
								  : ANA_MEDIUM,
	};
	end.path = keep_path(f);
	f->c->piped = f->c->piped || was_piped(f, g->thread);
	running(f, &end, &h);
	for (i = h.first; i < h.end; i++) {
		const struct wire_sample *w = &g->thread->sample[i];

		if (ana_sample_runs(w) || ana_chain_in_driver(f->e, w, f->c->start))
			continue;
		k = asks_as(f, g->thread, i);
		if (k != NOTHING) {
			if (!met(f, mine, g->thread->sample[k].links))
				awaiting(f, &end, &h, i, k);
			continue;
		}
		end.sample = i;
		end.weight = ana_shares_part(g->thread, &h, i);
		if (behind && w->wait == WIRE_WAIT_GIL && !serves(f, w)) {
			end.class = ANA_INPUT_PREP;
			add_end(f, &end);
			continue;
		}
		end.rests = g->kind == ANA_LINK_HOLDS && rests(f->e, w);
		blocked_end(f, &end, w);
		end.idle = end.rests = false;
	}
	f->dones = mine;
	f->path.links--;
}

static int64_t idle_of(const struct ana_chain *c, uint32_t first, uint32_t last)
{
	int64_t ns = 0;
	uint32_t i;

	for (i = first; i < last; i++)
		ns += c->end[i].idle ? c->end[i].weight : 0;
	return ns;
}

/* The same, beside what it sleeps. */
static bool is_awake_at_work(const struct ana_chain *c, uint32_t first, uint32_t last)
{
	int64_t all = 0, work = 0;
	uint32_t i;

	for (i = first; i < last; i++) {
		const struct ana_chain_end *end = &c->end[i];

		all += end->weight;
		if (counts_as_work(end) &&
		    (end->class != ANA_INPUT_FETCH ||
		     end->thread->sample[end->sample].wait != WIRE_WAIT_SLEEP))
			work += end->weight;
	}
	return all && ana_works(work, all);
}

/*
 * A descriptor is a whole process's: of its threads one that sleeps, as those do that watch over something,
 * is not who answers beside one that works.
 */
static bool only_sleeps(const struct search *f, const struct givers *g, const uint32_t *first,
			uint32_t givers, uint32_t i)
{
	const uint32_t pid = g->giver[i].thread->pid;
	uint32_t k;

	if (pid == f->path.link[f->path.links - 1].thread->pid ||
	    is_awake_at_work(f->c, first[i], first[i + 1]))
		return false;
	for (k = 0; k < givers; k++)
		if (g->giver[k].thread->pid == pid &&
		    is_awake_at_work(f->c, first[k], first[k + 1]))
			return true;
	return false;
}

/*
 * Pools and queues have threads that merely pass things on: of several givers those that do nothing all
 * the time tell nothing beside one that works. One that is done has nothing to do with the batch that another
 * still makes, so that no giver is without work for longer than the one that is so least. @first: the ends
 * of each giver begin there.
 */
static void leave_idle_out(struct search *f, const struct givers *g, const uint32_t *first,
			   uint32_t givers)
{
	struct ana_chain *c = f->c;
	int64_t idle[ANA_CHAIN_GIVERS], least = INT64_MAX;
	bool works[ANA_CHAIN_GIVERS], any = false;
	uint32_t i, k, n = first[0];

	for (i = 0; i < givers; i++) {
		works[i] = is_at_work(c, first[i], first[i + 1]) &&
			   !only_sleeps(f, g, first, givers, i);
		idle[i] = idle_of(c, first[i], first[i + 1]);
		any |= works[i];
		if (works[i] && idle[i] < least)
			least = idle[i];
	}
	for (i = 0; i < givers && any; i++)
		for (k = first[i]; works[i] && k < first[i + 1]; k++) {
			struct ana_chain_end end = c->end[k];

			if (end.idle)
				end.weight = ana_scale(end.weight, least, idle[i]);
			if (end.weight)
				c->end[n++] = end;
		}
	if (any)
		c->ends = n;
}

static void gather_all(struct search *f, const struct givers *g, const struct ana_links *links)
{
	uint32_t first[ANA_CHAIN_GIVERS + 1], i;

	for (i = 0; i < g->count && f->looks < LOOKS_MAX; i++) {
		f->looks++;
		first[i] = f->c->ends;
		if (is_writer(f, g->giver[i].thread, links))
			f->writers = true;
		else if (!is_porter(f, g, i))
			gather(f, &g->giver[i]);
	}
	first[i] = f->c->ends;
	leave_idle_out(f, g, first, i);
}

/* Those who merely hold it do nothing: who gave it up to 2 s before takes their place if he works. */
static void ask_who_gave(struct search *f, const struct ana_links *links, uint32_t first,
			 struct answer *out)
{
	const uint32_t last = f->c->ends;
	const int64_t a = f->a;
	struct givers g;

	find_in(&g, f, links, a - ANA_LOOK_BACK_NS, f->b);
	if (!g.count || g.giver[0].kind != ANA_LINK_GIVES)
		return;
	f->a = a - ANA_LOOK_BACK_NS;
	f->far = true;
	gather_all(f, &g, links);
	f->a = a;
	f->far = false;
	if (!take_place(f->c, first, last))
		return;
	out->idle = false;
	out->ns = time_of(f->c, first);
	f->c->gives |= f->path.links == 1;
}

static void follow(struct search *f, const struct ana_links *links, struct answer *out)
{
	const uint32_t first = f->c->ends;
	const int64_t a = f->a;
	const bool far = f->far;
	struct givers g;

	find(&g, f, links);
	f->c->piped |= g.count && (ana_links_await_kind(links, 'p') ||
				   ana_links_await_kind(links, 'u') ||
				   ana_links_await_kind(links, 't'));
	if (f->path.links == 1)
		f->c->gives = g.count && g.giver[0].kind == ANA_LINK_GIVES;
	gather_all(f, &g, links);
	f->a = a;
	f->far = far;
	out->circle = g.circle;
	out->ns = time_of(f->c, first);
	out->idle = g.count && g.giver[0].kind == ANA_LINK_HOLDS &&
		    !is_at_work(f->c, first, f->c->ends);
	if (out->idle && !far)
		ask_who_gave(f, links, first, out);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum ana_confidence path_confidence(const struct ana_chain_path *p)
{
	enum ana_confidence worst = ANA_HIGH;
	uint8_t i;

	for (i = 1; i < p->links; i++)
		if (p->link[i].confidence > worst)
			worst = (enum ana_confidence)p->link[i].confidence;
	return worst;
}

static int64_t total_of(const struct ana_chain *c)
{
	int64_t ns = 0;
	uint32_t i;

	for (i = 0; i < c->ends; i++)
		ns += c->end[i].weight;
	return ns;
}

/*
 * Where the chain is lost for nine tenths of the time or more, nobody is known. Less counts for nothing: the
 * rest of the wait is told in proportion.
 */
static bool leave_lost_out(struct ana_chain *c)
{
	int64_t lost = 0, all = total_of(c);
	uint32_t i, n = 0;

	for (i = 0; i < c->ends; i++)
		lost += c->end[i].lost ? c->end[i].weight : 0;
	if (10 * (__int128)lost >= 9 * (__int128)all)
		return false;
	for (i = 0; i < c->ends; i++)
		if (!c->end[i].lost)
			c->end[n++] = c->end[i];
	c->ends = n;
	return true;
}

/* How sure the path with most weight is; of several the first. */
static enum ana_confidence confidence_of(const struct ana_chain *c)
{
	int64_t most = 0, ns = 0;
	uint32_t i, k, best = 0;

	for (k = 0; k < c->paths; k++, ns = 0) {
		for (i = 0; i < c->ends; i++)
			ns += c->end[i].path == k ? c->end[i].weight : 0;
		if (ns > most) {
			most = ns;
			best = k;
		}
	}
	return c->paths ? path_confidence(&c->path[best]) : ANA_HIGH;
}

static void sum_up(struct ana_chain *c)
{
	bool known = leave_lost_out(c);
	int64_t requests = 0, unnamed = 0;
	uint32_t i;

	c->total = total_of(c);
	c->confidence = confidence_of(c);
	for (i = 0; i < c->ends; i++) {
		requests += c->end[i].class == ANA_HOST_NO_WORK ? c->end[i].weight : 0;
		unnamed += c->end[i].unnamed ? c->end[i].weight : 0;
	}
	if (known)
		c->found = 2 * requests >= c->total ? ANA_CHAIN_REQUESTS : ANA_CHAIN_MAKERS;
	c->unnamed = c->found == ANA_CHAIN_REQUESTS &&
		     10 * (__int128)unnamed >= 9 * (__int128)c->total;
}

void ana_chain_follow(struct ana_chain *c, struct ana_evidence *e,
		      const struct ana_thread_samples *who, size_t sample, int64_t a, int64_t b)
{
	const struct wire_sample *w = &who->sample[sample];
	struct search f = { .c = c, .e = e, .a = a, .b = b };
	struct answer got;
	size_t i;

	if (c->who == who && c->links == w->links && c->start == a && c->stop == b)
		return;
	c->who = who;
	c->links = w->links;
	c->start = a;
	c->stop = b;
	c->found = ANA_CHAIN_NOBODY;
	c->gives = c->piped = false;
	c->confidence = ANA_HIGH;
	c->ends = c->paths = 0;
	f.path.link[0] = (struct ana_chain_link){ .thread = who };
	for (i = ana_samples_from(who, a); i < who->tail && who->sample[i].t_ns < b; i++) {
		if (who->sample[i].links != w->links)
			continue;
		if (!f.path.link[0].samples++)
			sample = i;
	}
	f.path.links = 1;
	ask(&f, who, sample, sample, &got);
	free(f.done);
	sum_up(c);
	if (c->found == ANA_CHAIN_NOBODY && f.writers)
		c->found = ANA_CHAIN_WRITERS;
}

void ana_chain_forget(struct ana_chain *c)
{
	c->who = NULL;
}

void ana_chain_fini(struct ana_chain *c)
{
	free(c->end);
	free(c->path);
	*c = (struct ana_chain){ 0 };
}
