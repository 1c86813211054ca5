/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the result together. quality.c adds how good the record is.
 */
#include "result_make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/plan/allocations.h"
#include "analysis/plan/vacancy.h"
#include "analysis/ranks/skew.h"
#include "analysis/series/series.h"

#define BATCHES_LEAST 20 /* of fewer nothing is said of how many a step takes */
#define LITTLE_PARTS 100 /* of the training time: what nothing is said of */

const char *const ana_counted_names[ANA_COUNTEDS] = { "recorded", "marks", "batches" };

static char *copy(const char *text)
{
	return text && *text ? strdup(text) : NULL;
}

/* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, as nvidia-smi writes it. */
static char *uuid_text(const Wire__Device *d)
{
	static const char dash[16] = { [4] = 1, [6] = 1, [8] = 1, [10] = 1 };
	char text[64], *p = text;
	size_t i;

	if (!d || d->uuid.len != 16)
		return NULL;
	p += sprintf(p, "%s", *d->mig_profile ? "MIG-" : "GPU-");
	for (i = 0; i < 16; i++)
		p += sprintf(p, "%s%02x", dash[i] ? "-" : "", d->uuid.data[i]);
	return strdup(text);
}

static int copy_held(struct ana_gpu *g, const struct ana_device *d)
{
	g->held = calloc(d->held.count + 1, sizeof(*g->held));
	if (!g->held)
		return -ENOMEM;
	if (d->held.count)
		memcpy(g->held, d->held.span, d->held.count * sizeof(*g->held));
	g->helds = d->held.count;
	return 0;
}

/* Whose run had it when: a job's may be beside each other. */
static int copy_lives(struct ana_gpu *g, const struct ana_plan *p, const struct ana_device *d)
{
	if (!p->trace->joined)
		return 0;
	g->life = calloc(d->uses + 1, sizeof(*g->life));
	if (!g->life)
		return -ENOMEM;
	for (size_t i = 0; i < d->uses; i++) {
		const struct ana_source *s = &p->source[d->use[i].source];

		if (s->end_ns > s->start_ns)
			g->life[g->lives++] =
				(struct ana_life){ s->s->part, s->start_ns, s->end_ns };
	}
	return 0;
}

static int fill_gpu(struct ana_gpu *g, const struct ana_plan *p, const struct ana_device *d)
{
	const struct ana_source *s = &p->source[d->source];
	const Wire__Device *f = d->facts;

	g->host = strdup(s->hello ? s->hello->host : "");
	g->index = ana_device_index(d);
	g->uuid = uuid_text(f);
	g->name = strdup(f && *f->name ? f->name : "unknown GPU");
	g->mig_profile = f ? copy(f->mig_profile) : NULL;
	g->mig_slices = f ? f->mig_slices : 0;
	g->mig_slices_total = f ? f->mig_slices_total : 0;
	g->memory_total_bytes = f ? f->memory_total_bytes : 0;
	g->nvml_utilization_pct = -1;
	g->held_start_ns = d->held.count ? d->held.span[0].start : d->first_ns;
	g->held_end_ns = d->held.count ? d->held.span[d->held.count - 1].end : d->last_ns;
	g->allocated_ns = p->allocations ? ana_spans_measure(&d->given) : -1;
	if (d->given.count) {
		int64_t end = d->given.span[d->given.count - 1].end;

		if (d->given.span[0].start < g->held_start_ns)
			g->held_start_ns = d->given.span[0].start;
		if (end > g->held_end_ns)
			g->held_end_ns = end;
	}
	if (g->held_start_ns > g->held_end_ns) /* no operation and no window */
		g->held_start_ns = g->held_end_ns = 0;
	if (!g->host || !g->name)
		return -ENOMEM;
	if (p->source[d->source].imported)
		return 0;
	return copy_held(g, d) ? -ENOMEM : copy_lives(g, p, d);
}

struct means {
	uint64_t sum, count;
};

