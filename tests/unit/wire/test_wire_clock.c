/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock points: conversion by the nearest, steps found, slow readings not taken for steps.
 */
#include "harness.h"
#include "wire/clock.h"

#define S 1000000000ll

static void test_convert(void)
{
	struct wire_clock_point p[] = {
		{ .monotonic_ns = 10 * S, .cupti_ns = 1010 * S },
		{ .monotonic_ns = 20 * S, .cupti_ns = 1020 * S + 7 },
		{ .monotonic_ns = 30 * S, .cupti_ns = 1031 * S },
	};

	EXPECT_INT(wire_clock_from_monotonic(p, 1, 0), 1000 * S);
	EXPECT_INT(wire_clock_from_monotonic(p, 3, 10 * S), 1010 * S);
	EXPECT_INT(wire_clock_from_monotonic(p, 3, 15 * S), 1015 * S);
	EXPECT_INT(wire_clock_from_monotonic(p, 3, 15 * S + 1), 1015 * S + 8);
	EXPECT_INT(wire_clock_from_monotonic(p, 3, 26 * S), 1027 * S);
	EXPECT_INT(wire_clock_from_monotonic(p, 3, 99 * S), 1100 * S);
	EXPECT_INT(wire_clock_from_monotonic(p, 3, INT64_MIN), INT64_MIN + 1000 * S);
}

static void test_steps(void)
{
	struct wire_clock_point p[] = {
		{ .monotonic_ns = 1 * S, .cupti_ns = 101 * S, .width_ns = 100 },
		{ .monotonic_ns = 2 * S, .cupti_ns = 102 * S + 900000, .width_ns = 100 },
		{ .monotonic_ns = 3 * S, .cupti_ns = 203 * S, .width_ns = 100 },
		{ .monotonic_ns = 4 * S, .cupti_ns = 204 * S + 5000000, .width_ns = 12000000 },
		{ .monotonic_ns = 5 * S, .cupti_ns = 55 * S, .width_ns = 100 },
	};
	struct wire_clock_step s[2];

	EXPECT_UINT(wire_clock_steps(p, 5, s, 2), 2);
	EXPECT_INT(s[0].before_ns, 102 * S + 900000);
	EXPECT_INT(s[0].after_ns, 203 * S);
	EXPECT_INT(s[0].step_ns, 100 * S - 900000);
	EXPECT_INT(s[1].step_ns, -150 * S - 5000000);
	EXPECT_UINT(wire_clock_steps(p, 5, s, 0), 2);
	EXPECT_UINT(wire_clock_steps(p, 1, s, 2), 0);
	EXPECT_UINT(wire_clock_steps(p, 0, s, 2), 0);
}

static void test_wild(void)
{
	struct wire_clock_point p[] = {
		{ .monotonic_ns = INT64_MIN, .cupti_ns = INT64_MAX, .width_ns = INT64_MIN },
		{ .monotonic_ns = INT64_MAX, .cupti_ns = INT64_MIN, .width_ns = INT64_MAX },
	};
	struct wire_clock_step s[1];

	wire_clock_from_monotonic(p, 2, 0);
	wire_clock_steps(p, 2, s, 1);
	EXPECT(1);
}

int main(void)
{
	return RUN(test_convert, test_steps, test_wild);
}
