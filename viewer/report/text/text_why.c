/* SPDX-License-Identifier: Apache-2.0 */
/* The causes in the text report: findings, what the loader did, what to do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "findings/finding_sentence.h"
#include "findings/findings.h"
#include "findings/gain.h"
#include "findings/lead.h"
#include "findings/loader.h"
#include "findings/own_line.h"
#include "findings/snippet.h"
#include "findings/told.h"
#include "text_priv.h"
#include "base/units.h"
#include "findings/words.h"

#define FILES_SHOWN 10
#define LINE_COLUMNS 40 /* of a file's name */
#define AT 5 /* where the lines of a finding begin */

/* "  -  The GPU waited ...", with its class for who looks it up. The box alone has numbers. */
static void put_finding(struct page *p, size_t at)
{
	fputs("  -  ", p->f);
	text_wrap(p, AT, AT,
		  base_arena_printf(&p->mem, "%s [%s]", view_finding_sentence(p->s, &p->mem, at),
				    ana_class_names[p->s->finding[at].class]));
}

static void put_below(struct page *p, const char *text)
{
	fprintf(p->f, "%*s", AT, "");
	text_wrap(p, AT, AT, text);
}

/*
 * Whether it is told in the box: what the verdict is about and, where more went elsewhere, that as
 * well; and other waste and doubt, so that no larger cause is left out for a smaller one.
 */
static bool of_verdict(const struct view_summary *s, const struct view_finding *f,
		       const struct view_lead *lead)
{
	bool starved = s->result->judgement.verdict == ANA_V_INPUT_BOUND;

	if (ana_class_is_outside(f->class))
		return false;
	return s->waste[f->class] || ana_class_is_doubt(f->class) ||
	       starved == (f->of_starved_ppm >= 0) ||
	       (lead->verdict != s->result->judgement.verdict && lead->set[f->class]);
}

#define SMALL_PPM 20000 /* of the training time: less is no cause to begin with */

/* How sure; what keeps the gain from being surer is not said again of the next cause (*before). */
static const char *sure_words(struct page *p, const struct view_told *told, size_t n,
			      const char **before)
{
	const char *words = view_alike_confidence_words(p->s, &p->mem, told, n);
	const char *lacks = view_alike_gain_sure(p->s, &p->mem, told, n).lacks;

	if (lacks && *before && !strcmp(lacks, *before))
		return base_arena_printf(&p->mem, "%.*s",
					 (int)(strlen(words) - strlen(": ") - strlen(lacks)),
					 words);
	*before = lacks ? lacks : *before;
	return words;
}

/* " Remedy: asynchronous checkpoints.", where no line at the end of the box says it; "". */
static const char *remedy(struct page *p, enum ana_class c)
{
	const struct view_advice *first = view_advice_first(p->s), *second;

	second = view_advice_second(p->s);
	for (size_t i = 0; i < p->s->advices; i++) {
		const struct view_advice *a = &p->s->advice[i];

		if (a->class == c)
			return a == first || a == second || (first && first->class == c)
				       ? ""
				       : base_arena_printf(&p->mem, " Remedy: %s.", a->brief);
	}
	return "";
}

/* "  1. ... [input.fetch; confidence: cause and line high]" */
static void put_cause(struct page *p, size_t number, const struct view_told *told, size_t n,
		      const char **before, const char *remedy)
{
	const struct view_finding *f = &p->s->finding[told->at];
	int begins = fprintf(p->f, "  %zu. ", number);

	text_wrap(p, begins, AT,
		  base_arena_printf(&p->mem, "%s%s [%s; %s]",
				    view_alike_sentence(p->s, &p->mem, told, n), remedy,
				    ana_class_names[f->class], sure_words(p, told, n, before)));
}

/* Of what the first sentence tells; @counted: "1", "1 and 3" of @sentences. */
static const char *covering(struct page *p, size_t sentences, bool others, const char *counted)
{
	if (!others)
		return sentences == 1 ? "that is" : "together";
	return base_arena_printf(&p->mem, "%s %s explain%s",
				 strchr(counted, ' ') ? "causes" : "cause", counted,
				 strchr(counted, ' ') ? "" : "s");
}

