/* SPDX-License-Identifier: Apache-2.0 */
#include "gain.h"

#include <inttypes.h>
#include <string.h>
#include "base/minmax.h"
#include "base/units.h"
#include "findings.h"
#include "loader.h"

#define GAIN_PCT 105 /* of the steps per hour; less is not worth a sentence */

/* Steps were made in it: behind the last kernel there are none. */
static int64_t stepping_ns(const struct view_summary *s)
{
	return base_max(view_recorded_ns(s) - s->kind.after_last_ns, 0);
}

int64_t view_gain_of_steps(const struct view_summary *s, const struct view_advice *a,
			   enum ana_class c, int64_t saved)
{
	int64_t most = 0;

	if (!s->kind.after_last_ns)
		return saved;
	for (int i = 0; i < ANA_CLASSES; i++)
		if (a ? view_advice_is_of(s, a, (enum ana_class)i) : i == (int)c)
			view_cost_add(&most, s->result->classes[i] - s->kind.after_last[i]);
	return base_min(saved, base_max(most, 0));
}

/*
 * Without @saved of the training time, the work of an hour in hundredths of today's; 0: nothing
 * would be left.
 */
static int64_t times_pct(const struct view_summary *s, int64_t saved, bool up)
{
	int64_t t = stepping_ns(s), left = t - saved;

	return left > 0 ? (int64_t)(((__int128)t * 100 + (up ? left - 1 : 0)) / left) : 0;
}

/* As fine as the lengths that stand beside it: "148 ms -> 64.4 ms" are 2.30 times, not 2.4. */
static const char *times_words(struct base_arena *mem, int64_t pct, bool up)
{
	if (pct < 1000)
		return base_arena_printf(mem, "%" PRId64 ".%02" PRId64, pct / 100, pct % 100);
	return base_arena_printf(mem, "%" PRId64, (pct + (up ? 99 : 0)) / 100);
}

/* " in the 26.4 % of the training time of which kernels were recorded" */
static const char *of_recorded(const struct view_summary *s, struct base_arena *mem)
{
	base_unit share;

	if (!s->result->unrecorded.ns)
		return "";
	base_percent(share, base_ppm(view_recorded_ns(s), view_working_ns(s)));
	return base_arena_printf(mem, " in the %s %% of the %s time in which kernels were recorded",
				 share, view_work_word(&s->kind));
}

const char *view_gain_words(const struct view_summary *s, struct base_arena *mem, int64_t saved,
			    int64_t least)
{
	int64_t most_pct = times_pct(s, saved, true), least_pct = times_pct(s, least, false);
	const char *times, *from = "at most ";

	if (saved <= 0 || most_pct < GAIN_PCT)
		return NULL;
	times = times_words(mem, most_pct, true);
	if (least_pct >= GAIN_PCT)
		from = base_arena_printf(mem, "%s to ", times_words(mem, least_pct, false));
	return base_arena_printf(mem, "%s%s times the %s per hour%s", from, times,
				 s->result->steps ? "steps" : "work", of_recorded(s, mem));
}

const char *view_of_run_words(const struct view_summary *s)
{
	return s->result->unrecorded.ns ? " of what was recorded of this run" : " of this run";
}

const char *view_gain_lengths(const struct view_summary *s, struct base_arena *mem, int64_t saved)
{
	int64_t now = stepping_ns(s), then = now - saved, steps = (int64_t)s->result->steps;
	const char *each = "", *each_then = "";
	const char *which = s->result->unrecorded.ns ? " that was recorded,"
			    : s->kind.after_last_ns  ? " up to the last kernel,"
						     : "";
	base_unit text, of;

	if (!view_gain_words(s, mem, saved, 0))
		return NULL;
	if (steps) {
		each = base_arena_printf(mem, ", %s for each step,",
					 base_duration(of, base_div_even(now, steps)));
		each_then = base_arena_printf(mem, ", %s for each step",
					      base_duration(of, base_div_even(then, steps)));
	}
	base_duration(text, now);
	return base_arena_printf(mem, "The %s time%s of %s%s would be at least %s%s",
				 view_work_word(&s->kind), which, text, each,
				 base_duration(of, then), each_then);
}

