/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows waits from thread to thread: who gives is chain_givers.c and, behind a library's threads,
 * chain_beyond.c, what a sample of theirs says chain_waits.c, what the ends come to chain_weigh.c.
 */
#include "chain_priv.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"
#include "maker.h"
#include "shares.h"

#define BEFORE_MAX 4u /* waits at the same place that are asked for one in which nobody was seen */
#define LOOKS_MAX 256u /* at threads, of one chain: who waits for many, who wait for many */

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

static uint32_t keep_path(struct chain_search *f)
{
	struct ana_chain *c = f->c;

	if (!base_vec_more(c->path, c->paths, c->path_room)) {
		c->err = -ENOMEM;
		return 0;
	}
	c->path[c->paths] = f->path;
	return c->paths++;
}

static void add_end(struct chain_search *f, const struct ana_chain_end *end)
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

static void follow(struct chain_search *f, const struct ana_links *links, struct answer *out);
static void gather_all(struct chain_search *f, const struct chain_givers *g,
		       const struct ana_links *links);

/*
 * What is made anew for each wait, a future or a pool's result, is often gone before anybody was
 * asked for it, or only a thread that keeps such things has it: who gave at the same place before
 * gives here. The wait at @at awaits as @sample does; ends of its answer begin at @first.
 */
static void ask_as_before(struct chain_search *f, const struct ana_thread_samples *s, size_t at,
			  size_t sample, uint32_t first, struct answer *out)
{
	const int64_t since = f->a - ANA_LOOK_BACK_NS;
	const uint32_t own = s->sample[sample].links, end = f->c->ends;
	uint32_t tried = 0, last = own;
	struct ana_links room;
	struct answer before;
	size_t i;

	for (i = at; tried < BEFORE_MAX && i && s->sample[i - 1].t_ns >= since; i--) {
		const struct wire_sample *v = &s->sample[i - 1];

		if (!ana_chain_at_one_place(f, &s->sample[at], v) || v->links == own ||
		    v->links == last || !ana_chain_asks_on(f, v))
			continue;
		f->path.link[f->path.links - 1].awaits = v->links;
		follow(f, ana_chain_awaited(f, v, &room), &before);
		if (out->ns ? ana_chain_take_place(f->c, first, end) : before.ns != 0) {
			out->ns = ana_chain_time_of(f->c, first);
			return;
		}
		last = v->links;
		tried++;
	}
}

/*
 * Who sleeps may sleep for himself: those who merely have the same thing, and do nothing, are
 * nobody.
 */
static void forget_idle(struct ana_chain *c, uint32_t first, struct answer *out)
{
	if (ana_chain_is_at_work(c, first, c->ends))
		return;
	c->ends = first;
	out->ns = 0;
}

/* Who waits for requests there waits for those of this library: it makes nothing. */
static void forget_requests(struct ana_chain *c, uint32_t first)
{
	uint32_t i, n = first;

	for (i = first; i < c->ends; i++)
		if (c->end[i].class != ANA_HOST_NO_WORK)
			c->end[n++] = c->end[i];
	c->ends = n;
}

/* Those of @first to @last serve others, and that is not what is waited for: they tell nothing. */
static void lose_servers(struct ana_chain *c, uint32_t first, uint32_t last)
{
	uint32_t i;

	for (i = first; i < last; i++)
		if (c->end[i].class == ANA_HOST_NO_WORK)
			c->end[i].lost = true;
}

static void gather_makers(struct chain_search *f, const struct chain_givers *g,
			  const struct ana_links *links)
{
	const uint32_t first = f->c->ends;

	gather_all(f, g, links);
	forget_requests(f->c, first);
}

/*
 * A wait within a library of which nobody in this process makes anything: who gives to the
 * library's threads from other processes takes their place if he works. Not of the first one, which
 * may wait for anything there.
 */
