/* SPDX-License-Identifier: Apache-2.0 */
/* A job may have as many runs as a store: saves are looked up by their hashes. */
#include "restarts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"

#define LOOK_BACK \
	64 /* runs with a save of the same name in which the one that was opened is sought */

struct known { /* a key of a mark */
	const struct saves_key *key;
	size_t run, mark;
};

struct fate {
	size_t mark; /* SIZE_MAX: nothing of it was opened */
	int64_t from_ns; /* last word of the run whose save it began with; INT64_MAX: not known */
	/* The same of the oldest that was opened: it may have been begun with that one. */
	size_t maybe_mark;
	int64_t maybe_ns;
};

struct joining { /* runs of one job */
	struct fleet_restart *run;
	size_t runs;
	struct fate *fate;
	int64_t *earliest, *maybe_earliest; /* of those times of it and all behind it */
	struct known *known; /* by hash, then run, the newest mark last */
	size_t knowns;
};

static int by_job(const void *a, const void *b)
{
	const struct fleet_restart *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return strcmp(x->run, y->run);
}

static int by_hash(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->key->hash != y->key->hash)
		return x->key->hash < y->key->hash ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->mark > y->mark ? -1 : x->mark < y->mark;
}

static int gather(struct joining *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->runs; i++)
		for (size_t m = 0; w->run[i].chain && m < w->run[i].chain->marks; m++)
			n += w->run[i].chain->mark[m].keys;
	w->known = calloc(n + 1, sizeof(*w->known));
	if (!w->known)
		return -ENOMEM;
	for (size_t i = 0; i < w->runs; i++)
		for (size_t m = 0; w->run[i].chain && m < w->run[i].chain->marks; m++)
			for (size_t k = 0; k < w->run[i].chain->mark[m].keys; k++)
				w->known[w->knowns++] =
					(struct known){ &w->run[i].chain->mark[m].key[k], i, m };
	qsort(w->known, w->knowns, sizeof(*w->known), by_hash);
	return 0;
}

