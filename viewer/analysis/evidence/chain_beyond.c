/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait within a library whose own threads all wait, too: what it is for comes from other
 * processes of the job, with which threads of the library talk, or a process between that passes
 * things on. Links tell who has the other ends.
 */
#include "chain_priv.h"

#define TALKS_MAX 64u /* connections */
#define BETWEEN_MAX 8u /* processes */

struct talk { /* what is awaited of others */
	struct ana_link of[TALKS_MAX];
	uint32_t count;
	uint32_t between[BETWEEN_MAX]; /* processes that merely pass on */
	uint32_t betweens;
	int64_t since, until;
};

static bool has(const struct talk *t, const struct ana_link *id)
{
	uint32_t i;

	for (i = 0; i < t->count; i++)
		if (ana_link_same(&t->of[i], id))
			return true;
	return false;
}

static void add_awaited(struct talk *t, const struct ana_links *l)
{
	uint32_t i;

	for (i = 0; i < l->count && t->count < TALKS_MAX; i++)
		if (l->link[i].kind == ANA_LINK_AWAITS && ana_link_is_connection(&l->link[i]) &&
		    !has(t, &l->link[i]))
			t->of[t->count++] = l->link[i];
}

static bool is_of(struct ana_evidence *e, const struct wire_sample *w, struct ana_text library)
{
	return ana_text_same(ana_frames_library(ana_pystacks_text(&e->stacks, w->native)), library);
}

/*
 * What threads without Python of the process await at connections; @library: those that are in it
 * then.
 */
static void add_process(struct talk *t, struct ana_evidence *e, uint32_t pid,
			const struct ana_text *library)
{
	const struct ana_among among = ana_evidence_among(e, t->since, t->until);
	uint32_t i;
	size_t k;

	for (i = 0; i < among.threads; i++) {
		const struct ana_thread_samples *s = among.thread[i];

		if (s->pid != pid)
			continue;
		for (k = ana_samples_from(s, t->since); k < s->tail && s->sample[k].t_ns < t->until;
		     k++)
			if (!s->sample[k].stack && (!library || is_of(e, &s->sample[k], *library)))
				add_awaited(t, ana_linktexts_get(&e->links, s->sample[k].links));
	}
}

static bool is_between(const struct talk *t, uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < t->betweens; i++)
		if (t->between[i] == pid)
			return true;
	return false;
}

/*
 * One of the talks' ends is its; or, of a process that listens for others, it waits there itself.
 */
static bool talks(const struct talk *t, const struct ana_links *l, bool listens)
{
	uint32_t i;

	for (i = 0; i < l->count; i++)
		if (ana_link_is_connection(&l->link[i]) && has(t, &l->link[i]) &&
		    (l->link[i].kind == ANA_LINK_GIVES ||
		     (listens && l->link[i].kind == ANA_LINK_AWAITS)))
			return true;
	return false;
}

/*
 * Processes of which a thread without Python waits both where it listens and with one of the ends.
 */
static void find_between(struct talk *t, struct ana_evidence *e, uint32_t but)
{
	const struct ana_among among = ana_evidence_among(e, t->since, t->until);
	uint32_t i;
	size_t k;

	for (i = 0; i < among.threads && t->betweens < BETWEEN_MAX; i++) {
		const struct ana_thread_samples *s = among.thread[i];

		for (k = ana_samples_from(s, t->since); k < s->tail && s->sample[k].t_ns < t->until;
		     k++) {
			const struct ana_links *l =
				ana_linktexts_get(&e->links, s->sample[k].links);

			if (s->pid == but || s->sample[k].stack || is_between(t, s->pid) ||
			    !ana_links_await_kind(l, 'l') || !talks(t, l, true))
				continue;
			t->between[t->betweens++] = s->pid;
			break;
		}
	}
}

static bool is_in_path(const struct chain_search *f, uint32_t pid)
{
	uint8_t i;

	for (i = 0; i < f->path.links; i++)
		if (f->path.link[i].thread->pid == pid)
			return true;
	return false;
}

/* A thread that runs the program's own code and has one of the ends, in so many samples. */
static uint32_t has_end(const struct talk *t, struct ana_evidence *e,
			const struct ana_thread_samples *s)
{
	uint32_t n = 0;
	bool own = false;
	size_t k;

	for (k = ana_samples_from(s, t->since); k < s->tail && s->sample[k].t_ns < t->until; k++) {
		own |= ana_pystacks_get(&e->stacks, s->sample[k].stack)->user;
		n += talks(t, ana_linktexts_get(&e->links, s->sample[k].links), false);
	}
	return own ? n : 0;
}

void ana_chain_find_beyond(struct chain_givers *g, struct chain_search *f,
			   const struct wire_sample *w)
{
	struct talk t = { .since = f->far ? f->a : f->a - ANA_LOOK_BACK_NS, .until = f->b };
	struct ana_text library = ana_frames_library(ana_pystacks_text(&f->e->stacks, w->native));
	struct ana_among among;
	uint32_t i, n;

	*g = (struct chain_givers){ 0 };
	if (!library.len)
		return;
	add_process(&t, f->e, w->pid, &library);
	if (t.count)
		find_between(&t, f->e, w->pid);
	for (i = 0; i < t.betweens; i++)
		add_process(&t, f->e, t.between[i], NULL);
	among = ana_evidence_among(f->e, t.since, t.until);
	for (i = 0; i < among.threads && t.count && g->count < ANA_CHAIN_GIVERS; i++) {
		const struct ana_thread_samples *s = among.thread[i];

		if (!s->hands || is_in_path(f, s->pid) || is_between(&t, s->pid))
			continue;
		n = has_end(&t, f->e, s);
		if (n)
			g->giver[g->count++] = (struct chain_giver){ s, ANA_LINK_HOLDS, n };
	}
	ana_chain_sort(g);
}
