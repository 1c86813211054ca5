/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the walk of one component found, as bytes: an analysis that was ended takes from there what
 * was finished, and walks the others alone. And a walk between two of its turns, which goes on from
 * there. Only for options without series and callbacks, which a walk feeds besides. Bytes of
 * another trace, plan or version are refused; so are those that nobody wrote.
 */
#ifndef ANALYSIS_KEPT_H
#define ANALYSIS_KEPT_H

#include "analysis/evidence/found.h"
#include "analysis/plan/plan.h"

struct ana_kept { /* borrowed */
	struct ana_plan *plan;
	uint32_t component;
	struct ana_result *result; /* its GPUs and timelines */
	struct ana_found *found; /* the component's */
};

/* After the walk. 0 and *bytes, to be freed; -ENOMEM. */
int ana_kept_write(const struct ana_kept *k, uint8_t **bytes, size_t *len);

/* In place of the walk. 0; -EBADMSG or -ENOMEM, and nothing has changed. */
int ana_kept_read(const struct ana_kept *k, const uint8_t *bytes, size_t len);

/*
 * kept_walk.c. Whether the walk can be kept amid: neither one that joins everything first nor one
 * whose GPU is compared with others.
 */
struct ana_walk; /* walk/walk.h */
bool ana_kept_can(const struct ana_walk *w);

/* Of a walk between two turns; k->found is not asked. 0 and *bytes, to be freed; -ENOMEM. */
int ana_kept_walk_write(const struct ana_kept *k, struct ana_walk *w, uint8_t **bytes, size_t *len);

/*
 * Into a walk that has begun and not run. -EBADMSG or -ENOMEM: the result's GPUs are as they were,
 * and neither the walk nor the result's timelines are of use.
 */
int ana_kept_walk_read(const struct ana_kept *k, struct ana_walk *w, const uint8_t *bytes,
		       size_t len);

#endif
