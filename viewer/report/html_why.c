/* SPDX-License-Identifier: Apache-2.0 */
/* The causes in the page: findings, what the loader did, what to do. */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include "findings/findings.h"
#include "html_priv.h"
#include "findings/loader.h"
#include "base/units.h"
#include "base/words.h"

#define LEAST_PPM 1000 /* of the GPU time: smaller findings are not listed */
#define FILES_SHOWN 10
#define LINE_COLUMNS 40

void html_usd_cell(struct html *h, int64_t nano, const char *shown)
{
	view_unit exact;

	if (h->s->cost.known)
		fprintf(h->f, "<td class=\"n\" data-usd=\"%s\">%s</td>",
			view_dollars_exact(exact, nano), html_less(h, shown));
}

static void put_escaped(struct html *h, const char *before, const char *text, const char *after)
{
	if (!text)
		return;
	fputs(before, h->f);
	html_escape(h->f, text);
	fputs(after, h->f);
}

/* Who did what, at which line. */
static void put_place(struct html *h, const struct view_finding *f)
{
	const struct view_place *p = &f->where;
	int64_t workers = view_loader_workers(h->s);

	if (!p->known) {
		put_escaped(h, "<td>", view_class_meaning(f->class), "");
		fputs(f->rest ? ", elsewhere</td><td></td>" : "</td><td></td>", h->f);
		return;
	}
	put_escaped(h, "<td>", view_words_who(&h->mem, p, workers), " <bdi>");
	html_escape(h->f, view_words_doing(&h->mem, f->class, p, SIZE_MAX));
	fputs("</bdi>", h->f);
	put_escaped(h, "<br><span class=\"soft small mono\"><bdi>", view_words_native(&h->mem, p),
		    "</bdi></span>");
	fputs("</td><td>", h->f);
	put_escaped(h, "<bdi class=\"mono keep\">", view_words_spot(&h->mem, p, LINE_COLUMNS),
		    "</bdi><br>");
	put_escaped(h, "<bdi class=\"mono\">", p->function, "</bdi><br>");
	put_escaped(h, "<span class=\"soft small mono\"><bdi>", p->file, "</bdi></span>");
	fputs("</td>", h->f);
}

static void put_finding(struct html *h, const struct view_finding *f)
{
	view_unit time, share, usd;

	fputs("<tr><td class=\"keep\">", h->f);
	html_key(h, f->class);
	fprintf(h->f,
		"%s</td><td class=\"n\" data-ns=\"%" PRId64
		"\">%s</td><td class=\"n\">%s %%</td><td class=\"n\">",
		ana_class_names[f->class], f->ns, view_duration(time, f->ns),
		view_percent(share, f->ppm));
	if (f->of_starved_ppm >= 0)
		fprintf(h->f, "%s %%", view_percent(share, f->of_starved_ppm));
	fputs("</td>", h->f);
	html_usd_cell(h, f->nano_usd, view_cents(usd, f->nano_usd));
	put_place(h, f);
	put_escaped(h, "<td class=\"soft\" title=\"", f->basis, "\">");
	put_escaped(h, "", view_finding_evidence(&h->mem, f), "</td></tr>\n");
}

void html_findings(struct html *h)
{
	const struct view_summary *s = h->s;
	bool any = false;

	for (size_t i = 0; i < s->findings; i++) {
		if (s->finding[i].ppm < LEAST_PPM)
			continue;
		if (!any)
			fprintf(h->f,
				"<h2 id=\"why\">Why</h2>\n<div class=\"scroll\"><table>\n"
				"<thead><tr><th>Class</th><th class=\"n\">Time</th>"
				"<th class=\"n\">Of all</th><th class=\"n\">Of starved</th>%s"
				"<th>What</th><th>Line</th><th>Evidence</th></tr></thead>\n"
				"<tbody>\n",
				s->cost.known ? "<th class=\"n\">Cost</th>" : "");
		any = true;
		put_finding(h, &s->finding[i]);
	}
	if (any)
		fputs("</tbody></table></div>\n", h->f);
}

