/* SPDX-License-Identifier: Apache-2.0 */
/* Where the GPU time went: one bar, and the table that it is drawn from. */
#include <inttypes.h>
#include "findings/findings.h"
#include "facts/class.h"
#include "html_priv.h"

/* A class that took any time has a width. */
static void put_bar(struct html *h)
{
	const struct ana_result *r = h->s->result;
	int64_t sum = 0, from = 0;

	html_put(
		h,
		"<svg class=\"bar\" viewBox=\"0 0 960 40\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"Shares of the classes; the table below has the numbers\">");
	for (int c = 0; c < ANA_CLASSES; c++) {
		if (!r->classes[c])
			continue;
		view_cost_add(&sum, r->classes[c]);
		int64_t to = r->gpu_ns > 0 ? base_div_even((__int128)sum * 960, r->gpu_ns) : 0;
		fprintf(h->f,
			"<rect class=\"f-%s\" x=\"%" PRId64 "\" width=\"%" PRId64
			"\" height=\"40\"/>",
			html_colour(c), from, to > from ? to - from : 1);
		from = to > from ? to : from;
	}
	html_put(h, "</svg>\n");
}

/* How sure, with the parts where it is not all one. */
static void put_confidence(struct html *h, int c)
{
	const struct ana_result *r = h->s->result;
	const int64_t *by = r->confidence[c];
	int64_t whole = r->classes[c];
	bool any = false;

	if (ana_class_is_recorded(c)) {
		html_put(h, "<span class=\"soft\">recorded</span>");
		return;
	}
	for (int k = 0; k < ANA_CONFIDENCES; k++) {
		if (!by[k])
			continue;
		fprintf(h->f, "%s%s", any ? ", " : "", ana_confidence_names[k]);
		if (by[k] != whole) {
			html_put(h, " ");
			html_pct(h, base_ppm(by[k], whole),
				 "/ledger/classes/%s/confidence/%s %% /ledger/classes/%s/ns",
				 ana_class_names[c], ana_confidence_names[k], ana_class_names[c]);
		}
		any = true;
	}
}

static void put_row(struct html *h, int c, int64_t tenths)
{
	const struct view_summary *s = h->s;
	const char *name = ana_class_names[c];
	int64_t ns = s->result->classes[c];

	html_put(h, "<tr>");
	HTML_ROW(h, html_class(h, (enum ana_class)c));
	HTML_NUMBER(h, html_ns(h, ns, "/ledger/classes/%s/ns", name));
	HTML_NUMBER(h, html_pct_closed(h, base_ppm(ns, s->result->gpu_ns), tenths,
				       "/ledger/classes/%s/pct", name));
	if (s->cost.known)
		HTML_NUMBER(h, html_usd_closed(h, s->cost.classes[c], s->cost.quanta[c],
					       "/ledger/classes/%s/usd", name));
	fprintf(h->f, "<td>%s</td><td class=\"wide soft\">%s</td><td>", s->waste[c] ? "waste" : "",
		view_words_of_kind(&h->s->kind, &h->mem, facts_classes[c].meaning));
	put_confidence(h, c);
	html_put(h, "</td></tr>\n");
}

struct sum {
	const char *what;
	int64_t ns, nano;
	const char *ns_key, *share_key, *usd_key;
};

static void put_sum(struct html *h, const struct sum *t)
{
	html_put(h, "<tr>");
	HTML_ROW(h, html_put(h, t->what));
	HTML_NUMBER(h, html_ns(h, t->ns, "%s", t->ns_key));
	HTML_NUMBER(h, html_pct(h, base_ppm(t->ns, h->s->result->gpu_ns), "%s", t->share_key));
	if (h->s->cost.known)
		HTML_NUMBER(h, html_usd(h, t->nano, "%s", t->usd_key));
	html_put(h, "<td></td><td></td><td></td></tr>\n");
}

static void put_sums(struct html *h)
{
	const struct view_summary *s = h->s;
	const struct sum sums[] = {
		{ "Held", s->result->gpu_ns, s->cost.total, "/ledger/gpu_ns",
		  "/ledger/gpu_ns % /ledger/gpu_ns", "/cost/usd" },
		{ "of it lost to input", s->starved_ns, s->cost.starved, "/ledger/starved_ns",
		  "/ledger/starved_pct", "/cost/starved_usd" },
		{ "of it wasted", s->wasted_ns, s->cost.wasted, "/ledger/wasted_ns",
		  "/ledger/wasted_pct", "/cost/wasted_usd" },
	};

	html_put(h, "</tbody>\n<tfoot>\n");
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		put_sum(h, &sums[i]);
	html_put(h, "</tfoot></table></div>\n");
}

