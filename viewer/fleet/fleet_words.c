/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences that text and page share. */
#include <inttypes.h>
#include <string.h>
#include "base/amounts.h"
#include "base/units.h"
#include "cost/amount.h"
#include "fleet_out.h"
#include "hours.h"

#define NS_PER_MINUTE 60000000000LL
#define NS_PER_HOUR (60 * NS_PER_MINUTE)

const enum fleet_dim fleet_tables[FLEET_TABLES] = {
	FLEET_DIM_TEAM,	     FLEET_DIM_USER,	 FLEET_DIM_ACCOUNT, FLEET_DIM_PROJECT,
	FLEET_DIM_PARTITION, FLEET_DIM_KIND,	 FLEET_DIM_GPU,	    FLEET_DIM_MODEL,
	FLEET_DIM_PROVIDER,  FLEET_DIM_INSTANCE, FLEET_DIM_LABEL,
};

bool fleet_is_told(const struct fleet_table *t, int by)
{
	const char *only = t->groups ? t->group[0].key[0] : "";

	return t->groups > 1 ||
	       (only[0] &&
		(by != FLEET_DIM_KIND || strcmp(only, facts_run_kinds[FACTS_RUN_UNKNOWN]) != 0));
}

const char *fleet_title(int by)
{
	static const char *const title[FLEET_BYS] = {
		[FLEET_BY_CLASS] = "Where the time went",
		[FLEET_BY_LINE] = "Lines of code that made GPUs wait",
		[FLEET_BY_FIX] = "Top fixes",
		[FLEET_BY_COMPUTE] = "What compute consisted of, by the kernels' names",
		[FLEET_BY_FAILED] = "Runs that failed",
		[FLEET_BY_BILL] = "The bill",
		[FLEET_BY_MONTH] = "By month",
		[FLEET_BY_RUN] = "Runs",
		[FLEET_BY_HOURS] = "When interactive runs held GPUs",
		[FLEET_BY_OFF_HOURS] = "Interactive runs overnight and at weekends, by user",
		[FLEET_BY_PLAN] = "What to reserve",
		[FLEET_BY_SAVINGS] = "What became of advice",
		[FLEET_BY_REVIEW] = "The last month, by team",
		[FLEET_BY_LOST] = "What kills threw away",
		[FLEET_BY_UNUSED] = "When nobody used what jobs had",
	};

	return by < FLEET_DIMS ? fleet_dim_titles[by] : by < FLEET_BYS ? title[by] : "";
}

const char *fleet_group_name(const struct fleet_group *g, int by, struct base_arena *mem)
{
	if (by == FLEET_BY_LINE)
		return base_arena_printf(mem, "%s  %s", g->key[0], g->key[1]);
	if (by == FLEET_BY_COMPUTE)
		return base_arena_printf(mem, "%s  %s", g->key[0], g->key[1]);
	if (by == FLEET_BY_FIX)
		return g->key[3][0] ? base_arena_printf(mem, "%s: %s  %s", g->key[1],
							g->text ? g->text : "", g->key[3])
				    : base_arena_printf(mem, "%s: %s", g->key[1],
							g->text ? g->text : "");
	if (by == FLEET_DIM_MODEL && !g->key[0][0])
		return "no price";
	return fleet_shown_by(g->key[0], by);
}

struct base_scale fleet_money_scale(const struct fleet *f)
{
	struct base_scale s = base_money_scale(f->total.m[FLEET_USD]), cents;

	cents = base_money_scale(VIEW_NANO_USD);
	return s.quantum < cents.quantum ? s : cents;
}

/* Of one amount by itself. */
static const char *own_money(const struct fleet *f, char *out, base_wide nano)
{
	char lead[FLEET_CURRENCY_LEAD];
	struct base_scale s = base_money_scale(nano);

	if (f->converted)
		s = fleet_currency_scale(f->options.currency, s, lead);
	return base_scaled(out, s, nano);
}

/* The fleet's scale, in its currency; @lead has the text. */
static struct base_scale shown_scale(const struct fleet *f, char lead[FLEET_CURRENCY_LEAD])
{
	struct base_scale s = fleet_money_scale(f);

	return f->converted ? fleet_currency_scale(f->options.currency, s, lead) : s;
}

static struct base_scale time_scale(const struct fleet *f)
{
	struct base_scale s = base_gpu_time_scale(f->total.m[FLEET_HELD_NS]), hours;

	hours = base_gpu_time_scale(NS_PER_HOUR);
	return s.quantum < hours.quantum ? s : hours;
}

const char *fleet_usd(const struct fleet *f, char *out, base_wide nano_usd)
{
	char lead[FLEET_CURRENCY_LEAD];

	return base_scaled(out, shown_scale(f, lead), nano_usd);
}

