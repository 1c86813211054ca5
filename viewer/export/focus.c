/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FOCUS 1.2 rows: for each GPU one of its busy and one of its idle time. All mandatory columns,
 * some more that cost tools use, and ours (x_). BilledCost is 0, as this is an estimate and no
 * invoice; joined with the provider's own rows nothing counts twice. EffectiveCost is in whole
 * cents that sum to the run's cost to the cent; x_ExactCost has all digits.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "export.h"
#include "core/log.h"
#include "base/amounts.h"

#define NS INT64_C(1000000000)
#define NANO_PER_CENT INT64_C(10000000)
#define EARLIEST_S INT64_C(946684800) /* 2000: an import whose clock begins at 0 has no dates */

enum state {
	BUSY,
	IDLE,
	STATES
};

struct line {
	size_t gpu;
	enum state state;
	int64_t ns, nano_usd, wasted, starved, cents;
	int cause; /* the largest idle class, -1: none */
	const struct view_rate *rate;
};

struct page {
	struct view_export *x;
	struct view_out *o;
	const struct view_summary *s;
	const struct line *at;
};

/* --- cells --- */

static void put_text(struct page *p, const char *text)
{
	view_out_csv(p->o, text ? text : "");
}

static void put_time(struct page *p, int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[32];
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return;
	put_text(p, text);
}

static int64_t floor_s(int64_t ns)
{
	return ns / NS - (ns % NS < 0);
}

static int64_t start_s(const struct page *p)
{
	return floor_s(p->s->result->gpu[p->at->gpu].held_start_ns);
}

/* The month that a charge begins in, or the one after it. */
static void put_month(struct page *p, int ahead)
{
	time_t t = (time_t)start_s(p);
	struct tm tm;

	if (!gmtime_r(&t, &tm))
		return;
	tm.tm_mon += ahead;
	tm.tm_mday = 1;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	put_time(p, (int64_t)timegm(&tm));
}

static const char *label(const struct page *p, const char *key)
{
	size_t i;

	for (i = 0; i < p->s->labels; i++)
		if (!strcmp(p->s->label[i].key, key))
			return p->s->label[i].value;
	return NULL;
}

static void put_cents(struct page *p)
{
	view_out_printf(p->o, "%lld.%02lld", (long long)(p->at->cents / 100),
			(long long)(p->at->cents % 100));
}

static void put_nano(struct page *p, int64_t nano_usd)
{
	base_unit digits;

	put_text(p, base_dollars_exact(digits, nano_usd));
}

static void put_hours(struct page *p)
{
	base_unit hours;

	put_text(p, base_hours_exact(hours, p->at->ns));
}

/* --- columns --- */

static void billed(struct page *p)
{
	put_text(p, "0.00");
}

static void account_id(struct page *p)
{
	const char *of = label(p, "account");

	if (!of || !*of)
		of = p->s->job.text[VIEW_JOB_ACCOUNT];
	put_text(p, of && *of ? of : "unassigned");
}

static void account_name(struct page *p)
{
	account_id(p);
}

static void currency(struct page *p)
{
	put_text(p, "USD");
}

static void period_end(struct page *p)
{
	put_month(p, 1);
}

static void period_start(struct page *p)
{
	put_month(p, 0);
}

static void category(struct page *p)
{
	put_text(p, "Usage");
}

static void nothing(struct page *p)
{
	(void)p;
}

static void description(struct page *p)
{
	char text[400];

	snprintf(text, sizeof(text), "estimate by gpustarve: %.200s, time in which it %s",
		 p->s->result->gpu[p->at->gpu].name,
		 p->at->state == BUSY ? "worked" : "did not work");
	put_text(p, text);
}

/* Ends are exclusive, and a charge has a length. */
static void charge_end(struct page *p)
{
	int64_t end = floor_s(p->s->result->gpu[p->at->gpu].held_end_ns - 1) + 1;

	put_time(p, end > start_s(p) ? end : start_s(p) + 1);
}

static void charge_start(struct page *p)
{
	put_time(p, start_s(p));
}

/*
 * The catalogue's labels begin with the provider. A price that somebody gave tells none, nor does
 * one that was taken since nobody knows whose machine it was, nor a row that holds everywhere.
 */
static void provider(struct page *p)
{
	const struct view_rate *r = p->at->rate;
	char name[sizeof(r->label)];
	bool told = r->label[0] && r->label[0] != '-' && !r->assumed &&
		    strncmp(r->label, "GPUSTARVE_", 10) && strcmp(r->label, "site file") != 0;

	snprintf(name, sizeof(name), "%s", r->label);
	name[strcspn(name, " ")] = '\0';
	put_text(p, told ? name : "unknown");
}

