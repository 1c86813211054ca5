/* SPDX-License-Identifier: Apache-2.0 */
/* From numbers to judgements and their words. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "result.h"
#include "base/units.h"

#define HOTSPOT_PPM 10000 /* a replay that starves for less than 1 % names no line */

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "input.fetch, dataset.py:88 __getitem__". */
static const char *hotspot_text(struct base_arena *mem, const struct check_hotspot *p)
{
	if (!p->file)
		return ana_class_names[p->class];
	return base_arena_printf(mem, "%s, %s:%u%s%s", ana_class_names[p->class], base(p->file),
				 p->line, p->function ? " " : "", p->function ? p->function : "");
}

static void set_hotspot(struct check_judgement *j, const struct check_hotspot *p)
{
	if (!p)
		return;
	j->file = p->file;
	j->line = p->line;
	j->function = p->function;
}

static bool is_input(enum ana_class class)
{
	return !strncmp(ana_class_names[class], "input.", 6);
}

/* Its metric is of one class, of the time that the GPUs starved, or of all. */
static bool is_narrow(const struct check_budget *b)
{
	return b->metric.class >= 0 || !strncmp(b->name, "starved", 7);
}

/* The finding with most time of what a budget is about. */
static const struct check_hotspot *worst_hotspot(const struct check_run *run,
						 const struct check_budget *b)
{
	for (size_t i = 0; i < run->hotspots; i++) {
		enum ana_class class = run->hotspot[i].class;
		if (b->metric.class >= 0 ? (int)class == b->metric.class
					 : !is_narrow(b) || is_input(class))
			return &run->hotspot[i];
	}
	return NULL;
}

/* Budgets are of all that was held; people are told the share of the training time beside it. */
static const char *training_text(struct base_arena *mem, const struct check_budget *b,
				 const struct check_value *v, const struct check_run *run)
{
	int64_t outside = (int64_t)ana_class_sum(run->classes, ana_class_is_outside);
	int64_t working = run->gpu_ns - outside;
	base_unit share;

	if (b->metric.unit != CHECK_PCT || working <= 0 || !outside ||
	    ana_class_is_outside(b->metric.class))
		return "";
	return base_arena_printf(mem, " (%s %% of the %s)",
				 base_percent(share, base_ppm((int64_t)(v->num / 100), working)),
				 facts_run_time[run->kind]);
}

static void set_value(struct check_judgement *j, const struct check_result *r,
		      const struct check_budget *b, const struct check_value *v)
{
	j->value = check_value_digits(r->mem, v);
	j->bound = v->bound;
	j->limit = strpbrk(b->text, "<>") + 2;
}

/* Neither kept nor broken. */
static void judge_open(struct check_result *r, const struct check_budget *b,
		       const struct check_value *v, const struct check_run *run)
{
	struct check_judgement *j = check_result_add(
		r, CHECK_NOT_COMPARABLE, b->name, run->id,
		base_arena_printf(r->mem,
				  "%s is not known: it is %s, which does not tell whether it is "
				  "%s %s: %s",
				  b->name, check_value_text(r->mem, b, v),
				  b->at_least ? ">=" : "<=", check_limit_text(r->mem, b),
				  v->why_bound));

	set_value(j, r, b, v);
}

void check_judge_budget(struct check_result *r, const struct check_budget *b,
			const struct check_run *run)
{
	struct check_value v = check_metric_of(&b->metric, run);
	const struct check_hotspot *hotspot = worst_hotspot(run, b);
	const char *text;

	if (!v.known) {
		check_result_add(r, CHECK_NOT_COMPARABLE, b->name, run->id,
				 base_arena_printf(r->mem, "%s is not known: %s", b->name,
						   v.why_not));
		return;
	}
	if (check_budget_is_open(b, &v)) {
		judge_open(r, b, &v, run);
		return;
	}
	bool holds = check_budget_holds(b, &v);
	const char *op = holds ? b->at_least ? ">=" : "<=" : b->at_least ? "<" : ">";
	text = base_arena_printf(r->mem, "%s is %s%s %s %s%s%s", b->name,
				 check_value_text(r->mem, b, &v), training_text(r->mem, b, &v, run),
				 op, check_limit_text(r->mem, b),
				 holds || !hotspot ? ""
				 : is_narrow(b)	   ? "; most of it: "
						   : "; most of the waste: ",
				 !holds && hotspot ? hotspot_text(r->mem, hotspot) : "");
	struct check_judgement *j =
		check_result_add(r, holds ? CHECK_PASS : CHECK_FAIL, b->name, run->id, text);
	set_value(j, r, b, &v);
	if (!holds)
		set_hotspot(j, hotspot);
}

