/* SPDX-License-Identifier: Apache-2.0 */
#include "check_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/walk/step.h"

#define PROCESSES_MAX 1024
#define WARMUP_MAX 100

const unsigned int check_permille[CHECK_QUANTILES] = { 10,  50,	 100, 250, 500, 750,
						       900, 950, 990, 999, 1000 };

struct one { /* process */
	struct check_item *item;
	size_t count, room;
	uint64_t width, steps, warmup;
	struct check_item part; /* of the item being filled */
	uint64_t part_steps;
	bool cut; /* the warm-up is gone from item[] */
	bool has_last;
	struct ana_step last; /* whose successor is not known yet */
	struct ana_durations durations;
};

struct check_collect {
	int64_t warmup; /* -1: find it */
	struct one *one[PROCESSES_MAX];
	bool failed;
};

struct check_collect *check_collect_new(int64_t warmup)
{
	struct check_collect *c = calloc(1, sizeof(*c));

	if (c)
		c->warmup = warmup;
	return c;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The median of the first steps, enough of them to know what is usual. */
static int64_t usual(const struct check_item *item, size_t count)
{
	size_t n = count < 4096 ? count : 4096;
	int64_t *ns = malloc(n * sizeof(*ns)), median = INT64_MAX / 2;

	if (!ns)
		return median;
	for (size_t i = 0; i < n; i++)
		ns[i] = item[i].ns;
	qsort(ns, n, sizeof(*ns), by_time);
	median = ns[n / 2];
	free(ns);
	return median;
}

size_t check_warmup(const struct check_item *item, size_t count)
{
	size_t upto = count / 10 < WARMUP_MAX ? count / 10 : WARMUP_MAX, warm = 1;

	if (count < 2)
		return 0;
	int64_t median = usual(item, count);
	for (size_t i = 0; i < upto; i++)
		if (item[i].ns / 2 > median)
			warm = i + 1;
	return warm;
}

/* Once all that could be warm-up has come, and before steps are put together. */
static void cut_warmup(struct check_collect *c, struct one *o)
{
	size_t n = c->warmup >= 0 ? (size_t)c->warmup : check_warmup(o->item, o->count);

	if (n > o->count)
		n = o->count;
	for (size_t i = n; i < o->count; i++)
		if (ana_durations_add(&o->durations, o->item[i].ns))
			c->failed = true;
	memmove(o->item, o->item + n, (o->count - n) * sizeof(*o->item));
	o->count -= n;
	o->warmup = n;
	o->cut = true;
}

/* Stamps of a hostile trace may jump: beyond what fits the sum stays there. */
static void add(struct check_item *sum, const struct check_item *more)
{
	if (__builtin_add_overflow(sum->ns, more->ns, &sum->ns))
		sum->ns = INT64_MAX;
	if (__builtin_add_overflow(sum->exposed_ns, more->exposed_ns, &sum->exposed_ns))
		sum->exposed_ns = INT64_MAX;
}

static void halve(struct one *o)
{
	size_t n = o->count / 2;

	for (size_t i = 0; i < n; i++) {
		o->item[i] = o->item[2 * i];
		add(&o->item[i], &o->item[2 * i + 1]);
	}
	if (o->count % 2) { /* an odd one becomes the begin of the next */
		add(&o->part, &o->item[o->count - 1]);
		o->part_steps += o->width;
	}
	o->count = n;
	o->width *= 2;
}

static bool grow(struct one *o)
{
	size_t room = o->room ? o->room * 2 : 1024;
	struct check_item *item = realloc(o->item, room * sizeof(*item));

	if (!item)
		return false;
	o->item = item;
	o->room = room;
	/* -fanalyzer: no leak, check_collect_free() frees it */
	return true;
}

static void put(struct check_collect *c, struct one *o, struct check_item one)
{
	o->steps++;
	if (o->cut && ana_durations_add(&o->durations, one.ns))
		c->failed = true;
	add(&o->part, &one);
	if (++o->part_steps < o->width)
		return;
	if (o->count == CHECK_ITEMS_RAW) {
		if (!o->cut)
			cut_warmup(c, o);
		if (o->count == CHECK_ITEMS_RAW)
			halve(o);
		if (o->part_steps < o->width)
			return;
	}
	if (o->count == o->room && !grow(o)) {
		c->failed = true;
		return;
	}
	o->item[o->count++] = o->part;
	o->part = (struct check_item){ 0 };
	o->part_steps = 0;
}

/* A step that ends before it begins or begins before its predecessor did tells nothing. */
static void close_step(struct check_collect *c, struct one *o, int64_t next)
{
	int64_t ns, exposed = o->last.exposed_ns;

	if (__builtin_sub_overflow(next, o->last.start_ns, &ns) || ns <= 0)
		return;
	if (exposed < 0)
		exposed = 0;
	put(c, o, (struct check_item){ ns, exposed < ns ? exposed : ns });
}

static struct one *one_of(struct check_collect *c, uint32_t process)
{
	struct one *o;

