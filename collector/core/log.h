/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line at a time on stderr, as `gpustarve: collector: what: why; what to do`. A line that
 * stderr cannot take at once (a full pipe that nobody reads) is dropped and counted: the
 * collector never waits for its log. One thread.
 */
#ifndef COLL_LOG_H
#define COLL_LOG_H

#include <stdbool.h>
#include <stdint.h>

void coll_log_verbose(bool on); /* show coll_note lines; off at first */

__attribute__((format(printf, 1, 2))) void coll_log(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void coll_note(const char *fmt, ...);

uint64_t coll_log_dropped(void);

/*
 * For what may come again and again: whether nothing was logged for so long, or ever. If so it is
 * now. @last_ns: monotonic, 0: never.
 */
bool coll_log_due(int64_t *last_ns, int64_t every_ns);

#endif
