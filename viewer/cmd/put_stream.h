/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's file, cut into segments that `gpustarve put` sends. One thread. */
#ifndef VIEW_PUT_STREAM_H
#define VIEW_PUT_STREAM_H

#include "put_store.h"

/*
 * Sends the file at @path, called @name, in segments of @segment bytes or a frame more. What stands
 * behind its last frame may be one that is being written: it is left out, and comes with a later
 * `put`. 0 or negative errno, said.
 */
int view_put_stream(struct put_store *p, const char *path, const char *name, uint64_t segment);

#endif
