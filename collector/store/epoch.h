/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which store this is, so that who sends to it knows when it is another one than before, or may
 * have gone back in time: ID-START, and then a comma and the ID of each store that it was copied
 * from.
 *
 * ID is a random number that stands in BASE/.epoch, made when it is first asked for. That file
 * tells, too, which file it is (its inode, and when that was made): neither is kept by a copy (cp
 * -a, rsync, tar), so a store that was restored from one, or a copy that somebody else serves,
 * takes a number of its own. What was made below the file system (a snapshot, an image) keeps it;
 * so does one that was copied back file by file into the folder. START is therefore another one at
 * each start: who sees a new one asks what the store holds. One thread.
 */
#ifndef COLL_EPOCH_H
#define COLL_EPOCH_H

#define COLL_EPOCH_FILE ".epoch"
#define COLL_EPOCH_HEADER "Gpustarve-Epoch"
#define COLL_EPOCH_OTHER "this is another store than the one that is meant\n" /* 412 */
#define COLL_EPOCH_ID_BYTES 33 /* hexadecimal digits, and the end */
#define COLL_EPOCH_PARENTS 8 /* the last ones are known */
#define COLL_EPOCH_BYTES (2 * COLL_EPOCH_ID_BYTES + COLL_EPOCH_PARENTS * COLL_EPOCH_ID_BYTES)

struct coll_epoch {
	char text[COLL_EPOCH_BYTES]; /* "": not asked for yet */
};

/* Reads or makes that of @base. 0 or -errno: it cannot be written down, and must not be told. */
int coll_epoch_open(struct coll_epoch *e, const char *base);

#endif
