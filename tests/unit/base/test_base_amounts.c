/* SPDX-License-Identifier: Apache-2.0 */
/* Money and GPU time at every scale: digits, units, and sums that look like sums. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/amounts.h"
#include "harness.h"

#define USD 1000000000LL
#define HOUR (3600 * USD)

static void test_money(void)
{
	static const struct {
		int64_t nano;
		const char *text, *ascii, *about;
	} row[] = {
		{ 0, "$0.00", "$0.00", "$0.00" },
		{ 1, "0.0000001 \302\242", "$0.000000001", "0.0000001 \302\242" },
		{ 999, "0.0000999 \302\242", "$0.000000999", "0.0000999 \302\242" },
		{ 1000, "0.000100 \302\242", "$0.00000100", "0.000100 \302\242" },
		{ 4300000, "0.430 \302\242", "$0.00430", "0.430 \302\242" },
		{ 9994999, "0.999 \302\242", "$0.00999", "0.999 \302\242" },
		{ 9995001, "1.00 \302\242", "$0.0100", "1.00 \302\242" },
		{ 5543056, "0.554 \302\242", "$0.00554", "0.554 \302\242" },
		{ 99949999, "9.99 \302\242", "$0.0999", "9.99 \302\242" },
		{ 432100000, "43.2 \302\242", "$0.43", "43.2 \302\242" },
		{ 999499999, "99.9 \302\242", "$1.00", "99.9 \302\242" },
		{ 999500001, "$1.00", "$1.00", "$1.00" },
		{ 1435000001, "$1.44", "$1.44", "$1.44" },
		{ 46860000000, "$46.86", "$46.86", "$46.86" },
		{ 99495000000, "$99.50", "$99.50", "$99.50" },
		{ 99995000000, "$100.00", "$100.00", "$100" },
		{ 1034560000000, "$1,034.56", "$1,034.56", "$1,035" },
		{ 99999 * USD, "$99,999.00", "$99,999.00", "$99,999" },
		{ 100000 * USD, "$100,000", "$100,000", "$100,000" },
		{ 1234567 * USD, "$1,234,567", "$1,234,567", "$1,234,567" },
		{ INT64_MAX, "$9,223,372,037", "$9,223,372,037", "$9,223,372,037" },
		{ -4300000, "-0.430 \302\242", "-$0.00430", "-0.430 \302\242" },
		{ INT64_MIN, "-$9,223,372,037", "-$9,223,372,037", "-$9,223,372,037" },
	};
	base_unit u;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		EXPECT_STR(base_money(u, row[i].nano), row[i].text);
		EXPECT_STR(base_money_ascii(u, row[i].nano), row[i].ascii);
		EXPECT_STR(base_money_about(u, row[i].nano), row[i].about);
	}
}

static void test_gpu_time(void)
{
	base_unit u;

	EXPECT_STR(base_gpu_time(u, 0), "0 GPU-seconds");
	EXPECT_STR(base_gpu_time(u, 1), "0.000000001 GPU-seconds");
	EXPECT_STR(base_gpu_time(u, 431000000), "0.431 GPU-seconds");
	EXPECT_STR(base_gpu_time(u, 5 * USD), "5.00 GPU-seconds");
	EXPECT_STR(base_gpu_time(u, 59940000000), "59.9 GPU-seconds");
	EXPECT_STR(base_gpu_time(u, 59960000000), "1.00 GPU-minutes");
	EXPECT_STR(base_gpu_time(u, 300 * USD), "5.00 GPU-minutes");
	EXPECT_STR(base_gpu_time(u, 2400 * USD), "40.0 GPU-minutes");
	EXPECT_STR(base_gpu_time(u, HOUR - USD), "1.00 GPU-hours");
	EXPECT_STR(base_gpu_time(u, 64332 * USD), "17.87 GPU-hours");
	EXPECT_STR(base_gpu_time(u, 1000 * HOUR - 19 * USD), "999.99 GPU-hours");
	EXPECT_STR(base_gpu_time(u, 1234 * HOUR), "1,234.0 GPU-hours");
	EXPECT_STR(base_gpu_time(u, 39917 * HOUR - 720 * USD), "39,917 GPU-hours");
	EXPECT_STR(base_gpu_time(u, 2412345 * HOUR), "2,412,345 GPU-hours");
	EXPECT_STR(base_gpu_time(u, INT64_MAX), "2,562,048 GPU-hours");
}

static void test_scale_of_the_sum(void)
{
	struct base_scale s = base_money_scale(5543056); /* 0.554 ¢ */
	base_unit u;

	EXPECT_STR(base_scaled(u, s, 1396000), "0.140 \302\242");
	EXPECT_STR(base_scaled(u, s, 499), "<0.001 \302\242");
	EXPECT_STR(base_scaled(u, s, -499), "-0.001 \302\242");
	EXPECT_STR(base_scaled(u, s, 0), "0 \302\242");
	EXPECT_STR(base_scaled(u, base_money_scale(2 * USD), 1), "<$0.01");
	EXPECT_STR(base_scaled(u, base_money_scale(2 * USD), 0), "$0.00");
	EXPECT_STR(base_scaled(u, base_money_scale(200000 * USD), 1), "<$1");
	EXPECT_INT(base_width("0.140 \302\242", 11), 12);
	EXPECT_INT(base_width("$1.00", 11), 11);
}

