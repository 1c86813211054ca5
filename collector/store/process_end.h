/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes the end of a process in its run directory: `exit-coll-<stream>.json`, in the shape of the
 * wrapper's exit files, with status null (the collector is not the parent and cannot know it).
 * Written whole or not at all.
 */
#ifndef COLL_PROCESS_END_H
#define COLL_PROCESS_END_H

#include <stdint.h>
#include "hello.h"

/* @end_ns: realtime. 0 or -errno. */
int coll_process_end_write(const char *run_dir, const char *stream_hex,
			   const struct coll_hello *who, int64_t end_ns);

#endif
