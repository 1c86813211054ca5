/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Have the devices run dry? Judged after each flush, from what came back with it. It only steers
 * how often the sampler samples: a kernel that still runs is not seen, and costs some samples too
 * many. Sender thread.
 */
#ifndef PROF_DRAINED_H
#define PROF_DRAINED_H

#include <stdint.h>

/*
 * @flush_ns: when the last flush began, on the trace's clock. Since when all devices that were ever
 * used are idle (monotonic ns); now, if one works, but they ran dry again and again since the call
 * before: they will be idle soon; 0: they work, or none was used.
 */
int64_t prof_drained(int64_t flush_ns);

#endif
