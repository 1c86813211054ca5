/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic and snprintf; no double ever carries a time or an amount. */
#include "units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000LL

base_wide base_div_even_wide(base_wide num, base_wide den)
{
	base_wide q = num / den, rest = num % den;

	if (rest < 0) { /* floor, so that the rest is the part above q */
		q--;
		rest += den;
	}
	if (rest * 2 > den || (rest * 2 == den && (q & 1)))
		q++;
	return q;
}

int64_t base_div_even(base_wide num, base_wide den)
{
	base_wide q = base_div_even_wide(num, den);

	return q > INT64_MAX ? INT64_MAX : q < INT64_MIN ? INT64_MIN : (int64_t)q;
}

int64_t base_ppm(base_wide part, base_wide whole)
{
	return whole > 0 ? base_div_even(part * 1000000, whole) : 0;
}

const char *base_wide_text(char *out, base_wide v)
{
	unsigned __int128 left = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
	char digits[BASE_UNIT_BYTES], *p = digits + sizeof(digits);

	*--p = '\0';
	do
		*--p = (char)('0' + (int)(left % 10));
	while ((left /= 10) != 0);
	if (v < 0)
		*--p = '-';
	return strcpy(out, p);
}

/* value / 10^decimals with exactly @keep decimals, half to even. */
static const char *fixed(char *out, base_wide value, int decimals, int keep)
{
	int64_t cut = 1, scale = 1;

	for (int i = keep; i < decimals; i++)
		cut *= 10;
	for (int i = 0; i < keep; i++)
		scale *= 10;
	base_wide v = base_div_even_wide(value, cut), whole = v / scale;
	int64_t rest = (int64_t)(v % scale);

	base_wide_text(out, whole);
	if (v < 0 && !whole)
		strcpy(out, "-0");
	if (keep) {
		size_t len = strlen(out);
		snprintf(out + len, BASE_UNIT_BYTES - len, ".%0*" PRId64, keep,
			 rest < 0 ? -rest : rest);
	}
	return out;
}

/* Drops zeros behind the point, and the point, but keeps @least decimals. */
static const char *trim(char *out, int least)
{
	char *point = strchr(out, '.');

	if (!point)
		return out;
	char *end = out + strlen(out);
	while (end - point - 1 > least && end[-1] == '0')
		*--end = '\0';
	if (end - point == 1)
		*point = '\0';
	return out;
}

static const char *with_unit(char *out, int64_t value, int decimals, int keep, const char *unit)
{
	fixed(out, value, decimals, keep);
	size_t len = strlen(out);
	snprintf(out + len, BASE_UNIT_BYTES - len, " %s", unit);
	return out;
}

struct whole { /* seconds, minutes and hours, each rounded from the one before */
	int64_t s, m, h;
};

static struct whole whole_of(int64_t ns)
{
	struct whole w = { .s = base_div_even(ns, NS_PER_S) };

	w.m = base_div_even(w.s, 60);
	w.h = base_div_even(w.m, 60);
	return w;
}

/* The larger is left out where there is none of it. */
static const char *two_units(char *out, int64_t all, int64_t each, const char *b, const char *s)
{
	int n = 0;

	if (all >= each)
		n = snprintf(out, BASE_UNIT_BYTES, "%" PRId64 " %s ", all / each, b);
	snprintf(out + n, BASE_UNIT_BYTES - (size_t)n, "%" PRId64 " %s", all % each, s);
	return out;
}

const char *base_duration_like(char *out, int64_t ns, int64_t like)
{
	struct whole is = whole_of(ns), as = whole_of(like);

	if (as.h >= 48)
		return two_units(out, is.h, 24, "d", "h");
	if (as.s >= 3600)
		return two_units(out, is.m, 60, "h", "m");
	if (as.s >= 120)
		return two_units(out, is.s, 60, "m", "s");
	if (like >= 999950000)
		return with_unit(out, ns, 9, 1, "s");
	if (like >= 100 * 1000000LL)
		return with_unit(out, ns, 6, 0, "ms");
	if (like >= 999950)
		return with_unit(out, ns, 6, 1, "ms");
	if (like >= 1000)
		return with_unit(out, ns, 3, 1, "us");
	return with_unit(out, ns, 0, 0, "ns");
}

const char *base_duration(char *out, int64_t ns)
{
	return base_duration_like(out, ns, ns);
}

const char *base_percent(char *out, int64_t ppm)
{
	return fixed(out, ppm, 4, 1);
}

const char *base_percent_exact(char *out, int64_t ppm)
{
	fixed(out, ppm, 4, 4);
	return trim(out, 0);
}

const char *base_cents_of(char *out, int64_t cents)
{
	snprintf(out, BASE_UNIT_BYTES, "$%" PRId64 ".%02" PRId64, cents / 100, cents % 100);
	return out;
}

const char *base_dollars_exact(char *out, base_wide nano_usd)
{
	fixed(out, nano_usd, 9, 9);
	return trim(out, 0);
}

const char *base_price_exact(char *out, int64_t nano_usd)
{
	base_unit digits;

	fixed(digits, nano_usd, 9, 9);
	trim(digits, 2);
	snprintf(out, BASE_UNIT_BYTES, "$%.40s", digits);
	return out;
}

const char *base_hours_exact(char *out, base_wide ns)
{
	fixed(out, base_div_even_wide(ns, 3600), 9, 9);
	return trim(out, 0);
}

const char *base_bytes(char *out, uint64_t bytes)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	uint64_t scale = 1;
	int u = 0;

	while (u < 6 && bytes / scale >= 1000) {
		scale *= 1000;
		u++;
	}
	if (!u)
		return with_unit(out, (int64_t)bytes, 0, 0, unit[0]);
	return with_unit(out, base_div_even((__int128)bytes * 10, scale), 1, 1, unit[u]);
}

const char *base_count(char *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *p = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return out;
}

/* False: no such time. */
static bool utc(struct tm *tm, int64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / NS_PER_S);

	return gmtime_r(&t, tm) != NULL;
}

const char *base_day(char *out, int64_t unix_ns)
{
	struct tm tm;

	out[0] = '\0';
	if (utc(&tm, unix_ns))
		strftime(out, BASE_UNIT_BYTES, "%Y-%m-%d", &tm);
	return out;
}

const char *base_moment(char *out, int64_t unix_ns)
{
	struct tm tm;

	out[0] = '\0';
	if (utc(&tm, unix_ns))
		strftime(out, BASE_UNIT_BYTES, "%Y-%m-%d %H:%M:%S UTC", &tm);
	return out;
}
