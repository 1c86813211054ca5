/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers it takes: Little's law, the cores, and what is known to be too little. */
#include "harness.h"
#include "core/worker_count.h"

#define MS 1000000LL

static struct view_worker_count need(struct view_worker_facts f)
{
	struct view_worker_count n = { 0 };

	EXPECT(view_worker_count_find(&f, &n));
	return n;
}

/* A worker needs 40 ms for a batch, the step 4.5 ms: 40 / 4.5 = 8.9. */
static void test_littles_law(void)
{
	struct view_worker_count n = need((struct view_worker_facts){ .workers = 4,
								      .fetch_ns = 40 * MS,
								      .step_ns = 10 * MS,
								      .wait_ns = 5500000,
								      .fed_median_ns = -1,
								      .cores = 2 });

	EXPECT_INT(n.needed, 9);
	EXPECT_INT(n.advised, 9);
	EXPECT_INT(n.bound, VIEW_WORKERS_STEP);
	EXPECT_INT(n.predicted_step_ns, 4500000);
	EXPECT_INT(n.cores_needed, 0);
}

/* Exactly one more nanosecond needs one more worker. */
static void test_edges(void)
{
	struct view_worker_facts f = { .workers = 1,
				       .fetch_ns = 40 * MS,
				       .step_ns = 40 * MS,
				       .wait_ns = 30 * MS,
				       .fed_median_ns = -1 };

	EXPECT_INT(need(f).needed, 4);
	f.fetch_ns++;
	EXPECT_INT(need(f).needed, 5);
	EXPECT_INT(need(f).predicted_step_ns, 10 * MS);
	f.fetch_ns = 1;
	EXPECT_INT(need(f).needed, 1);
	EXPECT_INT(need(f).advised, 1);
}

/* Without workers the trainer makes the batches: one worker overlaps them with the step. */
static void test_no_workers(void)
{
	struct view_worker_count n = need((struct view_worker_facts){ .workers = 0,
								      .fetch_ns = 8 * MS,
								      .step_ns = 18 * MS,
								      .wait_ns = 8 * MS,
								      .fed_median_ns = -1 });

	EXPECT_INT(n.needed, 1);
	EXPECT_INT(n.advised, 1);
	EXPECT_INT(n.predicted_step_ns, 10 * MS);
}

/* On a CPU for all of its time: two cores carry one worker beside the trainer. */
static void test_cores(void)
{
	struct view_worker_facts f = { .workers = 0,
				       .fetch_ns = 40 * MS,
				       .fetch_cpu_ns = 40 * MS,
				       .step_ns = 44 * MS,
				       .wait_ns = 40 * MS,
				       .fed_median_ns = -1,
				       .cores = 2 };
	struct view_worker_count n = need(f);

	EXPECT_INT(n.needed, 10);
	EXPECT_INT(n.advised, 1);
	EXPECT_INT(n.bound, VIEW_WORKERS_CORES);
	EXPECT_INT(n.predicted_step_ns, 40 * MS);
	EXPECT_INT(n.cores_needed, 11);
	f.cores = 8;
	n = need(f);
	EXPECT_INT(n.advised, 7);
	EXPECT_INT(n.predicted_step_ns, 40 * MS / 7 + 1);
	f.cores = 1; /* the trainer shares it */
	EXPECT_INT(need(f).advised, 1);
	f.cores = 0; /* not known: no bound */
	EXPECT_INT(need(f).advised, 10);
	/* Half of the time on a CPU: twice as many fit. */
	f.cores = 3;
	f.fetch_cpu_ns = 20 * MS;
	EXPECT_INT(need(f).advised, 4);
	/* Workers that mostly wait for a disk are not bound by cores. */
	f.fetch_cpu_ns = MS / 10;
	EXPECT_INT(need(f).advised, 10);
	EXPECT_INT(need(f).bound, VIEW_WORKERS_STEP);
}

/* Never fewer than there are, never a slower step than there is. */
static void test_never_worse(void)
{
	struct view_worker_facts f = { .workers = 8,
				       .fetch_ns = 40 * MS,
				       .fetch_cpu_ns = 40 * MS,
				       .step_ns = 20 * MS,
				       .wait_ns = 1 * MS,
				       .fed_median_ns = -1,
				       .cores = 2 };
	struct view_worker_count n = need(f);

	EXPECT_INT(n.needed, 3);
	EXPECT_INT(n.advised, 8);
	EXPECT_INT(n.predicted_step_ns, 19 * MS);
	f.workers = 0;
	f.step_ns = 30 * MS; /* it took less than a fetch: waits were hidden */
	f.wait_ns = 10 * MS;
	EXPECT_INT(need(f).predicted_step_ns, 30 * MS);
}

/* A rare long step (a checkpoint) must not hide that ordinary ones need more workers. */
static void test_median(void)
{
	struct view_worker_facts f = { .workers = 1,
				       .fetch_ns = 40 * MS,
				       .step_ns = 40 * MS,
				       .wait_ns = 20 * MS,
				       .fed_median_ns = 4 * MS };
	struct view_worker_count n = need(f);

	EXPECT_INT(n.needed, 10);
	EXPECT_INT(n.predicted_step_ns, 20 * MS); /* on average the checkpoints stay */
	f.fed_median_ns = 30 * MS; /* the mean is faster: it counts */
	EXPECT_INT(need(f).needed, 2);
}

