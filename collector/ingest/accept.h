/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who comes in by the Unix socket (listener.h): each becomes a client (client.h) or is turned away
 * and counted. One thread. Without --unix all of this does nothing.
 */
#ifndef COLL_ACCEPT_H
#define COLL_ACCEPT_H

struct coll_server;

/* Opens the socket and watches it. 0 or -errno, which is logged with what to do. */
int coll_accept_open(struct coll_server *sv);
void coll_accept_close(struct coll_server *sv);

/*
 * About once a second: accepts again after descriptors ran out, and opens the socket anew where
 * somebody cleaned it away, for later clients.
 */
void coll_accept_tick(struct coll_server *sv);

/* Takes who waits to be accepted right now. */
void coll_accept_last(struct coll_server *sv);

#endif
