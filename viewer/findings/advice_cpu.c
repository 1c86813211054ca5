/* SPDX-License-Identifier: Apache-2.0 */
/* Advice for who could run and had no CPU: how many cores, and the workers that go with them. */
#include <inttypes.h>

#include "advice.h"
#include "findings.h"
#include "loader.h"
#include "wire/evidence.h"

/* Without a loader, and the trainer is the one that wants the CPU. */
static bool makes_itself(const struct view_summary *s)
{
	const struct view_finding *f = view_finding_of(s, ANA_INPUT_CPU_STARVED);

	return !s->loader.has_need && f && f->where.role == WIRE_ROLE_SUBMITTER &&
	       f->where.chains < 2;
}

/*
 * Makers that no loader counts: a CPU for each that was seen to want one, and one for the trainer.
 * They compute at once then, so that this may spare what was waited for that as well.
 */
static void advise_maker_cpu(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, ANA_INPUT_CPU_STARVED);
	int64_t cpus = s->result->cpus, makers = f ? f->where.threads : 0;

	a->title = "Give the makers of batches CPUs";
	if (!cpus || !makers) {
		a->brief = "more CPUs for the makers of batches";
		a->action =
			"ask for more CPU cores or a larger cgroup quota, or let each maker of batches "
			"use fewer threads";
		return;
	}
	if (makers < cpus) {
		a->brief = "CPUs that nothing else uses, or OMP_NUM_THREADS=1 for each maker";
		a->action = base_arena_printf(
			&s->mem,
			"the job may use %" PRId64 " CPUs, enough for %" PRId64
			" that make batches, but something else runs there: keep it off them, or let "
			"each use one thread (OMP_NUM_THREADS=1)",
			cpus, makers);
		return;
	}
	a->brief = base_arena_printf(&s->mem, "%" PRId64 " -> %" PRId64 " CPUs", cpus, makers + 1);
	view_cost_add(&a->saving_ns, view_advice_ns(s, ANA_INPUT_PREP));
	view_cost_add(&a->saving_nano_usd, view_advice_nano_usd(s, ANA_INPUT_PREP));
	a->action = base_arena_printf(
		&s->mem,
		"the job may use %" PRId64 " CPU%s (affinity and cgroup quota), and %" PRId64
		" make%s batches: ask for %" PRId64
		", one for each and one for the main process. Makers whose libraries start threads of their own "
		"want a CPU for each of these, too, unless OMP_NUM_THREADS=1 keeps each maker to one thread",
		cpus, cpus == 1 ? "" : "s", makers, makers == 1 ? "s" : "", makers + 1);
}

/* "4 workers and the main process share 2 cores". */
static const char *share_cores(struct view_summary *s)
{
	const struct view_worker_facts *f = &s->loader.facts;

	return base_arena_printf(&s->mem,
				 "%" PRId64 " worker%s and the main process %s %" PRId64 " core%s",
				 f->workers, f->workers == 1 ? "" : "s",
				 f->workers < f->cores ? "have" : "share", f->cores,
				 f->cores == 1 ? "" : "s");
}

/*
 * As many cores as keep up, and the workers that these carry: one proposal, whichever way they go.
 */
static void advise_more_cores(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	const struct view_worker_count *n = &v->need;
	const char *set = "", *brief = "";

	if (view_worker_count_is_beyond(&v->facts, n)) {
		a->brief = "cheaper samples, then a core for each worker";
		a->action = base_arena_printf(
			&s->mem,
			"%s, and %" PRId64
			" would be needed to keep up: make samples cheaper first (decode ahead of time, at lower "
			"resolution, or on the GPU), then give each worker a core",
			share_cores(s), n->cores_needed);
		return;
	}
	if (n->needed != v->facts.workers) {
		set = base_arena_printf(&s->mem, " and set num_workers=%" PRId64, n->needed);
		brief = base_arena_printf(&s->mem, " and num_workers %" PRId64 " -> %" PRId64,
					  v->facts.workers, n->needed);
	}
	a->brief = base_arena_printf(&s->mem,
				     "%" PRId64 " -> %" PRId64
				     " cores%s, and OMP_NUM_THREADS=1 for each worker",
				     v->facts.cores, n->cores_needed, brief);
	a->action = base_arena_printf(&s->mem,
				      "%s: ask for %" PRId64
				      " or a larger cgroup quota%s, with one thread per worker "
				      "(OMP_NUM_THREADS=1)",
				      share_cores(s), n->cores_needed, set);
}

static void advise_own_cores(struct view_summary *s, struct view_advice *a)
{
	a->brief = "cores that nothing else uses, or OMP_NUM_THREADS=1 for each worker";
	a->action = base_arena_printf(
		&s->mem,
		"%s, enough for them, but something else ran there: keep it off these cores, or let each "
		"worker use one thread (OMP_NUM_THREADS=1)",
		share_cores(s));
}

static void advise_fewer(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;

	a->brief = base_arena_printf(&s->mem, "num_workers %" PRId64 " -> %" PRId64,
				     v->facts.workers, v->need.needed);
	a->action = base_arena_printf(&s->mem,
				      "%s, and %" PRId64 " would keep up: set num_workers=%" PRId64
				      ", with one thread per worker (OMP_NUM_THREADS=1)",
				      share_cores(s), v->need.needed, v->need.needed);
}

static void advise_one_thread(struct view_summary *s, struct view_advice *a)
{
	a->brief = "OMP_NUM_THREADS=1 for each worker";
	a->action =
		base_arena_printf(&s->mem,
				  "%s, enough for what they compute: let each use one thread "
				  "(OMP_NUM_THREADS=1), and keep other programs off these cores",
				  share_cores(s));
}

bool view_advise_worker_cpu(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;

	if ((v->has_need && !v->facts.workers) || makes_itself(s)) {
		a->title = v->has_need ? "Give the main process a CPU to load with"
				       : "Give the main process a CPU";
		a->brief = "more cores, or fewer threads beside the main process";
		a->action = "the main process makes each batch itself and gets too little CPU for "
			    "it: ask for more CPU cores or a larger cgroup quota, or lower the "
			    "threads beside it";
		return true;
	}
	if (!view_loader_facts(s)) {
		advise_maker_cpu(s, a);
		return true;
	}
	if (!v->has_need || v->facts.cores <= 0)
		return true;
	if (v->need.cores_needed > v->facts.cores &&
	    (v->facts.workers >= v->facts.cores || view_advice_workers_starved(s)))
		advise_more_cores(s, a);
	else if (v->facts.workers < v->facts.cores)
		advise_own_cores(s, a);
	else if (v->need.needed < v->facts.workers)
		advise_fewer(s, a);
	else
		advise_one_thread(s, a);
	return true;
}

/* Never fewer workers where more are advised, nor of any where there are none. */
bool view_advise_host_cpu(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	bool more = view_advice_more_workers(s) || view_advice_more_cores(s);
	bool fewer = !more && v->has_need && v->facts.workers > v->need.needed;
	const char *ask = "more";

	if (!s->result->cpus)
		return true;
	if (v->has_need && more && v->need.cores_needed > v->facts.cores && s->ranks <= 1)
		ask = base_arena_printf(&s->mem, "%" PRId64, v->need.cores_needed);
	a->action = base_arena_printf(
		&s->mem,
		"the job may use %" PRIu32
		" core%s: ask for %s or for a larger cgroup quota, keep other programs off "
		"them, or lower the %sthreads beside the main process",
		s->result->cpus, s->result->cpus == 1 ? "" : "s", ask, fewer ? "workers and " : "");
	return true;
}
