/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as text, JSON, CSV and page. In dollars, whatever currency the fleet is shown in. */
#include <inttypes.h>
#include <string.h>
#include "base/csv.h"
#include "base/jsonout.h"
#include "base/units.h"
#include "core/wrap.h"
#include "page.h"

/* --- words --- */

static const char *name_of(const struct fleet_plan_type *t, struct base_arena *mem)
{
	return t->provider[0] ? base_arena_printf(mem, "%s of %s", t->gpu, t->provider) : t->gpu;
}

static const char *count(char *out, base_wide gpus)
{
	return base_count(out, gpus < INT64_MAX ? (uint64_t)gpus : INT64_MAX);
}

/* "$3.10 an hour (contract 77, 2026-01-15)" */
static const char *price_words(const struct fleet_plan_price *p, struct base_arena *mem)
{
	base_unit usd;
	const char *t =
		base_arena_printf(mem, "%s an hour (%s%s%s",
				  base_price_text(usd, base_div_even(p->num, p->den)),
				  p->assumed ? "assumed: " : "", p->what, p->source[0] ? ", " : "");

	return base_arena_printf(mem, "%s%s%s%s)", t, p->source, p->date[0] ? ", " : "", p->date);
}

/* The part of the stretch for which so many of it were held, in percent. */
static const char *part_of(char *out, const struct fleet_plan *p, const struct fleet_plan_type *t,
			   base_wide gpus)
{
	return base_percent(out, base_ppm(fleet_plan_at_least(t, gpus), p->until_ns - p->since_ns));
}

/* From which part of the time on one pays. */
static const char *pays_from(char *out, const struct fleet_plan_type *t,
			     const struct fleet_plan_price *price)
{
	base_wide each = t->on_demand.num * price->den;

	return base_percent(out, each > 0 ? base_ppm(price->num, each) : 0);
}

static const char *unused_words(const struct fleet_plan_choice *c, struct base_arena *mem)
{
	base_unit hours, usd;

	if (!c->unused_ns)
		return "all of it was held";
	return base_arena_printf(mem, "%s of it (%s) nobody held",
				 base_gpu_time(hours, c->unused_ns),
				 base_money(usd, c->unused_usd));
}

/* "8 reserved at ... would have been cheapest: $4,100.00, $1,489.31 less; ..." */
static const char *best_words(const struct fleet_plan *p, const struct fleet_plan_type *t,
			      const struct fleet_plan_choice *c, const char *kind,
			      struct base_arena *mem)
{
	base_unit n, usd, less, held, from;
	const char *price = price_words(&c->price, mem);

	if (!c->gpus)
		return base_arena_printf(
			mem,
			"none %s at %s would have been cheapest: one pays if it is held for more "
			"than %s %% of the time, and the first was for %s %%",
			kind, price, pays_from(from, t, &c->price), part_of(held, p, t, 1));
	return base_arena_printf(mem, "%s %s at %s would have been cheapest: %s, %s less; %s",
				 count(n, c->gpus), kind, price, base_money(usd, c->usd),
				 base_money(less, t->on_demand_usd - c->usd), unused_words(c, mem));
}

static const char *given_words(const struct fleet_plan_type *t, struct base_arena *mem)
{
	const struct fleet_plan_choice *c = &t->given;
	base_wide more = c->usd - t->reserved.usd;
	base_unit n, usd, text;

	return base_arena_printf(mem, "the %s that are reserved: %s, %s; %s", count(n, c->gpus),
				 base_money(usd, c->usd),
				 more ? base_arena_printf(mem, "%s more than the cheapest",
							  base_money(text, more))
				      : "as cheap as can be",
				 unused_words(c, mem));
}

/* What was asked for and cannot be told is not passed over. */
static const char *no_given_words(const struct fleet_plan_type *t, struct base_arena *mem)
{
	base_unit n;

	return base_arena_printf(
		mem,
		"the %s that %s reserved %s not in the plan: no %s of %s is known; add a row %s "
		"to a list of prices (gpustarve-prices(1))",
		count(n, t->given_gpus), t->given_gpus == 1 ? "is" : "are",
		t->given_gpus == 1 ? "is" : "are",
		t->reserved.price.known ? "price on demand" : "reserved price", t->gpu,
		t->reserved.price.known ? "on-demand" : "reserved");
}

