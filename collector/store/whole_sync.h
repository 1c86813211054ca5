/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many files that are to be durable: each is waited for, or the whole file system at once, which
 * takes one commit of its journal in place of many. But that writes out what everybody has written
 * there, and takes as long as that takes: gigabytes of a copy beside us are half a minute of a slow
 * disk, in which nobody is answered. Any thread.
 */
#ifndef COLL_WHOLE_SYNC_H
#define COLL_WHOLE_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files of which the whole is thought of at all. */
#define COLL_WHOLE_SYNC_FILES 16
/* What a disk writes in about the time that one file more takes to be waited for. */
#define COLL_WHOLE_SYNC_BYTES (256u << 10)

/* @dirty: bytes that wait to be written, on whatever disk; UINT64_MAX: not known. */
bool coll_whole_sync_pays(size_t files, uint64_t dirty);

/* Of a file as /proc/meminfo is. UINT64_MAX: it does not tell. */
uint64_t coll_whole_sync_dirty(const char *meminfo);

#endif
