/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of one process that matters to whether it is recorded. Read from /proc,
 * where all of it may be hostile and the process may end meanwhile; only its owner and root may ask
 * for most. Paths are as the process sees them; in a container that is another root than ours. Any
 * thread.
 */
#ifndef VIEW_PROCESS_H
#define VIEW_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "needs.h"

struct view_process {
	pid_t pid, parent;
	char name[32]; /* comm, fit for a terminal */
	char *command; /* argv, with blanks between; NULL: not to be read */
	char *environ; /* name=value, NUL behind each; NULL: not to be read */
	size_t environ_bytes;
	enum view_needs_kind kind; /* of its program */
	char sanitizer[VIEW_NEEDS_NAME]; /* the runtime that its program needs; "": none */
	bool privileged; /* AT_SECURE: the loader dropped LD_PRELOAD */
	bool maps_read, has_library, has_cuda; /* libprof.so and libcuda.so are mapped */
};

/*
 * 0, -ESRCH: there is none, -ECHILD: it has ended and its parent has not taken note, -EACCES:
 * another user's, -ENOMEM. view_process_fini() after 0 alone.
 */
int view_process_read(struct view_process *p, pid_t pid);
/* Its environment alone, for view_process_env(). 0, or -EACCES: not to be read. */
int view_process_read_environ(struct view_process *p, pid_t pid);
void view_process_fini(struct view_process *p);

/* When it began, in ticks since boot; -1: there is none, or it is of another namespace. */
int64_t view_process_began(pid_t pid);

/* A variable as it was when the program began; NULL: not set, or not to be read. */
const char *view_process_env(const struct view_process *p, const char *name);

#endif