/*
 * The causes in the box, the most costly first; what says the same of several lines of a file once.
 */
void text_causes(struct page *p, size_t most)
{
	struct view_told *told, *first;
	struct view_cause *cause;
	size_t causes = view_causes_told(p->s, &p->mem, &told, &cause), shown = 0, sentences = 0;
	const struct view_lead lead = view_lead_of(p->s);
	const char *covered, *lacks = NULL, *counted = "";
	bool others = false, said[ANA_CLASSES] = { false };

	if (view_is_healthy(p->s)) /* nothing is worth acting on */
		return;
	first = base_arena_array(&p->mem, p->s->findings + 1, sizeof(*first));
	for (size_t i = 0; i < causes && sentences < most; i++) {
		const struct view_finding *f = &p->s->finding[told[cause[i].from].at];

		if (!of_verdict(p->s, f, &lead))
			continue;
		if (sentences && base_ppm(cause[i].ns, view_working_ns(p->s)) < SMALL_PPM)
			break;
		put_cause(p, ++sentences, told + cause[i].from, cause[i].n, &lacks,
			  said[f->class] ? "" : remedy(p, f->class));
		said[f->class] = true;
		memcpy(first + shown, told + cause[i].from, cause[i].n * sizeof(*first));
		if (lead.set[f->class])
			counted = base_arena_printf(&p->mem, "%s%s%zu", counted,
						    *counted ? " and " : "", sentences);
		others |= !lead.set[f->class];
		shown += cause[i].n;
	}
	covered = view_covered_words(p->s, &p->mem, first, shown, true);
	if (covered)
		text_line(p, base_arena_printf(&p->mem, "%s %s",
					       covering(p, sentences, others, counted), covered));
}

/* "saves at most 0.070 ¢ of this run, 1.00 ¢ per thousand steps". */
const char *view_text_saving(const struct view_summary *s, const struct view_advice *a,
			     struct base_arena *mem)
{
	int64_t amount = s->cost.known ? a->saving_nano_usd : a->saving_ns;
	struct base_scale scale;
	base_unit run, steps;
	const char *t;

	if (view_advice_only_tells(a))
		return "saves nothing by itself";
	if (s->cost.known)
		view_cost_text(run, &s->cost, amount);
	else
		base_gpu_time(run, amount);
	t = base_arena_printf(mem, "saves at most %s%s", run, view_of_run_words(s));
	if (!view_class_projects(s, a->class))
		return t;
	/* In the unit of what view_lead_rate_words says of them. */
	scale = s->cost.known ? base_money_scale(view_per_thousand(s, view_working_nano_usd(s)))
			      : base_gpu_time_scale(view_per_thousand(s, view_working_ns(s)));
	return base_arena_printf(mem, "%s, %s per thousand steps", t,
				 base_scaled(steps, scale, view_per_thousand(s, amount)));
}

/* " (train.py:45)": the user's own line, where it was found or told. */
static const char *where_to_change(struct page *p, const struct view_advice *a)
{
	struct view_hotspot at = { .known = true };

	if (a->own) {
		at.file = a->own->file;
		at.line = a->own->line;
	} else if (!view_change_at(p->s, a, &at)) {
		return "";
	}
	return base_arena_printf(&p->mem, " (%s)", view_words_hotspot(&p->mem, &at, LINE_COLUMNS));
}

static void put_next(struct page *p, const char *which, const struct view_advice *a)
{
	const struct view_advice *other;
	const char *of;

	if (!a)
		return;
	of = view_advice_about_words(p->s, &p->mem, a);
	other = view_advice_else(p->s, a);
	fputs(which, p->f);
	text_wrap(p, 8, 8,
		  base_arena_printf(
			  &p->mem, "%s%s%s; %s%s%s%s%s%s%s", a->brief, where_to_change(p, a),
			  view_advice_if(p->s, a), view_text_saving(p->s, a, &p->mem),
			  of ? " (" : "", of ? of : "", of ? ")" : "",
			  other ? "; without these cores: " : "", other ? other->brief : "",
			  other ? view_advice_one_here(p->s, &p->mem, a) : ""));
}

