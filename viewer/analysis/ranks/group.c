/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "all_to_all.h"
#include "base/vec.h"
#include "told_kin.h"
#include "wire/keyed_hash.h"

#define TRIAL 20000u /* collectives that a tolerance is tried on, times GPUs up to a bound */
#define TRIAL_MAX 400000u
#define LEAST 2u /* times that a set must have been seen */
#define PARTIAL 50u /* a set seen so much less often than a larger one lacks some of its members */
#define TIGHT_NS 200
#define MEMBERS_MAX 4096u /* of a group */

struct learner {
	struct ana_groups *g;
	struct ana_match match;
	uint32_t *lane; /* of the cluster at hand */
	uint64_t seen;
};

static uint64_t hash_of(const uint32_t *lane, size_t n)
{
	const struct wire_secret secret = wire_secret();

	return wire_keyed_hash(lane, n * sizeof(*lane), &secret);
}

static struct ana_set *find_set(const struct ana_groups *g, const uint32_t *lane, size_t n)
{
	uint32_t i = ana_map_get(&g->set_of, hash_of(lane, n));

	if (i == ANA_MAP_NONE || g->set[i].lanes != n ||
	    memcmp(g->set[i].lane, lane, n * sizeof(*lane)) != 0)
		return NULL;
	return &g->set[i];
}

static struct ana_set *new_set(struct ana_groups *g, const uint32_t *lane, size_t n)
{
	uint32_t room = g->set_room ? g->set_room * 2 : 64;
	struct ana_set *p;

	if (g->sets == ANA_SETS_MAX)
		return NULL;
	if (g->sets == g->set_room) {
		p = reallocarray(g->set, room, sizeof(*p));
		if (!p)
			goto no_memory;
		g->set = p;
		g->set_room = room;
	}
	p = &g->set[g->sets];
	*p = (struct ana_set){ .lanes = (uint32_t)n };
	p->lane = malloc(n * sizeof(*lane));
	if (!p->lane)
		goto no_memory;
	memcpy(p->lane, lane, n * sizeof(*lane));
	if (ana_map_get(&g->set_of, hash_of(lane, n)) == ANA_MAP_NONE &&
	    ana_map_put(&g->set_of, hash_of(lane, n), g->sets)) {
		free(p->lane);
		goto no_memory;
	}
	g->sets++;
	return p;
no_memory:
	g->err = -ENOMEM;
	return NULL;
}

static void see(void *arg, struct ana_arrival *const *member, size_t n)
{
	struct learner *l = arg;
	struct ana_groups *g = l->g;
	int64_t spread = member[n - 1]->common_end - member[0]->common_end;
	struct ana_set *s;
	size_t i;

	l->seen += n;
	for (i = 0; i < n; i++) {
		l->lane[i] = ana_lane_number(g->first_lane, member[i]);
		g->lane_count[l->lane[i]]++;
	}
	if (n < 2)
		return;
	qsort(l->lane, n, sizeof(*l->lane), ana_lanes_compare);
	s = find_set(g, l->lane, n);
	if (!s)
		s = new_set(g, l->lane, n);
	if (!s)
		return;
	s->count++;
	s->spread_ns += spread;
	if (g->first_ns > member[0]->common_end)
		g->first_ns = member[0]->common_end;
	if (g->last_ns < member[n - 1]->common_end)
		g->last_ns = member[n - 1]->common_end;
}

static void forget(struct ana_groups *g)
{
	uint32_t i;

	for (i = 0; i < g->sets; i++)
		free(g->set[i].lane);
	g->sets = 0;
	ana_map_fini(&g->set_of);
	g->set_of = (struct ana_map){ 0 };
	if (g->lane_count)
		memset(g->lane_count, 0, g->lanes * sizeof(*g->lane_count));
	g->first_ns = INT64_MAX;
	g->last_ns = INT64_MIN;
}

