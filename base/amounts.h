/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Money and GPU time at every scale: which unit and how many digits, chosen here for every page.
 * Three digits that count at least, from a nano-dollar to billions of dollars and from a nanosecond
 * to centuries. Amounts that stand beside their sum take the sum's scale and are closed, so that
 * what is printed adds up. Integers only. Amounts may be up to BASE_WIDE_MAX either way. Any
 * thread.
 *
 *     dollars   from $100,000 whole ones, from $1 with cents, below in cents: "43.2 ¢", "0.432 ¢"
 *     GPU time  from 1 h in GPU-hours ("17.87 GPU-hours", from 1,000 with a digit less, from 10,000 whole ones), from 1 min in
 *               GPU-minutes, below in GPU-seconds
 */
#ifndef BASE_AMOUNTS_H
#define BASE_AMOUNTS_H

#include <stdint.h>
#include "units.h"

struct base_scale {
	int64_t quantum; /* what one of the last digit is: nano-dollars, or ns */
	int decimals;
	const char *before, *after; /* "$", " ¢", " GPU-hours" */
};

/* That fits this amount, or the largest of several. 0 is dollars and cents, or GPU-seconds. */
struct base_scale base_money_scale(base_wide nano_usd);
struct base_scale base_gpu_time_scale(base_wide ns);

/* Whole quanta of an amount, half to even. */
int64_t base_quanta(struct base_scale scale, base_wide amount);

/*
 * As text: "$1,234.56"; "<$0.01" where it would show as nothing. The second: so many quanta of it.
 */
const char *base_scaled(char *out, struct base_scale scale, base_wide amount);
const char *base_scaled_quanta(char *out, struct base_scale scale, base_wide amount,
			       int64_t quanta);

/* In a scale of its own. */
const char *base_money(char *out, base_wide nano_usd);
const char *base_gpu_time(char *out, base_wide ns);

/* Of what is only projected: from $100 whole dollars. */
const char *base_money_about(char *out, int64_t nano_usd);

/*
 * Without the cent sign, beside a price and for terminals whose letters nobody knows: "$0.43",
 * "$0.00432".
 */
const char *base_money_ascii(char *out, int64_t nano_usd);

/*
 * A price as lists have it: "$6.88", "$2.46375". One with more than five decimals comes of a
 * division (a part of a GPU, a third of a machine) and has three digits that count: "$0.307".
 */
const char *base_price_text(char *out, int64_t nano_usd);

/*
 * The width for printf's %*s that fills @text up to @columns: a cent sign has more bytes than
 * columns.
 */
int base_width(const char *text, int columns);

/*
 * Quanta of @n amounts that sum to @total: each is cut, and what is missing goes to the largest
 * fractions, the earlier of equals; what is too much goes from the smallest that have any.
 */
void base_close(const int64_t *amount, int n, int64_t total, int64_t quantum, int64_t *quanta);

#endif
