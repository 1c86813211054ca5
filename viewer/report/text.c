/* SPDX-License-Identifier: Apache-2.0 */
/* One function per paragraph of the report. */
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "text_priv.h"
#include "base/units.h"
#include "base/wrap.h"

#define GPUS_SHOWN 16
#define GAPS_SHOWN 5

static const char *paint(const struct page *p, const char *code)
{
	return p->look.colour ? code : "";
}

void text_wrap(const struct page *p, int at, int hang, const char *text)
{
	/* A pipe gets long words whole, so that paths in it can be used. */
	view_wrap_in(p->f, p->look.columns, p->look.columns < VIEW_COLUMNS, at, hang, text);
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

	const char *who = p->look.box ? "" : "gpustarve: "; /* the box says it itself */
	fprintf(p->f, "%s%s%s%s. ", who, severity_paint(p, v), what, paint(p, "\033[0m"));
	text_wrap(p, (int)strlen(who) + (int)strlen(what) + 2, 2,
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
		text_wrap(p, 4, 6,
			  view_arena_printf(&p->mem, "%s on %s:%" PRIu32 ", starved %s %%",
					    g->uuid ? g->uuid : g->name, g->host, g->index,
					    view_percent(share, view_ppm(view_gpu_starved_ns(g),
									 g->held_ns))));
		shown++;
	}
	if (shown < flagged)
		fprintf(p->f, "    and %zu more\n", flagged - shown);
}

static void put_line(struct page *p, const char *text)
{
	fputs("  ", p->f);
	text_wrap(p, 2, 2, text);
}

static void put_doubt(struct page *p)
{
	const struct ana_quality *q = &p->s->result->quality;
	view_unit a, b;

	if (q->dropped || q->invalid)
		put_line(p,
			 view_arena_printf(
				 &p->mem, "%s records lost, %s unusable: their time is device.lost",
				 view_count(a, q->dropped), view_count(b, q->invalid)));
	if (!p->s->result->complete && !p->s->result->imported)
		put_line(p, "some process ended without a last word: a lower bound");
	else if (p->s->ranks > 1 && !p->s->result->ranks.matched)
		put_line(p, "several ranks: starved is a lower bound");
}

/* Shares are of the held time, the verdict is about the time between first and last operation. */
static void put_working(struct page *p)
{
	const struct view_summary *s = p->s;
	int64_t working = view_working_ns(s);
	view_unit time, share;

	if (!working || view_ppm(working, s->result->gpu_ns) > 900000)
		return;
	put_line(p, view_arena_printf(
			    &p->mem,
			    "without start-up and teardown: %s of GPU time, %s %% of it starved",
			    view_duration(time, working),
			    view_percent(share, view_ppm(s->starved_ns, working))));
}

static void verdict_lines(struct page *p)
{
	put_headline(p);
	put_working(p);
	text_causes(p, 3);
	text_culprits(p, 3);
	put_flags(p);
	put_doubt(p);
	text_next(p);
}

/* The lines are made first, as wide as the box has room for. */
static void verdict_box(struct page *p)
{
	struct page inner = *p;
	char *text = NULL;
	size_t len;

	if (!p->look.box) {
		verdict_lines(p);
		return;
	}
	inner.f = open_memstream(&text, &len);
	if (!inner.f)
		return;
	inner.look.columns -= 4;
	verdict_lines(&inner);
	p->mem = inner.mem;
	if (!fclose(inner.f))
		text_frame(p->f, &p->look, "gpustarve", text);
	free(text);
}

void view_text_verdict(const struct view_summary *s, FILE *f, const struct view_look *look,
		       const char *report)
{
	struct page p = { .s = s, .f = f, .look = *look };

	verdict_box(&p);
	if (report) {
		/* Below the box and in one piece, so that it can be copied. */
		fputs("  report: ", f);
		view_put_tame(f, report);
		fputc('\n', f);
	}
	view_arena_fini(&p.mem);
}