static void take_facts(struct ana_gpu *g, const Wire__DeviceFacts *f, uint32_t strangers,
		       struct means *m)
{
	if (f->memory_used_bytes > g->memory_used_peak_bytes)
		g->memory_used_peak_bytes = f->memory_used_bytes;
	if (f->memory_total_bytes)
		g->memory_total_bytes = f->memory_total_bytes;
	if (strangers > g->shared_with)
		g->shared_with = strangers;
	if (f->has_utilization) {
		m->sum += f->nvml_utilization_pct;
		m->count++;
	}
}

static void read_facts(struct ana_gpu *g, const struct ana_plan *p, const struct ana_device *d)
{
	struct means m = { 0, 0 };
	size_t u, i, k;

	for (u = 0; u < d->uses; u++) {
		const struct view_stream *s = p->source[d->use[u].source].s;

		for (i = 0; i < s->fact_count; i++)
			for (k = 0; k < s->facts[i]->n_devices; k++) {
				const Wire__DeviceFacts *f = s->facts[i]->devices[k];

				if (f->ordinal == d->use[u].ordinal)
					take_facts(g, f,
						   ana_plan_strangers(p, d, &d->use[u],
								      s->facts[i]->t_ns,
								      f->other_processes),
						   &m);
			}
	}
	if (m.count)
		g->nvml_utilization_pct = (double)m.sum / (double)m.count;
}

int ana_result_begin(struct ana_result **out, const struct ana_plan *p, const struct ana_options *o)
{
	struct ana_result *r = calloc(1, sizeof(*r));
	size_t i;
	int err = 0;

	(void)o;
	*out = r;
	if (!r)
		return -ENOMEM;
	r->gpu = calloc(p->devices + p->unuseds, sizeof(*r->gpu));
	r->timeline = calloc(p->devices + p->unuseds, sizeof(*r->timeline));
	if (!r->gpu || !r->timeline)
		return -ENOMEM;
	r->gpus = p->devices + p->unuseds;
	for (i = 0; i < p->devices && !err; i++) {
		err = fill_gpu(&r->gpu[i], p, &p->device[i]);
		read_facts(&r->gpu[i], p, &p->device[i]);
	}
	return err ? err : ana_unused_begin(p, r);
}

static void sum_copies(struct ana_copies *to, const struct ana_copies *c)
{
	to->count += c->count;
	to->bytes += c->bytes;
	to->pageable_count += c->pageable_count;
	to->pageable_bytes += c->pageable_bytes;
	to->synchronous += c->synchronous;
	ana_sum(&to->ns, c->ns);
	ana_sum(&to->exposed_ns, c->exposed_ns);
}

/*
 * A clock that jumps makes the axis longer or shorter than time was. What the axis has too much is
 * taken from what nobody observed, which the flush interval around the jump is part of; what it
 * lacks is added there. So held time is the sum over the segments.
 */
static void take_clock(struct ana_gpu *g, const struct ana_device *d)
{
	int64_t unobserved = g->classes[ANA_EXCLUDED_UNOBSERVED];
	int64_t ns = d->clock_ns > unobserved ? unobserved : d->clock_ns;

	g->held_ns -= ns;
	g->classes[ANA_EXCLUDED_UNOBSERVED] -= ns;
	g->confidence[ANA_EXCLUDED_UNOBSERVED][ANA_NONE] -= ns;
}

/* No event was read: nobody has observed what its processes did. When there was none is known. */
static void leave_unobserved(struct ana_gpu *g, const struct ana_device *d, int64_t vacant_ns)
{
	if (d->unseen)
		vacant_ns = 0;
	g->classes[ANA_EXCLUDED_NO_PROCESS] = vacant_ns;
	g->confidence[ANA_EXCLUDED_NO_PROCESS][ANA_HIGH] = vacant_ns;
	g->classes[ANA_EXCLUDED_UNOBSERVED] = g->held_ns - vacant_ns;
	g->confidence[ANA_EXCLUDED_UNOBSERVED][ANA_NONE] = g->held_ns - vacant_ns;
}

