/* SPDX-License-Identifier: Apache-2.0 */
#include "lead.h"

#include <string.h>
#include "base/amounts.h"
#include "cost/waste.h"
#include "findings.h"
#include "unused.h"

#define WAITING "waiting for work" /* in the place of "inconclusive" */

/* Of which classes each verdict is (LEDGER 7), as far as the run's counts causes of comm.skew. */
static bool is_about(enum ana_verdict v, int c)
{
	switch (v) {
	case ANA_V_INPUT_BOUND:
		return ana_class_is_input(c);
	case ANA_V_HOST_BOUND:
		return ana_class_is_host(c) && ana_class_is_waste(c);
	case ANA_V_COMM_BOUND:
		return c == ANA_COMM;
	case ANA_V_COPY_BOUND:
		return c == ANA_COPY;
	case ANA_V_DEVICE_BOUND:
		return ana_class_is_device(c) && ana_class_is_waste(c);
	case ANA_V_INCONCLUSIVE:
		return ana_class_is_doubt(c);
	default:
		return ana_class_is_busy(c);
	}
}

/* Each verdict's words. @before twice: of one GPU, and of several. */
static const struct {
	const char *before[2], *paid;
} words[ANA_VERDICTS] = {
	[ANA_V_INPUT_BOUND] = { { "The GPU waited for input for", "The GPUs waited for input for" },
				"paid for waiting" },
	[ANA_V_HOST_BOUND] = { { "The GPU waited for the training program for",
				 "The GPUs waited for the training program for" },
			       "paid for waiting" },
	[ANA_V_COMM_BOUND] = { { "The GPU communicated for", "The GPUs communicated for" },
			       "paid for communication" },
	[ANA_V_COPY_BOUND] = { { "The GPU did nothing but copy for",
				 "The GPUs did nothing but copy for" },
			       "paid for copying" },
	[ANA_V_DEVICE_BOUND] = { { "Queued work waited on the device for",
				   "Queued work waited on the devices for" },
				 "paid for waiting" },
	[ANA_V_BUSY] = { { "The GPU was busy for", "The GPUs were busy for" }, NULL },
	[ANA_V_INCONCLUSIVE] = { { "Nobody knows what the GPU waited for in",
				   "Nobody knows what the GPUs waited for in" },
				 NULL },
};

/* Most of what counts as communication was waiting for others that were not late by themselves. */
static const char *const waits_before[2] = {
	"The GPU waited for others, or communicated, for",
	"The GPUs waited for each other, or communicated, for",
};

/* Most of what is in doubt is known by half: the program waited, and for which of its threads. */
static const char *const host_waits_before[2] = {
	"The GPU waited for the training program, which waited for something itself, for",
	"The GPUs waited for the training program, which waited for something itself, for",
};

static const char *const warmup_before[2] = {
	"The GPU waited for modules to be loaded and compiled for",
	"The GPUs waited for modules to be loaded and compiled for",
};

/*
 * Is more of the doubt the program's own waiting (host.wait) than all else of it? Then that leads:
 * "nobody knows" over a finding that names the thread would be less than what is known.
 */
static bool is_host_wait(const struct view_summary *s, enum ana_verdict verdict)
{
	const int64_t *classes = s->result->classes;

	return verdict == ANA_V_INCONCLUSIVE &&
	       classes[ANA_HOST_WAIT] >
		       ana_class_sum(classes, ana_class_is_doubt) - classes[ANA_HOST_WAIT];
}

static bool waits_for_work(const struct ana_judgement *j, const int64_t classes[ANA_CLASSES])
{
	int64_t waits = classes[ANA_HOST_NO_WORK];
	__int128 held = 0;

	if (j->verdict == ANA_V_INCONCLUSIVE)
		return waits > ana_class_sum(classes, ana_class_is_doubt);
	for (int c = 0; c < ANA_CLASSES; c++)
		held += classes[c];
	return j->verdict == ANA_V_BUSY && waits > held / 2;
}

bool view_waits_for_work(const struct view_summary *s)
{
	return waits_for_work(&s->result->judgement, s->result->classes);
}

bool view_held_on(const struct view_summary *s)
{
	return s->kind.no_work_after_ns > s->result->classes[ANA_HOST_NO_WORK] / 2;
}

const char *view_waiting_after(const struct view_summary *s)
{
	return view_held_on(s)
		       ? " of the time held: its last kernel had ended, and the process went on "
			 "without work for it"
		       : " of the time held: the process waited for requests, or for a person";
}

