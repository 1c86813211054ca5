/* SPDX-License-Identifier: Apache-2.0 */
#include "coincidence.h"

#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "base/vec.h"

#define TRIAL_MAX 400000u /* kernels that a tolerance is tried on, ... */
#define LOOKS 8000u /* ... until so many ends have been laid beside others, times GPUs in bounds */
#define LOOKS_MIN 2000000u
#define LOOKS_MAX 8000000u

const int64_t ana_tolerance_ns[ANA_TOLERANCES] = { 5000, 20000, 80000, 320000,
						   ANA_TOLERANCE_MAX_NS };

static uint64_t key_of(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static void count_pair(struct ana_coincidences *c, uint32_t a, uint32_t b, int64_t apart,
		       int64_t most)
{
	uint64_t key = key_of(a, b);
	uint32_t i = ana_map_get(&c->of, key);

	if (i == ANA_MAP_NONE) {
		i = c->pairs;
		if (!base_vec_more(c->pair, i, c->room) || ana_map_put(&c->of, key, i)) {
			c->err = -ENOMEM;
			return;
		}
		c->pair[c->pairs++] =
			(struct ana_coincidence){ (uint32_t)(key >> 32), (uint32_t)key, 0, 0, 0 };
	}
	c->pair[i].together++;
	c->pair[i].apart_ns += (uint64_t)apart;
	c->pair[i].most_ns += (uint64_t)most;
}

static bool see(void *arg, const struct ana_arrival *first, struct ana_arrival *const *near,
		size_t n)
{
	struct ana_coincidences *c = arg;
	const uint32_t *first_lane = c->match->first_lane;
	uint32_t lane = ana_lane_number(first_lane, first);
	size_t i;

	c->seen[lane]++;
	c->all++;
	for (i = 0; i < n; i++)
		count_pair(c, lane, ana_lane_number(first_lane, near[i]),
			   near[i]->common_end - first->common_end,
			   base_min(near[i]->common_end - near[i]->common_start,
				    c->match->tolerance_ns));
	c->looks += (int64_t)n;
	return c->looks < base_clamp((int64_t)c->match->logs * LOOKS, LOOKS_MIN, LOOKS_MAX) &&
	       !c->err;
}

static int by_distance(const void *a, const void *b)
{
	const struct ana_coincidence *x = a, *y = b;
	uint64_t m = ana_coincidence_mean(x), n = ana_coincidence_mean(y);

	if (m != n)
		return m < n ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* In order, and the map as that says. */
static int sort(struct ana_coincidences *c)
{
	uint32_t i;

	if (!c->pairs)
		return 0;
	qsort(c->pair, c->pairs, sizeof(*c->pair), by_distance);
	ana_map_fini(&c->of);
	c->of = (struct ana_map){ 0 };
	for (i = 0; i < c->pairs; i++)
		if (ana_map_put(&c->of, key_of(c->pair[i].a, c->pair[i].b), i))
			return -ENOMEM;
	return 0;
}

int ana_coincidences_count(struct ana_coincidences *c, const struct ana_match *m,
			   int64_t tolerance_ns, unsigned int what)
{
	struct ana_match_user user = { .near = see, .arg = c };
	struct ana_match match = *m;
	int err;

	ana_coincidences_fini(c);
	match.what = what;
	match.limit = m->limit && m->limit < TRIAL_MAX ? m->limit : TRIAL_MAX;
	match.tolerance_ns = tolerance_ns;
	match.kins = NULL;
	c->match = &match;
	c->seen = calloc(m->lanes + 1u, sizeof(*c->seen));
	if (!c->seen)
		return -ENOMEM;
	err = ana_match_collectives(&match, &user);
	c->match = NULL;
	err = err ? err : c->err;
	return err ? err : sort(c);
}

const struct ana_coincidence *ana_coincidences_get(const struct ana_coincidences *c, uint32_t a,
						   uint32_t b)
{
	uint32_t i = ana_map_get(&c->of, key_of(a, b));

	return i == ANA_MAP_NONE ? NULL : &c->pair[i];
}

void ana_coincidences_fini(struct ana_coincidences *c)
{
	free(c->pair);
	free(c->seen);
	ana_map_fini(&c->of);
	*c = (struct ana_coincidences){ 0 };
}
