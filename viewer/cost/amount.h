/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dollars, exactly. Amounts are int64 nano-dollars (1e-9 USD); prices are int64 nano-dollars per
 * GPU-hour, read from decimal text and never through a double.
 */
#ifndef VIEW_AMOUNT_H
#define VIEW_AMOUNT_H

#include <stdint.h>

#define VIEW_NANO_USD 1000000000LL

/* price x ns / 3.6e12, rounded half to even. Exact for any int64 inputs (128 bits inside). */
int64_t view_cost_amount(int64_t nano_usd_per_hour, int64_t ns);

/* Adds @usd to *sum; beyond what int64 holds (nine billion dollars) the sum stays there. */
void view_cost_add(int64_t *sum, int64_t usd);

/*
 * "6.88" to nano-dollars; 0, -EINVAL (not a decimal, negative) or -ERANGE (over 9 decimals or 1e9).
 */
int view_cost_parse(const char *text, int64_t *nano_usd);

#endif