/* Collectives, in a thousand, in sets that each of their lanes has a fifth of its own in. */
static uint64_t coverage(const struct ana_groups *g, uint64_t seen)
{
	uint64_t covered = 0;
	uint32_t i, k;

	for (i = 0; i < g->sets; i++) {
		const struct ana_set *s = &g->set[i];
		bool often = s->count >= LEAST;

		for (k = 0; k < s->lanes; k++)
			often &= s->count * 5 >= g->lane_count[s->lane[k]];
		covered += often ? s->count * s->lanes : 0;
	}
	return seen ? covered * 1000 / seen : 0;
}

static int learn_at(struct learner *l, int64_t tolerance, uint64_t limit)
{
	struct ana_match_user user = { .cluster = see, .arg = l };
	int err;

	forget(l->g);
	l->seen = 0;
	l->match.tolerance_ns = tolerance;
	l->match.limit = limit;
	err = ana_match_collectives(&l->match, &user);
	return err ? err : l->g->err;
}

/* The smallest tolerance that makes what ends together as much the same as any does. */
static int find_tolerance(struct learner *l, int64_t slack)
{
	uint64_t limit = TRIAL * (uint64_t)l->match.logs, cover[ANA_TOLERANCES], most = 0;
	size_t i;
	int err = 0;

	limit = limit > TRIAL_MAX ? TRIAL_MAX : limit;
	for (i = 0; i < ANA_TOLERANCES && !err; i++) {
		err = learn_at(l, ana_tolerance_ns[i] + slack, limit);
		cover[i] = coverage(l->g, l->seen);
		most = cover[i] > most ? cover[i] : most;
		if (cover[i] >= 995)
			break;
	}
	for (i = 0; !err && i < ANA_TOLERANCES; i++)
		if (cover[i] * 100 >= most * 98)
			break;
	l->g->tolerance_ns = ana_tolerance_ns[i < ANA_TOLERANCES ? i : 0] + slack;
	return err;
}

/* --- which sets are groups --- */

static bool has_lane(const struct ana_set *s, uint32_t lane)
{
	return bsearch(&lane, s->lane, s->lanes, sizeof(lane), ana_lanes_compare) != NULL;
}

static bool within(const struct ana_set *small, const struct ana_set *large)
{
	uint32_t i;

	if (small->lanes >= large->lanes)
		return false;
	for (i = 0; i < small->lanes; i++)
		if (!has_lane(large, small->lane[i]))
			return false;
	return true;
}

static bool lacks_members(const struct ana_groups *g, const struct ana_set *s)
{
	uint32_t i;

	for (i = 0; i < g->sets; i++)
		if (g->set[i].count > s->count * PARTIAL && within(s, &g->set[i]))
			return true;
	return false;
}

static bool overlap(const struct ana_set *a, const uint8_t *covered)
{
	uint32_t i;

	for (i = 0; i < a->lanes; i++)
		if (covered[a->lane[i]])
			return true;
	return false;
}

/*
 * Holds accepted smaller sets, which ended together with each other, or with others, by chance:
 * then the ends of the whole lie further apart than those of its parts.
 */
static bool chance(const struct ana_groups *g, const struct ana_set *s, const uint32_t *order,
		   uint32_t before, uint8_t *covered)
{
	uint32_t left = s->lanes, i, k;
	int64_t spread = 0;

	memset(covered, 0, g->lanes);
	for (i = before; i-- > 0 && left;) {
		const struct ana_set *part = &g->set[order[i]];

		if (!part->accepted || !within(part, s) || overlap(part, covered))
			continue;
		for (k = 0; k < part->lanes; k++)
			covered[part->lane[k]] = 1;
		left -= part->lanes;
		spread = part->spread_ns > spread ? part->spread_ns : spread;
	}
	return left < s->lanes && s->spread_ns > 2 * spread + TIGHT_NS;
}