/*
 * -- comparison ---------------------------------------------------------------------------------
 */

struct grown {
	double ns; /* of GPU time per step, more than before */
	const struct check_hotspot *hotspot; /* of the new run */
	enum ana_class class;
	bool has_class;
};

/* Or for 1,000 samples, where that is compared. */
static double per_step(double ns, const struct check_run *run, bool by_samples)
{
	struct view_step_work w = check_run_work(run, false);

	if (by_samples)
		return ns * 1000 * (double)w.den / (double)w.num;
	return run->steps ? ns / (double)run->steps : 0;
}

static bool same_hotspot(const struct check_hotspot *a, const struct check_hotspot *b)
{
	const char *fa = a->file ? base(a->file) : "", *fb = b->file ? base(b->file) : "";
	const char *na = a->function ? a->function : "", *nb = b->function ? b->function : "";

	/* Lines move when code above them changes; functions seldom do. */
	return a->class == b->class && !strcmp(fa, fb) && !strcmp(na, nb);
}

static double time_at(const struct check_run *run, const struct check_hotspot *p)
{
	double sum = 0;

	for (size_t i = 0; i < run->hotspots; i++)
		if (same_hotspot(&run->hotspot[i], p))
			sum += (double)run->hotspot[i].ns;
	return sum;
}

/* The class that grew most per step, and in it the line that did. */
static struct grown find_grown(const struct check_run *old, const struct check_run *new, bool by)
{
	struct grown g = { 0 };
	double most = 0;

	for (int c = 0; c < ANA_CLASSES; c++) {
		double more = per_step((double)new->classes[c], new, by) -
			      per_step((double)old->classes[c], old, by);
		if (more <= g.ns || ana_class_is_outside(c)) /* makes no step longer */
			continue;
		g = (struct grown){ .ns = more, .class = (enum ana_class)c, .has_class = true };
	}
	for (size_t i = 0; g.has_class && i < new->hotspots; i++) {
		const struct check_hotspot *p = &new->hotspot[i];
		double more =
			per_step(time_at(new, p), new, by) - per_step(time_at(old, p), old, by);
		if (p->class == g.class && more > most) {
			most = more;
			g.hotspot = p;
		}
	}
	return g;
}

static const char *grown_text(struct base_arena *mem, const struct grown *g, bool by_samples)
{
	base_unit more;

	if (!g->has_class)
		return "";
	return base_arena_printf(mem, "; most of it is %s (+%s of GPU time per %s)",
				 g->hotspot ? hotspot_text(mem, g->hotspot)
					    : ana_class_names[g->class],
				 base_duration(more, g->ns < 9e18 ? (int64_t)g->ns : INT64_MAX),
				 by_samples ? "1,000 samples" : "step");
}

static const char *runs_text(const struct check_result *r)
{
	if (r->old_runs == 1 && r->new_runs == 1)
		return base_arena_printf(
			r->mem,
			"one run on each side: that equal runs differ by %.2f %% is "
			"assumed, not known",
			r->change.spread * 100);
	return base_arena_printf(r->mem, "%zu runs before, %zu now; equal runs differ by %.2f %%",
				 r->old_runs, r->new_runs, r->change.spread * 100);
}

