/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams on disk: BASE/<run>.gst/<stream>.gst, appended to as frames come in, synced in groups
 * (sync_round.h).
 *
 * A stream is open while a client feeds it, and its file is locked (flock) meanwhile, so that two
 * collectors never write one file. Between two calls a file ends with a whole frame. What the
 * file holds decides: a stream opened again is read once, from its beginning or from where it is
 * known what it holds (known.h), a torn end is cut off, and which frames it has is known from that
 * alone.
 *
 * The store owns its streams; one thread. Durations: commit waits for the disk, and so does to open
 * a stream of which it is not known that what it holds is durable.
 */
#ifndef COLL_STORE_H
#define COLL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/counters.h"
#include "epoch.h"
#include "recover.h"
#include "stream_links.h"
#include "stream.h"
#include "sync.h"

#define COLL_STORE_BUCKETS 256
#define COLL_STORE_READ_BYTES (256ull << 20) /* of streams that are opened again, in a second */

struct coll_stream_cache;

struct coll_store {
	char *base;
	int base_fd; /* valid with base */
	struct coll_sync_place place; /* the same for syncs */
	struct coll_counters *count; /* borrowed */
	struct coll_stream_cache *cache; /* of streams that were closed */
	uint64_t serial; /* of the last opening */
	struct coll_admission admission; /* zero: no limits */
	size_t streams;
	struct coll_stream *bucket[COLL_STORE_BUCKETS];
	struct coll_recovery_listener recovered; /* zero: nobody is told */
	struct coll_epoch epoch; /* see coll_store_epoch */
	int64_t read_ns; /* monotonic: since when... */
	uint64_t read_bytes; /* ... so much was read of streams that were opened again */
	struct coll_stream_links links; /* see coll_store_keep_links */
};

/* @base is made if it is not there. 0 or -errno. */
int coll_store_init(struct coll_store *st, const char *base, struct coll_counters *count);
void coll_store_fini(struct coll_store *st); /* closes what is open, without a sync */

/* Which store this is (epoch.h), as text. NULL: that cannot be kept; *err says why. */
const char *coll_store_epoch(struct coll_store *st, int *err);

/*
 * From now on streams have links (stream_links.h), as they are to where frames come whose Hello
 * came long ago, from nodes. A folder of one user's runs needs none: processes say Hello on each
 * connection.
 */
void coll_store_keep_links(struct coll_store *st);

/* An open stream; NULL: not open. */
struct coll_stream *coll_store_get(struct coll_store *st, const uint8_t *id);

/*
 * Opens a stream of @hello's run, new or from disk. 0; -EBADMSG: no run id; -EBUSY: another
 * collector writes it; -EAGAIN: so much was read of others in this second that the loop has to turn
 * (only where links are kept: who feeds such a store comes again); -errno.
 */
int coll_store_open(struct coll_store *st, const uint8_t *id, const struct coll_hello *hello,
		    struct coll_stream **out);

/*
 * Opens a stream that some run directory of BASE has. -ENOENT: none has it, as far as its links
 * tell;
 * -EAGAIN: that is not known yet.
 */
int coll_store_find(struct coll_store *st, const uint8_t *id, struct coll_stream **out);

/*
 * Makes all that was appended durable and moves acked: a whole sync (sync.h), which waits for the
 * disk. On an error the stream must be closed.
 */
int coll_stream_commit(struct coll_store *st, struct coll_stream *s);

/* Not while it is syncing. */
void coll_store_close(struct coll_store *st, struct coll_stream *s);

#endif