/* What its processes held, and what was given and they did not live in. */
static void sum_held(struct ana_result_parts *r, struct ana_gpu *g, struct ana_device *d)
{
	int64_t vacant_ns;

	g->held_ns = g->span_ns;
	if (r->options->window != ANA_WINDOW_JOB)
		return;
	vacant_ns = ana_allocations_outside(&d->given, &d->held, NULL, NULL);
	g->held_ns = ana_spans_measure(&d->held) + vacant_ns;
	if (r->options->held_only)
		leave_unobserved(g, d, vacant_ns);
	take_clock(g, d);
}

/* Until the first of its processes came to CUDA; -1: one of them does not tell. */
static int64_t before_cuda(const struct ana_result_parts *r, const struct ana_gpu *g,
			   const struct ana_device *d)
{
	int64_t armed = INT64_MAX;

	if (d->held.count > 1 || d->given.count || !d->uses)
		return -1; /* start-up several times, or before any process was there */
	for (size_t i = 0; i < d->uses; i++) {
		const struct ana_source *s = &r->plan->source[d->use[i].source];

		if (!s->hello || s->imported || !s->hello->process_start_ns ||
		    s->hello->armed_ns <= s->hello->process_start_ns)
			return -1;
		armed = base_min(armed, s->hello->armed_ns);
	}
	return base_min(base_max(ana_clamp_time(armed) - g->held_start_ns, 0),
			g->classes[ANA_EXCLUDED_STARTUP]);
}

/* One GPU of which it is not known leaves the sum unknown. */
static void sum_before_cuda(struct ana_result_parts *r)
{
	struct ana_result *res = r->result;

	for (size_t i = 0; i < res->gpus; i++) {
		int64_t ns = before_cuda(r, &res->gpu[i], &r->plan->device[i]);

		if (!res->gpu[i].classes[ANA_EXCLUDED_STARTUP])
			continue;
		if (ns < 0) {
			res->before_cuda_ns = 0;
			return;
		}
		ana_sum(&res->before_cuda_ns, ns);
	}
}

static void sum_work(struct ana_work *to, const struct ana_work *w)
{
	for (int i = 0; i < ANA_WORKS; i++) {
		ana_sum(&to->ns[i], w->ns[i]);
		to->count[i] += w->count[i];
	}
}

static void sum_gpu(struct ana_result_parts *r, struct ana_gpu *g)
{
	struct ana_result *res = r->result;
	int c, k;

	g->compute_ns = g->classes[ANA_COMPUTE];
	g->comm_exposed_ns = g->classes[ANA_COMM] + g->classes[ANA_COMM_SKEW];
	g->copy_exposed_ns = g->classes[ANA_COPY];
	g->busy_ns = g->compute_ns + g->comm_exposed_ns + g->copy_exposed_ns;
	g->judgement = ana_verdict_of(g->held_ns, g->classes);
	ana_sum(&res->gpu_ns, g->held_ns);
	ana_vacancy_sum(&res->vacancy, &g->vacancy);
	ana_sum(&res->loader_exposed_ns, g->loader_exposed_ns);
	for (c = 0; c < ANA_CLASSES; c++) {
		int64_t own = g->classes[c] + g->skew_causes[c];

		ana_sum(&res->classes[c], g->classes[c]);
		ana_sum(&res->skew_causes[c], g->skew_causes[c]);
		ana_sum(&res->starved_ns, ana_class_is_input(c) ? own : 0);
		ana_sum(&res->wasted_ns, ana_class_is_waste(c) ? own : 0);
		for (k = 0; k < ANA_CONFIDENCES; k++)
			ana_sum(&res->confidence[c][k], g->confidence[c][k]);
	}
	for (k = 0; k < ANA_COPY_DIRS; k++)
		sum_copies(&res->copies[k], &g->copies[k]);
	sum_work(&res->work, &g->work);
	if (g->name && strstr(g->name, " (simulated)"))
		res->simulated = true;
}

