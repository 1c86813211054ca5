/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of an open wire_file, for the part that loads frames. Private to wire.
 */
#ifndef WIRE_SOURCE_H
#define WIRE_SOURCE_H

#include <sys/types.h>
#include "reader.h"

/* Bytes read, fewer only at the end of the file, or -errno. Any thread. */
ssize_t wire_file_pread(const struct wire_file *f, void *bytes, size_t len, uint64_t at);

#endif
