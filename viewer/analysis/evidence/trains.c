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
	struct wire_scratch *scratch;
	struct ana_loaders all; /* of all processes, by settings */
	uint64_t *of; /* [known], which is all.count: rounds with a batch of it */
	uint32_t known;
	uint64_t rounds; /* from step to step, with a batch of whichever loader */
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
	if (b->what == WIRE_BATCH_OPEN)
		return ana_loaders_add(one, b);
	if (b->what != WIRE_BATCH_TAKE || (b->samples & TAKE_MASK) != WIRE_TAKE_BATCH)
		return 0;
	x->unsure |= x->takens == MARKS_MAX;
	if (x->unsure)
		return 0;
	if (!base_vec_more(x->taken, x->takens, x->taken_room))
		return -ENOMEM;
	x->taken[x->takens++] = (struct taken){ b->end_ns, b->loader };
	return 0;
}

static int read_rows(struct trains *x, const struct view_stream *s, struct ana_loaders *one)
{
	struct wire_batch *row = NULL;
	size_t room = 0, n;
	int err = 0;

	x->takens = 0;
	for (size_t i = 0; i < s->evidences && err != -ENOMEM && !x->unsure; i++) {
		if (s->evidence[i].head->kind != WIRE_KIND_BATCH)
			continue;
		err = view_trace_batches(x->t, &s->evidence[i], x->scratch, &row, &room, &n);
		for (size_t k = 0; !err && k < n; k++)
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

/* Where x->all has a loader of @one; it does. */
static uint32_t in_all(const struct trains *x, const struct ana_loader *of)
{
	uint32_t k = 0;

	while (k + 1 < x->all.count && strcmp(x->all.loader[k].settings, of->settings) != 0)
		k++;
	return k;
}

struct process { /* what is read of it */
	const struct ana_loaders *loaders;
	uint32_t *in_all; /* [loaders->count] */
	uint64_t *stamp; /* [all.count]: the last round with a batch of it */
};

static void count_batch(struct trains *x, const struct process *p, uint32_t iterator)
{
	const struct ana_loaders *l = p->loaders;
	uint32_t i = iterator < l->ofs ? l->of[iterator] : UINT32_MAX;

	if (i >= l->count) {
		x->unsure = true; /* nobody knows whose it is */
		return;
	}
	i = p->in_all[i];
	x->of[i] += p->stamp[i] != x->rounds + 1;
	p->stamp[i] = x->rounds + 1;
}

/* What came before each step, since the one before; steps without a batch are none of the loop. */
static void count_rounds(struct trains *x, const struct process *p)
{
	size_t at = 0, before;

	qsort(x->step, x->steps, sizeof(*x->step), by_step);
	qsort(x->taken, x->takens, sizeof(*x->taken), by_end);
	for (size_t i = 0; i < x->steps; i++) {
		before = at;
		while (at < x->takens && x->taken[at].end_ns <= x->step[i])
			count_batch(x, p, x->taken[at++].iterator);
		x->rounds += at > before;
	}
}

/* Adds its loaders to those of all, with no round yet. */
static int add_loaders(struct trains *x, const struct ana_loaders *one)
{
	uint64_t *of;
	int err = ana_loaders_merge(&x->all, one);

	if (err)
		return err;
	of = reallocarray(x->of, x->all.count + 1, sizeof(*of));
	if (!of)
		return -ENOMEM;
	x->of = of;
	for (; x->known < x->all.count; x->known++)
		x->of[x->known] = 0;
	return 0;
}

static int count_process(struct trains *x, const struct ana_loaders *one)
{
	struct process p = { .loaders = one };
	int err = add_loaders(x, one);

	if (err)
		return err;
	p.in_all = calloc(one->count + 1, sizeof(*p.in_all));
	p.stamp = calloc(x->all.count + 1, sizeof(*p.stamp));
	if (p.in_all && p.stamp) {
		for (uint32_t i = 0; i < one->count; i++)
			p.in_all[i] = in_all(x, &one->loader[i]);
		count_rounds(x, &p);
	} else {
		err = -ENOMEM;
	}
	free(p.in_all);
	free(p.stamp);
	return err;
}

static int read_process(struct trains *x, const struct view_stream *s)
{
	struct ana_loaders one;
	int err = read_steps(x, s);

	if (err || !x->steps)
		return err;
	ana_loaders_init(&one, s->strings);
	err = read_rows(x, s, &one);
	if (!err && x->steps && x->takens)
		err = count_process(x, &one);
	ana_loaders_fini(&one);
	return err;
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

/* The only one with a batch in every round; NULL: there is none, or more. */
static const struct ana_loader_facts *only_one(const struct trains *x)
{
	const struct ana_loader_facts *found = NULL;

	for (uint32_t i = 0; i < x->all.count; i++) {
		if (x->of[i] != x->rounds)
			continue;
		if (found)
			return NULL;
		found = &x->all.loader[i].facts;
	}
	return found;
}

static void tell(const struct trains *x, struct ana_result *r)
{
	const struct ana_loader_facts *f =
		x->unsure || x->rounds < ROUNDS_LEAST ? NULL : only_one(x);
	struct ana_loader_facts *found = NULL;

	for (size_t i = 0; f && i < r->loaders; i++) {
		if (!same_settings(f, &r->loader[i]))
			continue;
		if (found) /* they differ in what is not kept of them */
			return;
		found = &r->loader[i];
	}
	if (found)
		found->trains = true;
}

static bool is_open(const struct ana_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->loaders; i++)
		n += r->loader[i].given.batches > 0;
	return n > 1 && r->hints & ANA_HINT_STEPS;
}

int ana_trains_find(struct view_trace *t, struct ana_result *r)
{
	struct trains x = { .t = t };
	int err = 0;

	if (!is_open(r))
		return 0;
	x.scratch = wire_scratch_new();
	if (!x.scratch)
		return -ENOMEM;
	ana_loaders_init(&x.all, NULL);
	for (size_t i = 0; i < t->streams && !err && !x.unsure; i++)
		err = read_process(&x, &t->stream[i]);
	if (!err)
		tell(&x, r);
	ana_loaders_fini(&x.all);
	wire_scratch_free(x.scratch);
	free(x.of);
	free(x.step);
	free(x.taken);
	return err;
}
