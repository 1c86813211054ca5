/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One currency of the site's choice, in which a fleet is shown beside dollars. Its rate is given,
 * with a source and a date, never looked up, and holds for all that is shown. Amounts are converted
 * as sums, each once and half to even, to a billionth of the currency's unit; cents close as
 * dollars' do. Prices, budgets and the store stay in dollars.
 *
 * The file is CSV, lines that begin with # are comments:
 *
 *     currency,per_usd,source,date
 *     EUR,0.8612,ECB reference rate,2026-11-27
 */
#ifndef FLEET_CURRENCY_H
#define FLEET_CURRENCY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/amounts.h"
#include "base/jsonout.h"

#define FLEET_CURRENCY_SITE_FILE "/etc/gpustarve/currency.csv"

struct fleet_currency {
	char code[4]; /* EUR; "": dollars alone */
	int64_t nano_per_usd;
	char source[80], date[16];
};

/*
 * Of @file; NULL: of GPUSTARVE_CURRENCY, else of the site file, if there is one. "none" is dollars.
 * 0, or negative errno, said: a row without a rate, source or date is no row, and several are no
 * choice.
 */
int fleet_currency_read(struct fleet_currency *c, const char *file);

bool fleet_currency_chosen(const struct fleet_currency *c); /* NULL: no */

/* Nano-dollars to billionths of its unit. */
base_wide fleet_currency_of(const struct fleet_currency *c, base_wide nano_usd);

/* "0.8612" */
const char *fleet_currency_rate(char *out, const struct fleet_currency *c);

/* A scale of dollars as one of it: "EUR 1,234.56". @room: what its text lies in. */
#define FLEET_CURRENCY_LEAD 8
struct base_scale fleet_currency_scale(const struct fleet_currency *c, struct base_scale usd,
				       char room[FLEET_CURRENCY_LEAD]);

struct fleet;

/*
 * Makes every amount of a fleet that is shown one of its currency; once. -EOVERFLOW, said: one
 * cannot be shown.
 */
int fleet_convert(struct fleet *f);

/* The member currency of the fleet's JSON, of one that was converted; NULL: null. */
void fleet_currency_json(const struct fleet *converted, struct base_jsonout *j);

/* A CSV of dollars in which these are the currency's, with its rate at the end of each row. */
void fleet_currency_csv(const struct fleet_currency *c, char *csv, FILE *out);

#endif
