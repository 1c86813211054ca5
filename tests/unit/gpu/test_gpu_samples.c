/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means over samples of counters, on made-up input: a session whose first sample is stamped to
 * begin long before it, as an H100's rows read, and lengths and counts that are otherwise wrong.
 */
#include "figures.h"
#include "harness.h"
#include "samples.h"

#define MS 1000000u
#define N 2014
#define CLOCK 1980e6

static struct pm_sample list[N];

/* Samples of a millisecond, busy for a fifth of it; the first one begins `early` ns before. */
static void make(size_t n, uint64_t early)
{
	uint64_t at = 1700000000000000000u;
	size_t i;

	for (i = 0; i < n; i++, at += MS)
		list[i] = (struct pm_sample){
			at, at + MS, { [PM_BUSY] = 20, [PM_LAUNCHES] = 1, [PM_HERTZ] = CLOCK }
		};
	list[0].start -= early;
	if (!early)
		return;
	list[0].value[PM_BUSY] = 0; /* nothing was launched yet */
	list[0].value[PM_HERTZ] = CLOCK * MS / (double)(MS + early);
}

static void test_plain(void)
{
	make(N, 0);
	EXPECT_INT(samples_mean(list, N, MS, PM_BUSY), 20000);
	EXPECT_INT(samples_mean_of_all(list, N, PM_BUSY), 20000);
	EXPECT_INT(samples_total(list, N, PM_LAUNCHES), N);
	EXPECT_UINT(samples_odd(list, N, MS).n, 0);
	EXPECT_INT(samples_odd(list, N, MS).first_ns, MS);
}

/* 0.29 s before: what all samples together say is the device's 17.7 % at 1,730 MHz. */
static void test_first_one(void)
{
	struct samples_odd odd;

	make(N, 290 * (uint64_t)MS);
	EXPECT_INT(samples_mean(list, N, MS, PM_BUSY), 20000);
	EXPECT_INT(samples_mean(list, N, MS, PM_HERTZ), 1980000000000);
	EXPECT_INT(samples_mean_of_all(list, N, PM_BUSY) / 100, 174);
	EXPECT_INT(samples_mean_of_all(list, N, PM_HERTZ) / 10000000000, 173);
	EXPECT_INT(samples_total(list, N, PM_LAUNCHES), N);
	odd = samples_odd(list, N, MS);
	EXPECT_UINT(odd.n, 1);
	EXPECT_INT(odd.ns, 291 * (int64_t)MS);
	EXPECT_INT(odd.first_ns, 291 * (int64_t)MS);
	EXPECT_UINT(odd.dark, 0);
}

/* Two in one, a stamp that runs backwards, a length of zero; a half more or less is let pass. */
static void test_lengths(void)
{
	make(6, 0);
	list[1].end += MS;
	list[2].start = list[2].end + MS;
	list[3].start = list[3].end;
	list[4].end += MS / 2;
	list[5].start += MS / 2;
	EXPECT_UINT(samples_odd(list, 6, MS).n, 3);
	list[4].value[PM_BUSY] = 40;
	EXPECT_INT(samples_mean(list, 6, MS, PM_BUSY), 30000); /* 20, 40 for 1.5, 20 for 0.5 */
}

/* Counters that counted nothing are another matter than stamps that are wrong. */
static void test_dark(void)
{
	make(4, 0);
	list[1].value[PM_HERTZ] = list[1].value[PM_BUSY] = 0;
	EXPECT_UINT(samples_odd(list, 4, MS).dark, 1);
	EXPECT_UINT(samples_odd(list, 4, MS).n, 0);
	EXPECT_INT(samples_mean(list, 4, MS, PM_BUSY), 15000);
}

static void test_none(void)
{
	EXPECT_INT(samples_mean(list, 0, MS, PM_BUSY), FIG_UNKNOWN);
	EXPECT_INT(samples_total(list, 0, PM_LAUNCHES), 0);
	EXPECT_INT(samples_odd(list, 0, MS).first_ns, 0);
	make(1, 5 * MS);
	EXPECT_INT(samples_mean(list, 1, MS, PM_BUSY), FIG_UNKNOWN);
}

int main(void)
{
	return RUN(test_plain, test_first_one, test_lengths, test_dark, test_none);
}
