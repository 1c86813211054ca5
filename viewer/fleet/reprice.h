/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests at other prices: those of a file (gpustarve-prices(1)) in the place of the ones they were
 * made with, of the same price model; of the one that was asked for where no price was known; and
 * on demand where nobody said which. Of a part of a GPU (MIG) a digest has no fraction, so that its
 * price stays; so does one that the file does not have.
 */
#ifndef FLEET_REPRICE_H
#define FLEET_REPRICE_H

#include "cost/price_list.h"
#include "store.h"

/*
 * How many of its lines got a price of the file; *given grows by those of them whose price was
 * given without its model.
 */
size_t fleet_reprice(struct fleet_digest *d, const struct view_prices *p, size_t *given);

/*
 * A store in memory with all digests of @from, repriced. 0 and *to; negative errno, said. What kept
 * its price is told.
 */
int fleet_store_reprice(struct fleet_store **to, struct fleet_store *from, const char *file);

#endif
