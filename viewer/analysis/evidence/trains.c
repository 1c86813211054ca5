/* SPDX-License-Identifier: Apache-2.0 */
#include "trains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "loaders.h"
#include "wire/evidence.h"

#define MARKS_MAX (1u << 22) /* steps or batches of a process; of more nothing is told */
#define ROUNDS_LEAST 2 /* with one step every loader before it is as good */
#define TAKE_MASK 3u

struct taken {
	int64_t end_ns;
	uint32_t iterator;
};

struct trains {
	struct view_trace *t;
	struct ana_result *r;
	struct wire_scratch *scratch;
	bool unsure; /* something is not known: nothing is told */
	/* of the process that is read */
	int64_t *step;
	size_t steps, step_room;
	struct taken *taken;
	size_t takens, taken_room;
};

static int add_step(struct trains *x, const struct wire_event *e)
{
	if (e->op != WIRE_RANGE_OPTIMIZER)
		return 0;
	x->unsure |= x->steps == MARKS_MAX;
	if (x->unsure)
		return 0;
	if (!base_vec_more(x->step, x->steps, x->step_room))
		return -ENOMEM;
	x->step[x->steps++] = e->start_ns;
	return 0;
}

static int read_steps(struct trains *x, const struct view_stream *s)
{
	struct wire_event *ev = NULL;
	size_t room = 0, n;
	int err = 0;

	x->steps = 0;
	for (size_t i = 0; i < s->blocks && err != -ENOMEM && !x->unsure; i++) {
		if (s->block[i].head->kind != WIRE_KIND_RANGE)
			continue;
		err = view_trace_block(x->t, &s->block[i], x->scratch, &ev, &room, &n);
		for (size_t k = 0; !err && k < n; k++)
			err = add_step(x, &ev[k]);
	}
	free(ev);
	return err == -ENOMEM ? err : 0;
}

static int add_row(struct trains *x, struct ana_loaders *one, const struct wire_batch *b)
{
	int err = ana_loaders_add(one, b);

	if (err || b->what != WIRE_BATCH_TAKE || (b->samples & TAKE_MASK) != WIRE_TAKE_BATCH)
		return err;
	x->unsure |= x->takens == MARKS_MAX;
	if (x->unsure)
		return 0;
	if (!base_vec_more(x->taken, x->takens, x->taken_room))
		return -ENOMEM;
	x->taken[x->takens++] = (struct taken){ b->end_ns, b->loader };
	return 0;
}

