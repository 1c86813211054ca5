/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON Patch (RFC 6902) that gives a pod the library, the environment and who it is. Nothing
 * that a container sets is replaced: LD_PRELOAD is appended to, and other variables of ours that
 * are there stay. What could keep a pod from coming in (a name or a path twice) is looked for
 * first. Pure.
 */
#ifndef COLL_PATCH_H
#define COLL_PATCH_H

#include <stdio.h>
#include "inject.h"
#include "pod.h"

#define COLL_PATCH_WARNINGS 4
#define COLL_PATCH_WARNING_BYTES 240

struct coll_patch {
	size_t containers; /* that are recorded; 0: nothing was written, the pod stays as it is */
	/* for who made the pod, a sentence each */
	char warning[COLL_PATCH_WARNINGS][COLL_PATCH_WARNING_BYTES];
	size_t warnings;
};

/* Writes the patch to @f. */
void coll_patch_write(struct coll_patch *p, FILE *f, const struct coll_pod *pod,
		      const struct coll_inject *in);

#endif
