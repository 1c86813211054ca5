/* SPDX-License-Identifier: Apache-2.0 */
/* What is wanted of runs one by one: collect.c has the rest. */
#ifndef FLEET_COLLECT_LINES_H
#define FLEET_COLLECT_LINES_H

#include "fleet.h"

/*
 * Nothing for tables that want nothing of it. Before tables are sorted. 0 or negative errno, said.
 */
int fleet_collect_lines(struct fleet *f, struct fleet_store *s);

/*
 * Of a store that sums months up what it has of runs that began within the query (f->has_months).
 * Before fleet_collect_crossing. 0 or negative errno, said.
 */
int fleet_collect_months(struct fleet *f, struct fleet_store *s);

/*
 * Makes total, tables by name, bill, rates and such months, which have the runs that began within
 * the query whole, those of what lies within it. 0 or negative errno, said.
 */
int fleet_collect_crossing(struct fleet *f, struct fleet_store *s);

/* The row of a price: gpu, model, what is priced, source, nano-dollars an hour. */
struct fleet_group *fleet_rate_at(struct fleet *f, const char *const key[5], const char *date);

#endif