static const char *interval_text(struct base_arena *mem, const struct check_interval *i)
{
	return base_arena_printf(mem, "%+.2f %% [%+.2f .. %+.2f %%]", i->value * 100, i->low * 100,
				 i->high * 100);
}

static const char *samples_text(const struct check_result *r)
{
	if (r->old_samples_per_step <= 0)
		return "";
	return base_arena_printf(r->mem, " (a step was of %.2f samples and is of %.2f)",
				 r->old_samples_per_step, r->new_samples_per_step);
}

static const char *change_text(struct check_result *r, const char *grown, const char *what)
{
	const struct check_change *c = &r->change;

	return base_arena_printf(r->mem,
				 "%s: %s %.3f ms -> %.3f ms%s, %s%s; typical steps %s; "
				 "waiting for the loader %s of a step; %" PRIu64 " and %" PRIu64
				 " steps, alpha %g, %s",
				 what, r->old_samples_per_step > 0 ? "1,000 samples" : "mean step",
				 c->old_ms, c->new_ms, samples_text(r),
				 interval_text(r->mem, &c->whole), grown,
				 interval_text(r->mem, &c->typical),
				 interval_text(r->mem, &c->exposed), c->old_steps, c->new_steps,
				 r->alpha, runs_text(r));
}

/* Sure, and enough to matter. */
static bool rose(const struct check_interval *i, double min_effect)
{
	return i->low > 0 && i->value > min_effect;
}

static bool fell(const struct check_interval *i, double min_effect)
{
	return i->high < 0 && i->value < -min_effect;
}

static bool is_slower(const struct check_result *r, const struct check_change *c)
{
	return rose(&c->whole, r->min_effect) || rose(&c->typical, r->min_effect);
}

static bool is_worse(const struct check_result *r, const struct check_change *c)
{
	return is_slower(r, c) || rose(&c->exposed, r->min_effect);
}

/* @later: the change is of the later half alone. */
static void judge_estimate(struct check_result *r, const struct check_run *old,
			   const struct check_run *new, bool later)
{
	const struct check_change *c = &r->change;
	bool slower = is_slower(r, c), starves = rose(&c->exposed, r->min_effect);
	bool faster = fell(&c->whole, r->min_effect) || fell(&c->typical, r->min_effect);
	bool bad = slower || starves, by_samples = r->old_samples_per_step > 0;
	struct grown g = find_grown(old, new, by_samples);
	const char *what = slower ? "slower" : "no change that counts";

	if (slower && later)
		what = "slower in the later half of these steps";
	else if (!slower && starves)
		what = later ? "starves more in the later half of these steps" : "starves more";
	else if (!bad && faster)
		what = "faster";
	struct check_judgement *j = check_result_add(
		r, bad ? CHECK_FAIL : CHECK_PASS, "steps", new->id,
		change_text(r, bad ? grown_text(r->mem, &g, by_samples) : "", what));

	j->value = base_arena_printf(r->mem, "%.6f", c->whole.value);
	j->limit = base_arena_printf(r->mem, "%.6f", r->min_effect);
	if (bad && g.hotspot)
		set_hotspot(j, g.hotspot);
}

static bool all_comparable(struct check_result *r, const struct check_run *old, size_t olds,
			   const struct check_run *new, size_t news)
{
	bool all = true;

	for (size_t i = 0; i < olds; i++) {
		for (size_t k = 0; k < news; k++) {
			const char *why = check_run_differ(r->mem, &old[i], &new[k]);
			if (!why)
				continue;
			check_result_add(r, CHECK_NOT_COMPARABLE, "baseline", new[k].id,
					 base_arena_printf(r->mem,
							   "not comparable with the baseline: %s",
							   why));
			all = false;
			break;
		}
		if (!all)
			break;
	}
	return all;
}

static double samples_per_step(const struct check_run *run)
{
	struct view_step_work w = check_run_work(run, false);

	return (double)view_step_work_each(&w) / 1e6;
}

/* As if each step were of 1,000 samples. */
static struct check_item *scaled(struct base_arena *mem, const struct check_run *run)
{
	double by = 1000 / samples_per_step(run);
	struct check_item *item = base_arena_array(mem, run->series.count, sizeof(*item));