static int by_lanes(const void *a, const void *b, void *arg)
{
	const struct ana_groups *g = arg;
	const struct ana_set *x = &g->set[*(const uint32_t *)a];
	const struct ana_set *y = &g->set[*(const uint32_t *)b];

	if (x->lanes != y->lanes)
		return x->lanes < y->lanes ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return memcmp(x->lane, y->lane, x->lanes * sizeof(*x->lane));
}

static uint32_t gpu_of(const struct ana_groups *g, size_t logs, uint32_t lane)
{
	size_t low = 0, high = logs;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (g->first_lane[mid] <= lane)
			low = mid;
		else
			high = mid;
	}
	return (uint32_t)low;
}

static int add_to_group(struct ana_groups *g, size_t logs, uint32_t set)
{
	struct ana_set *s = &g->set[set];
	uint32_t *gpu = malloc(s->lanes * sizeof(*gpu)), i;
	struct ana_member_set *p;

	if (!gpu)
		return -ENOMEM;
	for (i = 0; i < s->lanes; i++) /* logs ascend as their lanes do */
		gpu[i] = gpu_of(g, logs, s->lane[i]);
	for (i = 0; i < g->groups; i++)
		if (g->group[i].gpus == s->lanes &&
		    !memcmp(g->group[i].gpu, gpu, s->lanes * sizeof(*gpu)))
			break;
	if (!base_vec_more(g->group, i, g->group_room)) {
		free(gpu);
		return -ENOMEM;
	}
	s->group = i;
	p = &g->group[i];
	if (i == g->groups) {
		*p = (struct ana_member_set){ .gpu = gpu, .gpus = s->lanes, .set = set };
		g->groups++;
	} else {
		free(gpu);
	}
	if (s->count > g->set[p->set].count)
		p->set = set;
	p->lane = g->set[p->set].lane[0];
	p->count += s->count;
	return 0;
}

static int accept_sets(struct ana_groups *g, size_t logs)
{
	uint32_t *order = malloc((g->sets + 1) * sizeof(*order)), i;
	uint8_t *covered = malloc(g->lanes + 1u);
	int err = order && covered ? 0 : -ENOMEM;

	for (i = 0; !err && i < g->sets; i++) {
		order[i] = i;
		g->set[i].spread_ns /= (int64_t)g->set[i].count;
	}
	if (!err && g->sets)
		qsort_r(order, g->sets, sizeof(*order), by_lanes, g);
	for (i = 0; !err && i < g->sets; i++) {
		struct ana_set *s = &g->set[order[i]];

		if (!ana_kins_has(&g->kins, s->lane, s->lanes) &&
		    (s->count < LEAST || lacks_members(g, s) || chance(g, s, order, i, covered)))
			continue;
		s->accepted = true;
		err = add_to_group(g, logs, order[i]);
	}
	free(covered);
	free(order);
	return err;
}

/* Accepted sets, most lanes first. */
static int order_sets(struct ana_groups *g)
{
	uint32_t i;

	g->order = malloc((g->sets + 1) * sizeof(*g->order));
	if (!g->order)
		return -ENOMEM;
	for (i = 0, g->ordered = 0; i < g->sets; i++)
		if (g->set[i].accepted)
			g->order[g->ordered++] = i;
	if (g->ordered)
		qsort_r(g->order, g->ordered, sizeof(*g->order), by_lanes, g);
	for (i = 0; i < g->ordered / 2; i++) {
		uint32_t swap = g->order[i];

		g->order[i] = g->order[g->ordered - 1 - i];
		g->order[g->ordered - 1 - i] = swap;
	}
	return 0;
}

/* By lane, the group that it is in most often. */
static int lanes_to_groups(struct ana_groups *g)
{
	uint64_t *most = calloc(g->lanes + 1u, sizeof(*most));
	uint32_t i, k;

	g->lane_group = malloc((g->lanes + 1u) * sizeof(*g->lane_group));
	if (!most || !g->lane_group) {
		free(most);
		return -ENOMEM;
	}
	for (i = 0; i < g->lanes; i++)
		g->lane_group[i] = UINT32_MAX;
	for (i = 0; i < g->ordered; i++) {
		const struct ana_set *s = &g->set[g->order[i]];

		for (k = 0; k < s->lanes; k++) {
			if (s->count <= most[s->lane[k]])
				continue;
			most[s->lane[k]] = s->count;
			g->lane_group[s->lane[k]] = s->group;
		}
	}
	free(most);
	return 0;
}

