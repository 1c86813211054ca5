/* SPDX-License-Identifier: Apache-2.0 */
#include "metric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"

#define NANO 1000000000
#define NS_PER_MS 1000000
#define NS_PER_HOUR 3600000000000
#define NUM_MAX ((__int128)1 << 96)
#define DEN_MAX ((__int128)1 << 66)
#define STEPS_MAX 1000000000000 /* keeps products within 128 bits */

static struct check_value fraction(__int128 num, __int128 den)
{
	return (struct check_value){ .num = num, .den = den, .known = true };
}

static struct check_value missing(const char *why)
{
	return (struct check_value){ .why_not = why };
}

static struct check_value share(const struct check_run *run, int64_t ns)
{
	return run->gpu_ns > 0 ? fraction((__int128)ns * 100, run->gpu_ns)
			       : missing("the run held no GPU time");
}

static struct check_value starved(const struct check_run *run, int class)
{
	(void)class;
	return share(run, run->starved_ns);
}

static struct check_value wasted(const struct check_run *run, int class)
{
	(void)class;
	return share(run, run->wasted_ns);
}

static struct check_value of_class(const struct check_run *run, int class)
{
	return share(run, run->classes[class]);
}

/* What the verdict's rule counts as unknown (LEDGER 7). */
static struct check_value unknown(const struct check_run *run, int class)
{
	(void)class;
	return share(run, (int64_t)ana_class_sum(run->classes, ana_class_is_doubt));
}

static struct check_value dollars(const struct check_run *run, int64_t nano)
{
	return run->nano_usd_per_hour >= 0 ? fraction(nano, NANO)
					   : missing("no price is known; give one with --price");
}

static struct check_value usd(const struct check_run *run, int class)
{
	(void)class;
	return dollars(run, run->total_nano_usd);
}

static struct check_value usd_wasted(const struct check_run *run, int class)
{
	(void)class;
	return dollars(run, run->wasted_nano_usd);
}

static struct check_value usd_starved(const struct check_run *run, int class)
{
	(void)class;
	return dollars(run, run->starved_nano_usd);
}

#define WHY_NOT_TOLD "how many came after the last record of them is not known"

/* x / 1e9 dollars over steps / 1000; of a run whose end nobody told there may be more steps. */
static struct check_value per_1k(const struct check_run *run, int64_t nano)
{
	struct check_value v = dollars(run, nano);

	if (!v.known)
		return v;
	if (!run->steps || run->steps > STEPS_MAX)
		return missing(run->partly ? CHECK_PARTLY : "the run has no steps");
	v = fraction(nano, (__int128)NANO / 1000 * (int64_t)run->steps);
	if (run->complete)
		return v;
	v.bound = VIEW_OUTCOME_AT_MOST;
	v.why_bound = WHY_NOT_TOLD;
	return v;
}

static struct check_value usd_per_1k(const struct check_run *run, int class)
{
	(void)class;
	return per_1k(run, run->total_nano_usd);
}

static struct check_value wasted_per_1k(const struct check_run *run, int class)
{
	(void)class;
	return per_1k(run, run->wasted_nano_usd);
}

/* Of more of them each cost less: the other way round than the count's. */
static struct check_value bounded(struct check_value v, const struct check_outcome *o)
{
	if (o->bound == VIEW_OUTCOME_AT_MOST) {
		v.bound = VIEW_OUTCOME_AT_LEAST;
		v.why_bound = o->source == VIEW_OUTCOME_LOADER
				      ? "the count is what all loaders gave, and nothing tells "
					"which of them train"
				      : "the count is that of a run that ends well, and this one "
					"did not";
	} else if (o->bound == VIEW_OUTCOME_AT_LEAST) {
		v.bound = VIEW_OUTCOME_AT_MOST;
		v.why_bound = WHY_NOT_TOLD;
	}
	return v;
}

/* All dollars, for view_unit_per() of num / den of the unit. */
static struct check_value per_unit(const struct check_run *run, const char *unit)
{
	struct check_value v = dollars(run, run->total_nano_usd);
	__int128 num, den;

	if (!v.known)
		return v;
	for (size_t i = 0; i < run->outcomes; i++) {
		const struct check_outcome *o = &run->outcome[i];

		if (strcmp(o->unit, unit) != 0)
			continue;
		num = (__int128)run->total_nano_usd * o->den;
		den = NANO / view_unit_per(unit) * (__int128)o->num;
		return num <= NUM_MAX && den <= DEN_MAX
			       ? bounded(fraction(num, den), o)
			       : missing("there are more of them than can be compared exactly");
	}
	return missing("how many there were is not known; see --unit of gpustarve run");
}

