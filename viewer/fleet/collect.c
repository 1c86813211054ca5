/* SPDX-License-Identifier: Apache-2.0 */
/* From a store's rows to the model: one function per view. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "bill.h"
#include "collect_lines.h"
#include "fleet.h"
#include "job_rest.h"
#include "spike.h"

const char *fleet_by_name(int by)
{
	static const char *const more[] = { "class", "line",	  "fix",  "compute", "failed",
					    "bill",  "month",	  "run",  "lost",    "unused",
					    "hours", "off-hours", "plan", "savings", "review" };

	return by < FLEET_DIMS ? fleet_dim_names[by] : by < FLEET_BYS ? more[by - FLEET_DIMS] : "";
}

const char *fleet_shown(const char *name)
{
	return name && name[0] ? name : FLEET_UNTAGGED;
}

bool fleet_is_seen(int by)
{
	return by == FLEET_DIM_KIND || by == FLEET_DIM_PROVIDER || by == FLEET_DIM_INSTANCE;
}

const char *fleet_shown_by(const char *name, int by)
{
	return fleet_is_seen(by) && !name[0] ? facts_run_kinds[FACTS_RUN_UNKNOWN]
					     : fleet_shown(name);
}

/* --- facts --- */

static void add_bill(struct fleet *f, const struct fleet_cell *cell, const struct fleet_sums *s)
{
	const char *key[FLEET_BILL_DIMS];

	for (int i = 0; i < FLEET_BILL_DIMS; i++) {
		key[i] = cell[fleet_bill_dims[i]].text;
		if (!key[i])
			return;
	}
	fleet_sums_add(&fleet_table_at(&f->bill_groups, FLEET_BILL_DIMS, key)->sums, s);
	fleet_sums_add(&f->total, s);
}

static void on_fact(void *arg, const struct fleet_cell *cell)
{
	struct fleet *f = arg;
	struct fleet_sums s = { 0 };

	for (int i = 0; i < FLEET_MEASURES; i++)
		s.m[i] = cell[FLEET_DIMS + i].i;
	for (int d = 0; d < FLEET_DIMS; d++) {
		if (!cell[d].text || (d == FLEET_DIM_LABEL && !f->options.query.label))
			continue;
		fleet_sums_add(&fleet_table_at(&f->dim[d], 1, &cell[d].text)->sums, &s);
	}
	add_bill(f, cell, &s);
}

/* --- why --- */

static void add_pair(struct fleet_group *g, const struct fleet_cell *runs_ns_usd)
{
	g->sums.m[FLEET_RUNS] += runs_ns_usd[0].i;
	g->sums.m[FLEET_HELD_NS] += runs_ns_usd[1].i;
	g->sums.m[FLEET_USD] += runs_ns_usd[2].i;
}

static void on_class(void *arg, const struct fleet_cell *cell)
{
	add_pair(fleet_table_at(&((struct fleet *)arg)->classes, 1, &cell[0].text), cell + 1);
}

static void on_hotspot(void *arg, const struct fleet_cell *cell)
{
	const char *const key[] = { cell[0].text, cell[1].text };

	add_pair(fleet_table_at(&((struct fleet *)arg)->hotspots, 2, key), cell + 2);
}

static void on_fix(void *arg, const struct fleet_cell *cell)
{
	const char *const key[] = { cell[0].text, cell[1].text, cell[2].text, cell[3].text,
				    cell[4].text };

	add_pair(fleet_table_at((struct fleet_table *)arg, 5, key), cell + 5);
}

/* The brief that saves most stands for a fix at its place. */
static void join_fixes(struct fleet *f, struct fleet_table *by_brief)
{
	fleet_table_sort(by_brief);
	for (size_t i = 0; i < by_brief->groups; i++) {
		const struct fleet_group *b = &by_brief->group[i];
		struct fleet_group *g = fleet_table_at(&f->fixes, 4, b->key);

		fleet_sums_add(&g->sums, &b->sums);
		if (!g->text)
			g->text = base_arena_text(&f->fixes.mem, b->key[4]);
	}
	fleet_table_sort(&f->fixes);
}

