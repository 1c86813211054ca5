/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses of the comparison, for text and page alike. Strings of a run go through unchanged. */
#include <inttypes.h>
#include <string.h>
#include "findings/words.h"
#include "findings/findings.h"
#include "findings/lead.h"
#include "findings/unused.h"
#include "compare_priv.h"
#include "report/text/text.h"

#define PATH_COLUMNS 34

const char *compare_run_words(const struct view_compared_run *r, struct base_arena *mem)
{
	const struct view_summary *s = r->summary;
	base_unit wall, steps, usd;

	return base_arena_printf(mem, "%s: %s, %s, %s%s%s%s%s%s", s->id[0] ? s->id : r->path,
				 view_verdict_words(s, mem), view_text_gpus(s, mem),
				 base_duration(wall, s->wall_ns), s->result->steps ? ", " : "",
				 s->result->steps ? view_bound_words[view_told_bound(s)] : "",
				 s->result->steps ? base_count(steps, s->result->steps) : "",
				 s->result->steps ? " steps" : "",
				 s->cost.known ? base_arena_printf(mem, ", %s",
								   base_money(usd, s->cost.total))
					       : "");
}

const char *compare_finding_name(struct base_arena *mem, const struct view_finding *f)
{
	const char *hotspot = view_words_hotspot(mem, &f->where, PATH_COLUMNS);

	return base_arena_printf(mem, "%s%s%s", ana_class_names[f->class], hotspot ? " " : "",
				 hotspot ? hotspot : "");
}

const char *compare_finding_words(const struct view_comparison *c, const struct view_pair *p,
				  const struct view_finding_change *f, struct base_arena *mem)
{
	int now = f->finding[1] && f->status != VIEW_FINDING_WENT;
	const struct view_summary *s = c->run[now ? p->run : 0].summary;
	const char *words = view_finding_words(s, mem, f->finding[now], PATH_COLUMNS);

	if (f->status != VIEW_FINDING_MOVED)
		return words;
	return base_arena_printf(mem, "%s; was %s", words,
				 compare_finding_name(mem, f->finding[0]));
}

const char *compare_finding_figures(const struct view_pair *p, const struct view_finding_change *f,
				    struct base_arena *mem)
{
	base_unit a, b;
	const char *t = base_arena_printf(mem, "%s -> %s of the GPU time",
					  compare_figure(a, VIEW_FIGURE_PPM, f->ppm[0]),
					  compare_figure(b, VIEW_FIGURE_PPM, f->ppm[1]));

	if (p->why[VIEW_PART_GPU_STEP])
		return t;
	return base_arena_printf(mem, "%s, %s -> %s per step", t,
				 compare_figure(a, VIEW_FIGURE_NS, f->step_ns[0]),
				 compare_figure(b, VIEW_FIGURE_NS, f->step_ns[1]));
}

static const char *came_true(enum view_limit limit, bool kept, int64_t real_ns)
{
	switch (limit) {
	case VIEW_LIMIT_NOTHING:
		return " (its time did not shrink)";
	case VIEW_LIMIT_WHOLE:
		if (!real_ns)
			return " (its time went to other classes)";
		return kept ? " (the rest stayed, or went to other classes)"
			    : " (the rest went to other classes)";
	default:
		return "";
	}
}

static const char *of_amount(struct base_arena *mem, enum view_figure figure, int64_t upper,
			     int64_t real, const char *per)
{
	base_unit a, b;

	return base_arena_printf(mem, "at most %s%s per %s, %s was realised",
				 compare_figure(a, figure, upper),
				 figure == VIEW_FIGURE_NS ? " of GPU time" : "", per,
				 !real		 ? "none"
				 : real == upper ? "all of it"
						 : compare_figure(b, figure, real));
}

const char *compare_promise_words(const struct view_pair *p, const struct view_promise *q,
				  struct base_arena *mem)
{
	const struct view_advice *a = q->advice;
	base_unit upper;
	const char *t;

