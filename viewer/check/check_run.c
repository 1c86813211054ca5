/* SPDX-License-Identifier: Apache-2.0 */
#include "check_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "findings/loader.h"
#include "base/units.h"
#include "report/text/text.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *gpu_name(struct base_arena *mem, const struct ana_gpu *g)
{
	const char *name = g->name ? g->name : "unknown GPU";

	return g->mig_profile ? base_arena_printf(mem, "%s MIG %s", name, g->mig_profile) : name;
}

/* Sorted, so that the order in which processes came makes no difference. */
static const char *hardware(struct base_arena *mem, const struct ana_result *r)
{
	const char **name = base_arena_array(mem, r->gpus + 1, sizeof(*name));
	const char *all = "";

	for (size_t i = 0; i < r->gpus; i++)
		name[i] = gpu_name(mem, &r->gpu[i]);
	qsort(name, r->gpus, sizeof(*name), by_text);
	for (size_t i = 0, n; i < r->gpus; i += n) {
		for (n = 1; i + n < r->gpus && !strcmp(name[i], name[i + n]);)
			n++;
		all = base_arena_printf(mem, "%s%s%zux %s", all, i ? " + " : "", n, name[i]);
	}
	return all;
}

static const char *dataset(struct base_arena *mem, const struct view_summary *s)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	for (size_t i = 0; i < s->labels; i++)
		if (!strcmp(s->label[i].key, "dataset"))
			return base_arena_text(mem, s->label[i].value);
	return l ? base_arena_text(mem, l->dataset) : NULL;
}

static void set_price(struct check_run *run, struct base_arena *mem, const struct view_summary *s)
{
	run->nano_usd_per_hour = -1;
	if (!s->cost.known || !s->cost.gpus)
		return;
	run->nano_usd_per_hour = 0;
	for (size_t i = 0; i < s->cost.gpus; i++)
		view_cost_add(&run->nano_usd_per_hour, s->cost.rate[i].nano_usd_per_hour);
	run->price = view_text_rate(&s->cost.rate[0], mem);
	run->total_nano_usd = s->cost.total;
	run->wasted_nano_usd = s->cost.wasted;
	run->starved_nano_usd = s->cost.starved;
}

static void set_hotspots(struct check_run *run, struct base_arena *mem,
			 const struct view_summary *s)
{
	for (size_t i = 0; i < s->findings && run->hotspots < CHECK_HOTSPOTS_MAX; i++) {
		const struct view_finding *f = &s->finding[i];
		run->hotspot[run->hotspots++] = (struct check_hotspot){
			.class = f->class,
			.file = f->where.known ? base_arena_text(mem, f->where.file) : NULL,
			.function = f->where.known ? base_arena_text(mem, f->where.function) : NULL,
			.line = f->where.known ? f->where.line : 0,
			.ns = f->ns,
		};
	}
}

static void set_outcomes(struct check_run *run, struct base_arena *mem,
			 const struct view_summary *s)
{
	for (size_t i = 0; i < s->outcomes; i++)
		run->outcome[run->outcomes++] =
			(struct check_outcome){ base_arena_text(mem, s->outcome[i].unit),
						s->outcome[i].num, s->outcome[i].den,
						s->outcome[i].bound, s->outcome[i].source };
}

/* Several may train and validate: nobody knows which batches are a step's. */
static int64_t batches_of(const struct ana_result *r)
{
	int64_t batches = -1;
	size_t loaders = 0;

	for (size_t i = 0; i < r->loaders; i++) {
		uint64_t n = r->loader[i].given.batches;

		loaders += n > 0;
		if (n > 0 && n < INT64_MAX)
			batches = (int64_t)n;
	}
	return loaders == 1 ? batches : -1;
}

struct view_step_work check_run_work(const struct check_run *run, bool batches)
{
	struct view_step_work w = { .den = 1, .steps = run->steps, .bound = !run->complete };

	if (batches && run->batches > 0)
		w.num = run->batches;
	for (size_t i = 0; !batches && i < run->outcomes; i++) {
		const struct check_outcome *o = &run->outcome[i];

		if (strcmp(o->unit, "samples") != 0)
			continue;
		w.num = o->num;
		w.den = o->den;
		w.bound = o->bound;
	}
	return w;
}