	for (size_t i = 0; i < run->series.count; i++) {
		double ns = (double)run->series.item[i].ns * by;
		double exposed = (double)run->series.item[i].exposed_ns * by;

		item[i].ns = ns < 1	 ? 1
			     : ns < 9e18 ? (int64_t)ns
					 : INT64_MAX; /* its logarithm is taken */
		item[i].exposed_ns = exposed < 9e18 ? (int64_t)exposed : INT64_MAX;
	}
	return item;
}

static struct check_series *series_of(const struct check_result *r, const struct check_run *run,
				      size_t n)
{
	struct check_series *s = base_arena_array(r->mem, n ? n : 1, sizeof(*s));

	for (size_t i = 0; i < n; i++) {
		s[i] = run[i].series;
		if (r->old_samples_per_step > 0)
			s[i].item = scaled(r->mem, &run[i]);
	}
	return s;
}

static struct check_series *later_of(const struct check_result *r, const struct check_run *run,
				     size_t n)
{
	struct check_series *s = series_of(r, run, n);

	for (size_t i = 0; i < n; i++) {
		s[i].item += s[i].count / 2;
		s[i].count -= s[i].count / 2;
	}
	return s;
}

/*
 * Steps that are slower from somewhere on make the mean of all uncertain rather than larger: the
 * later half tells. That of the others, too: their steps may become faster as they go.
 */
static bool later_is_worse(struct check_result *r, const struct check_run *old, size_t olds,
			   const struct check_run *new, size_t news, const struct check_options *o)
{
	struct check_change later;

	if (!o->later_half || is_worse(r, &r->change) ||
	    check_change_estimate(later_of(r, old, olds), olds, later_of(r, new, news), news,
				  o->alpha, o->run_spread, &later) ||
	    !is_worse(r, &later))
		return false;
	r->change = later;
	return true;
}

/* Two of them whose steps are of other work, in samples or batches. */
static bool find_other(const struct check_run *old, size_t olds, const struct check_run *new,
		       size_t news, bool batches, struct view_step_work other[2])
{
	for (size_t i = 0; i < olds + news; i++) {
		for (size_t k = 0; k < news; k++) {
			other[0] = check_run_work(i < olds ? &old[i] : &new[i - olds], batches);
			other[1] = check_run_work(&new[k], batches);
			if (view_step_works_differ(&other[0], &other[1]))
				return true;
		}
	}
	return false;
}

static double mean_work(const struct check_run *run, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += samples_per_step(&run[i]) / (double)n;
	return sum;
}

/*
 * With gradients of several batches a step is of more samples, and takes longer for it. Where all
 * runs know theirs, these are compared.
 */
static bool is_work_comparable(struct check_result *r, const struct check_run *old, size_t olds,
			       const struct check_run *new, size_t news)
{
	char x[VIEW_STEP_WORK_TEXT], y[VIEW_STEP_WORK_TEXT];
	struct view_step_work other[2];
	bool all = true, differ = find_other(old, olds, new, news, false, other);

	for (size_t i = 0; i < olds + news; i++)
		all &= samples_per_step(i < olds ? &old[i] : &new[i - olds]) > 0;
	if (differ && all) {
		r->old_samples_per_step = mean_work(old, olds);
		r->new_samples_per_step = mean_work(new, news);
		return true;
	}
	bool batches = !differ;
	if (!differ && (all || !find_other(old, olds, new, news, true, other)))
		return true;
	check_result_add(r, CHECK_NOT_COMPARABLE, "steps", new[0].id,
			 base_arena_printf(r->mem,
					   "not comparable: a step is of %s %s before and of %s "
					   "now, and not all runs know their samples",
					   view_step_work_text(x, &other[0]),
					   batches ? "batches" : "samples",
					   view_step_work_text(y, &other[1])));
	return false;
}