/* Digits of a text as a number, and how many of them count. */
static double number(const char *text, int *digits)
{
	char plain[64];
	int n = 0;
	bool begun = false;

	*digits = 0;
	for (; *text; text++) {
		if ((*text >= '0' && *text <= '9') || *text == '.')
			plain[n++] = *text;
		begun |= *text >= '1' && *text <= '9';
		*digits += begun && *text >= '0' && *text <= '9';
	}
	plain[n] = '\0';
	return strtod(plain, NULL);
}

static double unit_of(const char *text)
{
	return strstr(text, "\302\242")	     ? 1e7
	       : strstr(text, "GPU-seconds") ? 1e9
	       : strstr(text, "GPU-minutes") ? 60e9
	       : strstr(text, "GPU-hours")   ? 3600e9
					     : 1e9;
}

/*
 * From a nano-dollar to millions: never off by more than half a percent, never without three
 * digits.
 */
static void test_fifteen_orders(void)
{
	uint64_t seed = t_seed(19);
	base_unit u;
	int digits;

	for (int round = 0; round < 20000; round++) {
		int64_t v = 1;
		for (int k = (int)(t_random(&seed) % 18); k > 0; k--)
			v *= 10;
		v += (int64_t)(t_random(&seed) % (uint64_t)(8 * v) + 1) - 1;
		for (int kind = 0; kind < 4; kind++) {
			const char *text = kind == 0   ? base_money(u, v)
					   : kind == 1 ? base_money_ascii(u, v)
					   : kind == 2 ? base_money_about(u, v)
						       : base_gpu_time(u, v);
			double shown = number(text, &digits) * unit_of(text);
			double off = (double)v * 0.00501;
			if (kind == 1 && v < USD && v > USD / 20) /* cents, two digits */
				off = 5010000;
			EXPECT(v < 1000 || digits >= (kind == 1 ? 2 : 3));
			EXPECT(shown >= (double)v - off && shown <= (double)v + off);
			EXPECT(strlen(text) <= 26);
		}
	}
}

/* At every scale: what is printed beside its sum adds up, and no part is off by a digit. */
static void test_close(void)
{
	uint64_t seed = t_seed(7);

	for (int round = 0; round < 5000; round++) {
		int64_t amount[12], quanta[12], sum = 0, shown = 0, most = 10;
		for (int k = (int)(t_random(&seed) % 15); k > 0; k--)
			most *= 10;
		for (int i = 0; i < 12; i++) {
			amount[i] = t_random(&seed) % 4
					    ? (int64_t)(t_random(&seed) % (uint64_t)most)
					    : 0;
			sum += amount[i];
		}
		struct base_scale s = base_money_scale(sum);
		base_close(amount, 12, base_quanta(s, sum), s.quantum, quanta);
		for (int i = 0; i < 12; i++) {
			shown += quanta[i];
			EXPECT(quanta[i] * s.quantum <= amount[i] + s.quantum);
			EXPECT(quanta[i] * s.quantum > amount[i] - s.quantum);
		}
		EXPECT_INT(shown, base_quanta(s, sum));
	}
}

/*
 * A total that is rounded below what the parts say, or far above: all of it is given, nothing
 * twice.
 */
static void test_close_strained(void)
{
	int64_t amount[3] = { 10, 20, 30 }, quanta[3];

	base_close(amount, 3, 5, 10, quanta);
	EXPECT_INT(quanta[0] + quanta[1] + quanta[2], 5);
	base_close(amount, 3, 8, 10, quanta);
	EXPECT_INT(quanta[0] + quanta[1] + quanta[2], 8);
	base_close(amount, 3, 0, 10, quanta);
	EXPECT_INT(quanta[0] + quanta[1] + quanta[2], 0);
	base_close(amount, 0, 3, 10, quanta);
}

int main(void)
{
	return RUN(test_money, test_gpu_time, test_scale_of_the_sum, test_fifteen_orders,
		   test_close, test_close_strained);
}