static void ask_beyond(struct chain_search *f, const struct wire_sample *w,
		       const struct ana_links *links, uint32_t first, struct answer *out)
{
	const uint32_t last = f->c->ends;
	const int64_t a = f->a;
	const bool far = f->far;
	struct chain_givers g;

	if (f->path.links < 2 || !ana_chain_is_native(links) ||
	    ana_chain_brings_batches(f->c, first))
		return;
	ana_chain_find_beyond(&g, f, w);
	gather_makers(f, &g, links);
	if (g.count && !far && !ana_chain_brings_batches(f->c, last)) {
		f->c->ends = last;
		f->a = a - ANA_LOOK_BACK_NS;
		f->far = true;
		gather_makers(f, &g, links);
		f->a = a;
		f->far = far;
	}
	if (!ana_chain_brings_batches(f->c, last) || !ana_chain_take_place(f->c, first, last)) {
		f->c->ends = last;
		if (g.count)
			lose_servers(f->c, first, last);
		return;
	}
	out->ns = ana_chain_time_of(f->c, first);
	out->idle = out->circle = false;
}

/* What the thread's wait at @at, which awaits as @sample does, is for. */
static void ask(struct chain_search *f, const struct ana_thread_samples *s, size_t at,
		size_t sample, struct answer *out)
{
	struct ana_links room;
	const struct ana_links *l = ana_chain_awaited(f, &s->sample[sample], &room);
	const uint32_t first = f->c->ends;

	f->path.link[f->path.links - 1].sample = at;
	f->path.link[f->path.links - 1].awaits = s->sample[sample].links;
	follow(f, l, out);
	ask_beyond(f, &s->sample[sample], l, first, out);
	if (l->awaits &&
	    (out->ns ? !ana_chain_is_at_work(f->c, first, f->c->ends) : !out->circle))
		ask_as_before(f, s, at, sample, first, out);
	if (s->sample[sample].wait == WIRE_WAIT_SLEEP && out->idle)
		forget_idle(f->c, first, out);
}

/*
 * The time @ns of the thread's samples that await as the one at @at does: it goes to the ends of
 * what
 * @sample waits for. False: nobody is known.
 */
static bool pass_on(struct chain_search *f, const struct ana_thread_samples *s, size_t at,
		    size_t sample, int64_t ns, bool *circle)
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

/* Whoever ends it is in this process or one beside it. */
static bool is_within(const struct wire_sample *w)
{
	return w->wait == WIRE_WAIT_LOCK || w->wait == WIRE_WAIT_LOCK_SHARED ||
	       w->wait == WIRE_WAIT_PIPE;
}

/* A blocked sample that asks nobody else: by what it is blocked in. */
static void blocked_end(struct chain_search *f, struct ana_chain_end *end,
			const struct wire_sample *w)
{
	if (ana_chain_serves(f, w)) {
		end->class = ANA_HOST_NO_WORK;
		end->called = end->lost = !end->rests && ana_chain_is_called(f, w);
	} else {
		end->class = ana_maker_class(w, ANA_PRODUCER_WORKER);
		end->idle = w->wait == WIRE_WAIT_QUEUE && !end->rests;
		end->unnamed = false;
		f->c->piped |= ana_chain_is_piped(w);
	}
	add_end(f, end);
	end->called = false;
}

/*
 * Which sample tells what each one of the thread's awaits, for as long as the thread is at hand:
 * each is asked about once for every wait that the thread has there.
 */
static bool push_asks(struct chain_search *f, const struct ana_thread_samples *s,
		      const struct ana_shares *h)
{
	size_t i;

	for (i = h->first; i < h->end; i++) {
		if (!base_vec_more(f->asks, f->asked, f->asks_room)) {
			f->c->err = -ENOMEM;
			return false;
		}
		f->asks[f->asked++] = ana_chain_asks_as(f, s, i);
	}
	return true;
}

