/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - sums, products, extremes and averages of integers and floats down to 8 bits.
 */
#include "reduce.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "nccl.h"

/* ---- floats of few bits: sign, exponent, mantissa ---- */

struct format {
	int exponent, mantissa; /* bits */
	bool infinite; /* the largest exponent is kept for infinities and NaN */
};

static const struct format half = { 5, 10, true }, bfloat = { 8, 7, true }, e5m2 = { 5, 2, true },
			   e4m3 = { 4, 3, false };

static int bias(const struct format *f)
{
	return (1 << (f->exponent - 1)) - 1;
}

static uint32_t mask(int bits)
{
	return (1u << bits) - 1;
}

static bool is_nan(const struct format *f, uint32_t exponent, uint32_t mantissa)
{
	if (exponent != mask(f->exponent))
		return false;
	return f->infinite ? mantissa != 0 : mantissa == mask(f->mantissa);
}

static float widen(const struct format *f, uint32_t bits)
{
	uint32_t mantissa = bits & mask(f->mantissa);
	uint32_t exponent = bits >> f->mantissa & mask(f->exponent);
	float sign = bits >> (f->exponent + f->mantissa) & 1 ? -1.0f : 1.0f;

	if (is_nan(f, exponent, mantissa))
		return NAN;
	if (f->infinite && exponent == mask(f->exponent))
		return sign * INFINITY;
	if (!exponent)
		return sign * ldexpf((float)mantissa, 1 - bias(f) - f->mantissa);
	return sign *
	       ldexpf((float)(mantissa | 1u << f->mantissa), (int)exponent - bias(f) - f->mantissa);
}

/* Beyond the largest number: infinity, or the largest where there is none. */
static uint32_t overflow(const struct format *f)
{
	uint32_t top = mask(f->exponent) << f->mantissa;

	return f->infinite ? top : (top | mask(f->mantissa)) - 1;
}

/* To the nearest, ties to even. */
static uint32_t narrow(const struct format *f, float x)
{
	uint32_t sign = (signbit(x) ? 1u : 0u) << (f->exponent + f->mantissa), bits;
	int exponent;

	if (isnan(x))
		return sign | mask(f->exponent) << f->mantissa | mask(f->mantissa);
	if (isinf(x))
		return sign | overflow(f);
	x = fabsf(x);
	if (x == 0)
		return sign;
	frexpf(x, &exponent); /* x = [0.5, 1) * 2^exponent */
	exponent += bias(f) - 1;
	if (exponent < 1)
		exponent = 1; /* subnormal */
	bits = (uint32_t)nearbyintf(ldexpf(x, f->mantissa + bias(f) - exponent));
	/*
	 * The implied bit of a normal number adds the exponent's last 1; rounding up carries over.
	 */
	bits += (uint32_t)(exponent - 1) << f->mantissa;
	return sign | (bits > overflow(f) ? overflow(f) : bits);
}

/* ---- reductions ---- */

/*
 * Elements of `type`, added and multiplied as `wide` (integers wrap around, which signed ones may
 * not in C), compared and divided as they are.
 */
#define FOLD(name, type, wide)                                                                     \
	static type name##_two(type a, type b, int op)                                             \
	{                                                                                          \
		if (op == NCCL_PROD)                                                               \
			return (type)((wide)a * (wide)b);                                          \
		if (op == NCCL_MAX)                                                                \
			return a > b ? a : b;                                                      \
		if (op == NCCL_MIN)                                                                \
			return a < b ? a : b;                                                      \
		return (type)((wide)a + (wide)b);                                                  \
	}                                                                                          \
                                                                                                   \
	static void name(void *out, const void *const *from, uint32_t ranks, size_t count, int op) \
	{                                                                                          \
		type *to = out, a;                                                                 \
		uint32_t r;                                                                        \
		size_t i;                                                                          \
                                                                                                   \
		for (i = 0; i < count; i++) {                                                      \
			for (a = ((const type *)from[0])[i], r = 1; r < ranks; r++)                \
				a = name##_two(a, ((const type *)from[r])[i], op);                 \
			to[i] = op == NCCL_AVG ? (type)(a / (type)ranks) : a;                      \
		}                                                                                  \
	}