/* --- what compute consisted of --- */

static void add_meters(struct fleet_used *to, const struct ana_units *u)
{
	to->known_ns += u->known_ns;
	to->busy_ns += u->busy_ns;
	to->tensor_ns += u->tensor_ns;
	if (!u->known_ns || u->dram_ns < 0)
		return;
	to->dram_known_ns += u->known_ns;
	to->dram_busy_ns += u->busy_ns;
	to->dram_ns += u->dram_ns;
}

struct digests {
	struct fleet *f;
	struct fleet_digest *d;
};

/* One that a later version wrote and this one cannot read tells nothing. */
static void on_digest(void *arg, const struct fleet_cell *cell)
{
	struct digests *a = arg;
	const char *why;

	if (!cell[0].text || fleet_digest_read(a->d, cell[0].text, strlen(cell[0].text), &why))
		return;
	for (size_t i = 0; i < a->d->works; i++) {
		const struct fleet_work *w = &a->d->work[i];
		const char *const key[] = { w->kind, w->precision };
		struct fleet_group *g = fleet_table_at(&a->f->compute, 2, key);

		g->sums.m[FLEET_RUNS]++;
		g->sums.m[FLEET_HELD_NS] += w->ns;
		g->sums.m[FLEET_USD] += w->usd;
	}
	add_meters(&a->f->used, &a->d->meters);
}

static int read_compute(struct fleet *f, struct fleet_store *s)
{
	struct digests a = { f, malloc(sizeof(*a.d)) };
	int err = -ENOMEM;

	if (a.d)
		err = fleet_store_read(s, FLEET_VIEW_DIGESTS, &f->options.query, on_digest, &a);
	free(a.d);
	return err;
}

/* --- prices --- */

struct fleet_group *fleet_rate_at(struct fleet *f, const char *const key[5], const char *date)
{
	struct fleet_group *g = fleet_table_at(&f->rates, 5, key);

	/* of several dates the last */
	if (!g->text || strcmp(g->text, date) < 0)
		g->text = base_arena_text(&f->rates.mem, date);
	return g;
}

static void on_rate(void *arg, const struct fleet_cell *cell)
{
	struct fleet *f = arg;
	/* gpu, model, what is priced, source and date as one, price */
	const char *const key[] = { cell[0].text, cell[1].text, cell[2].text, cell[3].text,
				    cell[5].text };
	struct fleet_group *g = fleet_rate_at(f, key, cell[4].text);

	g->sums.m[FLEET_HELD_NS] += cell[6].i;
	g->sums.m[FLEET_USD] += cell[7].i;
}

/* --- rules --- */

static void on_rules(void *arg, const struct fleet_cell *cell)
{
	struct fleet *f = arg;
	size_t i;

	for (i = 0; i < f->numbers && f->rules[i].number != cell[0].i; i++)
		;
	if (i == FLEET_RULES_MAX)
		i--;
	else if (i == f->numbers)
		f->rules[f->numbers++].number = (int64_t)cell[0].i;
	f->rules[i].runs += cell[1].i;
	f->rules[i].held_ns += cell[2].i;
	f->rules[i].failed += cell[3].i;
}

static int by_number(const void *a, const void *b)
{
	const struct fleet_rules *x = a, *y = b;

	return x->number != y->number ? (x->number < y->number ? 1 : -1) : 0;
}

bool fleet_is_mixed(const struct fleet *f)
{
	return f->numbers > 1 && f->options.by != FLEET_BY_BILL &&
	       f->options.by != FLEET_BY_FAILED && f->options.by != FLEET_BY_LOST &&
	       f->options.by != FLEET_BY_UNUSED && f->options.by != FLEET_BY_PLAN &&
	       f->options.by != FLEET_BY_SAVINGS;
}

/* --- runs --- */

static int by_cost(const void *a, const void *b)
{
	const struct fleet_run *x = a, *y = b;

	if (x->usd != y->usd)
		return x->usd > y->usd ? -1 : 1;
	if (x->held_ns != y->held_ns)
		return x->held_ns > y->held_ns ? -1 : 1;
	int order = strcmp(x->id, y->id);
	return order ? order : strcmp(x->tenant, y->tenant);
}

