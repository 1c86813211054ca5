/* SPDX-License-Identifier: Apache-2.0 */
#include "budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "alarm.h"
#include "core/log.h"
#include "base/units.h"
#include "fleet_out.h"

#define NS_PER_S 1000000000LL

/* --- the words of the command line --- */

static bool refuse(const char *text)
{
	view_error("--budget %s: not a budget; give run=USD, team=USD/month or team:NAME=USD/week",
		   text);
	return false;
}

static bool take_period(const char *text, enum fleet_period *period)
{
	*period = !strcmp(text, "week") ? FLEET_WEEK : FLEET_MONTH;
	return !strcmp(text, "week") || !strcmp(text, "month");
}

static bool take_amount(char *text, struct fleet_budget *b)
{
	char *slash = strchr(text, '/');

	if (slash) {
		*slash = '\0';
		if (b->of_runs || !take_period(slash + 1, &b->period))
			return false;
	}
	return !view_cost_parse(text, &b->limit_usd) && b->limit_usd > 0;
}

static bool parse(const char *text, struct fleet_budget *b)
{
	const char *amount = strrchr(text, '=');
	char copy[64];

	*b = (struct fleet_budget){ .text = text, .of_runs = !strncmp(text, "run=", 4) };
	if (!amount || strlen(amount + 1) >= sizeof(copy))
		return refuse(text);
	if (!strncmp(text, "team:", 5) && amount > text + 5 &&
	    (size_t)(amount - text - 5) < sizeof(b->team))
		memcpy(b->team, text + 5, (size_t)(amount - text - 5));
	else if (!b->of_runs && strncmp(text, "team=", 5) != 0)
		return refuse(text);
	snprintf(copy, sizeof(copy), "%s", amount + 1);
	return take_amount(copy, b) || refuse(text);
}

bool fleet_budgets_add(struct fleet_budgets *b, const char *text)
{
	if (b->n < FLEET_BUDGETS_MAX)
		return parse(text, &b->budget[b->n++]);
	view_error("--budget %s: too many; %d at most", text, FLEET_BUDGETS_MAX);
	return false;
}

/* --- what was spent --- */

struct spending {
	struct fleet *f;
	const struct fleet_budget *budget;
	char period[24]; /* "2026-11", "the week of 2026-11-09" */
	struct fleet_table teams;
	size_t room;
};

static void add_state(struct spending *p, const char *team, const char *run, const char *tenant,
		      base_wide usd)
{
	struct fleet *f = p->f;
	int64_t limit = p->budget->limit_usd;
	int level = usd >= limit ? 100 : usd * 5 >= (base_wide)limit * 4 ? 80 : 0;

	if (!level && !p->budget->team[0])
		return;
	if (f->budgets == p->room) {
		size_t room = p->room ? p->room * 2 : 16;
		struct fleet_budget_state *b = base_arena_array(&f->mem, room, sizeof(*b));

		if (f->budgets)
			memcpy(b, f->budget, f->budgets * sizeof(*b));
		f->budget = b;
		p->room = room;
	}
	f->budget[f->budgets++] = (struct fleet_budget_state){
		.condition = p->budget->text,
		.team = base_arena_text(&f->mem, team),
		.run = base_arena_text(&f->mem, run),
		.tenant = base_arena_text(&f->mem, tenant),
		.period = base_arena_text(&f->mem, p->period),
		.usd = usd,
		.limit_usd = limit,
		.level = level,
	};
}

static void on_run(void *arg, const struct fleet_cell *cell)
{
	struct spending *p = arg;

	add_state(p, cell[FLEET_RUN_TEAM].text, cell[FLEET_RUN_ID].text,
		  cell[FLEET_RUN_TENANT].text, cell[FLEET_RUN_USD].i);
}