/* What would be cheapest if a reservation cost so much of the price on demand. */
static base_wide cheapest_at(const struct fleet_plan *p, const struct fleet_plan_type *t,
			     int percent)
{
	base_wide stretch = p->until_ns - p->since_ns, ns = 0;

	for (size_t i = t->steps; i; i--) {
		ns += t->step[i - 1].ns;
		if (ns * 100 > stretch * percent)
			return t->step[i - 1].gpus;
	}
	return 0;
}

/* Where no price of one is known. */
static const char *even_words(const struct fleet_plan *p, const struct fleet_plan_type *t,
			      struct base_arena *mem)
{
	base_unit n, part;
	const char *words = base_arena_printf(
		mem,
		"no reserved price is known (gpustarve-prices(1)): the first pays below %s %% of "
		"the price on demand; the cheapest count would be",
		part_of(part, p, t, 1));

	for (int percent = 80; percent > 0; percent -= 20)
		words = base_arena_printf(mem, "%s%s %s at %d %%", words, percent < 80 ? "," : "",
					  count(n, cheapest_at(p, t, percent)), percent);
	return words;
}

static const char *head_words(const struct fleet_plan *p, const struct fleet_plan_type *t,
			      struct base_arena *mem)
{
	int64_t mean = base_ppm(t->held_ns, p->until_ns - p->since_ns) / 10000;
	base_unit hours, runs, most;

	return base_arena_printf(mem, "%s in %s; %s%s at once, %" PRId64 ".%02d on average",
				 base_gpu_time(hours, t->held_ns),
				 fleet_runs_of(runs, (uint64_t)t->runs),
				 t->unsure_runs ? "by that up to " : "at most ",
				 count(most, t->most), mean / 100, (int)(mean % 100));
}

/* Of GPUs that were held for a part of the run it is not known for which. */
static const char *unsure_words(const struct fleet_plan_type *t, struct base_arena *mem)
{
	base_unit hours, runs, most;

	return base_arena_printf(mem,
				 "%s of that are of %s whose GPUs were held for less than the run "
				 "took: when is not known; at most %s at once in any case",
				 base_gpu_time(hours, t->unsure_ns),
				 fleet_runs_of(runs, (uint64_t)t->unsure_runs),
				 count(most, t->bound));
}

#define WORDS_MAX 7

/* What is to be said of a type, NULL after the last. */
static const char *const *type_words(const struct fleet_plan *p, const struct fleet_plan_type *t,
				     struct base_arena *mem)
{
	const char **w = base_arena_array(mem, WORDS_MAX, sizeof(*w));
	base_unit usd;
	size_t n = 0;

	w[n++] = head_words(p, t, mem);
	if (t->unsure_runs)
		w[n++] = unsure_words(t, mem);
	w[n++] = t->on_demand.known ? base_arena_printf(mem, "all on demand: %s at %s",
							base_money(usd, t->on_demand_usd),
							price_words(&t->on_demand, mem))
				    : "no price on demand is known (gpustarve-prices(1))";
	if (t->reserved.known)
		w[n++] = best_words(p, t, &t->reserved, "reserved", mem);
	else if (!t->reserved.price.known)
		w[n++] = even_words(p, t, mem);
	if (t->given.known)
		w[n++] = given_words(t, mem);
	else if (t->given_gpus)
		w[n++] = no_given_words(t, mem);
	if (t->own.known)
		w[n++] = best_words(p, t, &t->own, "owned", mem);
	return w;
}

static const char *scope_words(const struct fleet_plan *p, struct base_arena *mem)
{
	base_unit since, until;

	if (!p->types)
		return "no GPU was held";
	return base_arena_printf(mem,
				 "%s to %s. A run's GPUs are taken as held from its start, all "
				 "equally long; reserved and owned ones are paid all the time",
				 base_moment(since, p->since_ns), base_moment(until, p->until_ns));
}

/* --- text --- */

void fleet_plan_text(const struct fleet *f, FILE *out)
{
	const struct fleet_plan *p = &f->plan;
	size_t n = p->types < f->options.top ? p->types : f->options.top;
	struct base_arena mem = { 0 };

	fputs("  ", out);
	view_wrap(out, 2, 2, scope_words(p, &mem));
	for (size_t i = 0; i < n; i++) {
		fputs("\n  ", out);
		view_wrap(out, 2, 4, name_of(&p->type[i], &mem));
		for (const char *const *w = type_words(p, &p->type[i], &mem); *w; w++) {
			fputs("    ", out);
			view_wrap(out, 4, 6, *w);
		}
	}
	if (p->types > n)
		fprintf(out, "  and %zu more: --top N\n", p->types - n);
	base_arena_fini(&mem);
}

