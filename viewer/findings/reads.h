/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that a step reads from the GPU one by one (.item() in a loop): after each the GPU has
 * nothing to do until the host comes with its next launch.
 */
#ifndef VIEW_READS_H
#define VIEW_READS_H

#include "model/model.h"

#define VIEW_READS_MIN 10 /* a step, from where they hold the host up */
#define VIEW_READ_BYTES 1024 /* of a result on average: a loss, a count, a row of a table */

/* How many small results each step reads; 0: too few to speak of, or no step is known. */
uint64_t view_reads_of_step(const struct view_summary *s);

#endif