static void test_limit(void)
{
	struct view_worker_count n = need((struct view_worker_facts){ .workers = 2,
								      .fetch_ns = 10000 * MS,
								      .step_ns = 5001 * MS,
								      .wait_ns = 5000 * MS,
								      .fed_median_ns = -1,
								      .cores = 2 });

	EXPECT_INT(n.needed, 10000);
	EXPECT_INT(n.advised, 32);
	EXPECT_INT(n.bound, VIEW_WORKERS_LIMIT);
	EXPECT_INT(n.predicted_step_ns, 10000 * MS / 32);
}

/*
 * The prediction is an interval: at least with batches that take their mean, at most with the slow
 * ones for all. One worker beside the trainer: not step + batch any more, but the longer one.
 */
static void test_most(void)
{
	struct view_worker_facts f = { .workers = 0,
				       .fetch_ns = 30 * MS,
				       .fetch_cpu_ns = 30 * MS,
				       .fetch_slow_ns = 42 * MS,
				       .step_ns = 70 * MS,
				       .wait_ns = 30 * MS,
				       .fed_median_ns = -1,
				       .cores = 3 };
	struct view_worker_count n = need(f);

	EXPECT_INT(n.advised, 1);
	EXPECT_INT(n.predicted_step_ns, 40 * MS);
	EXPECT_INT(n.most_step_ns, 56 * MS); /* of 28 ms less half is sure */
	f.fetch_slow_ns = 35 * MS; /* hidden, all of them */
	EXPECT_INT(need(f).most_step_ns, 55 * MS);
	f.fetch_slow_ns = 90 * MS; /* no slower than now */
	EXPECT_INT(need(f).most_step_ns, 70 * MS);
	f.fetch_slow_ns = 35 * MS;
	f.fetch_delay_ns = 3 * MS; /* a tenth */
	EXPECT_INT(need(f).most_step_ns, 55 * MS);
	f.fetch_delay_ns++; /* others have the cores */
	EXPECT_INT(need(f).most_step_ns, 70 * MS);
	EXPECT_INT(need(f).predicted_step_ns, 40 * MS);
	f.fetch_delay_ns = 0;
	f.cores = 2; /* with the trainer it takes all of them, */
	EXPECT_INT(need(f).most_step_ns, 70 * MS);
	f.fetch_cpu_ns = 27 * MS; /* but for a tenth of one */
	EXPECT_INT(need(f).most_step_ns, 55 * MS);
	f.fetch_cpu_ns++;
	EXPECT_INT(need(f).most_step_ns, 70 * MS);
	f.cores = 3;
	f.fetch_slow_ns = 0; /* not known */
	EXPECT_INT(need(f).most_step_ns, 70 * MS);
	f = (struct view_worker_facts){ .workers = 1,
					.fetch_ns = 40 * MS,
					.fetch_slow_ns = 60 * MS,
					.step_ns = 40 * MS,
					.wait_ns = 30 * MS,
					.fed_median_ns = -1 };
	EXPECT_INT(need(f).advised, 4);
	EXPECT_INT(need(f).predicted_step_ns, 10 * MS);
	EXPECT_INT(need(f).most_step_ns, 27500000);
}

static void test_unknown(void)
{
	static const struct view_worker_facts bad[] = {
		{ .fetch_ns = 0, .step_ns = 10 },
		{ .fetch_ns = 10, .step_ns = 0 },
		{ .fetch_ns = 10, .step_ns = 10, .wait_ns = 10 },
		{ .fetch_ns = 10, .step_ns = 10, .wait_ns = -1 },
		{ .fetch_ns = -5, .step_ns = 10, .wait_ns = 1 },
		{ .fetch_ns = 10, .step_ns = 10, .wait_ns = 1, .workers = -1 },
	};
	struct view_worker_count n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT(!view_worker_count_find(&bad[i], &n));
}

/* Whatever the facts: bounds that always hold. */
static void test_random(void)
{
	uint64_t seed = t_seed(11);

	for (int i = 0; i < 20000; i++) {
		struct view_worker_facts f = {
			.workers = (int64_t)(t_random(&seed) % 65),
			.fetch_ns = (int64_t)(t_random(&seed) % (1ULL << (t_random(&seed) % 50))),
			.step_ns = (int64_t)(t_random(&seed) % (1ULL << (t_random(&seed) % 50))),
			.fed_median_ns = (int64_t)(t_random(&seed) % 1000000) - 1,
			.cores = (int64_t)(t_random(&seed) % 200),
		};
		struct view_worker_count n;
		f.wait_ns = f.step_ns ? (int64_t)(t_random(&seed) % (uint64_t)f.step_ns) : 0;
		f.fetch_cpu_ns = f.fetch_ns ? (int64_t)(t_random(&seed) % (uint64_t)f.fetch_ns) : 0;
		f.fetch_slow_ns = (int64_t)(t_random(&seed) % (1ULL << (t_random(&seed) % 50)));
		if (!view_worker_count_find(&f, &n))
			continue;
		EXPECT(n.needed >= 1 && n.advised >= f.workers && n.advised >= 1);
		EXPECT(n.predicted_step_ns <= f.step_ns);
		EXPECT(n.predicted_step_ns >= f.step_ns - f.wait_ns);
		EXPECT(n.most_step_ns >= n.predicted_step_ns && n.most_step_ns <= f.step_ns);
		EXPECT(n.advised <= n.needed || n.advised == f.workers);
	}
}

int main(void)
{
	return RUN(test_littles_law, test_edges, test_no_workers, test_cores, test_never_worse,
		   test_median, test_limit, test_most, test_unknown, test_random);
}
