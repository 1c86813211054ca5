/* SPDX-License-Identifier: Apache-2.0 */
/* Prices: each with what it is of, its source and its date. */
#include <string.h>
#include "base/amounts.h"
#include "base/units.h"
#include "text_priv.h"

static const char *fraction_text(const struct view_rate *r, struct base_arena *mem)
{
	base_unit list, percent;
	const char *part;

	if (r->fraction_num == r->fraction_den)
		return "";
	if (view_rate_in_parts(r))
		part = base_arena_printf(mem, "%u/%u", r->fraction_num, r->fraction_den);
	else
		part = base_arena_printf(
			mem, "%s %%",
			base_percent(percent,
				     base_ppm(r->nano_usd_per_hour, r->list_nano_usd_per_hour)));
	return base_arena_printf(mem, " = %s of %s" VIEW_RATE_PART_WORDS, part,
				 base_price_text(list, r->list_nano_usd_per_hour));
}

const char *view_text_rate(const struct view_rate *r, struct base_arena *mem)
{
	base_unit price;

	return base_arena_printf(mem, "%s per GPU-hour%s (%s, %s, %s%s%s)",
				 base_price_text(price, r->nano_usd_per_hour),
				 fraction_text(r, mem), r->label, r->price_model, r->date,
				 r->guide ? ", an order of magnitude" : "",
				 r->assumed ? ", assumed" : "");
}

static bool rate_printed(const struct view_cost *c, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (c->rate[i].nano_usd_per_hour == c->rate[upto].nano_usd_per_hour &&
		    !strcmp(c->rate[i].label, c->rate[upto].label) &&
		    !strcmp(c->rate[i].price_model, c->rate[upto].price_model))
			return true;
	return false;
}

const char *view_text_rates(const struct view_summary *s, struct base_arena *mem)
{
	const char *all = "";

	for (size_t i = 0; s->cost.known && i < s->cost.gpus; i++) {
		if (rate_printed(&s->cost, i))
			continue;
		all = base_arena_printf(mem, "%s%s%s", all, *all ? " and " : "",
					view_text_rate(&s->cost.rate[i], mem));
	}
	return all;
}

static void put_assumed(struct page *p)
{
	fputs("    ", p->f);
	text_wrap(p, 4, 4,
		  "assumed: the provider is not known, so the cheapest price known is taken");
}

void text_prices(struct page *p)
{
	const struct view_summary *s = p->s;
	base_unit hours, useful;

	text_heading(p, "Price");
	const char *t = base_arena_printf(&p->mem, "%s", base_gpu_time(hours, s->result->gpu_ns));
	if (s->useful_nano_usd >= 0)
		t = base_arena_printf(&p->mem, "%s; %s per GPU-hour that was not wasted", t,
				      base_money_ascii(useful, s->useful_nano_usd));
	text_line(p, t);
	for (size_t i = 0; s->cost.known && i < s->cost.gpus; i++) {
		const struct view_rate *r = &s->cost.rate[i];
		if (rate_printed(&s->cost, i))
			continue;
		fputs("  ", p->f);
		text_wrap(p, 2, 4,
			  base_arena_printf(&p->mem, "%s: %s; source: %s", r->gpu,
					    view_text_rate(r, &p->mem), r->source));
		if (r->assumed)
			put_assumed(p);
	}
}