struct runs_of {
	struct fleet *f;
	struct fleet_runs *to;
};

static const char *keep(struct fleet *f, const struct fleet_cell *cell, int column)
{
	return base_arena_text(&f->mem, cell[column].text);
}

static void on_run(void *arg, const struct fleet_cell *cell)
{
	struct runs_of *r = arg;
	struct fleet_runs *to = r->to;

	if (to->runs == to->room) {
		size_t room = to->room ? to->room * 2 : 64;
		struct fleet_run *run = base_arena_array(&r->f->mem, room, sizeof(*run));

		if (to->runs)
			memcpy(run, to->run, to->runs * sizeof(*run));
		to->run = run;
		to->room = room;
	}
	to->run[to->runs++] = (struct fleet_run){
		.id = keep(r->f, cell, FLEET_RUN_ID),
		.tenant = keep(r->f, cell, FLEET_RUN_TENANT),
		.team = keep(r->f, cell, FLEET_RUN_TEAM),
		.user = keep(r->f, cell, FLEET_RUN_USER),
		.project = keep(r->f, cell, FLEET_RUN_PROJECT),
		.end = keep(r->f, cell, FLEET_RUN_END),
		.exit = keep(r->f, cell, FLEET_RUN_EXIT),
		.start_ns = (int64_t)cell[FLEET_RUN_START].i,
		.held_ns = (int64_t)cell[FLEET_RUN_HELD].i,
		.usd = (int64_t)cell[FLEET_RUN_USD].i,
		.priced = cell[FLEET_RUN_PRICED].i != 0,
	};
	to->count += strcmp(cell[FLEET_RUN_END].text, FLEET_REST_END) != 0;
	to->held_ns += cell[FLEET_RUN_HELD].i;
	to->usd += cell[FLEET_RUN_USD].i;
}

static int read_runs_of(struct fleet *f, struct fleet_store *s, enum fleet_view view,
			const struct fleet_query *q, struct fleet_runs *to)
{
	struct runs_of r = { f, to };
	int err = fleet_store_read(s, view, q, on_run, &r);

	if (to->runs)
		qsort(to->run, to->runs, sizeof(*to->run), by_cost);
	return err;
}

static int read_runs(struct fleet *f, struct fleet_store *s, enum fleet_view view,
		     struct fleet_runs *to)
{
	return read_runs_of(f, s, view, &f->options.query, to);
}

/* Those that are kept need not be all: what they sum to is known. Some never had a GPU. */
static int read_failed(struct fleet *f, struct fleet_store *s)
{
	int err = read_runs(f, s, FLEET_VIEW_FAILED, &f->failed);

	f->failed.count = 0;
	for (size_t i = 0; i < f->numbers; i++)
		f->failed.count += (size_t)f->rules[i].failed;
	f->failed.held_ns = f->begun.m[FLEET_FAILED_NS];
	f->failed.usd = f->begun.m[FLEET_FAILED_USD];
	return err;
}

/* Each costs nothing at least. */
static int read_all_runs(struct fleet *f, struct fleet_store *s)
{
	struct fleet_query q = f->options.query;

	q.least_usd = 0;
	return read_runs_of(f, s, FLEET_VIEW_COSTLY, &q, &f->all);
}

/* --- all of it --- */

static int read_why(struct fleet *f, struct fleet_store *s)
{
	const struct fleet_query *q = &f->options.query;
	struct fleet_table by_brief = { 0 };
	int err = fleet_store_read(s, FLEET_VIEW_CLASSES, q, on_class, f);

	if (!err)
		err = fleet_store_read(s, FLEET_VIEW_HOTSPOTS, q, on_hotspot, f);
	if (!err)
		err = fleet_store_read(s, FLEET_VIEW_FIXES, q, on_fix, &by_brief);
	join_fixes(f, &by_brief);
	fleet_table_fini(&by_brief);
	return err;
}