static struct check_value step_time(const struct check_run *run, int64_t ns)
{
	if (ns >= 0)
		return fraction(ns, NS_PER_MS);
	return missing(run->partly ? CHECK_PARTLY : "the run has no steps");
}

static struct check_value step_median(const struct check_run *run, int class)
{
	(void)class;
	return step_time(run, run->step_median_ns);
}

static struct check_value step_p95(const struct check_run *run, int class)
{
	(void)class;
	return step_time(run, run->step_p95_ns);
}

static struct check_value gpu_hours(const struct check_run *run, int class)
{
	(void)class;
	return fraction(run->gpu_ns, NS_PER_HOUR);
}

const struct check_metric check_metrics[] = {
	{ "starved_pct", "GPU time spent waiting for input", CHECK_PCT, starved, -1, "" },
	{ "wasted_pct", "GPU time that counts as waste", CHECK_PCT, wasted, -1, "" },
	{ "unknown_pct", "idle GPU time whose cause is not known", CHECK_PCT, unknown, -1, "" },
	{ "usd", "cost of the run", CHECK_USD, usd, -1, "" },
	{ "wasted_usd", "cost of the waste", CHECK_USD, usd_wasted, -1, "" },
	{ "starved_usd", "cost of waiting for input", CHECK_USD, usd_starved, -1, "" },
	{ "usd_per_1k_steps", "cost of 1,000 steps", CHECK_USD, usd_per_1k, -1, "" },
	{ "wasted_usd_per_1k_steps", "waste in 1,000 steps", CHECK_USD, wasted_per_1k, -1, "" },
	{ "usd_per_1k_samples", "cost of 1,000 samples; 1k of any --unit", CHECK_USD, NULL, -1,
	  "samples" },
	{ "usd_per_1m_tokens", "cost of a million tokens", CHECK_USD, NULL, -1, "tokens" },
	{ "usd_per_epoch", "cost of a pass over the data", CHECK_USD, NULL, -1, "epochs" },
	{ "step_ms_median", "median step time", CHECK_MS, step_median, -1, "" },
	{ "step_ms_p95", "95th percentile of step times", CHECK_MS, step_p95, -1, "" },
	{ "gpu_hours", "GPU-hours held", CHECK_HOURS, gpu_hours, -1, "" },
	{ 0 },
};

/* "usd_per_1k_frames": of any unit that there may be. */
static bool find_unit(const char *name, struct check_metric *m)
{
	char text[VIEW_UNIT_NAME + 8], metric[VIEW_UNIT_METRIC];
	struct view_unit u;

	if (strncmp(name, "usd_per_1k_", 11) != 0)
		return false;
	snprintf(text, sizeof(text), "%.*s=1", VIEW_UNIT_NAME, name + 11);
	if (!view_unit_parse(text, strlen(text), &u) ||
	    strcmp(view_unit_metric(metric, u.name), name) != 0)
		return false;
	*m = (struct check_metric){ name, "", CHECK_USD, NULL, -1, "" };
	snprintf(m->unit_of, sizeof(m->unit_of), "%s", u.name);
	return true;
}

static bool find(const char *name, struct check_metric *m)
{
	size_t len = strlen(name);
	char class[64];

	for (size_t i = 0; check_metrics[i].name; i++) {
		if (!strcmp(check_metrics[i].name, name)) {
			*m = check_metrics[i];
			return true;
		}
	}
	if (find_unit(name, m))
		return true;
	if (len < 5 || len >= sizeof(class) || strcmp(name + len - 4, "_pct"))
		return false;
	snprintf(class, sizeof(class), "%.*s", (int)len - 4, name);
	int c = ana_class_by_name(class);
	*m = (struct check_metric){ name, "", CHECK_PCT, of_class, c, "" };
	return c >= 0;
}

