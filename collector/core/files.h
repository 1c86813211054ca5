/* SPDX-License-Identifier: Apache-2.0 */
/* Small files replaced atomically: a reader, also after a crash, sees the old or the new one. */
#ifndef COLL_FILES_H
#define COLL_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Replaces @dir/@name, durably; by way of @dir/.@name.tmp. 0 or -errno. */
int coll_file_replace(const char *dir, const char *name, const void *bytes, size_t len);

/*
 * The same with what @put writes into the empty file; it is the one that gets the name. @put: 0 or
 * -errno.
 */
int coll_file_replace_by(const char *dir, const char *name, int (*put)(int fd, void *arg),
			 void *arg);

/* Makes the names in @dir durable. 0 or -errno; fine where a file system cannot sync folders. */
int coll_folder_sync(const char *dir);

/*
 * The whole of a regular file of at most @max bytes, with a zero behind it; the caller's to free.
 * Links are not followed. 0 or -errno; -EFBIG.
 */
int coll_file_read(const char *path, size_t max, uint8_t **bytes, size_t *len);

/* The same of a name in a directory that is open, ... */
int coll_file_read_at(int dir_fd, const char *name, size_t max, uint8_t **bytes, size_t *len);

/* ... and of a file that whoever runs the collector names: links are followed. */
int coll_file_read_linked(const char *path, size_t max, uint8_t **bytes, size_t *len);

#endif