void text_heading(struct page *p, const char *text)
{
	fprintf(p->f, "\n%s", paint(p, "\033[1m"));
	text_wrap(p, 0, 0, text);
	fputs(paint(p, "\033[0m"), p->f);
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

static void put_ledger_row(struct page *p, char mark, const char *name, int64_t ns, const char *usd,
			   const char *confidence)
{
	const char *cost = p->s->cost.known ? usd : "";
	view_unit time, share;

	view_duration(time, ns);
	view_percent(share, view_ppm(ns, p->s->result->gpu_ns));
	if (text_narrow(p))
		fprintf(p->f, "%c %-19s %9s %5s%%\n", mark, name, time, share);
	else
		fprintf(p->f, "%c %-22s %12s %7s %% %11s%s%s\n", mark, name, time, share, cost,
			confidence ? "  " : "", confidence ? confidence : "");
}

static void put_ledger(struct page *p)
{
	const struct view_summary *s = p->s;
	int64_t cents[ANA_CLASSES], total = view_div_even(s->cost.total, 10000000);
	view_unit usd;

	view_close_cents(s->cost.classes, ANA_CLASSES, total, cents);
	text_heading(p, "Where the GPU time went");
	if (text_narrow(p))
		fprintf(p->f, "  %-19s %9s %6s\n", "class", "time", "share");
	else
		fprintf(p->f, "  %-22s %12s %9s %11s  %s\n", "class", "time", "share",
			s->cost.known ? "cost" : "", "confidence");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (s->result->classes[c])
			put_ledger_row(p, s->waste[c] ? '*' : ' ', ana_class_names[c],
				       s->result->classes[c],
				       view_cents_closed(usd, s->cost.classes[c], cents[c]),
				       confidence_text(p, c));
	put_ledger_row(p, ' ', "held", s->result->gpu_ns, view_cents(usd, s->cost.total), NULL);
	put_ledger_row(p, ' ', text_narrow(p) ? "starved (input.*)" : "of it starved (input.*)",
		       s->starved_ns, view_cents(usd, s->cost.starved), NULL);
	put_ledger_row(p, '*', "of it wasted", s->wasted_ns, view_cents(usd, s->cost.wasted), NULL);
}

static void put_gpu(struct page *p, size_t i)
{
	const struct ana_gpu *g = &p->s->result->gpu[i];
	int64_t input = view_gpu_starved_ns(g), usd = view_gpu_nano_usd(p->s, i);
	view_unit held, busy, starved, cost;
	const char *who;

	view_duration(held, g->held_ns);
	view_percent(busy, view_ppm(g->busy_ns, g->held_ns));
	view_percent(starved, view_ppm(input, g->held_ns));
	who = view_arena_printf(&p->mem, "%s%s%s on %s%s%s", g->uuid ? g->uuid : "",
				g->uuid ? ", " : "", g->name, g->host[0] ? g->host : "?",
				g->mig_profile ? ", MIG " : "",
				g->mig_profile ? g->mig_profile : "");
	if (text_narrow(p)) {
		fprintf(p->f, "%c %3" PRIu32 " %9s %5s %% %5s %%\n",
			g->judgement.flagged ? '!' : ' ', g->index, held, busy, starved);
		put_line(p, view_arena_printf(&p->mem, "%s; %s", verdict(p, &g->judgement), who));
		return;
	}
	fprintf(p->f, "%c %3" PRIu32 "  %10s %6s %% %6s %% %10s  %s\n",
		g->judgement.flagged ? '!' : ' ', g->index, held, busy, starved,
		p->s->cost.known ? view_cents(cost, usd) : "", verdict(p, &g->judgement));
	fputs("       ", p->f);
	text_wrap(p, 7, 9, who);
}

/* The flagged first, then the others, in order. */
static void put_gpus(struct page *p)
{
	const struct ana_result *r = p->s->result;
	size_t shown = 0;

	text_heading(p, "GPUs (! flagged)");
	if (text_narrow(p))
		fprintf(p->f, "  %3s %9s %7s %7s\n", "#", "held", "busy", "starved");
	else
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
	text_wrap(p, 2, 2, t);
}

static void put_copy(struct page *p, int d)
{
	const struct ana_copies *c = &p->s->result->copies[d];
	view_unit count, bytes, time, exposed, pageable;

	view_count(count, c->count);
	view_bytes(bytes, c->bytes);
	view_duration(time, c->ns);
	view_duration(exposed, c->exposed_ns);
	view_count(pageable, c->pageable_count);
	if (text_narrow(p))
		put_line(p, view_arena_printf(&p->mem, "%s: %s, %s, %s; exposed %s; pageable %s",
					      ana_copy_names[d], count, bytes, time, exposed,
					      pageable));
	else
		fprintf(p->f, "  %-7s %12s %10s %10s %12s %12s\n", ana_copy_names[d], count, bytes,
			time, exposed, pageable);
}

static void put_copies(struct page *p)
{
	const struct ana_result *r = p->s->result;
	bool any = false;

	for (int d = 0; d < ANA_COPY_DIRS; d++) {
		if (!r->copies[d].count)
			continue;
		if (!any)
			text_heading(p, "Copies");
		if (!any && !text_narrow(p))
			fprintf(p->f, "  %-7s %12s %10s %10s %12s %12s\n", "", "count", "bytes",
				"time", "exposed", "pageable");
		any = true;
		put_copy(p, d);
	}
}

static void put_gap(struct page *p, const struct ana_gap *g)
{
	const struct ana_result *r = p->s->result;
	bool known = g->gpu < r->gpus;
	view_unit length, at;
	const char *where;

	view_duration(length, g->end_ns - g->start_ns);
	where = view_arena_printf(&p->mem, "GPU %" PRIu32, known ? r->gpu[g->gpu].index : g->gpu);
	if (known)
		where = view_arena_printf(
			&p->mem, "%s, %s after it was taken", where,
			view_duration(at, g->start_ns - r->gpu[g->gpu].held_start_ns));
	if (g->pid)
		where = view_arena_printf(&p->mem, "%s, pid %" PRId64, where, g->pid);
	if (text_narrow(p))
		put_line(p, view_arena_printf(&p->mem, "%s %s, %s", length,
					      ana_class_names[g->major], where));
	else
		fprintf(p->f, "  %10s  %-18s %s\n", length, ana_class_names[g->major], where);
}

static void put_top_gaps(struct page *p)
{
	const struct ana_result *r = p->s->result;

	if (!r->top_gaps)
		return;
	text_heading(p, "Longest gaps");
	for (size_t i = 0; i < r->top_gaps && i < GAPS_SHOWN; i++)
		put_gap(p, &r->top_gap[i]);
}

static void put_assumed(struct page *p)
{
	fputs("    ", p->f);
	text_wrap(p, 4, 4,
		  "assumed: the provider is not known, so the cheapest price known is taken");
}

static void put_prices(struct page *p)
{
	const struct view_summary *s = p->s;
	view_unit hours, useful;

	text_heading(p, "Price");
	const char *t =
		view_arena_printf(&p->mem, "%s GPU-hours", view_hours(hours, s->result->gpu_ns));
	if (s->useful_nano_usd >= 0)
		t = view_arena_printf(&p->mem, "%s; %s per GPU-hour that was not wasted", t,
				      view_cents(useful, s->useful_nano_usd));
	put_line(p, t);
	for (size_t i = 0; s->cost.known && i < s->cost.gpus; i++) {
		const struct view_rate *r = &s->cost.rate[i];
		if (rate_printed(&s->cost, i))
			continue;
		fputs("  ", p->f);
		text_wrap(p, 2, 4,
			  view_arena_printf(&p->mem, "%s: %s; source: %s", r->gpu,
					    view_text_rate(r, &p->mem), r->source));
		if (r->assumed)
			put_assumed(p);
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
	text_wrap(p, 2, 2,
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
	text_wrap(p, 2, 2, t);
	put_evidence(p);
	for (size_t i = 0; i < s->notes; i++) {
		fputs("  - ", p->f);
		text_wrap(p, 4, 4, s->note[i]);
	}
}

static const char *add_fact(struct view_arena *mem, const char *all, const char *what,
			    const char *text)
{
	return text ? view_arena_printf(mem, "%s, %s %s", all, what, text) : all;
}

const char *view_text_job(const struct view_summary *s, struct view_arena *mem)
{
	const int64_t *n = s->job.number;
	const char *const *t = s->job.text;
	const char *all = view_arena_printf(mem, "%" PRId64, n[VIEW_JOB_ID]);

	if (n[VIEW_JOB_ARRAY] >= 0 && n[VIEW_JOB_ARRAY_TASK] >= 0)
		all = view_arena_printf(mem, "%s (%" PRId64 "_%" PRId64 ")", all, n[VIEW_JOB_ARRAY],
					n[VIEW_JOB_ARRAY_TASK]);
	if (t[VIEW_JOB_NAME])
		all = view_arena_printf(mem, "%s %s", all, t[VIEW_JOB_NAME]);
	if (t[VIEW_JOB_CLUSTER])
		all = view_arena_printf(mem, "%s on %s", all, t[VIEW_JOB_CLUSTER]);
	all = add_fact(mem, all, "user", s->user);
	all = add_fact(mem, all, "account", t[VIEW_JOB_ACCOUNT]);
	all = add_fact(mem, all, "partition", t[VIEW_JOB_PARTITION]);
	all = add_fact(mem, all, "qos", t[VIEW_JOB_QOS]);
	for (size_t i = 0; i < s->steps; i++)
		all = view_arena_printf(mem, "%s%s%s", all,
					i	       ? ", "
					: s->steps > 1 ? ", steps "
						       : ", step ",
					s->step[i]);
	if (n[VIEW_JOB_RESTART] > 0)
		all = view_arena_printf(mem, "%s, requeued %" PRId64 " time%s", all,
					n[VIEW_JOB_RESTART], n[VIEW_JOB_RESTART] == 1 ? "" : "s");
	return add_fact(mem, all, "nodes", t[VIEW_JOB_NODES]);
}

/* What became of an alert's command, if that is worth a word. */
static const char *exec_words(struct page *p, const struct view_alert *a)
{
	if (a->exec_status > 0)
		return view_arena_printf(&p->mem, "; its command ended with %d", a->exec_status);
	return "";
}

#define ATTEMPTS_SHOWN 8

/* A requeued job held its GPUs several times. */
static void put_attempts(struct page *p)
{
	const struct ana_result *r = p->s->result;
	view_unit began, lasted, gpu_time;

	if (r->attempts < 2)
		return;
	for (size_t i = 0; i < r->attempts && i < ATTEMPTS_SHOWN; i++) {
		const struct ana_attempt *a = &r->attempt[i];

		fprintf(p->f, "  restart %" PRId64 ": ", a->restart);
		text_wrap(p, 13, 13,
			  view_arena_printf(&p->mem, "%s, %s, %" PRIu32 " GPU%s, %s of GPU time%s",
					    view_moment(began, a->start_ns),
					    view_duration(lasted, a->end_ns - a->start_ns), a->gpus,
					    a->gpus == 1 ? "" : "s",
					    view_duration(gpu_time, a->held_ns),
					    a->open ? ", goes on" : ""));
	}
	if (r->attempts > ATTEMPTS_SHOWN)
		fprintf(p->f, "  and %zu further restarts\n", r->attempts - ATTEMPTS_SHOWN);
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
	text_wrap(p, 4, 4,
		  view_arena_printf(&p->mem, "%s, %s%s", s->id, view_moment(when, s->start_unix_ns),
				    s->window == ANA_WINDOW_DEVICE ? ", window: device" : ""));
	if (*command) {
		fputs("  command: ", p->f);
		text_wrap(p, 11, 11, command);
	}
	if (s->has_exit_status)
		fprintf(p->f, "  exit status: %d\n", s->exit_status);
	if (view_job_known(&s->job)) {
		fputs("  job: ", p->f);
		text_wrap(p, 7, 7, view_text_job(s, &p->mem));
	}
	put_attempts(p);
	for (size_t i = 0; i < s->labels; i++) {
		fputs("  label: ", p->f);
		text_wrap(p, 9, 9,
			  view_arena_printf(&p->mem, "%s=%s", s->label[i].key, s->label[i].value));
	}
	for (size_t i = 0; i < s->alerts; i++) {
		const struct view_alert *a = &s->alert[i];
		fputs("  alert: ", p->f);
		text_wrap(p, 9, 9,
			  view_arena_printf(&p->mem, "%s, %s%s", view_moment(when, a->t_unix_ns),
					    a->text, exec_words(p, a)));
	}
}

void view_text_report(const struct view_summary *s, FILE *f, const struct view_look *look)
{
	struct page p = { .s = s, .f = f, .look = *look };

	verdict_box(&p);
	put_identity(&p);
	text_findings(&p);
	put_ledger(&p);
	put_gpus(&p);
	put_steps(&p);
	text_loader(&p);
	text_ranks(&p);
	put_copies(&p);
	put_top_gaps(&p);
	text_advice(&p);
	put_prices(&p);
	put_quality(&p);
	view_arena_fini(&p.mem);
}
