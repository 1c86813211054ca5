/* SPDX-License-Identifier: Apache-2.0 */
/* One function per section of the page, in the page's order. */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/embedded.h"
#include "data.h"
#include "findings/findings.h"
#include "html_priv.h"
#include "text.h"
#include "base/units.h"

static const char *severity_style(const struct ana_judgement *v)
{
	if (v->severity >= ANA_S_WARNING)
		return "bad";
	return v->verdict == ANA_V_BUSY ? "good" : "warn";
}

static void put_badge(struct html *h, const struct ana_judgement *v)
{
	const char *severity = ana_severity_names[v->severity];

	fprintf(h->f, "<span class=\"badge %s\">%s%s%s</span>", severity_style(v),
		ana_verdict_names[v->verdict], severity ? ", " : "", severity ? severity : "");
}

static void put_head(struct html *h)
{
	/* Nothing may be fetched and nothing may run, whatever stands in the page. */
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
	      h->f);
	html_escape(h->f, h->s->id);
	fprintf(h->f, ": %s - gpustarve</title>\n<style>\n",
		ana_verdict_names[h->s->result->judgement.verdict]);
	fwrite(view_embedded_report_css, 1, view_embedded_report_css_len, h->f);
	fputs("</style>\n</head>\n<body>\n<main>\n", h->f);
}