uint32_t ana_groups_usual(const struct ana_groups *g, const struct ana_arrival *a)
{
	return g->lane_group[ana_lane_number(g->first_lane, a)];
}

static int new_pair(struct ana_groups *g, uint32_t a, uint32_t b, uint32_t lane)
{
	uint32_t *gpu = malloc(2 * sizeof(*gpu));

	if (!gpu || !base_vec_more(g->group, g->groups, g->group_room)) {
		free(gpu);
		return -ENOMEM;
	}
	gpu[0] = a;
	gpu[1] = b;
	g->group[g->groups++] = (struct ana_member_set){
		.gpu = gpu, .gpus = 2, .set = UINT32_MAX, .lane = lane, .sends = true
	};
	return 0;
}

/* A group for every two GPUs that have partners on each other. */
static int pair_up(struct ana_groups *g, size_t logs)
{
	struct ana_map of = { 0 }; /* by both GPUs */
	uint32_t lane, i;
	int err = 0;

	for (lane = 0; lane < g->partners.lanes && !err; lane++) {
		for (i = g->partners.first[lane]; i < g->partners.first[lane + 1] && !err; i++) {
			uint32_t a = gpu_of(g, logs, lane);
			uint32_t b = gpu_of(g, logs, g->partners.list[i].lane);
			uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
			uint32_t group = ana_map_get(&of, key);

			if (group == ANA_MAP_NONE) { /* of two, the first has the lower lane */
				group = g->groups;
				err = new_pair(g, a, b, lane);
				err = err ? err : ana_map_put(&of, key, group);
			}
			g->partners.list[i].group = group;
		}
	}
	ana_map_fini(&of);
	return err;
}

uint32_t ana_groups_of_pair(const struct ana_groups *g, struct ana_arrival *const member[2])
{
	return ana_partners_get(&g->partners, ana_lane_number(g->first_lane, member[0]),
				ana_lane_number(g->first_lane, member[1]))
		->group;
}

static int number_lanes(struct ana_groups *g, struct ana_collective_log *const *log, size_t logs)
{
	size_t i;

	g->first_lane = calloc(logs + 1, sizeof(*g->first_lane));
	if (!g->first_lane)
		return -ENOMEM;
	for (i = 0; i < logs; i++) {
		g->first_lane[i] = g->lanes;
		g->lanes += log[i]->lanes;
	}
	g->lane_count = calloc(g->lanes + 1u, sizeof(*g->lane_count));
	g->key = malloc((g->lanes + 1u) * sizeof(*g->key));
	return g->lane_count && g->key ? ana_lane_keys(g->key, log, logs) : -ENOMEM;
}

int ana_groups_learn(struct ana_groups *g, struct ana_collective_log *const *log, size_t logs,
		     const struct ana_align *align, int64_t slack_ns)
{
	struct learner l = { .g = g, .match = { .log = log, .logs = logs, .align = align } };
	int64_t tolerance;
	int err;

	*g = (struct ana_groups){ 0 };
	l.lane = calloc(logs + 1, sizeof(*l.lane));
	err = l.lane ? number_lanes(g, log, logs) : -ENOMEM;
	if (err)
		goto out;
	l.match.first_lane = g->first_lane;
	l.match.lanes = g->lanes;
	l.match.key = g->key;
	l.match.what = ANA_MATCH_COLLECTIVES;
	err = ana_kins_find(&g->kins, &l.match, 2, slack_ns, &tolerance);
	if (!err)
		err = ana_all_to_alls_find(&g->kins, &l.match, slack_ns);
	l.match.kins = &g->kins;
	if (!err)
		err = find_tolerance(&l, slack_ns);
	if (!err)
		err = learn_at(&l, g->tolerance_ns, 0);
	if (!err)
		err = accept_sets(g, logs);
	if (!err)
		err = order_sets(g);
	if (!err)
		err = lanes_to_groups(g);
	if (!err)
		err = ana_partners_find(&g->partners, &l.match, slack_ns);
	if (!err)
		err = pair_up(g, logs);
out:
	free(l.lane);
	return err;
}

