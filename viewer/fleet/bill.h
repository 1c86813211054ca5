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
 * Whole quanta (such as FLEET_CENT) for @n amounts of nano-dollars that sum to @total: each is cut,
 * and the largest remainders get what is missing, the earlier of equals first. @amount may be NULL
 * if @n is 0.
 */
#define FLEET_CENT 10000000LL
void fleet_close(const base_wide *amount, size_t n, int64_t total, int64_t quantum,
		 int64_t *quanta);

/* Quanta for the groups of a table, in its order, that sum to the total's. Allocated in @mem. */
int64_t *fleet_table_quanta(const struct fleet_table *t, enum fleet_measure m, base_wide total_usd,
			    int64_t quantum, struct base_arena *mem);

#endif
