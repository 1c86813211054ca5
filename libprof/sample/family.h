/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All processes below this one, whatever program they run, and which of them have a descriptor that
 * leads to who waits: the writing end of a pipe, the other end of a connection. Some of them at
 * each call, others at the next. And those beside it, which a launcher of the same run began: of
 * these it is only asked who writes to a pipe or FIFO. From /proc (children, fd, fdinfo); one
 * thread; allocates nothing.
 */
#ifndef PROF_FAMILY_H
#define PROF_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "links.h"

#define PROF_FAMILY_MAX 256u
#define PROF_FAMILY_ABOVE 4u

struct prof_kin {
	uint32_t pid;
	bool forked; /* a copy of this process: it has our addresses and got all our descriptors */
	bool known; /* whether it is forked was found out */
	bool beside; /* it is not below this process */
	uint32_t ends; /* the count of awaited ends when its descriptors were looked at last */
	int64_t looked_ns; /* when that was; 0: never */
};

struct prof_family {
	struct prof_kin kin[PROF_FAMILY_MAX];
	size_t count, next_read, next_look; /* whose turn it is */
	uint32_t own_ends; /* the count of ends when our own descriptors were looked at */
	uint32_t next_task; /* of this process: whose children are read next */
	uint32_t above[PROF_FAMILY_ABOVE]; /* of this run, the nearest first */
	size_t aboves;
	int64_t above_ns; /* when these were looked for last; 0: never */
};

/*
 * Looks for children: of the threads @tid of this process and of some others, and of some of those
 * that are known. Forgets who is gone.
 */
void prof_family_read(struct prof_family *f, const uint32_t *tid, size_t tids);

/*
 * The processes above this one that are of the run with this id, by their environment, now and
 * then; the other two know those below them from then on. An empty id: none are.
 */
void prof_family_climb(struct prof_family *f, const char *run_id, int64_t now_ns);

/* Does the environment, NUL-terminated lines, have the run's id? For tests. */
bool prof_family_is_of_run(const char *environment, size_t len, const char *run_id);

/*
 * Looks at descriptors of some: those not seen since something new is awaited, and after a second
 * again. What is found is noted in @l for the process's main thread. At most for about @most_ns of
 * CPU time.
 */
void prof_family_look(struct prof_family *f, struct prof_links *l, int64_t now_ns, int64_t most_ns);

/* Its place; NULL: it is none of them. */
const struct prof_kin *prof_family_kin(const struct prof_family *f, uint32_t pid);

#endif
