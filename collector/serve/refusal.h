/* SPDX-License-Identifier: Apache-2.0 */
/* What a body of frames is answered with that was not stored, or not all of it. */
#ifndef COLL_REFUSAL_H
#define COLL_REFUSAL_H

#include "http.h"
#include "ingest/feed.h"

/* All frames before this byte of the body are durable. Before the answer. */
void coll_say_stored(struct coll_http_request *r, uint64_t bytes);

/* 400, or 409 where the stream is not known; what stands before the frame is durable. */
void coll_refuse_frame(struct coll_http_request *r, const struct coll_refused *bad);

/* 503, or 507 where it is a matter of room: -errno. */
void coll_cannot_store(struct coll_http_request *r, int err);

#endif
