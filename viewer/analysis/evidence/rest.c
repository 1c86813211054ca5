/* SPDX-License-Identifier: Apache-2.0 */
#include "rest.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"
#include "maker.h"

struct waits { /* links (string ids) with which threads of a chain wait, each once */
	uint32_t *links;
	uint32_t count, room;
};

static bool are_shared(const struct waits *of, struct ana_evidence *e, const struct ana_links *l)
{
	uint32_t i;

	for (i = 0; i < of->count; i++)
		if (ana_links_share(l, ana_linktexts_get(&e->links, of->links[i])))
			return true;
	return false;
}

/*
 * Blocked in what makes a batch, and not at the other end of what those of @of await. A socket of
 * which nothing is told may be that other end.
 */
static bool is_fetching(struct ana_evidence *e, const struct wire_sample *w, const struct waits *of)
{
	const struct ana_links *l = ana_linktexts_get(&e->links, w->links);

	if (ana_sample_runs(w) || w->wait == WIRE_WAIT_SLEEP ||
	    ana_maker_class(w, ANA_PRODUCER_WORKER) != ANA_INPUT_FETCH)
		return false;
	if (of->count && w->wait == WIRE_WAIT_SOCKET && !l->awaits)
		return false;
	return !are_shared(of, e, l);
}

/*
 * For a tenth of its time since 2 s before the piece, but of that without a CPU, it computed or
 * read, from others than who waits for it: a piece alone shows too little of who sends a word now
 * and then.
 */
static bool is_at_work(const struct ana_cause *b, struct ana_evidence *e,
		       const struct ana_thread_samples *s, const struct waits *of)
{
	const int64_t from = b->start - ANA_LOOK_BACK_NS;
	struct ana_shares h;
	int64_t work;
	size_t i;

	if (!ana_shares_of(s, from, b->end, &h) || h.end - h.first == 1)
		/* one look does not tell a thread that wakes up from one that works */
		return false;
	work = h.run;
	for (i = h.first; i < h.end; i++)
		if (is_fetching(e, &s->sample[i], of))
			work += ana_shares_part(s, &h, i);
	return ana_works(work, b->end - from - h.delay);
}

/*
 * The thread of the next end from *i on that is not the last one's: ends of a thread follow each
 * other, mostly. NULL: there is none.
 */
static const struct ana_thread_samples *next_thread(const struct ana_chain *c, uint32_t *i,
						    const struct ana_thread_samples *last)
{
	while (*i < c->ends && (!c->end[*i].weight || c->end[*i].thread == last))
		(*i)++;
	return *i < c->ends ? c->end[*i].thread : NULL;
}

static bool all_rest(const struct ana_cause *b, struct ana_evidence *e, const struct waits *of)
{
	const struct ana_thread_samples *s = NULL;
	uint32_t i = 0;

	while ((s = next_thread(&b->chain, &i, s)))
		if (is_at_work(b, e, s, of))
			return false;
	return true;
}

bool ana_rest_works(const struct ana_cause *b, struct ana_evidence *e,
		    const struct ana_thread_samples *s)
{
	static const struct waits nothing;

	return is_at_work(b, e, s, &nothing);
}

bool ana_rest_all(const struct ana_cause *b, struct ana_evidence *e)
{
	static const struct waits nothing;

	return all_rest(b, e, &nothing);
}

/* ---- servers --------------------------------------------------------------------------------- */

static bool is_serving(struct ana_evidence *e, const struct wire_sample *w)
{
	const struct ana_links *l = ana_linktexts_get(&e->links, w->links);

	return !ana_sample_runs(w) &&
	       (ana_links_await_kind(l, 'a') || ana_links_await_kind(l, 'l') ||
		(w->wait == WIRE_WAIT_SOCKET && ana_callers_place(&e->callers, w->stack)));
}

/* It does, and neither computes nor reads from others for a tenth of its time. */
static bool is_server(const struct ana_cause *b, struct ana_evidence *e,
		      const struct ana_thread_samples *s)
{
	static const struct waits nothing;
	const int64_t from = b->start - ANA_LOOK_BACK_NS;
	struct ana_shares h;
	bool serves = false;
	int64_t work;
	size_t i;

	if (!ana_shares_of(s, from, b->end, &h))
		return false;
	work = h.run;
	for (i = h.first; i < h.end; i++) {
		if (is_serving(e, &s->sample[i]))
			serves = true;
		else if (is_fetching(e, &s->sample[i], &nothing))
			work += ana_shares_part(s, &h, i);
	}
	return serves && !ana_works(work, b->end - from - h.delay);
}

