/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which descriptors a thread polls: from the array, the sets or the epoll descriptor that its call
 * was given. Any thread; allocates nothing.
 */
#ifndef PROF_POLL_SET_H
#define PROF_POLL_SET_H

#include <stdint.h>
#include <sys/types.h>
#include "callkind.h"
#include "threadfacts.h"

#define PROF_POLL_SET_MAX 32u /* bits of reads */

struct prof_poll_set {
	int fd[PROF_POLL_SET_MAX]; /* the first ones */
	uint32_t reads; /* a bit for each of fd[]: it is polled for something to read */
	uint32_t count; /* in fd[] */
	uint32_t all; /* that there are */
	int64_t timeout_ns; /* as given; -1: none */
};

/* @pid 0: this process. 0; -EFAULT: what the call was given cannot be read. */
int prof_poll_set_read(pid_t pid, const struct prof_call *c, enum prof_call_how how,
		       struct prof_poll_set *out);

#endif
