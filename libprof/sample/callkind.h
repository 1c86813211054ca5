/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that a thread can be blocked in: what they wait for, and which argument names it. A
 * table; what is not in it is WIRE_WAIT_OTHER.
 */
#ifndef PROF_CALLKIND_H
#define PROF_CALLKIND_H

#include <stdint.h>

enum prof_call_how {
	PROF_CALL_OTHER,
	PROF_CALL_READ, /* a descriptor, for data */
	PROF_CALL_WRITE, /* a descriptor */
	PROF_CALL_SOCKET, /* a descriptor that is a socket */
	PROF_CALL_PATH, /* a path, for reading: open, stat, readlink */
	PROF_CALL_PATH_WRITE, /* a path: rename, unlink, mkdir */
	PROF_CALL_SYNC, /* all files */
	PROF_CALL_POLL, /* an array of descriptors, timeout in ms */
	PROF_CALL_PPOLL, /* the same, timeout a timespec */
	PROF_CALL_SELECT, /* three sets, timeout a timeval or timespec */
	PROF_CALL_EPOLL, /* a descriptor that stands for many */
	PROF_CALL_SLEEP,
	PROF_CALL_FUTEX,
	PROF_CALL_LOCK, /* flock, semop: a lock shared by processes */
	PROF_CALL_CHILD,
	PROF_CALL_IOCTL, /* a descriptor, often a device */
	PROF_CALL_MEMORY, /* mmap, madvise, msync: the kernel's work on memory, perhaps a file's */
};

struct prof_call_kind {
	uint16_t nr;
	uint8_t how; /* enum prof_call_how */
	uint8_t arg; /* where the descriptor or path stands; a path's folder stands before it */
};

/* Never NULL. */
const struct prof_call_kind *prof_call_kind(int nr);

#endif
