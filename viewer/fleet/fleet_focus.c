/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet as FOCUS 1.2 rows: for each run, kind of GPU and month one. BilledCost is 0, as this is
 * an estimate and no invoice; EffectiveCost is in whole cents that sum to the fleet's cost to the
 * cent, x_ExactCost has all digits. What has no price is no charge and has no row. As
 * export/focus.c has it for one run.
 */
#include "fleet_focus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/csv.h"
#include "base/units.h"
#include "core/log.h"
#include "bill.h"
#include "lines.h"

#define NS INT64_C(1000000000)

struct rows {
	const struct fleet_query *q;
	const struct fleet_currency *c; /* NULL: dollars */
	base_wide *usd;
	size_t n, room, at;
	int64_t *cents;
	FILE *out; /* NULL: amounts alone are taken */
	bool failed;
};

static const char head[] =
	"BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,"
	"BillingPeriodStart,ChargeCategory,ChargeClass,ChargeDescription,ChargePeriodEnd,"
	"ChargePeriodStart,ContractedCost,EffectiveCost,InvoiceIssuerName,ListCost,PricingQuantity,"
	"PricingUnit,ProviderName,PublisherName,ServiceCategory,ServiceName,ChargeFrequency,"
	"ConsumedQuantity,ConsumedUnit,ListUnitPrice,PricingCategory,ResourceId,ResourceName,"
	"ResourceType,ServiceSubcategory,x_ExactCost,x_GpuModel,x_PriceDate,x_PriceLabel,"
	"x_PriceSource,x_Project,x_RunId,x_Team,x_User,x_WastedCost";
static const char rate_head[] =
	",x_ExchangeRate,x_ExchangeRateSource,x_ExchangeRateDate,x_ExactCostUsd";

static void put(FILE *f, const char *text)
{
	base_csv_put_guarded(f, text);
	fputc(',', f);
}

static void put_time(FILE *f, int64_t ns)
{
	time_t t = (time_t)(ns / NS);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	put(f, text);
}

static void put_cents(FILE *f, int64_t cents)
{
	fprintf(f, "%lld.%02lld,", (long long)(cents / 100), (long long)(cents % 100));
}

/* In the currency that was chosen. */
static base_wide shown(const struct rows *r, base_wide nano_usd)
{
	return r->c ? fleet_currency_of(r->c, nano_usd) : nano_usd;
}

static void put_nano(FILE *f, base_wide nano, const char *after)
{
	base_unit digits;

	fprintf(f, "%s%s", base_dollars_exact(digits, nano), after);
}

/* The catalogue's labels begin with the provider; a price that somebody gave tells none. */
static void put_provider(FILE *f, const char *label)
{
	char name[64];
	size_t n = strcspn(label, " ");

	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name) - 1), label);
	put(f, !*name || *name == '-' || !strncmp(name, "GPUSTARVE_", 10) ? "unknown" : name);
}

static const char *category(const char *model)
{
	return !strcmp(model, "spot")	    ? "Dynamic"
	       : !strcmp(model, "reserved") ? "Committed"
					    : "Standard";
}

static void put_period(FILE *f, int64_t from_ns)
{
	int64_t next, begin = from_ns / NS;
	time_t t = (time_t)begin;
	char month[16];
	struct tm tm;

	fleet_month(month, from_ns, &next);
	put_time(f, next);
	if (gmtime_r(&t, &tm)) {
		tm = (struct tm){ .tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = 1 };
		begin = (int64_t)timegm(&tm);
	}
	put_time(f, begin * NS);
}

static void put_rate(FILE *f, const struct fleet_currency *c, base_wide usd)
{
	base_unit rate;

	fprintf(f, ",%s,", fleet_currency_rate(rate, c));
	put(f, c->source);
	put(f, c->date);
	put_nano(f, usd, "");
}