/* Behind the last key with this hash of a run before @run. */
static size_t behind(const struct joining *w, uint64_t hash, size_t run)
{
	size_t low = 0, high = w->knowns;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct known *k = &w->known[mid];

		if (k->key->hash < hash || (k->key->hash == hash && k->run < run))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_newer(const struct known *a, const struct known *b)
{
	return !b || a->run > b->run || (a->run == b->run && a->mark < b->mark);
}

/* The newest save of a run that was over before @run began that is @o; NULL: none is known. */
static const struct known *known_of(const struct joining *w, size_t run, const struct saves_key *o)
{
	size_t at = behind(w, o->hash, run);

	for (int n = 0; at && n < LOOK_BACK; n++) {
		const struct known *k = &w->known[--at];

		if (k->key->hash != o->hash)
			break;
		if (saves_key_opened(k->key, o) && w->run[k->run].word_ns < w->run[run].start_ns)
			return k;
	}
	return NULL;
}

/* The newest and the oldest that it opened. NULL: none is known. */
static const struct known *began_with(const struct joining *w, size_t run,
				      const struct known **oldest)
{
	const struct saves_chain *c = w->run[run].chain;
	const struct known *newest = *oldest = NULL;

	for (size_t i = 0; c && i < c->openings; i++) {
		const struct known *k = known_of(w, run, &c->opened[i]);

		if (k && is_newer(k, newest))
			newest = k;
		if (k && (!*oldest || is_newer(*oldest, k)))
			*oldest = k;
	}
	return newest;
}

/* An older one throws more away. */
static void age(size_t *mark, size_t than)
{
	if (*mark == SIZE_MAX || than > *mark)
		*mark = than;
}

static void find_fates(struct joining *w)
{
	for (size_t i = 0; i < w->runs; i++)
		w->fate[i] = (struct fate){ SIZE_MAX, INT64_MAX, SIZE_MAX, INT64_MAX };
	for (size_t i = 1; i < w->runs; i++) {
		const struct known *oldest, *k = began_with(w, i, &oldest);

		if (!k)
			continue;
		w->fate[i].from_ns = w->run[k->run].word_ns;
		w->fate[i].maybe_ns = w->run[oldest->run].word_ns;
		age(&w->fate[k->run].mark, k->mark);
		age(&w->fate[oldest->run].maybe_mark, oldest->mark);
	}
	w->earliest[w->runs] = w->maybe_earliest[w->runs] = INT64_MAX;
	for (size_t i = w->runs; i--;) {
		w->earliest[i] = base_min(w->fate[i].from_ns, w->earliest[i + 1]);
		w->maybe_earliest[i] = base_min(w->fate[i].maybe_ns, w->maybe_earliest[i + 1]);
	}
}

/* The first run that began after the last word of @run; w->runs: none did. */
static size_t next_of(const struct joining *w, size_t run)
{
	size_t low = 0, high = w->runs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->run[mid].start_ns <= w->run[run].word_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void move(struct fleet_saves *s, enum saves_part from, enum saves_part to, int64_t ns,
		 int64_t usd)
{
	const int64_t most = INT64_MAX - s->ns[to], most_usd = INT64_MAX - s->usd[to];

	ns = base_min(base_min(ns, s->ns[from]), most);
	usd = base_min(base_min(usd, s->usd[from]), most_usd);
	s->ns[from] -= ns;
	s->ns[to] += ns;
	s->usd[from] -= usd;
	s->usd[to] += usd;
}

/* SIZE_MAX: the beginning; NULL: it has none. */
static const struct saves_mark *mark_of(const struct fleet_restart *r, size_t mark)
{
	const struct saves_chain *c = r->chain;

	if (!c || !c->marks)
		return NULL;
	return &c->mark[mark < c->marks ? mark : c->marks - 1];
}

/* What is told of a mark may be a lie: no part becomes more than there is. */
static void redo(struct fleet_restart *r, size_t mark)
{
	static const enum saves_part of[SAVES_MOVED] = { SAVES_DURABLE, SAVES_UNKNOWN };
	struct fleet_saves *s = &r->saves;
	const struct saves_mark *m = mark_of(r, mark);

	move(s, SAVES_LOST, SAVES_REDONE, s->ns[SAVES_LOST], s->usd[SAVES_LOST]);
	if (!m)
		return;
	for (int p = 0; p < SAVES_MOVED; p++) {
		move(s, of[p], SAVES_REDONE, base_max(m->ns[p], 0), base_max(m->usd[p], 0));
		/* opened though it was never there as a whole: more than that was safe */
		move(s, SAVES_REDONE, of[p], -base_clamp(m->ns[p], -INT64_MAX, 0),
		     -base_clamp(m->usd[p], -INT64_MAX, 0));
	}
}

/* What is durable behind @maybe, but not behind @sure (NULL: nothing of it is redone). */
static void doubt(struct fleet_saves *s, const struct saves_mark *maybe,
		  const struct saves_mark *sure)
{
	base_wide ns, usd;

	if (!maybe)
		return;
	ns = (base_wide)maybe->ns[SAVES_MOVED_DURABLE] - (sure ? sure->ns[SAVES_MOVED_DURABLE] : 0);
	usd = (base_wide)maybe->usd[SAVES_MOVED_DURABLE] -
	      (sure ? sure->usd[SAVES_MOVED_DURABLE] : 0);
	move(s, SAVES_DURABLE, SAVES_UNKNOWN, (int64_t)base_clamp(ns, 0, INT64_MAX),
	     (int64_t)base_clamp(usd, 0, INT64_MAX));
}

static void judge(struct joining *w, size_t run)
{
	struct fleet_restart *r = &w->run[run];
	struct fleet_saves *s = &r->saves;
	size_t next = next_of(w, run), sure = w->fate[run].mark, maybe = w->fate[run].maybe_mark;
	bool whole, redone;

	if (next == w->runs)
		return;
	whole = w->earliest[next] < r->start_ns; /* from its beginning: SIZE_MAX */
	redone = whole || sure != SIZE_MAX;
	sure = whole ? SIZE_MAX : sure;
	if (redone)
		redo(r, sure);
	else
		move(s, SAVES_LOST, SAVES_UNKNOWN, s->ns[SAVES_LOST], s->usd[SAVES_LOST]);
	whole = w->maybe_earliest[next] < r->start_ns;
	if (whole || maybe != SIZE_MAX)
		doubt(s, mark_of(r, whole ? SIZE_MAX : maybe), redone ? mark_of(r, sure) : NULL);
}

static int join(struct fleet_restart *run, size_t runs)
{
	struct joining w = { .run = run, .runs = runs };
	int err = -ENOMEM;

	w.fate = calloc(runs, sizeof(*w.fate));
	w.earliest = calloc(runs + 1, sizeof(*w.earliest));
	w.maybe_earliest = calloc(runs + 1, sizeof(*w.maybe_earliest));
	if (w.fate && w.earliest && w.maybe_earliest)
		err = gather(&w);
	if (!err)
		find_fates(&w);
	for (size_t i = 0; i < runs && !err; i++)
		judge(&w, i);
	free(w.fate);
	free(w.earliest);
	free(w.maybe_earliest);
	free(w.known);
	return err;
}

int fleet_restarts_join(struct fleet_restart *run, size_t runs)
{
	int err = 0;

	if (runs)
		qsort(run, runs, sizeof(*run), by_job);
	for (size_t from = 0, to; from < runs && !err; from = to) {
		for (to = from + 1; to < runs && run[to].job == run[from].job;)
			to++;
		if (to > from + 1)
			err = join(&run[from], to - from);
	}
	return err;
}
