/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet for a terminal: in 80 columns, and in 115 where one table is asked for. */
#include <string.h>
#include "base/units.h"
#include "base/utf8.h"
#include "core/wrap.h"
#include "bill.h"
#include "budget.h"
#include "fleet_out.h"

#define NAME_COLUMNS 23

struct sheet {
	const struct fleet *f;
	FILE *out;
	struct view_text_style style;
	struct base_arena mem;
};

static void heading(struct sheet *s, const char *text)
{
	fprintf(s->out, "\n%s%s%s\n", s->style.colour ? "\033[1m" : "", text,
		s->style.colour ? "\033[0m" : "");
}

/* Cut at @columns and filled up to them. */
static void put_name(struct sheet *s, const char *text, int columns)
{
	size_t at = 0, len = strlen(text);
	int used = 0;

	while (at < len) {
		size_t n = base_utf8_length(text + at, len - at);
		n = n ? n : 1;
		int wide = base_utf8_width(text + at, n);
		if (used + wide > columns)
			break;
		used += wide;
		at += n;
	}
	view_put_tame_part(s->out, text, at);
	fprintf(s->out, "%*s", columns - used, "");
}

/* One table alone has room for what else there is to know of a name. */
static bool is_wide(const struct sheet *s)
{
	return s->f->options.by != FLEET_BY_NOTHING;
}

static void put_head(struct sheet *s, const char *name)
{
	fprintf(s->out, "  %-*s %12s %13s %13s %5s", NAME_COLUMNS, name, fleet_time_name(s->f),
		"cost", "wasted", "%");
	if (is_wide(s))
		fprintf(s->out, " %13s %5s %12s", "starved", "%", "under 5 %");
	fprintf(s->out, " %7s\n", "runs");
}

static void put_amount(struct sheet *s, const char *text)
{
	fprintf(s->out, "%*s", base_width(text, 13), text);
}

/* With the quanta of its three amounts. */
static void put_row(struct sheet *s, const char *name, const struct fleet_sums *sums,
		    const int64_t quanta[3])
{
	const base_wide *m = sums->m;
	bool priced = m[FLEET_UNPRICED_NS] != m[FLEET_HELD_NS];
	base_unit hours, usd, pct, runs;

	fputs("  ", s->out);
	put_name(s, name, NAME_COLUMNS);
	fprintf(s->out, " %12s ", fleet_hours(s->f, hours, m[FLEET_HELD_NS]));
	put_amount(s, priced ? fleet_usd_closed(s->f, usd, m[FLEET_USD], quanta[0]) : "-");
	fputc(' ', s->out);
	put_amount(s, priced ? fleet_usd_closed(s->f, usd, m[FLEET_WASTED_USD], quanta[1]) : "-");
	fprintf(s->out, " %5s", base_percent(pct, base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS])));
	if (is_wide(s)) {
		fputc(' ', s->out);
		put_amount(s, priced ? fleet_usd_closed(s->f, usd, m[FLEET_STARVED_USD], quanta[2])
				     : "-");
		fprintf(s->out, " %5s %12s",
			base_percent(pct, base_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS])),
			fleet_hours_of_minutes(s->f, hours, m[FLEET_MINUTES_IDLE]));
	}
	fprintf(s->out, " %7s\n", base_count(runs, (uint64_t)m[FLEET_RUNS]));
}

static void put_left_out(struct sheet *s, size_t all, size_t shown)
{
	base_unit n;

	if (all > shown)
		fprintf(s->out, "  and %s more: --top N\n", base_count(n, all - shown));
}

static void put_told(struct sheet *s, const struct fleet_table *t, int by, size_t n,
		     const int64_t *quanta)
{
	for (size_t i = 0; i < n; i++) {
		fputs("  ", s->out);
		view_wrap(s->out, 2, 4,
			  fleet_words_group(s->f, &t->group[i], by, quanta[i], &s->mem));
	}
}

