/* SPDX-License-Identifier: Apache-2.0 */
#include "worker_count.h"

#include "base/minmax.h"

/* Beyond this, memory and start-up cost more than workers bring. */
#define WORKERS_PER_CORE 8
#define WORKERS_LEAST_LIMIT 32

const char *const view_worker_bounds[VIEW_WORKERS_BOUNDS] = { "step", "cores", "limit" };

static int64_t div_up(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

/* The step without its wait, as the workers must feed it: on ordinary steps, not on average. */
static int64_t pace(const struct view_worker_facts *f)
{
	int64_t mean = f->step_ns - f->wait_ns;

	return base_max(1, f->fed_median_ns > 0 ? base_min(mean, f->fed_median_ns) : mean);
}

/*
 * The cores beside the trainer's carry so many workers: each takes cpu / fetch of one. Workers that
 * mostly wait for a disk are not bound by cores.
 */
static int64_t most_on_cores(const struct view_worker_facts *f)
{
	if (f->cores <= 0 || f->fetch_cpu_ns <= 0)
		return INT64_MAX;
	__int128 most = (__int128)base_max(1, f->cores - 1) * f->fetch_ns / f->fetch_cpu_ns;
	return most > INT64_MAX ? INT64_MAX : base_max(1, (int64_t)most);
}

static int64_t most_sensible(const struct view_worker_facts *f)
{
	return base_max(WORKERS_LEAST_LIMIT, f->cores * WORKERS_PER_CORE);
}

/*
 * They and the trainer take all cores that are here, but for a tenth of one: whatever else wants
 * one slows them, and 1.29 times for sure came to nothing in three plays (docs/MEASUREMENTS.md, 5).
 */
static bool takes_all_cores(const struct view_worker_facts *f, int64_t advised)
{
	return f->cores > 0 && f->fetch_cpu_ns > 0 &&
	       (__int128)advised * f->fetch_cpu_ns * 10 >
		       ((__int128)f->cores * 10 - 11) * f->fetch_ns;
}

/*
 * If every batch took as long as the slow ones do, and a part of that is lost on the way. Where
 * those who make them lack a CPU already, or would take all there are, whoever is added may find
 * none: then nothing is sure.
 */
static int64_t most_step(const struct view_worker_facts *f, int64_t advised)
{
	int64_t slow = base_max(f->fetch_slow_ns, f->fetch_ns), then;

	if (f->fetch_slow_ns <= 0 || f->fetch_delay_ns > f->fetch_ns / VIEW_LACK_PART ||
	    takes_all_cores(f, advised))
		return f->step_ns;
	then = base_max(f->step_ns - f->wait_ns, div_up(slow, base_max(1, advised)));
	return then < f->step_ns ? f->step_ns - (f->step_ns - then) / VIEW_SURE_PART : f->step_ns;
}

bool view_worker_count_find(const struct view_worker_facts *f, struct view_worker_count *n)
{
	int64_t fed = f->step_ns - f->wait_ns;

	if (f->fetch_ns <= 0 || f->step_ns <= 0 || f->wait_ns < 0 || fed <= 0 || f->workers < 0)
		return false;
	int64_t cores = most_on_cores(f), limit = most_sensible(f);
	n->needed = div_up(f->fetch_ns, pace(f));
	n->advised = base_min(n->needed, base_min(cores, limit));
	n->bound = n->advised == n->needed ? VIEW_WORKERS_STEP
		   : cores < limit	   ? VIEW_WORKERS_CORES
					   : VIEW_WORKERS_LIMIT;
	n->advised = base_max(n->advised, f->workers);
	n->predicted_step_ns =
		base_min(f->step_ns, base_max(fed, div_up(f->fetch_ns, base_max(1, n->advised))));
	n->most_step_ns = most_step(f, n->advised);
	n->cores_needed = f->fetch_cpu_ns > 0 ? div_up(f->fetch_cpu_ns, pace(f)) + 1 : 0;
	return true;
}

bool view_worker_count_is_beyond(const struct view_worker_facts *f,
				 const struct view_worker_count *n)
{
	return n->cores_needed > most_sensible(f);
}
