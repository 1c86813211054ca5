/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to the service manager over $NOTIFY_SOCKET (sd_notify(3)'s protocol), and the watchdog
 * that it may ask for by $WATCHDOG_USEC. Without the variables nothing is said. The variables are
 * taken out of the environment, so that no child speaks in our name. One thread.
 */
#ifndef COLL_SDNOTIFY_H
#define COLL_SDNOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct coll_sdnotify {
	int fd; /* -1: nobody listens */
	struct sockaddr_un to;
	socklen_t to_len;
	int64_t every_ns; /* the watchdog's, half of what it allows; 0: none */
	int64_t fed_ns;
};

void coll_sdnotify_init(struct coll_sdnotify *n);
void coll_sdnotify_fini(struct coll_sdnotify *n);

void coll_sdnotify_ready(struct coll_sdnotify *n);
void coll_sdnotify_reloading(struct coll_sdnotify *n); /* ready() must follow */
void coll_sdnotify_stopping(struct coll_sdnotify *n);

/* To be called about once a second by a loop that works. @now_ns: monotonic. */
void coll_sdnotify_tick(struct coll_sdnotify *n, int64_t now_ns);

#endif