/* Of the thread that is at hand, the asks of which begin at @mine. */
static size_t asks_as(const struct chain_search *f, const struct ana_shares *h, size_t mine,
		      size_t i)
{
	return f->asks[mine + (i - h->first)];
}

static bool awaits(const struct chain_search *f, const struct ana_thread_samples *s,
		   const struct ana_shares *h, size_t mine, size_t i, uint32_t links)
{
	size_t k = asks_as(f, h, mine, i);

	return k != CHAIN_NOTHING && s->sample[k].links == links;
}

struct late { /* who sleeps and looks: that he lacks a CPU as he wakes up */
	int64_t asleep; /* most of his time but that, else 0 */
	int64_t ns, left; /* all of it, and what is his own */
};

static struct late late_of(const struct chain_search *f, const struct ana_thread_samples *s,
			   const struct ana_shares *h, size_t mine)
{
	struct late late = { .ns = h->delay, .left = h->delay };
	size_t i, k;

	for (i = h->first; i < h->end; i++) {
		k = asks_as(f, h, mine, i);
		if (k != CHAIN_NOTHING && s->sample[k].wait == WIRE_WAIT_SLEEP)
			late.asleep += ana_shares_part(s, h, i);
	}
	if (2 * (__int128)late.asleep < h->stop - h->start - h->delay)
		late.asleep = 0;
	return late;
}

/*
 * Samples that await the same as the first of them, at @at, together. end->rests: the thread merely
 * holds what is awaited of it; if it waits in a circle, it may be the wrong one to ask.
 */
static void awaiting(struct chain_search *f, struct ana_chain_end *end, const struct ana_shares *h,
		     size_t mine, size_t at, struct late *late)
{
	const struct ana_thread_samples *s = end->thread;
	const size_t sample = asks_as(f, h, mine, at);
	const struct wire_sample *w = &s->sample[sample];
	const struct ana_links *l = ana_linktexts_get(&f->e->links, w->links);
	const bool messenger = ana_chain_is_messenger(f, w, l);
	const bool holds = end->rests;
	uint32_t first = f->c->ends;
	bool circle = false;
	int64_t ns = 0, more;
	size_t i;

	end->rests = false;
	for (i = at; i < h->end; i++)
		if (awaits(f, s, h, mine, i, w->links))
			ns += ana_shares_part(s, h, i);
	more = w->wait == WIRE_WAIT_SLEEP ? ana_scale(late->ns, ns, late->asleep) : 0;
	if (f->path.links <= ANA_CHAIN_DEPTH && ns &&
	    pass_on(f, s, at, sample, ns + more, &circle) &&
	    (!messenger || ana_chain_brings_batches(f->c, first))) {
		late->left -= more;
		return;
	}
	f->c->ends = first;
	circle = circle && !messenger && w->wait != WIRE_WAIT_SLEEP &&
		 !ana_chain_waits_outside(f, l) && !ana_chain_serves(f, w);
	for (i = at; i < h->end; i++) {
		if (!awaits(f, s, h, mine, i, w->links))
			continue;
		end->sample = i;
		end->weight = ana_shares_part(s, h, i);
		if (circle) {
			end->class = ANA_INPUT_PIPELINE;
			end->idle = true;
			end->rests = holds;
			add_end(f, end);
		} else {
			end->lost = (f->path.links <= ANA_CHAIN_DEPTH || ana_chain_is_native(l)) &&
				    is_within(&s->sample[i]);
			end->unnamed = ana_links_await_kind(l, 's');
			end->rests = s->sample[i].wait == WIRE_WAIT_SLEEP;
			blocked_end(f, end, &s->sample[i]);
		}
		end->idle = end->rests = end->lost = end->unnamed = false;
	}
}