const char *view_waiting_words(const struct view_summary *s, struct base_arena *mem)
{
	base_unit share;

	if (!view_waits_for_work(s))
		return NULL;
	return base_arena_printf(mem, "%s %s %%%s", VIEW_WAITING_BEFORE(s->result->gpus),
				 base_percent(share, base_ppm(s->result->classes[ANA_HOST_NO_WORK],
							      s->result->gpu_ns)),
				 view_waiting_after(s));
}

static bool leads(const struct view_lead *l, int c)
{
	if (l->warmup)
		return c == ANA_HOST_WARMUP;
	if (l->host_waits)
		return c == ANA_HOST_WAIT;
	return is_about(l->verdict, c);
}

static struct view_lead lead_about(const struct view_summary *s, enum ana_verdict verdict,
				   bool warmup)
{
	struct view_unused u = view_unused_gpus(s);
	struct view_lead l = { .verdict = verdict, .warmup = warmup, .kind = &s->kind };
	bool skewed = false;

	l.gpus = s->result->gpus - (u.no_process + u.no_work);
	l.host_waits = is_host_wait(s, verdict);
	for (int c = 0; c < ANA_CLASSES; c++) {
		l.set[c] = leads(&l, c);
		skewed |= l.set[c] && s->result->skew_causes[c];
	}
	l.ns = l.verdict == ANA_V_BUSY
		       ? view_busy_ns(s)
		       : view_set_sum(l.set, s->result->classes, s->result->skew_causes);
	l.waits = l.verdict == ANA_V_COMM_BOUND &&
		  s->result->skew_causes[ANA_COMM] > s->result->classes[ANA_COMM];
	l.ppm = base_ppm(l.ns, view_working_ns(s));
	l.known = l.gpus && view_working_ns(s) > 0;
	if (l.verdict == ANA_V_INPUT_BOUND)
		l.nano_usd = s->cost.starved;
	for (int c = 0; c < ANA_CLASSES && l.verdict != ANA_V_INPUT_BOUND; c++)
		if (l.set[c])
			view_cost_add(&l.nano_usd, s->cost.classes[c]);
	/*
	 * The summary has what starving cost under other causes of comm.skew, and no other class.
	 */
	l.cost = s->cost.known && words[l.verdict].paid &&
		 (!skewed || l.verdict == ANA_V_INPUT_BOUND);
	return l;
}

/* What the verdict is about. */
static struct view_lead own_lead(const struct view_summary *s)
{
	return lead_about(s, s->result->judgement.verdict, view_is_warmup(s));
}

/* One of these leads where it is larger than what was lost to input. */
static const enum ana_verdict losses[] = { ANA_V_HOST_BOUND, ANA_V_COPY_BOUND, ANA_V_DEVICE_BOUND };

struct view_lead view_lead_of(const struct view_summary *s)
{
	struct view_lead l = own_lead(s);

	if (!l.known || l.verdict != ANA_V_INPUT_BOUND)
		return l;
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		struct view_lead other = lead_about(s, losses[i], false);
		if (other.ns > l.ns)
			l = other;
	}
	return l;
}

bool view_is_healthy(const struct view_summary *s)
{
	struct view_unused u = view_unused_gpus(s);
	struct view_lead l = view_lead_of(s);

	return l.known && l.verdict == ANA_V_BUSY && l.ppm >= VIEW_HEALTHY_PPM && !u.no_process &&
	       !u.no_work && !view_advice_first(s);
}

bool view_lead_beside(const struct view_summary *s, struct view_lead *input)
{
	*input = own_lead(s);
	return view_lead_of(s).verdict != input->verdict;
}

struct view_lead view_lead_paid_of(const struct view_summary *s)
{
	struct view_lead l = view_lead_of(s), input;

	if (!view_lead_beside(s, &input))
		return l;
	l.with_input = true;
	view_cost_add(&l.ns, input.ns);
	view_cost_add(&l.nano_usd, input.nano_usd);
	l.ppm = base_ppm(l.ns, view_working_ns(s));
	return l;
}

const char *view_lead_and(const struct view_lead *input)
{
	return input->gpus > 1 ? "and they waited for input for" : "and it waited for input for";
}

int64_t view_working_nano_usd(const struct view_summary *s)
{
	return s->cost.total - (int64_t)ana_class_sum(s->cost.classes, ana_class_is_outside);
}