/* --- JSON --- */

static void json_price(struct base_jsonout *j, const char *key, const struct fleet_plan_price *p)
{
	if (!p->known) {
		base_json_null(j, key);
		return;
	}
	base_json_flat_object(j, key);
	base_json_usd(j, "usd_per_gpu_hour", base_div_even_wide(p->num, p->den), true);
	base_json_string(j, "what", p->what);
	base_json_bool(j, "assumed", p->assumed);
	base_json_string(j, "source", p->source);
	base_json_string(j, "date", p->date[0] ? p->date : NULL);
	base_json_end(j);
}

static void json_choice(struct base_jsonout *j, const char *key, const struct fleet_plan_choice *c)
{
	if (!c->known) {
		base_json_null(j, key);
		return;
	}
	base_json_flat_object(j, key);
	base_json_wide(j, "gpus", c->gpus);
	base_json_usd(j, "usd", c->usd, true);
	base_json_wide(j, "unused_ns", c->unused_ns);
	base_json_usd(j, "unused_usd", c->unused_usd, true);
	base_json_end(j);
}

static void json_owned(struct base_jsonout *j, const struct fleet_plan_own *own)
{
	if (!own) {
		base_json_null(j, "own_price");
		return;
	}
	base_json_flat_object(j, "own_price");
	base_json_usd(j, "usd", own->nano_usd, true);
	base_json_int(j, "years", own->years);
	base_json_usd(j, "usd_per_hour", own->running, true);
	base_json_end(j);
}

static void json_type(struct base_jsonout *j, const struct fleet_plan_type *t)
{
	base_json_object(j, NULL);
	base_json_string(j, "gpu", t->gpu);
	base_json_string(j, "provider", t->provider[0] ? t->provider : NULL);
	base_json_wide(j, "runs", t->runs);
	base_json_wide(j, "held_ns", t->held_ns);
	base_json_wide(j, "most", t->most);
	base_json_wide(j, "most_bound", t->bound);
	base_json_wide(j, "unsure_runs", t->unsure_runs);
	base_json_wide(j, "unsure_ns", t->unsure_ns);
	base_json_flat_array(j, "levels");
	for (size_t i = 0; i < t->steps; i++) {
		base_json_flat_array(j, NULL);
		base_json_wide(j, NULL, t->step[i].gpus);
		base_json_int(j, NULL, t->step[i].ns);
		base_json_end(j);
	}
	base_json_end(j);
	json_price(j, "on_demand_price", &t->on_demand);
	json_price(j, "reserved_price", &t->reserved.price);
	json_owned(j, t->owned);
	base_json_usd(j, "on_demand_usd", t->on_demand_usd, t->on_demand.known);
	json_choice(j, "reserved", &t->reserved);
	json_choice(j, "given", &t->given);
	json_choice(j, "own", &t->own);
	base_json_end(j);
}

void fleet_plan_json(const struct fleet_plan *p, struct base_jsonout *j)
{
	base_json_object(j, "plan");
	base_json_int(j, "since_unix_ns", p->since_ns);
	base_json_int(j, "until_unix_ns", p->until_ns);
	base_json_array(j, "types");
	for (size_t i = 0; i < p->types; i++)
		json_type(j, &p->type[i]);
	base_json_end(j);
	base_json_end(j);
}

/* --- CSV --- */

static void csv_price(FILE *out, const struct fleet_plan_price *p)
{
	base_unit usd;

	if (!p->known) {
		fputs(",,,", out);
		return;
	}
	fprintf(out, ",%s,", base_dollars_exact(usd, base_div_even_wide(p->num, p->den)));
	base_csv_put_guarded(out, p->source);
	fputc(',', out);
	base_csv_put_guarded(out, p->date);
}

static void csv_choice(FILE *out, const struct fleet_plan_choice *c)
{
	base_unit text;

	if (!c->known) {
		fputs(",,,,", out);
		return;
	}
	fprintf(out, ",%s", base_wide_text(text, c->gpus));
	fprintf(out, ",%s", base_dollars_exact(text, c->usd));
	fprintf(out, ",%s", base_wide_text(text, c->unused_ns));
	fprintf(out, ",%s", base_dollars_exact(text, c->unused_usd));
}

