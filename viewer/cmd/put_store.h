/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies below a run's name in an object store, and what `gpustarve put` sends there: each thing
 * once, and at the end looked for again. Says itself what went wrong. One thread.
 */
#ifndef VIEW_PUT_STORE_H
#define VIEW_PUT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "objects/objects.h"

struct put_object {
	const char *key;
	uint64_t bytes;
};

struct put_store { /* zero-initialise it; view_put_close */
	struct base_arena mem;
	struct objects *objects;
	struct objects_trouble trouble;
	const char *url;
	const char *run; /* the first part of keys; the caller's */
	struct put_object *there; /* in order of keys, as they were looked at last */
	size_t theres, there_room;
	struct put_object *sent; /* segments as they have to be there at the end */
	size_t sents, sent_room;
	uint64_t bytes, segments, old; /* sent; all; and those that were there already */
};

/* 0 or negative errno. */
int view_put_open(struct put_store *p, const char *url, const char *run);
void view_put_close(struct put_store *p);

/* Says why @what failed. Returns @err. */
int view_put_trouble(struct put_store *p, const char *what, int err);

/* What lies there now. 0 or negative errno. */
int view_put_look(struct put_store *p);

/* A segment, unless it is there; @key lives as long as @p. 0 or negative errno. */
int view_put_segment(struct put_store *p, const char *key, const void *bytes, size_t len);

/* A small file, whatever was there: they change while a run goes on. 0 or negative errno. */
int view_put_small(struct put_store *p, const char *path, const char *name);

/* That all segments are there: a store may have said so and kept nothing. 0 or negative errno. */
int view_put_check(struct put_store *p);

#endif
