/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLEET_DIGEST_LINE_H
#define FLEET_DIGEST_LINE_H

#include "digest.h"

/*
 * The line that GPU @g of the summary is of, by its name and price; a new one if there is room,
 * else the last, under no name. To be added to.
 */
struct fleet_line *fleet_digest_line(struct fleet_digest *d, const struct view_summary *s,
				     size_t g);

#endif
