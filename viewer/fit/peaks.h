/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the work of a run takes on another GPU, by the published peaks of both. Pure integers.
 */
#ifndef FIT_PEAKS_H
#define FIT_PEAKS_H

#include "gpus.h"
#include "model/model.h"
#include "range.h"

/* Kernels shorter than this on average are not taken to get faster. */
#define FIT_SHORT_NS 10000

/*
 * By how much the time in which the GPUs of @s worked changes from @a to @b, over all of them:
 * between @d->low and @d->high. NULL, or (static) why nobody knows.
 */
const char *fit_work(const struct view_summary *s, const struct fit_gpu *a, const struct fit_gpu *b,
		     struct fit_range *d);

#endif
