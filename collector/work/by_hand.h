/* SPDX-License-Identifier: Apache-2.0 */
/* What people ask of the runs in an object store: --work URL --dry-run, and --again RUN. */
#ifndef COLL_WORK_BY_HAND_H
#define COLL_WORK_BY_HAND_H

#include "retain/limits.h"
#include "work.h"

/*
 * A line a run: what it waits for, or why it was put aside; or the run of @o->again is taken up
 * again. 0 or -errno, which is logged.
 */
int coll_work_by_hand(const struct coll_work_options *o, const struct coll_limits *limits);

#endif