	if (process >= PROCESSES_MAX)
		return NULL;
	if (c->one[process])
		return c->one[process];
	o = calloc(1, sizeof(*o));
	if (!o)
		c->failed = true;
	else
		o->width = 1;
	c->one[process] = o;
	return o;
}

void check_collect_step(void *arg, const struct ana_step *s)
{
	struct check_collect *c = arg;
	struct one *o = one_of(c, s->process);

	if (!o)
		return;
	if (o->has_last)
		close_step(c, o, s->start_ns);
	o->last = *s;
	o->has_last = true;
}

static int64_t rank_of(const struct ana_result *r, size_t process)
{
	if (process >= r->processes || !r->process[process].has_rank)
		return INT64_MAX;
	return r->process[process].rank;
}

static struct one *choose(struct check_collect *c, const struct ana_result *r)
{
	struct one *best = NULL;
	int64_t rank = 0;

	for (size_t i = 0; i < PROCESSES_MAX; i++) {
		struct one *o = c->one[i];
		if (!o || !o->steps)
			continue;
		if (!best || o->steps > best->steps ||
		    (o->steps == best->steps && rank_of(r, i) < rank)) {
			best = o;
			rank = rank_of(r, i);
		}
	}
	return best;
}

int check_collect_end(struct check_collect *c, const struct ana_result *r, struct check_series *s)
{
	*s = (struct check_series){ 0 };
	for (size_t i = 0; i < PROCESSES_MAX; i++) {
		struct one *o = c->one[i];
		if (o && o->has_last)
			close_step(c, o, o->last.end_ns);
		if (o)
			o->has_last = false;
	}
	struct one *o = choose(c, r);
	if (c->failed)
		return -ENOMEM;
	if (!o)
		return -ENODATA;
	if (!o->cut)
		cut_warmup(c, o);
	while (o->count > CHECK_ITEMS_KEPT)
		halve(o);
	for (int i = 0; i < CHECK_QUANTILES; i++)
		s->quantile_ns[i] = ana_durations_rank(&o->durations, check_permille[i]);
	s->item = o->item;
	s->count = o->count;
	s->width = o->width;
	s->steps = o->steps;
	s->warmup = o->warmup;
	s->rest = o->part_steps;
	o->item = NULL;
	o->count = o->room = 0;
	return c->failed ? -ENOMEM : 0;
}

void check_collect_free(struct check_collect *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < PROCESSES_MAX; i++) {
		if (!c->one[i])
			continue;
		ana_durations_fini(&c->one[i]->durations);
		free(c->one[i]->item);
		free(c->one[i]);
	}
	free(c);
}

void check_series_cut(struct check_series *s, uint64_t steps)
{
	uint64_t kept = steps > s->warmup ? steps - s->warmup : 0;

	if (s->steps <= steps || !s->width)
		return;
	if (kept / s->width < s->count)
		s->count = (size_t)(kept / s->width);
	s->steps = steps;
	s->rest = kept - s->count * s->width;
}

void check_series_fini(struct check_series *s)
{
	free(s->item);
	s->item = NULL;
	s->count = 0;
}
