/* SPDX-License-Identifier: Apache-2.0 */
#include "spike.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/units.h"

#define WEEK_S (7 * 86400LL)
#define MONDAY_S (4 * 86400LL) /* 1970-01-05 was a Monday */
#define WEEKS_MAX 5000 /* from 1970 to the year 2065 */
/* 5 x 1.4826 in ten-thousandths */
#define SPREAD 74130
#define SPREAD_UNIT 10000

static int by_size(const void *a, const void *b)
{
	const base_wide *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of an even number the lower of the two, which is one of them. */
static base_wide median(base_wide *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return v[(n - 1) / 2];
}

bool fleet_is_spike(const base_wide *week, size_t n, struct fleet_spike *spike)
{
	size_t history = n < FLEET_SPIKE_HISTORY ? n : FLEET_SPIKE_HISTORY;
	base_wide v[FLEET_SPIKE_HISTORY];

	if (history < FLEET_SPIKE_LEAST)
		return false;
	memcpy(v, week + n - history, history * sizeof(*v));
	spike->median_usd = median(v, history);
	for (size_t i = 0; i < history; i++)
		v[i] = base_wide_size(week[n - history + i] - spike->median_usd);
	spike->mad_usd = median(v, history);
	base_wide above = spike->median_usd + spike->mad_usd * SPREAD / SPREAD_UNIT;
	base_wide times = spike->median_usd * 5 / 2;
	spike->limit_usd = above > times ? above : times;
	spike->usd = week[n];
	spike->history = history;
	return spike->median_usd > 0 && week[n] >= times && week[n] > above;
}

/* Weeks since that of 1970-01-05; -1: no date. */
static long week_number(const char *day)
{
	struct tm tm = { 0 };
	const char *end = strptime(day, "%Y-%m-%d", &tm);

	if (!end || *end)
		return -1;
	int64_t at = timegm(&tm) - MONDAY_S;
	return at < 0 || at / WEEK_S >= WEEKS_MAX ? -1 : (long)(at / WEEK_S);
}

struct weeks {
	struct fleet_table all, teams; /* by week; by team and week */
};

static void add_week(struct fleet_group *g, base_wide usd)
{
	g->sums.m[FLEET_USD] += usd;
}

static void on_week(void *arg, const struct fleet_cell *cell)
{
	const char *const key[] = { cell[0].text, cell[1].text };
	struct weeks *w = arg;

	add_week(fleet_table_at(&w->all, 1, &key[1]), cell[2].i);
	add_week(fleet_table_at(&w->teams, 2, key), cell[2].i);
}

static void keep_spike(struct fleet *f, const struct fleet_spike *s, size_t *room)
{
	if (f->spikes == *room) {
		size_t more = *room ? *room * 2 : 8;
		struct fleet_spike *spike = base_arena_array(&f->mem, more, sizeof(*spike));

		if (f->spikes)
			memcpy(spike, f->spike, f->spikes * sizeof(*spike));
		f->spike = spike;
		*room = more;
	}
	f->spike[f->spikes++] = *s;
}

/*
 * @n groups of one team (NULL: of all) in order of their weeks, which are the last of their keys.
 */
static void judge(struct fleet *f, const char *team, const struct fleet_group *g, size_t n,
		  base_wide *week, size_t *room)
{
	long first = -1, last = -1;

	for (size_t i = 0; i < n; i++) {
		long w = week_number(g[i].key[team ? 1 : 0]);
		if (w < 0)
			continue;
		if (first < 0)
			first = last = w;
		while (last < w)
			week[++last - first] = 0;
		week[w - first] = g[i].sums.m[FLEET_USD];
	}
	for (long w = first; w >= 0 && w <= last; w++) {
		int64_t at = (MONDAY_S + w * WEEK_S) * 1000000000LL;
		struct fleet_spike s = { .team = team };
		base_unit day;

		if (at + WEEK_S * 1000000000LL <= f->options.query.since_ns ||
		    !fleet_is_spike(week, (size_t)(w - first), &s))
			continue;
		s.week = base_arena_text(&f->mem, base_day(day, at));
		keep_spike(f, &s, room);
	}
}

static void judge_all(struct fleet *f, struct weeks *w, base_wide *week)
{
	const struct fleet_group *g = w->teams.group;
	size_t room = 0, end;

	fleet_table_sort_names(&w->all);
	fleet_table_sort_names(&w->teams);
	/* With one team the whole says nothing new. */
	if (w->teams.groups != w->all.groups)
		judge(f, NULL, w->all.group, w->all.groups, week, &room);
	for (size_t i = 0; i < w->teams.groups; i = end) {
		for (end = i; end < w->teams.groups && !strcmp(g[end].key[0], g[i].key[0]); end++)
			;
		judge(f, base_arena_text(&f->mem, g[i].key[0]), g + i, end - i, week, &room);
	}
}

int fleet_spikes_find(struct fleet *f, struct fleet_store *s)
{
	base_wide *week = base_arena_array(&f->mem, WEEKS_MAX + 1, sizeof(*week));
	struct weeks w = { 0 };
	int err = fleet_store_read(s, FLEET_VIEW_WEEKS, &f->options.query, on_week, &w);

	if (!err)
		judge_all(f, &w, week);
	fleet_table_fini(&w.all);
	fleet_table_fini(&w.teams);
	return err;
}
