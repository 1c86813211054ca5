/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a container gets libprof: decided by what its environment has, before anything is written.
 * Pure.
 */
#ifndef COLL_PLAN_H
#define COLL_PLAN_H

#include "pod.h"

enum coll_plan_how {
	COLL_PLAN_LEFT, /* not at all */
	COLL_PLAN_NEW, /* LD_PRELOAD is added */
	COLL_PLAN_APPEND, /* to the value at @at */
	COLL_PLAN_BEHIND, /* what is at @at comes from elsewhere, and gets another name */
	COLL_PLAN_THERE, /* LD_PRELOAD names it already */
	COLL_PLAN_CUDA /* only CUDA and NVTX are told of it */
};

struct coll_plan {
	enum coll_plan_how how;
	size_t at; /* of LD_PRELOAD in env */
	const char *value; /* APPEND: what it is; "" as well */
	const char *why; /* LEFT, CUDA: behind "container NAME"; NULL: nobody need be told */
};

/* @init: the container is one of initContainers. */
void coll_plan_of(struct coll_plan *plan, const struct coll_pod *pod,
		  const struct base_json *container, bool init);

#endif