FOLD(fold_i8, int8_t, uint8_t)
FOLD(fold_u8, uint8_t, uint8_t)
FOLD(fold_i32, int32_t, uint32_t)
FOLD(fold_u32, uint32_t, uint32_t)
FOLD(fold_i64, int64_t, uint64_t)
FOLD(fold_u64, uint64_t, uint64_t)
FOLD(fold_f32, float, float)
FOLD(fold_f64, double, double)

/* Of the floats that C has no type for; NULL for others. */
static const struct format *format_of(int type)
{
	return type == NCCL_FLOAT16	  ? &half
	       : type == NCCL_BFLOAT16	  ? &bfloat
	       : type == NCCL_FLOAT8_E4M3 ? &e4m3
	       : type == NCCL_FLOAT8_E5M2 ? &e5m2
					  : NULL;
}

static float get(const struct format *f, const void *elements, size_t i)
{
	if (f->exponent + f->mantissa == 7)
		return widen(f, ((const uint8_t *)elements)[i]);
	return widen(f, ((const uint16_t *)elements)[i]);
}

static void put(const struct format *f, void *elements, size_t i, float x)
{
	if (f->exponent + f->mantissa == 7)
		((uint8_t *)elements)[i] = (uint8_t)narrow(f, x);
	else
		((uint16_t *)elements)[i] = (uint16_t)narrow(f, x);
}

static void fold_format(const struct format *f, void *out, const void *const *from, uint32_t ranks,
			size_t count, int op)
{
	uint32_t r;
	size_t i;
	float a;

	for (i = 0; i < count; i++) {
		for (a = get(f, from[0], i), r = 1; r < ranks; r++)
			a = fold_f32_two(a, get(f, from[r], i), op);
		put(f, out, i, op == NCCL_AVG ? a / (float)ranks : a);
	}
}

void nccl_reduce(void *out, const void *const *from, uint32_t ranks, size_t count, int type, int op)
{
	static void (*const fold[NCCL_TYPES])(void *, const void *const *, uint32_t, size_t,
					      int) = {
		[NCCL_INT8] = fold_i8,	   [NCCL_UINT8] = fold_u8,   [NCCL_INT32] = fold_i32,
		[NCCL_UINT32] = fold_u32,  [NCCL_INT64] = fold_i64,  [NCCL_UINT64] = fold_u64,
		[NCCL_FLOAT32] = fold_f32, [NCCL_FLOAT64] = fold_f64
	};

	if (fold[type])
		fold[type](out, from, ranks, count, op);
	else
		fold_format(format_of(type), out, from, ranks, count, op);
}

/* ---- scaling ---- */

#define SCALE(code, type, wide)                                                               \
	case code:                                                                            \
		for (i = 0; i < count; i++)                                                   \
			((type *)elements)[i] = (type)((wide)((type *)elements)[i] * (wide) * \
						       (const type *)scalar);                 \
		break

void nccl_scale(void *elements, size_t count, int type, const void *scalar)
{
	const struct format *f = format_of(type);
	size_t i;

	switch (type) {
		SCALE(NCCL_INT8, int8_t, uint8_t);
		SCALE(NCCL_UINT8, uint8_t, uint8_t);
		SCALE(NCCL_INT32, int32_t, uint32_t);
		SCALE(NCCL_UINT32, uint32_t, uint32_t);
		SCALE(NCCL_INT64, int64_t, uint64_t);
		SCALE(NCCL_UINT64, uint64_t, uint64_t);
		SCALE(NCCL_FLOAT32, float, float);
		SCALE(NCCL_FLOAT64, double, double);
	default:
		for (i = 0; i < count; i++)
			put(f, elements, i, get(f, elements, i) * get(f, scalar, 0));
	}
}
