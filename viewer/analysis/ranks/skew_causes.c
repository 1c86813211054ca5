/* SPDX-License-Identifier: Apache-2.0 */
#include "skew_causes.h"

#include "path.h"

#define EVEN_STEPS 3 /* older than so many steps is long ago */

static void add_share(struct ana_skew_shares *s, uint32_t culprit, int c, int64_t weight)
{
	if (weight <= 0)
		return;
	s->at[s->count++] = (struct ana_skew_share){ .culprit = culprit, .c = c, .weight = weight };
	s->total += weight;
}

void ana_skew_causes_split(struct ana_skew_shares *s, int64_t ns)
{
	__int128 before = 0;
	int64_t given = 0;
	size_t i;

	for (i = 0; i < s->count; i++) {
		int64_t upto;

		before += s->at[i].weight;
		upto = (int64_t)((__int128)ns * before / s->total);
		s->at[i].ns = upto - given;
		given = upto;
	}
}

/* What the late one itself waited for in other communicators since @since, up to @most of it. */
static int64_t add_chain(const struct ana_skew_attribution *c, struct ana_skew_shares *s,
			 uint32_t late, int64_t since, int64_t most)
{
	const struct ana_recent_waits *p = c->row[late].recent_waits;
	size_t first = s->count, i;
	__int128 sum = 0;
	uint32_t k;

	for (k = 0; k < p->count; k++)
		if (p->at[k].t >= since && p->at[k].culprit != late)
			add_share(s, p->at[k].culprit, p->at[k].c, p->at[k].ns);
	for (i = first; i < s->count; i++)
		sum += s->at[i].weight;
	if (sum > most) { /* only a part of that made it late */
		__int128 before = 0;
		int64_t given = 0;

		s->total += most - sum;
		for (i = first; i < s->count; i++) {
			before += s->at[i].weight;
			s->at[i].weight = (int64_t)(before * most / sum) - given;
			given += s->at[i].weight;
		}
		sum = most;
	}
	return (int64_t)sum;
}

/*
 * From when on a member is compared with others: since they were even, unless that is long ago;
 * then for a step or two; before the group's first collective, since its last one in any group.
 */
static const struct ana_class_sums *baseline_of(const struct ana_skew_attribution *c,
						uint32_t group, size_t member, int64_t now)
{
	const struct ana_skew_group *g = &c->group[group];
	const struct ana_baselines *s = &g->baselines[member];

	if (g->even && (!s->older.known || now - g->even_at <= EVEN_STEPS * c->step_ns))
		return &s->even;
	if (s->older.known)
		return &s->older;
	return s->last.known ? &s->last
			     : &c->row[c->groups->group[group].gpu[member]].recent_waits->recent;
}

void ana_skew_causes_excess(const struct ana_skew_attribution *c, uint32_t group,
			    const struct ana_skew_member *a, const struct ana_skew_member *b,
			    int64_t out[ANA_CLASSES])
{
	int64_t now = a->arrival->common_start;
	const struct ana_class_sums *x = baseline_of(c, group, a->at, now);
	const struct ana_class_sums *y = baseline_of(c, group, b->at, now);
	int k;

	for (k = 0; k < ANA_CLASSES; k++) {
		int64_t own = a->arrival->cum_start[k] - x->cum[k];
		int64_t other = b->arrival->cum_start[k] - y->cum[k];

		own = own > 0 ? own : 0;
		other = other > 0 ? other : 0;
		out[k] = own > other ? own - other : 0;
	}
}

void ana_skew_causes_of_pair(const struct ana_skew_attribution *c, uint32_t late, uint32_t waiting,
			     int64_t ns, struct ana_skew_shares *s)
{
	ana_paths_compare(c->paths, late, waiting, s);
	if (s->total < ns)
		add_share(s, ANA_NOBODY, ANA_COMM, ns - (int64_t)s->total);
}

void ana_skew_causes_find(const struct ana_skew_attribution *c, uint32_t group,
			  const struct ana_skew_member *late, const struct ana_skew_member *waiting,
			  struct ana_skew_shares *s)
{
	const struct ana_class_sums *base =
		baseline_of(c, group, late->at, late->arrival->common_start);
	uint32_t gpu = late->arrival->gpu;
	int64_t more[ANA_CLASSES], left;
	int k;

	s->count = 0;
	s->total = 0;
	ana_skew_causes_excess(c, group, late, waiting, more);
	for (k = 0; k < ANA_CLASSES; k++)
		if (k != ANA_COMM)
			add_share(s, gpu, k, more[k]);
	left = more[ANA_COMM];
	if (left)
		left -= add_chain(c, s, gpu, base->known ? base->t : INT64_MIN, left);
	if (left || !s->total) /* it was in a collective itself, and why is not known */
		add_share(s, ANA_NOBODY, ANA_COMM, left ? left : 1);
}
