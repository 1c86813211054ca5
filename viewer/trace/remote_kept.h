/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of objects, read ahead of who asks for a few bytes of them, and kept until others need the
 * room: what was used longest ago goes first. A piece is asked for once, whoever waits for it. Once
 * somebody reads in one, the next VIEW_KEPT_AHEAD of its object are fetched meanwhile, by as many
 * threads of ours, for a store is far away. Any thread. Private to trace's remote files.
 */
#ifndef VIEW_REMOTE_KEPT_H
#define VIEW_REMOTE_KEPT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VIEW_KEPT_AHEAD 4

struct view_kept;

/* Reads into @to from @at of object @object, at most @len: bytes, or negative errno. */
typedef ssize_t view_kept_ask(void *own, size_t object, void *to, size_t len, uint64_t at);

/* NULL: no memory. @pieces of @bytes each are kept at most. @ask is called from threads of ours. */
struct view_kept *view_kept_new(view_kept_ask *ask, void *own, size_t pieces, size_t bytes);
/* Waits for what is being fetched. Nobody may be reading. */
void view_kept_free(struct view_kept *k);

/* Bytes of an object that has @size: as many as there are, or the first piece's error. */
ssize_t view_kept_read(struct view_kept *k, size_t object, uint64_t size, void *to, size_t len,
		       uint64_t at);

#endif