void text_next(struct page *p)
{
	put_next(p, "  next: ", view_advice_first(p->s));
	put_next(p, "  also: ", view_advice_second(p->s));
}

void text_findings(struct page *p)
{
	const struct view_summary *s = p->s;
	struct view_told *told;
	size_t n = view_findings_told(s, &p->mem, &told);
	const char *covered;

	if (n)
		text_heading(p, "Why (the most costly first)");
	for (size_t i = 0; i < n; i++) {
		put_finding(p, told[i].at);
		put_below(p, base_arena_printf(&p->mem, "(%s)",
					       view_finding_evidence(&p->mem,
								     &s->finding[told[i].at])));
		if (told[i].rest != SIZE_MAX)
			put_below(p, view_rest_words(s, &p->mem, told[i].rest));
	}
	covered = n > VIEW_TOLD_FIRST ? view_covered_words(s, &p->mem, told, VIEW_TOLD_FIRST, false)
				      : NULL;
	if (covered)
		text_line(p, base_arena_printf(&p->mem, "the %s %s", view_covering_words(s, told),
					       covered));
}

static const char *yes_no(bool yes)
{
	return yes ? "True" : "False";
}

static const char *made_at(struct page *p, const struct ana_loader_facts *l)
{
	struct view_hotspot at = { .known = true, .file = l->made_file, .line = l->made_line };

	return view_words_hotspot(&p->mem, &at, LINE_COLUMNS);
}

/* "4 workers (fork), batch_size=16, prefetch_factor=2, pin_memory=False". */
static const char *settings(struct page *p, const struct ana_loader_facts *l)
{
	const char *t = "";

	if (l->known & ANA_LOADER_WORKERS)
		t = base_arena_printf(&p->mem, "num_workers=%" PRIu32 "%s%s%s", l->workers,
				      l->workers && l->start ? " (" : "",
				      l->workers && l->start ? l->start : "",
				      l->workers && l->start ? ")" : "");
	if (l->known & ANA_LOADER_BATCH)
		t = base_arena_printf(&p->mem, "%s, batch_size=%" PRIu32, t, l->batch_size);
	if (l->known & ANA_LOADER_PREFETCH && l->workers)
		t = base_arena_printf(&p->mem, "%s, prefetch_factor=%" PRIu32, t, l->prefetch);
	if (l->known & ANA_LOADER_PIN)
		t = base_arena_printf(&p->mem, "%s, pin_memory=%s", t, yes_no(l->pin));
	if (l->known & ANA_LOADER_PERSISTENT && l->workers)
		t = base_arena_printf(&p->mem, "%s, persistent_workers=%s", t,
				      yes_no(l->persistent));
	if (l->known & ANA_LOADER_IN_ORDER && !l->in_order)
		t = base_arena_printf(&p->mem, "%s, in_order=False", t);
	if (l->made_file)
		t = base_arena_printf(&p->mem, "%s, made at %s", t, made_at(p, l));
	return t[0] == ',' ? t + 2 : t;
}

static void put_line(struct page *p, const char *text)
{
	if (!*text)
		return;
	fputs("  ", p->f);
	text_wrap(p, 2, 4, text);
}

static void put_fetches(struct page *p, const struct ana_loader_facts *l)
{
	const struct view_loader *v = &p->s->loader;
	base_unit mean, median, p95, made, cpu, delay;

	if (!l->made)
		return;
	put_line(
		p,
		base_arena_printf(
			&p->mem,
			"%s batches made, %s each on average (median %s, p95 %s); %s of it on a "
			"CPU, %s waiting for one",
			base_count(made, l->made), base_duration(mean, v->fetch_ns),
			base_duration(median, l->fetch_median_ns),
			base_duration(p95, l->fetch_p95_ns),
			base_duration(cpu, base_div_even(l->fetch_cpu_ns, (__int128)l->made)),
			base_duration(delay, base_div_even(l->fetch_delay_ns, (__int128)l->made))));
}

