/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal text to nanoseconds and ids: exact, cut off below a nanosecond, never rounded.
 */
#include "import/number.h"

#include <errno.h>
#include "harness.h"

static void expect_ns(const char *text, int64_t want)
{
	int64_t ns = INT64_MIN;
	int err = view_import_ns(text, strlen(text), &ns);

	if (err || ns != want)
		T_FAIL("\"%s\" is %" PRId64 " ns (%d), not %" PRId64, text, ns, err, want);
}

static void expect_no_ns(const char *text, int want)
{
	int64_t ns;
	int err = view_import_ns(text, strlen(text), &ns);

	if (err != want)
		T_FAIL("\"%s\" gives %d, not %d", text, err, want);
}

static void test_plain(void)
{
	expect_ns("0", 0);
	expect_ns("", 0);
	expect_ns("12", 12000);
	expect_ns("1683564902133354", 1683564902133354000);
	expect_ns("1712195495505543.140", 1712195495505543140);
	expect_ns("1.5", 1500);
	expect_ns(".5", 500);
	expect_ns("7.", 7000);
}

static void test_cut_off(void)
{
	expect_ns("0.0019", 1);
	expect_ns("0.000999", 0);
	expect_ns("-0.0019", -1);
	expect_ns("-0.0009", 0);
	expect_ns("-1990.0009", -1990000);
	expect_ns("1.99999999999999999999999999", 1999);
}

static void test_exponents(void)
{
	expect_ns("1e3", 1000000);
	expect_ns("1E+3", 1000000);
	expect_ns("25e-1", 2500);
	expect_ns("2.5E-4", 0);
	expect_ns("1.712195495505700123E15", 1712195495505700123);
	expect_ns("-1e3", -1000000);
	expect_ns("0e999999999999999999999", 0);
	expect_ns("1e-999999999999999999999", 0);
}

static void test_range(void)
{
	expect_ns("9223372036854775.807", INT64_MAX);
	expect_ns("-9223372036854775.808", INT64_MIN);
	expect_no_ns("9223372036854775.808", -ERANGE);
	expect_no_ns("-9223372036854775.809", -ERANGE);
	expect_no_ns("1e999", -ERANGE);
	expect_no_ns("1e99999999999999999999", -ERANGE);
	expect_no_ns("123456789012345678901234567890", -ERANGE);
}

static void test_no_number(void)
{
	expect_no_ns("x", -EINVAL);
	expect_no_ns("1x", -EINVAL);
	expect_no_ns("1.5.2", -EINVAL);
	expect_no_ns("1e", -EINVAL);
	expect_no_ns("e5", -EINVAL);
	expect_no_ns("--1", -EINVAL);
	expect_no_ns(" 1", -EINVAL);
	expect_no_ns("NaN", -EINVAL);
}

static void expect_int(const char *text, int want_err, int64_t want)
{
	int64_t v = 0;
	int err = view_import_int(text, strlen(text), &v);

	if (err != want_err || (!err && v != want))
		T_FAIL("\"%s\" is %" PRId64 " (%d)", text, v, err);
}

static void test_ids(void)
{
	expect_int("25738", 0, 25738);
	expect_int(" 7\t", 0, 7);
	expect_int("+7", 0, 7);
	expect_int("-1", 0, -1);
	expect_int("007", 0, 7);
	expect_int("9223372036854775807", 0, INT64_MAX);
	expect_int("-9223372036854775808", 0, INT64_MIN);
	expect_int("9223372036854775808", -ERANGE, 0);
	expect_int("stream 7", -EINVAL, 0);
	expect_int("7.0", -EINVAL, 0);
	expect_int("", -EINVAL, 0);
	expect_int("-", -EINVAL, 0);
	expect_int("7 8", -EINVAL, 0);
}

int main(void)
{
	return RUN(test_plain, test_cut_off, test_exponents, test_range, test_no_number, test_ids);
}
