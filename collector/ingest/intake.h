/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Received bytes of a feed: cut into frames, checked, appended in as few writes as may be.
 * A frame that is not whole is kept until the rest comes; memory for it grows with what came, not
 * with what its header claims. One thread.
 */
#ifndef COLL_INTAKE_H
#define COLL_INTAKE_H

#include "feed.h"

#define COLL_HELD_MAX (40u << 20) /* half frames, all feeds together, ... */
#define COLL_HELD_KEPT (8u << 20) /* ... of which so much is for feeders that hold ... */
#define COLL_HELD_LITTLE (4u << 20) /* ... no more than this */
#define COLL_UNSYNCED_MAX (32u << 20) /* bytes of a stream that wait for the clock */

struct coll_retention;
struct coll_runs;
struct coll_upstream;

/* What all feeds share; all is borrowed. */
struct coll_intake {
	struct coll_context *context;
	struct coll_retention *retention;
	const struct coll_store *own; /* the collector's own, which is forwarded */
	struct coll_upstream *upstream; /* NULL: nothing is */
	struct coll_runs *runs; /* who hears of pulses; NULL: nobody */
	size_t held; /* room of all half frames */
};

/*
 * Takes @len bytes. 0, or why the connection must end: -EBADMSG (damage), -EPROTO (no Hello, or
 * not for us), -ENOBUFS (too many half frames), or what the store said (already logged).
 * in->refused names the frame.
 */
int coll_intake(struct coll_feed *in, const uint8_t *bytes, size_t len);

/* Where the next bytes may be received straight into; 0: nowhere. Then tell coll_intake_direct. */
size_t coll_intake_room(const struct coll_feed *in, uint8_t **at);
int coll_intake_direct(struct coll_feed *in, size_t len);

/* Forgets a frame that is not whole; its bytes are counted as cut. */
void coll_intake_fini(struct coll_feed *in);

#endif
