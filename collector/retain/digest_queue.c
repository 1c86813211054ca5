/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of teams in the order of their turns, a list of runs each, and a table of all runs.
 */
#include "digest_queue.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

static struct coll_digest **bucket_of(struct coll_digest_queue *q, const char *team,
				      const char *run)
{
	uint64_t h = base_hash_text(base_hash_text(BASE_HASH, team), "/");

	return &q->bucket[base_hash_text(h, run) % COLL_DIGEST_BUCKETS];
}

static struct coll_digest *find(struct coll_digest_queue *q, const char *team, const char *run)
{
	struct coll_digest *e = *bucket_of(q, team, run);

	while (e && (strcmp(e->run, run) != 0 || strcmp(e->team->name, team) != 0))
		e = e->chain;
	return e;
}

static void remove_team(struct coll_digest_queue *q, struct coll_digest_team *t)
{
	struct coll_digest_team **p = &q->first;

	while (*p != t) /* NOLINT: it is in the list */
		p = &(*p)->next;
	*p = t->next;
	free(t->name);
	free(t);
}

void coll_digest_queue_remove(struct coll_digest_queue *q, struct coll_digest *e)
{
	struct coll_digest **p = bucket_of(q, e->team->name, e->run);

	while (*p != e)
		p = &(*p)->chain;
	*p = e->chain;
	*e->link = e->next;
	if (e->next)
		e->next->link = e->link; /* NOLINT: what was freed is not in the list any more */
	q->count--;
	if (!--e->team->count)
		remove_team(q, e->team);
	free(e->run);
	free(e);
}

void coll_digest_queue_fini(struct coll_digest_queue *q)
{
	while (q->first)
		coll_digest_queue_remove(q, q->first->first);
}

static void put_last(struct coll_digest_queue *q, struct coll_digest_team *t)
{
	struct coll_digest_team **p = &q->first;

	while (*p)
		p = &(*p)->next;
	t->next = NULL;
	*p = t;
}

/* A new one has its turn first: so far it had none. */
static struct coll_digest_team *team_of(struct coll_digest_queue *q, const char *name)
{
	struct coll_digest_team *t = q->first;

	while (t && strcmp(t->name, name) != 0)
		t = t->next;
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->name = strdup(name);
	if (!t->name) {
		free(t);
		return NULL;
	}
	t->next = q->first;
	q->first = t;
	return t;
}

/* The one that is to wait longest; NULL: it has none that waits. */
static struct coll_digest *spare_of(const struct coll_digest_team *t)
{
	struct coll_digest *e, *last = NULL;

	for (e = t->first; e; e = e->next)
		if (!e->running && (!last || e->due_ns > last->due_ns))
			last = e;
	return last;
}

static bool make_place(struct coll_digest_queue *q, const char *team)
{
	struct coll_digest_team *t, *most = q->first;
	struct coll_digest *e;
	size_t mine = 0;

	for (t = q->first; t; t = t->next) {
		if (!strcmp(t->name, team))
			mine = t->count;
		if (t->count > most->count)
			most = t;
	}
	e = most && most->count > mine + 1 ? spare_of(most) : NULL;
	if (e)
		coll_digest_queue_remove(q, e);
	return e != NULL;
}

static void link_in(struct coll_digest_queue *q, struct coll_digest *e)
{
	struct coll_digest_team *t = e->team;
	struct coll_digest **bucket = bucket_of(q, t->name, e->run);

	e->chain = *bucket;
	*bucket = e;
	e->next = t->first;
	e->link = &t->first;
	if (e->next)
		e->next->link = &e->next;
	t->first = e;
	t->count++;
	q->count++;
}

struct coll_digest *coll_digest_queue_add(struct coll_digest_queue *q, const char *team,
					  const char *run)
{
	struct coll_digest *e;

	if (find(q, team, run) || (q->count >= COLL_DIGESTS_MAX && !make_place(q, team)))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->run = strdup(run);
	e->team = e->run ? team_of(q, team) : NULL;
	if (!e->team) {
		free(e->run);
		free(e);
		return NULL;
	}
	link_in(q, e);
	return e;
}

static bool comes_before(const struct coll_digest *a, const struct coll_digest *b)
{
	return a->failures != b->failures ? a->failures < b->failures : a->due_ns < b->due_ns;
}

struct coll_digest *coll_digest_queue_next(struct coll_digest_queue *q, int64_t now_ns,
					   coll_digest_fits *fits, const void *arg)
{
	struct coll_digest *e, *best = NULL;
	struct coll_digest_team **p = &q->first, *t;

	for (; *p; p = &(*p)->next) {
		for (e = (*p)->first; e; e = e->next)
			if (!e->running && e->due_ns <= now_ns && fits(arg, e) &&
			    (!best || comes_before(e, best)))
				best = e;
		if (best)
			break;
	}
	if (!best)
		return NULL;
	t = *p;
	*p = t->next;
	put_last(q, t);
	return best;
}
