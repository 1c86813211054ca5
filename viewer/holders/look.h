/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes hold which GPU of this machine just now, and how busy it is, as NVML tells.
 * NVML is found at run time and asked in a process of its own, which goes on between looks:
 * where it crashes, or does not answer within VIEW_LOOK_PATIENCE_MS, that one ends and the next
 * look begins anew. Owned by the caller; one thread.
 */
#ifndef VIEW_LOOK_H
#define VIEW_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VIEW_LOOK_GPUS 64
#define VIEW_LOOK_HOLDERS 64 /* of a GPU; more are not told */
#define VIEW_LOOK_PATIENCE_MS 8000

struct view_look_gpu {
	char uuid[96], name[128];
	int percent; /* of the last second or so in which anything ran; -1: not known */
	bool mig; /* it is parted, and of its parts nothing is told */
	unsigned int holders;
	pid_t holder[VIEW_LOOK_HOLDERS]; /* as NVML numbers them, each once */
};

struct view_look {
	unsigned int gpus;
	struct view_look_gpu gpu[VIEW_LOOK_GPUS];
};

struct view_looker {
	struct view_look *shared; /* with the process that asks; NULL: nothing yet */
	pid_t pid; /* 0: it is not there */
	int ask, answer; /* its pipes */
};

/*
 * 0 and *look, valid until the next one; -ENOENT (no NVML), -EIO (it refused or crashed),
 * -ETIMEDOUT.
 */
int view_look(struct view_looker *l, const struct view_look **look);
void view_looker_fini(struct view_looker *l);

#endif
