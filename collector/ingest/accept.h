/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepts connections on the Unix socket (listener.h): each becomes a client (client.h), or is
 * closed and counted as refused. One thread. Without --unix all of this does nothing.
 */
#ifndef COLL_ACCEPT_H
#define COLL_ACCEPT_H

#include "client.h"
#include "listener.h"

struct coll_limits;

struct coll_accept {
	struct coll_clients *clients; /* borrowed, as the next two */
	const struct coll_limits *limits; /* as they hold now */
	const char *path; /* --unix; NULL: none */
	size_t client_max; /* as many as there are descriptors for */
	int64_t full_ns; /* when it was last logged that there are so many, 0: never */
	struct coll_listener listener;
	bool listening;
	bool paused; /* out of descriptors: again at the next tick */
};

/* As many descriptors as may be had are; nothing is open yet. */
void coll_accept_init(struct coll_accept *a, struct coll_clients *clients,
		      const struct coll_limits *limits, const char *path);

/* Opens the socket and watches it. 0 or -errno, which is logged with what to do. */
int coll_accept_open(struct coll_accept *a);
void coll_accept_close(struct coll_accept *a);

/*
 * About once a second: accepts again after descriptors ran out, and opens the socket anew where
 * somebody cleaned it away, for later clients.
 */
void coll_accept_tick(struct coll_accept *a);

/* Accepts what waits in the socket's backlog right now. */
void coll_accept_last(struct coll_accept *a);

#endif