static void put_dim(struct sheet *s, int d)
{
	static const enum fleet_measure amount[] = { FLEET_USD, FLEET_WASTED_USD,
						     FLEET_STARVED_USD };
	const struct fleet_table *t = fleet_table_of(s->f, d);
	const struct fleet_sums *total = fleet_total_of(s->f, d);
	int64_t quantum = fleet_money_scale(s->f).quantum;
	const int64_t *quanta[3];
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;
	/* the last weeks */
	size_t from = d == FLEET_DIM_WEEK || d == FLEET_BY_MONTH ? t->groups - n : 0;

	for (int k = 0; k < 3; k++)
		quanta[k] = fleet_table_quanta(t, amount[k], total->m[amount[k]], quantum, &s->mem);
	heading(s, fleet_title(d));
	put_head(s, fleet_by_name(d));
	for (size_t i = from; i < from + n; i++)
		put_row(s, fleet_group_name(&t->group[i], d, &s->mem), &t->group[i].sums,
			(const int64_t[]){ quanta[0][i], quanta[1][i], quanta[2][i] });
	put_left_out(s, t->groups, n);
	if (fleet_tells_groups(s->f, d))
		put_told(s, t, d, n, quanta[0]);
}

/* Of classes, lines and fixes: time, dollars, runs. */
static void put_pairs(struct sheet *s, int by)
{
	const struct fleet_table *t = fleet_table_of(s->f, by);
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!t->groups)
		return;
	heading(s, fleet_title(by));
	if (by == FLEET_BY_FIX)
		fputs("  what each could save at most; savings of one run overlap\n", s->out);
	fprintf(s->out, "  %12s %13s %5s %7s\n", fleet_time_name(s->f),
		by == FLEET_BY_FIX ? "at most" : "cost", "%", "runs");
	for (size_t i = 0; i < n; i++) {
		const base_wide *m = t->group[i].sums.m;
		base_unit hours, usd, pct, runs;

		fprintf(s->out, "  %12s ", fleet_hours(s->f, hours, m[FLEET_HELD_NS]));
		put_amount(s, fleet_usd(s->f, usd, m[FLEET_USD]));
		fprintf(s->out, " %5s %7s  ",
			base_percent(pct, base_ppm(m[FLEET_HELD_NS], s->f->begun.m[FLEET_HELD_NS])),
			base_count(runs, (uint64_t)m[FLEET_RUNS]));
		view_put_tame(s->out, fleet_group_name(&t->group[i], by, &s->mem));
		fputc('\n', s->out);
	}
	put_left_out(s, t->groups, n);
}

/* Of the time in which anything ran, as far as NVML's meters were asked. */
static void put_used(struct sheet *s)
{
	const struct fleet_used *u = &s->f->used;
	base_unit tensor, dram, busy;

	if (!u->busy_ns)
		return;
	fprintf(s->out, "  NVML: %s %% of the tensor cores' time used while anything ran (%s)",
		base_percent(tensor, base_ppm(u->tensor_ns, u->busy_ns)),
		fleet_gpu_time(s->f, busy, u->busy_ns));
	if (u->dram_busy_ns)
		fprintf(s->out, ", %s %% of the memory's bandwidth",
			base_percent(dram, base_ppm(u->dram_ns, u->dram_busy_ns)));
	fputc('\n', s->out);
}

static void put_runs(struct sheet *s, const char *title, const struct fleet_runs *r)
{
	size_t n = r->runs < s->f->options.top ? r->runs : s->f->options.top;
	base_unit count, hours, usd, start;

	if (!r->count)
		return;
	heading(s, title);
	fprintf(s->out, "  %s, %s, %s\n", fleet_runs_of(count, r->count),
		fleet_gpu_time(s->f, hours, r->held_ns), fleet_usd(s->f, usd, r->usd));
	fprintf(s->out, "  %12s %13s  %-10s  %s\n", fleet_time_name(s->f), "cost", "began",
		"run, end, user");
	for (size_t i = 0; i < n; i++) {
		const struct fleet_run *run = &r->run[i];

		fprintf(s->out, "  %12s ", fleet_hours(s->f, hours, run->held_ns));
		put_amount(s, run->priced ? fleet_usd(s->f, usd, run->usd) : "-");
		fprintf(s->out, "  %s  ", base_day(start, run->start_ns));
		view_put_tame(s->out, run->id);
		fprintf(s->out, "  %s%s", run->end, run->exit[0] ? " " : "");
		view_put_tame(s->out, run->exit);
		fputs("  ", s->out);
		view_put_tame(s->out, run->user[0] ? run->user : fleet_shown(run->team));
		fputc('\n', s->out);
	}
	put_left_out(s, r->count, n);
}

