/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From class to action: the advice of facts/classes.def, and one piece on the number of workers. It
 * may not apply here (advice.h: the loader's settings, contradicting evidence), and may be worded
 * by what was seen. A saving is the class's own time and money, or less where arithmetic says so:
 * an upper bound, for what is won depends on what the GPU would have waited for next.
 */
#include <string.h>

#include "advice.h"
#include "findings.h"
#include "lead.h"
#include "base/units.h"
#include "facts/class.h"
#include "words.h"

#define LEAST_PPM 10000 /* 1 % of the GPU time: below it, advice is noise */
#define ADVICE_MAX 8
#define LINE_COLUMNS 40
/* of what the first one saves: from here on another cause's remedy is told beside it */
#define SECOND_PART 3
#define TELLING_PPM 50000 /* of a class: what less of it was says nothing of the class */
#define NUMBER_PCT 80 /* of the most that can be saved: from here on a setting goes first */

/* How the advice of a class is fitted to the run; NULL: it always holds, as it stands. */
static view_advise *const fit[ANA_CLASSES] = {
	[ANA_INPUT_UNKNOWN] = view_advise_unknown,
	[ANA_INPUT_EPOCH] = view_advise_epoch,
	[ANA_INPUT_INLINE] = view_advise_inline,
	[ANA_INPUT_H2D] = view_advise_h2d,
	[ANA_INPUT_FETCH] = view_advise_fetch,
	[ANA_INPUT_CPU_STARVED] = view_advise_worker_cpu,
	[ANA_INPUT_PIPELINE] = view_advise_pipeline,
	[ANA_INPUT_HANDOFF] = view_advise_handoff,
	[ANA_HOST_DISPATCH] = view_advise_dispatch,
	[ANA_HOST_SYNC] = view_advise_sync,
	[ANA_HOST_LOCK] = view_advise_lock,
	[ANA_HOST_CPU_STARVED] = view_advise_host_cpu,
	[ANA_HOST_WAIT] = view_advise_host_wait,
	[ANA_HOST_WARMUP] = view_advise_warmup,
	[ANA_HOST_NO_WORK] = view_advise_no_work,
	[ANA_HOST_UNKNOWN] = view_advise_find_out,
	[ANA_COMPUTE] = view_advise_uneven,
	[ANA_COMM] = view_advise_comm,
	[ANA_COPY] = view_advise_copy,
	[ANA_EXCLUDED_NO_PROCESS] = view_advise_no_process,
	[ANA_EXCLUDED_STARTUP] = view_advise_idle_gpu,
};

static bool matters(const struct view_summary *s, int64_t ns)
{
	return base_ppm(ns, s->result->gpu_ns) >= LEAST_PPM;
}

/* Where most of the class went, if samples tell. */
static const char *at_hotspot(struct view_summary *s, enum ana_class c)
{
	const struct view_finding *f = view_finding_of(s, c);
	base_unit share;

	if (!f || base_ppm(f->ns, view_advice_ns(s, c)) < TELLING_PPM)
		return "";
	if (f->ns == view_advice_ns(s, c))
		return base_arena_printf(&s->mem, "; all of it: %s",
					 view_finding_words(s, &s->mem, f, LINE_COLUMNS));
	return base_arena_printf(&s->mem, "; %s %% of it: %s",
				 base_percent(share, base_ppm(f->ns, view_advice_ns(s, c))),
				 view_finding_words(s, &s->mem, f, LINE_COLUMNS));
}

/*
 * "input.fetch took 1.2 s, 9.1 % of the training time: the loader read from storage or network;
 * ...".
 */
static const char *why(struct view_summary *s, enum ana_class c)
{
	int64_t ns = view_advice_ns(s, c), working = view_working_ns(s);
	bool outside = ana_class_is_outside(c) || working <= 0;
	base_unit time, percent;

	return base_arena_printf(&s->mem, "%s took %s, %s %% of the %s: %s%s%s", ana_class_names[c],
				 base_duration(time, ns),
				 base_percent(percent,
					      base_ppm(ns, outside ? s->result->gpu_ns : working)),
				 view_whole_words(&s->kind, outside),
				 view_words_of_kind(&s->kind, &s->mem, facts_classes[c].meaning),
				 at_hotspot(s, c), view_advice_late(s, c));
}

bool view_advice_only_tells(const struct view_advice *a)
{
	return ana_class_is_doubt(a->class) && !a->saving_ns;
}

/* What it may save, or of what it would tell the cause. */
static int64_t about_ns(const struct view_summary *s, const struct view_advice *a)
{
	return view_advice_only_tells(a) ? view_advice_ns(s, a->class) : a->saving_ns;
}

static void add_rule(struct view_summary *s, enum ana_class c)
{
	const struct facts_advice *rule = &facts_classes[c].advice;
	struct view_advice a = {
		.id = rule->id,
		.title = view_words_of_kind(&s->kind, &s->mem, rule->title),
		.action = view_words_of_kind(&s->kind, &s->mem, rule->action),
		.brief = view_words_of_kind(&s->kind, &s->mem, rule->brief),
		.class = c,
		.saving_ns = view_advice_ns(s, c),
		.saving_nano_usd = view_advice_nano_usd(s, c),
	};

	if (!rule->id || !matters(s, a.saving_ns))
		return;
	a.why = why(s, c);
	if ((fit[c] && !fit[c](s, &a)) || !matters(s, about_ns(s, &a)))
		return;
	a.brief = base_arena_printf(&s->mem, "%s%s", a.brief, view_advice_for_rank(s, a.class));
	if (!ana_class_is_input(c) && !ana_class_is_outside(c) && view_batches_bind(s))
		a.why = base_arena_printf(&s->mem,
					  "%s; no step gets shorter by it until batches "
					  "keep up",
					  a.why);
	s->advice[s->advices++] = a;
}

static bool comes_first(const struct view_summary *s, const struct view_advice *x,
			const struct view_advice *y)
{
	int64_t of_x = about_ns(s, x), of_y = about_ns(s, y);

	if (of_x != of_y)
		return of_x > of_y;
	if (x->with_need != y->with_need)
		return x->with_need;
	return x->class < y->class;
}

/* A few at most: each is put where it belongs among those before it. */
static void sort_by_saving(struct view_summary *s)
{
	for (size_t i = 1; i < s->advices; i++) {
		struct view_advice a = s->advice[i];
		size_t at = i;

		for (; at && comes_first(s, &a, &s->advice[at - 1]); at--)
			s->advice[at] = s->advice[at - 1];
		s->advice[at] = a;
	}
}

bool view_advice_is_number(const struct view_advice *a)
{
	return a->with_need || a->makers;
}

/*
 * A setting with a value goes before a general word on the same time (nearer data, cheaper samples)
 * that would save little more at most.
 */
static void prefer_number(struct view_summary *s)
{
	struct view_advice first = s->advice[0], number;
	size_t i;

	for (i = 0; i < s->advices && !view_advice_is_number(&s->advice[i]); i++)
		;
	if (!i || i == s->advices || s->advice[i].class != first.class ||
	    100 * (__int128)s->advice[i].saving_ns < NUMBER_PCT * (__int128)first.saving_ns)
		return;
	number = s->advice[i];
	memmove(&s->advice[1], &s->advice[0], i * sizeof(number));
	s->advice[0] = number;
}

/* One that saves more than the finding that is told of its class says what of. */
static void tell_of_what(struct view_summary *s)
{
	for (size_t i = 0; i < s->advices; i++) {
		struct view_advice *a = &s->advice[i];
		const char *of = view_advice_about_words(s, &s->mem, a);

		if (of)
			a->why = base_arena_printf(&s->mem, "%s; the saving is out %s of the %s",
						   a->why, of, view_whole_words(&s->kind, false));
	}
}

void view_advice_add(struct view_summary *s)
{
	struct view_advice a = { .class = ANA_INPUT_UNKNOWN };

	s->advice = base_arena_array(&s->mem, ANA_CLASSES + 1, sizeof(*s->advice));
	if ((view_advise_workers(s, &a) || view_advise_makers(s, &a)) && matters(s, a.saving_ns)) {
		a.why = base_arena_printf(&s->mem, "%s%s", a.why, view_advice_late(s, a.class));
		a.brief = base_arena_printf(&s->mem, "%s%s", a.brief,
					    view_advice_for_rank(s, a.class));
		s->advice[s->advices++] = a;
	}
	for (int c = 0; c < ANA_CLASSES; c++)
		add_rule(s, (enum ana_class)c);
	sort_by_saving(s);
	if (s->advices)
		prefer_number(s);
	if (s->advices > ADVICE_MAX)
		s->advices = ADVICE_MAX;
	tell_of_what(s);
}

/*
 * Of a run that was busy only GPUs without work and late ranks are worth a word at once; of one
 * that is input-bound, what is about input, unless more went elsewhere.
 */
static bool urgent(const struct view_summary *s, const struct view_advice *a)
{
	struct view_lead input;

	switch (s->result->judgement.verdict) {
	case ANA_V_INPUT_BOUND:
		return ana_class_is_input(a->class) || view_lead_beside(s, &input);
	case ANA_V_BUSY:
		return a->class == ANA_EXCLUDED_NO_PROCESS || a->class == ANA_EXCLUDED_STARTUP ||
		       a->class == ANA_HOST_NO_WORK || view_advice_is_late(s, a->class);
	default:
		return true;
	}
}

/* Who does the first does the other: "torch.compile or CUDA graphs", and "CUDA graphs". */
static bool names(const struct view_advice *first, const struct view_advice *a)
{
	return first->brief && a->brief && strstr(first->brief, a->brief);
}

const struct view_advice *view_advice_second(const struct view_summary *s)
{
	const struct view_advice *first = view_advice_first(s);

	for (size_t i = 0; first && i < s->advices; i++) {
		const struct view_advice *a = &s->advice[i];

		if (a != first && !names(first, a) && !view_advice_is_of(s, first, a->class) &&
		    !view_advice_is_of(s, a, first->class) && !ana_class_is_outside(a->class) &&
		    s->waste[a->class] && a->saving_ns >= about_ns(s, first) / SECOND_PART)
			return a;
	}
	return NULL;
}

const struct view_advice *view_advice_first(const struct view_summary *s)
{
	bool busy = s->result->judgement.verdict == ANA_V_BUSY;

	for (size_t i = 0; i < s->advices; i++)
		if (urgent(s, &s->advice[i]))
			return &s->advice[i];
	return s->advices && !busy ? &s->advice[0] : NULL;
}