const char *view_gain_busy(const struct view_summary *s, struct base_arena *mem)
{
	const struct view_worker_facts *f = &s->loader.facts;
	int64_t pct;

	if (f->fetch_ns <= 0 || f->fetch_cpu_ns <= 0)
		return NULL;
	pct = base_div_even((__int128)100 * f->fetch_cpu_ns, f->fetch_ns);
	if (pct < 50)
		return base_arena_printf(mem, "each waits for %" PRId64 " %% of its time",
					 100 - pct);
	if (pct >= 99)
		return "each computes all the time";
	return base_arena_printf(mem, "each computes for %" PRId64 " %% of its time", pct);
}

/* "4 worker processes per rank". */
static const char *so_many(const struct view_summary *s, struct base_arena *mem, int64_t n)
{
	bool first = !s->loader.facts.workers;

	return base_arena_printf(mem, "%" PRId64 " %s%s%s", n, first ? "worker process" : "worker",
				 n == 1	 ? ""
				 : first ? "es"
					 : "s",
				 s->ranks > 1 ? " per rank" : "");
}

/* "2 cores", "one core". */
static const char *cores(const struct view_summary *s, struct base_arena *mem)
{
	int64_t n = s->loader.facts.cores;

	return n == 1 ? "one core" : base_arena_printf(mem, "%" PRId64 " cores", n);
}

/* More of them than the cores have room for, if each wanted one: why that is no mistake. */
static const char *crowded(const struct view_summary *s, struct base_arena *mem)
{
	const struct view_loader *v = &s->loader;
	const char *busy = view_gain_busy(s, mem);

	if (!busy || v->facts.cores <= 0 || v->need.advised < v->facts.cores)
		return "";
	return base_arena_printf(mem, " (%s, so the %s here %s enough)", busy, cores(s, mem),
				 v->facts.cores == 1 ? "is" : "are");
}

/* What a sentence goes on behind. */
static const char *comma(struct base_arena *mem, const char *bound)
{
	return *bound ? base_arena_printf(mem, "%s,", bound) : "";
}

/* "4 workers per rank would hide it"; what binds them is said. */
static const char *workers(const struct view_summary *s, struct base_arena *mem,
			   const struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	const char *n = so_many(s, mem, v->need.advised), *busy = view_gain_busy(s, mem);
	const char *bound = view_advice_if(s, a);

	if (busy && view_loader_wants_cores(s))
		return base_arena_printf(mem,
					 "%s, and %" PRId64 " cores%s where there are %" PRId64
					 " now (%s), would hide it%s:",
					 so_many(s, mem, v->need.needed), v->need.cores_needed,
					 s->ranks > 1 ? " each" : "", v->facts.cores, busy, bound);
	if (busy && v->need.bound == VIEW_WORKERS_CORES)
		return base_arena_printf(mem, "%s, all that %s carry here (%s), would bring%s", n,
					 cores(s, mem), busy, comma(mem, bound));
	if (v->need.bound != VIEW_WORKERS_STEP)
		return base_arena_printf(mem, "%s would bring%s", n, comma(mem, bound));
	return base_arena_printf(mem, "%s%s would hide it%s:", n, crowded(s, mem), bound);
}

const char *view_gain_by(const struct view_summary *s, struct base_arena *mem,
			 const struct view_advice *a)
{
	const char *brief = a->brief, *rank = strstr(brief, ", on rank ");

	if (a->with_need)
		return workers(s, mem, a);
	return base_arena_printf(mem, "%.*s would bring%s",
				 (int)(rank ? rank - brief : (ptrdiff_t)strlen(brief)), brief,
				 comma(mem, view_advice_if(s, a)));
}
