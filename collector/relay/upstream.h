/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwarding to a central collector: what comes in here goes on to it as it is, from the files in
 * which it is stored (outbox.h), one request at a time (link.h). The centre may be away for as long
 * as the disk has room; nothing that happens on the way touches what clients send here.
 *
 * About once a second, and after each request that left more to do: changed side files, then a
 * batch of frames from the runs in turn. A request that fails is made again after 0.5 s, 1 s, ...
 * 30 s, each shortened by chance by up to half, or when Retry-After says. Which frames were stored
 * is known from the answer alone; where none came, or a stranger answered, they go again. A run
 * that the centre cannot take (5xx) waits for longer and longer, up to a minute, while others go
 * on.
 *
 * One thread. @u may be NULL in all calls.
 */
#ifndef COLL_UPSTREAM_H
#define COLL_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

struct coll_context;
struct coll_store;
struct coll_stream;
struct coll_upstream;
struct coll_upstream_options;
struct wire_frame;

/*
 * Forwards what the store holds, as the options say; *out is NULL without a URL. All is borrowed. 0
 * or
 * -errno, logged.
 */
int coll_upstream_open(struct coll_upstream **out, const struct coll_upstream_options *o,
		       struct coll_context *context, struct coll_store *store);
void coll_upstream_close(struct coll_upstream *u);

/* A stream of the collector's own store was opened. */
void coll_upstream_follow(struct coll_upstream *u, const struct coll_stream *s);

/*
 * True: so much waits to be forwarded that this frame is not to be stored, but acknowledged; it is
 * counted as lost.
 */
bool coll_upstream_drops(struct coll_upstream *u, const struct wire_frame *f);

/* About once a second. */
void coll_upstream_tick(struct coll_upstream *u);

/* How long the loop may wait: milliseconds, -1: for ever. And after each turn. */
int coll_upstream_timeout(const struct coll_upstream *u);
void coll_upstream_turn(struct coll_upstream *u);

/*
 * Nobody feeds us any more: goes on until all is forwarded, a request fails, or the time of
 * --linger is over. Turns the loop meanwhile.
 */
void coll_upstream_linger(struct coll_upstream *u);

#endif
