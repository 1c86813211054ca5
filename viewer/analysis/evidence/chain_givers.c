/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads by the links of their samples, in an interval and, if nobody was seen, up to 2 s before
 * it.
 */
#include "chain_priv.h"

#include <stdlib.h>

#define MET_MAX 8u

/* How the thread's samples in [a, b) hand what @links awaits; AWAITS: no sample does. */
enum ana_link_kind ana_chain_hands(struct ana_evidence *e, const struct ana_thread_samples *s,
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
	const struct ana_thread_samples *x = ((const struct chain_giver *)a)->thread;
	const struct ana_thread_samples *y = ((const struct chain_giver *)b)->thread;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void ana_chain_sort(struct chain_givers *g)
{
	qsort(g->giver, g->count, sizeof(*g->giver), by_thread);
}

/*
 * That a thread of C has the address of such a thing about it, in code that gives, tells less than
 * that it has an object: who has many stages of a library about it is not the only one that could
 * end a wait within that.
 */
bool ana_chain_is_native(const struct ana_links *links)
{
	return ana_links_await_kind(links, 'n') && !ana_links_await_kind(links, 'o') &&
	       !ana_links_await_kind(links, 'q') && !ana_links_await_kind(links, 'f');
}

static bool is_seen(const struct ana_thread_samples *s, int64_t a, int64_t b)
{
	size_t i = ana_samples_from(s, a);

	return i < s->tail && s->sample[i].t_ns < b;
}

/* It waits at the other end of what @links awaits, and for others, too. */
static bool meets(const struct chain_search *f, const struct ana_thread_samples *s,
		  const struct ana_links *links, int64_t a, int64_t b)
{
	size_t i;

	if (!s->connected || in_path(&f->path, s))
		return false;
	for (i = ana_samples_from(s, a); i < s->tail && s->sample[i].t_ns < b; i++)
		if (!ana_sample_runs(&s->sample[i]) &&
		    ana_links_meet(ana_linktexts_get(&f->e->links, s->sample[i].links), links))
			return true;
	return false;
}

struct met { /* processes a thread of which does; a connection has few */
	uint32_t pid[MET_MAX];
	uint32_t count;
};

static bool is_met(const struct met *m, uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < m->count; i++)
		if (m->pid[i] == pid)
			return true;
	return false;
}

static void find_met(struct met *m, const struct chain_search *f, const struct ana_links *links,
		     int64_t a, int64_t b)
{
	const uint32_t own = f->path.link[f->path.links - 1].thread->pid;
	struct ana_among among;
	uint32_t i;

	m->count = 0;
	if (!ana_links_await_kind(links, 't') && !ana_links_await_kind(links, 'u'))
		return;
	among = ana_evidence_among(f->e, a, b);
	for (i = 0; i < among.threads && m->count < MET_MAX; i++) {
		const struct ana_thread_samples *s = among.thread[i];

		if (s->pid != own && !is_met(m, s->pid) && meets(f, s, links, a, b))
			m->pid[m->count++] = s->pid;
	}
}

/*
 * Those whose code gives, and only where there are none those that hold; @unseen: of threads
 * without a sample in the search's own interval.
 */
static void find_in(struct chain_givers *g, const struct chain_search *f,
		    const struct ana_links *links, int64_t a, int64_t b, bool unseen)
{
	const bool handed = ana_handed_since(&f->e->handed, links, a);
	enum ana_link_kind best = ANA_LINK_AWAITS;
	struct ana_among among;
	struct met met;
	uint32_t i;

	*g = (struct chain_givers){ 0 };
	find_met(&met, f, links, a, b);
	if (!handed && !met.count)
		return;
	among = ana_evidence_among(f->e, a, b);
	for (i = 0; i < among.threads; i++) {
		const struct ana_thread_samples *s = among.thread[i];
		enum ana_link_kind kind;
		uint32_t n = 0;

		kind = handed && s->hands ? ana_chain_hands(f->e, s, links, a, b, &n)
					  : ANA_LINK_AWAITS;
		if (kind == ANA_LINK_AWAITS && is_met(&met, s->pid) && is_seen(s, a, b) &&
		    !in_path(&f->path, s))
			kind = ANA_LINK_HOLDS;
		if (kind == ANA_LINK_AWAITS || (unseen && is_seen(s, f->a, f->b)))
			continue;
		if (in_path(&f->path, s)) {
			g->circle |= !ana_chain_is_native(links);
			continue;
		}
		if (kind == ANA_LINK_GIVES && best != ANA_LINK_GIVES)
			g->count = 0;
		if ((best == ANA_LINK_GIVES && kind != ANA_LINK_GIVES) ||
		    g->count == ANA_CHAIN_GIVERS)
			continue;
		best = kind;
		g->giver[g->count++] = (struct chain_giver){ s, kind, n };
		if (best == ANA_LINK_GIVES && g->count == ANA_CHAIN_GIVERS)
			break; /* none of the others can change it */
	}
	g->circle &= !g->count;
	ana_chain_sort(g);
}

