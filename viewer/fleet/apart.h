/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest made by a process of its own that keeps the run and no more (core/confine.h), of a
 * scheduler's job the folder in which its runs lie: whoever digests runs of others goes on to a
 * store, over the network or to files of its own, and starts programs. What comes back is one line
 * of JSON, read as any digest from elsewhere is.
 */
#ifndef FLEET_APART_H
#define FLEET_APART_H

#include "digest.h"

struct fleet_apart {
	const char *run; /* a directory, or a file in one */
	bool writes; /* into that directory */
	/* In that process; 0, or negative errno after one line on stderr. */
	int (*make)(struct fleet_digest *d, const void *arg);
	const void *arg;
};

/*
 * 0, or negative errno, which was said. *ended_by: the signal that ended that process, which may
 * have been a limit of ours; 0: none.
 */
int fleet_apart(struct fleet_digest *d, const struct fleet_apart *how, int *ended_by);

#endif
