/* SPDX-License-Identifier: Apache-2.0 */
/* The usual step and the worst one. */
#include "picture_pick.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/time/durations.h"

int ana_picture_pick_init(struct ana_picture_pick *p, size_t processes, int64_t middle)
{
	*p = (struct ana_picture_pick){ .processes = processes, .middle = middle };
	p->begun = calloc(processes + 1, sizeof(*p->begun));
	p->bin = calloc((size_t)ANA_DURATION_BINS * ANA_PICTURE_KEPT, sizeof(*p->bin));
	return p->begun && p->bin ? 0 : -ENOMEM;
}

void ana_picture_pick_fini(struct ana_picture_pick *p)
{
	free(p->begun);
	free(p->bin);
	*p = (struct ana_picture_pick){ 0 };
}

static int64_t length(const struct ana_step *s)
{
	return s->end_ns - s->start_ns;
}

static bool earlier(const struct ana_step *a, const struct ana_step *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->process < b->process;
}

/* Of ranks that meet in each step all are as long: the one that waited itself tells more. */
static bool worse(const struct ana_step *a, const struct ana_step *b)
{
	unsigned int x = ana_duration_bin(length(a)), y = ana_duration_bin(length(b));

	if (x != y)
		return x > y;
	if (a->exposed_ns != b->exposed_ns)
		return a->exposed_ns > b->exposed_ns;
	return length(a) != length(b) ? length(a) > length(b) : earlier(a, b);
}

static void keep_worse(struct ana_step *kept, const struct ana_step *s)
{
	if (!length(kept) || worse(s, kept))
		*kept = *s;
}

static int64_t far(const struct ana_picture_pick *p, const struct ana_step *s)
{
	return s->start_ns > p->middle ? s->start_ns - p->middle : p->middle - s->start_ns;
}

static bool nearer(const struct ana_picture_pick *p, const struct ana_step *s,
		   const struct ana_step *kept)
{
	return !length(kept) || far(p, s) < far(p, kept) ||
	       (far(p, s) == far(p, kept) && earlier(s, kept));
}

static struct ana_step *bin_of(const struct ana_picture_pick *p, int64_t ns)
{
	return &p->bin[(size_t)ana_duration_bin(ns) * ANA_PICTURE_KEPT];
}

static void keep_nearest(const struct ana_picture_pick *p, struct ana_step *kept, struct ana_step s)
{
	if (!nearer(p, &s, &kept[ANA_PICTURE_KEPT - 1]))
		return;
	for (size_t i = 0; i < ANA_PICTURE_KEPT && length(&s); i++)
		if (nearer(p, &s, &kept[i])) {
			struct ana_step pushed = kept[i];
			kept[i] = s;
			s = pushed;
		}
}

void ana_picture_pick_add(struct ana_picture_pick *p, const struct ana_step *s)
{
	bool first;

	if (length(s) <= 0 || s->process >= p->processes)
		return;
	first = !p->begun[s->process];
	p->begun[s->process] = true;
	keep_worse(first ? &p->worst_first : &p->worst, s);
	keep_nearest(p, bin_of(p, length(s)), *s);
}

static bool give(struct ana_step *to, const struct ana_step *s)
{
	*to = *s;
	return length(s) > 0;
}

/* Those of a bin, less what @n skips of them. */
static bool give_of(const struct ana_picture_pick *p, size_t bin, size_t *n, struct ana_step *s)
{
	const struct ana_step *of = &p->bin[bin * ANA_PICTURE_KEPT];

	for (size_t i = 0; i < ANA_PICTURE_KEPT && length(&of[i]); i++)
		if (!(*n)--)
			return give(s, &of[i]);
	return false;
}

bool ana_picture_pick_near(const struct ana_picture_pick *p, int64_t median_ns, size_t n,
			   struct ana_step *s)
{
	const size_t at = median_ns > 0 ? ana_duration_bin(median_ns) : 0;

	if (median_ns <= 0)
		return false;
	for (size_t d = 0; d <= ANA_PICTURE_NEAR; d++) {
		if (at >= d && give_of(p, at - d, &n, s))
			return true;
		if (d && at + d < ANA_DURATION_BINS && give_of(p, at + d, &n, s))
			return true;
	}
	return false;
}

bool ana_picture_pick_worst(const struct ana_picture_pick *p, struct ana_step *s)
{
	return give(s, length(&p->worst) ? &p->worst : &p->worst_first);
}
