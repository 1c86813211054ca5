/* SPDX-License-Identifier: Apache-2.0 */
/* One function per paragraph of the report. */
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "text_priv.h"
#include "base/units.h"
#include "run/wrap.h"

#define GPUS_SHOWN 16
#define GAPS_SHOWN 5

bool view_text_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(f)) && !(no && no[0]) && term && term[0] && strcmp(term, "dumb") != 0;
}

static const char *paint(const struct page *p, const char *code)
{
	return p->colour ? code : "";
}

static const char *severity_paint(const struct page *p, const struct ana_judgement *v)
{
	if (v->severity >= ANA_S_WARNING)
		return paint(p, "\033[1;31m");
	if (v->verdict == ANA_V_BUSY)
		return paint(p, "\033[1;32m");
	return paint(p, "\033[1;33m");
}

static const char *verdict(struct page *p, const struct ana_judgement *v)
{
	const char *severity = ana_severity_names[v->severity];

	return view_arena_printf(&p->mem, "%s%s%s", ana_verdict_names[v->verdict],
				 severity ? ", " : "", severity ? severity : "");
}

static bool name_seen(const struct ana_result *r, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (!strcmp(r->gpu[i].name, r->gpu[upto].name))
			return true;
	return false;
}

const char *view_text_gpus(const struct view_summary *s, struct view_arena *mem)
{
	const struct ana_result *r = s->result;
	const char *all = "";

	for (size_t i = 0; i < r->gpus; i++) {
		size_t n = 0;
		if (name_seen(r, i))
			continue;
		for (size_t k = i; k < r->gpus; k++)
			n += !strcmp(r->gpu[k].name, r->gpu[i].name);
		all = view_arena_printf(mem, "%s%s%zux %s", all, *all ? " + " : "", n,
					r->gpu[i].name[0] ? r->gpu[i].name : "GPU");
	}
	return all;
}

static const char *fraction_text(const struct view_rate *r, struct view_arena *mem)
{
	view_unit list;

	if (r->fraction_num == r->fraction_den)
		return "";
	return view_arena_printf(mem, " = %u/%u of %s", r->fraction_num, r->fraction_den,
				 view_price_text(list, r->list_nano_usd_per_hour));
}

