/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of one stream that one body brought, as segments in the object store (docs/FORMAT.md,
 * "Segments"). A key tells which frames are under it, whoever puts it and whenever: so what is put
 * twice, late, or by two at once is the same bytes, or at least holds the same frames.
 *
 *   HEX/FIRST-LAST          all numbers from FIRST to LAST
 *   HEX.gSUM/FIRST-LAST     some of them; SUM is the CRC32C of the numbers, u64 each
 *
 * Any thread, one at a time for each body's stream.
 */
#ifndef COLL_PIECES_H
#define COLL_PIECES_H

#include "body.h"
#include "objects/objects.h"

struct coll_pieces_count {
	uint64_t segments, there, bytes; /* put or found, found, and bytes that were put */
};

/*
 * Puts all of them, below @run (a key without a slash at its end). The stream's entries are in
 * order of their numbers afterwards, each once. 0: all are durable; or negative errno, then some
 * may be.
 */
int coll_pieces_put(struct objects *o, const char *run, const struct coll_body *b,
		    struct coll_body_stream *s, struct coll_pieces_count *count,
		    struct objects_trouble *t);

#endif
