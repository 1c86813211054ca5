/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object by which one of many gateways does what all of them saw: put where there is none yet,
 * with what fired and a number of one's own, so that whoever's bytes lie there knows that he is it,
 * though an answer was lost and his put was tried again.
 */
#ifndef COLL_CLAIM_OBJECT_H
#define COLL_CLAIM_OBJECT_H

#include "live/fired.h"
#include "objects/objects.h"

#define COLL_CLAIM_KEY_BYTES 512
#define COLL_CLAIM_BYTES (LIVE_FIRED_LINE + 64)

struct coll_claim_object {
	char key[COLL_CLAIM_KEY_BYTES];
	char body[COLL_CLAIM_BYTES]; /* its line, and one that is ours alone */
	size_t len;
	char there[COLL_CLAIM_BYTES]; /* what lies there, if it is another's */
	size_t there_len;
	int err; /* 0: ours; -EEXIST: another's */
	struct objects_trouble trouble;
};

/* To be put as @folder/ and the hash of what fired. False: it is too long, or no number. */
bool coll_claim_object_fill(struct coll_claim_object *k, const char *folder,
			    const struct live_fired *f);

/* In any thread: k->err says what came of it. */
void coll_claim_object_put(struct coll_claim_object *k, struct objects *o);

#endif
