/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A feeder is who sends streams, a feed the bytes that arrive for them. A connection of the Unix
 * socket is both at once (client.h). Over HTTP a team is the feeder, for its streams outlive
 * requests, and the body of each request is a feed (serve/frames.c). One thread.
 */
#ifndef COLL_FEED_H
#define COLL_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/store.h"
#include "store/sync_round.h"
#include "wire/buf.h"

#define COLL_WHO_BYTES 80

struct coll_context;
struct coll_feeder;
struct coll_intake;

/* A stream while somebody feeds it; stream->fed leads back here. */
struct coll_fed_stream {
	struct coll_stream *stream;
	struct coll_feeder *feeder;
	struct coll_fed_stream *next; /* of the feeder's */
	int64_t heard_ns; /* monotonic: when a frame of it came last */
	bool ack_due;
	bool urgent; /* sync at the end of this turn */
};

struct coll_feeder {
	struct coll_store *store; /* where its streams are */
	struct coll_fed_stream *first; /* of those it feeds */
	size_t stream_count;
	bool is_team; /* of many nodes, not one client */
	size_t held; /* room of half frames of all its feeds */
	/* A sync of @s failed: @s must be closed, at once. */
	void (*failed)(struct coll_feeder *f, struct coll_stream *s);
};

/* The frame that was refused. */
struct coll_refused {
	const char *why; /* NULL: none was */
	uint64_t offset; /* in all bytes of the feed: whole frames before it were taken */
	bool named; /* stream and seq are known: its header was good */
	char stream[COLL_HEX_BYTES];
	uint64_t seq;
	bool unknown; /* its stream is not known here, and this is no Hello */
	bool damaged; /* as it came: another copy may be good */
};

struct coll_feed {
	struct coll_intake *intake; /* what all feeds share, see intake.h */
	struct coll_feeder *feeder;
	char who[COLL_WHO_BYTES]; /* for logs */
	/* NULL, or told of a stream whenever a frame of another one than before comes. */
	void (*touched)(struct coll_feed *in, const struct coll_stream *s);

	struct wire_buf carry; /* a frame that is not whole yet */
	size_t want; /* bytes until carry is a whole header, or a whole frame */
	struct coll_stream *last; /* of the frame before, within one call of intake alone */
	uint64_t taken; /* bytes of whole frames so far */
	bool any_frame; /* a frame was accepted */
	struct coll_refused refused;
};

/* From now on @f feeds the stream. 0 or -ENOMEM: then nobody does. */
int coll_feeder_adopt(struct coll_feeder *f, struct coll_stream *s);

/* Nobody feeds it any more. */
void coll_feeder_release(struct coll_stream *s);

/*
 * What streams of the feeder have takes part in the round: all, or those that are urgent. False: of
 * some another owner's round is on its way, or there is no memory; they are as due as before.
 */
bool coll_feeder_add(struct coll_feeder *f, struct coll_sync_round *round, bool everything);

/* A round's synced: sets ack_due, or calls failed. */
void coll_feeder_synced(struct coll_stream *s, struct coll_context *context, int err);

/* Something of its streams is not durable. */
bool coll_feeder_unsynced(const struct coll_feeder *f);

#endif