const char *fleet_usd_closed(const struct fleet *f, char *out, base_wide nano_usd, int64_t quanta)
{
	char lead[FLEET_CURRENCY_LEAD];

	return base_scaled_quanta(out, shown_scale(f, lead), nano_usd, quanta);
}

const char *fleet_quanta(const struct fleet *f, char *out, int64_t quanta)
{
	char lead[FLEET_CURRENCY_LEAD];

	return base_scaled_quanta(out, shown_scale(f, lead), quanta, quanta);
}

const char *fleet_hours(const struct fleet *f, char *out, base_wide ns)
{
	struct base_scale s = time_scale(f);

	s.after = "";
	return base_scaled(out, s, ns);
}

const char *fleet_gpu_time(const struct fleet *f, char *out, base_wide ns)
{
	return base_scaled(out, time_scale(f), ns);
}

const char *fleet_time_name(const struct fleet *f)
{
	return time_scale(f).after + 1; /* behind its blank */
}

const char *fleet_runs_of(char *out, uint64_t n)
{
	base_count(out, n);
	stpcpy(out + strlen(out), n == 1 ? " run" : " runs");
	return out;
}

base_wide fleet_minutes(const struct fleet_sums *s)
{
	base_wide sum = 0;

	for (int b = 0; b < FLEET_BANDS; b++)
		sum += s->m[FLEET_MINUTES_IDLE + b];
	return sum;
}

const char *fleet_hours_of_minutes(const struct fleet *f, char *out, base_wide minutes)
{
	return fleet_hours(f, out, minutes * NS_PER_MINUTE);
}

/* ", from 2026-01-05 to 2026-02-01": as it was asked, else the weeks of the first and last run. */
static const char *span(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_table *weeks = &f->dim[FLEET_DIM_WEEK];
	const struct fleet_query *q = &f->options.query;
	bool since = q->since_ns > 0, until = q->until_ns < INT64_MAX;
	base_unit from, to;

	base_day(from, q->since_ns);
	base_day(to, q->until_ns - 1);
	if (since && until && !strcmp(from, to))
		return base_arena_printf(mem, ", on %s", from);
	if (since && until)
		return base_arena_printf(mem, ", from %s to %s", from, to);
	if (!weeks->groups)
		return since   ? base_arena_printf(mem, ", from %s", from)
		       : until ? base_arena_printf(mem, ", to %s", to)
			       : "";
	const char *first = weeks->group[0].key[0], *last = weeks->group[weeks->groups - 1].key[0];
	if (since && strcmp(last, from) < 0) /* it begins within its last week */
		return base_arena_printf(mem, ", from %s, in the week of %s", from, last);
	if (since)
		return base_arena_printf(mem, ", from %s to the week of %s", from, last);
	if (until)
		return base_arena_printf(mem, ", from the week of %s to %s", first, to);
	if (!strcmp(first, last))
		return base_arena_printf(mem, ", week of %s", first);
	return base_arena_printf(mem, ", weeks of %s to %s", first, last);
}

const char *fleet_words_scope(const struct fleet *f, struct base_arena *mem)
{
	const char *team = f->options.query.team;
	const base_wide *m = f->total.m;
	base_unit runs, hours;

	return base_arena_printf(mem, "%s, %s%s%s%s%s",
				 fleet_runs_of(runs, (uint64_t)m[FLEET_RUNS]),
				 fleet_gpu_time(f, hours, m[FLEET_HELD_NS]),
				 fleet_is_bounded(f) ? " of them" : "", team ? ", team " : "",
				 team ? fleet_shown(team) : "", span(f, mem));
}

const char *fleet_words_cost(const struct fleet *f, struct base_arena *mem)
{
	const base_wide *m = f->total.m;
	base_unit usd, wasted, starved, w, s;

	if (!m[FLEET_RUNS])
		return "no run is of what was asked for";
	if (m[FLEET_UNPRICED_NS] == m[FLEET_HELD_NS])
		return base_arena_printf(
			mem, "no price is known; wasted %s %%, starved %s %% of the GPU time",
			base_percent(w, base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS])),
			base_percent(s, base_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS])));
	return base_arena_printf(mem,
				 "%s, of which wasted %s (%s %% of the time), starved %s (%s %%)",
				 fleet_usd(f, usd, m[FLEET_USD]),
				 fleet_usd(f, wasted, m[FLEET_WASTED_USD]),
				 base_percent(w, base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS])),
				 fleet_usd(f, starved, m[FLEET_STARVED_USD]),
				 base_percent(s, base_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS])));
}

const char *fleet_words_spike(const struct fleet *f, const struct fleet_spike *s,
			      struct base_arena *mem)
{
	base_unit usd, median;

