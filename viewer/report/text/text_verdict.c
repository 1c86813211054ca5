/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict, in its box: how bad it is, what it cost, and by whose fault. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "findings/lead.h"
#include "findings/unused.h"
#include "findings/vacant_words.h"
#include "text_priv.h"

#define AFTER_LAST_PPM 50000 /* of the training time, from where it is told */

#define FLAGGED_SHOWN 8

static bool any_unused(const struct view_summary *s)
{
	struct view_unused u = view_unused_gpus(s);

	return u.no_process || u.no_work;
}

static const char *severity_paint(const struct page *p, const struct ana_judgement *v)
{
	if (v->severity >= ANA_S_WARNING)
		return text_paint(p, "\033[1;31m");
	if (v->verdict == ANA_V_BUSY && !any_unused(p->s))
		return text_paint(p, "\033[1;32m");
	return text_paint(p, "\033[1;33m");
}

/* Where no GPU did anything there is nothing to say of starving. */
static const char *unused_sentence(const struct view_summary *s, struct base_arena *mem)
{
	struct view_unused u = view_unused_gpus(s);
	const char *words = view_unused_words(s, mem);
	base_unit idle, all, hours;
	char *sentence = base_arena_text(mem, words);

	sentence[0] = sentence[0] == 'n' ? 'N' : sentence[0]; /* "no process", "nothing" */
	words = sentence;
	if (s->cost.known)
		return base_arena_printf(mem, "%s = %s of %s at %s", words,
					 view_cost_text(idle, &s->cost, u.nano_usd),
					 view_cost_text(all, &s->cost, s->cost.total),
					 view_text_rates(s, mem));
	return base_arena_printf(mem, "%s: %s; no price known: set one with --price USD", words,
				 base_gpu_time(hours, s->result->gpu_ns));
}

const char *view_text_money(const struct view_summary *s, struct base_arena *mem)
{
	struct view_lead l = view_lead_of(s);
	const char *hour = view_lead_hour_words(s, mem), *beside = "";
	const char *waiting = view_waiting_words(s, mem);
	struct view_lead input;
	base_unit share;

	if (view_all_unused(s))
		return unused_sentence(s, mem);
	if (!l.known)
		return waiting ? waiting : "";
	if (waiting)
		return base_arena_printf(mem, "%s. %s", waiting, view_lead_words(&l, mem));
	if (view_lead_beside(s, &input))
		beside = base_arena_printf(mem, ", %s %s %%", view_lead_and(&input),
					   base_percent(share, input.ppm));
	return base_arena_printf(mem, "%s%s%s%s%s", view_lead_words(&l, mem),
				 view_is_healthy(s) ? VIEW_HEALTHY_WORDS : "", beside,
				 hour ? ": " : "", hour ? hour : "");
}

const char *view_text_sums(const struct view_summary *s, struct base_arena *mem)
{
	base_unit wall;

	if (view_all_unused(s))
		return base_arena_printf(mem, "%s, %s", view_text_gpus(s, mem),
					 base_duration(wall, s->wall_ns));
	return base_arena_printf(mem, "%s; %s, %s%s%s", view_lead_sum_words(s, mem),
				 view_text_gpus(s, mem), base_duration(wall, s->wall_ns),
				 s->cost.known ? ", at "
					       : "; no price known: set one with --price USD",
				 s->cost.known ? view_text_rates(s, mem) : "");
}

static void put_headline(struct page *p)
{
	const struct view_summary *s = p->s;
	const struct ana_judgement *v = &s->result->judgement;
	const char *what = view_verdict_words(s, &p->mem);

	const char *who = p->style.box ? "" : "gpustarve: "; /* the box says it itself */
	fprintf(p->f, "%s%s%s%s. ", who, severity_paint(p, v), what, text_paint(p, "\033[0m"));
	text_wrap(p, (int)strlen(who) + (int)strlen(what) + 2, 2, view_text_money(s, &p->mem));
}

/* What the run came to, what that is per day, month and step, and what starting and ending cost. */
static void put_sums(struct page *p)
{
	const char *rate = view_lead_rate_words(p->s, &p->mem);
	const char *outside = view_outside_sentence(p->s, &p->mem);
	const char *startup = view_startup_sentence(p->s, &p->mem);

	if (p->s->result->simulated)
		text_line(p, VIEW_SIMULATED_WORDS);
	text_line(p, base_arena_printf(&p->mem, "this run: %s", view_text_sums(p->s, &p->mem)));
	if (view_all_unused(p->s))
		return;
	if (rate)
		text_line(p, rate);
	if (outside)
		text_line(p, outside);
	if (outside && startup)
		text_line(p, startup);
}

static void put_between(struct page *p)
{
	const char *between = view_between_sentence(p->s, &p->mem);

	if (between)
		text_line(p, between);
}

static void put_fp32(struct page *p)
{
	const char *fp32 = view_fp32_sentence(p->s, &p->mem);

	if (fp32)
		text_line(p, fp32);
}

