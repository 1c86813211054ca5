/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of data*.c share. Private to them. */
#ifndef VIEW_DATA_PRIV_H
#define VIEW_DATA_PRIV_H

#include "analysis/ledger.h"
#include "data_out.h"
#include "summary/summary.h"

struct data {
	struct data_out out;
	const struct view_summary *s;
	const struct ana_result *r;
	int64_t axis_start, axis_end;
};

/*
 * A member of the document at a level of coarseness: 0 has everything, each further one less. At the
 * last level it holds little, whatever the run is.
 */
typedef void data_section(struct data *d, unsigned int level);

/* data_gpus.c */
#define DATA_GPUS_LEVELS 9u
data_section data_gpus;

#endif
