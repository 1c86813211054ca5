/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: seconds off and drifting, laid on each other by nothing but common ends. */
#include "analysis/ranks/align.h"
#include "harness.h"

#define N 2000

static int64_t distance(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

/* Ends on a true clock, as two hosts stamp them: y is off, drifts, and has missed the first few. */
static void make(uint64_t *seed, int64_t off, int64_t ppb, size_t missed, int64_t *x, int64_t *y)
{
	int64_t t = 0;
	size_t i;

	for (i = 0; i < N; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		t += 20000000 + (int64_t)(*seed >> 40) % 1000000;
		x[i] = t;
		if (i >= missed)
			y[i - missed] = t + off + (int64_t)((__int128)t * ppb / 1000000000) +
					(int64_t)(*seed >> 33) % 3000;
	}
}

static void check(int64_t off, int64_t ppb, size_t missed)
{
	static int64_t x[N], y[N];
	struct ana_timebase b;
	uint64_t seed = 7;
	int64_t worst = 0;
	size_t i;

	make(&seed, off, ppb, missed, x, y);
	EXPECT(ana_align_pair(x, N, y, N - missed, &b));
	EXPECT(b.points > (N - missed) / 2);
	for (i = 0; i + missed < N; i++)
		if (distance(ana_align_to(&b, y[i]), x[i + missed]) > worst)
			worst = distance(ana_align_to(&b, y[i]), x[i + missed]);
	printf("     off %" PRId64 " ns, %" PRId64 " ppb: worst %" PRId64 " ns, stated %" PRId64
	       "\n",
	       off, ppb, worst, b.residual_ns);
	EXPECT(worst <= 50000);
	EXPECT(b.residual_ns <= worst);
	EXPECT(distance(b.drift_ppb, -ppb) < 2000);
}

static void test_off_and_drifting(void)
{
	check(0, 0, 0);
	check(4000000000, 50000, 0);
	check(-7500000000, -50000, 3);
}

static void test_nothing_in_common(void)
{
	int64_t x[50], y[50];
	struct ana_timebase b;
	size_t i;

	for (i = 0; i < 50; i++) {
		x[i] = (int64_t)(i * i) * 1000000;
		y[i] = (int64_t)i * 7777777;
	}
	EXPECT(!ana_align_pair(x, 50, y, 50, &b));
	EXPECT(!ana_align_pair(x, 1, y, 1, &b));
}

/* Steps of 20 ms that vary by 100 us, of two jobs that never meet, each on a clock of its own. */
static void test_never_meet(void)
{
	static int64_t x[N], y[N];
	struct ana_timebase b;
	uint64_t seed = 5;
	size_t i;

	for (i = 1; i < N; i++) {
		x[i] = x[i - 1] + 20000000 + (int64_t)(t_random(&seed) % 100000);
		y[i] = y[i - 1] + 20000000 + (int64_t)(t_random(&seed) % 100000);
	}
	EXPECT(!ana_align_pair(x, N, y, N, &b));
	EXPECT(!ana_align_pair(x, 100, y, 100, &b));
}

/* Of y's each second end is with another GPU, some 50 us off where x has one. */
static void test_by_turns(void)
{
	static int64_t x[N], y[N];
	struct ana_timebase b;
	uint64_t seed = 9;
	size_t i;

	for (i = 0; i < N; i++) {
		int64_t t = (int64_t)i * 10000000 + (int64_t)(t_random(&seed) % 2000000);
		int64_t off = i % 2 ? 40000 + (int64_t)(t_random(&seed) % 20000) : 0;

		x[i] = t;
		y[i] = t + 7000000000 + off + (int64_t)(t_random(&seed) % 2000);
	}
	EXPECT(ana_align_pair(x, N, y, N, &b));
	EXPECT(distance(ana_align_offset(&b), -7000001000) < 2000);
	EXPECT(b.residual_ns < 3000);
}

/* Ends of another communicator on each host fit as if its clock were off by a second. */
static void check_others_fit_better(bool told)
{
	const uint64_t comm[2][2] = { { 1, 2 }, { 1, 3 } };
	const uint32_t host_of[] = { 0, 1 };
	struct ana_collective_log *log[2];
	struct ana_align a = { .host = NULL };
	uint64_t seed = 11;
	int64_t t = 0, off;
	uint32_t i, h;

	for (h = 0; h < 2; h++)
		log[h] = ana_collective_log_new(1 << 20, NULL);
	for (i = 0; i < N; i++) {
		t += 20000000 + (int64_t)(t_random(&seed) % 1000000);
		for (h = 0; h < 2; h++) {
			int64_t at =
				t + h * INT64_C(3000000000) + (int64_t)(t_random(&seed) % 20000);
			int64_t other = t + 9000000 + h * INT64_C(1000000000);

			ana_collective_log_begin(log[h], told ? comm[h][0] : 0, h, 7, 1,
						 "ncclDevKernel_AllReduce", at - 1000000, at);
			ana_collective_log_begin(log[h], told ? comm[h][1] : 0, h, 8, 1,
						 "ncclDevKernel_AllReduce", other - 1000000, other);
		}
	}
	for (h = 0; h < 2; h++)
		EXPECT_INT(ana_collective_log_finish(log[h]), 0);
	EXPECT_INT(ana_align_find(&a, log, 2, host_of, 2), 0);
	EXPECT(a.host[1].aligned);
	off = ana_align_offset(&a.host[1]);
	EXPECT(distance(off, told ? -3000000000 : -1000000000) < 20000);
	ana_align_fini(&a);
	for (h = 0; h < 2; h++)
		ana_collective_log_free(log[h]);
}

static void test_communicators(void)
{
	check_others_fit_better(false); /* that it is wrong then shows that it would be tempting */
	check_others_fit_better(true);
}

int main(void)
{
	return RUN(test_off_and_drifting, test_nothing_in_common, test_never_meet, test_by_turns,
		   test_communicators);
}