static void put_bill_sum(struct sheet *s, int64_t quanta, base_wide ns, const char *what,
			 const char *team)
{
	base_unit usd, hours;

	fputs(s->style.colour ? "\033[1m  " : "  ", s->out);
	put_amount(s, fleet_quanta(s->f, usd, quanta));
	fprintf(s->out, " %12s  %s", fleet_hours(s->f, hours, ns), what);
	view_put_tame(s->out, team);
	fprintf(s->out, "%s\n", s->style.colour ? "\033[0m" : "");
}

static void put_bill_line(struct sheet *s, const struct fleet_bill_line *l)
{
	const struct fleet_group *g = l->group;
	base_unit usd, hours;

	fputs("  ", s->out);
	put_amount(s, g->key[4][0] ? fleet_quanta(s->f, usd, l->quanta) : "no price");
	fprintf(s->out, " %12s  ", fleet_hours(s->f, hours, g->sums.m[FLEET_HELD_NS]));
	for (int k = 0; k < FLEET_BILL_DIMS; k++) {
		fputs(k ? ", " : "", s->out);
		view_put_tame(s->out, k == FLEET_BILL_DIMS - 1 && !g->key[k][0]
					      ? "no price"
					      : fleet_shown(g->key[k]));
	}
	fputc('\n', s->out);
}

/* A team's lines, then what they sum to. */
static void put_bill(struct sheet *s)
{
	const struct fleet_bill *b = &s->f->bill;
	int64_t quanta = 0;
	base_wide ns = 0;

	heading(s, "The bill");
	fprintf(s->out, "  %13s %12s  %s\n", "amount", fleet_time_name(s->f),
		"team, project, user, GPU, price model");
	for (size_t i = 0; i < b->lines; i++) {
		const struct fleet_group *g = b->line[i].group;

		put_bill_line(s, &b->line[i]);
		quanta += b->line[i].quanta;
		ns += g->sums.m[FLEET_HELD_NS];
		if (i + 1 < b->lines && !strcmp(g->key[0], b->line[i + 1].group->key[0]))
			continue;
		put_bill_sum(s, quanta, ns, "team ", fleet_shown(g->key[0]));
		quanta = 0;
		ns = 0;
	}
	put_bill_sum(s, b->total_quanta, s->f->total.m[FLEET_HELD_NS], "total", "");
}

static void put_use(struct sheet *s)
{
	const struct fleet_sums *t = &s->f->total;
	base_wide all = fleet_minutes(t);
	base_unit hours, usd, pct;

	if (!all)
		return;
	heading(s, "How busy the GPUs were, minute by minute");
	for (int b = 0; b < FLEET_BANDS; b++) {
		base_wide minutes = t->m[FLEET_MINUTES_IDLE + b];

		fprintf(s->out, "  %-12s %13s %s %6s %%", fleet_band_names[b],
			fleet_hours_of_minutes(s->f, hours, minutes), fleet_time_name(s->f),
			base_percent(pct, base_ppm(minutes, all)));
		if (!b && t->m[FLEET_IDLE_USD])
			fprintf(s->out, "  idle: %s", fleet_usd(s->f, usd, t->m[FLEET_IDLE_USD]));
		fputc('\n', s->out);
	}
}

static void put_spot(struct sheet *s)
{
	const base_wide *m = s->f->total.m;
	base_unit hours, pct, usd;

	heading(s, "On spot");
	fprintf(s->out, "  %s, %s %% of all; %s\n", fleet_gpu_time(s->f, hours, m[FLEET_SPOT_NS]),
		base_percent(pct, base_ppm(m[FLEET_SPOT_NS], m[FLEET_HELD_NS])),
		fleet_usd(s->f, usd, m[FLEET_SPOT_USD]));
}

static void put_rates(struct sheet *s)
{
	const struct fleet_table *t = &s->f->rates;
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!t->groups)
		return;
	heading(s, "Prices");
	for (size_t i = 0; i < n; i++) {
		fputs("  ", s->out);
		view_wrap(s->out, 2, 4, fleet_words_rate(&t->group[i], &s->mem));
	}
	put_left_out(s, t->groups, n);
}

