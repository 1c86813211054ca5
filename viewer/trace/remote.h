/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run in an object store, "s3://BUCKET/.../RUN" (docs/FORMAT.md, "Segments"). Its small files are
 * fetched into a folder of this process's; its segments are read where they lie, in pieces that are
 * kept up to VIEW_REMOTE_KEPT_BYTES, and beyond that in a temporary file, where there is one. Every
 * byte is hostile. Segments from any thread, several at
 * once; all else one thread.
 */
#ifndef VIEW_REMOTE_H
#define VIEW_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include "wire/reader.h"

#define VIEW_REMOTE_KEPT_BYTES (256u << 20)

struct view_remote;

/* Whether a run is named that lies in an object store. */
bool view_is_remote(const char *path);

/*
 * Lists the run and fetches its small files. 0 or negative errno as view_trace_open, *why then as
 * there, with what to do about it, valid until the next call of this thread.
 */
int view_remote_open(struct view_remote **r, const char *url, const char **why);
/* Removes the folder. */
void view_remote_close(struct view_remote *r);

/* Where the small files are: a folder called as the run is. */
const char *view_remote_folder(const struct view_remote *r);

/* Segments, in order of their names: "<file>/<first>-<last>". */
size_t view_remote_segments(const struct view_remote *r);
const char *view_remote_name(const struct view_remote *r, size_t i);
/* 0 and *f, which is closed before @r; or negative errno. */
int view_remote_segment(struct view_remote *r, size_t i, struct wire_file **f);

/*
 * Why some of it could not be read since it was opened, for the user; NULL: all that was asked for
 * came. Once there is such a reason nothing more is asked for. Valid while @r is open.
 */
const char *view_remote_trouble(const struct view_remote *r);

#endif
