/* SPDX-License-Identifier: Apache-2.0 */
/* Directories. Any thread. */
#ifndef COLL_PATHS_H
#define COLL_PATHS_H

#include <sys/types.h>

/* Makes a directory and those above it; what is there already is fine. 0 or -errno. */
int coll_mkdirs(const char *path, mode_t mode);

/* The same, and their names are durable: fine where those above may not be read. */
int coll_mkdirs_kept(const char *path, mode_t mode);

/*
 * As coll_mkdirs, for the directory that @file lies in. Only that one is made with @mode, others
 * 0777.
 */
int coll_mkdirs_for(const char *file, mode_t mode);

#endif
