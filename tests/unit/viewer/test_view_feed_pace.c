/* SPDX-License-Identifier: Apache-2.0 */
/* What a GPU would wait for measured batches: alike, uneven, and more than the cores carry. */
#include "feed/feed.h"
#include "harness.h"

#define MS INT64_C(1000000)

static struct feed_pace pace(struct feed_loader *l, int64_t cores, int64_t workers, int64_t step_ns)
{
	struct feed f = { .cores = cores };
	struct feed_pace p;

	feed_pace(&f, l, workers, step_ns, &p);
	return p;
}

static void test_alike(void)
{
	int64_t made[] = { 30 * MS };
	struct feed_loader l = { .workers = 2, .made_ns = made, .made = 1, .mean_ns = 30 * MS };

	EXPECT_INT(pace(&l, 0, 0, 10 * MS).step_ns, 40 * MS);
	EXPECT_INT(pace(&l, 0, 0, 10 * MS).wait_ppm, 750000);
	EXPECT_INT(pace(&l, 0, 1, 10 * MS).step_ns, 30 * MS);
	EXPECT_INT(pace(&l, 0, 2, 10 * MS).step_ns, 15 * MS);
	EXPECT_INT(pace(&l, 0, 3, 10 * MS).step_ns, 10 * MS);
	EXPECT_INT(pace(&l, 0, 3, 10 * MS).wait_ppm, 0);
	EXPECT_INT(pace(&l, 0, 9, 10 * MS).step_ns, 10 * MS);
	EXPECT_INT(pace(&l, 0, 3, 0).step_ns, 10 * MS); /* no step: what it can deliver */
}

/* Two workers are enough on average; one batch in four takes long, and its turn is waited for. */
static void test_uneven(void)
{
	int64_t made[] = { 10 * MS, 10 * MS, 10 * MS, 50 * MS };
	struct feed_loader l = {
		.workers = 2, .made_ns = made, .made = 4, .mean_ns = 20 * MS, .prefetch = 1
	};

	EXPECT(pace(&l, 0, 2, 10 * MS).step_ns > 11 * MS);
	l.prefetch = 16;
	EXPECT(pace(&l, 0, 8, 10 * MS).step_ns == 10 * MS);
	EXPECT(pace(&l, 0, 8, 10 * MS).step_ns <= pace(&l, 0, 2, 10 * MS).step_ns);
}

/* Batches that take a CPU all the time: beyond the cores more workers bring nothing. */
static void test_cores(void)
{
	int64_t made[] = { 40 * MS };
	struct feed_loader l = {
		.workers = 1, .made_ns = made, .made = 1, .mean_ns = 40 * MS, .cpu_ns = 40 * MS
	};

	EXPECT_INT(pace(&l, 5, 4, 5 * MS).step_ns, 10 * MS);
	EXPECT_INT(pace(&l, 5, 8, 5 * MS).step_ns, 10 * MS);
	EXPECT_INT(pace(&l, 0, 8, 5 * MS).step_ns, 5 * MS);
}

static void test_need(void)
{
	int64_t made[] = { 310 * MS };
	struct feed_loader l = { .workers = 2, .made_ns = made, .made = 1, .mean_ns = 310 * MS };
	struct feed f = { .cores = 0 };
	struct view_worker_count n;

	EXPECT(feed_need(&f, &l, 120 * MS, &n));
	EXPECT_INT(n.needed, 3);
	l.workers = 0;
	EXPECT(feed_need(&f, &l, 120 * MS, &n));
	EXPECT_INT(n.needed, 3);
	l.workers = 8; /* more than it takes */
	EXPECT(feed_need(&f, &l, 120 * MS, &n));
	EXPECT_INT(n.needed, 3);
}

int main(void)
{
	return RUN(test_alike, test_uneven, test_cores, test_need);
}