/* What keeps the advised workers from keeping up. */
static const char *need_bound(struct page *p)
{
	const struct view_loader *v = &p->s->loader;
	const char *busy = view_gain_busy(p->s, &p->mem);

	if (v->need.bound == VIEW_WORKERS_STEP)
		return "";
	if (v->need.bound == VIEW_WORKERS_LIMIT || !busy)
		return base_arena_printf(&p->mem, ", but a sensible limit is %" PRId64,
					 v->need.advised);
	return base_arena_printf(&p->mem,
				 ", but %" PRId64 " core%s here carr%s only %" PRId64 " (%s)",
				 v->facts.cores, v->facts.cores == 1 ? "" : "s",
				 v->facts.cores == 1 ? "ies" : "y", v->need.advised, busy);
}

/* "2 workers deliver one"; who makes a batch between two steps brings none while one goes on. */
static const char *deliver(struct page *p)
{
	int64_t n = p->s->loader.facts.workers;

	if (!n)
		return "the main process makes them itself, between steps: one comes";
	return base_arena_printf(&p->mem, "%" PRId64 " worker%s one", n,
				 n == 1 ? " delivers" : "s deliver");
}

/* What more workers would bring; as many as there are keep up, and nothing then comes otherwise. */
static const char *need_text(struct page *p, bool median)
{
	const struct view_loader *v = &p->s->loader;
	const char *s = v->need.needed == 1 ? "" : "s";
	base_unit step, then;

	base_duration(step, v->facts.step_ns);
	if (v->need.needed <= v->facts.workers)
		return base_arena_printf(
			&p->mem,
			"it took one every %s on average, %swaits included. %" PRId64
			" worker%s %s enough",
			step, median ? "slow steps and " : "", v->need.needed, s,
			v->need.needed == 1 ? "is" : "are");
	return base_arena_printf(&p->mem,
				 "%s every %s on average. %" PRId64
				 " worker%s would keep up%s; a batch then comes at best every %s "
				 "on average",
				 deliver(p), step, v->need.needed, s, need_bound(p),
				 base_duration(then, v->need.predicted_step_ns));
}

/* Of which steps the pace is: what keeps up with most of them is held up by the slow ones. */
static const char *pace_text(struct page *p, bool median)
{
	const struct view_worker_facts *f = &p->s->loader.facts;
	base_unit mean;

	if (!median)
		return "on average";
	return base_arena_printf(
		&p->mem, "the median step without its wait; %s on average, slow steps included",
		base_duration(mean, f->step_ns - f->wait_ns));
}

static void put_need(struct page *p)
{
	const struct view_loader *v = &p->s->loader;
	base_unit busy, fed;
	int64_t pace;
	bool median;

	if (!v->has_need)
		return;
	pace = view_loader_pace_ns(p->s, &median);
	if (v->busy_ppm >= 0)
		put_line(p,
			 base_arena_printf(&p->mem, "workers made batches for %s %% of their time",
					   base_percent(busy, v->busy_ppm)));
	put_line(p, base_arena_printf(&p->mem, "the GPU could take a batch every %s (%s); %s",
				      base_duration(fed, pace), pace_text(p, median),
				      need_text(p, median)));
}

static void put_shares(struct page *p)
{
	const char *t = "";
	base_unit share;

	for (int k = 0; k < ANA_WORKER_STATES; k++)
		if (p->s->loader.share_ppm[k])
			t = base_arena_printf(&p->mem, "%s%s%s %% %s", t, *t ? ", " : "",
					      base_percent(share, p->s->loader.share_ppm[k]),
					      ana_worker_state_words[k]);
	if (*t)
		put_line(p, base_arena_printf(&p->mem, "while GPUs waited, workers were: %s", t));
}

static void put_bytes(struct page *p)
{
	const struct view_loader *v = &p->s->loader;
	base_unit each, now, needed, miss;
	const char *t;

	if (v->batch_bytes <= 0 || view_loader_by_socket(p->s))
		return;
	t = base_arena_printf(&p->mem, "%s read per batch",
			      base_bytes(each, (uint64_t)v->batch_bytes));
	if (v->needed_bytes_per_s >= 0)
		t = base_arena_printf(&p->mem, "%s: %s/s, where %s/s would keep up", t,
				      base_bytes(now, (uint64_t)v->read_bytes_per_s),
				      base_bytes(needed, (uint64_t)v->needed_bytes_per_s));
	if (v->disk_ppm >= 0)
		t = base_arena_printf(&p->mem, "%s; %s %% of it not in the page cache", t,
				      base_percent(miss, v->disk_ppm));
	put_line(p, t);
}

