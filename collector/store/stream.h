/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream's file while it is open: appended to, taken back, synced. The store (store.h) finds,
 * opens and closes streams, and owns them. One thread.
 */
#ifndef COLL_STREAM_H
#define COLL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "admission.h"
#include "hello.h"
#include "index.h"
#include "marks.h"
#include "seq_set.h"

/* What a stream was when its sync began, see sync.h. */
struct coll_stream_point {
	uint64_t size, top, high;
	size_t index; /* bytes of its records that wait */
};

#define COLL_HEX_BYTES (2 * WIRE_STREAM_ID_BYTES + 1)

struct coll_fed_stream;

struct coll_stream {
	const struct coll_admission *admission; /* borrowed, the store's */
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
	uint64_t synced_top; /* and so far numbers go in that, without a gap */
	struct coll_stream_point point;
	bool syncing; /* between begin and end of a sync: not to be closed */
	struct coll_seq_set seqs; /* stored, synced or not */
	uint64_t acked; /* what acknowledgements say, see coll_stream_acknowledge */
	uint64_t high; /* highest number that its present client has sent */
	bool cut; /* an append failed: high may be of a frame that is not there */
	struct coll_index index;
	struct coll_marks marks;
	uint64_t known; /* so much of it `.known` tells of, see known.h */
	uint64_t known_generation;
	uint8_t *
		known_next; /* what is to be written there once the sync has ended; NULL: nothing */
	bool bye; /* it has said goodbye */
	struct coll_fed_stream *fed; /* of who feeds it, see ingest/feed.h; NULL: nobody does */
	struct coll_stream *next, **link; /* in its bucket */
};

void coll_hex_of(char out[COLL_HEX_BYTES], const uint8_t *id);

/*
 * Appends whole frames. On an error nothing of them stays in the file (or a torn end where even
 * that fails, which readers skip). Limits refuse with -EDQUOT and -EFBIG, and opening with -EUSERS.
 */
int coll_stream_append(struct coll_stream *s, const uint8_t *bytes, size_t len);

/*
 * Somebody removed the file while its process runs. What was acknowledged must be there, and the
 * rest of the stream needs its beginning: it is written anew from the file that only we still see,
 * and its bytes are on disk after; its name is not, for sure. 0 or -errno.
 */
int coll_stream_write_again(struct coll_stream *s);

/* What the disk holds behind what was durable is not known: the file ends there again. */
void coll_stream_take_back(struct coll_stream *s);

/* What is there now is to be durable, ... */
void coll_stream_take_point(struct coll_stream *s);
/* ... and is. What was appended since then is not. */
void coll_stream_reach_point(struct coll_stream *s);

/* The highest number up to which all frames are durable. */
uint64_t coll_stream_durable_top(const struct coll_stream *s);

/* Locks the file against other collectors. 0; -EBUSY: one has it. File systems without locks: 0. */
int coll_stream_lock(int fd);

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

#endif