/* Where each GPU is flagged, with one share: that share, in tenths of a percent; else -1. */
static int64_t same_of_all(const struct ana_result *r)
{
	int64_t tenths = -1;

	for (size_t i = 0; i < r->gpus; i++) {
		const struct ana_gpu *g = &r->gpu[i];
		int64_t own = base_div_even(
			base_ppm(view_gpu_starved_ns(g), view_gpu_working_ns(g)), 1000);

		if (!g->judgement.flagged || (i && own != tenths))
			return -1;
		tenths = own;
	}
	return tenths;
}

static void put_flags(struct page *p)
{
	const struct ana_result *r = p->s->result;
	size_t flagged = 0, shown = 0;

	for (size_t i = 0; i < r->gpus; i++)
		flagged += r->gpu[i].judgement.flagged;
	if (!flagged || (r->gpus == 1 && r->judgement.flagged))
		return;
	base_unit a, b;
	int64_t each = same_of_all(r);
	const char *work = view_work_word(&p->s->kind);

	if (each >= 0) {
		text_line(p, base_arena_printf(
				     &p->mem,
				     "flagged: all %s GPUs; each starved %s %% of its %s time",
				     base_count(a, flagged), base_percent(b, each * 1000), work));
		return;
	}
	text_line(p, base_arena_printf(&p->mem,
				       "flagged: %s of %s GPUs; how much of its %s time each "
				       "starved:",
				       base_count(a, flagged), base_count(b, r->gpus), work));
	for (size_t i = 0; i < r->gpus && shown < FLAGGED_SHOWN; i++) {
		const struct ana_gpu *g = &r->gpu[i];
		base_unit share;
		if (!g->judgement.flagged)
			continue;
		fputs("    ", p->f);
		text_wrap(p, 4, 6,
			  base_arena_printf(&p->mem, "%s on %s:%" PRIu32 ": %s %%",
					    g->uuid ? g->uuid : g->name, g->host, g->index,
					    base_percent(share, base_ppm(view_gpu_starved_ns(g),
									 view_gpu_working_ns(g)))));
		shown++;
	}
	if (shown < flagged)
		fprintf(p->f, "    and %zu more\n", flagged - shown);
}

/* What it does then is its own: an evaluation on the CPU, an upload, something forgotten. */
static void put_after_last(struct page *p)
{
	int64_t ns = p->s->kind.after_last_ns, all = view_working_ns(p->s);
	base_unit time, share;

	if (base_ppm(ns, all) >= AFTER_LAST_PPM)
		text_line(p,
			  base_arena_printf(&p->mem,
					    "%s (%s %%) of the %s came after the last kernel: the "
					    "GPU was held, and got no more work; that comes "
					    "once, and not with each step",
					    base_duration(time, ns),
					    base_percent(share, base_ppm(ns, all)),
					    view_whole_words(&p->s->kind, false)));
}

static void put_doubt(struct page *p)
{
	const struct ana_quality *q = &p->s->result->quality;
	const char *brief = view_short_words(p->s, &p->mem);
	base_unit a, b;

	if (brief)
		text_line(p, brief);
	put_after_last(p);
	if (q->dropped || q->invalid)
		text_line(p, base_arena_printf(
				     &p->mem,
				     "%s records lost, %s unusable: their time counts as lost "
				     "(device.lost)",
				     base_count(a, q->dropped), base_count(b, q->invalid)));
	if (!p->s->result->complete && !p->s->result->imported)
		text_line(p,
			  "a process ended without saying so, or goes on: these are lower bounds");
	else if (p->s->ranks > 1 && !ana_ranks_compared(&p->s->result->ranks))
		text_line(p, "several ranks: starved is a lower bound");
}

/* Some GPUs worked and others did not: that is a loss beside the one the verdict is about. */
static void put_unused(struct page *p)
{
	const struct view_summary *s = p->s;
	struct view_unused u = view_unused_gpus(s);
	base_unit what;

	if (!any_unused(s) || view_all_unused(s))
		return;
	if (s->cost.known)
		view_cost_text(what, &s->cost, u.nano_usd);
	else
		base_duration(what, u.ns);
	text_line(p, base_arena_printf(&p->mem, "%s = %s%s", view_unused_words(s, &p->mem), what,
				       s->cost.known ? "" : " of GPU time"));
}

/* When that was, of those that did something at other times, too. */
static void put_vacancy(struct page *p)
{
	const char *when = view_vacancy_sentence(p->s, &p->mem);
	const char *unseen = view_vacancy_unseen(p->s, &p->mem);

	if (when)
		text_line(p, when);
	if (unseen)
		text_line(p, unseen);
}

static void verdict_lines(struct page *p)
{
	put_headline(p);
	put_sums(p);
	put_unused(p);
	put_vacancy(p);
	text_causes(p, 3);
	text_culprits(p, 3);
	put_between(p);
	put_fp32(p);
	put_flags(p);
	put_doubt(p);
	text_next(p);
}

/* The lines are made first, as wide as the box has room for. */
void text_verdict(struct page *p)
{
	struct page inner = *p;
	char *text = NULL;
	size_t len;

	if (!p->style.box) {
		verdict_lines(p);
		return;
	}
	inner.f = open_memstream(&text, &len);
	if (!inner.f)
		return;
	inner.style.columns -= 4;
	verdict_lines(&inner);
	p->mem = inner.mem;
	if (!fclose(inner.f))
		text_frame(p->f, &p->style, "gpustarve", text);
	free(text);
}
