/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's reductions over floats of few bits: every pattern comes back as it was; sums round to the
 * nearest, ties to even, against the exact sum in double; what is too large.
 */
#include <math.h>

#include "harness.h"
#include "nccl/nccl.h"
#include "nccl/reduce.h"

struct kind {
	int type, bits, exponent, mantissa;
	bool infinite;
};

static const struct kind kinds[] = { { NCCL_FLOAT16, 16, 5, 10, true },
				     { NCCL_BFLOAT16, 16, 8, 7, true },
				     { NCCL_FLOAT8_E4M3, 8, 4, 3, false },
				     { NCCL_FLOAT8_E5M2, 8, 5, 2, true } };

/*
 * The pattern's value, worked out apart from reduce.c; NAN for those that are none, infinities too.
 */
static double value(const struct kind *k, uint32_t bits)
{
	uint32_t mantissa = bits & ((1u << k->mantissa) - 1), top = (1u << k->exponent) - 1;
	uint32_t exponent = bits >> k->mantissa & top;
	double m = mantissa / pow(2, k->mantissa);
	double sign = bits >> (k->bits - 1) ? -1 : 1;
	int bias = (1 << (k->exponent - 1)) - 1;

	if (exponent == top && (k->infinite || mantissa == (1u << k->mantissa) - 1))
		return NAN;
	return sign * (exponent ? (1 + m) * pow(2, (int)exponent - bias) : m * pow(2, 1 - bias));
}

static uint32_t fold(const struct kind *k, uint32_t a, uint32_t b, uint32_t ranks, int op)
{
	uint16_t wide[3] = { (uint16_t)a, (uint16_t)b, 0 };
	uint8_t narrow[3] = { (uint8_t)a, (uint8_t)b, 0 };
	const void *from_wide[2] = { &wide[0], &wide[1] },
		   *from_narrow[2] = { &narrow[0], &narrow[1] };

	nccl_reduce(&wide[2], from_wide, ranks, 1, k->bits == 16 ? k->type : NCCL_UINT8, op);
	if (k->bits == 16)
		return wide[2];
	nccl_reduce(&narrow[2], from_narrow, ranks, 1, k->type, op);
	return narrow[2];
}

static void test_every_pattern(void)
{
	size_t i;
	uint32_t bits;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		for (bits = 0; bits < 1u << kinds[i].bits; bits++)
			if (!isnan(value(&kinds[i], bits)))
				EXPECT_UINT(fold(&kinds[i], bits, 0, 1, NCCL_SUM), bits);
}

/* Neither neighbour is nearer; and where one is as near, this one is even. */
static bool nearest(const struct kind *k, uint32_t got, double exact)
{
	double mine = fabs(value(k, got) - exact);
	uint32_t neighbour[2] = { got + 1, got - 1 };
	int i;

	for (i = 0; i < 2; i++) {
		double other = fabs(value(k, neighbour[i] & ((1u << k->bits) - 1)) - exact);

		if (!isnan(other) && (other < mine || (other == mine && got & 1)))
			return false;
	}
	return true;
}

static void test_rounding(void)
{
	uint64_t random = t_seed(1);
	size_t i;
	int n;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		for (n = 0; n < 20000; n++) {
			const struct kind *k = &kinds[i];
			uint32_t a = (uint32_t)t_random(&random) >> (33 - k->bits);
			uint32_t b = (uint32_t)t_random(&random) >> (33 - k->bits);
			double exact = value(k, a) + value(k, b);
			uint32_t got = fold(k, a, b, 2, NCCL_SUM);

			if (isnan(exact) || isnan(value(k, got)))
				continue; /* too large: below */
			if ((float)exact == exact && !nearest(k, got, exact))
				T_FAIL("type %d: %x + %x = %x", k->type, a, b, got);
		}
}

static void test_too_large(void)
{
	EXPECT_UINT(fold(&kinds[0], 0x7bff, 0x7bff, 2, NCCL_SUM), 0x7c00);
	EXPECT_UINT(fold(&kinds[0], 0xfbff, 0xfbff, 2, NCCL_SUM), 0xfc00);
	EXPECT_UINT(fold(&kinds[0], 0x7c00, 0x3c00, 2, NCCL_SUM), 0x7c00);
	EXPECT_UINT(fold(&kinds[1], 0x7f7f, 0x7f7f, 2, NCCL_SUM), 0x7f80);
	EXPECT_UINT(fold(&kinds[2], 0x7e, 0x7e, 2, NCCL_SUM), 0x7e); /* it has no infinity */
	EXPECT_UINT(fold(&kinds[3], 0x7b, 0x7b, 2, NCCL_SUM), 0x7c);
	EXPECT(isnan(value(&kinds[0], fold(&kinds[0], 0x7e01, 0x3c00, 2, NCCL_SUM))));
}

static void test_whole_numbers(void)
{
	int8_t a = -128, b = -1, c = 0;
	const void *from[2] = { &a, &b };
	int32_t n[2] = { INT32_MIN, 7 };

	nccl_reduce(&c, from, 2, 1, NCCL_INT8, NCCL_SUM);
	EXPECT_INT(c, 127); /* around */
	nccl_reduce(&c, from, 2, 1, NCCL_UINT8, NCCL_MIN);
	EXPECT_INT((uint8_t)c, 128);
	nccl_reduce(&c, from, 2, 1, NCCL_INT8, NCCL_MAX);
	EXPECT_INT(c, -1);
	nccl_scale(n, 2, NCCL_INT32, &(int32_t){ -1 });
	EXPECT_INT(n[0], INT32_MIN);
	EXPECT_INT(n[1], -7);
}

int main(void)
{
	return RUN(test_every_pattern, test_rounding, test_too_large, test_whole_numbers);
}
