/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a GPU that a job was given was used by no process of it (LEDGER 12): before the first,
 * between two, behind the last, or for all of a stretch, which is a time for which the job had it
 * without a break. Pure functions.
 */
#ifndef ANALYSIS_VACANCY_H
#define ANALYSIS_VACANCY_H

#include "analysis/ledger.h"
#include "analysis/time/span.h"

/*
 * Adds to @v what of @given lies outside of @held. Both are merged; so is @unended: those parts of
 * @given of which the end is not known, and which count up to the last sign of life. What lies at
 * such an end is of unknown fate: a process may come yet, or the GPU was given back.
 */
void ana_vacancy_add(struct ana_vacancy *v, struct ana_spans *given, struct ana_spans *unended,
		     struct ana_spans *held);

/* Of several GPUs: sums, and the longest of all. */
void ana_vacancy_sum(struct ana_vacancy *to, const struct ana_vacancy *v);

int64_t ana_vacancy_ns(const struct ana_vacancy *v); /* of all parts */

#endif
