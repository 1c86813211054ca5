/* SPDX-License-Identifier: Apache-2.0 */
/* What is known to lie between two values, both included. */
#ifndef FIT_RANGE_H
#define FIT_RANGE_H

#include <stdint.h>

struct fit_range {
	int64_t low, high;
};

#endif
