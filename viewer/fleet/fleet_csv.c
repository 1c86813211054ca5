/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of the fleet for spreadsheets, the bill unless --by names another. Dollars are exact
 * decimals. What a spreadsheet would take for a formula gets an apostrophe in front.
 */
#include <string.h>
#include <strings.h>
#include "base/csv.h"
#include "base/units.h"
#include "bill.h"
#include "fleet_out.h"

static void put(FILE *f, const char *text, const char *after)
{
	base_csv_put_guarded(f, text);
	fputs(after, f);
}

static void put_int(FILE *f, base_wide v, const char *after)
{
	base_unit digits;

	fprintf(f, "%s%s", base_wide_text(digits, v), after);
}

static void put_hours(FILE *f, base_wide ns, const char *after)
{
	base_unit hours;

	fprintf(f, "%s%s", base_hours_exact(hours, ns), after);
}

static void put_usd(FILE *f, base_wide nano, const char *after)
{
	base_unit usd;

	fprintf(f, "%s%s", base_dollars_exact(usd, nano), after);
}

/* What any group of the table told; the others have empty cells there. */
static size_t unit_names(const struct fleet_table *t, const char *name[VIEW_OUTCOMES_MAX])
{
	size_t n = 0, k;

	for (size_t i = 0; i < t->groups; i++)
		for (size_t u = 0; t->group[i].units && u < t->group[i].units->sums; u++) {
			const char *is = t->group[i].units->sum[u].name;

			for (k = 0; k < n && strcmp(name[k], is) != 0; k++)
				;
			if (k == n && n < VIEW_OUTCOMES_MAX)
				name[n++] = is;
		}
	return n;
}

static void put_unit(const struct fleet_group *g, const char *name, FILE *out)
{
	for (size_t u = 0; g->units && u < g->units->sums; u++) {
		const struct fleet_unit_sum *s = &g->units->sum[u];

		if (strcmp(s->name, name) != 0)
			continue;
		fputc(',', out);
		put_int(out, s->count, ",");
		if (fleet_unit_usd(s) >= 0)
			put_usd(out, fleet_unit_usd(s), "");
		fprintf(out, ",%s", fleet_unit_bound_name(s));
		return;
	}
	fputs(",,,", out);
}

static void put_dim(const struct fleet *f, FILE *out, int d)
{
	static const enum fleet_measure plain[] = { FLEET_HELD_NS,     FLEET_BUSY_NS,
						    FLEET_WASTED_NS,   FLEET_STARVED_NS,
						    FLEET_UNPRICED_NS, FLEET_FAILED_RUNS };
	const struct fleet_table *t = fleet_table_of(f, d);
	const char *unit[VIEW_OUTCOMES_MAX];
	size_t units = unit_names(t, unit);
	char metric[VIEW_UNIT_METRIC];

	fprintf(out,
		"%s,runs,gpu_hours,usd,wasted_usd,starved_usd,held_ns,busy_ns,wasted_ns,"
		"starved_ns,unpriced_ns,failed_runs,failed_usd,idle_minutes,spot_ns,idle_usd,"
		"minutes_60_80,spot_usd",
		fleet_by_name(d));
	for (size_t u = 0; u < units; u++)
		fprintf(out, ",%s,%s,%s_bound", unit[u], view_unit_metric(metric, unit[u]),
			unit[u]);
	fputs("\r\n", out);
	for (size_t i = 0; i < t->groups; i++) {
		const base_wide *m = t->group[i].sums.m;
		put(out, fleet_shown_by(t->group[i].key[0], d), ",");
		put_int(out, m[FLEET_RUNS], ",");
		put_hours(out, m[FLEET_HELD_NS], ",");
		put_usd(out, m[FLEET_USD], ",");
		put_usd(out, m[FLEET_WASTED_USD], ",");
		put_usd(out, m[FLEET_STARVED_USD], ",");
		for (size_t k = 0; k < sizeof(plain) / sizeof(plain[0]); k++)
			put_int(out, m[plain[k]], ",");
		put_usd(out, m[FLEET_FAILED_USD], ",");
		put_int(out, m[FLEET_MINUTES_IDLE], ",");
		put_int(out, m[FLEET_SPOT_NS], ",");
		put_usd(out, m[FLEET_IDLE_USD], ",");
		put_int(out, m[FLEET_MINUTES_60_80], ",");
		put_usd(out, m[FLEET_SPOT_USD], "");
		for (size_t u = 0; u < units; u++)
			put_unit(&t->group[i], unit[u], out);
		fputs("\r\n", out);
	}
}

