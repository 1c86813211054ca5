/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put it if it is new, else look whose it is.
 */
#include "send.h"

#include <errno.h>
#include <stdio.h>

int segments_same(uint64_t size, size_t len, struct objects_trouble *t)
{
	if (size == len)
		return 0;
	snprintf(t->why, sizeof(t->why), "other bytes are there; is it another run of that id?");
	return -EEXIST;
}

int segments_send(struct objects *o, const char *key, const void *bytes, size_t len,
		  struct objects_trouble *t)
{
	uint64_t size;
	int err = objects_put(o, key, bytes, len, true, t);

	if (!err)
		return 1;
	if (err != -EEXIST)
		return err;
	/* A try of ours whose answer was lost, or somebody who sends the same. */
	err = objects_size(o, key, &size, t);
	return err ? err : segments_same(size, len, t);
}