/* Whether the links of the thread at hand were met, since @mine; if not, they are now. */
static bool met(struct chain_search *f, size_t mine, uint32_t links)
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
static void running(struct chain_search *f, struct ana_chain_end *end, const struct ana_shares *h,
		    int64_t run, int64_t delay)
{
	const struct ana_thread_samples *s = end->thread;
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

static void gather(struct chain_search *f, const struct chain_giver *g)
{
	struct ana_chain_end end = { .thread = g->thread };
	const size_t met_before = f->dones, mine = f->asked;
	struct ana_shares h;
	struct late late;
	bool behind;
	size_t i, k;

	if (!ana_shares_of(g->thread, f->a, f->b, &h) || !push_asks(f, g->thread, &h))
		return;
	behind = ana_chain_is_behind(f, g->thread, &h);
	f->path.link[f->path.links++] = (struct ana_chain_link){
		.thread = g->thread,
		.sample = h.first,
		.samples = g->samples,
		.confidence = f->far || g->kind == ANA_LINK_HOLDS ? ANA_LOW
			      : g->samples >= 3			  ? ANA_HIGH
								  : ANA_MEDIUM,
	};
	end.path = keep_path(f);
	f->c->piped = f->c->piped || ana_chain_was_piped(f, g->thread);
	late = late_of(f, g->thread, &h, mine);
	running(f, &end, &h, h.run, 0);
	for (i = h.first; i < h.end; i++) {
		const struct wire_sample *w = &g->thread->sample[i];

		if (ana_sample_runs(w) || ana_chain_in_driver(f->e, w, f->c->start))
			continue;
		k = asks_as(f, &h, mine, i);
		if (k != CHAIN_NOTHING) {
			end.rests = g->kind == ANA_LINK_HOLDS;
			if (!met(f, met_before, g->thread->sample[k].links))
				awaiting(f, &end, &h, mine, i, &late);
			end.rests = false;
			continue;
		}
		end.sample = i;
		end.weight = ana_shares_part(g->thread, &h, i);
		if (behind && w->wait == WIRE_WAIT_GIL && !ana_chain_serves(f, w)) {
			end.class = ANA_INPUT_PREP;
			add_end(f, &end);
			continue;
		}
		end.rests = g->kind == ANA_LINK_HOLDS && ana_chain_rests(f->e, w);
		end.lost = g->kind == ANA_LINK_GIVES && ana_chain_is_untold(f->e, w);
		blocked_end(f, &end, w);
		end.idle = end.rests = end.lost = false;
	}
	running(f, &end, &h, 0, late.left);
	f->dones = met_before;
	f->asked = mine;
	f->path.links--;
}

static void gather_all(struct chain_search *f, const struct chain_givers *g,
		       const struct ana_links *links)
{
	uint32_t first[ANA_CHAIN_GIVERS + 1], i;

	for (i = 0; i < g->count && f->looks < LOOKS_MAX; i++) {
		f->looks++;
		first[i] = f->c->ends;
		if (ana_chain_is_writer(f, g->giver[i].thread, links))
			f->writers = true;
		else if (!ana_chain_is_porter(f, g, i))
			gather(f, &g->giver[i]);
	}
	first[i] = f->c->ends;
	ana_chain_leave_idle_out(f, g, first, i);
}

/*
 * Those who were found do nothing: who gave it up to 2 s before takes their place if he works.
 * Where they give, too, or are of the chain, that is @unseen alone: of one who was looked at
 * meanwhile it is known that he does not.
 */
static void ask_who_gave(struct chain_search *f, const struct ana_links *links, uint32_t first,
			 bool unseen, struct answer *out)
{
	const uint32_t last = f->c->ends;
	const int64_t a = f->a;
	struct chain_givers g;

	ana_chain_find_before(&g, f, links, unseen);
	if (!g.count)
		return;
	f->a = a - ANA_LOOK_BACK_NS;
	f->far = true;
	gather_all(f, &g, links);
	f->a = a;
	f->far = false;
	if (!ana_chain_take_place(f->c, first, last))
		return;
	out->idle = false;
	out->ns = ana_chain_time_of(f->c, first);
	f->c->gives |= f->path.links == 1;
}

static void follow(struct chain_search *f, const struct ana_links *links, struct answer *out)
{
	const uint32_t first = f->c->ends;
	const int64_t a = f->a;
	const bool far = f->far;
	struct chain_givers g;
	bool idle;

	ana_chain_find(&g, f, links);
	f->c->piped |=
		g.count && (ana_links_await_kind(links, 'p') || ana_links_await_kind(links, 'u') ||
			    ana_links_await_kind(links, 't'));
	if (f->path.links == 1)
		f->c->gives = g.count && g.giver[0].kind == ANA_LINK_GIVES;
	gather_all(f, &g, links);
	f->a = a;
	f->far = far;
	out->circle = g.circle;
	out->ns = ana_chain_time_of(f->c, first);
	idle = !ana_chain_is_at_work(f->c, first, f->c->ends);
	out->idle = idle && g.count && g.giver[0].kind == ANA_LINK_HOLDS;
	if (!far && idle && (out->idle || out->ns || g.circle))
		ask_who_gave(f, links, first, !out->idle, out);
}

/* ---- who sleeps, and shows nothing else ------------------------------------------------------ */

static bool is_of_one_process(const struct ana_chain *c)
{
	uint32_t i;

	for (i = 1; i < c->ends; i++)
		if (c->end[i].thread->pid != c->end[0].thread->pid)
			return false;
	return c->ends != 0;
}

/* One other process alone is at work: it is what the thread may sleep for. */
static void ask_others(struct chain_search *f, size_t sample)
{
	static const struct ana_links nothing;
	struct chain_givers g;

	f->path.link[0].sample = sample;
	ana_chain_find_others(&g, f);
	gather_all(f, &g, &nothing);
	if (!ana_chain_is_at_work(f->c, 0, f->c->ends) || !is_of_one_process(f->c))
		f->c->ends = 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/*
 * Where none of its samples is in the interval, the last one before asks, whichever was met first.
 */
static size_t last_before(const struct ana_thread_samples *who, size_t sample, uint32_t links,
			  int64_t a)
{
	size_t i = ana_samples_from(who, a);

	while (i > sample &&
	       (who->sample[i - 1].links != links || ana_sample_runs(&who->sample[i - 1])))
		i--;
	return i > sample ? i - 1 : sample;
}

void ana_chain_follow(struct ana_chain *c, struct ana_evidence *e,
		      const struct ana_thread_samples *who, size_t sample, int64_t a, int64_t b)
{
	const struct wire_sample *w = &who->sample[sample];
	const bool nap = !ana_sample_runs(w) && w->wait == WIRE_WAIT_SLEEP &&
			 !ana_linktexts_get(&e->links, w->links)->awaits;
	struct chain_search f = { .c = c, .e = e, .a = a, .b = b };
	struct answer got;
	size_t i;

	if (c->who == who && c->links == w->links && c->nap == nap && c->start == a && c->stop == b)
		return;
	c->who = who;
	c->links = w->links;
	c->nap = nap;
	c->start = a;
	c->stop = b;
	c->found = ANA_CHAIN_NOBODY;
	c->gives = c->piped = false;
	c->visited = 0;
	c->confidence = ANA_HIGH;
	c->ends = c->paths = 0;
	f.path.link[0] = (struct ana_chain_link){ .thread = who };
	for (i = ana_samples_from(who, a); i < who->tail && who->sample[i].t_ns < b; i++) {
		if (who->sample[i].links != w->links)
			continue;
		if (!f.path.link[0].samples++)
			sample = i;
	}
	if (!f.path.link[0].samples)
		sample = last_before(who, sample, w->links, a);
	f.path.links = 1;
	if (nap)
		ask_others(&f, sample);
	else
		ask(&f, who, sample, sample, &got);
	free(f.done);
	free(f.asks);
	ana_chain_sum_up(c);
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
