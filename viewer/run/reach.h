/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process can reach from where it is and with the rights that it has: libprof.so, the socket
 * that it sends to, the folder of its spool files. Asked by a child of ours that takes the user,
 * groups and capabilities of the process (who is no root is that user anyway), from the root and
 * the folder in which it is. Nothing is sent and nothing is written. One thread.
 */
#ifndef VIEW_REACH_H
#define VIEW_REACH_H

#include <limits.h>
#include "process.h"

struct view_reach {
	int library; /* of the path asked: 0, it can be read, or a negative errno */
	/*
	 * 0: the collector at GPUSTARVE_SOCKET takes it in. Else a negative errno: -ENOTSOCK,
	 * none is named; -EPERM, it hangs up on this user.
	 */
	int collector;
	int spool; /* 0: files can be made below GPUSTARVE_OUT, or a negative errno */
};

/* The variables, as they were when it began; "" without one. */
const char *view_reach_socket(const struct view_process *p);
const char *view_reach_out(const struct view_process *p); /* the default where it is not set */

/* @library: "": not asked. 0, or a negative errno: nothing of it can be told. */
int view_reach_look(const struct view_process *p, const char *library, struct view_reach *r);

#endif
