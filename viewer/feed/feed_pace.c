/* SPDX-License-Identifier: Apache-2.0 */
/* A queue in integers: who takes a batch each step, and workers that make them ahead. */
#include "feed.h"

#define BATCHES 4096 /* that are played, in the measured order, over and over */
#define SETTLES 256 /* of them, before what is counted: the queue fills */
#define WORKERS_MAX 1024
#define AHEAD_MAX 64 /* prefetch_factor */
#define AHEAD 2 /* torch's own, and where none is known */

bool feed_need(const struct feed *f, const struct feed_loader *l, int64_t step_ns,
	       struct view_worker_count *n)
{
	int64_t workers = l->workers > 0 ? l->workers : 0;
	int64_t each = workers ? l->mean_ns / workers : l->mean_ns + step_ns;
	struct view_worker_facts facts = {
		.workers = workers,
		.fetch_ns = l->mean_ns,
		.fetch_cpu_ns = l->cpu_ns,
		.fed_median_ns = -1,
		.cores = f->cores,
	};

	facts.step_ns = each > step_ns ? each : step_ns;
	facts.wait_ns = facts.step_ns - step_ns;
	return view_worker_count_find(&facts, n);
}

/* By how much making a batch gets longer where so many workers want more than the cores have. */
static int64_t stretch_ns(const struct feed *f, const struct feed_loader *l, int64_t workers)
{
	int64_t cores = f->cores > 1 ? f->cores - 1 : 1;
	__int128 wanted = (__int128)l->cpu_ns * workers;

	if (!f->cores || !l->mean_ns || wanted <= (__int128)cores * l->mean_ns)
		return 0;
	return (int64_t)(wanted / cores) - l->mean_ns;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void feed_pace(const struct feed *f, const struct feed_loader *l, int64_t workers, int64_t step_ns,
	       struct feed_pace *out)
{
	/* there is one thread */
	static int64_t taken[WORKERS_MAX * AHEAD_MAX], free_at[WORKERS_MAX];
	int64_t ahead = l->prefetch > 0 ? l->prefetch : AHEAD, room, more, ready, at = 0, from = 0;

	if (workers <= 0) {
		out->step_ns = l->mean_ns + step_ns;
		out->wait_ppm = out->step_ns ? l->mean_ns * 1000000 / out->step_ns : 0;
		return;
	}
	workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
	room = workers * (ahead < AHEAD_MAX ? ahead : AHEAD_MAX);
	more = stretch_ns(f, l, workers);
	for (int64_t i = 0; i < workers; i++)
		free_at[i] = 0;
	for (int64_t i = 0; i < BATCHES; i++) {
		ready = i < room ? 0 : taken[i % room];
		ready = later(ready, free_at[i % workers]) + l->made_ns[(size_t)i % l->made] + more;
		free_at[i % workers] = ready;
		at = later(i ? at + step_ns : 0, ready);
		taken[i % room] = at;
		if (i == SETTLES - 1)
			from = at;
	}
	out->step_ns = (at - from) / (BATCHES - SETTLES);
	out->wait_ppm =
		out->step_ns > step_ns ? (out->step_ns - step_ns) * 1000000 / out->step_ns : 0;
}