void ana_chain_find_before(struct chain_givers *g, const struct chain_search *f,
			   const struct ana_links *links, bool unseen)
{
	find_in(g, f, links, f->a - ANA_LOOK_BACK_NS, f->b, unseen);
	if (g->count && g->giver[0].kind != ANA_LINK_GIVES)
		g->count = 0;
}

void ana_chain_find_others(struct chain_givers *g, const struct chain_search *f)
{
	const uint32_t pid = f->path.link[0].thread->pid;
	const struct ana_among among = ana_evidence_among(f->e, f->a, f->b);
	uint32_t i;

	*g = (struct chain_givers){ 0 };
	for (i = 0; i < among.threads; i++) {
		const struct ana_thread_samples *s = among.thread[i];

		if (s->pid == pid || !is_seen(s, f->a, f->b))
			continue;
		if (g->count == ANA_CHAIN_GIVERS) {
			g->count = 0;
			return;
		}
		g->giver[g->count++] = (struct chain_giver){ s, ANA_LINK_HOLDS, 0 };
	}
	ana_chain_sort(g);
}

/* In [a, b) it waits at a place where it listens. */
static bool listens(const struct chain_search *f, const struct ana_thread_samples *s)
{
	size_t i;

	for (i = ana_samples_from(s, f->a); i < s->tail && s->sample[i].t_ns < f->b; i++)
		if (ana_links_await_kind(ana_linktexts_get(&f->e->links, s->sample[i].links), 'l'))
			return true;
	return false;
}

/*
 * What a process has as descriptors all its threads have: one that listens for others to come is
 * not who answers those who are there.
 */
static bool may_be_porter(const struct chain_search *f, const struct ana_thread_samples *s)
{
	return s->pid != f->path.link[f->path.links - 1].thread->pid && listens(f, s);
}

bool ana_chain_is_porter(const struct chain_search *f, const struct chain_givers *g, uint32_t i)
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

static bool has_others(const struct chain_search *f, const struct chain_givers *g)
{
	uint32_t i;

	for (i = 0; i < g->count; i++)
		if (!may_be_porter(f, g->giver[i].thread))
			return true;
	return false;
}

void ana_chain_find(struct chain_givers *g, struct chain_search *f, const struct ana_links *links)
{
	struct chain_givers near;

	find_in(g, f, links, f->a, f->b, false);
	if (g->circle || f->far || has_others(f, g))
		return;
	near = *g;
	f->a -= ANA_LOOK_BACK_NS;
	f->far = true;
	find_in(g, f, links, f->a, f->b, false);
	if (near.count ? has_others(f, g) : g->count || g->circle)
		return;
	*g = near;
	f->a += ANA_LOOK_BACK_NS;
	f->far = false;
}

bool ana_chain_held(struct ana_evidence *e, const struct ana_thread_samples *who, size_t sample,
		    int64_t a, int64_t b)
{
	struct chain_search f = { .e = e, .a = a, .b = b };
	struct chain_givers g;

	f.path.link[f.path.links++].thread = who;
	ana_chain_find(&g, &f, ana_linktexts_get(&e->links, who->sample[sample].links));
	return g.count != 0;
}

/*
 * Who waits for a socket, too, that nobody of the chain has the other end of: an event loop, which
 * the chain's first one could wake as well. It is not he that it waits for.
 */
bool ana_chain_waits_outside(struct chain_search *f, const struct ana_links *links)
{
	struct ana_links sockets;
	uint32_t samples;
	uint8_t i;

	if (!ana_links_sockets(links, &sockets))
		return false;
	for (i = 0; i < f->path.links; i++)
		if (ana_chain_hands(f->e, f->path.link[i].thread, &sockets, f->a - ANA_LOOK_BACK_NS,
				    f->b, &samples) != ANA_LINK_AWAITS)
			return false;
	return true;
}
