/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers.h"

#include <errno.h>

#define HOUR_NS (3600 * 1000000000LL)

int64_t live_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum) || sum > LIVE_NUMBER_MAX)
		return LIVE_NUMBER_MAX;
	return sum;
}

int64_t live_count(uint64_t v)
{
	return v > LIVE_NUMBER_MAX ? LIVE_NUMBER_MAX : (int64_t)v;
}

int64_t live_ppm(int64_t part, int64_t whole)
{
	if (whole <= 0 || part <= 0)
		return 0;
	if (part >= whole)
		return 1000000;
	return (int64_t)(((__int128)part * 1000000 + whole / 2) / whole);
}

int64_t live_amount(int64_t nano_usd_per_hour, int64_t ns)
{
	__int128 v = (__int128)nano_usd_per_hour * ns / HOUR_NS;

	return v > LIVE_NUMBER_MAX ? LIVE_NUMBER_MAX : (int64_t)v;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int live_decimal(const char **text, int64_t scale, int64_t max, int64_t *out)
{
	const char *p = *text;
	__int128 v = 0;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		v = v * 10 + (*p - '0') * (__int128)scale;
		if (v > max)
			return -ERANGE;
	}
	if (*p == '.') {
		if (!is_digit(*++p))
			return -EINVAL;
		for (; is_digit(*p); p++) {
			if (scale == 1 && *p != '0')
				return -ERANGE;
			if (scale == 1)
				continue;
			scale /= 10;
			v += (*p - '0') * scale;
		}
	}
	if (v > max)
		return -ERANGE;
	*text = p;
	*out = (int64_t)v;
	return 0;
}
