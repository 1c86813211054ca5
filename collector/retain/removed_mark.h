/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that were removed on purpose, by age or for a quota: an empty file FOLDER/.removed/RUN.gst
 * each, so that a node that asks what became of one (serve/held.c) does not send it again. Only
 * where nodes ask: the folder has an .epoch (store/epoch.h). They go after COLL_REMOVED_DAYS. Any
 * thread.
 */
#ifndef COLL_REMOVED_MARK_H
#define COLL_REMOVED_MARK_H

#include <stdbool.h>

#define COLL_REMOVED_DIR ".removed"
#define COLL_REMOVED_DAYS 400

/* @name, a run's directory that was in @dir_fd, is gone. 0 or -errno. */
int coll_removed_mark(int dir_fd, const char *name);

/* Whether that was so. */
bool coll_removed_is_marked(int dir_fd, const char *name);

/* Removes what is too old. */
void coll_removed_clean(int dir_fd);

#endif
