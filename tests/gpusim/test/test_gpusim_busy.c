/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy a device was, by made-up kernels: times, multiprocessors, warps, and that each launch is
 * told of once, whenever one asks.
 */
#include "../busy.h"

#include "harness.h"

#define MS 1000000u
#define US 1000u
#define BEGIN ((uint64_t)1700000000000 * MS)

static struct sim_device d;
static const struct sim_fill all = { 1, 1, 0.5, 0.25 };

static void reset(void)
{
	memset(&d, 0, sizeof d);
}

static void kernel(uint64_t start, uint64_t length, const struct sim_fill *fill)
{
	sim_busy_add(&d, BEGIN + start, BEGIN + start, BEGIN + start + length, fill, 1);
}

static void test_fill(void)
{
	struct sim_fill one = sim_busy_fill(1, 32, 132), some = sim_busy_fill(66, 1024, 132);
	struct sim_fill more = sim_busy_fill(1000000, 1024, 132);
	struct sim_fill small = sim_busy_fill(1000000, 33, 132), none = sim_busy_fill(0, 0, 132);

	EXPECT_UINT(one.sms * 132 * 1000 + 0.5, 1000);
	EXPECT_UINT(one.warps * 132 * 64 * 1000 + 0.5, 1000);
	EXPECT(some.sms == 0.5 && some.warps == 0.25);
	EXPECT(more.sms == 1 && more.warps == 1);
	EXPECT(small.sms == 1 && small.warps == 1); /* 32 blocks of 2 warps */
	EXPECT(none.sms == 1 && none.warps == 1);
}

static void use_of(const char *name, double tensor, double dram)
{
	struct sim_fill fill = { 1, 1, 0, 0 };

	sim_busy_use(&fill, name);
	EXPECT(fill.tensor == tensor && fill.dram == dram);
}

static void test_use(void)
{
	unsetenv("GPUSIM_UNITS");
	use_of("gemm", 0, 0);
	setenv("GPUSIM_UNITS", "gemm=50/12.5,norm=0/75", 1);
	use_of("ampere_gemm_128", 0.5, 0.125);
	use_of("layer_norm", 0, 0.75);
	use_of("copy", 0, 0);
	use_of(NULL, 0, 0);
	setenv("GPUSIM_UNITS", "gemm", 1);
	use_of("gemm", 0, 0);
}

static void test_shares(void)
{
	struct sim_fill half = { 0.5, 0.125, 0.1, 1 };
	struct sim_busy b;

	reset();
	kernel(0, 10 * MS, &half);
	kernel(20 * MS, 5 * MS, &all);
	b = sim_busy_between(&d, BEGIN, BEGIN + 30 * MS, SIM_ANYBODY);
	EXPECT_UINT(b.kernel_ns, 15 * MS);
	EXPECT_UINT(b.sm_ns, 10 * MS);
	EXPECT_UINT(b.warp_ns, 6250 * US);
	EXPECT_UINT(b.tensor_ns, 3500 * US);
	EXPECT_UINT(b.dram_ns, 11250 * US);
	EXPECT_UINT(b.launches, 2);
	b = sim_busy_between(&d, BEGIN + 9500 * US, BEGIN + 20500 * US, SIM_ANYBODY);
	EXPECT_UINT(b.kernel_ns, 1000 * US);
	EXPECT_UINT(sim_busy_between(&d, BEGIN, BEGIN + 30 * MS, 2).kernel_ns, 0);
}

/* No more than all of the device, however many run at once. */
static void test_overlap(void)
{
	struct sim_busy b;

	reset();
	kernel(0, 10 * MS, &all);
	kernel(0, 10 * MS, &all);
	b = sim_busy_between(&d, BEGIN, BEGIN + 10 * MS, SIM_ANYBODY);
	EXPECT_UINT(b.kernel_ns, 10 * MS);
	EXPECT_UINT(b.sm_ns, 10 * MS);
}

/* A little around each kernel, but no more than there is between two. */
static void test_engine(void)
{
	struct sim_busy b;

	reset();
	kernel(10 * MS, 100 * US, &all);
	kernel(10100 * US + 1200, 100 * US, &all);
	kernel(11 * MS, MS, &all);
	kernel(12 * MS, MS, &all);
	b = sim_busy_between(&d, BEGIN, BEGIN + 20 * MS, SIM_ANYBODY);
	EXPECT_UINT(b.kernel_ns, 2200 * US);
	/* None between the last two. */
	EXPECT_UINT(b.engine_ns, 2200 * US + 2300 + 1200 + 2300);
	EXPECT_UINT(sim_busy_total(&d, BEGIN + 20 * MS).engine_ns, b.engine_ns);
}

/* Asked each 100 us, while kernels begin late in a millisecond of which some was told already. */
static void test_each_launch_once(void)
{
	uint64_t at, seen = 0, launched = 0;

	reset();
	for (at = 0; at < 1000 * MS; at += 100 * US) {
		if (at % (7 * 100 * US) == 0) {
			kernel(at, 10 * US, &all);
			launched++;
		}
		seen += sim_busy_between(&d, BEGIN + at, BEGIN + at + 100 * US, SIM_ANYBODY)
				.launches;
	}
	EXPECT_UINT(seen, launched);
	EXPECT_UINT(sim_busy_total(&d, BEGIN + at).launches, launched);
}

/* What the ring has forgotten stays in the sum since the beginning. */
static void test_since_the_beginning(void)
{
	struct sim_fill half = { 0.5, 0.25, 0, 0 };
	struct sim_busy b;
	uint64_t s, n = 3 * (uint64_t)SIM_BUCKETS / 1000;

	reset();
	for (s = 0; s < n; s++)
		kernel(s * 1000 * MS, 100 * MS, &half);
	b = sim_busy_total(&d, BEGIN + n * 1000 * MS);
	EXPECT_UINT(b.kernel_ns, n * 100 * MS);
	EXPECT_UINT(b.engine_ns, n * (100 * MS + 2300));
	EXPECT_UINT(b.sm_ns, n * 50 * MS);
	EXPECT_UINT(b.warp_ns, n * 25 * MS);
	EXPECT_UINT(b.launches, n);
	EXPECT_UINT(sim_busy_between(&d, BEGIN + (n - 16) * 1000 * MS, BEGIN + n * 1000 * MS,
				     SIM_ANYBODY)
			    .kernel_ns,
		    1600 * MS);
}

int main(void)
{
	return RUN(test_fill, test_use, test_shares, test_overlap, test_engine,
		   test_each_launch_once, test_since_the_beginning);
}
