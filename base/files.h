/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files as a whole, in and out, and temporary ones. Any thread. The collector, which answers
 * for what it has stored, has core/files.h for files that are durable.
 */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include <stddef.h>

#define BASE_FILE_BYTES_MAX ((size_t)64 << 20)

/*
 * The whole of a regular file, with a NUL behind it that @len does not count; the caller frees it.
 * 0 or negative errno: -EISDIR, -EINVAL (no regular file), -EFBIG, ...
 */
int base_file_read(const char *path, char **text, size_t *len);

/* Reads until @room bytes are there or the file ends; *got says how many. 0 or negative errno. */
int base_read_upto(int fd, char *to, size_t room, size_t *got);

/* All of it. 0 or negative errno. */
int base_write_all(int fd, const void *data, size_t len);

/*
 * Writes a file so that readers see the old one or the new one and never a part: a temporary file
 * beside it, then rename. Nobody but the owner may write it, whatever the umask. A device or a pipe
 * is written to as it is. 0 or negative errno.
 */
int base_file_write(const char *path, const void *data, size_t len);

/*
 * A file without a name, gone with its last descriptor: in @folder, or where that is NULL in
 * TMPDIR, else /var/tmp, else /tmp. A descriptor or negative errno.
 */
int base_temp_file(const char *folder);

/* Removes a folder of plain files, as far as that goes. */
void base_folder_remove(const char *path);

#endif