static void put_pairs(const struct fleet *f, FILE *out, int by)
{
	static const char *const head[] = { "class", "class,place", "id,title,class,place",
					    "kind,precision" };
	const struct fleet_table *t = fleet_table_of(f, by);
	static const int keys_of[] = { 1, 2, 4, 2 };
	int keys = keys_of[by - FLEET_BY_CLASS];

	fprintf(out, "%s,runs,gpu_hours,usd,ns\r\n", head[by - FLEET_BY_CLASS]);
	for (size_t i = 0; i < t->groups; i++) {
		const base_wide *m = t->group[i].sums.m;
		for (int k = 0; k < keys; k++)
			put(out, t->group[i].key[k], ",");
		put_int(out, m[FLEET_RUNS], ",");
		put_hours(out, m[FLEET_HELD_NS], ",");
		put_usd(out, m[FLEET_USD], ",");
		put_int(out, m[FLEET_HELD_NS], "\r\n");
	}
}

static void put_runs(const struct fleet_runs *list, FILE *out)
{
	fputs("run,team,user,project,end,exit_status,start_unix_ns,gpu_hours,usd\r\n", out);
	for (size_t i = 0; i < list->runs; i++) {
		const struct fleet_run *r = &list->run[i];
		put(out, r->id, ",");
		put(out, fleet_shown(r->team), ",");
		put(out, fleet_shown(r->user), ",");
		put(out, fleet_shown(r->project), ",");
		put(out, r->end, ",");
		put(out, r->exit, ",");
		put_int(out, r->start_ns, ",");
		put_hours(out, r->held_ns, ",");
		if (r->priced)
			put_usd(out, r->usd, "");
		fputs("\r\n", out);
	}
}

/* Cents close to the total, which is the last line. */
static void put_bill(const struct fleet *f, FILE *out)
{
	const struct fleet_bill *b = &f->bill;
	base_unit usd;

	fputs("team,project,user,gpu,price_model,runs,gpu_hours,usd\r\n", out);
	for (size_t i = 0; i < b->lines; i++) {
		const struct fleet_group *g = b->line[i].group;

		for (int k = 0; k < 5; k++)
			put(out,
			    fleet_group_name(&(struct fleet_group){ .key = { g->key[k] } },
					     k == 4 ? (int)FLEET_DIM_MODEL : 0, NULL),
			    ",");
		put_int(out, g->sums.m[FLEET_RUNS], ",");
		put_hours(out, g->sums.m[FLEET_HELD_NS], ",");
		fprintf(out, "%s\r\n",
			g->key[4][0] ? base_cents_of(usd, b->line[i].cents) + 1 : "");
	}
	fputs("total,,,,,", out);
	put_int(out, f->total.m[FLEET_RUNS], ",");
	put_hours(out, f->total.m[FLEET_HELD_NS], ",");
	fprintf(out, "%s\r\n", base_cents_of(usd, b->total_cents) + 1);
}

static bool is_whole(const struct fleet *f)
{
	return f->options.by == FLEET_BY_NOTHING &&
	       (f->whole.allocated.asked || f->whole.invoice.asked);
}

/* An invoice has its own, and a plan is in dollars, as savings are. */
bool fleet_csv_is_converted(const struct fleet *f)
{
	return f->converted && f->options.by != FLEET_BY_PLAN &&
	       f->options.by != FLEET_BY_SAVINGS &&
	       (!is_whole(f) || !strcasecmp(f->whole.invoice.currency, f->options.currency->code));
}

void fleet_write_csv(const struct fleet *f, FILE *out)
{
	int by = f->options.by;

	if (is_whole(f))
		fleet_whole_csv(&f->whole, out);
	else if (by < FLEET_DIMS || fleet_is_cut(by))
		put_dim(f, out, by);
	else if (by == FLEET_BY_LOST)
		fleet_lost_csv(f, out);
	else if (by == FLEET_BY_UNUSED)
		fleet_vacant_csv(f, out);
	else if (by == FLEET_BY_PLAN)
		fleet_plan_csv(&f->plan, out);
	else if (by == FLEET_BY_SAVINGS)
		fleet_savings_csv(&f->savings, out);
	else if (by == FLEET_BY_REVIEW)
		fleet_review_csv(f, out);
	else if (by == FLEET_BY_RUN)
		put_runs(&f->all, out);
	else if (by == FLEET_BY_BILL || by == FLEET_BY_NOTHING)
		put_bill(f, out);
	else if (by == FLEET_BY_FAILED)
		put_runs(&f->failed, out);
	else
		put_pairs(f, out, by);
}
