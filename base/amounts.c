/* SPDX-License-Identifier: Apache-2.0 */
/* A scale is a quantum, which fixes unit and digits; all printing is of whole quanta. */
#include "amounts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000LL
#define NANO_PER_CENT 10000000LL
#define NANO_PER_LISTED 10000 /* five decimals of a dollar */
#define DIGITS3 1000 /* the first number with more than three digits */

#define CENT " \302\242" /* U+00A2 */

int64_t base_quanta(struct base_scale scale, base_wide amount)
{
	return base_div_even(amount, scale.quantum);
}

/*
 * The coarsest power of ten with which @v has three digits, from 1 to @most; false: even with that
 * it has more. @decimals: of the quantum 1.
 */
static bool three_digits(struct base_scale *s, base_wide v, int64_t most, int decimals)
{
	s->decimals = decimals;
	for (s->quantum = 1; s->quantum <= most; s->quantum *= 10, s->decimals--)
		if (base_quanta(*s, v) < DIGITS3)
			return true;
	return false;
}

struct base_scale base_money_scale(base_wide nano_usd)
{
	struct base_scale s = { .before = "", .after = CENT };
	base_wide v = base_wide_size(nano_usd);

	if (v && three_digits(&s, v, NANO_PER_CENT / 10, 7))
		return s;
	s = (struct base_scale){ NANO_PER_CENT, 2, "$", "" };
	if (base_quanta(s, v) >= 10000000)
		s = (struct base_scale){ 100 * NANO_PER_CENT, 0, "$", "" };
	return s;
}

struct base_scale base_gpu_time_scale(base_wide ns)
{
	static const struct base_scale coarse[] = {
		{ 6 * NS_PER_S / 10, 2, "", " GPU-minutes" },
		{ 6 * NS_PER_S, 1, "", " GPU-minutes" },
		{ 36 * NS_PER_S, 2, "", " GPU-hours" },
		{ 360 * NS_PER_S, 1, "", " GPU-hours" },
	};
	struct base_scale s = { .before = "", .after = " GPU-seconds" };
	base_wide v = base_wide_size(ns);

	if (!v)
		return (struct base_scale){ NS_PER_S / 10, 1, "", " GPU-seconds" };
	if (three_digits(&s, v, NS_PER_S / 10, 9) && base_div_even(v, NS_PER_S / 10) < 600)
		return s;
	if (base_quanta(coarse[0], v) < DIGITS3)
		return coarse[0];
	if (base_quanta(coarse[1], v) < 600)
		return coarse[1];
	if (base_quanta(coarse[2], v) < 100000)
		return coarse[2];
	if (base_quanta(coarse[3], v) < 100000)
		return coarse[3];
	return (struct base_scale){ 3600 * NS_PER_S, 0, "", " GPU-hours" };
}

/* Commas between thousands, a point before the last @decimals digits. */
static void put_digits(char *out, uint64_t quanta, int decimals)
{
	char digits[24], *p = out;
	int len = snprintf(digits, sizeof(digits), "%0*" PRIu64, decimals + 1, quanta);

	for (int i = 0; i < len; i++) {
		int left = len - i - decimals; /* digits before the point, this one with them */

		if (!left)
			*p++ = '.';
		else if (i && left > 0 && left % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
}

const char *base_scaled_quanta(char *out, struct base_scale scale, base_wide amount, int64_t quanta)
{
	bool hidden = amount && !quanta;
	base_unit digits;

	if (!amount && !quanta && !*scale.before)
		strcpy(digits, "0");
	else
		put_digits(digits, hidden ? 1 : (uint64_t)base_wide_size(quanta), scale.decimals);
	snprintf(out, BASE_UNIT_BYTES, "%s%s%s%.26s%.14s", hidden && amount > 0 ? "<" : "",
		 quanta < 0 || (hidden && amount < 0) ? "-" : "", scale.before, digits,
		 scale.after);
	return out;
}

const char *base_scaled(char *out, struct base_scale scale, base_wide amount)
{
	return base_scaled_quanta(out, scale, amount, base_quanta(scale, amount));
}

const char *base_money(char *out, base_wide nano_usd)
{
	return base_scaled(out, base_money_scale(nano_usd), nano_usd);
}

const char *base_gpu_time(char *out, base_wide ns)
{
	return base_scaled(out, base_gpu_time_scale(ns), ns);
}

const char *base_money_about(char *out, int64_t nano_usd)
{
	struct base_scale dollars = { 100 * NANO_PER_CENT, 0, "$", "" };

	if (base_quanta(dollars, base_wide_size(nano_usd)) < 100)
		return base_money(out, nano_usd);
	return base_scaled(out, dollars, nano_usd);
}

const char *base_money_ascii(char *out, int64_t nano_usd)
{
	struct base_scale s = base_money_scale(nano_usd);

	if (!*s.before && s.quantum < NANO_PER_CENT / 10)
		s = (struct base_scale){ s.quantum, s.decimals + 2, "$", "" };
	else if (!*s.before)
		s = (struct base_scale){ NANO_PER_CENT, 2, "$", "" };
	return base_scaled(out, s, nano_usd);
}

const char *base_price_text(char *out, int64_t nano_usd)
{
	struct base_scale s = base_money_scale(nano_usd);

	if (nano_usd % NANO_PER_LISTED == 0)
		return base_price_exact(out, nano_usd);
	if (!*s.before)
		s = (struct base_scale){ s.quantum, s.decimals + 2, "$", "" };
	return base_scaled(out, s, nano_usd);
}

int base_width(const char *text, int columns)
{
	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) == 0x80;
	return columns;
}

/*
 * The one whose printed amount is furthest below (@sign 1) or above (-1) what it is; -1: there is
 * none.
 */
static int furthest(const int64_t *amount, int n, int64_t quantum, const int64_t *quanta, int sign)
{
	int best = -1;
	__int128 most = 0;

	for (int i = 0; i < n; i++) {
		__int128 off = ((__int128)amount[i] - (__int128)quanta[i] * quantum) * sign;

		if (sign < 0 && quanta[i] <= 0)
			continue;
		if (best < 0 || off > most) {
			most = off;
			best = i;
		}
	}
	return best;
}

void base_close(const int64_t *amount, int n, int64_t total, int64_t quantum, int64_t *quanta)
{
	int64_t given = 0;
	int at;

	for (int i = 0; i < n; i++) {
		quanta[i] = amount[i] / quantum;
		given += quanta[i];
	}
	for (; given < total && (at = furthest(amount, n, quantum, quanta, 1)) >= 0; given++)
		quanta[at]++;
	for (; given > total && (at = furthest(amount, n, quantum, quanta, -1)) >= 0; given--)
		quanta[at]--;
}