static void service_category(struct page *p)
{
	put_text(p, "Compute");
}

static void service_name(struct page *p)
{
	put_text(p, "GPU");
}

static void unit(struct page *p)
{
	put_text(p, "GPU-Hours");
}

static void frequency(struct page *p)
{
	put_text(p, "Usage-Based");
}

static void pricing_category(struct page *p)
{
	const char *m = p->at->rate->price_model;

	put_text(p, !strcmp(m, "spot")	     ? "Dynamic"
		    : !strcmp(m, "reserved") ? "Committed"
					     : "Standard");
}

static void unit_price(struct page *p)
{
	put_nano(p, p->at->rate->nano_usd_per_hour);
}

static const struct ana_gpu *gpu(const struct page *p)
{
	return &p->s->result->gpu[p->at->gpu];
}

static void resource_id(struct page *p)
{
	char text[300];

	snprintf(text, sizeof(text), "%.200s/gpu%u", gpu(p)->host, gpu(p)->index);
	put_text(p, gpu(p)->uuid ? gpu(p)->uuid : text);
}

static void resource_name(struct page *p)
{
	char text[300];

	snprintf(text, sizeof(text), "%.200s%sGPU %u", gpu(p)->host, *gpu(p)->host ? " " : "",
		 gpu(p)->index);
	put_text(p, text);
}

static void resource_type(struct page *p)
{
	put_text(p, "GPU");
}

static void subcategory(struct page *p)
{
	put_text(p, "Virtual Machines");
}

/* A JSON object; the cell's quotes double those inside. */
static void tags(struct page *p)
{
	char *text = NULL;
	size_t i, len = 0;
	FILE *f = open_memstream(&text, &len);
	struct view_out json = { .fd = -1 };

	if (!f)
		return;
	json.buffer = malloc(VIEW_OUT_BUFFER);
	for (i = 0; json.buffer && i < p->s->labels; i++) {
		json.len = 0;
		view_out_json(&json, p->s->label[i].key, strlen(p->s->label[i].key));
		view_out_char(&json, ':');
		view_out_json(&json, p->s->label[i].value, strlen(p->s->label[i].value));
		fprintf(f, "%s%.*s", i ? "," : "{", (int)json.len, json.buffer);
	}
	fputs(i ? "}" : "{}", f);
	free(json.buffer);
	if (!fclose(f))
		put_text(p, text);
	free(text);
}

static void our_state(struct page *p)
{
	put_text(p, p->at->state == BUSY ? "Busy" : "Idle");
}

static void our_cause(struct page *p)
{
	if (p->at->cause >= 0)
		put_text(p, ana_class_names[p->at->cause]);
}

static void our_run(struct page *p)
{
	put_text(p, p->s->id);
}

static void our_model(struct page *p)
{
	put_text(p, gpu(p)->name);
}

static void our_exact(struct page *p)
{
	put_nano(p, p->at->nano_usd);
}

static void our_wasted(struct page *p)
{
	put_nano(p, p->at->wasted);
}

static void our_starved(struct page *p)
{
	put_nano(p, p->at->starved);
}

static void our_verdict(struct page *p)
{
	put_text(p, ana_verdict_names[gpu(p)->judgement.verdict]);
}

static void our_source(struct page *p)
{
	put_text(p, p->at->rate->source);
}

static void our_date(struct page *p)
{
	put_text(p, p->at->rate->date);
}

static void our_price(struct page *p)
{
	put_text(p, p->at->rate->label);
}

static void our_simulated(struct page *p)
{
	put_text(p, p->s->result->simulated ? "true" : "false");
}

