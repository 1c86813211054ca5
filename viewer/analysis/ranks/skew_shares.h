/* SPDX-License-Identifier: Apache-2.0 */
/* Whose time a wait was, in parts. */
#ifndef ANALYSIS_SKEW_SHARES_H
#define ANALYSIS_SKEW_SHARES_H

#include <stddef.h>
#include <stdint.h>
#include "analysis/class.h"

#define ANA_SKEW_OTHERS 256u /* shares of others than the late one */
#define ANA_NOBODY UINT32_MAX

struct ana_skew_share { /* of a wait: who caused it, doing what */
	uint32_t culprit;
	int c;
	int64_t weight, ns;
};

struct ana_skew_shares {
	struct ana_skew_share at[ANA_CLASSES + ANA_SKEW_OTHERS + 1];
	size_t count;
	__int128 total;
};

#endif