static void put_waits(struct html *h)
{
	const struct ana_result *r = h->s->result;
	int64_t outside = r->loader_wait_ns - r->loader_exposed_ns - r->loader_hidden_ns;
	view_unit count, wait, exposed, hidden, rest;

	fputs("<h2 id=\"loader\">Loader</h2>\n<p><bdi>", h->f);
	html_escape(h->f, r->loader_kind ? r->loader_kind : "The loader");
	fprintf(h->f,
		"</bdi> gave %s batches. The training threads waited <span data-ns=\"%" PRId64
		"\">%s</span> for them: <span data-ns=\"%" PRId64
		"\">%s</span> while a GPU was idle, and <span data-ns=\"%" PRId64
		"\">%s</span> hidden behind queued work, at no cost",
		view_count(count, r->batches), r->loader_wait_ns,
		view_duration(wait, r->loader_wait_ns), r->loader_exposed_ns,
		view_duration(exposed, r->loader_exposed_ns), r->loader_hidden_ns,
		view_duration(hidden, r->loader_hidden_ns));
	if (outside > 0)
		fprintf(h->f, "; %s passed before or after all GPU work",
			view_duration(rest, outside));
	fputs(".</p>\n", h->f);
}

static const char *yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

static void put_settings(struct html *h, const struct ana_loader_facts *l)
{
	put_escaped(h, "<dt>Data set</dt><dd class=\"mono\"><bdi>", l->dataset, "</bdi></dd>\n");
	if (l->known & ANA_LOADER_WORKERS) {
		fprintf(h->f, "<dt>Workers</dt><dd>%" PRIu32, l->workers);
		put_escaped(h, ", started by <bdi>", l->workers ? l->start : NULL, "</bdi>");
		fputs("</dd>\n", h->f);
	}
	if (l->known & ANA_LOADER_BATCH)
		fprintf(h->f, "<dt>Samples per batch</dt><dd>%" PRIu32 "</dd>\n", l->batch_size);
	if (l->known & ANA_LOADER_PREFETCH)
		fprintf(h->f, "<dt>Prefetch per worker</dt><dd>%" PRIu32 "</dd>\n", l->prefetch);
	if (l->known & ANA_LOADER_PIN)
		fprintf(h->f, "<dt>Pinned memory</dt><dd>%s</dd>\n", yes_no(l->pin));
	if (l->known & ANA_LOADER_PERSISTENT)
		fprintf(h->f, "<dt>Persistent workers</dt><dd>%s</dd>\n", yes_no(l->persistent));
	if (l->known & ANA_LOADER_IN_ORDER)
		fprintf(h->f, "<dt>In order</dt><dd>%s</dd>\n", yes_no(l->in_order));
	if (l->iterators)
		fprintf(h->f, "<dt>Iterators</dt><dd>%" PRIu64 "</dd>\n", l->iterators);
}

static void put_fetches(struct html *h, const struct ana_loader_facts *l)
{
	view_unit mean, median, p95, cpu, delay;

	if (!l->made)
		return;
	fprintf(h->f,
		"<dt>Making a batch</dt><dd><span data-ns=\"%" PRId64
		"\">%s</span> (median %s, 95 %% within %s); %s of it on a CPU, %s waiting for "
		"one</dd>\n",
		h->s->loader.fetch_ns, view_duration(mean, h->s->loader.fetch_ns),
		view_duration(median, l->fetch_median_ns), view_duration(p95, l->fetch_p95_ns),
		view_duration(cpu, view_div_even(l->fetch_cpu_ns, (__int128)l->made)),
		view_duration(delay, view_div_even(l->fetch_delay_ns, (__int128)l->made)));
}

static void put_need(struct html *h)
{
	const struct view_loader *v = &h->s->loader;
	view_unit step, fed, then;

	if (!v->has_need)
		return;
	if (v->busy_ppm >= 0)
		fprintf(h->f, "<dt>Workers made batches</dt><dd>%s %% of their time</dd>\n",
			view_percent(step, v->busy_ppm));
	fprintf(h->f,
		"<dt>Taking a batch</dt><dd>each <span data-ns=\"%" PRId64
		"\">%s</span>; without the waits each <span data-ns=\"%" PRId64
		"\">%s</span></dd>\n<dt>Workers needed</dt><dd>%" PRId64 " to keep up",
		v->facts.step_ns, view_duration(step, v->facts.step_ns),
		v->facts.step_ns - v->facts.wait_ns,
		view_duration(fed, v->facts.step_ns - v->facts.wait_ns), v->need.needed);
	if (v->need.bound == VIEW_NEED_CORES)
		fprintf(h->f, "; the cores here carry %" PRId64, v->need.advised);
	else if (v->need.bound == VIEW_NEED_LIMIT)
		fprintf(h->f, "; a sensible limit is %" PRId64, v->need.advised);
	fprintf(h->f, ". A step then takes <span data-ns=\"%" PRId64 "\">%s</span> at least</dd>\n",
		v->need.predicted_step_ns, view_duration(then, v->need.predicted_step_ns));
}