bool ana_rest_servers(const struct ana_cause *b, struct ana_evidence *e)
{
	const struct ana_thread_samples *s = NULL;
	uint32_t i = 0;
	bool any = false;

	while ((s = next_thread(&b->chain, &i, s))) {
		if (!is_server(b, e, s))
			return false;
		any = true;
	}
	return any;
}

/* ---- visitors -------------------------------------------------------------------------------- */

struct hosts { /* threads of the process that wait at accepted connections, each once */
	const struct ana_thread_samples **thread;
	uint32_t count, room;
};

static bool is_among(const struct hosts *h, const struct ana_thread_samples *s)
{
	uint32_t i;

	for (i = 0; i < h->count; i++)
		if (h->thread[i] == s)
			return true;
	return false;
}

/*
 * Of the path's threads, all but the last wait. Who serves elsewhere, as a cluster's scheduler
 * does, is not whose guests are meant.
 */
static int add_hosts(struct hosts *h, const struct ana_chain_path *p, struct ana_evidence *e)
{
	uint8_t i;

	for (i = 0; i + 1 < p->links; i++) {
		const struct ana_chain_link *l = &p->link[i];

		if (l->thread->pid != e->pid || is_among(h, l->thread) ||
		    !ana_links_await_kind(ana_linktexts_get(&e->links, l->awaits), 'a'))
			continue;
		if (!base_vec_more(h->thread, h->count, h->room))
			return -ENOMEM;
		h->thread[h->count++] = l->thread;
	}
	return 0;
}

/* The next end from *i on with a path of its own; ends of one path follow each other. */
static const struct ana_chain_path *next_path(const struct ana_chain *c, uint32_t *i)
{
	const uint32_t last = *i ? c->end[*i - 1].path : UINT32_MAX;

	while (*i < c->ends && (c->end[*i].path == last || !c->end[*i].weight))
		(*i)++;
	return *i < c->ends ? &c->path[c->end[(*i)++].path] : NULL;
}

static int find_hosts(struct hosts *h, const struct ana_chain *c, struct ana_evidence *e)
{
	const struct ana_chain_path *p;
	uint32_t i = 0;

	while ((p = next_path(c, &i)))
		if (add_hosts(h, p, e))
			return -ENOMEM;
	return 0;
}

static bool has_host(const struct ana_chain_path *p, const struct hosts *h)
{
	uint8_t i;

	for (i = 0; i < p->links; i++)
		if (is_among(h, p->link[i].thread))
			return true;
	return false;
}

static int add_waits(struct waits *of, uint32_t links)
{
	uint32_t i;

	for (i = 0; i < of->count; i++)
		if (of->links[i] == links)
			return 0;
	if (!base_vec_more(of->links, of->count, of->room))
		return -ENOMEM;
	of->links[of->count++] = links;
	return 0;
}

/* Of the paths to all ends; false: not each of them leads by one of @h. */
static bool gather_waits(struct waits *of, const struct ana_chain *c, const struct hosts *h)
{
	const struct ana_chain_path *p;
	uint32_t i = 0;
	uint8_t k;

	while ((p = next_path(c, &i))) {
		if (!has_host(p, h))
			return false;
		for (k = 0; k + 1 < p->links; k++)
			if (add_waits(of, p->link[k].awaits))
				return false;
	}
	return of->count;
}

static bool are_visitors(const struct ana_cause *b, struct ana_evidence *e)
{
	struct hosts hosts = { 0 };
	struct waits of = { 0 };
	bool all;

	all = !find_hosts(&hosts, &b->chain, e) && hosts.count &&
	      gather_waits(&of, &b->chain, &hosts) && all_rest(b, e, &of);
	free(of.links);
	free(hosts.thread);
	return all;
}

bool ana_rest_visitors(struct ana_cause *b, struct ana_evidence *e)
{
	if (!b->chain.visited)
		b->chain.visited = are_visitors(b, e) ? 1 : -1;
	return b->chain.visited > 0;
}