/* @open: of the rows those that open iterators, else the others. */
static int read_rows(struct trains *x, const struct view_stream *s, struct ana_loaders *one,
		     bool open)
{
	struct wire_batch *row = NULL;
	size_t room = 0, n;
	int err = 0;

	for (size_t i = 0; i < s->evidences && err != -ENOMEM && !x->unsure; i++) {
		if (s->evidence[i].head->kind != WIRE_KIND_BATCH)
			continue;
		err = view_trace_batches(x->t, &s->evidence[i], x->scratch, &row, &room, &n);
		for (size_t k = 0; !err && k < n; k++)
			if ((row[k].what == WIRE_BATCH_OPEN) == open)
				err = add_row(x, one, &row[k]);
	}
	free(row);
	return err == -ENOMEM ? err : 0;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int by_step(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int by_end(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

struct candidate { /* a loader of the process */
	uint64_t in, alone; /* rounds with a batch of it, and of no other one */
	uint64_t stamp; /* the last round with a batch of it, from 1 */
	bool spans; /* steps lie within a pass over it */
	bool trains;
};

struct process { /* what is read of it */
	const struct ana_loaders *loaders;
	struct candidate *of; /* [loaders->count] */
	uint64_t *stamp; /* [loaders->ofs], by iterator: as above */
	uint64_t rounds; /* from step to step, with a batch of whichever loader */
};

/* NULL: nobody knows whose it is. */
static struct candidate *whose(const struct process *p, uint32_t iterator)
{
	const struct ana_loaders *l = p->loaders;
	uint32_t i = iterator < l->ofs ? l->of[iterator] : UINT32_MAX;

	return i < l->count ? &p->of[i] : NULL;
}

/* Of round @round; which other one was in it is told by @only, NULL at its beginning. */
static void count_batch(struct process *p, uint32_t iterator, uint64_t round,
			struct candidate **only, bool *mixed)
{
	struct candidate *c = whose(p, iterator);

	c->spans |= p->stamp[iterator] && p->stamp[iterator] != round;
	p->stamp[iterator] = c->stamp = round;
	*mixed |= *only && *only != c;
	*only = c;
}

/* The batches up to @until; true: there is one. */
static bool count_round(struct trains *x, struct process *p, size_t *at, int64_t until)
{
	struct candidate *only = NULL;
	bool mixed = false;

	for (; *at < x->takens && x->taken[*at].end_ns <= until; ++*at) {
		if (whose(p, x->taken[*at].iterator))
			count_batch(p, x->taken[*at].iterator, p->rounds + 1, &only, &mixed);
		else
			x->unsure = true;
	}
	if (only && !mixed && until != INT64_MAX)
		only->alone++;
	return only;
}

/*
 * What came before each step, since the one before; steps without a batch are none of the loop.
 * Batches behind the last one are of no round, but it lay within their passes.
 */
static void count_rounds(struct trains *x, struct process *p)
{
	size_t at = 0;

	for (size_t i = 0; i < x->steps; i++) {
		if (!count_round(x, p, &at, x->step[i]))
			continue;
		p->rounds++;
		for (uint32_t k = 0; k < p->loaders->count; k++)
			p->of[k].in += p->of[k].stamp == p->rounds;
	}
	count_round(x, p, &at, INT64_MAX);
}

/* ---- which of them train --------------------------------------------------------------------- */

/*
 * Where nothing but a batch of it came before a step, the step learnt from it. One that validates
 * between two batches and their step may look so once; but no step lies within its passes.
 */
static bool surely_trains(const struct candidate *c)
{
	return c->alone && (c->spans || (c->alone == c->in && c->in >= ROUNDS_LEAST));
}

/* Its passes lie between two steps, and another one gave batches there, too. */
static bool surely_not(const struct candidate *c)
{
	return !c->alone && !c->spans;
}

/* The only one in every round, of passes that no step lies within; the others do not train. */
static struct candidate *in_all(const struct process *p)
{
	struct candidate *found = NULL;

	for (uint32_t i = 0; i < p->loaders->count; i++) {
		if (p->of[i].in != p->rounds)
			continue;
		if (found)
			return NULL;
		found = &p->of[i];
	}
	return p->rounds >= ROUNDS_LEAST ? found : NULL;
}

/* False: of one nothing is known. */
static bool classify(const struct process *p)
{
	struct candidate *all = in_all(p);
	bool known = true;

	for (uint32_t i = 0; i < p->loaders->count; i++) {
		struct candidate *c = &p->of[i];

		c->trains = c == all || surely_trains(c);
		known &= c->trains || surely_not(c);
	}
	return known;
}

/* Did one that trains give a batch before each step before which there was one? */
static bool explains(const struct trains *x, const struct process *p)
{
	size_t at = 0, before;
	bool trains;

	for (size_t i = 0; i < x->steps; i++) {
		trains = false;
		for (before = at; at < x->takens && x->taken[at].end_ns <= x->step[i]; at++)
			trains |= whose(p, x->taken[at].iterator)->trains;
		if (at > before && !trains)
			return false;
	}
	return p->rounds > 0;
}

/* ---- whose they are -------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_settings(const struct ana_loader_facts *a, const struct ana_loader_facts *b)
{
	return a->known == b->known && a->workers == b->workers && a->prefetch == b->prefetch &&
	       a->batch_size == b->batch_size && a->pin == b->pin &&
	       a->persistent == b->persistent && a->in_order == b->in_order &&
	       a->iterable == b->iterable && a->made_line == b->made_line &&
	       same_text(a->start, b->start) && same_text(a->dataset, b->dataset) &&
	       same_text(a->kind, b->kind) && same_text(a->made_file, b->made_file);
}

/* Of the run's loaders; NULL: none, or several that differ in what is not kept of them. */
static struct ana_loader_facts *of_run(const struct ana_result *r, const struct ana_loader_facts *f)
{
	struct ana_loader_facts *found = NULL;

	for (size_t i = 0; i < r->loaders; i++) {
		if (!same_settings(f, &r->loader[i]))
			continue;
		if (found)
			return NULL;
		found = &r->loader[i];
	}
	return found;
}

/* Are whole passes over both of so many batches? */
static bool alike(const struct ana_loader_given *a, const struct ana_loader_given *b)
{
	return a->whole && b->whole &&
	       (unsigned __int128)a->whole_batches * b->whole ==
		       (unsigned __int128)b->whole_batches * a->whole;
}

/* What a loader of a process gave; @first[i]: what the first one gave that is of r->loader[i]. */
static bool add_learnt(struct ana_result *r, const struct ana_loader_facts *f,
		       const struct ana_loader_given **first)
{
	struct ana_loader_facts *to = of_run(r, f);
	const struct ana_loader_given **before = to ? &first[to - r->loader] : NULL;

	if (!to)
		return false;
	to->trains = true;
	to->learners += !*before;
	to->uneven |= *before && !alike(*before, &f->given);
	if (!*before)
		*before = &f->given;
	ana_loader_given_add(&to->learnt, &f->given);
	return true;
}

static int tell_process(struct trains *x, const struct process *p)
{
	const struct ana_loader_given **first = calloc(x->r->loaders + 1, sizeof(*first));
	uint32_t apart = 0, trains = 0;

	if (!first)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->loaders->count; i++) {
		const struct ana_loader_facts *f = &p->loaders->loader[i].facts;

		apart += f->given.batches > 0;
		if (!p->of[i].trains)
			continue;
		trains++;
		x->unsure |= !add_learnt(x->r, f, first);
	}
	if (apart > x->r->apart)
		x->r->apart = apart;
	if (trains > x->r->apart_trains)
		x->r->apart_trains = trains;
	free(first);
	return 0;
}

static int judge_process(struct trains *x, const struct ana_loaders *one)
{
	struct process p = { .loaders = one };
	int err = -ENOMEM;

	p.of = calloc(one->count + 1, sizeof(*p.of));
	p.stamp = calloc(one->ofs + 1, sizeof(*p.stamp));
	if (p.of && p.stamp) {
		qsort(x->step, x->steps, sizeof(*x->step), by_step);
		qsort(x->taken, x->takens, sizeof(*x->taken), by_end);
		count_rounds(x, &p);
		x->unsure = x->unsure || !classify(&p) || !explains(x, &p);
		err = x->unsure ? 0 : tell_process(x, &p);
	}
	free(p.of);
	free(p.stamp);
	return err;
}

static int read_process(struct trains *x, const struct view_stream *s)
{
	struct ana_loaders one;
	int err = read_steps(x, s);

	if (err)
		return err;
	x->takens = 0;
	ana_loaders_init(&one, s->strings);
	one.apart = true;
	err = read_rows(x, s, &one, true);
	if (!err)
		err = read_rows(x, s, &one, false);
	/* of a process with batches and without steps nobody knows what it does with them */
	x->unsure |= x->takens && (!x->steps || one.count == ANA_LOADERS_APART_MAX);
	if (!err && x->takens && !x->unsure)
		err = judge_process(x, &one);
	ana_loaders_fini(&one);
	return err;
}

static void forget(struct ana_result *r)
{
	r->apart = r->apart_trains = 0;
	for (size_t i = 0; i < r->loaders; i++) {
		r->loader[i].trains = r->loader[i].uneven = false;
		r->loader[i].learners = 0;
		r->loader[i].learnt = (struct ana_loader_given){ 0 };
	}
}

int ana_trains_find(struct view_trace *t, struct ana_result *r)
{
	struct trains x = { .t = t, .r = r };
	int err = 0;

	if (!ana_loaders_differ(r) || !(r->hints & ANA_HINT_STEPS))
		return 0;
	x.scratch = wire_scratch_new();
	if (!x.scratch)
		return -ENOMEM;
	for (size_t i = 0; i < t->streams && !err && !x.unsure; i++)
		err = read_process(&x, &t->stream[i]);
	if (err || x.unsure)
		forget(r);
	wire_scratch_free(x.scratch);
	free(x.step);
	free(x.taken);
	return err;
}