	if (p->samples_gpu) {
		t = p->samples_usd ? of_amount(mem, VIEW_FIGURE_USD, q->upper_samples_nano_usd,
					       q->samples_nano_usd, "1,000 samples")
				   : of_amount(mem, VIEW_FIGURE_NS, q->upper_samples_ns,
					       q->samples_ns, "1,000 samples");
		return base_arena_printf(mem, "%s%s", t,
					 came_true(q->samples_limit, q->samples_kept,
						   q->samples_ns));
	}
	if (!p->why[VIEW_PART_USD_RUN])
		t = of_amount(mem, VIEW_FIGURE_USD, a->saving_nano_usd, q->run_nano_usd, "run");
	else if (!p->why[VIEW_PART_USD_STEP])
		t = of_amount(mem, VIEW_FIGURE_USD, q->upper_step_nano_usd, q->step_nano_usd,
			      "step");
	else if (!p->why[VIEW_PART_GPU_RUN])
		t = of_amount(mem, VIEW_FIGURE_NS, a->saving_ns, q->run_ns, "run");
	else if (!p->why[VIEW_PART_GPU_STEP])
		t = of_amount(mem, VIEW_FIGURE_NS, q->upper_step_ns, q->step_ns, "step");
	else if (p->priced[0])
		return base_arena_printf(mem, "at most %s per run; not comparable: %s",
					 compare_usd(upper, a->saving_nano_usd),
					 p->why[VIEW_PART_GPU_STEP]);
	else
		return base_arena_printf(mem, "at most %s of GPU time per run; not comparable: %s",
					 base_duration(upper, a->saving_ns),
					 p->why[VIEW_PART_GPU_STEP]);
	return base_arena_printf(mem, "%s%s", t,
				 came_true(q->limit, q->kept,
					   p->why[VIEW_PART_GPU_RUN] ? q->step_ns : q->run_ns));
}

static const char *more_or_less(struct base_arena *mem, enum view_figure figure, int64_t v,
				const char *per)
{
	base_unit a;

	if (!v)
		return base_arena_printf(mem, "nothing per %s", per);
	return base_arena_printf(mem, "%s %s per %s", compare_figure(a, figure, v < 0 ? -v : v),
				 v < 0 ? "more" : "less", per);
}

/* What a thousand steps of the training time cost less, in dollars or in GPU time. */
static int64_t thousand(const struct view_comparison *c, const struct view_pair *p, bool usd)
{
	int64_t amount[2];

	for (int i = 0; i < 2; i++) {
		const struct view_summary *s = c->run[i ? p->run : 0].summary;
		amount[i] =
			view_per_thousand(s, usd ? view_working_nano_usd(s) : view_working_ns(s));
	}
	return amount[0] - amount[1];
}

/* The table's own difference. */
static const char *unit_saving(const struct view_comparison *c, const struct view_pair *p,
			       struct base_arena *mem)
{
	const struct view_measure *m = p->headline;
	const struct view_outcome *o = view_outcome_of(c->run[p->run].summary, p->unit);
	const char *each = view_outcome_each(o, mem);
	base_unit v[2], difference;

	compare_row(m->figure, m->value, v, difference);
	if (!m->difference)
		return base_arena_printf(mem, "nothing per %s", each);
	return base_arena_printf(mem, "%s %s per %s", difference + 1,
				 m->difference < 0 ? "less" : "more", each);
}

const char *compare_saving_words(const struct view_comparison *c, const struct view_pair *p,
				 struct base_arena *mem)
{
	const struct view_saving *s = &p->saving;
	bool usd = !p->why[p->by_samples ? VIEW_PART_USD_RUN : VIEW_PART_USD_STEP];
	enum view_figure figure = usd ? VIEW_FIGURE_USD : VIEW_FIGURE_NS;
	base_unit n;
	const char *t;

	if (p->unit)
		t = unit_saving(c, p, mem);
	else if (p->why[VIEW_PART_GPU_STEP])
		return NULL;
	else
		t = base_arena_printf(mem, "%s without start-up and shutdown",
				      more_or_less(mem, figure, thousand(c, p, usd),
						   "thousand steps"));
	if (p->why[p->unit ? VIEW_PART_USD_RUN : VIEW_PART_GPU_RUN])
		return base_arena_printf(mem, "%s%s", t, usd || p->unit ? "" : " (GPU time)");
	t = base_arena_printf(mem, "%s, %s", t,
			      more_or_less(mem, figure, usd ? s->run_nano_usd : s->run_ns, "run"));
	if (c->runs_per_month >= 0)
		t = base_arena_printf(mem, "%s, %s at %s runs", t,
				      more_or_less(mem, figure,
						   usd ? s->month_nano_usd : s->month_ns, "month"),
				      base_count(n, (uint64_t)c->runs_per_month));
	return base_arena_printf(mem, "%s%s", t, usd ? "" : " (GPU time)");
}