int64_t view_lead_in(const struct view_summary *s, int64_t amount, int64_t ns)
{
	int64_t working = view_working_ns(s);

	return working > 0 ? base_div_even((__int128)amount * ns, working) : 0;
}

int64_t view_per_thousand(const struct view_summary *s, int64_t amount)
{
	return base_div_even((__int128)amount * 1000, (__int128)s->result->steps);
}

const char *view_lead_before(const struct view_lead *l, struct base_arena *mem)
{
	const char *const *before = l->warmup	    ? warmup_before
				    : l->waits	    ? waits_before
				    : l->host_waits ? host_waits_before
						    : words[l->verdict].before;

	return view_words_of_kind(l->kind, mem, before[l->gpus > 1]);
}

const char *view_lead_paid(const struct view_lead *l)
{
	return words[l->verdict].paid;
}

bool view_is_short(const struct view_summary *s)
{
	struct view_lead l = view_lead_of(s);

	return l.known && view_working_ns(s) / (int64_t)l.gpus < VIEW_SHORT_NS;
}

const char *view_short_words(const struct view_summary *s, struct base_arena *mem)
{
	base_unit time;

	if (!view_is_short(s))
		return NULL;
	return base_arena_printf(mem, "only %s of %s, slow first steps among them: %s",
				 base_gpu_time(time, view_working_ns(s)), view_work_word(&s->kind),
				 VIEW_SHORT_WORDS(s));
}

const char *view_lead_words(const struct view_lead *l, struct base_arena *mem)
{
	base_unit share;

	return base_arena_printf(mem, "%s %s %% of the %s time", view_lead_before(l, mem),
				 base_percent(share, l->ppm), view_work_word(l->kind));
}

/* All GPUs have one price. */
static bool one_price(const struct view_cost *c)
{
	for (size_t i = 1; i < c->gpus; i++)
		if (c->rate[i].nano_usd_per_hour != c->rate[0].nano_usd_per_hour)
			return false;
	return c->gpus > 0;
}

const char *view_lead_hour_words(const struct view_summary *s, struct base_arena *mem)
{
	struct view_lead l = view_lead_paid_of(s);
	int64_t price = view_lead_in(s, view_working_nano_usd(s), VIEW_HOUR_NS);
	base_unit part, whole;

	if (!l.known || !l.cost || !view_projects(s))
		return NULL;
	base_money_ascii(part, view_lead_in(s, l.nano_usd, VIEW_HOUR_NS));
	if (one_price(&s->cost))
		return base_arena_printf(mem, "%s of each %s GPU-hour of %s was %s", part,
					 base_price_text(whole, s->cost.rate[0].nano_usd_per_hour),
					 view_work_word(&s->kind), view_lead_paid(&l));
	return base_arena_printf(mem, "%s of each GPU-hour of %s, which cost %s on average, was %s",
				 part, view_work_word(&s->kind), base_money_ascii(whole, price),
				 view_lead_paid(&l));
}

/* Of dollars, or without a price of GPU time. */
static struct base_scale amount_scale(const struct view_summary *s)
{
	return s->cost.known ? view_cost_scale(&s->cost) : base_gpu_time_scale(s->result->gpu_ns);
}

static int64_t amount_quanta(const struct view_summary *s, int64_t amount)
{
	return s->cost.known ? view_cost_quanta(&s->cost, amount)
			     : base_quanta(amount_scale(s), amount);
}

static const char *amount_text(char *out, const struct view_summary *s, int64_t amount)
{
	return base_scaled_quanta(out, amount_scale(s), amount, amount_quanta(s, amount));
}

const char *view_lead_sum_words(const struct view_summary *s, struct base_arena *mem)
{
	struct view_lead l = view_lead_paid_of(s);
	bool paid = view_lead_paid(&l) && (l.cost || !s->cost.known);
	int64_t part = s->cost.known ? l.nano_usd : l.ns;
	int64_t waste = s->cost.known ? s->cost.wasted : s->wasted_ns;
	base_unit a, b, c;

	amount_text(b, s, s->cost.known ? s->cost.total : s->result->gpu_ns);
	amount_text(c, s, waste);
	if (!paid)
		return base_arena_printf(mem, "%s, %s of it wasted", b, c);
	amount_text(a, s, part);
	if (waste < part)
		return base_arena_printf(mem, "%s of %s (wasted: %s)", a, b, c);
	if (base_ppm(waste - part, waste) < VIEW_OTHER_PPM)
		return base_arena_printf(mem, "%s of %s", a, b);
	/* what is shown of both sums to what is shown of all waste, elsewhere */
	base_scaled_quanta(c, amount_scale(s), waste - part,
			   amount_quanta(s, waste) - amount_quanta(s, part));
	return base_arena_printf(mem, "%s of %s (and %s wasted by other causes)", a, b, c);
}

