/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of the fleet for spreadsheets, the bill unless --by names another. Dollars are exact
 * decimals. What a spreadsheet would take for a formula gets an apostrophe in front.
 */
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

static void put_dim(const struct fleet *f, FILE *out, enum fleet_dim d)
{
	static const enum fleet_measure plain[] = { FLEET_HELD_NS,     FLEET_BUSY_NS,
						    FLEET_WASTED_NS,   FLEET_STARVED_NS,
						    FLEET_UNPRICED_NS, FLEET_FAILED_RUNS };
	const struct fleet_table *t = &f->dim[d];

	fprintf(out,
		"%s,runs,gpu_hours,usd,wasted_usd,starved_usd,held_ns,busy_ns,wasted_ns,"
		"starved_ns,unpriced_ns,failed_runs,failed_usd,idle_minutes,spot_ns,idle_usd,"
		"minutes_60_80,spot_usd\r\n",
		fleet_dim_names[d]);
	for (size_t i = 0; i < t->groups; i++) {
		const base_wide *m = t->group[i].sums.m;
		put(out, fleet_shown(t->group[i].key[0]), ",");
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
		put_usd(out, m[FLEET_SPOT_USD], "\r\n");
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

static void put_failed(const struct fleet *f, FILE *out)
{
	fputs("run,team,user,project,end,exit_status,start_unix_ns,gpu_hours,usd\r\n", out);
	for (size_t i = 0; i < f->failed.runs; i++) {
		const struct fleet_run *r = &f->failed.run[i];
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

void fleet_write_csv(const struct fleet *f, FILE *out)
{
	int by = f->options.by;

	if (by < FLEET_DIMS)
		put_dim(f, out, (enum fleet_dim)by);
	else if (by == FLEET_BY_BILL || by == FLEET_BY_NOTHING)
		put_bill(f, out);
	else if (by == FLEET_BY_FAILED)
		put_failed(f, out);
	else
		put_pairs(f, out, by);
}
