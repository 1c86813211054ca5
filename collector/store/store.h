/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams on disk: BASE/<run>.gst/<stream>.gst, appended to as frames come in, synced in groups.
 *
 * A stream is open while a client feeds it, and its file is locked (flock) meanwhile, so that two
 * collectors never write one file. Between two calls a file ends with a whole frame. What the
 * file holds decides: a stream opened again is read once from its beginning, a torn end is cut
 * off, and which frames it has is known from that alone.
 *
 * The store owns its streams; one thread. Durations: commit waits for the disk.
 */
#ifndef COLL_STORE_H
#define COLL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "hello.h"
#include "index.h"
#include "stream_cache.h"
#include "seq_set.h"
#include "core/counters.h"

#define COLL_STORE_BUCKETS 256
#define COLL_HEX_BYTES (2 * WIRE_STREAM_ID_BYTES + 1)

struct coll_feeder;
struct coll_keeper;
struct coll_use;

struct coll_stream {
	struct coll_store *store; /* whose it is */
	uint8_t id[WIRE_STREAM_ID_BYTES];
	char hex[COLL_HEX_BYTES];
	uint64_t serial; /* of this opening: no other one of the store has it */
	char *dir; /* of the run */
	char *path;
	struct coll_hello who; /* of the last Hello seen */
	bool who_known;
	int fd;
	bool entry_new; /* the directory entry is not synced yet */
	uint64_t size; /* a frame ends here */
	bool torn; /* and half a one may stand behind it, which is cut off before more comes */
	uint64_t synced; /* so much is on disk for sure */
	struct coll_seq_set seqs; /* stored, synced or not */
	uint64_t acked; /* what acknowledgements say, see coll_stream_acknowledge */
	uint64_t high; /* highest number that its present client has sent */
	bool cut; /* an append failed: high may be of a frame that is not there */
	struct coll_index index;
	struct coll_stream *next, **link; /* in its bucket */

	/* Its feeder's, see ingest/feed.h. */
	struct coll_feeder *owner;
	int64_t heard_ns; /* monotonic: when a frame of it came last */
	struct coll_stream *next_owned;
	bool ack_due;
	bool urgent; /* sync at the end of this turn */
	bool bye;
};

struct coll_store {
	char *base;
	int base_fd; /* valid with base: what is written below is synced through it, ... */
	dev_t dev; /* ... if it lies on this file system */
	struct coll_counters *count; /* borrowed */
	struct coll_stream_cache *known;
	uint64_t serial; /* of the last opening */
	struct coll_keeper *keeper; /* borrowed; NULL: no limits */
	struct coll_use *use; /* borrowed, the keeper's */
	size_t streams;
	struct coll_stream *bucket[COLL_STORE_BUCKETS];
	/* NULL, or told of Hello, Pulse and Bye that the file of a stream has when it is opened. */
	void (*recovered)(void *arg, const struct coll_stream *s, const struct wire_frame *f,
			  const uint8_t *payload);
	void *recovered_arg;
};

/* @base is made if it is not there. 0 or -errno. */
int coll_store_init(struct coll_store *st, const char *base, struct coll_counters *count);
void coll_store_fini(struct coll_store *st); /* closes what is open, without a sync */

void coll_hex_of(char out[COLL_HEX_BYTES], const uint8_t *id);

/* An open stream; NULL: not open. */
struct coll_stream *coll_store_get(struct coll_store *st, const uint8_t *id);

/*
 * Opens a stream of @hello's run, new or from disk. 0; -EBADMSG: no run id; -EBUSY: another
 * collector writes it; -errno.
 */
int coll_store_open(struct coll_store *st, const uint8_t *id, const struct coll_hello *hello,
		    struct coll_stream **out);

/* Opens a stream that some run directory of BASE has. -ENOENT: none has it. */
int coll_store_find(struct coll_store *st, const uint8_t *id, struct coll_stream **out);

/*
 * Appends whole frames. On an error nothing of them stays in the file (or a torn end where even
 * that fails, which readers skip). Limits refuse with -EDQUOT and -EFBIG, and opening with -EUSERS.
 */
int coll_stream_append(struct coll_stream *s, const uint8_t *bytes, size_t len);

/* Starts writing out, without waiting, what commit will wait for. */
void coll_stream_push(struct coll_stream *s);

/*
 * Makes all that was appended durable and moves acked. On an error the file is taken back to what
 * was durable before, and the stream must be closed: what the disk holds is not known any more.
 */
int coll_stream_commit(struct coll_store *st, struct coll_stream *s);

/*
 * The same for many streams: everything that was written to the file system of the store is made
 * durable at once. 0 or -errno: then nothing is known, and each must be committed by itself.
 */
int coll_store_sync(struct coll_store *st);

/*
 * After coll_store_sync has succeeded, with nothing appended since: as commit, without waiting. The
 * file itself is asked for errors: before Linux 5.8 syncfs tells of none, and of each only once.
 */
int coll_stream_synced(struct coll_store *st, struct coll_stream *s);

/*
 * Moves acked, if all that was appended is durable: to the highest contiguous number, or further
 * where the client itself has jumped over numbers (they went to its spool, or it dropped them, and
 * it will not send them any more). Clients send a stream in ascending order on a connection.
 */
void coll_stream_acknowledge(struct coll_stream *s);

static inline bool coll_stream_dirty(const struct coll_stream *s)
{
	return s->size != s->synced;
}

void coll_store_close(struct coll_store *st, struct coll_stream *s);

#endif
