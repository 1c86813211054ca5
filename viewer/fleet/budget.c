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
#include "lines.h"

#define NS_PER_S 1000000000LL
#define WEEK_NS (604800 * NS_PER_S)

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
	int64_t since_ns; /* what teams spent is looked at from the period of then on; 0: of all */
	struct fleet_budget_period at; /* the one that is looked at; of runs zero */
	bool goes_on; /* a run of it does beyond it */
	struct fleet_table teams;
	size_t room;
};

static void add_state(struct spending *p, const char *team, const char *run, const char *tenant,
		      base_wide usd)
{
	struct fleet *f = p->f;
	int64_t limit = p->budget->limit_usd;
	int level = usd >= limit ? 100 : usd * 5 >= (base_wide)limit * 4 ? 80 : 0;

	if (!level && !(p->budget->team[0] && p->at.is_last))
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
		.period = base_arena_text(&f->mem, p->at.name),
		.week = p->budget->period == FLEET_WEEK,
		.running = p->at.is_running && !run,
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

/*
 * One that began in the period is there whole already: what lies behind its end is taken off. One
 * that began before is not there at all.
 */
static void on_crossing(void *arg, const struct fleet_line_row *l)
{
	struct spending *p = arg;
	struct fleet_sums part;

	fleet_line_cut(&part, l, p->at.from_ns, p->at.until_ns);
	if (l->start_ns >= p->at.from_ns)
		part.m[FLEET_USD] -= l->sums.m[FLEET_USD];
	fleet_table_at(&p->teams, 1, &l->name[FLEET_DIM_TEAM])->sums.m[FLEET_USD] +=
		part.m[FLEET_USD];
	p->goes_on |= fleet_line_end(l, INT64_MAX) > p->at.until_ns;
}

static const char *named_of(const struct spending *p)
{
	return p->budget->team[0] ? p->budget->team : NULL;
}

static int read_period(struct spending *p, struct fleet_store *s)
{
	struct fleet_query q = p->f->options.query;
	int err;

	q.since_ns = p->at.from_ns;
	q.until_ns = p->at.until_ns;
	q.team = q.team ? q.team : named_of(p);
	p->goes_on = false;
	err = fleet_store_read(s, FLEET_VIEW_FACTS, &q, on_fact, p);
	return err ? err : fleet_each_crossing(s, &q, on_crossing, p);
}

static void add_teams(struct spending *p)
{
	const char *named = named_of(p);

	fleet_table_sort(&p->teams);
	for (size_t i = 0; i < p->teams.groups; i++)
		if (!named || !strcmp(named, p->teams.group[i].key[0]))
			add_state(p, p->teams.group[i].key[0], NULL, "",
				  p->teams.group[i].sums.m[FLEET_USD]);
}

static int spent_in_period(struct spending *p, struct fleet_store *s)
{
	int err = read_period(p, s);

	if (!err)
		add_teams(p);
	fleet_table_fini(&p->teams);
	return err;
}

static int spent_by_teams(struct spending *p, struct fleet_store *s)
{
	struct fleet_budget_periods a = {
		.kind = p->budget->period,
		.query = &p->f->options.query,
		.since_ns = p->since_ns,
		.now_ns = now_ns(),
	};
	int err = fleet_budget_periods_begin(&a, s);

	for (; !err && !a.over; fleet_budget_periods_next(&a, p->goes_on)) {
		p->at = a.at;
		err = spent_in_period(p, s);
	}
	fleet_budget_periods_fini(&a);
	return err;
}

/* What of it lies in the period: as its digest will be cut. */
static base_wide part_of(const struct fleet_going *g, const struct fleet_budget_period *p)
{
	int64_t start = g->start_ns > 0 ? g->start_ns : g->end_ns;

	return fleet_part(g->usd, start, g->end_ns - start, p->from_ns, p->until_ns);
}

static void add_going(struct spending *p, const struct fleet_going *run, size_t runs)
{
	for (size_t i = 0; i < runs; i++) {
		const char *team = run[i].team;

		if (*team)
			fleet_table_at(&p->teams, 1, &team)->sums.m[FLEET_USD] +=
				part_of(&run[i], &p->at);
	}
}

int fleet_budgets_with(struct fleet *f, struct fleet_store *s, const struct fleet_budgets *b,
		       int (*going)(void *arg, struct fleet_going **run, size_t *runs), void *arg)
{
	struct spending p[FLEET_BUDGETS_MAX] = { { .f = NULL } };
	struct fleet_going *run = NULL;
	size_t runs = 0, room = 0; /* of the list that all of them add to */
	int err = 0;

	for (size_t i = 0; i < b->n && !err; i++) {
		p[i] = (struct spending){ .f = f, .budget = &b->budget[i] };
		fleet_budget_period_now(&p[i].at, b->budget[i].period, now_ns());
		err = b->budget[i].of_runs ? 0 : read_period(&p[i], s);
	}
	if (!err)
		err = going(arg, &run, &runs);
	for (size_t i = 0; i < b->n; i++) {
		if (!err && !b->budget[i].of_runs) {
			p[i].room = room;
			add_going(&p[i], run, runs);
			add_teams(&p[i]);
			room = p[i].room;
		}
		fleet_table_fini(&p[i].teams);
	}
	free(run);
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

	return base_arena_printf(mem, "%s %s cost %s of %s%s%s%s: %s %%", b->run ? "run" : "team",
				 b->run ? b->run : fleet_shown(b->team), base_money(usd, b->usd),
				 base_money(limit, b->limit_usd),
				 b->run	   ? ""
				 : b->week ? " in the week of "
					   : " in ",
				 b->period, b->running ? ", which goes on" : "",
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

static int check(struct fleet *f, struct fleet_store *s, const struct fleet_budgets *b,
		 int64_t since_ns)
{
	struct spending p = { .f = f, .since_ns = since_ns };
	int err = 0;

	for (size_t i = 0; i < b->n && !err; i++) {
		p.budget = &b->budget[i];
		p.at = (struct fleet_budget_period){ .from_ns = 0 };
		err = p.budget->of_runs ? spent_by_runs(&p, s) : spent_by_teams(&p, s);
	}
	for (size_t i = 0; i < f->budgets && !err; i++)
		err = tell(f, s, &f->budget[i], b->exec);
	return err;
}

int fleet_budgets_check(struct fleet *f, struct fleet_store *s, const struct fleet_budgets *b)
{
	return check(f, s, b, f->options.query.since_ns);
}

int fleet_budgets_look(const char *store, const char *team, const struct fleet_budgets *b)
{
	struct fleet f = { .options.query = { .until_ns = INT64_MAX, .team = team } };
	struct fleet_store *s;
	int err = fleet_store_open(&s, store, true);

	if (err)
		return err;
	/* the period before may have ended since the runs did */
	err = check(&f, s, b, now_ns() - WEEK_NS);
	for (size_t i = 0; i < f.budgets; i++)
		if (f.budget[i].told)
			view_note("%s", fleet_words_budget(&f.budget[i], &f.mem));
	fleet_store_close(s);
	fleet_fini(&f);
	return err;
}
