/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several drawn steps is usual: the one whose rows are most like those of the others.
 * Pure.
 */
#ifndef ANALYSIS_PICTURE_USUAL_H
#define ANALYSIS_PICTURE_USUAL_H

#include "picture.h"

/* Whether any has a sample of the main process. */
bool ana_picture_any_looked_at(const struct ana_picture_step *step, size_t n);

/*
 * Where some have a sample of the main process, of these. The index of the step with the least sum
 * of distances to all others, of equal ones the first; 0 if
 * @n is 0. A distance is the sum, over kinds of rows and states, of how much the parts of the time
 * of all
 * rows of the kind differ, in millionths (LEDGER 8).
 */
size_t ana_picture_usual(const struct ana_picture_step *step, size_t n);

#endif