static const struct {
	const char *name;
	void (*put)(struct page *p);
} columns[] = {
	/* mandatory */
	{ "BilledCost", billed },
	{ "BillingAccountId", account_id },
	{ "BillingAccountName", account_name },
	{ "BillingCurrency", currency },
	{ "BillingPeriodEnd", period_end },
	{ "BillingPeriodStart", period_start },
	{ "ChargeCategory", category },
	{ "ChargeClass", nothing },
	{ "ChargeDescription", description },
	{ "ChargePeriodEnd", charge_end },
	{ "ChargePeriodStart", charge_start },
	{ "ContractedCost", put_cents },
	{ "EffectiveCost", put_cents },
	{ "InvoiceIssuerName", provider },
	{ "ListCost", put_cents },
	{ "PricingQuantity", put_hours },
	{ "PricingUnit", unit },
	{ "ProviderName", provider },
	{ "PublisherName", provider },
	{ "ServiceCategory", service_category },
	{ "ServiceName", service_name },
	/* conditional and recommended */
	{ "ChargeFrequency", frequency },
	{ "ConsumedQuantity", put_hours },
	{ "ConsumedUnit", unit },
	{ "ContractedUnitPrice", unit_price },
	{ "ListUnitPrice", unit_price },
	{ "PricingCategory", pricing_category },
	{ "ResourceId", resource_id },
	{ "ResourceName", resource_name },
	{ "ResourceType", resource_type },
	{ "ServiceSubcategory", subcategory },
	{ "Tags", tags },
	/* ours */
	{ "x_ExactCost", our_exact },
	{ "x_GpuModel", our_model },
	{ "x_GpustarveState", our_state },
	{ "x_GpuVerdict", our_verdict },
	{ "x_IdleCause", our_cause },
	{ "x_PriceDate", our_date },
	{ "x_PriceLabel", our_price },
	{ "x_PriceSource", our_source },
	{ "x_RunId", our_run },
	{ "x_Simulated", our_simulated },
	{ "x_StarvedCost", our_starved },
	{ "x_WastedCost", our_wasted },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* --- rows --- */

static void sum_class(const struct view_summary *s, struct line *l, int c)
{
	const struct ana_gpu *g = &s->result->gpu[l->gpu];
	int64_t usd = s->cost.gpu_class[l->gpu][c];

	l->ns += g->classes[c];
	view_cost_add(&l->nano_usd, usd);
	if (s->waste[c])
		view_cost_add(&l->wasted, usd);
	if (ana_class_is_input(c))
		view_cost_add(&l->starved, usd);
	if (l->state == IDLE && g->classes[c] > (l->cause < 0 ? 0 : g->classes[l->cause]))
		l->cause = c;
}

static void sum_line(const struct view_summary *s, struct line *l, size_t gpu_index,
		     enum state state)
{
	int c;

	*l = (struct line){
		.gpu = gpu_index, .state = state, .cause = -1, .rate = &s->cost.rate[gpu_index]
	};
	for (c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_busy(c) == (state == BUSY))
			sum_class(s, l, c);
}

static int close_cents(const struct view_summary *s, struct line *line, size_t lines)
{
	int64_t *usd = calloc(lines + 1, sizeof(*usd)), *cents = calloc(lines + 1, sizeof(*cents));
	size_t i;
	int err = usd && cents && lines <= INT32_MAX ? 0 : -ENOMEM;

	for (i = 0; !err && i < lines; i++)
		usd[i] = line[i].nano_usd;
	if (!err)
		base_close(usd, (int)lines, base_div_even(s->cost.total, NANO_PER_CENT),
			   NANO_PER_CENT, cents);
	for (i = 0; !err && i < lines; i++)
		line[i].cents = cents[i];
	free(usd);
	free(cents);
	return err;
}

static void put_row(struct page *p)
{
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		if (i)
			view_out_char(p->o, ',');
		columns[i].put(p);
	}
	view_out_text(p->o, "\r\n");
	p->x->rows++;
}

static void put_head(struct view_out *o)
{
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		view_out_printf(o, "%s%s", i ? "," : "", columns[i].name);
	view_out_text(o, "\r\n");
}

/* What these rows cannot do without. */
static bool complete(const struct view_export *x)
{
	const struct view_summary *s = x->summary;
	size_t i;

	if (!s->cost.known) {
		view_error("%s: the price of a GPU is not known; add --price USD, or see gpustarve "
			   "prices",
			   x->path);
		return false;
	}
	for (i = 0; i < s->result->gpus; i++)
		if (floor_s(s->result->gpu[i].held_start_ns) < EARLIEST_S) {
			view_error("%s: its clock does not count from 1970, so when it ran is not "
				   "known; export a run that gpustarve recorded",
				   x->path);
			return false;
		}
	return true;
}

int view_export_focus(struct view_export *x)
{
	const struct view_summary *s = x->summary;
	struct page p = { .x = x, .o = &x->out, .s = s };
	size_t n = s->result->gpus * STATES, i;
	struct line *line;
	int err;

	if (!complete(x))
		return -ENODATA;
	line = calloc(n + 1, sizeof(*line));
	if (!line)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		sum_line(s, &line[i], i / STATES, (enum state)(i % STATES));
	err = close_cents(s, line, n);
	if (!err)
		put_head(&x->out);
	for (i = 0; !err && i < n; i++) {
		p.at = &line[i];
		put_row(&p);
	}
	free(line);
	return err;
}
