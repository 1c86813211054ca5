/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the two ends of a copy of rows: where they begin and how far apart their rows are.
 */
#ifndef SIM_ROWS_H
#define SIM_ROWS_H

#include "copy.h"
#include "driver.h"

/*
 * Fills in box, dst and src from what the program gives, and checks it as the driver does: an
 * enum sim_result. slices: whether the copy has more than one, and heights count.
 */
int sim_rows_plan(const struct sim_copy_3d *p, bool slices, struct sim_box *box, uint64_t *dst,
		  uint64_t *src);

#endif
