/* SPDX-License-Identifier: Apache-2.0 */
#include "review.h"

#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "lines.h"
#include "rollup.h"

static const enum fleet_measure measured[] = { FLEET_HELD_NS, FLEET_UNPRICED_NS, FLEET_USD,
					       FLEET_WASTED_NS, FLEET_WASTED_USD };
#define MEASURED (sizeof(measured) / sizeof(measured[0]))

struct line { /* what of one is needed once the months are known */
	uint32_t team; /* in teams */
	int64_t start_ns, wall_ns;
	base_wide whole[MEASURED];
};

struct reviewing {
	struct fleet_review *r;
	const struct fleet_query *q;
	struct fleet_table teams, runs;
	struct line *line;
	size_t lines, room;
	struct fleet_review_run *run; /* of each group of runs */
	size_t known, run_room;
	int64_t end_ns; /* of the last run, within the query */
};

/* --- the lines --- */

static void add_run(struct reviewing *v, const struct fleet_line_row *l)
{
	const char *const key[] = { l->tenant, l->run };
	const struct fleet_group *g = fleet_table_at(&v->runs, 2, key);
	size_t i = (size_t)(g - v->runs.group);

	v->run = fleet_widened(v->run, i, &v->run_room, sizeof(*v->run));
	if (i == v->known)
		v->run[v->known++] = (struct fleet_review_run){
			.id = base_arena_text(&v->r->mem, l->run),
			.user = base_arena_text(&v->r->mem, l->name[FLEET_DIM_USER]),
			.team = base_arena_text(&v->r->mem, l->name[FLEET_DIM_TEAM]),
			.end = base_arena_text(&v->r->mem, l->end),
			.start_ns = l->start_ns,
		};
	v->run[i].held_ns += l->sums.m[FLEET_HELD_NS];
	v->run[i].wasted_ns += l->sums.m[FLEET_WASTED_NS];
	v->run[i].unpriced_ns += l->sums.m[FLEET_UNPRICED_NS];
	v->run[i].usd += l->sums.m[FLEET_USD];
	v->run[i].wasted_usd += l->sums.m[FLEET_WASTED_USD];
}

static void on_line(void *arg, const struct fleet_line_row *l)
{
	struct reviewing *v = arg;
	const struct fleet_group *g = fleet_table_at(&v->teams, 1, &l->name[FLEET_DIM_TEAM]);

	v->line = fleet_widened(v->line, v->lines, &v->room, sizeof(*v->line));
	v->line[v->lines] = (struct line){ .team = (uint32_t)(g - v->teams.group),
					   .start_ns = l->start_ns,
					   .wall_ns = l->wall_ns };
	for (size_t i = 0; i < MEASURED; i++)
		v->line[v->lines].whole[i] = l->sums.m[measured[i]];
	v->lines++;
	v->end_ns = base_max(v->end_ns, fleet_line_end(l, v->q->until_ns));
	if (l->start_ns >= v->q->since_ns && l->sums.m[FLEET_WASTED_NS])
		add_run(v, l);
}

/* --- the months --- */

static void set_months(struct reviewing *v)
{
	struct fleet_review *r = v->r;
	int64_t before = fleet_month_begin(v->end_ns - 1, -1);
	int64_t since = fleet_month_begin(v->end_ns - 1, 0);
	int64_t next = fleet_month_begin(v->end_ns - 1, 1);
	/* what was asked for may end after the last run */
	int64_t until = v->q->until_ns < INT64_MAX ? base_min(v->q->until_ns, next) : v->end_ns;

	r->is_whole = until == next;
	r->since_ns[FLEET_REVIEW_LAST] = since;
	r->until_ns[FLEET_REVIEW_LAST] = until;
	r->since_ns[FLEET_REVIEW_BEFORE] = before;
	r->until_ns[FLEET_REVIEW_BEFORE] =
		r->is_whole ? since : base_min(since, before + (until - since));
}

/* What of it lies there; false: nothing. */
static bool cut(const struct line *l, int64_t since, int64_t until, struct fleet_sums *part)
{
	*part = (struct fleet_sums){ 0 };
	for (size_t i = 0; i < MEASURED; i++)
		part->m[measured[i]] =
			fleet_part(l->whole[i], l->start_ns, l->wall_ns, since, until);
	return part->m[FLEET_HELD_NS] > 0;
}

