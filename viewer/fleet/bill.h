/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bill that closes to the cent. The grand total is rounded once, half to even. Its cents are
 * shared out among the teams by largest remainders, and each team's cents among its lines in the
 * same way: so the lines of a team sum to what the team is told, and the teams to the total. What
 * no team has is the team `untagged`. Of equal remainders the first by name gets the cent.
 */
#ifndef FLEET_BILL_H
#define FLEET_BILL_H

#include "fleet.h"

/* Fills f->bill from f->bill_groups, which it sorts. */
void fleet_bill_make(struct fleet *f);

/*
 * Whole cents for @n amounts of nano-dollars that sum to @total_cents: each is cut, and the largest
 * remainders get what is missing, the earlier of equals first. @amount may be NULL if @n is 0.
 */
void fleet_close_cents(const int64_t *amount, size_t n, int64_t total_cents, int64_t *cents);

/* Cents for the groups of a table, in its order, that sum to the total's. Allocated in @mem. */
int64_t *fleet_table_cents(const struct fleet_table *t, enum fleet_measure m, int64_t total_usd,
			   struct base_arena *mem);

#endif