static void put_tile(struct html *h, const char *value, const char *what)
{
	fprintf(h->f, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", value, what);
}

static void put_headline(struct html *h)
{
	const struct view_summary *s = h->s;
	view_unit a, b, c;

	if (s->cost.known) {
		fprintf(h->f,
			"<h1><span class=\"%s\" data-usd=\"%s\">%s</span> of %s went to starved GPUs</h1>\n",
			severity_style(&s->result->judgement),
			view_dollars_exact(a, s->cost.starved),
			html_less(h, view_cents(b, s->cost.starved)),
			html_less(h, view_cents(c, s->cost.total)));
		return;
	}
	fprintf(h->f, "<h1>GPUs starved for <span class=\"%s\">%s %%</span> of %s GPU-hours</h1>\n",
		severity_style(&s->result->judgement),
		view_percent(a, view_ppm(s->starved_ns, s->result->gpu_ns)),
		view_hours(b, s->result->gpu_ns));
}

static void put_tiles(struct html *h)
{
	const struct view_summary *s = h->s;
	int64_t gpu_ns = s->result->gpu_ns;
	view_unit a, b, c;

	fputs("<div class=\"tiles\">\n", h->f);
	put_tile(h,
		 view_arena_printf(&h->mem, "%s %%",
				   view_percent(a, view_ppm(s->starved_ns, gpu_ns))),
		 view_arena_printf(
			 &h->mem, "starved: waiting for input%s%s", s->cost.known ? ", " : "",
			 s->cost.known ? html_less(h, view_cents(b, s->cost.starved)) : ""));
	put_tile(h,
		 view_arena_printf(&h->mem, "%s %%",
				   view_percent(a, view_ppm(s->wasted_ns, gpu_ns))),
		 view_arena_printf(&h->mem, "wasted in all%s%s", s->cost.known ? ", " : "",
				   s->cost.known ? html_less(h, view_cents(b, s->cost.wasted))
						 : ""));
	put_tile(h,
		 view_arena_printf(&h->mem, "%s %%",
				   view_percent(a, view_ppm(view_busy_ns(s), gpu_ns))),
		 "busy: something was running");
	put_tile(h, view_hours(a, gpu_ns),
		 view_arena_printf(
			 &h->mem, "GPU-hours held, in %s%s%s", view_duration(b, s->wall_ns),
			 s->useful_nano_usd >= 0 ? "; per useful hour " : "",
			 s->useful_nano_usd >= 0 ? html_less(h, view_cents(c, s->useful_nano_usd))
						 : ""));
	fputs("</div>\n", h->f);
}

static void put_opening(struct html *h)
{
	const struct view_summary *s = h->s;
	view_unit working, share;

	put_badge(h, &s->result->judgement);
	put_headline(h);
	fputs("<p class=\"soft\">", h->f);
	html_escape(h->f, view_text_gpus(s, &h->mem));
	if (s->cost.known) {
		fputs(" at ", h->f);
		html_escape(h->f, view_text_rates(s, &h->mem));
	} else {
		fputs(". No price is known: set one with <span class=\"mono\">--price</span>, "
		      "<span class=\"mono\">GPUSTARVE_USD_PER_GPU_HOUR</span> or a site file",
		      h->f);
	}
	fputs(".</p>\n", h->f);
	if (view_working_ns(s) < s->result->gpu_ns)
		fprintf(h->f,
			"<p class=\"soft\">Without start-up and teardown the GPUs were held for %s, "
			"and starved for %s %% of that; the verdict is about this time.</p>\n",
			view_duration(working, view_working_ns(s)),
			view_percent(share, view_ppm(s->starved_ns, view_working_ns(s))));
	put_tiles(h);
}

static void put_bar(struct html *h, const int64_t *classes, int64_t whole)
{
	view_unit percent, time;

	fputs("<div class=\"bar\" role=\"img\" aria-label=\"shares of the classes; the table below "
	      "has the numbers\">",
	      h->f);
	for (int c = 0; c < ANA_CLASSES; c++) {
		if (!classes[c])
			continue;
		fprintf(h->f,
			"<i class=\"f-%s\" style=\"flex:%" PRId64
			" 1 0\" title=\"%s: %s, %s %%\"></i>",
			html_family(c), view_ppm(classes[c], whole), ana_class_names[c],
			view_duration(time, classes[c]),
			view_percent(percent, view_ppm(classes[c], whole)));
	}
	fputs("</div>\n", h->f);
}

static void put_confidence(struct html *h, int c)
{
	const int64_t *by = h->s->result->confidence[c];
	bool any = false;

	for (int k = 0; k < ANA_CONFIDENCES && c > ANA_COPY && c < ANA_EXCLUDED_STARTUP; k++) {
		if (!by[k])
			continue;
		fprintf(h->f, "%s%s", any ? ", " : "", ana_confidence_names[k]);
		any = true;
	}
}

static void put_ledger_row(struct html *h, int c, int64_t cents)
{
	const struct view_summary *s = h->s;
	int64_t ns = s->result->classes[c];
	view_unit time, share, usd;

	fputs("<tr><td>", h->f);
	html_key(h, (enum ana_class)c);
	fprintf(h->f,
		"%s%s</td><td class=\"soft\">%s</td><td class=\"n\" data-ns=\"%" PRId64
		"\">%s</td><td class=\"n\">%s %%</td>",
		ana_class_names[c], s->waste[c] ? " *" : "", view_class_meaning((enum ana_class)c),
		ns, view_duration(time, ns), view_percent(share, view_ppm(ns, s->result->gpu_ns)));
	html_usd_cell(h, s->cost.classes[c], view_cents_closed(usd, s->cost.classes[c], cents));
	fputs("<td class=\"soft\">", h->f);
	put_confidence(h, c);
	fputs("</td></tr>\n", h->f);
}

static void put_ledger_sum(struct html *h, const char *what, int64_t ns, int64_t nano)
{
	view_unit time, share, usd;

	fprintf(h->f,
		"<tr><td colspan=\"2\">%s</td><td class=\"n\" data-ns=\"%" PRId64
		"\">%s</td><td class=\"n\">%s %%</td>",
		what, ns, view_duration(time, ns),
		view_percent(share, view_ppm(ns, h->s->result->gpu_ns)));
	html_usd_cell(h, nano, view_cents(usd, nano));
	fputs("<td></td></tr>\n", h->f);
}

static void put_ledger(struct html *h)
{
	const struct view_summary *s = h->s;
	int64_t cents[ANA_CLASSES];

	view_close_cents(s->cost.classes, ANA_CLASSES, view_div_even(s->cost.total, 10000000),
			 cents);
	fputs("<h2 id=\"ledger\">Where the GPU time went</h2>\n", h->f);
	put_bar(h, s->result->classes, s->result->gpu_ns);
	fprintf(h->f,
		"<div class=\"scroll\"><table>\n<thead><tr><th>Class</th><th>What the GPU did or waited for</th><th class=\"n\">Time</th><th class=\"n\">Share</th>%s<th>Confidence</th></tr></thead>\n<tbody>\n",
		s->cost.known ? "<th class=\"n\">Cost</th>" : "");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (s->result->classes[c])
			put_ledger_row(h, c, cents[c]);
	fputs("</tbody>\n<tfoot>\n", h->f);
	put_ledger_sum(h, "Held", s->result->gpu_ns, s->cost.total);
	put_ledger_sum(h, "of it starved (input.*)", s->starved_ns, s->cost.starved);
	put_ledger_sum(h, "of it wasted (*)", s->wasted_ns, s->cost.wasted);
	fputs("</tfoot></table></div>\n", h->f);
}

static void put_gpu_row(struct html *h, size_t i)
{
	const struct ana_gpu *g = &h->s->result->gpu[i];
	view_unit held, busy, starved, usd;
	int64_t input = view_gpu_starved_ns(g), nano = view_gpu_nano_usd(h->s, i);

	fprintf(h->f, "<tr><td>%s%" PRIu32 "</td><td><bdi class=\"mono\">",
		g->judgement.flagged ? "<span class=\"bad\">&#9873;</span> " : "", g->index);
	html_escape(h->f, g->uuid ? g->uuid : "no UUID");
	fputs("</bdi><br><span class=\"soft small\"><bdi>", h->f);
	html_escape(h->f, g->name);
	fputs("</bdi> on <bdi>", h->f);
	html_escape(h->f, g->host[0] ? g->host : "an unknown host");
	fputs("</bdi>", h->f);
	if (g->mig_profile) {
		fputs(", MIG <bdi>", h->f);
		html_escape(h->f, g->mig_profile);
		fputs("</bdi>", h->f);
	}
	if (g->shared_with)
		fprintf(h->f, ", shared with %" PRIu32 " other processes", g->shared_with);
	fprintf(h->f,
		"</span></td><td class=\"n\" data-ns=\"%" PRId64
		"\">%s</td><td class=\"n\">%s %%</td><td class=\"n\">%s %%</td>",
		g->held_ns, view_duration(held, g->held_ns),
		view_percent(busy, view_ppm(g->busy_ns, g->held_ns)),
		view_percent(starved, view_ppm(input, g->held_ns)));
	html_usd_cell(h, nano, view_cents(usd, nano));
	fputs("<td>", h->f);
	put_badge(h, &g->judgement);
	fputs("</td></tr>\n", h->f);
}

/* The flagged first. */
static void put_gpus(struct html *h)
{
	const struct ana_result *r = h->s->result;
	size_t shown = 0;

	fprintf(h->f,
		"<h2 id=\"gpus\">GPUs</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>#</th><th>GPU</th><th class=\"n\">Held</th><th class=\"n\">Busy</th><th class=\"n\">Starved</th>%s<th>Verdict</th></tr></thead>\n<tbody>\n",
		h->s->cost.known ? "<th class=\"n\">Cost</th>" : "");
	for (int flagged = 1; flagged >= 0; flagged--)
		for (size_t i = 0; i < r->gpus; i++)
			if (r->gpu[i].judgement.flagged == flagged && shown++ < HTML_GPUS_MAX)
				put_gpu_row(h, i);
	fputs("</tbody></table></div>\n", h->f);
	if (shown > HTML_GPUS_MAX)
		fprintf(h->f, "<p class=\"soft small\">and %zu more in summary.json</p>\n",
			shown - HTML_GPUS_MAX);
}

static void put_gap_row(struct html *h, const struct ana_gap *g)
{
	const struct ana_result *r = h->s->result;
	view_unit length, at, empty;
	bool known = g->gpu < r->gpus;

	fprintf(h->f, "<tr><td class=\"n\" data-ns=\"%" PRId64 "\">%s</td><td>",
		g->end_ns - g->start_ns, view_duration(length, g->end_ns - g->start_ns));
	html_key(h, g->major);
	fprintf(h->f,
		"%s</td><td class=\"n\">%s</td><td>GPU %" PRIu32 "</td><td class=\"n\">%s</td>",
		ana_class_names[g->major], view_duration(empty, g->empty_ns),
		known ? r->gpu[g->gpu].index : g->gpu,
		known ? view_duration(at, g->start_ns - r->gpu[g->gpu].held_start_ns) : "");
	if (g->pid)
		fprintf(h->f, "<td>pid %" PRId64 ", thread %" PRId64 "</td></tr>\n", g->pid,
			g->tid);
	else
		fputs("<td></td></tr>\n", h->f);
}

static void put_gaps(struct html *h)
{
	const struct ana_result *r = h->s->result;

	if (!r->top_gaps)
		return;
	fputs("<h2 id=\"gaps\">Longest gaps</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
	      "<th class=\"n\">Length</th><th>Mostly</th><th class=\"n\">Nothing submitted</th>"
	      "<th>Where</th><th class=\"n\">After the GPU was taken</th><th>Submitter</th></tr>"
	      "</thead>\n<tbody>\n",
	      h->f);
	for (size_t i = 0; i < r->top_gaps && i < HTML_GAPS_MAX; i++)
		put_gap_row(h, &r->top_gap[i]);
	fputs("</tbody></table></div>\n", h->f);
}

static void put_steps(struct html *h)
{
	static const char *const from[] = { "", "step ranges", "optimizer ranges",
					    "the period of the kernel sequence" };
	const struct view_summary *s = h->s;
	const struct ana_result *r = s->result;
	view_unit count, median, p95, usd;

	if (!r->steps)
		return;
	fprintf(h->f, "<h2 id=\"steps\">Steps</h2>\n<p>%s steps, told by %s",
		view_count(count, r->steps), from[r->step_source]);
	if (r->step_median_ns >= 0)
		fprintf(h->f,
			"; the median took <span data-ns=\"%" PRId64 "\">%s</span>, 95 %% took at "
			"most <span data-ns=\"%" PRId64 "\">%s</span>",
			r->step_median_ns, view_duration(median, r->step_median_ns), r->step_p95_ns,
			view_duration(p95, r->step_p95_ns));
	if (s->step_nano_usd >= 0)
		fprintf(h->f, "; each cost $%s", view_dollars_exact(usd, s->step_nano_usd));
	fputs(".</p>\n", h->f);
}

static void put_copy_row(struct html *h, int d)
{
	const struct ana_copies *c = &h->s->result->copies[d];
	view_unit count, bytes, time, exposed, pageable, synchronous;

	fprintf(h->f,
		"<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\" data-ns=\"%" PRId64
		"\">%s</td><td class=\"n\" data-ns=\"%" PRId64
		"\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
		ana_copy_names[d], view_count(count, c->count), view_bytes(bytes, c->bytes), c->ns,
		view_duration(time, c->ns), c->exposed_ns, view_duration(exposed, c->exposed_ns),
		view_count(pageable, c->pageable_count), view_count(synchronous, c->synchronous));
}

static void put_copies(struct html *h)
{
	const struct ana_result *r = h->s->result;
	uint64_t all = 0;

	for (int d = 0; d < ANA_COPY_DIRS; d++)
		all += r->copies[d].count;
	if (!all)
		return;
	fputs("<h2 id=\"copies\">Copies</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
	      "<th>Direction</th><th class=\"n\">Count</th><th class=\"n\">Bytes</th>"
	      "<th class=\"n\">Time</th><th class=\"n\">Exposed</th><th class=\"n\">From pageable "
	      "memory</th><th class=\"n\">Synchronous</th></tr></thead>\n<tbody>\n",
	      h->f);
	for (int d = 0; d < ANA_COPY_DIRS; d++)
		if (r->copies[d].count)
			put_copy_row(h, d);
	fputs("</tbody></table></div>\n<p class=\"soft small\">Exposed: no kernel ran meanwhile."
	      "</p>\n",
	      h->f);
}

static bool rate_shown(const struct view_cost *c, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (!strcmp(c->rate[i].gpu, c->rate[upto].gpu) &&
		    c->rate[i].nano_usd_per_hour == c->rate[upto].nano_usd_per_hour &&
		    !strcmp(c->rate[i].source, c->rate[upto].source))
			return true;
	return false;
}

static void put_rate(struct html *h, const struct view_rate *r)
{
	fputs("<tr><td><bdi>", h->f);
	html_escape(h->f, r->gpu);
	fputs("</bdi></td><td>", h->f);
	if (h->s->cost.known)
		html_escape(h->f, view_text_rate(r, &h->mem));
	else
		fputs(r->known ? "known, but of no use while another GPU has none"
			       : "no price is known",
		      h->f);
	fputs("</td><td>", h->f);
	html_escape(h->f, r->source);
	if (r->assumed)
		fputs("<br><span class=\"soft small\">assumed: the provider is not known, so the "
		      "cheapest price known is taken</span>",
		      h->f);
	fputs("</td><td>", h->f);
	html_escape(h->f, r->date);
	fputs("</td></tr>\n", h->f);
}

static void put_cost(struct html *h)
{
	const struct view_summary *s = h->s;
	view_unit hours, usd, wasted, useful;

	fputs("<h2 id=\"cost\">Cost</h2>\n<p>", h->f);
	fprintf(h->f, "%s GPU-hours", view_hours(hours, s->result->gpu_ns));
	if (s->cost.known)
		fprintf(h->f, " cost %s, of which %s were wasted",
			html_less(h, view_cents(usd, s->cost.total)),
			html_less(h, view_cents(wasted, s->cost.wasted)));
	if (s->useful_nano_usd >= 0)
		fprintf(h->f, "; a GPU-hour that was not wasted cost %s",
			html_less(h, view_cents(useful, s->useful_nano_usd)));
	fputs(".</p>\n<div class=\"scroll\"><table>\n<thead><tr><th>GPU</th><th>Price</th>"
	      "<th>Source</th><th>Date</th></tr></thead>\n<tbody>\n",
	      h->f);
	for (size_t i = 0; i < s->cost.gpus; i++)
		if (!rate_shown(&s->cost, i))
			put_rate(h, &s->cost.rate[i]);
	fputs("</tbody></table></div>\n", h->f);
}

static void put_quality(struct html *h)
{
	const struct view_summary *s = h->s;
	const struct ana_quality *q = &s->result->quality;
	view_unit a, b, c, d, e;

	fprintf(h->f,
		"<h2 id=\"quality\">Quality of the record</h2>\n<dl><dt>Events</dt><dd>%s, of which "
		"%s lost and %s unusable</dd>\n<dt>Not observed</dt><dd data-ns=\"%" PRId64
		"\">%s</dd>\n",
		view_count(a, q->events), view_count(b, q->dropped), view_count(c, q->invalid),
		q->unobserved_ns, view_duration(d, q->unobserved_ns));
	if (q->samples)
		fprintf(h->f,
			"<dt>Samples of threads</dt><dd>%s: %s torn, %s without a Python stack, %s "
			"lost; no sample explains <span data-ns=\"%" PRId64
			"\">%s</span> of idle time</dd>\n",
			view_count(a, q->samples), view_count(b, q->samples_torn),
			view_count(c, q->samples_without_python), view_count(e, q->samples_lost),
			q->gap_unsampled_ns, view_duration(d, q->gap_unsampled_ns));
	if (q->trace_bytes)
		fprintf(h->f, "<dt>Trace</dt><dd>%s</dd>\n", view_bytes(a, q->trace_bytes));
	if (q->own_cpu_ns)
		fprintf(h->f, "<dt>Our own CPU time</dt><dd>%s, %s %% of the run</dd>\n",
			view_duration(a, (int64_t)q->own_cpu_ns),
			view_percent(b, view_ppm((int64_t)q->own_cpu_ns, s->wall_ns)));
	fputs("</dl>\n<ul>\n", h->f);
	for (size_t i = 0; i < s->notes; i++) {
		fputs("<li>", h->f);
		html_escape_sentence(h->f, s->note[i]);
		fputs("</li>\n", h->f);
	}
	fputs("</ul>\n", h->f);
}

static void put_run(struct html *h)
{
	const struct view_summary *s = h->s;
	view_unit when, wall;

	fputs("<h2 id=\"run\">Run</h2>\n<dl><dt>Id</dt><dd class=\"mono\"><bdi>", h->f);
	html_escape(h->f, s->id);
	fprintf(h->f, "</bdi></dd>\n<dt>Began</dt><dd>%s, and took %s</dd>\n",
		view_moment(when, s->start_unix_ns), view_duration(wall, s->wall_ns));
	if (s->commands) {
		fputs("<dt>Command</dt><dd class=\"mono\"><bdi>", h->f);
		for (size_t i = 0; i < s->commands; i++) {
			if (i)
				fputc(' ', h->f);
			html_escape(h->f, s->command[i]);
		}
		fputs("</bdi></dd>\n", h->f);
	}
	if (s->has_exit_status)
		fprintf(h->f, "<dt>Exit status</dt><dd>%d</dd>\n", s->exit_status);
	fputs("<dt>Hosts</dt><dd>", h->f);
	for (size_t i = 0; i < s->hosts; i++) {
		fputs(i ? ", <bdi>" : "<bdi>", h->f);
		html_escape(h->f, s->host[i]);
		fputs("</bdi>", h->f);
	}
	fprintf(h->f, "</dd>\n<dt>Processes</dt><dd>%zu, %" PRId64 " rank%s</dd>\n",
		s->result->processes, s->ranks, s->ranks == 1 ? "" : "s");
	for (size_t i = 0; i < s->labels; i++) {
		fputs("<dt>Label</dt><dd><bdi>", h->f);
		html_escape(h->f, s->label[i].key);
		fputs("</bdi> = <bdi>", h->f);
		html_escape(h->f, s->label[i].value);
		fputs("</bdi></dd>\n", h->f);
	}
	fprintf(h->f, "<dt>Window</dt><dd>%s</dd></dl>\n",
		s->window == ANA_WINDOW_JOB ? "the time the GPUs were held"
					    : "first to last operation of each GPU");
}

static void put_foot(struct html *h)
{
	fputs("<footer>gpustarve " GPUSTARVE_VERSION
	      ". Every number here stands in summary.json; <span class=\"mono\">gpustarve verify"
	      "</span> recomputes it from the trace. Costs are the price of the GPUs only. Busy means "
	      "that something runs, not that it runs well.</footer>\n</main>\n",
	      h->f);
	view_data_element(h->s, h->f); /* what charts draw; the page reads without it */
	fputs("</body>\n</html>\n", h->f);
}

void view_html_write(const struct view_summary *s, FILE *f)
{
	struct html h = { .s = s, .f = f };

	put_head(&h);
	put_opening(&h);
	html_findings(&h);
	put_ledger(&h);
	html_timelines(&h);
	html_advice(&h);
	put_gpus(&h);
	put_gaps(&h);
	put_steps(&h);
	html_loader(&h);
	put_copies(&h);
	html_ranks(&h);
	put_cost(&h);
	put_quality(&h);
	put_run(&h);
	put_foot(&h);
	view_arena_fini(&h.mem);
}