static int read_all(struct fleet *f, struct fleet_store *s)
{
	const struct fleet_query *q = &f->options.query;
	int err = fleet_store_read(s, FLEET_VIEW_FACTS, q, on_fact, f);

	if (!err)
		err = read_why(f, s);
	if (!err)
		err = fleet_store_read(s, FLEET_VIEW_RATES, q, on_rate, f);
	f->begun = f->total;
	if (!err && f->options.by == FLEET_BY_MONTH)
		err = fleet_collect_months(f, s);
	if (!err && fleet_is_bounded(f))
		err = fleet_collect_crossing(f, s);
	if (!err)
		err = fleet_store_read(s, FLEET_VIEW_RULES, q, on_rules, f);
	if (!err)
		err = read_failed(f, s);
	if (!err && q->required)
		err = read_runs(f, s, FLEET_VIEW_UNLABELLED, &f->unlabelled);
	if (!err && q->least_usd)
		err = read_runs(f, s, FLEET_VIEW_COSTLY, &f->costly);
	if (!err && f->options.by == FLEET_BY_COMPUTE)
		err = read_compute(f, s);
	if (!err && f->options.by == FLEET_BY_LOST)
		err = fleet_lost_collect(&f->lost, s, &f->options.query);
	if (!err && f->options.by == FLEET_BY_UNUSED)
		err = fleet_vacant_collect(&f->vacant, s, &f->options.query);
	if (!err && f->options.by == FLEET_BY_PLAN)
		err = fleet_plan_collect(&f->plan, s, &f->options.query, f->options.plan);
	if (!err && fleet_has_savings(f->options.by))
		err = fleet_savings_collect(&f->savings, s, &f->options.query);
	if (!err && f->options.by == FLEET_BY_REVIEW)
		err = fleet_review_collect(&f->review, s, &f->options.query,
					   &f->dim[FLEET_DIM_USER]);
	if (!err && f->options.by == FLEET_BY_RUN)
		err = read_all_runs(f, s);
	if (!err)
		err = fleet_collect_lines(f, s);
	return err ? err : fleet_spikes_find(f, s);
}

static int prepare(struct fleet *f, struct fleet_store *s)
{
	enum fleet_view view[FLEET_VIEWS] = { FLEET_VIEW_FACTS,	   FLEET_VIEW_CLASSES,
					      FLEET_VIEW_HOTSPOTS, FLEET_VIEW_FIXES,
					      FLEET_VIEW_RATES,	   FLEET_VIEW_WEEKS,
					      FLEET_VIEW_FAILED,   FLEET_VIEW_RULES };
	size_t n = 8;

	if (f->options.query.required)
		view[n++] = FLEET_VIEW_UNLABELLED;
	if (f->options.query.least_usd)
		view[n++] = FLEET_VIEW_COSTLY;
	if (f->options.by == FLEET_BY_MONTH) { /* of the same rows */
		view[n++] = FLEET_VIEW_MONTHS;
		view[n++] = FLEET_VIEW_OVER_MONTH;
		if (fleet_is_bounded(f))
			view[n++] = FLEET_VIEW_CROSSING;
	}
	return fleet_store_prepare(s, view, n, &f->options.query);
}

static void find_provisional(struct fleet *f)
{
	for (size_t i = 0; i < f->classes.groups; i++)
		if (!strcmp(f->classes.group[i].key[0], FLEET_NOT_ANALYSED))
			f->not_analysed = &f->classes.group[i];
}

static void sort_all(struct fleet *f)
{
	for (int d = 0; d < FLEET_DIMS; d++) {
		if (d == FLEET_DIM_WEEK)
			fleet_table_sort_names(&f->dim[d]);
		else
			fleet_table_sort(&f->dim[d]);
	}
	if (f->options.by == FLEET_BY_OFF_HOURS)
		fleet_table_sort(&f->cut);
	else
		fleet_table_sort_names(&f->cut);
	fleet_table_sort(&f->classes);
	fleet_table_sort(&f->hotspots);
	fleet_table_sort(&f->compute);
	fleet_table_sort(&f->lost.users);
	fleet_table_sort(&f->lost.jobs);
	fleet_table_sort(&f->vacant.users);
	fleet_table_sort(&f->vacant.jobs);
	fleet_table_sort(&f->rates);
	qsort(f->rules, f->numbers, sizeof(*f->rules), by_number);
}

