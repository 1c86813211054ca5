/* SPDX-License-Identifier: Apache-2.0 */
/* What the run cost, at which rates, and who says so since when. */
#include <inttypes.h>
#include "html_priv.h"

static bool shown(const struct view_cost *c, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (view_rate_same(&c->rate[i], &c->rate[upto]))
			return true;
	return false;
}

static void put_price(struct html *h, const struct view_rate *r, size_t at)
{
	if (!r->known) {
		html_put(h, "no price is known");
		return;
	}
	if (!h->s->cost.known) {
		html_put(h, "known, but of no use while another GPU has none");
		return;
	}
	html_price(h, r->nano_usd_per_hour, "/cost/rates/%zu/usd_per_gpu_hour", at);
	html_put(h, " per GPU-hour");
	if (r->fraction_num == r->fraction_den)
		return;
	html_put(h, "<br><span class=\"soft small\">");
	html_rate_part(h, r, at);
	html_put(h, "</span>");
}

void html_rate_part(struct html *h, const struct view_rate *r, size_t at)
{
	if (view_rate_in_parts(r))
		fprintf(h->f,
			"<span data-from=\"/cost/rates/%zu/fraction\">%" PRIu32 "/%" PRIu32
			"</span>",
			at, r->fraction_num, r->fraction_den);
	else
		html_pct(
			h, base_ppm(r->nano_usd_per_hour, r->list_nano_usd_per_hour),
			"/cost/rates/%zu/usd_per_gpu_hour %% /cost/rates/%zu/list_usd_per_gpu_hour",
			at, at);
	html_put(h, " of ");
	html_price(h, r->list_nano_usd_per_hour, "/cost/rates/%zu/list_usd_per_gpu_hour", at);
}

static void put_rate(struct html *h, const struct view_rate *r, size_t at)
{
	html_put(h, "<tr>");
	HTML_ROW(h, html_text(h, "bdi", r->gpu, "/cost/rates/%zu/gpu", at));
	html_put(h, "<td class=\"n\"><span class=\"keep\">");
	put_price(h, r, at);
	html_put(h, "</span></td>");
	HTML_CELL(h, html_text(h, "span", r->label, "/cost/rates/%zu/label", at));
	HTML_CELL(h, html_text(h, "span", r->price_model, "/cost/rates/%zu/price_model", at));
	html_put(h, "<td class=\"wide\">");
	html_text(h, "span", r->source, "/cost/rates/%zu/source", at);
	html_put(h,
		 r->assumed
			 ? "<br><span class=\"soft small\">Assumed: the provider is not known, so "
			   "the cheapest price known is taken.</span>"
			 : "");
	html_put(h, r->guide ? "<br><span class=\"soft small\">An order of magnitude, from an "
			       "article.</span>"
			     : "");
	html_put(h, "</td>");
	HTML_CELL_IN(h, "td class=\"keep\"",
		     html_text(h, "span", r->date, "/cost/rates/%zu/date", at));
	html_put(h, "</tr>\n");
}

static void put_sentence(struct html *h)
{
	const struct view_summary *s = h->s;

	html_put(h, "<p>");
	html_ns(h, s->result->gpu_ns, "/ledger/gpu_ns");
	html_put(h, " of GPU time (");
	html_gpu_time(h, s->result->gpu_ns, "/ledger/gpu_ns");
	html_put(h, ")");
	if (!s->cost.known) {
		html_put(
			h,
			", for which no price is known. <code>--price USD</code>, "
			"<code>GPUSTARVE_USD_PER_GPU_HOUR</code> or a row in a site price file sets "
			"one.</p>\n");
		return;
	}
	html_put(h, " cost ");
	html_usd(h, s->cost.total, "/cost/usd");
	html_put(h, ", of which ");
	html_usd(h, s->cost.wasted, "/cost/wasted_usd");
	html_put(h, " were wasted");
	if (s->useful_nano_usd >= 0) {
		html_put(h, ". A GPU-hour that was not wasted cost ");
		html_money(h, s->useful_nano_usd, "/cost/usd_per_useful_gpu_hour");
	}
	if (s->step_nano_usd >= 0) {
		html_put(h, ", a step ");
		html_put(h, view_bound_each[view_told_bound(s)]);
		html_money(h, s->step_nano_usd, "/cost/usd_per_step");
		html_put(h, view_working_ns(s) < s->result->gpu_ns
				    ? ", start-up and shutdown included"
				    : "");
	}
	html_put(h, ". This is the price of the GPUs only, for the time they were held.</p>\n");
}

static void put_outcome(struct html *h, const struct view_outcome *o, size_t at)
{
	html_put(h, "<tr>");
	HTML_ROW(h, html_text(h, "span", o->unit, "/cost/outcomes/%zu/unit", at));
	html_put(h, "<td class=\"n\">");
	html_put(h, view_bound_words[o->bound]);
	html_count(h, (uint64_t)o->num, "/cost/outcomes/%zu/count", at);
	if (o->den > 1) {
		html_put(h, " / ");
		html_count(h, (uint64_t)o->den, "/cost/outcomes/%zu/divisor", at);
	}
	html_put(h, "</td>");
	if (h->s->cost.known)
		HTML_NUMBER_IF(h, o->nano_usd >= 0,
			       html_money(h, o->nano_usd, "/cost/outcomes/%zu/usd", at));
	HTML_NUMBER(h,
		    html_count(h, (uint64_t)view_unit_per(o->unit), "/cost/outcomes/%zu/per", at));
	HTML_CELL(h, html_text(h, "span", view_outcome_sources[o->source],
			       "/cost/outcomes/%zu/source", at));
	html_put(h, "</tr>\n");
}

/* What the run brought forth, and what of it cost. */
static void put_outcomes(struct html *h)
{
	const struct view_summary *s = h->s;
	const char *loaders = view_outcome_loaders(s, &h->mem);

	if (s->outcomes) {
		html_table(h, "What it bought");
		HTML_HEADS(h, "Unit", "n:Count", "$:Price", "n:Of so many", "Known from");
		for (size_t i = 0; i < s->outcomes; i++)
			put_outcome(h, &s->outcome[i], i);
		html_table_end(h);
	}
	if (!loaders)
		return;
	html_put(h, "<p class=\"soft\">");
	html_escape_sentence(h->f, loaders);
	html_put(h, "</p>\n");
}

void html_cost(struct html *h)
{
	const struct view_cost *c = &h->s->cost;
	size_t at = 0;

	html_section(h, "cost", "Cost and where its price comes from");
	put_sentence(h);
	put_outcomes(h);
	html_table(h, "Rates used");
	HTML_HEADS(h, "GPU", "n:Price", "What is priced", "Model", "Source", "Date");
	for (size_t i = 0; i < c->gpus; i++)
		if (!shown(c, i))
			put_rate(h, &c->rate[i], at++);
	html_table_end(h);
	html_section_end(h);
}
