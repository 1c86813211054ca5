/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dollars: parsing without doubles, exact products, half-even rounding, sums that close.
 */
#include <errno.h>
#include <stdlib.h>
#include "cost/cost.h"
#include "cost/waste.h"
#include "harness.h"
#include "base/amounts.h"
#include "base/units.h"

#define HOUR_NS 3600000000000LL

static int64_t parsed(const char *text)
{
	int64_t nano = -1;
	int err = view_cost_parse(text, &nano);

	return err ? err : nano;
}

static void test_parse(void)
{
	EXPECT_INT(parsed("6.88"), 6880000000LL);
	EXPECT_INT(parsed("0"), 0);
	EXPECT_INT(parsed("0.000000001"), 1);
	EXPECT_INT(parsed("0.1000000000"), 100000000);
	EXPECT_INT(parsed("1000000000"), 1000000000LL * VIEW_NANO_USD);
	EXPECT_INT(parsed("0.0000000001"), -ERANGE);
	EXPECT_INT(parsed("1000000000.000000001"), -ERANGE);
	EXPECT_INT(parsed("99999999999999999999"), -ERANGE);
}

static void test_parse_bad(void)
{
	static const char *const bad[] = { "",	  "-1",	 "+1", "$2", "1.",   ".5",   "1e3",
					   "1,5", "nan", " 1", "1 ", "0x10", "1.2.3" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_INT(parsed(bad[i]), -EINVAL);
}

static void test_amount(void)
{
	EXPECT_INT(view_cost_amount(6880000000LL, HOUR_NS), 6880000000LL);
	EXPECT_INT(view_cost_amount(6880000000LL, 0), 0);
	/* Half a nano-dollar goes to the even neighbour. */
	EXPECT_INT(view_cost_amount(1, HOUR_NS / 2), 0);
	EXPECT_INT(view_cost_amount(3, HOUR_NS / 2), 2);
	EXPECT_INT(view_cost_amount(5, HOUR_NS / 2), 2);
	EXPECT_INT(view_cost_amount(1, HOUR_NS / 2 + 1), 1);
	/* Beyond 64 bits on the way: a thousand dollars an hour for ten years. */
	EXPECT_INT(view_cost_amount(1000 * VIEW_NANO_USD, 87600 * HOUR_NS),
		   87600000LL * VIEW_NANO_USD);
}

static void test_half_even(void)
{
	EXPECT_INT(base_div_even(5, 10), 0);
	EXPECT_INT(base_div_even(15, 10), 2);
	EXPECT_INT(base_div_even(25, 10), 2);
	EXPECT_INT(base_div_even(26, 10), 3);
	EXPECT_INT(base_div_even(-5, 10), 0);
	EXPECT_INT(base_div_even(-15, 10), -2);
	EXPECT_INT(base_div_even(-26, 10), -3);
}

static void test_compute(void)
{
	struct ana_gpu gpu[2] = { 0 };
	struct ana_result r = { .gpu = gpu, .gpus = 2 };
	bool waste[ANA_CLASSES] = { [ANA_INPUT_UNKNOWN] = true, [ANA_COPY] = true };
	struct view_rate *rate = calloc(2, sizeof(*rate));
	struct view_cost c;
	int64_t sum = 0;

	gpu[0].classes[ANA_COMPUTE] = HOUR_NS;
	gpu[0].classes[ANA_INPUT_UNKNOWN] = HOUR_NS / 2;
	gpu[1].classes[ANA_COPY] = HOUR_NS / 4;
	rate[0] = (struct view_rate){ .known = true, .nano_usd_per_hour = 6880000000LL };
	rate[1] = (struct view_rate){ .known = true, .nano_usd_per_hour = 2744700000LL };
	EXPECT_INT(view_cost_compute(&c, &r, rate, waste), 0);
	EXPECT(c.known);
	EXPECT_INT(c.total, 6880000000LL + 3440000000LL + 686175000LL);
	EXPECT_INT(c.wasted, 3440000000LL + 686175000LL);
	EXPECT_INT(c.starved, 3440000000LL);
	for (int k = 0; k < ANA_CLASSES; k++)
		sum += c.classes[k];
	EXPECT_INT(sum, c.total);
	view_cost_fini(&c);
}

static void test_unknown_price(void)
{
	struct ana_gpu gpu[2] = { 0 };
	struct ana_result r = { .gpu = gpu, .gpus = 2 };
	bool waste[ANA_CLASSES] = { false };
	struct view_rate *rate = calloc(2, sizeof(*rate));
	struct view_cost c;

	gpu[0].classes[ANA_COMPUTE] = gpu[1].classes[ANA_COMPUTE] = HOUR_NS;
	rate[0] = (struct view_rate){ .known = true, .nano_usd_per_hour = 1000000000LL };
	EXPECT_INT(view_cost_compute(&c, &r, rate, waste), 0);
	EXPECT(!c.known);
	EXPECT_INT(c.total, 0);
	view_cost_fini(&c);
}

/* Classes add up to the total as it is shown, and in it to what is shown as starved and wasted. */
static void test_close(void)
{
	uint64_t seed = t_seed(7);
	bool waste[ANA_CLASSES], starved[ANA_CLASSES];

	view_waste_default(waste);
	view_starved_set(starved);
	for (int round = 0; round < 5000; round++) {
		struct view_cost c = { .known = true };
		int64_t quanta[ANA_CLASSES], all = 0, lost = 0, hungry = 0, most = 10;

		for (int k = (int)(t_random(&seed) % 14); k > 0; k--)
			most *= 10;
		for (int k = 0; k < ANA_CLASSES; k++) {
			int64_t usd = t_random(&seed) % 3
					      ? 0
					      : (int64_t)(t_random(&seed) % (uint64_t)most);

			c.classes[k] = usd;
			c.total += usd;
			c.wasted += waste[k] ? usd : 0;
			c.starved += starved[k] ? usd : 0;
		}
		view_cost_close(&c, waste, quanta);
		struct base_scale s = view_cost_scale(&c);
		for (int k = 0; k < ANA_CLASSES; k++) {
			EXPECT(quanta[k] >= 0 && (c.classes[k] || !quanta[k]));
			EXPECT(llabs(quanta[k] * s.quantum - c.classes[k]) <= 2 * s.quantum);
			all += quanta[k];
			lost += waste[k] ? quanta[k] : 0;
			hungry += starved[k] ? quanta[k] : 0;
		}
		EXPECT_INT(all, base_quanta(s, c.total));
		EXPECT_INT(lost, base_quanta(s, c.wasted));
		EXPECT_INT(hungry, base_quanta(s, c.starved));
	}
}

/* What closes the ledger is shown wherever the same amount stands, as in the advice. */
static void test_equal_amounts(void)
{
	static const int64_t amount[] = { 1666666, 1666667, 1666668 };
	static const int at[] = { ANA_COMPUTE, ANA_INPUT_PREP, ANA_HOST_SYNC };
	struct view_cost c = { .known = true };
	bool waste[ANA_CLASSES];
	base_unit shown, closed;
	int64_t sum = 0;

	view_waste_default(waste);
	for (int i = 0; i < 3; i++) {
		c.classes[at[i]] = amount[i];
		c.total += amount[i];
	}
	c.starved = amount[1];
	c.wasted = amount[1] + amount[2];
	c.total += 1; /* three of 0.167 cents are 0.500 */
	c.classes[ANA_COMM] = 1;
	view_cost_close(&c, waste, c.quanta);
	for (int k = 0; k < ANA_CLASSES; k++) {
		sum += c.quanta[k];
		if (!c.classes[k])
			continue;
		EXPECT_STR(view_cost_text(shown, &c, c.classes[k]),
			   base_scaled_quanta(closed, view_cost_scale(&c), c.classes[k],
					      c.quanta[k]));
	}
	EXPECT_INT(sum, base_quanta(view_cost_scale(&c), c.total));
	EXPECT(c.quanta[ANA_COMPUTE] + c.quanta[ANA_HOST_SYNC] !=
	       base_quanta(view_cost_scale(&c), amount[0]) +
		       base_quanta(view_cost_scale(&c), amount[2]));
	/* what is no class's is rounded by itself, and so are the sums */
	EXPECT_STR(view_cost_text(shown, &c, 1666665), "0.167 \302\242");
	EXPECT_STR(view_cost_text(shown, &c, c.wasted), "0.333 \302\242");
}

/* So do the shares of their time, however many fractions of a tenth there are. */
static void test_close_shares(void)
{
	uint64_t seed = t_seed(8);
	bool waste[ANA_CLASSES], starved[ANA_CLASSES];

	view_waste_default(waste);
	view_starved_set(starved);
	for (int round = 0; round < 5000; round++) {
		struct ana_result r = { 0 };
		int64_t tenths[ANA_CLASSES], all = 0, lost = 0, hungry = 0, wasted = 0, input = 0;

		for (int k = 0; k < ANA_CLASSES; k++) {
			r.classes[k] = (int64_t)(t_random(&seed) % 1000003);
			r.gpu_ns += r.classes[k];
			wasted += waste[k] ? r.classes[k] : 0;
			input += starved[k] ? r.classes[k] : 0;
		}
		view_shares_close(&r, waste, tenths);
		for (int k = 0; k < ANA_CLASSES; k++) {
			EXPECT(llabs(tenths[k] * 1000 - base_ppm(r.classes[k], r.gpu_ns)) <= 2000);
			all += tenths[k];
			lost += waste[k] ? tenths[k] : 0;
			hungry += starved[k] ? tenths[k] : 0;
		}
		EXPECT_INT(all, 1000);
		EXPECT_INT(lost, base_div_even(base_ppm(wasted, r.gpu_ns), 1000));
		EXPECT_INT(hungry, base_div_even(base_ppm(input, r.gpu_ns), 1000));
		r.gpu_ns /= 7; /* no document of ours */
		view_shares_close(&r, waste, tenths);
		EXPECT_INT(tenths[0], base_div_even(base_ppm(r.classes[0], r.gpu_ns), 1000));
	}
}

static void test_texts(void)
{
	base_unit u;

	EXPECT_STR(base_cents_of(u, 4686), "$46.86");
	EXPECT_STR(base_dollars_exact(u, 46860000000LL), "46.86");
	EXPECT_STR(base_dollars_exact(u, 1), "0.000000001");
	EXPECT_STR(base_dollars_exact(u, 7 * VIEW_NANO_USD), "7");
	EXPECT_STR(base_price_text(u, 2744700000LL), "$2.7447");
	EXPECT_STR(base_price_text(u, 2 * VIEW_NANO_USD), "$2.00");
	EXPECT_STR(base_price_text(u, 2463750000LL), "$2.46375"); /* of a list */
	EXPECT_STR(base_price_text(u, 1995000000LL), "$1.995"); /* half of $3.99 */
	EXPECT_STR(base_price_text(u, 306922770LL), "$0.307"); /* a part of $3.99 */
	EXPECT_STR(base_price_text(u, 33333333333LL), "$33.33"); /* a third of $100 */
	EXPECT_STR(base_price_text(u, 1234), "$0.00000123");
	EXPECT_STR(base_percent(u, 380951), "38.1");
	EXPECT_STR(base_percent_exact(u, 380951), "38.0951");
	EXPECT_STR(base_percent_exact(u, 1000000), "100");
	EXPECT_STR(base_duration(u, 8040 * 1000000000LL), "2 h 14 m");
	EXPECT_STR(base_duration(u, 12345000000LL), "12.3 s");
	EXPECT_STR(base_duration(u, 831000000), "831 ms");
	EXPECT_STR(base_duration(u, 95), "95 ns");
	EXPECT_STR(base_duration(u, 173000LL * 1000000000), "2 d 0 h");
	EXPECT_STR(base_duration_like(u, 6 * HOUR_NS, 120 * HOUR_NS), "6 h"); /* on one axis */
	EXPECT_STR(base_duration_like(u, 30 * HOUR_NS, 120 * HOUR_NS), "1 d 6 h");
	EXPECT_STR(base_duration_like(u, HOUR_NS / 2, 2 * HOUR_NS), "30 m");
	EXPECT_STR(base_duration_like(u, 30 * 1000000000LL, 120 * 1000000000LL), "30 s");
	EXPECT_STR(base_duration_like(u, 638000000, 2552000000LL), "0.6 s");
	EXPECT_STR(base_duration_like(u, 68000000, 272000000), "68 ms");
	EXPECT_STR(base_hours_exact(u, HOUR_NS / 3), "0.333333333");
	EXPECT_STR(base_bytes(u, 1500000000), "1.5 GB");
	EXPECT_STR(base_count(u, 1234567), "1,234,567");
	EXPECT_STR(base_day(u, 1794232931000000000LL), "2026-11-09");
}

int main(void)
{
	return RUN(test_parse, test_parse_bad, test_amount, test_half_even, test_compute,
		   test_unknown_price, test_close, test_equal_amounts, test_close_shares,
		   test_texts);
}
