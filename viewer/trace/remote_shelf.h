/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces that memory had no room for, in a file without a name: a run is read once for what its
 * streams say of themselves and once more in order of time, and is to come over the network once.
 * Takes at most half of what is free where the file is, and no memory: where temporary files lie in
 * it there is none. Any thread. Private to trace's remote files.
 */
#ifndef VIEW_REMOTE_SHELF_H
#define VIEW_REMOTE_SHELF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct view_shelf;

/* For @pieces of at most @bytes each; NULL: there is none, and nothing is kept. */
struct view_shelf *view_shelf_new(size_t pieces, size_t bytes);
void view_shelf_free(struct view_shelf *s);

/* One that was put, of which @len are wanted: that many; or negative: it is not there. */
ssize_t view_shelf_read(struct view_shelf *s, size_t piece, void *to, size_t len);
/* If there is room. Once for each piece at a time. */
void view_shelf_put(struct view_shelf *s, size_t piece, const void *from, size_t len);

#endif
