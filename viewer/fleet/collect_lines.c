/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wanted of runs one by one: those that cross a bound, months, and units of the groups of a
 * table.
 */
#include "collect_lines.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "hours.h"
#include "lines.h"

static void add_to_month(struct fleet *f, const char *month, const struct fleet_sums *part)
{
	fleet_sums_add(&fleet_table_at(&f->cut, 1, &month)->sums, part);
	fleet_sums_add(&f->cut_total, part);
}

static void on_month(void *arg, const struct fleet_line_row *l, const char *month,
		     const struct fleet_sums *part, int64_t from_ns, int64_t to_ns)
{
	(void)l;
	(void)from_ns;
	(void)to_ns;
	add_to_month(arg, month, part);
}

static void on_line_month(void *arg, const struct fleet_line_row *l)
{
	const struct fleet *f = arg;

	fleet_each_month(l, f->options.query.since_ns, f->options.query.until_ns, on_month, arg);
}

/* Of lines that lie in one alone. */
static void on_months(void *arg, const struct fleet_cell *cell)
{
	struct fleet_sums sums;
	char month[16];

	fleet_month_name(month, (int64_t)cell[0].i);
	for (int m = 0; m < FLEET_MEASURES; m++)
		sums.m[m] = cell[1 + m].i;
	add_to_month(arg, month, &sums);
}

int fleet_collect_months(struct fleet *f, struct fleet_store *s)
{
	const struct fleet_query *q = &f->options.query;
	int err = fleet_store_read(s, FLEET_VIEW_MONTHS, q, on_months, f);

	f->has_months = !err;
	if (err)
		return err == -ENOTSUP ? 0 : err;
	return fleet_each_over(s, q, on_line_month, f);
}

/* Of interactive ones: what is overnight and at weekends, by user or by when. */
static void on_line_hours(void *arg, const struct fleet_line_row *l)
{
	struct fleet *f = arg;
	const struct fleet_query *q = &f->options.query;
	bool by_user = f->options.by == FLEET_BY_OFF_HOURS, has[FLEET_WHENS];
	struct fleet_sums part[FLEET_WHENS];

	if (!fleet_hours_of(l, q->since_ns, q->until_ns, part, has))
		return;
	if (by_user) { /* one part, in which the run counts once */
		has[FLEET_WHEN_DAY] = false;
		fleet_sums_add(&part[FLEET_WHEN_NIGHT], &part[FLEET_WHEN_WEEKEND]);
		fleet_line_count(&part[FLEET_WHEN_NIGHT], l);
		has[FLEET_WHEN_NIGHT] |= has[FLEET_WHEN_WEEKEND];
		has[FLEET_WHEN_WEEKEND] = false;
	}
	for (int w = 0; w < FLEET_WHENS; w++) {
		const char *key = by_user ? l->name[FLEET_DIM_USER] : fleet_when_names[w];

		if (!has[w])
			continue;
		fleet_sums_add(&fleet_table_at(&f->cut, 1, &key)->sums, &part[w]);
		fleet_sums_add(&f->cut_total, &part[w]);
	}
}

static void on_line_cut(void *arg, const struct fleet_line_row *l)
{
	const struct fleet *f = arg;

	if (f->options.by == FLEET_BY_MONTH)
		on_line_month(arg, l);
	else
		on_line_hours(arg, l);
}

/* --- over a bound --- */

static void add_to_tables(struct fleet *f, const struct fleet_line_row *l,
			  const struct fleet_sums *part)
{
	const char *key[FLEET_BILL_DIMS];

	for (int d = 0; d < FLEET_DIMS; d++) {
		const char *name = fleet_line_name(l, (enum fleet_dim)d);

		if (d != FLEET_DIM_LABEL || f->options.query.label)
			fleet_sums_add(&fleet_table_at(&f->dim[d], 1, &name)->sums, part);
	}
	for (int i = 0; i < FLEET_BILL_DIMS; i++)
		key[i] = fleet_line_name(l, fleet_bill_dims[i]);
	fleet_sums_add(&fleet_table_at(&f->bill_groups, FLEET_BILL_DIMS, key)->sums, part);
	fleet_sums_add(&f->total, part);
}

static void add_to_rates(struct fleet *f, const struct fleet_line_row *l,
			 const struct fleet_sums *part)
{
	char price[24];
	const char *const key[] = { l->gpu, l->model, l->price, l->source, price };
	struct fleet_group *g;

	if (!l->priced)
		return;
	snprintf(price, sizeof(price), "%" PRId64, l->per_hour);
	g = fleet_rate_at(f, key, l->date);
	g->sums.m[FLEET_HELD_NS] += part->m[FLEET_HELD_NS];
	g->sums.m[FLEET_USD] += part->m[FLEET_USD];
}