const char *view_text_rate(const struct view_rate *r, struct view_arena *mem)
{
	view_unit price;

	return view_arena_printf(mem, "%s per GPU-hour%s (%s, %s, %s%s%s)",
				 view_price_text(price, r->nano_usd_per_hour),
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

const char *view_text_rates(const struct view_summary *s, struct view_arena *mem)
{
	const char *all = "";

	for (size_t i = 0; s->cost.known && i < s->cost.gpus; i++) {
		if (rate_printed(&s->cost, i))
			continue;
		all = view_arena_printf(mem, "%s%s%s", all, *all ? " and " : "",
					view_text_rate(&s->cost.rate[i], mem));
	}
	return all;
}

/* The sentence that carries the money, or how to get it. */
static const char *money_sentence(struct page *p)
{
	const struct view_summary *s = p->s;
	view_unit starved, wasted, a, b, c, hours;
	int64_t gpu_ns = s->result->gpu_ns;

	view_percent(starved, view_ppm(s->starved_ns, gpu_ns));
	view_percent(wasted, view_ppm(s->wasted_ns, gpu_ns));
	if (s->cost.known)
		return view_arena_printf(
			&p->mem, "GPUs starved %s %% = %s of %s (wasted %s %% = %s) at %s", starved,
			view_cents(a, s->cost.starved), view_cents(b, s->cost.total), wasted,
			view_cents(c, s->cost.wasted), view_text_rates(s, &p->mem));
	return view_arena_printf(
		&p->mem,
		"GPUs starved %s %% (wasted %s %%) of %s GPU-hours; no price known: "
		"set one with --price USD",
		starved, wasted, view_hours(hours, gpu_ns));
}

static void put_headline(struct page *p)
{
	const struct view_summary *s = p->s;
	const struct ana_judgement *v = &s->result->judgement;
	const char *what = verdict(p, v);
	view_unit wall;

	fprintf(p->f, "gpustarve: %s%s%s. ", severity_paint(p, v), what, paint(p, "\033[0m"));
	view_wrap(p->f, (int)strlen("gpustarve: . ") + (int)strlen(what), 2,
		  view_arena_printf(&p->mem, "%s, %s: %s", view_text_gpus(s, &p->mem),
				    view_duration(wall, s->wall_ns), money_sentence(p)));
}

static void put_flags(struct page *p)
{
	const struct ana_result *r = p->s->result;
	size_t flagged = 0, shown = 0;

	for (size_t i = 0; i < r->gpus; i++)
		flagged += r->gpu[i].judgement.flagged;
	if (!flagged || (r->gpus == 1 && r->judgement.flagged))
		return;
	fprintf(p->f, "  flagged: %zu of %zu GPUs\n", flagged, r->gpus);
	for (size_t i = 0; i < r->gpus && shown < 8; i++) {
		const struct ana_gpu *g = &r->gpu[i];
		view_unit share;
		if (!g->judgement.flagged)
			continue;
		fputs("    ", p->f);
		view_put_tame(p->f, g->uuid ? g->uuid : g->name);
		fputs(" on ", p->f);
		view_put_tame(p->f, g->host);
		fprintf(p->f, ":%" PRIu32 ", starved %s %%\n", g->index,
			view_percent(share, view_ppm(view_gpu_starved_ns(g), g->held_ns)));
		shown++;
	}
	if (shown < flagged)
		fprintf(p->f, "    and %zu more\n", flagged - shown);
}

static void put_doubt(struct page *p)
{
	const struct ana_quality *q = &p->s->result->quality;
	view_unit a, b;

	if (q->dropped || q->invalid)
		fprintf(p->f, "  %s records lost, %s unusable: their time is device.lost\n",
			view_count(a, q->dropped), view_count(b, q->invalid));
	if (!p->s->result->complete && !p->s->result->imported)
		fputs("  some process ended without a last word: a lower bound\n", p->f);
	else if (p->s->ranks > 1 && !p->s->result->classes[ANA_COMM_SKEW])
		fputs("  several ranks: starved is a lower bound\n", p->f);
}

/* Shares are of the held time, the verdict is about the time between first and last operation. */
static void put_working(struct page *p)
{
	const struct view_summary *s = p->s;
	int64_t working = view_working_ns(s);
	view_unit time, share;

	if (!working || view_ppm(working, s->result->gpu_ns) > 900000)
		return;
	fprintf(p->f, "  without start-up and teardown: %s of GPU time, %s %% of it starved\n",
		view_duration(time, working),
		view_percent(share, view_ppm(s->starved_ns, working)));
}

static void verdict_box(struct page *p, const char *report)
{
	put_headline(p);
	put_working(p);
	text_causes(p, 3);
	put_flags(p);
	put_doubt(p);
	text_next(p);
	if (report) {
		fputs("  report: ", p->f);
		view_put_tame(p->f, report);
		fputc('\n', p->f);
	}
}

void view_text_verdict(const struct view_summary *s, FILE *f, bool colour, const char *report)
{
	struct page p = { .s = s, .f = f, .colour = colour };

	verdict_box(&p, report);
	view_arena_fini(&p.mem);
}

void text_heading(struct page *p, const char *text)
{
	fprintf(p->f, "\n%s%s%s\n", paint(p, "\033[1m"), text, paint(p, "\033[0m"));
}

static const char *confidence_text(struct page *p, int c)
{
	const int64_t *by = p->s->result->confidence[c];
	const char *all = "";

	if (c <= ANA_COPY || c >= ANA_EXCLUDED_STARTUP)
		return "";
	for (int k = 0; k < ANA_CONFIDENCES; k++)
		if (by[k])
			all = view_arena_printf(&p->mem, "%s%s%s", all, *all ? ", " : "",
						ana_confidence_names[k]);
	return all;
}

static void put_ledger(struct page *p)
{
	const struct view_summary *s = p->s;
	int64_t cents[ANA_CLASSES], total = view_div_even(s->cost.total, 10000000);
	view_unit time, share, usd;

	view_close_cents(s->cost.classes, ANA_CLASSES, total, cents);
	text_heading(p, "Where the GPU time went");
	fprintf(p->f, "  %-22s %12s %9s %11s  %s\n", "class", "time", "share",
		s->cost.known ? "cost" : "", "confidence");
	for (int c = 0; c < ANA_CLASSES; c++) {
		int64_t ns = s->result->classes[c];
		if (!ns)
			continue;
		fprintf(p->f, "%c %-22s %12s %7s %% %11s  %s\n", s->waste[c] ? '*' : ' ',
			ana_class_names[c], view_duration(time, ns),
			view_percent(share, view_ppm(ns, s->result->gpu_ns)),
			s->cost.known ? view_cents_closed(usd, s->cost.classes[c], cents[c]) : "",
			confidence_text(p, c));
	}
	fprintf(p->f, "  %-22s %12s %7s %% %11s\n", "held", view_duration(time, s->result->gpu_ns),
		"100.0", s->cost.known ? view_cents(usd, s->cost.total) : "");
	fprintf(p->f, "  %-22s %12s %7s %% %11s\n", "of it starved (input.*)",
		view_duration(time, s->starved_ns),
		view_percent(share, view_ppm(s->starved_ns, s->result->gpu_ns)),
		s->cost.known ? view_cents(usd, s->cost.starved) : "");
	fprintf(p->f, "* %-22s %12s %7s %% %11s\n", "of it wasted",
		view_duration(time, s->wasted_ns),
		view_percent(share, view_ppm(s->wasted_ns, s->result->gpu_ns)),
		s->cost.known ? view_cents(usd, s->cost.wasted) : "");
}

static void put_gpu(struct page *p, size_t i)
{
	const struct ana_gpu *g = &p->s->result->gpu[i];
	int64_t input = view_gpu_starved_ns(g), usd = view_gpu_nano_usd(p->s, i);
	view_unit held, busy, starved, cost;

	fprintf(p->f, "%c %3" PRIu32 "  %10s %6s %% %6s %% %10s  %s\n",
		g->judgement.flagged ? '!' : ' ', g->index, view_duration(held, g->held_ns),
		view_percent(busy, view_ppm(g->busy_ns, g->held_ns)),
		view_percent(starved, view_ppm(input, g->held_ns)),
		p->s->cost.known ? view_cents(cost, usd) : "", verdict(p, &g->judgement));
	fputs("       ", p->f);
	view_wrap(p->f, 7, 9,
		  view_arena_printf(&p->mem, "%s%s%s on %s%s%s", g->uuid ? g->uuid : "",
				    g->uuid ? ", " : "", g->name, g->host[0] ? g->host : "?",
				    g->mig_profile ? ", MIG " : "",
				    g->mig_profile ? g->mig_profile : ""));
}

/* The flagged first, then the others, in order. */
static void put_gpus(struct page *p)
{
	const struct ana_result *r = p->s->result;
	size_t shown = 0;

	text_heading(p, "GPUs (! flagged)");
	fprintf(p->f, "  %3s  %10s %8s %8s %10s  %s\n", "#", "held", "busy", "starved",
		p->s->cost.known ? "cost" : "", "verdict");
	for (int pass = 1; pass >= 0; pass--)
		for (size_t i = 0; i < r->gpus; i++)
			if (r->gpu[i].judgement.flagged == pass && shown++ < GPUS_SHOWN)
				put_gpu(p, i);
	if (shown > GPUS_SHOWN)
		fprintf(p->f, "  and %zu more (see --format json)\n", shown - GPUS_SHOWN);
}

static void put_steps(struct page *p)
{
	static const char *const from[] = { "", "step ranges", "optimizer ranges",
					    "the period of the kernel sequence" };
	const struct ana_result *r = p->s->result;
	view_unit count, median, p95, usd;
	const char *t;

	if (!r->steps)
		return;
	text_heading(p, "Steps");
	t = view_arena_printf(&p->mem, "%s steps, from %s", view_count(count, r->steps),
			      from[r->step_source]);
	if (r->step_median_ns >= 0)
		t = view_arena_printf(&p->mem, "%s; median %s, 95 %% within %s", t,
				      view_duration(median, r->step_median_ns),
				      view_duration(p95, r->step_p95_ns));
	if (p->s->step_nano_usd >= 0)
		t = view_arena_printf(&p->mem, "%s; $%s each", t,
				      view_dollars_exact(usd, p->s->step_nano_usd));
	fputs("  ", p->f);
	view_wrap(p->f, 2, 2, t);
}

static void put_copies(struct page *p)
{
	const struct ana_result *r = p->s->result;
	bool any = false;

	for (int d = 0; d < ANA_COPY_DIRS; d++) {
		const struct ana_copies *c = &r->copies[d];
		view_unit count, bytes, time, exposed, pageable;
		if (!c->count)
			continue;
		if (!any) {
			text_heading(p, "Copies");
			fprintf(p->f, "  %-7s %12s %10s %10s %12s %12s\n", "", "count", "bytes",
				"time", "exposed", "pageable");
		}
		any = true;
		fprintf(p->f, "  %-7s %12s %10s %10s %12s %12s\n", ana_copy_names[d],
			view_count(count, c->count), view_bytes(bytes, c->bytes),
			view_duration(time, c->ns), view_duration(exposed, c->exposed_ns),
			view_count(pageable, c->pageable_count));
	}
}

static void put_top_gaps(struct page *p)
{
	const struct ana_result *r = p->s->result;

	if (!r->top_gaps)
		return;
	text_heading(p, "Longest gaps");
	for (size_t i = 0; i < r->top_gaps && i < GAPS_SHOWN; i++) {
		const struct ana_gap *g = &r->top_gap[i];
		view_unit length, at;
		fprintf(p->f, "  %10s  %-18s GPU %" PRIu32,
			view_duration(length, g->end_ns - g->start_ns), ana_class_names[g->major],
			g->gpu < r->gpus ? r->gpu[g->gpu].index : g->gpu);
		if (g->gpu < r->gpus)
			fprintf(p->f, ", %s after it was taken",
				view_duration(at, g->start_ns - r->gpu[g->gpu].held_start_ns));
		if (g->pid)
			fprintf(p->f, ", pid %" PRId64, g->pid);
		fputc('\n', p->f);
	}
}

static void put_prices(struct page *p)
{
	const struct view_summary *s = p->s;
	view_unit hours, useful;

	text_heading(p, "Price");
	fprintf(p->f, "  %s GPU-hours", view_hours(hours, s->result->gpu_ns));
	if (s->useful_nano_usd >= 0)
		fprintf(p->f, "; %s per GPU-hour that was not wasted",
			view_cents(useful, s->useful_nano_usd));
	fputc('\n', p->f);
	for (size_t i = 0; s->cost.known && i < s->cost.gpus; i++) {
		const struct view_rate *r = &s->cost.rate[i];
		if (rate_printed(&s->cost, i))
			continue;
		fputs("  ", p->f);
		view_wrap(p->f, 2, 4,
			  view_arena_printf(&p->mem, "%s: %s; source: %s", r->gpu,
					    view_text_rate(r, &p->mem), r->source));
		if (r->assumed)
			fputs("    assumed: the provider is not known, so the cheapest price known "
			      "is taken\n",
			      p->f);
	}
}

/* What the causes rest on. */
static void put_evidence(struct page *p)
{
	const struct ana_quality *q = &p->s->result->quality;
	view_unit samples, torn, blind, lost, gap;

	if (!q->samples)
		return;
	fputs("  ", p->f);
	view_wrap(p->f, 2, 2,
		  view_arena_printf(&p->mem,
				    "%s samples of threads: %s torn, %s without a Python stack, %s "
				    "lost; idle time that no sample explains: %s",
				    view_count(samples, q->samples),
				    view_count(torn, q->samples_torn),
				    view_count(blind, q->samples_without_python),
				    view_count(lost, q->samples_lost),
				    view_duration(gap, q->gap_unsampled_ns)));
}

static void put_quality(struct page *p)
{
	const struct view_summary *s = p->s;
	const struct ana_quality *q = &s->result->quality;
	view_unit events, bytes, memory, cpu, share;
	const char *t;

	text_heading(p, "Quality of the record");
	t = view_arena_printf(&p->mem, "%s events", view_count(events, q->events));
	if (q->trace_bytes)
		t = view_arena_printf(&p->mem, "%s, trace %s", t,
				      view_bytes(bytes, q->trace_bytes));
	if (q->memory_peak_bytes)
		t = view_arena_printf(&p->mem, "%s, libprof's memory %s", t,
				      view_bytes(memory, q->memory_peak_bytes));
	if (q->own_cpu_ns)
		t = view_arena_printf(&p->mem, "%s, its CPU time %s = %s %% of the run", t,
				      view_duration(cpu, (int64_t)q->own_cpu_ns),
				      view_percent(share,
						   view_ppm((int64_t)q->own_cpu_ns, s->wall_ns)));
	fputs("  ", p->f);
	view_wrap(p->f, 2, 2, t);
	put_evidence(p);
	for (size_t i = 0; i < s->notes; i++) {
		fputs("  - ", p->f);
		view_wrap(p->f, 4, 4, s->note[i]);
	}
}

static void put_identity(struct page *p)
{
	const struct view_summary *s = p->s;
	const char *command = "";
	view_unit when;

	for (size_t i = 0; i < s->commands; i++)
		command =
			view_arena_printf(&p->mem, "%s%s%s", command, i ? " " : "", s->command[i]);
	fputs("\nrun ", p->f);
	view_put_tame(p->f, s->id);
	fprintf(p->f, ", %s%s\n", view_moment(when, s->start_unix_ns),
		s->window == ANA_WINDOW_DEVICE ? ", window: device" : "");
	if (*command) {
		fputs("  command: ", p->f);
		view_wrap(p->f, 11, 11, command);
	}
	if (s->has_exit_status)
		fprintf(p->f, "  exit status: %d\n", s->exit_status);
	for (size_t i = 0; i < s->labels; i++) {
		fputs("  label: ", p->f);
		view_wrap(p->f, 9, 9,
			  view_arena_printf(&p->mem, "%s=%s", s->label[i].key, s->label[i].value));
	}
}

void view_text_report(const struct view_summary *s, FILE *f, bool colour)
{
	struct page p = { .s = s, .f = f, .colour = colour };

	verdict_box(&p, NULL);
	put_identity(&p);
	text_findings(&p);
	put_ledger(&p);
	put_gpus(&p);
	put_steps(&p);
	text_loader(&p);
	put_copies(&p);
	put_top_gaps(&p);
	text_advice(&p);
	put_prices(&p);
	put_quality(&p);
	view_arena_fini(&p.mem);
}