static int check_sums(const struct fleet *f)
{
	const struct fleet_table *const more[] = { &f->classes, &f->hotspots, &f->fixes,
						   &f->compute };
	bool fit = fleet_sums_fit(&f->total) && fleet_sums_fit(&f->cut_total) &&
		   fleet_sums_fit(&f->begun) && fleet_lost_fits(&f->lost) &&
		   fleet_vacant_fits(&f->vacant) && fleet_review_fits(&f->review);

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		fit = fit && fleet_table_fits(more[i]);
	if (fit)
		return 0;
	view_error("the sums are too large to be shown, so some run's amounts are wrong; "
		   "narrow them down with --team, --since and --until");
	return -EOVERFLOW;
}

int fleet_collect(struct fleet *f, struct fleet_store *s, const struct fleet_options *o)
{
	int err;

	*f = (struct fleet){ .options = *o };
	f->options.query.top = o->by == FLEET_BY_FAILED ? 0 : o->top;
	err = prepare(f, s);
	if (!err)
		err = read_all(f, s);
	if (!err)
		err = fleet_whole_collect(&f->whole, s, &o->query, o->sacct, o->invoice,
					  o->currency);
	if (!err)
		err = check_sums(f);
	if (err)
		return err;
	sort_all(f);
	find_provisional(f);
	fleet_bill_make(f);
	return 0;
}

bool fleet_is_cut(int by)
{
	return by == FLEET_BY_MONTH || by == FLEET_BY_HOURS || by == FLEET_BY_OFF_HOURS;
}

bool fleet_is_bounded(const struct fleet *f)
{
	const struct fleet_query *q = &f->options.query;

	return q->since_ns || q->until_ns != INT64_MAX;
}

static bool shows_whole_runs(const struct fleet *f)
{
	int by = f->options.by;

	return by >= FLEET_DIMS ? by != FLEET_BY_BILL && !fleet_is_cut(by) : f->has_units;
}

bool fleet_is_whole_runs(const struct fleet *f)
{
	return shows_whole_runs(f) && memcmp(&f->begun, &f->total, sizeof(f->total)) != 0;
}

bool fleet_has_savings(int by)
{
	return by == FLEET_BY_PLAN || by == FLEET_BY_SAVINGS || by == FLEET_BY_REVIEW;
}

const struct fleet_sums *fleet_total_of(const struct fleet *f, int by)
{
	return fleet_is_cut(by) ? &f->cut_total : &f->total;
}

const struct fleet_table *fleet_table_of(const struct fleet *f, int by)
{
	if (by < FLEET_DIMS)
		return &f->dim[by];
	if (by == FLEET_BY_COMPUTE)
		return &f->compute;
	if (fleet_is_cut(by))
		return &f->cut;
	return by == FLEET_BY_CLASS ? &f->classes : by == FLEET_BY_LINE ? &f->hotspots : &f->fixes;
}

void fleet_fini(struct fleet *f)
{
	for (int d = 0; d < FLEET_DIMS; d++)
		fleet_table_fini(&f->dim[d]);
	fleet_table_fini(&f->cut);
	fleet_table_fini(&f->classes);
	fleet_table_fini(&f->hotspots);
	fleet_table_fini(&f->fixes);
	fleet_table_fini(&f->compute);
	fleet_table_fini(&f->rates);
	fleet_lost_fini(&f->lost);
	fleet_vacant_fini(&f->vacant);
	fleet_plan_fini(&f->plan);
	fleet_savings_fini(&f->savings);
	fleet_review_fini(&f->review);
	fleet_table_fini(&f->bill_groups);
	free(f->bill.line);
	fleet_whole_fini(&f->whole);
	base_arena_fini(&f->mem);
	*f = (struct fleet){ 0 };
}
