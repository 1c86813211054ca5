/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process that nobody recorded held, as a digest: kind, verdict and only class are
 * FLEET_UNWRAPPED (fleet/digest.h); nothing of it is wasted or starved, for nobody knows why the
 * GPU was idle. Pure.
 */
#ifndef VIEW_HOLDER_ROW_H
#define VIEW_HOLDER_ROW_H

#include "cost/price_list.h"
#include "fleet/digest.h"
#include "holders.h"

struct view_row_of {
	const char *host; /* this machine */
	const char *team; /* whose it is, ""; */
	const char *price_model; /* "on-demand" */
	const struct view_prices *site, *catalogue; /* prices, the first before the second */
};

/* False: it held nothing yet. @revision: nanoseconds since 1970. */
bool view_holder_row(struct fleet_digest *d, const struct view_holder *h,
		     const struct view_row_of *of, int64_t revision);

#endif
