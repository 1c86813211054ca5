/* SPDX-License-Identifier: Apache-2.0 */
/* What is paid: the bill, the prices, the budgets. */
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "budget.h"
#include "page.h"

static void put_bill_line(struct fleet_page *s, const struct fleet_bill_line *l)
{
	const struct fleet_group *g = l->group;
	base_unit text;

	fleet_page_named(s, fleet_shown(g->key[0]));
	for (int k = 1; k < 4; k++)
		fleet_page_cell(s, fleet_shown(g->key[k]));
	fleet_page_cell(s, g->key[4][0] ? g->key[4] : "no price");
	fleet_page_number(s, fleet_hours(s->f, text, g->sums.m[FLEET_HELD_NS]));
	fleet_page_number(s, g->key[4][0] ? fleet_quanta(s->f, text, l->quanta) : "-");
	fputs("</tr>\n", s->out);
}

static void put_bill_sum(struct fleet_page *s, const char *what, base_wide ns, int64_t quanta)
{
	base_unit text;

	fputs("<tr class=\"sum-row\"><th scope=\"row\" colspan=\"5\"><bdi>", s->out);
	html_escape(s->out, what);
	fputs("</bdi></th>", s->out);
	fleet_page_number(s, fleet_hours(s->f, text, ns));
	fleet_page_number(s, fleet_quanta(s->f, text, quanta));
	fputs("</tr>\n", s->out);
}

/* Every line, and what each team's sum to. */
static void put_bill_whole(struct fleet_page *s)
{
	const struct fleet_bill *b = &s->f->bill;
	int64_t quanta = 0;
	base_wide ns = 0;

	for (size_t i = 0; i < b->lines; i++) {
		const struct fleet_group *g = b->line[i].group;

		put_bill_line(s, &b->line[i]);
		quanta += b->line[i].quanta;
		ns += g->sums.m[FLEET_HELD_NS];
		if (i + 1 < b->lines && !strcmp(g->key[0], b->line[i + 1].group->key[0]))
			continue;
		put_bill_sum(s, base_arena_printf(&s->mem, "Team %s", fleet_shown(g->key[0])), ns,
			     quanta);
		quanta = 0;
		ns = 0;
	}
}

static int by_quanta(const void *a, const void *b)
{
	const struct fleet_bill_line *const *x = a, *const *y = b;

	if ((*x)->quanta != (*y)->quanta)
		return (*x)->quanta > (*y)->quanta ? -1 : 1;
	return *x < *y ? -1 : *x > *y; /* as the bill has them */
}

/* The largest lines, and all others as one. */
static void put_bill_largest(struct fleet_page *s)
{
	const struct fleet_bill *b = &s->f->bill;
	const struct fleet_bill_line **line =
		base_arena_array(&s->mem, b->lines + 1, sizeof(const struct fleet_bill_line *));
	size_t n = b->lines < s->f->options.top ? b->lines : s->f->options.top;
	base_wide ns = s->f->total.m[FLEET_HELD_NS];
	int64_t quanta = b->total_quanta;
	base_unit count;

	for (size_t i = 0; i < b->lines; i++)
		line[i] = &b->line[i];
	if (b->lines)
		qsort(line, b->lines, sizeof(*line), by_quanta);
	for (size_t i = 0; i < n; i++) {
		put_bill_line(s, line[i]);
		quanta -= line[i]->quanta;
		ns -= line[i]->group->sums.m[FLEET_HELD_NS];
	}
	if (n < b->lines)
		put_bill_sum(s,
			     base_arena_printf(&s->mem, "%s more lines",
					       base_count(count, b->lines - n)),
			     ns, quanta);
}

void fleet_page_bill(struct fleet_page *s)
{
	fleet_page_table(s, "bill", "The bill",
			 T("Team") T("Project") T("User") T("GPU") T("Price model") N(TIME)
				 N("Amount"));
	if (s->f->options.by == FLEET_BY_BILL)
		put_bill_whole(s);
	else
		put_bill_largest(s);
	put_bill_sum(s, "Total", s->f->total.m[FLEET_HELD_NS], s->f->bill.total_quanta);
	fleet_page_table_end(s, 0, 0);
}

void fleet_page_rates(struct fleet_page *s)
{
	const struct fleet_table *t = &s->f->rates;
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!n)
		return;
	fputs("<section aria-labelledby=\"prices\">\n<h2 id=\"prices\">Prices used</h2>\n<ul>\n",
	      s->out);
	for (size_t i = 0; i < n; i++) {
		fputs("<li><bdi>", s->out);
		html_escape(s->out, fleet_words_rate(&t->group[i], &s->mem));
		fputs("</bdi></li>\n", s->out);
	}
	fputs("</ul>\n<p class=\"soft\">Dollars are the price of the GPUs only, for the time they "
	      "were held. A run counts where it began.</p>\n</section>\n",
	      s->out);
}

void fleet_page_budgets(struct fleet_page *s)
{
	if (!s->f->budgets)
		return;
	fputs("<section aria-labelledby=\"budgets\">\n<h2 id=\"budgets\">Budgets</h2>\n<ul>\n",
	      s->out);
	for (size_t i = 0; i < s->f->budgets; i++) {
		fputs("<li>", s->out);
		html_escape_sentence(s->out, fleet_words_budget(&s->f->budget[i], &s->mem));
		fputs("</li>\n", s->out);
	}
	fputs("</ul>\n</section>\n", s->out);
}
