/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment into the store, once: the same key holds the same bytes, so what is there already is
 * left as it is. Any thread, several at once.
 */
#ifndef SEGMENTS_SEND_H
#define SEGMENTS_SEND_H

#include <stddef.h>
#include <stdint.h>
#include "objects/objects.h"

/*
 * 1: it was sent; 0: it was there. -EEXIST: bytes of another length are there, which stay; or an
 * error of objects_put. Where none is there the store is asked to take it only then; nothing rests
 * on that.
 */
int segments_send(struct objects *o, const char *key, const void *bytes, size_t len,
		  struct objects_trouble *t);

/* 0: an object of @size there is one of @len bytes here; -EEXIST, and *t says so. */
int segments_same(uint64_t size, size_t len, struct objects_trouble *t);

#endif