/* The amount that a rate is told of: dollars, or GPU time. */
static const char *rate_text(char *out, const struct view_summary *s, int64_t amount)
{
	return s->cost.known ? base_money_about(out, amount) : base_gpu_time(out, amount);
}

bool view_projects(const struct view_summary *s)
{
	return !s->no_projection && !s->result->unrecorded.ns;
}

bool view_lead_projects(const struct view_summary *s, const struct view_lead *l)
{
	int64_t once = l->set[ANA_HOST_WARMUP] ? s->result->classes[ANA_HOST_WARMUP] : 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		view_cost_add(&once, l->set[c] ? s->kind.after_last[c] : 0);
	return view_projects(s) && base_ppm(once, l->ns) < VIEW_ONCE_PPM;
}

bool view_class_projects(const struct view_summary *s, enum ana_class c)
{
	return s->result->steps && view_projects(s) && !ana_class_is_outside(c) &&
	       c != ANA_HOST_WARMUP &&
	       base_ppm(s->kind.after_last[c], s->result->classes[c]) < VIEW_ONCE_PPM;
}

const char *view_lead_rate_words(const struct view_summary *s, struct base_arena *mem)
{
	struct view_lead l = view_lead_paid_of(s);
	int64_t part = s->cost.known ? l.nano_usd : l.ns;
	int64_t whole = s->cost.known ? view_working_nano_usd(s) : view_working_ns(s);
	base_unit basis, day, month, step, all;
	const char *t;

	if (!l.known || !view_lead_paid(&l) || !view_lead_projects(s, &l) || !part ||
	    (s->cost.known && !l.cost))
		return NULL;
	t = view_is_short(s)
		    ? NULL
		    : base_arena_printf(
			      mem,
			      "if it went on like these %s of %s, day and night: %s per day and %s per month",
			      base_gpu_time(basis, view_working_ns(s)), view_work_word(&s->kind),
			      rate_text(day, s,
					view_lead_in(s, part, VIEW_DAY_NS * (int64_t)l.gpus)),
			      rate_text(month, s,
					view_lead_in(s, part, VIEW_MONTH_NS * (int64_t)l.gpus)));
	if (!s->result->steps)
		return t;
	part = view_per_thousand(s, part);
	whole = view_per_thousand(s, whole);
	struct base_scale scale =
		s->cost.known ? base_money_scale(whole) : base_gpu_time_scale(whole);
	return base_arena_printf(
		mem, t ? "%s; %s%s of %s per thousand steps" : "%sper thousand steps: %s%s of %s",
		t ? t : "", view_bound_each[view_told_bound(s)], base_scaled(step, scale, part),
		base_scaled(all, scale, whole));
}

const char *view_outside_sentence(const struct view_summary *s, struct base_arena *mem)
{
	int64_t ns = s->result->gpu_ns - view_working_ns(s);
	int64_t usd = s->cost.total - view_working_nano_usd(s);
	base_unit amount, share;

	if (base_ppm(ns, s->result->gpu_ns) < VIEW_OUTSIDE_PPM)
		return NULL;
	return base_arena_printf(mem, "%s: %s, %s %% of what was %s", view_outside_words(s),
				 amount_text(amount, s, s->cost.known ? usd : ns),
				 base_percent(share, base_ppm(ns, s->result->gpu_ns)),
				 s->cost.known ? "paid" : "held");
}

/* Of one GPU as the clock has it. */
static const char *held_text(base_unit out, const struct view_summary *s, int64_t ns)
{
	return s->result->gpus == 1 ? base_duration(out, ns) : base_gpu_time(out, ns);
}

const char *view_startup_sentence(const struct view_summary *s, struct base_arena *mem)
{
	int64_t ns = s->result->classes[ANA_EXCLUDED_STARTUP], before = s->result->before_cuda_ns;
	base_unit a, b, c;

	if (base_ppm(ns, s->result->gpu_ns) < VIEW_STARTUP_PPM || s->result->imported ||
	    view_all_unused(s))
		return NULL;
	if (!before)
		return "start-up is all until the GPU's first work: imports, CUDA's context, the model, "
		       "the first batch" VIEW_ONCE_WORDS;
	return base_arena_printf(mem,
				 "of start-up %s" VIEW_BEFORE_CUDA_WORDS
				 "%s" VIEW_AFTER_CUDA_WORDS VIEW_SHUTDOWN_WORDS
				 "%s" VIEW_ONCE_WORDS,
				 held_text(a, s, before), held_text(b, s, ns - before),
				 held_text(c, s, s->result->classes[ANA_EXCLUDED_TEARDOWN]));
}