void check_judge_change(struct check_result *r, const struct check_run *old, size_t olds,
			const struct check_run *new, size_t news, const struct check_options *o)
{
	int err;

	r->alpha = o->alpha;
	r->min_effect = o->min_effect;
	r->old_runs = olds;
	r->new_runs = news;
	if (!all_comparable(r, old, olds, new, news))
		return;
	if (!is_work_comparable(r, old, olds, new, news))
		return;
	err = check_change_estimate(series_of(r, old, olds), olds, series_of(r, new, news), news,
				    o->alpha, o->run_spread, &r->change);
	if (err) {
		check_result_add(r, CHECK_NOT_COMPARABLE, "steps", new[0].id,
				 err == -ENODATA ? "not comparable: fewer than 30 steps after the "
						   "warm-up on one side"
						 : "not comparable: out of memory");
		return;
	}
	r->has_change = true;
	judge_estimate(r, &old[0], &new[0], later_is_worse(r, old, olds, new, news, o));
}

/*
 * -- before scaling out -------------------------------------------------------------------------
 */

/* "11.0 % more", of steps per second of the whole job. */
static const char *predicted_gain(struct base_arena *mem, const struct check_prediction *p)
{
	int64_t gain = base_div_even((__int128)p->step_now_ns * p->ranks * 1000000,
				     (__int128)(p->step_ns > 0 ? p->step_ns : 1) * p->ranks_now) -
		       1000000;
	base_unit percent;

	return base_arena_printf(mem, "%s %% %s", base_percent(percent, gain < 0 ? -gain : gain),
				 gain < 0 ? "fewer" : "more");
}

static const char *scale_text(struct check_result *r, const struct check_scale *q)
{
	const struct check_prediction *p = &r->prediction;
	base_unit now, then, share, gain, cores;
	const char *what = "";

	if (q->faster_ppm != 1000000) {
		/* millionths of one, where the function takes millionths of a hundred */
		what = base_arena_printf(r->mem, "a GPU %s times as fast",
					 base_percent_exact(then, q->faster_ppm / 100));
	}
	if (p->ranks != p->ranks_now)
		what = base_arena_printf(r->mem, "%s%s%" PRId64 " ranks on the same cores", what,
					 what[0] ? " and " : "", p->ranks);
	return base_arena_printf(
		r->mem,
		"with %s a step takes %s (now %s), of which %s %% waits for input%s: %s "
		"steps per second (at most %s %%)%s",
		what[0] ? what : "everything as it is", base_duration(then, p->step_ns),
		base_duration(now, p->step_now_ns), base_percent(share, p->starved_ppm),
		p->cores_ns * 100 < p->step_ns
			? ""
			: base_arena_printf(r->mem, ", %s of it since cores are taken",
					    base_duration(cores, p->cores_ns)),
		predicted_gain(r->mem, p), base_percent(gain, p->gain_most_ppm),
		p->bound_by_cores    ? "; the cores that make batches set the pace"
		: p->bound_by_loader ? "; the loader sets the pace"
				     : "");
}

static struct check_value predicted(const struct check_prediction *p, const char *metric)
{
	struct check_value v = { .why_not = "it is not predicted; starved_pct and "
					    "usd_per_1k_steps are" };

	if (!strcmp(metric, "starved_pct"))
		v = (struct check_value){ .num = p->starved_ppm, .den = 10000, .known = true };
	else if (!strcmp(metric, "usd_per_1k_steps") && p->nano_usd_per_1k_steps >= 0)
		v = (struct check_value){ .num = p->nano_usd_per_1k_steps,
					  .den = 1000000000,
					  .known = true };
	else if (!strcmp(metric, "usd_per_1k_steps"))
		v.why_not = "no price is known; give one with --price";
	return v;
}

static const char *now_text(const struct check_budget *b)
{
	return is_narrow(b) ? "; most of it now: " : "; most of the waste now: ";
}

