/* SPDX-License-Identifier: Apache-2.0 */
/* What rangeprobe.so exports to ctypes, besides InitializeInjectionNvtx2. */
#ifndef RANGEPROBE_H
#define RANGEPROBE_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
/* Arms, once per process; ranges go to the file at @path. 0 or negative. */
int probe_arm(const char *path, int torch);
int probe_poll(void);
size_t probe_drain(int final); /* a line per range: type flags tid start_ns end_ns name */
const char *probe_note(void);
const char *probe_torch(void); /* torch's version */
int probe_on(void);
uint64_t probe_dropped(void);
#pragma GCC visibility pop

#endif
