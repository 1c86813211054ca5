/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe's arithmetic on made-up input: medians of interleaved rounds, what stays of a cost,
 * what a meter means, how often it changes.
 */
#include "figures.h"
#include "harness.h"

#define N(a) (sizeof(a) / sizeof(a)[0])

static void test_spread(void)
{
	const int64_t values[] = { 50, 10, 40, 20, 30 };
	const int64_t many[] = { 20, 1, 19, 2, 18, 3, 17, 4, 16, 5,
				 15, 6, 14, 7, 13, 8, 12, 9, 11, 10 };
	struct spread s = fig_spread(values, N(values));

	EXPECT_INT(s.median, 30);
	EXPECT_INT(s.p25, 20);
	EXPECT_INT(s.p75, 40);
	EXPECT_INT(s.least, 10);
	EXPECT_INT(s.most, 50);
	EXPECT_UINT(s.n, 5);
	EXPECT_INT(values[0], 50); /* left as they were */
	EXPECT_INT(fig_spread(many, N(many)).median, 10);
	EXPECT_INT(fig_spread(many, N(many)).p25, 5);
	EXPECT_INT(fig_spread(many, N(many)).p75, 15);
	EXPECT_INT(fig_spread(values, 0).median, FIG_UNKNOWN);
	EXPECT_INT(fig_spread(values, 1).p75, 50);
}

static void test_per(void)
{
	EXPECT_INT(fig_per(256000, 256), 1000);
	EXPECT_INT(fig_per(7, 2), 4);
	EXPECT_INT(fig_per(-7, 2), -4);
	EXPECT_INT(fig_per(1, 3), 0);
	EXPECT_INT(fig_per(5, 0), FIG_UNKNOWN);
}

/* The machine gets slower from round to round; the mode costs 1,800 ns in each all the same. */
static void test_rounds(void)
{
	const int64_t off[] = { 2000, 4000, 9000, 3000, 2500 };
	const int64_t on[] = { 3800, 5800, 10800, 4800, 4300 };
	struct spread more = fig_over(on, off, N(off)), ratio = fig_ratio(on, off, N(off));

	EXPECT_INT(more.median, 1800);
	EXPECT_INT(more.least, 1800);
	EXPECT_INT(more.most, 1800);
	EXPECT_INT(ratio.most, 90000); /* 1,800 of 2,000 */
	EXPECT_INT(ratio.least, 20000);
	EXPECT_INT(ratio.median, 60000);
}

static void test_left(void)
{
	const int64_t off[] = { 2000, 4000, 3000 }, again[] = { 2010, 3990, 3000 };
	const int64_t on[] = { 4000, 6000, 5000 }, half[] = { 3000, 5000, 4000 };
	const int64_t noisy[] = { 4500, 1000, 6000 }, loaded[] = { 2500, 4500, 3500 };

	EXPECT_INT(fig_left(half, on, off, off, again, 3), 500);
	EXPECT_INT(fig_left(off, on, off, off, again, 3), 0);
	EXPECT_INT(fig_left(on, on, off, off, again, 3), 1000);
	/* Against an idle library that costs 500 in each round: of 1,500 are 500 left. */
	EXPECT_INT(fig_left(half, on, loaded, off, again, 3), 333);
	EXPECT_INT(fig_left(off, on, loaded, off, again, 3), -333);
	/* No cost above the noise: nothing can be said of what stays of it. */
	EXPECT_INT(fig_left(half, on, off, off, noisy, 3), FIG_UNKNOWN);
	EXPECT_INT(fig_left(half, off, off, off, again, 3), FIG_UNKNOWN);
	EXPECT_INT(fig_left(half, on, off, off, again, 0), FIG_UNKNOWN);
}

static void test_duty(void)
{
	const int64_t truth[] = { 0, 5000, 20000, 50000, 90000, 100000 };
	const int64_t follows[] = { 0, 5100, 19800, 50500, 89000, 99900 };
	const int64_t resident[] = { 100000, 100000, 100000, 100000, 100000, 100000 };
	const int64_t offset[] = { 10000, 15000, 30000, 60000, 100000, 110000 };
	const int64_t third[] = { 0, 1667, 6667, 16667, 30000, 33333 };
	const int64_t nothing[6] = { 0 };
	struct duty d = fig_duty(truth, follows, 6);

	EXPECT_INT(d.worst, 1000);
	EXPECT(d.slope > 980 && d.slope < 1010);
	EXPECT_STR(fig_meaning(&d), "the duty cycle");
	d = fig_duty(truth, resident, 6);
	EXPECT_INT(d.worst, 100000);
	EXPECT_INT(d.slope, 0);
	EXPECT_STR(fig_meaning(&d), "that a context is resident");
	d = fig_duty(truth, offset, 6);
	EXPECT_INT(d.worst, 10000);
	EXPECT_STR(fig_meaning(&d), "the duty cycle, with an offset");
	d = fig_duty(truth, third, 6);
	EXPECT(d.slope > 330 && d.slope < 337);
	EXPECT_STR(fig_meaning(&d), "a part of the duty cycle");
	d = fig_duty(truth, nothing, 6);
	EXPECT_STR(fig_meaning(&d), "not how long kernels run");
	d = fig_duty(truth, follows, 1);
	EXPECT_INT(d.slope, FIG_UNKNOWN);
	EXPECT_STR(fig_meaning(&d), "nothing: too few points");
}

/* Asked each 10 ms, it changes each 100 ms; before the first change nothing is known. */
static void test_refresh(void)
{
	int64_t times[60], values[60];
	struct spread s;
	size_t i;

	for (i = 0; i < N(times); i++) {
		times[i] = (int64_t)i * 10;
		values[i] = (int64_t)(i + 3) / 10;
	}
	s = fig_refresh(times, values, N(times));
	EXPECT_INT(s.median, 100);
	EXPECT_INT(s.least, 100);
	EXPECT_INT(s.most, 100);
	EXPECT_UINT(s.n, 5);
	for (i = 0; i < N(times); i++)
		values[i] = 7;
	EXPECT_UINT(fig_refresh(times, values, N(times)).n, 0);
}

static void test_gaps(void)
{
	const int64_t times[] = { 100, 266, 433, 600 };
	struct spread s = fig_gaps(times, N(times));

	EXPECT_INT(s.median, 167);
	EXPECT_INT(s.least, 166);
	EXPECT_UINT(s.n, 3);
	EXPECT_UINT(fig_gaps(times, 1).n, 0);
	EXPECT_UINT(fig_gaps(times, 0).n, 0);
}

int main(void)
{
	return RUN(test_spread, test_per, test_rounds, test_left, test_duty, test_refresh,
		   test_gaps);
}