static void put_budgets(struct sheet *s)
{
	if (!s->f->budgets)
		return;
	heading(s, "Budgets");
	for (size_t i = 0; i < s->f->budgets; i++) {
		fputs(s->f->budget[i].told ? "! " : "  ", s->out);
		view_wrap(s->out, 2, 4, fleet_words_budget(&s->f->budget[i], &s->mem));
	}
}

static void put_overview(struct sheet *s)
{
	for (size_t i = 0; i < FLEET_TABLES; i++) {
		const struct fleet_table *t = &s->f->dim[fleet_tables[i]];
		if (fleet_is_told(t, fleet_tables[i]) || (i == 0 && t->groups))
			put_dim(s, fleet_tables[i]);
	}
	put_pairs(s, FLEET_BY_CLASS);
	put_pairs(s, FLEET_BY_LINE);
	put_pairs(s, FLEET_BY_FIX);
	put_dim(s, FLEET_DIM_WEEK);
	put_use(s);
	put_spot(s);
	put_runs(s, fleet_title(FLEET_BY_FAILED), &s->f->failed);
}

static void put_lost(struct sheet *s)
{
	heading(s, fleet_title(FLEET_BY_LOST));
	fleet_lost_text(s->f, s->out);
}

static void put_vacant(struct sheet *s)
{
	heading(s, fleet_title(FLEET_BY_UNUSED));
	fleet_vacant_text(s->f, s->out);
}

static void put_plan(struct sheet *s)
{
	heading(s, fleet_title(FLEET_BY_PLAN));
	fleet_plan_text(s->f, s->out);
}

static void put_savings(struct sheet *s)
{
	heading(s, fleet_title(FLEET_BY_SAVINGS));
	fleet_savings_text(s->f, s->out);
}

static void put_review(struct sheet *s)
{
	for (int part = 0; part < FLEET_REVIEW_PARTS; part++) {
		heading(s, fleet_review_titles[part]);
		fleet_review_text(s->f, (enum fleet_review_part)part, s->out);
	}
}

static void put_one(struct sheet *s, int by)
{
	if (by < FLEET_DIMS || fleet_is_cut(by))
		put_dim(s, by);
	else if (by == FLEET_BY_RUN)
		put_runs(s, fleet_title(by), &s->f->all);
	else if (by == FLEET_BY_LOST)
		put_lost(s);
	else if (by == FLEET_BY_UNUSED)
		put_vacant(s);
	else if (by == FLEET_BY_PLAN)
		put_plan(s);
	else if (by == FLEET_BY_SAVINGS)
		put_savings(s);
	else if (by == FLEET_BY_REVIEW)
		put_review(s);
	else if (by == FLEET_BY_BILL)
		put_bill(s);
	else if (by == FLEET_BY_FAILED)
		put_runs(s, fleet_title(by), &s->f->failed);
	else
		put_pairs(s, by);
	if (by == FLEET_BY_COMPUTE)
		put_used(s);
	if (by == FLEET_BY_PLAN)
		put_savings(s);
}

void fleet_write_text(const struct fleet *f, FILE *out, const struct view_text_style *style)
{
	struct sheet s = { .f = f, .out = out, .style = *style };

	for (const char *const *w = fleet_whole_words(&f->whole, &s.mem); *w; w++)
		view_wrap(out, 0, 2, *w);
	fleet_whole_text(f, out);
	view_wrap(out, 0, 2, fleet_words_scope(f, &s.mem));
	view_wrap(out, 0, 2, fleet_words_cost(f, &s.mem));
	for (const char *const *note = fleet_words_notes(f, &s.mem); *note; note++) {
		fputs("  ", out);
		view_wrap(out, 2, 4, *note);
	}
	if (f->options.by == FLEET_BY_NOTHING)
		put_overview(&s);
	else
		put_one(&s, f->options.by);
	put_runs(&s, "Runs that lack the label", &f->unlabelled);
	put_budgets(&s);
	put_rates(&s);
	base_arena_fini(&s.mem);
}