static const char *file_line(struct page *p, const struct view_file *f)
{
	const char *rate = "", *looks = "";
	base_unit time, bytes;

	if (f->samples)
		looks = base_arena_printf(&p->mem, ", %" PRIu64 " sample%s", f->samples,
					  f->samples == 1 ? "" : "s");
	if (f->bytes_per_s >= 0)
		rate = base_arena_printf(&p->mem, ", read at %s/s",
					 base_bytes(bytes, (uint64_t)f->bytes_per_s));
	return base_arena_printf(&p->mem, "blocked %s on %s%s%s%s%s%s",
				 base_duration(time, f->blocked_ns),
				 view_short_path(&p->mem, f->path, 50), f->fs[0] ? " (" : "",
				 view_short_path(&p->mem, f->fs, 20), f->fs[0] ? ")" : "", looks,
				 rate);
}

static void put_files(struct page *p)
{
	const struct view_loader *v = &p->s->loader;

	for (size_t i = 0; i < v->files && i < FILES_SHOWN; i++)
		put_line(p, file_line(p, &v->file[i]));
}

static void put_waits(struct page *p)
{
	const struct ana_result *r = p->s->result;
	int64_t outside = r->loader_wait_ns - r->loader_exposed_ns - r->loader_hidden_ns;
	base_unit count, wait, exposed, hidden, rest;

	put_line(p, base_arena_printf(
			    &p->mem,
			    "%s: %s batches, waited %s; %s of it while a GPU was idle, %s "
			    "hidden behind queued work at no cost%s%s%s",
			    r->loader_kind ? r->loader_kind : "loader",
			    base_count(count, r->batches), base_duration(wait, r->loader_wait_ns),
			    base_duration(exposed, r->loader_exposed_ns),
			    base_duration(hidden, r->loader_hidden_ns), outside > 0 ? ", " : "",
			    outside > 0 ? base_duration(rest, outside) : "",
			    outside > 0 ? " before or after all GPU work" : ""));
}

void text_loader(struct page *p)
{
	const struct ana_result *r = p->s->result;
	const struct ana_loader_facts *l = view_loader_facts(p->s);

	if (!r->loader_wait_ns && !r->batches && !l) {
		if (p->s->loader.files) {
			text_heading(p, "What batches were read from, slowest first");
			put_files(p);
		}
		return;
	}
	text_heading(p, "Loader");
	put_waits(p);
	if (l) {
		put_line(p, settings(p, l));
		put_fetches(p, l);
	}
	put_need(p);
	put_shares(p);
	put_bytes(p);
	put_files(p);
	if (r->loaders > 1)
		fprintf(p->f, "  and %zu more kind%s of iterators (see --format json)\n",
			r->loaders - 1, r->loaders == 2 ? "" : "s");
}

void text_advice(struct page *p)
{
	const struct view_summary *s = p->s;

	if (!s->advices)
		return;
	text_heading(p, "What to do (each saving is an upper bound; they overlap)");
	for (size_t i = 0; i < s->advices; i++) {
		const struct view_advice *a = &s->advice[i];
		const char *of = view_advice_about_words(s, &p->mem, a);

		fputs("  -  ", p->f);
		text_wrap(p, 5, 5,
			  base_arena_printf(&p->mem, "%s (%s%s%s)", a->title,
					    view_text_saving(p->s, a, &p->mem), of ? "; " : "",
					    of ? of : ""));
		fputs("     ", p->f);
		text_wrap(p, 5, 5, base_arena_printf(&p->mem, "%s.", a->why));
		fputs("     ", p->f);
		text_wrap(p, 5, 5, base_arena_printf(&p->mem, "To do: %s.", a->action));
	}
}