int64_t view_between_ns(const struct view_summary *s)
{
	const int64_t ns = s->result->classes[ANA_DEVICE_TURNAROUND];

	return base_ppm(ns, view_working_ns(s)) >= VIEW_BETWEEN_PPM ? ns : 0;
}

const char *view_between_sentence(const struct view_summary *s, struct base_arena *mem)
{
	const int64_t ns = view_between_ns(s);
	base_unit share;

	if (!ns)
		return NULL;
	base_percent(share, base_ppm(ns, view_working_ns(s)));
	return base_arena_printf(mem, "%s %% of the %s" VIEW_BETWEEN_WORDS, share,
				 view_work_word(&s->kind));
}

const char *view_fp32_sentence(const struct view_summary *s, struct base_arena *mem)
{
	struct view_work rows[ANA_WORKS];
	size_t n = view_work_rows(s, rows);
	int64_t ns = 0, usd = 0;
	const char *what = "";
	base_unit share, text;

	for (size_t i = 0; i < n; i++) {
		if (!view_work_is_fp32(&rows[i]) || !rows[i].ns)
			continue;
		view_cost_add(&ns, rows[i].ns);
		view_cost_add(&usd, rows[i].nano_usd);
		what = base_arena_printf(mem, "%s%s%s", what, *what ? " and " : "", rows[i].kind);
	}
	if (base_ppm(ns, view_working_ns(s)) < VIEW_FP32_PPM)
		return NULL;
	base_percent(share, base_ppm(ns, s->result->classes[ANA_COMPUTE]));
	amount_text(text, s, s->cost.known ? usd : ns);
	return base_arena_printf(
		mem,
		"%s %% of compute is %s in fp32, %s of %s: tf32, bf16 or fp16 would save a part of that",
		share, what, text, s->cost.known ? "this run" : "GPU time");
}

const char *view_judgement_words(const struct view_summary *s, struct base_arena *mem)
{
	const char *words_of;
	struct view_lead lead;

	if (view_all_unused(s))
		return "idle";
	if (view_is_warmup(s))
		return "host-bound by warm-up";
	if (view_waits_for_work(s))
		return WAITING;
	words_of = view_judged_words(&s->result->judgement, mem);
	lead = view_lead_of(s);
	if (lead.verdict != s->result->judgement.verdict)
		return base_arena_printf(mem, "%s and %s", ana_verdict_names[lead.verdict],
					 words_of);
	return words_of;
}

const char *view_verdict_words(const struct view_summary *s, struct base_arena *mem)
{
	struct view_unused u = view_unused_gpus(s);
	size_t n = u.no_process + u.no_work;
	const char *judgement = view_judgement_words(s, mem);

	if (!n || n == s->result->gpus)
		return judgement;
	return base_arena_printf(mem, "%s, %zu of %zu GPUs idle", judgement, n, s->result->gpus);
}

static int64_t gpu_sum(const struct ana_gpu *g, enum ana_verdict v)
{
	bool set[ANA_CLASSES];

	for (int c = 0; c < ANA_CLASSES; c++)
		set[c] = is_about(v, c);
	return view_set_sum(set, g->classes, g->skew_causes);
}

const char *view_gpu_verdict_words(const struct view_summary *s, size_t i, struct base_arena *mem)
{
	const struct ana_gpu *g = &s->result->gpu[i];
	const char *own = view_judged_words(&g->judgement, mem);
	enum ana_verdict most = g->judgement.verdict;

	if (view_gpu_did_nothing(g))
		return "idle";
	if (s->result->gpus == 1)
		return view_judgement_words(s, mem);
	if (waits_for_work(&g->judgement, g->classes))
		return WAITING;
	for (size_t k = 0;
	     g->judgement.verdict == ANA_V_INPUT_BOUND && k < sizeof(losses) / sizeof(losses[0]);
	     k++)
		if (gpu_sum(g, losses[k]) > gpu_sum(g, most))
			most = losses[k];
	return most == g->judgement.verdict
		       ? own
		       : base_arena_printf(mem, "%s and %s", ana_verdict_names[most], own);
}