static void put_work(struct html *h, const struct view_work *w, size_t i)
{
	html_put(h, "<tr>");
	HTML_ROW(h, html_put(h, w->kind));
	html_text(h, "td", w->precision, "/ledger/compute/%zu/precision", i);
	HTML_NUMBER(h, html_ns(h, w->ns, "/ledger/compute/%zu/ns", i));
	HTML_NUMBER(h, html_pct(h, base_ppm(w->ns, h->s->result->classes[ANA_COMPUTE]),
				"/ledger/compute/%zu/pct", i));
	if (h->s->cost.known)
		HTML_NUMBER(h, html_usd(h, w->nano_usd, "/ledger/compute/%zu/usd", i));
	HTML_NUMBER(h, html_count(h, w->count, "/ledger/compute/%zu/count", i));
	fprintf(h->f, "<td class=\"wide soft\">%s</td></tr>\n",
		facts_kinds[w->place / FACTS_PRECISIONS].words);
}

static void put_phase(struct html *h, const struct ana_units *u, const char *words, int at)
{
	fprintf(h->f, "<tr><td>%s</td>", words);
	HTML_NUMBER(h,
		    html_pct(h, base_ppm(u->tensor_ns, u->busy_ns),
			     "/ledger/units/phases/%d/tensor_ns %% /ledger/units/phases/%d/busy_ns",
			     at, at));
	if (u->dram_ns >= 0)
		HTML_NUMBER(h, html_pct(h, base_ppm(u->dram_ns, u->busy_ns),
					"/ledger/units/phases/%d/dram_ns %% "
					"/ledger/units/phases/%d/busy_ns",
					at, at));
	else
		html_put(h, "<td></td>");
	HTML_NUMBER(h, html_ns(h, u->busy_ns, "/ledger/units/phases/%d/busy_ns", at));
	HTML_NUMBER(h, html_ns(h, u->known_ns, "/ledger/units/phases/%d/known_ns", at));
	html_put(h, "</tr>\n");
}

static void put_phases(struct html *h)
{
	const struct ana_units *in = h->s->result->units_in;
	int at = 0;

	if (ana_units_told(in) < 2)
		return;
	html_table(h, "Tensor cores and memory by phase");
	HTML_HEADS(h, "What the program did", "n:Tensor cores' time", "n:Memory's bandwidth",
		   "n:Anything ran", "n:Of");
	for (int i = 0; i < ANA_PHASES; i++) {
		if (in[i].busy_ns)
			put_phase(h, &in[i], view_phase_words[i], at);
		at += in[i].known_ns > 0;
	}
	html_table_end(h);
}

static void put_units(struct html *h)
{
	const struct ana_units *u = &h->s->result->units;

	if (!u->busy_ns)
		return;
	html_put(h, "<p>NVML saw ");
	html_pct(h, base_ppm(u->tensor_ns, u->busy_ns),
		 "/ledger/units/tensor_ns %% /ledger/units/busy_ns");
	html_put(h, " of the tensor cores' time");
	if (u->dram_ns >= 0) {
		html_put(h, " and ");
		html_pct(h, base_ppm(u->dram_ns, u->busy_ns),
			 "/ledger/units/dram_ns %% /ledger/units/busy_ns");
		html_put(h, " of the memory's bandwidth");
	}
	html_put(h, " used while anything ran: ");
	html_ns(h, u->busy_ns, "/ledger/units/busy_ns");
	html_put(h, " of ");
	html_ns(h, u->known_ns, "/ledger/units/known_ns");
	html_put(h, ".</p>\n");
	put_phases(h);
}

static void put_works(struct html *h)
{
	struct view_work rows[ANA_WORKS];
	size_t n = view_work_rows(h->s, rows);

	if (!n)
		return;
	html_put(h, "<p>What <span class=\"mono\">compute</span> consists of, by the kernels' "
		    "names; time in which several ran counts for the one that began first.</p>\n");
	html_table(h, "Compute by kind and precision");
	HTML_HEADS(h, "Kind", "Precision", "n:Time", "n:Of compute", "$:Cost", "n:Kernels",
		   "What they do");
	for (size_t i = 0; i < n; i++)
		put_work(h, &rows[i], i);
	html_table_end(h);
	put_units(h);
}

void html_ledger(struct html *h)
{
	const struct view_summary *s = h->s;
	int64_t tenths[ANA_CLASSES];

	view_shares_close(s->result, s->waste, tenths);
	html_section(h, "ledger", "Where the GPU time went");
	html_put_kind(
		h,
		"<p>Every nanosecond that the GPUs were held is in exactly one class. Shares here "
		"are of all that time, start-up and shutdown included; those at the top and of "
		"causes are of the training time.</p>\n");
	put_bar(h);
	html_legend(h, s->result->classes);
	html_table(h, "GPU time by class");
	HTML_HEADS(h, "Class", "n:Time", "n:Of the time held", "$:Cost", "Counts as",
		   "What the GPU did or waited for", "How sure");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (s->result->classes[c])
			put_row(h, c, tenths[c]);
	put_sums(h);
	html_estimated(h);
	put_works(h);
	html_section_end(h);
}
