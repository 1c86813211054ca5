/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection: bytes to frames, frames to streams, acknowledgements back.
 *
 * Life: new -> (reads, each turn) -> closing (nothing is read any more) -> settle has its streams
 * synced, which takes some turns, and sends what it owes -> free. A client never vanishes amid a
 * turn. One thread.
 */
#ifndef COLL_CLIENT_H
#define COLL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "core/loop.h"
#include "feed.h"
#include "process_watch.h"
#include "retain/bucket.h"

struct coll_client;
struct coll_context;

#define COLL_SCRATCH_BYTES (1u << 20) /* one read */

/* All connections, and what they share; but for the list and what follows it all is borrowed. */
struct coll_clients {
	struct coll_context *context;
	struct coll_intake *intake;
	struct coll_store *store;
	struct coll_retention *retention; /* how much may come a second */
	int silence_s; /* before the first frame, or amid one */
	uint8_t *scratch; /* of COLL_SCRATCH_BYTES */
	struct coll_client *first; /* also those about to close */
	size_t count;
	struct coll_process_watches watches; /* processes whose connection ended before them */
	int64_t idle_since_ns; /* monotonic: when the last one was closed */
	struct coll_sync_round round;
	bool everything; /* the next one is to be of all streams */
};

struct coll_client {
	struct coll_clients *all;
	struct coll_client *next;
	struct coll_source socket;
	struct coll_source process; /* pidfd of the peer; fd -1: not to be had */
	struct ucred peer;

	struct coll_feeder feeder;
	struct coll_feed in;
	int64_t heard_ns; /* last byte, monotonic */

	uint8_t ack[WIRE_FRAME_HEADER_BYTES]; /* the one on its way out */
	size_t ack_at, ack_len;
	bool blocked; /* waits for EPOLLOUT */
	bool paused; /* it sent more a second than it may: not read from */
	struct coll_bucket rate;

	bool closing;
	int64_t end_ns; /* realtime when the process ended, 0: not seen */
};

/*
 * Takes @fd over (also on error: it is closed then) and serves it from now on. 0 or -errno.
 * @peer.pid 0: unknown.
 */
int coll_client_new(struct coll_clients *all, int fd, const struct ucred *peer);

/* Reads all that is there; at the end of a process its descriptors may live on in its children. */
void coll_client_drain(struct coll_client *c);

/* Sends acknowledgements that are due, as far as the socket takes them. */
void coll_client_acknowledge(struct coll_client *c);

/* Reads from it again, if it was not read from for too many bytes a second and that is over. */
void coll_client_resume(struct coll_client *c, int64_t now_ns);

/* To be closed once what it has sent is durable. */
void coll_client_close(struct coll_client *c);

/* Closed, its streams given back. Notes the process's end, or leaves a watch for it. */
void coll_client_free(struct coll_client *c);

/* All its streams have said Bye (a client without any has not). */
bool coll_client_done(const struct coll_client *c);

/* Monotonic deadline is over: silent before its first frame, or amid one. */
bool coll_client_stalled(const struct coll_client *c, int64_t now_ns);

#endif