static int sum_top(struct ana_result_parts *r)
{
	struct ana_top all;
	size_t i, k;
	int err = ana_top_init(&all, r->options->top_gaps);

	if (err)
		return err;
	for (i = 0; i < r->plan->components; i++)
		for (k = 0; k < r->found[i].top.count; k++)
			ana_top_add(&all, &r->found[i].top.gap[k]);
	ana_top_sort(&all);
	r->result->top_gap = all.gap;
	r->result->top_gaps = all.count;
	return 0;
}

/* Processes side by side make the same steps; those of a later phase make further ones. */
static uint64_t count_steps(const struct ana_plan *p)
{
	uint64_t sum = 0;

	for (uint32_t run_phase = 0; run_phase < p->run_phases; run_phase++) {
		uint64_t most = 0;

		for (size_t i = 0; i < p->sources; i++)
			if (p->source[i].run_phase == run_phase && p->source[i].steps > most)
				most = p->source[i].steps;
		sum += most;
	}
	return sum;
}

static void sum_steps(struct ana_result_parts *r)
{
	struct ana_result *res = r->result;
	size_t i;

	for (i = 0; i < r->plan->components; i++) {
		const struct ana_found *f = &r->found[i];

		ana_sum(&res->loader_wait_ns, f->loader_wait_ns);
		res->steps_skipped += f->skipped;
		res->hints |= f->hints;
		if (f->step_source && (!res->step_source || f->step_source < res->step_source))
			res->step_source = f->step_source;
	}
	res->steps = count_steps(r->plan);
	res->step_median_ns = ana_durations_rank(&r->lengths->all, 500);
	res->step_p95_ns = ana_durations_rank(&r->lengths->all, 950);
	res->step_fed_median_ns = ana_durations_rank(&r->lengths->fed, 500);
}

/* "enumerate(DataLoader)#_MultiProcessing...": what stands in the brackets, else before the #. */
static char *loader_kind(const struct ana_source *s)
{
	const char *text = wire_strtab_get(s->s->strings, s->loader_name, NULL);
	const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;

	if (close && close > open + 1)
		return strndup(open + 1, (size_t)(close - open - 1));
	return *text ? strndup(text, strcspn(text, "#")) : NULL;
}

static void sum_loader(struct ana_result_parts *r)
{
	struct ana_result *res = r->result;
	size_t i;

	for (i = 0; i < r->plan->sources; i++) {
		const struct ana_source *s = &r->plan->source[i];

		res->batches += s->batches;
		if (!res->loader_kind && s->loader_name)
			res->loader_kind = loader_kind(s);
	}
	res->loader_hidden_ns = res->loader_wait_ns;
	ana_sum(&res->loader_hidden_ns, -res->loader_exposed_ns);
	for (i = 0; i < res->gpus; i++)
		ana_sum(&res->loader_hidden_ns, -res->gpu[i].loader_outside_ns);
	if (res->loader_hidden_ns < 0) /* one process, several GPUs: exposed on each */
		res->loader_hidden_ns = 0;
}

/* Each iterator's last wait may have given none. */
static void leave_out_ends(struct ana_result *res)
{
	uint64_t made = 0, iterators = 0;

	for (size_t i = 0; i < res->loaders; i++) {
		made += res->loader[i].made;
		iterators += res->loader[i].iterators;
	}
	if (made < res->batches && res->batches - made <= iterators)
		res->batches = made;
}

static int sum_evidence(struct ana_result_parts *r)
{
	struct ana_result *res = r->result;
	struct ana_hotspots hotspots = { 0 };
	struct ana_loaders loaders = { 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < r->plan->components && !err; i++) {
		err = ana_hotspots_merge(&hotspots, &r->found[i].hotspots);
		if (!err)
			err = ana_loaders_merge(&loaders, &r->found[i].loaders);
	}
	if (!err)
		err = ana_hotspots_finish(&hotspots, &res->hotspot, &res->hotspots);
	if (!err)
		err = ana_targets_finish(&hotspots.targets, &res->target, &res->targets);
	res->other_hotspots_ns = hotspots.other_ns;
	if (!err)
		err = ana_loaders_finish(&loaders, &res->loader, &res->loaders);
	leave_out_ends(res);
	ana_hotspots_fini(&hotspots);
	ana_loaders_fini(&loaders);
	return err;
}

