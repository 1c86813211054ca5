/* SPDX-License-Identifier: Apache-2.0 */
#include "ends_follow.h"

#include <math.h>
#include "base/minmax.h"

#define FOLLOW 8.0 /* ends follow arrivals by this part of them or less, ... */
#define DEVIATIONS 3.0 /* ... or by what is no more than chance */
#define APART 2.0 /* by this part or more */
#define APART_MAX_NS 1000000000

static double clamped(int64_t ns)
{
	return (double)base_clamp(ns, -APART_MAX_NS, APART_MAX_NS);
}

void ana_follow_add(struct ana_follow *f, int64_t came_ns, int64_t left_ns)
{
	double came = clamped(came_ns), left = clamped(left_ns);

	f->n += 1;
	f->came += came;
	f->left += left;
	f->came2 += came * came;
	f->left2 += left * left;
	f->both += came * left;
}

/* About the means: that one comes later each time tells nothing. */
static struct ana_follow centred(const struct ana_follow *f)
{
	if (!(f->n > 0))
		return (struct ana_follow){ 0 };
	return (struct ana_follow){ .n = f->n,
				    .came2 = f->came2 - f->came * f->came / f->n,
				    .left2 = f->left2 - f->left * f->left / f->n,
				    .both = f->both - f->came * f->left / f->n };
}

void ana_follow_join(struct ana_follow *all, const struct ana_follow *f)
{
	struct ana_follow own = centred(f);

	all->n += own.n;
	all->came2 += own.came2;
	all->left2 += own.left2;
	all->both += own.both;
}

static bool beyond_chance(const struct ana_follow *own)
{
	return own->both * own->both * own->n > DEVIATIONS * DEVIATIONS * own->left2 * own->came2;
}

/* In a ring they may go before, where those are compared that have no part in common. */
bool ana_follow_is(const struct ana_follow *f)
{
	struct ana_follow own = centred(f);

	return fabs(own.both) * FOLLOW > own.came2 && beyond_chance(&own);
}

bool ana_follow_is_apart(const struct ana_follow *f)
{
	struct ana_follow own = centred(f);

	return own.both * APART >= own.came2 && own.came2 > 0 && beyond_chance(&own);
}

bool ana_follow_is_none(const struct ana_follow *all)
{
	double most = FOLLOW * DEVIATIONS;

	return fabs(all->both) * FOLLOW <= all->came2 &&
	       all->came2 * all->n >= most * most * all->left2 && all->came2 > 0;
}