/* What is left of them: how long they are where the program marks them, and how many came. */
static void leave_out_steps(struct check_run *run, const struct ana_unrecorded *u)
{
	run->series.count = 0;
	run->step_fed_median_ns = -1;
	if (u->counted != ANA_COUNTED_MARKS)
		run->step_median_ns = run->step_p95_ns = -1;
}

void check_run_make(struct check_run *run, struct base_arena *mem, const struct view_summary *s,
		    struct check_series *series)
{
	const struct ana_result *r = s->result;
	const struct ana_loader_facts *l = view_loader_facts(s);

	*run = (struct check_run){
		.id = base_arena_text(mem, s->id),
		.hardware = hardware(mem, r),
		.dataset = dataset(mem, s),
		.gpus = (int64_t)r->gpus,
		.ranks = s->ranks,
		.workers = l && l->known & ANA_LOADER_WORKERS ? (int64_t)l->workers : -1,
		.batch_size = l && l->known & ANA_LOADER_BATCH ? (int64_t)l->batch_size : -1,
		.cores = r->cpus,
		.window = s->window,
		.rules = s->rules,
		.kind = s->kind.kind,
		.simulated = r->simulated,
		.complete = r->complete || r->imported,
		.exit_status = s->has_exit_status ? s->exit_status : 0,
		.partly = r->unrecorded.ns > 0,
		.gpu_ns = r->gpu_ns,
		.starved_ns = s->starved_ns,
		.wasted_ns = s->wasted_ns,
		.steps = r->steps,
		.batches = batches_of(r),
		.step_median_ns = r->step_median_ns,
		.step_p95_ns = r->step_p95_ns,
		.step_fed_median_ns = r->step_fed_median_ns,
	};
	memcpy(run->classes, r->classes, sizeof(run->classes));
	set_price(run, mem, s);
	set_hotspots(run, mem, s);
	set_outcomes(run, mem, s);
	if (series) {
		run->series = *series;
		*series = (struct check_series){ 0 };
	}
	if (run->partly)
		leave_out_steps(run, &r->unrecorded);
}

void check_run_fini(struct check_run *run)
{
	check_series_fini(&run->series);
}

static const char *or_unknown(const char *text)
{
	return text ? text : "unknown";
}

static const char *price_of(struct base_arena *mem, const struct check_run *run)
{
	base_unit price;

	if (run->nano_usd_per_hour < 0)
		return "none";
	return base_arena_printf(mem, "%s per hour",
				 base_price_exact(price, run->nano_usd_per_hour));
}

const char *check_run_differ(struct base_arena *mem, const struct check_run *a,
			     const struct check_run *b)
{
	if (strcmp(a->hardware, b->hardware))
		return base_arena_printf(mem, "different GPUs (%s, now %s)", a->hardware,
					 b->hardware);
	if (a->partly || b->partly)
		return CHECK_PARTLY;
	if (a->ranks != b->ranks)
		return base_arena_printf(mem,
					 "different world sizes (%" PRId64 ", now %" PRId64 ")",
					 a->ranks, b->ranks);
	if (a->nano_usd_per_hour != b->nano_usd_per_hour)
		return base_arena_printf(mem, "different prices (%s, now %s)", price_of(mem, a),
					 price_of(mem, b));
	if (!!a->dataset != !!b->dataset || (a->dataset && strcmp(a->dataset, b->dataset)))
		return base_arena_printf(mem, "different data sets (%s, now %s)",
					 or_unknown(a->dataset), or_unknown(b->dataset));
	if (a->batch_size != b->batch_size)
		return base_arena_printf(mem,
					 "different batch sizes (%" PRId64 ", now %" PRId64 ")",
					 a->batch_size, b->batch_size);
	if (a->window != b->window)
		return "different windows (--window)";
	if (a->rules != b->rules)
		return base_arena_printf(mem,
					 "classes by different rules (%" PRIu32 ", now %" PRIu32
					 ", see LEDGER.md); make a new baseline from current runs",
					 a->rules, b->rules);
	return NULL;
}