static void judge_predicted(struct check_result *r, const struct check_run *run,
			    const struct check_budget *b)
{
	struct check_value v = predicted(&r->prediction, b->name);
	const char *name = base_arena_printf(r->mem, "predicted.%s", b->name);
	const struct check_hotspot *hotspot = worst_hotspot(run, b);

	if (!v.known) {
		check_result_add(r, CHECK_WARN, name, run->id,
				 base_arena_printf(r->mem, "%s: %s", b->name, v.why_not));
		return;
	}
	bool holds = check_budget_holds(b, &v);
	struct check_judgement *j = check_result_add(
		r, holds ? CHECK_PASS : CHECK_FAIL, name, run->id,
		base_arena_printf(r->mem, "%s is predicted to be %s, %s %s%s%s", b->name,
				  check_value_text(r->mem, b, &v), holds ? "within" : "not within",
				  b->text, holds || !hotspot ? "" : now_text(b),
				  !holds && hotspot ? hotspot_text(r->mem, hotspot) : ""));
	set_value(j, r, b, &v);
	if (!holds)
		set_hotspot(j, hotspot);
}

void check_judge_prediction(struct check_result *r, const struct check_run *run,
			    const struct view_summary *s, const struct check_scale *q,
			    const struct check_budget *budget, size_t budgets)
{
	const char *why;

	if (!check_scale_predict(s, q, &r->prediction, &why)) {
		check_result_add(r, CHECK_NOT_COMPARABLE, "scale", s->id,
				 base_arena_printf(r->mem, "nothing can be predicted: %s", why));
		return;
	}
	r->has_prediction = true;
	check_result_add(r, CHECK_PASS, "scale", s->id, scale_text(r, q));
	for (size_t i = 0; i < budgets; i++)
		judge_predicted(r, run, &budget[i]);
}

/*
 * -- without the GPU ----------------------------------------------------------------------------
 */

static const char *cores_text(struct base_arena *mem, const struct check_replay *p)
{
	if (!p->recorded_cores)
		return base_arena_printf(mem, "%" PRId64 " cores here, not known there", p->cores);
	return base_arena_printf(mem, "%" PRId64 " cores here, %" PRId64 " there", p->cores,
				 p->recorded_cores);
}

static const char *replay_text(struct check_result *r, const struct check_replay *p,
			       const struct check_hotspot *hotspot)
{
	base_unit starved, was, busy, busy_was;

	return base_arena_printf(
		r->mem,
		"with this loader on this machine the recorded GPUs would starve for %s %% of a "
		"step and run something for %s %% (recorded: %s %% and %s %%)%s%s; %s, memory and "
		"storage may differ, too",
		base_percent(starved, r->replay_starved_ppm),
		base_percent(busy, p->utilization_ppm), base_percent(was, p->recorded_starved_ppm),
		base_percent(busy_was, p->recorded_utilization_ppm),
		hotspot ? "; they would wait most for " : "",
		hotspot ? hotspot_text(r->mem, hotspot) : "", cores_text(r->mem, p));
}

void check_judge_replay(struct check_result *r, const struct check_replay *p)
{
	r->has_replay = true;
	r->replay_utilization_ppm = p->utilization_ppm;
	r->replay_starved_ppm = base_ppm(p->run.starved_ns, p->run.gpu_ns);
	const struct check_hotspot *hotspot =
		r->replay_starved_ppm >= HOTSPOT_PPM && p->run.hotspots ? p->run.hotspot : NULL;
	struct check_judgement *j =
		check_result_add(r, CHECK_PASS, "replay", p->run.id, replay_text(r, p, hotspot));
	set_hotspot(j, hotspot);
}

void check_judge_whole(struct check_result *r, const struct check_run *run)
{
	if (!run->complete)
		check_result_add(r, CHECK_WARN, "run", run->id,
				 "the run did not end normally (killed, or still running): its "
				 "numbers are those up to where the trace ends");
	else if (run->exit_status)
		check_result_add(r, CHECK_WARN, "run", run->id,
				 base_arena_printf(r->mem,
						   "the run failed (exit status %d): its numbers "
						   "are those up to there",
						   run->exit_status));
}