void ana_groups_fini(struct ana_groups *g)
{
	uint32_t i;

	forget(g);
	for (i = 0; i < g->groups; i++)
		free(g->group[i].gpu);
	free(g->group);
	free(g->set);
	free(g->first_lane);
	free(g->key);
	free(g->lane_count);
	free(g->order);
	free(g->lane_group);
	ana_kins_fini(&g->kins);
	ana_partners_fini(&g->partners);
	*g = (struct ana_groups){ 0 };
}

/* --- */

static int by_lane(const void *a, const void *b, void *arg)
{
	const struct ana_groups *g = arg;
	uint32_t x = ana_lane_number(g->first_lane, *(struct ana_arrival *const *)a);
	uint32_t y = ana_lane_number(g->first_lane, *(struct ana_arrival *const *)b);

	return x < y ? -1 : x > y;
}

/* Brings the members of @s, which all are there, to the front. */
static size_t to_front(const struct ana_groups *g, const struct ana_set *s,
		       struct ana_arrival **member, size_t n)
{
	size_t i, front = 0;

	for (i = 0; i < n; i++) {
		struct ana_arrival *a = member[i];

		if (!has_lane(s, ana_lane_number(g->first_lane, a)))
			continue;
		memmove(&member[front + 1], &member[front], (i - front) * sizeof(*member));
		member[front++] = a;
	}
	return front;
}

/* Whether @lane is that of one of @member, which are in order. */
static bool is_there(const struct ana_groups *g, uint32_t lane, struct ana_arrival **member,
		     size_t n)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ana_lane_number(g->first_lane, member[mid]) < lane)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && ana_lane_number(g->first_lane, member[low]) == lane;
}

/* Of most sets already the first lane is not: as a rule it costs one look, however many ended. */
static bool all_there(const struct ana_groups *g, const struct ana_set *s,
		      struct ana_arrival **member, size_t n)
{
	uint32_t i;

	if (s->lanes > n)
		return false;
	for (i = 0; i < s->lanes; i++)
		if (!is_there(g, s->lane[i], member, n))
			return false;
	return true;
}

/* All of them, as it nearly always is: one look for a set of just these. */
static bool is_group(const struct ana_groups *g, struct ana_arrival **member, size_t n,
		     uint32_t *group)
{
	uint32_t lane[MEMBERS_MAX], i;
	const struct ana_set *s;

	if (n > MEMBERS_MAX)
		return false;
	for (i = 0; i < n; i++)
		lane[i] = ana_lane_number(g->first_lane, member[i]);
	s = find_set(g, lane, n);
	if (!s || !s->accepted)
		return false;
	*group = s->group;
	return true;
}

size_t ana_groups_take(const struct ana_groups *g, struct ana_arrival **member, size_t n,
		       uint32_t *from, uint32_t *group)
{
	if (n < 2)
		return 0;
	if (!*from) {
		qsort_r(member, n, sizeof(*member), by_lane, (void *)(uintptr_t)g);
		if (is_group(g, member, n, group))
			return n;
	}
	/* A set that was not all there, or was taken, is not later on, with fewer left. */
	while (*from < g->ordered) {
		const struct ana_set *s = &g->set[g->order[(*from)++]];

		if (!all_there(g, s, member, n))
			continue;
		*group = s->group;
		return to_front(g, s, member, n);
	}
	return 0;
}