	return base_arena_printf(
		mem, "the week of %s cost %s%s%s, where %s is the median of the %zu weeks before",
		s->week, s->team ? fleet_shown(s->team) : "", s->team ? " " : "",
		fleet_usd(f, usd, s->usd), fleet_usd(f, median, s->median_usd), s->history);
}

const char *fleet_words_rate(const struct fleet_group *g, struct base_arena *mem)
{
	const char *digits = g->key[4];
	int64_t nano = 0;
	base_unit price;

	for (; *digits >= '0' && *digits <= '9' && nano < INT64_MAX / 100; digits++)
		nano = nano * 10 + (*digits - '0');
	return base_arena_printf(mem, "%s at %s per GPU-hour (%s, %s; %s, %s)", g->key[0],
				 base_price_text(price, nano), g->key[2], g->key[1], g->key[3],
				 g->text ? g->text : "no date");
}

#define NOTES_MAX 19

/* How many runs by which number. */
static const char *words_of_rules(const struct fleet *f, struct base_arena *mem)
{
	const char *all = "";
	base_unit runs;

	for (size_t i = 0; i < f->numbers; i++)
		all = base_arena_printf(mem, "%s%s%s by rules %" PRId64, all, i ? ", " : "",
					fleet_runs_of(runs, (uint64_t)f->rules[i].runs),
					f->rules[i].number);
	return base_arena_printf(
		mem,
		"not comparable: different rules gave the classes (%s); starved, wasted, classes, "
		"lines and fixes are of both; leave the older ones out with --since, or make "
		"their digests again with gpustarve digest RUN --store URL",
		all);
}

static const char *words_of_provisional(const struct fleet *f, struct base_arena *mem)
{
	const base_wide *m = f->not_analysed->sums.m;
	base_unit runs, hours, usd;

	return base_arena_printf(
		mem,
		"provisional: %s, %s%s%s, not analysed yet; what was held is in all sums, and how much of "
		"it was wasted is not known",
		fleet_runs_of(runs, (uint64_t)m[FLEET_RUNS]),
		fleet_gpu_time(f, hours, m[FLEET_HELD_NS]), m[FLEET_USD] ? ", " : "",
		m[FLEET_USD] ? fleet_usd(f, usd, m[FLEET_USD]) : "");
}

static const char *words_of_currency(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_currency *c = f->options.currency;
	base_unit rate;

	return base_arena_printf(
		mem, "amounts are in %s, at %s for a dollar (%s, %s); prices are in dollars",
		c->code, fleet_currency_rate(rate, c), c->source, c->date);
}

/* What the tables that are not cut at the bounds are of. */
static const char *words_of_begun(const struct fleet *f, struct base_arena *mem)
{
	static const char *const what[FLEET_BYS - FLEET_DIMS + 1] = {
		[FLEET_BY_CLASS - FLEET_DIMS] = "classes",
		[FLEET_BY_LINE - FLEET_DIMS] = "lines",
		[FLEET_BY_FIX - FLEET_DIMS] = "fixes",
		[FLEET_BY_COMPUTE - FLEET_DIMS] = "kinds of compute",
		[FLEET_BY_FAILED - FLEET_DIMS] = "the rows",
		[FLEET_BY_RUN - FLEET_DIMS] = "the rows",
		[FLEET_BY_LOST - FLEET_DIMS] = "saves and kills",
		[FLEET_BY_UNUSED - FLEET_DIMS] = "hours that nobody used",
		[FLEET_BY_PLAN - FLEET_DIMS] = "open fixes",
		[FLEET_BY_SAVINGS - FLEET_DIMS] = "savings",
		[FLEET_BY_REVIEW - FLEET_DIMS] = "fixes and runs",
		[FLEET_BY_NOTHING - FLEET_DIMS] = "classes, lines, fixes and failed runs",
	};
	int by = f->options.by;
	const base_wide *m = f->begun.m;
	base_unit runs, hours, usd;

	return base_arena_printf(
		mem, "%s count whole runs that began in that time: %s, %s%s%s",
		by < FLEET_DIMS ? "samples and other units" : what[by - FLEET_DIMS],
		fleet_runs_of(runs, (uint64_t)m[FLEET_RUNS]),
		fleet_gpu_time(f, hours, m[FLEET_HELD_NS]), m[FLEET_USD] ? ", " : "",
		m[FLEET_USD] ? fleet_usd(f, usd, m[FLEET_USD]) : "");
}

/* The last ones; a review is of what is to be done. */
static size_t spikes_shown(const struct fleet *f)
{
	return f->options.by == FLEET_BY_REVIEW ? 2 : SIZE_MAX;
}

