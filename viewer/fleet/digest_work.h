/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run's compute time consisted of, by kind and precision, and how well NVML's meters say
 * that its GPUs were used: as the digest has them. Rows sum to the class compute, to the
 * nanosecond; what there is no room for is in one row, "rest" and "several".
 */
#ifndef FLEET_DIGEST_WORK_H
#define FLEET_DIGEST_WORK_H

#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "digest.h"

void fleet_work_make(struct fleet_digest *d, const struct view_summary *s);
/* Members `compute` and `meters`; neither where there is nothing to tell. */
void fleet_work_put(struct base_jsonout *j, const struct fleet_digest *d);
/* NULL, or what is wrong (static). */
const char *fleet_work_read(struct fleet_digest *d, const struct base_json *root);
/* The last two rows become one, as sums have it. */
void fleet_work_fold(struct fleet_digest *d);

#endif
