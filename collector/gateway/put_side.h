/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small file of a run into the object store, in place of what is there, if that is what it is to
 * take the place of. What is there is read first: its tag is made of its bytes, so all gateways
 * mean the same. Of two who replace the same at the same time the later one wins; a node sends one
 * at a time, and files of several nodes have names of their own (store/side.h).
 *
 * A request that is late, or comes twice, may put what was there before in the place of what came
 * since. So a run.json that says that its run goes on has another name than the one that says that
 * it has ended: run-begun.json, which readers take where there is no run.json (of other nodes than
 * the run's first one .run-begun-NODE.json). No run that has ended goes on again. So it is with
 * what a scheduler's job was given: until it says when the GPUs were given back, alloc-*.json is
 * begun-*.json.
 *
 * One thread, the loop's.
 */
#ifndef COLL_PUT_SIDE_H
#define COLL_PUT_SIDE_H

#include "gateway.h"
#include "store/side.h"
#include "wire/buf.h"

struct coll_put_side {
	struct coll_job job; /* first */
	struct coll_gateway *gateway;
	char *team, *run, *name, *condition; /* its own, all of them */
	char node[COLL_SIDE_NODE_BYTES];
	struct wire_buf bytes;
	struct objects_trouble trouble;
	/*
	 * What came of it: 0; -EEXIST: something else is there than it was to take the place of; or
	 * an error of the store. @tag: of what is there now, "": nothing, or it is not known. NULL: nobody
	 * waits any more.
	 */
	void (*done)(struct coll_put_side *p, int err);
	void *owner;
	char tag[COLL_SIDE_TAG_BYTES];
	int err;
	bool out;
};

/*
 * @condition: a tag, COLL_SIDE_NOTHING, or "": whatever is there. Texts are copied, the bytes are
 * taken out of @bytes. NULL: no memory.
 */
struct coll_put_side *coll_put_side_new(struct coll_gateway *g, const char *team,
					const struct coll_side *s, struct wire_buf *bytes);
/* done is called later, in a turn of the loop. */
void coll_put_side_start(struct coll_put_side *p, void (*done)(struct coll_put_side *p, int err),
			 void *owner);
/* Nobody waits for it, and it is freed once it is over, or at once. */
void coll_put_side_free(struct coll_put_side *p);

#endif