/* A step took a batch: so many of both came while kernels were recorded. */
static bool one_each(const struct ana_source *s)
{
	uint64_t n = s->batches - s->batches_unrecorded;

	return n >= BATCHES_LEAST && s->steps > n / 10 * 9 && s->steps / 10 * 9 < n;
}

static bool are_marked(const struct ana_source *s)
{
	return s->has_step || s->has_optimizer;
}

/* What tells of the steps of a source whether or not its kernels were recorded. */
static enum ana_counted counted(const struct ana_source *s)
{
	if (are_marked(s) || !s->unrecorded.count)
		return ANA_COUNTED_MARKS;
	return one_each(s) ? ANA_COUNTED_BATCHES : ANA_COUNTED_RECORDED;
}

/* As count_steps() has it; 0: not known. */
static uint64_t count_in_all(const struct ana_plan *p, enum ana_counted *by)
{
	uint64_t sum = 0;

	*by = ANA_COUNTED_MARKS;

	for (uint32_t run_phase = 0; run_phase < p->run_phases; run_phase++) {
		const struct ana_source *most = NULL;

		for (size_t i = 0; i < p->sources; i++)
			if (p->source[i].run_phase == run_phase &&
			    (!most || p->source[i].steps > most->steps))
				most = &p->source[i];
		if (!most || !most->steps)
			continue;
		if (counted(most) == ANA_COUNTED_RECORDED)
			return 0;
		if (counted(most) == ANA_COUNTED_BATCHES)
			*by = ANA_COUNTED_BATCHES;
		sum += counted(most) == ANA_COUNTED_BATCHES ? most->batches : most->steps;
	}
	return sum;
}

/* Of the GPUs' time; of next to none nothing is said. */
static bool was_unrecorded(const struct ana_result_parts *r, struct ana_unrecorded *u)
{
	const struct ana_result *res = r->result;
	__int128 working = res->gpu_ns - ana_class_sum(res->classes, ana_class_is_outside);

	for (size_t i = 0; i < r->plan->devices; i++) {
		struct ana_device *d = &r->plan->device[i];
		const struct ana_gpu *g = &res->gpu[i];
		int64_t ns = 0;

		for (size_t k = 0; d->unrecorded.count && k < d->held.count; k++)
			ana_sum(&ns, ana_spans_within(&d->unrecorded, d->held.span[k].start,
						      d->held.span[k].end));
		ana_sum(&u->ns, base_min(ns, g->classes[ANA_EXCLUDED_UNOBSERVED]));
		ana_sum(&u->span_ns, g->span_unrecorded_ns);
	}
	return u->ns > 0 && (__int128)u->ns * LITTLE_PARTS > working;
}

static void sum_unrecorded(struct ana_result_parts *r)
{
	struct ana_result *res = r->result;
	struct ana_unrecorded u = { 0 };

	if (!was_unrecorded(r, &u))
		return;
	for (size_t i = 0; i < r->plan->sources; i++) {
		u.batches += r->plan->source[i].batches_unrecorded;
		ana_sum(&u.wait_ns, r->plan->source[i].waits_unrecorded_ns);
	}
	ana_sum(&res->loader_hidden_ns, -u.wait_ns);
	res->loader_hidden_ns = base_max(res->loader_hidden_ns, 0);
	u.batches = base_min(u.batches, res->batches);
	u.steps = count_in_all(r->plan, &u.counted);
	if (u.counted == ANA_COUNTED_BATCHES) /* the last wait of a loop gave none */
		u.steps = base_min(u.steps, res->batches);
	u.steps_recorded = res->steps;
	if (!u.steps) {
		u.steps = res->steps;
		u.counted = ANA_COUNTED_RECORDED;
	}
	res->steps = 0;
	res->unrecorded = u;
}

