/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body of frames into the object store. First the runs of its streams are found where they are
 * not known; a stream that nobody knows ends what is taken of the body, as a refused frame does
 * (refused.unknown). Then the streams are put, at the same time. One thread, the loop's.
 */
#ifndef COLL_PUT_FRAMES_H
#define COLL_PUT_FRAMES_H

#include "body.h"
#include "gateway.h"
#include "pieces.h"

struct coll_put_stream;

struct coll_put_frames {
	struct coll_gateway *gateway;
	const char *team; /* lives as long as the gateway */
	struct coll_body body;
	struct coll_put_stream *stream; /* as many as the body has */
	size_t left; /* jobs of the present step */
	/*
	 * All frames before body.refused.offset, or all of the body, are durable; or @err is not 0:
	 * then nobody can say which. NULL: nobody waits any more.
	 */
	void (*done)(struct coll_put_frames *p, int err);
	void *owner;
	int err;
};

/* Takes the bytes out of @body. NULL: no memory. */
struct coll_put_frames *coll_put_frames_new(struct coll_gateway *g, const char *team,
					    struct wire_buf *body);

/*
 * Begins. 0: done is called, perhaps before this returns; or -E2BIG, -ENOMEM: it is not. The
 * caller's until then, and after it.
 */
int coll_put_frames_start(struct coll_put_frames *p,
			  void (*done)(struct coll_put_frames *p, int err), void *owner);

/* Nobody waits for it, and it is freed once it is over, or at once. */
void coll_put_frames_free(struct coll_put_frames *p);

#endif
