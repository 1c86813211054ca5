/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kept.c and kept_walk.c share.
 */
#ifndef ANALYSIS_KEPT_PRIV_H
#define ANALYSIS_KEPT_PRIV_H

#include "analysis/archive.h"
#include "kept.h"

/* Of all that the walk takes from the plan, and so that another program's bytes are not read. */
uint64_t ana_kept_identity(const struct ana_kept *k);

/* Of a copy of the result's: its names, and when it was held, are left out. */
void ana_kept_gpu(struct ana_gpu *g, struct ana_archive *a);

/* What was read, in the place of @to, which keeps what was left out. */
void ana_kept_put_gpu(struct ana_gpu *to, struct ana_gpu *from);

void ana_kept_quality(struct ana_quality *q, struct ana_archive *a);

#endif