static void csv_row(FILE *out, const struct fleet_plan *p, const struct fleet_plan_type *t)
{
	base_unit text;

	base_csv_put_guarded(out, t->gpu);
	fputc(',', out);
	base_csv_put_guarded(out, t->provider);
	fprintf(out, ",%" PRId64 ",%" PRId64, p->since_ns, p->until_ns);
	fprintf(out, ",%s", base_wide_text(text, t->runs));
	fprintf(out, ",%s", base_wide_text(text, t->held_ns));
	fprintf(out, ",%s", base_wide_text(text, t->most));
	fprintf(out, ",%s", base_wide_text(text, t->bound));
	fprintf(out, ",%s", base_wide_text(text, t->unsure_runs));
	fprintf(out, ",%s", base_wide_text(text, t->unsure_ns));
	csv_price(out, &t->on_demand);
	fprintf(out, ",%s", t->on_demand.known ? base_dollars_exact(text, t->on_demand_usd) : "");
	csv_price(out, &t->reserved.price);
	csv_choice(out, &t->reserved);
	csv_choice(out, &t->given);
	csv_price(out, &t->own.price);
	csv_choice(out, &t->own);
	fputs("\r\n", out);
}

#define PRICE_COLUMNS(of) "," of "_usd_per_gpu_hour," of "_source," of "_date"
#define CHOICE_COLUMNS(of) "," of "_gpus," of "_usd," of "_unused_ns," of "_unused_usd"

void fleet_plan_csv(const struct fleet_plan *p, FILE *out)
{
	fputs("gpu,provider,since_unix_ns,until_unix_ns,runs,held_ns,most,most_bound,unsure_runs,unsure_ns" PRICE_COLUMNS(
		      "on_demand") ",on_demand_usd" PRICE_COLUMNS("reserved")
		      CHOICE_COLUMNS("reserved") CHOICE_COLUMNS("given") PRICE_COLUMNS("own")
			      CHOICE_COLUMNS("own") "\r\n",
	      out);
	for (size_t i = 0; i < p->types; i++)
		csv_row(out, p, &p->type[i]);
}

/* --- page --- */

static void page_choice(struct fleet_page *s, const struct fleet_plan_choice *c)
{
	base_unit text;

	fleet_page_number(s, c->known ? count(text, c->gpus) : "-");
	fleet_page_number(s, c->known ? base_money(text, c->usd) : "-");
	fleet_page_number(s, c->known ? base_money(text, c->unused_usd) : "-");
}

static void page_row(struct fleet_page *s, const struct fleet_plan_type *t)
{
	base_unit text;

	fleet_page_named(s, name_of(t, &s->mem));
	fleet_page_number(s, base_gpu_time(text, t->held_ns));
	fleet_page_number(s, count(text, t->most));
	fleet_page_number(s, t->on_demand.known ? base_money(text, t->on_demand_usd) : "-");
	page_choice(s, &t->reserved);
	page_choice(s, &t->own);
	fputs("</tr>\n", s->out);
}

static void page_sentence(struct fleet_page *s, const char *text)
{
	fputs("<p>", s->out);
	html_escape_sentence(s->out, text);
	fputs("</p>\n", s->out);
}

static void page_types(struct fleet_page *s)
{
	const struct fleet_plan *p = &s->f->plan;
	size_t n = p->types < s->f->options.top ? p->types : s->f->options.top;

	fputs("<section aria-label=\"What the plan is of\">", s->out);
	page_sentence(s, scope_words(p, &s->mem));
	for (size_t i = 0; i < n; i++) {
		fputs("<p><strong>", s->out);
		html_escape(s->out, name_of(&p->type[i], &s->mem));
		fputs("</strong></p>\n", s->out);
		for (const char *const *w = type_words(p, &p->type[i], &s->mem); *w; w++)
			page_sentence(s, *w);
	}
	fputs("</section>\n", s->out);
	if (!n)
		return;
	fleet_page_table(s, "plan", fleet_title(FLEET_BY_PLAN),
			 T("GPU") N("Held") N("Most at once") N("On demand") N("Reserved") N("Cost")
				 N("Not held") N("Owned") N("Cost") N("Not held"));
	for (size_t i = 0; i < n; i++)
		page_row(s, &p->type[i]);
	fleet_page_table_end(s, p->types, n);
}

void fleet_page_plan(struct fleet_page *s)
{
	page_types(s);
	fleet_page_savings(s);
}
