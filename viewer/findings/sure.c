/* SPDX-License-Identifier: Apache-2.0 */
#include "sure.h"

#include "advice.h"
#include "findings.h"
#include "gain.h"
#include "loader.h"

#define SURE_PART 5 /* of a gain: if no more than that is not sure, it is */
#define BATCHES_LEAST 20 /* the slowest twentieth of fewer is none */
/* the slow ones, or all on average, against the median: from here on they differ */
#define UNEVEN(median) ((median)*3 / 2)

#define SOURCE "its source was not seen to serve so many at a time"

struct lacks { /* what is not measured, the first two in words */
	const char *what[2];
	int n;
};

static void lack(struct lacks *l, bool is_so, const char *what)
{
	if (is_so && l->n < 2)
		l->what[l->n] = what;
	l->n += is_so;
}

static struct view_sure low(const char *lacks)
{
	return (struct view_sure){ ANA_LOW, lacks };
}

static struct view_sure by_lacks(struct base_arena *mem, const struct lacks *l)
{
	if (!l->n)
		return (struct view_sure){ ANA_HIGH, NULL };
	if (l->n == 1)
		return (struct view_sure){ ANA_MEDIUM, l->what[0] };
	return low(base_arena_printf(mem, "%s, and %s", l->what[0], l->what[1]));
}

/* Whoever is added may find no CPU either. */
static bool lacks_cpu(const struct view_worker_facts *f)
{
	return f->fetch_delay_ns > f->fetch_ns / VIEW_LACK_PART;
}

static bool uneven_batches(const struct ana_loader_facts *l)
{
	return l->fetch_p95_ns > UNEVEN(l->fetch_median_ns);
}

/* Beside the wait: more than a few slow ones. */
static bool uneven_steps(const struct view_worker_facts *f)
{
	return f->fed_median_ns > 0 && f->step_ns - f->wait_ns > UNEVEN(f->fed_median_ns);
}

/* Of rows, which tell who made which batch in what time, and on how much CPU. */
static struct view_sure by_rows(const struct view_summary *s, struct base_arena *mem,
				const struct view_advice *a)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	const struct view_loader *v = &s->loader;
	bool cores = view_loader_wants_cores(s);
	struct lacks lacks = { .n = 0 };

	if (!l || l->made < BATCHES_LEAST)
		return low("few batches were seen");
	if (lacks_cpu(&v->facts))
		return low(v->facts.workers ? "the workers lack a CPU as it is"
					    : "making batches lacks a CPU as it is");
	lack(&lacks, view_advice_asks_source(s, a), SOURCE);
	lack(&lacks, cores, "these cores are not here yet");
	lack(&lacks, !cores && v->need.bound == VIEW_WORKERS_CORES,
	     "it takes all cores that are here");
	lack(&lacks, uneven_batches(l), "batches take uneven times");
	lack(&lacks, uneven_steps(&v->facts), "steps take uneven times");
	/* A step takes several batches, or none. */
	lack(&lacks, v->facts.fed_median_ns <= 0, "how even its steps are is not known");
	return by_lacks(mem, &lacks);
}

/* Of samples, which tell that somebody makes batches, and not how many. */
static struct view_sure by_samples(const struct view_summary *s, struct base_arena *mem,
				   const struct view_advice *a)
{
	int64_t lacked = view_advice_ns(s, ANA_INPUT_CPU_STARVED);
	struct lacks lacks = { .n = 0 };

	view_cost_add(&lacked, view_advice_ns(s, ANA_HOST_CPU_STARVED));
	if (lacked > view_working_ns(s) / VIEW_LACK_PART)
		return low("making batches lacks a CPU as it is");
	lack(&lacks, true, "samples alone tell how fast batches are made");
	lack(&lacks, view_advice_asks_source(s, a), SOURCE);
	lack(&lacks, a->makers >= (int64_t)s->result->cpus, "it takes all cores that are here");
	return by_lacks(mem, &lacks);
}

/* Of no workers at all: what they took for a batch is taken to be what the main process takes. */
static struct view_sure without_any(const struct view_summary *s, struct base_arena *mem)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	struct lacks lacks = { .n = 0 };

	if (!l || l->made < BATCHES_LEAST)
		return low("few batches were seen");
	lack(&lacks, true, "the main process was not seen to make batches");
	lack(&lacks, lacks_cpu(&s->loader.facts), "making them lacks a CPU as it is");
	lack(&lacks, uneven_batches(l), "batches take uneven times");
	return by_lacks(mem, &lacks);
}

static struct view_sure by_what(const struct view_summary *s, struct base_arena *mem,
				const struct view_advice *a)
{
	if (a && view_advice_without_any(a))
		return without_any(s, mem);
	if (!a || !view_advice_is_number(a))
		return low("a change may leave part of it");
	return a->with_need ? by_rows(s, mem, a) : by_samples(s, mem, a);
}

struct view_sure view_gain_sure(const struct view_summary *s, struct base_arena *mem,
				const struct view_advice *a, int64_t saved, int64_t least)
{
	struct view_sure sure = by_what(s, mem, a);

	if (!view_gain_words(s, mem, least, 0))
		return sure;
	if (least >= saved - saved / SURE_PART)
		return (struct view_sure){ ANA_HIGH, NULL };
	if (sure.grade > ANA_MEDIUM)
		sure.grade = ANA_MEDIUM;
	return sure;
}