static int fill_process(struct ana_process *to, const struct ana_source *s)
{
	const Wire__Hello *h = s->hello;

	to->host = strdup(h ? h->host : "");
	to->pid = s->pid;
	to->has_rank = h && h->has_rank;
	to->rank = h ? h->rank : 0;
	to->role = strdup(h && *h->role ? h->role : s->ops || s->calls ? "trainer" : "other");
	to->ended = strdup(s->ended);
	to->start_ns = s->start_ns;
	to->end_ns = s->end_ns;
	return to->host && to->role && to->ended ? 0 : -ENOMEM;
}

static void mark_holders(struct ana_result_parts *r)
{
	for (size_t i = 0; i < r->plan->devices; i++)
		for (size_t u = 0; u < r->plan->device[i].uses; u++)
			r->result->process[r->plan->device[i].use[u].source].holds = true;
}

static int fill_processes(struct ana_result_parts *r)
{
	struct ana_result *res = r->result;
	size_t i;
	int err = 0;

	res->process = calloc(r->plan->sources + 1, sizeof(*res->process));
	if (!res->process)
		return -ENOMEM;
	for (i = 0; i < r->plan->sources && !err; i++)
		err = fill_process(&res->process[res->processes++], &r->plan->source[i]);
	if (!err)
		mark_holders(r);
	return err;
}

static int fill_run(struct ana_result_parts *r)
{
	struct ana_result *res = r->result;
	const char *level = NULL;
	size_t i;

	res->complete = true;
	for (i = 0; i < r->plan->sources; i++) {
		const struct ana_source *s = &r->plan->source[i];

		res->complete &= s->imported || s->s->bye != NULL;
		if (s->imported && !res->imported) {
			res->imported = true;
			res->import_kind = copy(s->hello->import->kind);
		}
		if (!level && s->hello && *s->hello->level)
			level = s->hello->level;
		if (s->hello && s->hello->cpus && (!res->cpus || s->hello->cpus < res->cpus))
			res->cpus = s->hello->cpus;
	}
	if (level)
		res->level = strdup(level);
	return level && !res->level ? -ENOMEM : 0;
}

/* For the run, time in comm.skew counts as what the late ranks did. */
static struct ana_judgement verdict_of_run(const struct ana_result *r)
{
	int64_t classes[ANA_CLASSES];
	int c;

	for (c = 0; c < ANA_CLASSES; c++) {
		classes[c] = r->classes[c];
		if (c < ANA_EXCLUDED_STARTUP || c == ANA_EXCLUDED_UNOBSERVED)
			ana_sum(&classes[c], r->skew_causes[c]);
	}
	classes[ANA_COMM_SKEW] = 0;
	return ana_verdict_of(r->gpu_ns, classes);
}

int ana_result_finish(struct ana_result_parts *r)
{
	size_t i;
	int err = 0;

	sum_steps(r);
	if (!r->options->held_only)
		err = ana_skew_finish(r->plan, r->result, r->found, r->result->step_median_ns);
	if (err)
		return err;
	for (i = 0; i < r->plan->devices; i++)
		sum_held(r, &r->result->gpu[i], &r->plan->device[i]);
	err = ana_vacancies_make(r->plan, r->result);
	if (err)
		return err;
	for (i = 0; i < r->result->gpus; i++)
		sum_gpu(r, &r->result->gpu[i]);
	sum_before_cuda(r);
	r->result->judgement = verdict_of_run(r->result);
	err = sum_top(r);
	if (!err)
		err = fill_processes(r);
	if (!err)
		err = ana_result_quality(r);
	if (!err)
		err = fill_run(r);
	if (!err)
		err = ana_attempts_make(r->plan, r->result);
	sum_loader(r);
	if (!err)
		err = sum_evidence(r);
	if (!err)
		sum_unrecorded(r);
	return err;
}
