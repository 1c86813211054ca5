/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cursor of a run as text:
 *
 *   gpustarve upstream 1
 *   to URL
 *   frames BYTES NAME            acknowledged bytes of a stream's file or a spool file
 *   side MTIME_NS SIZE NAME      as a side file was when it was sent
 *   forwarded                    all of it, and the run is over
 *
 * One that cannot be read counts as none: everything goes again. One thread.
 */
#ifndef COLL_CURSOR_H
#define COLL_CURSOR_H

#include "out_run.h"

#define COLL_CURSOR_MAX (4u << 20)

/*
 * Reads @run's cursor into files that it adds. 0; -ENOENT: it has none; -ESTALE: of another
 * upstream or damaged, then nothing was added.
 */
int coll_cursor_read(struct coll_out_run *run, const char *to);

/*
 * Whether an upstream, whichever it was, has acknowledged all that lies in the run's directory and is
 * forwarded, by its cursor alone: 1; 0: not all, or it cannot be told; -ENOENT: there is no cursor,
 * nothing of the run is forwarded.
 */
int coll_cursor_has_all(int run_fd);

/* The same as a coll_run_dispensable: what is not forwarded may go. */
bool coll_cursor_lets_go(int run_fd);

/* 0 or -errno. */
int coll_cursor_write(const struct coll_out_run *run, const char *to);

#endif