int check_budget_parse(const char *text, struct check_budget *b, const char **why)
{
	const char *op = strpbrk(text, "<>");
	size_t len = op ? (size_t)(op - text) : 0;

	*b = (struct check_budget){ .text = text };
	*why = "not a budget; write METRIC<=VALUE, such as starved_pct<=10";
	if (!op || op[1] != '=' || !len || len >= sizeof(b->name))
		return -EINVAL;
	memcpy(b->name, text, len);
	b->at_least = op[0] == '>';
	if (!find(b->name, &b->metric)) {
		*why = "no such metric; gpustarve check --help lists them";
		return -EINVAL;
	}
	b->metric.name = b->name;
	*why = "the limit is not a number of at most nine decimals";
	return view_cost_parse(op + 2, &b->limit_nano) ? -EINVAL : 0;
}

struct check_value check_metric_of(const struct check_metric *m, const struct check_run *run)
{
	return m->value ? m->value(run, m->class) : per_unit(run, m->unit_of);
}

bool check_budget_holds(const struct check_budget *b, const struct check_value *v)
{
	__int128 is = v->num * NANO, limit = (__int128)b->limit_nano * v->den;

	return b->at_least ? is >= limit : is <= limit;
}

bool check_budget_is_open(const struct check_budget *b, const struct check_value *v)
{
	bool above = check_budget_holds(b, v) == b->at_least;

	return v->bound && above == (v->bound == VIEW_OUTCOME_AT_MOST);
}

/* 12.5 from 125000 with four places; zeros at the end are left out. */
static const char *decimal(struct base_arena *mem, int64_t scaled, int places)
{
	int64_t ten = 1;
	char digits[64];

	for (int i = 0; i < places; i++)
		ten *= 10;
	int n = snprintf(digits, sizeof(digits), "%s%lld.%0*lld", scaled < 0 ? "-" : "",
			 llabs((long long)(scaled / ten)), places,
			 llabs((long long)(scaled % ten)));
	while (n && digits[n - 1] == '0')
		digits[--n] = 0;
	if (n && digits[n - 1] == '.')
		digits[--n] = 0;
	return base_arena_text(mem, digits);
}

static const char *with_unit(struct base_arena *mem, enum check_unit unit, const char *digits)
{
	switch (unit) {
	case CHECK_PCT:
		return base_arena_printf(mem, "%s %%", digits);
	case CHECK_USD:
		return base_arena_printf(mem, "$%s", digits);
	case CHECK_MS:
		return base_arena_printf(mem, "%s ms", digits);
	default:
		return base_arena_printf(mem, "%s h", digits);
	}
}

static int64_t ten_to(int power)
{
	return power ? 10 * ten_to(power - 1) : 1;
}

/* So many billionths are not told from the limit: the digits behind them, up to one that is. */
static const char *far_digits(struct base_arena *mem, const struct check_value *v)
{
	const char *digits = base_arena_printf(mem, "%lld.%09lld", (long long)(v->num / v->den),
					       (long long)(v->num % v->den * NANO / v->den));
	__int128 rest = v->num % v->den * NANO % v->den;

	while (rest) {
		int digit = (int)(rest * 10 / v->den);

		digits = base_arena_printf(mem, "%s%d", digits, digit);
		rest = digit ? 0 : rest * 10;
	}
	return digits;
}

static int compare(__int128 a, __int128 b)
{
	return a < b ? -1 : a > b;
}

/* Rounded to so many decimals; more where that would not read as it is to the limit. */
static const char *digits_beside(struct base_arena *mem, const struct check_budget *b,
				 const struct check_value *v, int places)
{
	int is = compare(v->num * NANO, (__int128)b->limit_nano * v->den);

	for (; places <= 9; places++) {
		int64_t n = base_div_even(v->num * ten_to(places), v->den);

		if (compare((__int128)n * ten_to(9 - places), b->limit_nano) == is)
			return decimal(mem, n, places);
	}
	return far_digits(mem, v);
}

const char *check_value_text(struct base_arena *mem, const struct check_budget *b,
			     const struct check_value *v)
{
	__int128 size = v->num < 0 ? -v->num : v->num;
	/* What four decimals would hide: a short run costs less. */
	bool small = size * 100 < v->den && b->metric.unit != CHECK_PCT;

	return base_arena_printf(mem, "%s%s", view_bound_words[v->bound],
				 with_unit(mem, b->metric.unit,
					   digits_beside(mem, b, v, small ? 9 : 4)));
}

const char *check_value_digits(struct base_arena *mem, const struct check_value *v)
{
	return decimal(mem, base_div_even(v->num * NANO, v->den), 9);
}

const char *check_limit_text(struct base_arena *mem, const struct check_budget *b)
{
	return with_unit(mem, b->metric.unit, decimal(mem, b->limit_nano, 9));
}
