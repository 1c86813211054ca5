/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal text to integers.
 */
#include "number.h"

#include <errno.h>
#include <stdbool.h>

#define NS_DIGITS 3 /* a microsecond has so many decimals above one nanosecond */

/* The parts of "-12.34e5". */
struct decimal {
	const char *whole, *fraction; /* digits */
	size_t wholes, fractions;
	int64_t exponent;
	bool negative;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && is_digit(p[n]))
		n++;
	return n;
}

/* An exponent beyond any sense is as good as a huge one. */
static bool read_exponent(const char *p, const char *end, int64_t *out)
{
	bool negative = p < end && *p == '-';
	size_t n;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	n = digits(p, end);
	if (!n || p + n != end)
		return false;
	for (*out = 0; p < end; p++)
		*out = *out > 100000 ? *out : *out * 10 + (*p - '0');
	if (negative)
		*out = -*out;
	return true;
}

static bool split(const char *p, const char *end, struct decimal *d)
{
	*d = (struct decimal){ .negative = p < end && *p == '-' };
	p += d->negative;
	d->whole = p;
	d->wholes = digits(p, end);
	p += d->wholes;
	if (p < end && *p == '.') {
		d->fraction = ++p;
		d->fractions = digits(p, end);
		p += d->fractions;
	}
	if (p < end && (*p == 'e' || *p == 'E'))
		return d->wholes + d->fractions && read_exponent(p + 1, end, &d->exponent);
	return p == end;
}

static int digit_at(const struct decimal *d, size_t i)
{
	if (i < d->wholes)
		return d->whole[i] - '0';
	i -= d->wholes;
	return i < d->fractions ? d->fraction[i] - '0' : 0;
}

/* The first @n digits as one number, zeros behind those that are there. */
static int take(const struct decimal *d, int64_t n, int64_t *out)
{
	int64_t v = 0, i;

	for (i = 0; i < n; i++) {
		if (v == 0 && (uint64_t)i >= d->wholes + d->fractions)
			break; /* zeros only: no need to count to a huge exponent */
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(
			    v, d->negative ? -digit_at(d, (size_t)i) : digit_at(d, (size_t)i), &v))
			return -ERANGE;
	}
	*out = v;
	return 0;
}

int view_import_ns(const char *text, size_t len, int64_t *ns)
{
	struct decimal d;

	if (!split(text, text + len, &d))
		return -EINVAL;
	return take(&d, (int64_t)d.wholes + d.exponent + NS_DIGITS, ns);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

int view_import_int(const char *text, size_t len, int64_t *value)
{
	const char *p = text, *end = text + len;
	struct decimal d = { .fractions = 0 };

	while (p < end && is_blank(*p))
		p++;
	while (end > p && is_blank(end[-1]))
		end--;
	d.negative = p < end && *p == '-';
	p += p < end && (*p == '-' || *p == '+');
	d.whole = p;
	d.wholes = digits(p, end);
	if (!d.wholes || p + d.wholes != end)
		return -EINVAL;
	return take(&d, (int64_t)d.wholes, value);
}
