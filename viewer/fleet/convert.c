/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet's dollars in another currency: all sums that are shown, and the bill that closes anew. */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "core/log.h"
#include "bill.h"
#include "currency.h"
#include "fleet_out.h"

struct converting {
	const struct fleet_currency *c;
	bool large; /* something cannot be shown */
};

static const enum fleet_measure money[] = {
#define LINE_NS(symbol, column)
#define LINE_UNPRICED(symbol, column)
#define LINE_MINUTES(symbol, column, band)
#define MEASURE(symbol, column)
#define LINE_USD(symbol, column) FLEET_##symbol,
#include "facts/fleet_lines.def"
	FLEET_FAILED_USD,
	FLEET_SPOT_USD,
};

static void one(struct converting *v, base_wide *usd)
{
	*usd = fleet_currency_of(v->c, *usd);
	v->large |= base_wide_size(*usd) > BASE_WIDE_MAX;
}

static void of_sums(struct converting *v, struct fleet_sums *s)
{
	for (size_t i = 0; i < sizeof(money) / sizeof(money[0]); i++)
		one(v, &s->m[money[i]]);
}

static void of_units(struct converting *v, struct fleet_unit_sums *u)
{
	one(v, &u->usd);
	for (size_t i = 0; i < u->sums; i++) {
		one(v, &u->sum[i].usd);
		one(v, &u->sum[i].untold_usd);
	}
}

static void of_lost(struct converting *v, struct fleet_lost *l)
{
	for (int p = 0; p < FLEET_SAVES_PARTS; p++)
		one(v, &l->usd[p]);
	one(v, &l->undecided_usd);
}

static void of_vacant(struct converting *v, struct fleet_vacant *u)
{
	for (int p = 0; p < ANA_VACANTS; p++)
		one(v, &u->usd[p]);
}

static void of_table(struct converting *v, struct fleet_table *t)
{
	for (size_t i = 0; i < t->groups; i++) {
		of_sums(v, &t->group[i].sums);
		if (t->group[i].units)
			of_units(v, t->group[i].units);
		if (t->group[i].lost)
			of_lost(v, t->group[i].lost);
		if (t->group[i].vacant)
			of_vacant(v, t->group[i].vacant);
	}
}

/* One run's amount has 64 bits. */
static void of_runs(struct converting *v, struct fleet_runs *r)
{
	one(v, &r->usd);
	for (size_t i = 0; i < r->runs; i++) {
		base_wide usd = fleet_currency_of(v->c, r->run[i].usd);

		v->large |= usd > INT64_MAX;
		r->run[i].usd = (int64_t)base_min(usd, (base_wide)INT64_MAX);
	}
}

static void of_spike(struct converting *v, struct fleet_spike *s)
{
	one(v, &s->usd);
	one(v, &s->median_usd);
	one(v, &s->mad_usd);
	one(v, &s->limit_usd);
}

/* A plan is of dollars, and savings stay beside it; a review is of one currency. */
static void of_review(struct converting *v, struct fleet *f)
{
	struct fleet_review *r = &f->review;

	for (int m = 0; m < FLEET_REVIEW_MONTHS; m++) {
		of_table(v, &r->team[m]);
		of_sums(v, &r->total[m]);
	}
	of_table(v, &r->idle);
	for (size_t i = 0; i < r->runs; i++) {
		one(v, &r->run[i].usd);
		one(v, &r->run[i].wasted_usd);
	}
	for (size_t i = 0; i < f->savings.opens; i++)
		one(v, &f->savings.open[i].usd);
	one(v, &f->savings.promised_usd);
	one(v, &f->savings.realised_usd);
}

int fleet_convert(struct fleet *f)
{
	struct fleet_table *const more[] = { &f->classes, &f->hotspots, &f->fixes,	&f->rates,
					     &f->compute, &f->cut,	&f->bill_groups };
	struct fleet_runs *const runs[] = { &f->failed, &f->unlabelled, &f->costly, &f->all };
	struct converting v = { .c = f->options.currency };

	for (int d = 0; d < FLEET_DIMS; d++)
		of_table(&v, &f->dim[d]);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		of_table(&v, more[i]);
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		of_runs(&v, runs[i]);
	for (size_t i = 0; i < f->spikes; i++)
		of_spike(&v, &f->spike[i]);
	if (f->options.by == FLEET_BY_REVIEW)
		of_review(&v, f);
	of_table(&v, &f->lost.users);
	of_table(&v, &f->lost.jobs);
	of_lost(&v, &f->lost.total);
	of_table(&v, &f->vacant.users);
	of_table(&v, &f->vacant.jobs);
	of_vacant(&v, &f->vacant.total);
	of_sums(&v, &f->total);
	of_sums(&v, &f->cut_total);
	of_sums(&v, &f->begun);
	f->converted = true;
	free(f->bill.line);
	f->bill = (struct fleet_bill){ 0 };
	fleet_bill_make(f);
	if (!v.large)
		return 0;
	view_error(
		"the sums are too large to be shown in %s; narrow them down with --team, --since "
		"and --until",
		v.c->code);
	return -EOVERFLOW;
}

static void put_rows(struct base_jsonout *j, const struct fleet *f, int by)
{
	const struct fleet_table *t = fleet_table_of(f, by);
	const struct fleet_sums *total = fleet_total_of(f, by);
	struct base_arena mem = { 0 };
	const int64_t *cents =
		fleet_table_quanta(t, FLEET_USD, total->m[FLEET_USD], FLEET_CENT, &mem);

	base_json_object(j, NULL);
	base_json_string(j, "by", fleet_by_name(by));
	base_json_array(j, "rows");
	for (size_t i = 0; i < t->groups; i++) {
		const char *name = t->group[i].key[0];

		base_json_flat_object(j, NULL);
		base_json_string(j, "name", name[0] ? name : NULL);
		base_json_usd(j, "amount", t->group[i].sums.m[FLEET_USD], true);
		base_json_int(j, "cents", cents[i]);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_end(j);
	base_arena_fini(&mem);
}

/* Amounts of the tables by name; the bill's lines in the order of `bill`. */
void fleet_currency_json(const struct fleet *f, struct base_jsonout *j)
{
	const struct fleet_currency *c = f ? f->options.currency : NULL;
	base_unit rate;

	if (!c) {
		base_json_null(j, "currency");
		return;
	}
	base_json_object(j, "currency");
	base_json_string(j, "code", c->code);
	base_json_number(j, "per_usd", fleet_currency_rate(rate, c));
	base_json_string(j, "source", c->source);
	base_json_string(j, "date", c->date);
	base_json_usd(j, "amount", f->total.m[FLEET_USD], true);
	base_json_usd(j, "wasted_amount", f->total.m[FLEET_WASTED_USD], true);
	base_json_usd(j, "starved_amount", f->total.m[FLEET_STARVED_USD], true);
	base_json_int(j, "total_cents", f->bill.total_cents);
	base_json_flat_array(j, "bill_cents");
	for (size_t i = 0; i < f->bill.lines; i++)
		base_json_int(j, NULL, f->bill.line[i].cents);
	base_json_end(j);
	base_json_array(j, "tables");
	for (int d = 0; d < FLEET_DIMS; d++)
		if (d != FLEET_DIM_LABEL || f->options.query.label)
			put_rows(j, f, d);
	if (fleet_is_cut(f->options.by))
		put_rows(j, f, f->options.by);
	base_json_end(j);
	base_json_end(j);
}