const char *const *fleet_words_notes(const struct fleet *f, struct base_arena *mem)
{
	const char **note = base_arena_array(mem, NOTES_MAX + 1, sizeof(*note));
	const base_wide *m = f->total.m;
	base_unit a, b;
	size_t n = 0;

	if (fleet_is_whole_runs(f))
		note[n++] = words_of_begun(f, mem);
	if (f->options.by == FLEET_BY_HOURS || f->options.by == FLEET_BY_OFF_HOURS)
		note[n++] = base_arena_printf(mem,
					      "overnight is from 19:00 to 7:00 of working days, a "
					      "weekend Saturday and Sunday, in %s",
					      fleet_zone());
	if (f->converted)
		note[n++] = words_of_currency(f, mem);
	if (m[FLEET_UNPRICED_NS])
		note[n++] = base_arena_printf(
			mem,
			"%s have no price and are in no amount; gpustarve digest RUN "
			"--price USD --store URL gives them one",
			fleet_gpu_time(f, a, m[FLEET_UNPRICED_NS]));
	if (f->not_analysed)
		note[n++] = words_of_provisional(f, mem);
	if (m[FLEET_SIMULATED])
		note[n++] = base_arena_printf(
			mem,
			"%s on a simulated GPU: how long its work takes is computed, not measured",
			fleet_runs_of(a, (uint64_t)m[FLEET_SIMULATED]));
	if (f->bill.untagged_cents)
		note[n++] = base_arena_printf(mem, "%s has no team label; add --label team=NAME",
					      fleet_quanta(f, a, f->bill.untagged_quanta));
	if (f->unlabelled.count)
		note[n++] = base_arena_printf(mem, "%s without %s: %s",
					      fleet_runs_of(a, f->unlabelled.count),
					      f->options.query.required,
					      fleet_usd(f, b, f->unlabelled.usd));
	if (fleet_is_mixed(f))
		note[n++] = words_of_rules(f, mem);
	for (size_t i = 0; i < f->spikes && i < spikes_shown(f) && n < NOTES_MAX; i++)
		note[n++] = fleet_words_spike(f, &f->spike[f->spikes - 1 - i], mem);
	note[n] = NULL;
	return note;
}

/* "; at least 1,204 samples: at most $0.71 per 1,000 samples" */
static const char *unit_words(const struct fleet *f, const struct fleet_unit_sum *u,
			      struct base_arena *mem)
{
	static const char *const count[] = { "", "at least ", "at most ", "" };
	static const char *const each[] = { "", "at most ", "at least ", "" };
	struct view_outcome o = { .unit = u->name, .num = 1, .den = 1 };
	enum view_outcome_bound bound = fleet_unit_bound(u);
	base_unit n, most, usd;
	const char *t = base_arena_printf(mem, "; %s%s %s", count[bound],
					  base_count(n, (uint64_t)u->count), u->name);

	if (bound == VIEW_OUTCOME_BOUNDS)
		t = base_arena_printf(mem, "%s (at least so many of %s, at most of %s)", t,
				      fleet_runs_of(n, (uint64_t)u->at_least),
				      base_count(most, (uint64_t)u->at_most));
	t = base_arena_printf(mem, "%s: %s%s per %s", t, each[bound],
			      own_money(f, usd, fleet_unit_usd(u)), view_outcome_each(&o, mem));
	if (u->untold_usd)
		t = base_arena_printf(mem, "%s, without %s of runs that tell none", t,
				      fleet_usd(f, usd, u->untold_usd));
	return t;
}

const char *fleet_words_group(const struct fleet *f, const struct fleet_group *g, int by,
			      int64_t quanta, struct base_arena *mem)
{
	const base_wide *m = g->sums.m;
	base_unit usd, pct, failed, runs, bad;
	const char *t = base_arena_printf(mem, "%s: %s, %s", fleet_group_name(g, by, mem),
					  fleet_runs_of(runs, (uint64_t)m[FLEET_RUNS]),
					  fleet_usd_closed(f, usd, m[FLEET_USD], quanta));

	if (m[FLEET_FAILED_RUNS])
		t = base_arena_printf(mem, "%s, %s %% of it (%s) in %s that failed", t,
				      base_percent(pct,
						   base_ppm(m[FLEET_FAILED_USD], m[FLEET_USD])),
				      fleet_usd(f, failed, m[FLEET_FAILED_USD]),
				      base_count(bad, (uint64_t)m[FLEET_FAILED_RUNS]));
	for (size_t i = 0; g->units && i < g->units->sums; i++) {
		const struct fleet_unit_sum *u = &g->units->sum[i];

		if (fleet_unit_usd(u) >= 0 && u->count <= INT64_MAX)
			t = base_arena_printf(mem, "%s%s", t, unit_words(f, u, mem));
	}
	return t;
}

bool fleet_tells_groups(const struct fleet *f, int by)
{
	return by == f->options.by && by < FLEET_DIMS && (by == FLEET_DIM_LABEL || f->has_units);
}