static void add_line(struct reviewing *v, const struct line *l)
{
	struct fleet_review *r = v->r;
	struct fleet_sums part[FLEET_REVIEW_MONTHS];
	bool any = false;

	for (int m = 0; m < FLEET_REVIEW_MONTHS; m++)
		any |= cut(l, r->since_ns[m], r->until_ns[m], &part[m]);
	for (int m = 0; m < FLEET_REVIEW_MONTHS && any; m++) {
		const char *const *key = v->teams.group[l->team].key;

		fleet_sums_add(&fleet_table_at(&r->team[m], 1, key)->sums, &part[m]);
		fleet_sums_add(&r->total[m], &part[m]);
	}
}

/* --- in the order in which they are shown --- */

/* The month before has the groups of the last one, in their order. */
static void sort_teams(struct fleet_review *r)
{
	struct fleet_table sorted = { 0 };

	fleet_table_sort(&r->team[FLEET_REVIEW_LAST]);
	for (size_t i = 0; i < r->team[FLEET_REVIEW_LAST].groups; i++) {
		const char *const *key = r->team[FLEET_REVIEW_LAST].group[i].key;

		fleet_table_at(&sorted, 1, key)->sums =
			fleet_table_at(&r->team[FLEET_REVIEW_BEFORE], 1, key)->sums;
	}
	fleet_table_fini(&r->team[FLEET_REVIEW_BEFORE]);
	r->team[FLEET_REVIEW_BEFORE] = sorted;
}

static int by_idle(const void *a, const void *b)
{
	static const enum fleet_measure order[] = { FLEET_IDLE_USD, FLEET_MINUTES_IDLE };
	const struct fleet_group *x = a, *y = b;

	for (int i = 0; i < 2; i++) {
		base_wide p = x->sums.m[order[i]], q = y->sums.m[order[i]];

		if (p != q)
			return p > q ? -1 : 1;
	}
	return strcmp(x->key[0], y->key[0]);
}

static void find_idle(struct fleet_review *r, const struct fleet_table *users)
{
	for (size_t i = 0; i < users->groups; i++)
		if (users->group[i].sums.m[FLEET_MINUTES_IDLE])
			fleet_table_at(&r->idle, 1, users->group[i].key)->sums =
				users->group[i].sums;
	if (r->idle.groups)
		qsort(r->idle.group, r->idle.groups, sizeof(*r->idle.group), by_idle);
}

static int by_waste(const void *a, const void *b)
{
	const struct fleet_review_run *x = a, *y = b;

	if (x->wasted_usd != y->wasted_usd)
		return x->wasted_usd > y->wasted_usd ? -1 : 1;
	if (x->wasted_ns != y->wasted_ns)
		return x->wasted_ns > y->wasted_ns ? -1 : 1;
	return x->start_ns != y->start_ns ? (x->start_ns < y->start_ns ? -1 : 1)
					  : strcmp(x->id, y->id);
}

int fleet_review_collect(struct fleet_review *r, struct fleet_store *s, const struct fleet_query *q,
			 const struct fleet_table *users)
{
	struct reviewing v = { .r = r, .q = q };
	struct fleet_query all = *q;
	int err;

	all.since_ns = INT64_MIN; /* of the month before */
	err = fleet_each_line(s, &all, on_line, &v);
	if (!err && v.lines) {
		set_months(&v);
		for (size_t i = 0; i < v.lines; i++)
			add_line(&v, &v.line[i]);
	}
	sort_teams(r);
	find_idle(r, users);
	r->run = v.run;
	r->runs = v.runs.groups;
	if (r->runs)
		qsort(r->run, r->runs, sizeof(*r->run), by_waste);
	free(v.line);
	fleet_table_fini(&v.teams);
	fleet_table_fini(&v.runs);
	return err;
}

bool fleet_review_fits(const struct fleet_review *r)
{
	bool fits = true;

	for (int m = 0; m < FLEET_REVIEW_MONTHS; m++)
		fits = fits && fleet_sums_fit(&r->total[m]) && fleet_table_fits(&r->team[m]);
	return fits;
}

void fleet_review_fini(struct fleet_review *r)
{
	for (int m = 0; m < FLEET_REVIEW_MONTHS; m++)
		fleet_table_fini(&r->team[m]);
	fleet_table_fini(&r->idle);
	free(r->run);
	base_arena_fini(&r->mem);
}