/*
 * One that began in the stretch is there whole already: what lies behind its end is taken off. One
 * that began before is not there at all.
 */
static void on_crossing(void *arg, const struct fleet_line_row *l)
{
	struct fleet *f = arg;
	const struct fleet_query *q = &f->options.query;
	struct fleet_sums part;

	fleet_line_cut(&part, l, q->since_ns, q->until_ns);
	if (l->start_ns >= q->since_ns)
		for (int m = 0; m < FLEET_MEASURES; m++)
			part.m[m] -= l->sums.m[m];
	add_to_tables(f, l, &part);
	add_to_rates(f, l, &part);
	if (f->has_months && !fleet_line_is_over(l)) {
		char month[16];
		int64_t next;

		fleet_month(month, l->start_ns, &next);
		add_to_month(f, month, &part);
	}
}

int fleet_collect_crossing(struct fleet *f, struct fleet_store *s)
{
	return fleet_each_crossing(s, &f->options.query, on_crossing, f);
}

/* --- what a table wants --- */

/* A run of several GPUs at once is of the group of its first line, as its number is. */
static void on_line_unit(void *arg, const struct fleet_line_row *l)
{
	struct fleet *f = arg;
	struct fleet_unit unit[VIEW_OUTCOMES_MAX];
	enum fleet_dim by = (enum fleet_dim)f->options.by;
	const char *key = fleet_line_name(l, by);
	struct fleet_group *g;
	size_t n;

	if (!l->first)
		return;
	g = fleet_table_at(&f->dim[by], 1, &key);
	if (!g->units)
		g->units = base_arena_array(&f->mem, 1, sizeof(*g->units));
	n = fleet_units_of(l->units, unit);
	f->has_units |= n > 0;
	fleet_unit_sums_add(g->units, &f->mem, l->run_priced ? l->run_usd : -1, unit, n);
}

/* The same summed up by the store. */
static void on_unit(void *arg, const struct fleet_cell *cell)
{
	enum {
		NAME,
		UNIT,
		USD,
		COUNT,
		RUNS,
		AT_LEAST,
		AT_MOST,
		TOLD
	};
	struct fleet *f = arg;
	const char *key = cell[NAME].text;
	const struct fleet_unit_sum sum = { .name = cell[UNIT].text,
					    .count = cell[COUNT].i,
					    .usd = cell[USD].i,
					    .runs = cell[RUNS].i,
					    .at_least = cell[AT_LEAST].i,
					    .at_most = cell[AT_MOST].i };
	struct fleet_group *g = fleet_table_at(&f->dim[f->options.by], 1, &key);

	if (!g->units)
		g->units = base_arena_array(&f->mem, 1, sizeof(*g->units));
	if (sum.name[0]) {
		fleet_unit_sums_take(g->units, &f->mem, &sum);
		return;
	}
	g->units->usd += sum.usd;
	f->has_units |= cell[TOLD].i > 0;
}

static int collect_units(struct fleet *f, struct fleet_store *s)
{
	struct fleet_query q = f->options.query;
	struct fleet_table *t = &f->dim[f->options.by];

	q.units_of = (enum fleet_dim)f->options.by;
	int err = fleet_store_read(s, FLEET_VIEW_UNITS, &q, on_unit, f);
	bool by_line = err == -ENOTSUP;
	if (by_line)
		err = fleet_each_line(s, &q, on_line_unit, f);
	for (size_t i = 0; i < t->groups; i++) {
		if (!t->group[i].units)
			continue;
		if (!by_line)
			fleet_unit_sums_close(t->group[i].units);
		fleet_unit_sums_sort(t->group[i].units);
	}
	return err;
}

int fleet_collect_lines(struct fleet *f, struct fleet_store *s)
{
	struct fleet_query all = f->options.query;

	if (f->has_months)
		return 0;
	if (fleet_is_cut(f->options.by)) {
		if (f->options.by != FLEET_BY_MONTH)
			all.kind = facts_run_kinds[FACTS_RUN_INTERACTIVE];
		all.since_ns = INT64_MIN; /* those that began before may reach into it */
		return fleet_each_line(s, &all, on_line_cut, f);
	}
	if (f->options.by < FLEET_DIMS)
		return collect_units(f, s);
	return 0;
}