static void put_shares(struct html *h)
{
	static const char *const what[VIEW_SHARES] = { "blocked on files or the network",
						       "on a CPU",
						       "waiting for a CPU",
						       "without work",
						       "waiting for a lock",
						       "in something else" };
	view_unit share;
	bool any = false;

	for (int k = 0; k < VIEW_SHARES; k++) {
		if (!h->s->loader.share_ppm[k])
			continue;
		fprintf(h->f, "%s%s %% %s",
			any ? ", " : "<dt>While GPUs waited</dt><dd>workers were ",
			view_percent(share, h->s->loader.share_ppm[k]), what[k]);
		any = true;
	}
	if (any)
		fputs("</dd>\n", h->f);
}

static void put_bytes(struct html *h)
{
	const struct view_loader *v = &h->s->loader;
	view_unit each, now, needed, miss;

	if (v->batch_bytes <= 0)
		return;
	fprintf(h->f, "<dt>Read per batch</dt><dd>%s", view_bytes(each, (uint64_t)v->batch_bytes));
	if (v->needed_bytes_per_s >= 0)
		fprintf(h->f, ": %s/s, where %s/s would keep up",
			view_bytes(now, (uint64_t)v->read_bytes_per_s),
			view_bytes(needed, (uint64_t)v->needed_bytes_per_s));
	if (v->disk_ppm >= 0)
		fprintf(h->f, "; %s %% of it not in the page cache",
			view_percent(miss, v->disk_ppm));
	fputs("</dd>\n", h->f);
}

static void put_files(struct html *h)
{
	const struct view_loader *v = &h->s->loader;
	view_unit time;

	for (size_t i = 0; i < v->files && i < FILES_SHOWN; i++) {
		fprintf(h->f, "<dt>%s</dt><dd class=\"mono\" data-ns=\"%" PRId64 "\"><bdi>",
			i ? "" : "Blocked on", v->file[i].blocked_ns);
		html_escape(h->f, v->file[i].path);
		fputs("</bdi>", h->f);
		if (v->file[i].fs[0])
			put_escaped(h, " (<bdi>", v->file[i].fs, "</bdi>)");
		fprintf(h->f, " %s</dd>\n", view_duration(time, v->file[i].blocked_ns));
	}
}

void html_loader(struct html *h)
{
	const struct ana_result *r = h->s->result;
	const struct ana_loader_facts *l = view_loader_facts(h->s);

	if (!r->loader_wait_ns && !r->batches && !l)
		return;
	put_waits(h);
	if (!l)
		return;
	fputs("<dl>\n", h->f);
	put_settings(h, l);
	put_fetches(h, l);
	put_need(h);
	put_shares(h);
	put_bytes(h);
	put_files(h);
	fputs("</dl>\n", h->f);
	if (r->loaders > 1)
		fprintf(h->f,
			"<p class=\"soft small\">and %zu more kinds of iterators in "
			"summary.json</p>\n",
			r->loaders - 1);
}

static void put_saving(struct html *h, const struct view_advice *a)
{
	view_unit usd, hours;

	if (h->s->cost.known)
		fprintf(h->f, "at most <span data-usd=\"%s\">%s</span> per run",
			view_dollars_exact(hours, a->saving_nano_usd),
			html_less(h, view_cents(usd, a->saving_nano_usd)));
	else
		fprintf(h->f, "at most %s GPU-hours per run", view_hours(hours, a->saving_ns));
}

void html_advice(struct html *h)
{
	const struct view_summary *s = h->s;

	if (!s->advices)
		return;
	fputs("<h2 id=\"advice\">What to do</h2>\n<p class=\"soft small\">Each saving is an upper "
	      "bound, and they do not add up: what is won depends on what the GPU would have waited "
	      "for next.</p>\n",
	      h->f);
	for (size_t i = 0; i < s->advices; i++) {
		const struct view_advice *a = &s->advice[i];
		fputs("<div class=\"card\"><h3>", h->f);
		html_key(h, a->class);
		html_escape(h->f, a->title);
		fputs(" <span class=\"soft small\">", h->f);
		put_saving(h, a);
		fputs("</span></h3>\n<p class=\"soft small\">", h->f);
		html_escape(h->f, a->why);
		fputs(".</p>\n<p>", h->f);
		html_escape_sentence(h->f, a->action);
		fputs("</p></div>\n", h->f);
	}
}
