/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on GPUs that did nothing. */
#include "advice.h"
#include "base/units.h"
#include "unused.h"

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static const char *nobody_at_all(struct view_summary *s, size_t all)
{
	return base_arena_printf(
		&s->mem,
		"the job was given %zu GPU%s and no process of it used %s: ask for none, or see "
		"why the program found none (CUDA_VISIBLE_DEVICES, a framework built for CPUs, "
		"steps that never started)",
		all, plural(all), all == 1 ? "it" : "any");
}

/* No more than what lies there is saved by it. */
static void save_part(struct view_summary *s, struct view_advice *a, enum ana_vacant part)
{
	a->saving_ns = s->result->vacancy.ns[part];
	a->saving_nano_usd = s->cost.known ? s->cost.vacant[part] : a->saving_nano_usd;
}

/* What to do depends on when nobody was there: the largest part is told, of equals the first. */
static void end_it_with_the_work(struct view_summary *s, struct view_advice *a)
{
	const int64_t *ns = s->result->vacancy.ns;
	int64_t before = ns[ANA_VACANT_BEFORE], between = ns[ANA_VACANT_BETWEEN];
	int64_t after = ns[ANA_VACANT_AFTER];

	a->brief = "an allocation that begins and ends with the work";
	a->action = "end the allocation when the work ends, and prepare before it begins";
	if (between > before && between >= after) {
		save_part(s, a, ANA_VACANT_BETWEEN);
		a->brief = "no pause between runs of one allocation, or an allocation for each";
		a->action =
			"start the next run when one ends (a script, or a queue of runs), or give each "
			"run a job of its own: between runs nobody used what the allocation held";
	} else if (before && before >= after) {
		save_part(s, a, ANA_VACANT_BEFORE);
		a->brief = "an allocation that begins when the work does";
		a->action =
			"prepare before the allocation begins (data, environments, compilation), or "
			"in a job without GPUs that this one waits for";
	} else if (after) {
		save_part(s, a, ANA_VACANT_AFTER);
		a->brief = "an allocation that ends with the work";
		a->action =
			"end the allocation when the last run ends: let the job's script end there, "
			"and leave what needs no GPU to a job without one";
	}
}

static const char *amount(struct view_summary *s, int64_t ns, int64_t nano_usd)
{
	base_unit text;

	if (s->cost.known)
		view_cost_text(text, &s->cost, nano_usd);
	else
		base_duration(text, ns);
	return base_arena_printf(&s->mem, "%s", text);
}

/*
 * What nobody used is GPUs that nobody ever did, which fewer would spare, and time of the others
 * before, between and after runs, which would be there with fewer, too. The larger part is what the
 * advice is about, with what that saves of the largest of the three; the other is told beside it.
 */
static void advise_fewer(struct view_summary *s, struct view_advice *a, const struct view_unused *u)
{
	size_t all = s->result->gpus, used = all - u->no_process;
	int64_t ns = u->ns - u->no_work_ns, usd = u->nano_usd - u->no_work_nano_usd;
	int64_t rest_ns = a->saving_ns - ns, rest_usd = a->saving_nano_usd - usd;
	const char *ask = base_arena_printf(&s->mem, "ask for %zu GPU%s instead of %zu", used,
					    plural(used), all);

	if (rest_ns > ns) {
		a->saving_ns = rest_ns;
		a->saving_nano_usd = rest_usd;
		end_it_with_the_work(s, a);
		a->action = base_arena_printf(&s->mem, "%s; %s: another %s", a->action, ask,
					      amount(s, ns, usd));
		return;
	}
	a->saving_ns = ns;
	a->saving_nano_usd = usd;
	a->brief =
		base_arena_printf(&s->mem, "%zu GPU%s fewer", u->no_process, plural(u->no_process));
	a->action = base_arena_printf(
		&s->mem, "%s, or start a process per GPU (--nproc-per-node=%zu)", ask, all);
	if (rest_ns > 0)
		a->action = base_arena_printf(
			&s->mem,
			"%s; let the allocation begin and end with the work: nobody used the other "
			"GPU%s for another %s of it",
			a->action, plural(used), amount(s, rest_ns, rest_usd));
}

/* By how many GPUs too many were asked for; else it is time before and after the work. */
bool view_advise_no_process(struct view_summary *s, struct view_advice *a)
{
	struct view_unused u = view_unused_gpus(s);

	if (!u.no_process) {
		end_it_with_the_work(s, a);
		return true;
	}
	a->why = base_arena_printf(&s->mem, "%s; %s", a->why, view_unused_words(s, &s->mem));
	if (u.no_process < s->result->gpus) {
		advise_fewer(s, a, &u);
		return true;
	}
	a->brief = "a job without GPUs, or a look at why none was used";
	a->action = nobody_at_all(s, s->result->gpus);
	return true;
}

/* Of start-up, what GPUs took on which nothing ever ran. */
bool view_advise_idle_gpu(struct view_summary *s, struct view_advice *a)
{
	struct view_unused u = view_unused_gpus(s);
	base_unit time;

	if (!u.no_work)
		return false;
	a->saving_ns = u.no_work_ns;
	a->saving_nano_usd = u.no_work_nano_usd;
	a->why = base_arena_printf(&s->mem, "%s, for %s", view_unused_words(s, &s->mem),
				   base_duration(time, u.no_work_ns));
	if (u.no_work < s->result->gpus) {
		a->brief = base_arena_printf(&s->mem, "%zu GPU%s fewer, or work for %s", u.no_work,
					     plural(u.no_work), u.no_work == 1 ? "it" : "them");
		return true;
	}
	a->brief = "a look at why nothing ran";
	a->action = "see why the program never came to its first kernel: whether it failed, waited "
		    "for other ranks, or computed on the CPU";
	return true;
}
