/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cursor of a run as text:
 *
 *   gpustarve upstream 2
 *   to URL
 *   centre ID START              what follows was acknowledged by the store ID (centre.h), which was last
 *                                asked about it when START began; "- 0": it does not say which it is
 *   frames BYTES EXTENT NAME     acknowledged bytes of a stream's file or a spool file, and how long the
 *                                stream was there then; "-": not known
 *   side MTIME_NS SIZE NAME      as a side file was when it was sent
 *   forwarded                    all of it, and the run is over
 *   centre ...                   the same of a store before: of four at most
 *
 * The first version had no centre lines and no EXTENT: it is read as of a centre that does not say.
 * One that cannot be read counts as none: everything goes again. One thread.
 */
#ifndef COLL_CURSOR_H
#define COLL_CURSOR_H

#include "centre.h"
#include "out_run.h"

#define COLL_CURSOR_MAX (4u << 20)

/*
 * Reads @run's cursor into files that it adds, as far as it is of the store @centre. 0; -ENOENT: it
 * has none; -ESTALE: of another upstream or damaged, then nothing was added.
 */
int coll_cursor_read(struct coll_out_run *run, const char *to, const struct coll_centre *centre);

/*
 * From now on @centre is who acknowledges. What the store before had acknowledged is kept for when
 * it comes back; of this one holds what it had acknowledged itself, or else the store that it is a
 * copy of: that is to be asked for before anything is believed. Files stay where they are in
 * memory.
 */
void coll_cursor_turn(struct coll_out_run *run, const struct coll_centre *centre);

/*
 * Whether the store that the upstream had when it was last heard of has all that lies in the run's
 * directory and is forwarded, and was asked about it since its start; by cursors alone: 1; 0: not
 * all, or it cannot be told; -ENOENT: there is no cursor, nothing of the run is forwarded.
 */
int coll_cursor_has_all(int run_fd);

/*
 * What the store that the upstream had when it was last heard of has acknowledged of the run whose
 * directory that is, read into files that are added. 0; -ENOENT: there is no cursor; -ESTALE: it
 * cannot be read, or that store was not asked about it since its start.
 */
int coll_cursor_read_present(struct coll_out_run *run, int run_fd);

/* 0 or -errno. */
int coll_cursor_write(const struct coll_out_run *run, const char *to);

#endif
