/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which price holds for each GPU of a run, and why. In this order, the first that has one:
 *   1. --price (of this command, else the one given to `gpustarve run` and kept in run.json)
 *   2. GPUSTARVE_USD_PER_GPU_HOUR
 *   3. the site file: GPUSTARVE_PRICES, else /etc/gpustarve/prices.csv
 *   4. the built-in catalogue
 * In 3 and 4 by GPU name, price model and, as far as they are known, instance type and provider
 * (from the trace, else from this machine's DMI if the run was made on it).
 */
#ifndef VIEW_RATES_H
#define VIEW_RATES_H

#include "analysis/ledger.h"
#include "base/arena.h"
#include "cost.h"
#include "trace/trace.h"

struct view_rate_options {
	const char *price; /* decimal text, NULL: none given */
	const char *model; /* NULL: on-demand */
	const char *price_from; /* what to call the source of @price: "--price" */
};

/*
 * *rate gets one entry per GPU (free()), known or not. @t may be NULL. Remarks such as bad rows of
 * the site file are printed. 0, -EINVAL (a price that is none: said on stderr) or -ENOMEM.
 */
int view_rates_find(const struct ana_result *r, const struct view_trace *t,
		    const struct view_rate_options *o, struct view_rate **rate);

/*
 * What the GPU of @held would cost on the spot market: by the site file, else the catalogue, the
 * cheapest offer. False: nobody tells.
 */
bool view_rates_spot(const struct view_rate *held, struct view_rate *spot);

/* "MIG 1/7", "1/2 shared": num / den of the list price, half to even. */
int64_t view_rate_fraction(int64_t list_nano_usd, uint32_t num, uint32_t den);

#endif