static void put_row(struct rows *r, const struct fleet_line_row *l, const struct fleet_sums *part,
		    int64_t from_ns, int64_t to_ns)
{
	const char *account = l->name[FLEET_DIM_ACCOUNT];
	int64_t cents = r->cents[r->at];
	base_unit hours;
	FILE *f = r->out;

	account = account[0] ? account : "unassigned";
	base_hours_exact(hours, part->m[FLEET_HELD_NS]);
	fputs("0.00,", f);
	put(f, account);
	put(f, account);
	fprintf(f, "%s,", r->c ? r->c->code : "USD");
	put_period(f, from_ns);
	fputs("Usage,,", f);
	fputs("estimate by gpustarve,", f);
	put_time(f, to_ns / NS > from_ns / NS ? to_ns : (from_ns / NS + 1) * NS);
	put_time(f, from_ns);
	put_cents(f, cents);
	put_cents(f, cents);
	put_provider(f, l->price);
	put_cents(f, cents);
	fprintf(f, "%s,GPU-Hours,", hours);
	put_provider(f, l->price);
	put_provider(f, l->price);
	fputs("Compute,GPU,Usage-Based,", f);
	fprintf(f, "%s,GPU-Hours,", hours);
	put_nano(f, shown(r, l->per_hour), ",");
	put(f, category(l->model));
	put(f, l->run);
	put(f, l->run);
	fputs("GPU,Virtual Machines,", f);
	put_nano(f, shown(r, part->m[FLEET_USD]), ",");
	put(f, l->gpu);
	put(f, l->date);
	put(f, l->price);
	put(f, l->source);
	put(f, l->name[FLEET_DIM_PROJECT]);
	put(f, l->run);
	put(f, l->name[FLEET_DIM_TEAM]);
	put(f, l->name[FLEET_DIM_USER]);
	put_nano(f, shown(r, part->m[FLEET_WASTED_USD]), "");
	if (r->c)
		put_rate(f, r->c, part->m[FLEET_USD]);
	fputs("\r\n", f);
}

static void take(struct rows *r, base_wide usd)
{
	if (r->n == r->room) {
		size_t room = r->room ? r->room * 2 : 1024;
		base_wide *more = reallocarray(r->usd, room, sizeof(*more));

		r->failed |= !more;
		if (!more)
			return;
		r->usd = more;
		r->room = room;
	}
	r->usd[r->n++] = usd;
}

static void on_month(void *arg, const struct fleet_line_row *l, const char *month,
		     const struct fleet_sums *part, int64_t from_ns, int64_t to_ns)
{
	struct rows *r = arg;

	(void)month;
	if (!r->out)
		take(r, shown(r, part->m[FLEET_USD]));
	else if (r->at < r->n)
		put_row(r, l, part, from_ns, to_ns);
	r->at++;
}

static void on_line(void *arg, const struct fleet_line_row *l)
{
	const struct rows *r = arg;

	if (l->priced)
		fleet_each_month(l, r->q->since_ns, r->q->until_ns, on_month, arg);
}

/* Twice over the store: for the amounts, which close together, and for the rows. */
int fleet_write_focus(struct fleet_store *s, const struct fleet_query *q,
		      const struct fleet_currency *c, FILE *out)
{
	struct fleet_query all = *q;
	struct rows r = { .q = q, .c = c };
	base_wide total = 0;
	int err;

	all.since_ns = INT64_MIN;
	err = fleet_each_line(s, &all, on_line, &r);
	for (size_t i = 0; i < r.n && total <= BASE_WIDE_MAX; i++)
		total += r.usd[i];
	r.cents = calloc(r.n + 1, sizeof(*r.cents));
	if (!err && (r.failed || !r.cents))
		err = -ENOMEM;
	if (!err && total > BASE_WIDE_MAX) {
		view_error("the sums are too large to be shown; narrow them down with --since");
		err = -EOVERFLOW;
	}
	if (!err) {
		fleet_close(r.usd, r.n, base_div_even(total, FLEET_CENT), FLEET_CENT, r.cents);
		fprintf(out, "%s%s\r\n", head, c ? rate_head : "");
		r.out = out;
		r.at = 0;
		err = fleet_each_line(s, &all, on_line, &r);
	}
	free(r.usd);
	free(r.cents);
	return err;
}
