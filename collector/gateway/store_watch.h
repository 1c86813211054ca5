/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the object store answers, also where nodes send nothing: after a while in which nothing
 * was heard of it, it is asked for one name, by one of the hands. One thread, the loop's.
 */
#ifndef COLL_STORE_WATCH_H
#define COLL_STORE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "hands.h"
#include "objects/objects.h"

#define COLL_STORE_ASK_S 20 /* so long nothing was heard: it is asked */
#define COLL_STORE_SILENT_S 10 /* so long it has not answered: it is told */

struct coll_store_watch {
	struct coll_job job; /* first */
	struct objects *objects; /* borrowed, both */
	struct coll_hands *hands;
	bool out; /* it is asked, since ... */
	int64_t asked_ns; /* monotonic, as all here */
	int64_t heard_ns; /* when it last did what it was asked */
	bool failed; /* what it was asked last */
	int err; /* of the thread, with ... */
	struct objects_trouble trouble;
	void (*told)(void *arg, int err, const struct objects_trouble *t); /* each failure */
	void *arg;
};

/* @err: what asking it has come to just now. */
void coll_store_watch_init(struct coll_store_watch *w, struct objects *o, struct coll_hands *hands,
			   int err);

/* Each second. */
void coll_store_watch_tick(struct coll_store_watch *w);

/* It did what somebody asked of it. */
void coll_store_watch_heard(struct coll_store_watch *w);

/* For how long it has not, where it is known that it does not; 0: nothing is known against it. */
int64_t coll_store_watch_silent_ns(const struct coll_store_watch *w);

#endif