static void on_fact(void *arg, const struct fleet_cell *cell)
{
	struct spending *p = arg;
	const char *const *team = &cell[FLEET_DIM_TEAM].text;

	if (*team)
		fleet_table_at(&p->teams, 1, team)->sums.m[FLEET_USD] +=
			cell[FLEET_DIMS + FLEET_USD].i;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The period that goes on now, or went on at --until; where it began. */
static int64_t period_of(const struct fleet *f, enum fleet_period period, char name[24])
{
	int64_t now = now_ns(), until = f->options.query.until_ns;
	time_t at = (time_t)((until < now ? until - 1 : now) / NS_PER_S);
	struct tm tm = { 0 };

	if (period == FLEET_WEEK) {
		fleet_week(name, (int64_t)at * NS_PER_S);
		if (!strptime(name, "%Y-%m-%d", &tm))
			return 0;
	} else if (gmtime_r(&at, &tm)) {
		tm = (struct tm){ .tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = 1 };
		strftime(name, 24, "%Y-%m", &tm);
	}
	return timegm(&tm) * NS_PER_S;
}

static int spent_by_teams(struct spending *p, struct fleet_store *s)
{
	const char *named = p->budget->team[0] ? p->budget->team : NULL;
	struct fleet_query q = p->f->options.query;

	q.since_ns = period_of(p->f, p->budget->period, p->period);
	q.team = q.team ? q.team : named;
	int err = fleet_store_read(s, FLEET_VIEW_FACTS, &q, on_fact, p);
	fleet_table_sort(&p->teams);
	for (size_t i = 0; i < p->teams.groups && !err; i++)
		if (!named || !strcmp(named, p->teams.group[i].key[0]))
			add_state(p, p->teams.group[i].key[0], NULL, "",
				  p->teams.group[i].sums.m[FLEET_USD]);
	fleet_table_fini(&p->teams);
	return err;
}

/* From 80 % on. */
static int spent_by_runs(struct spending *p, struct fleet_store *s)
{
	struct fleet_query q = p->f->options.query;

	q.least_usd = (int64_t)(((base_wide)p->budget->limit_usd * 4 + 4) / 5);
	return fleet_store_read(s, FLEET_VIEW_COSTLY, &q, on_run, p);
}

/* --- telling --- */

const char *fleet_words_budget(const struct fleet_budget_state *b, struct base_arena *mem)
{
	base_unit usd, limit, pct;

	return base_arena_printf(mem, "%s %s cost %s of %s%s%s: %s %%", b->run ? "run" : "team",
				 b->run ? b->run : fleet_shown(b->team), base_money(usd, b->usd),
				 base_money(limit, b->limit_usd), b->run ? "" : " in ", b->period,
				 base_percent(pct, base_ppm(b->usd, b->limit_usd)));
}

/* 1: nobody was told yet. */
static int note(struct fleet_store *s, const struct fleet_budget_state *b, int level,
		struct base_arena *mem)
{
	const char *name =
		base_arena_printf(mem, "budget\t%s\t%s\t%s\t%s\t%" PRId64 "\t%d",
				  b->run ? "run" : "team", b->run ? b->tenant : "",
				  b->run ? b->run : b->team, b->period, b->limit_usd, level);

	return fleet_store_note(s, name, now_ns());
}

/* Who is past the limit is told that, and not that 80 % are spent. */
static int tell(struct fleet *f, struct fleet_store *s, struct fleet_budget_state *b,
		const char *exec)
{
	int is_new = b->level == 100 ? note(s, b, 100, &f->mem) : 0;
	int lower = b->level && is_new >= 0 ? note(s, b, 80, &f->mem) : 0;

	if (is_new < 0 || lower < 0)
		return is_new < 0 ? is_new : lower;
	b->told = b->level == 100 ? is_new > 0 : lower > 0;
	if (b->told && exec)
		fleet_alarm(exec, b, fleet_words_budget(b, &f->mem), now_ns());
	return 0;
}

int fleet_budgets_check(struct fleet *f, struct fleet_store *s, const struct fleet_budgets *b)
{
	struct spending p = { .f = f };
	int err = 0;

	for (size_t i = 0; i < b->n && !err; i++) {
		p.budget = &b->budget[i];
		p.period[0] = '\0';
		err = p.budget->of_runs ? spent_by_runs(&p, s) : spent_by_teams(&p, s);
	}
	for (size_t i = 0; i < f->budgets && !err; i++)
		err = tell(f, s, &f->budget[i], b->exec);
	return err;
}

int fleet_budgets_look(const char *store, const char *team, const struct fleet_budgets *b)
{
	struct fleet f = { .options.query = { .until_ns = INT64_MAX, .team = team } };
	struct fleet_store *s;
	int err = fleet_store_open(&s, store, true);

	if (err)
		return err;
	err = fleet_budgets_check(&f, s, b);
	for (size_t i = 0; i < f.budgets; i++)
		if (f.budget[i].told)
			view_note("%s", fleet_words_budget(&f.budget[i], &f.mem));
	fleet_store_close(s);
	fleet_fini(&f);
	return err;
}
