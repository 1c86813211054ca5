/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests/lib/pystack.py calls: libprof's python/pystack.h and sample/native.h, flat for ctypes.
 */
#ifndef PYSTACK_PROBE_H
#define PYSTACK_PROBE_H

#define EXPORT __attribute__((visibility("default")))

EXPORT int probe_open(int pid);
EXPORT int probe_leave(void);
EXPORT const char *probe_note(void);
EXPORT unsigned int probe_version(void);
EXPORT int probe_threads(int *tids, int room);
EXPORT long probe_walk(int tid, char *text, long room);
EXPORT long probe_many(int tid, int walks, int us, int *torn, char *text, long room);
EXPORT int probe_times(int tid, int walks, long *ns);
EXPORT void probe_list_times(int times, long *listing, long *holder);
EXPORT void probe_holders(int looks, int us, const int *tids, int *seen, int n);
EXPORT int probe_waits(int tid);
EXPORT int probe_collecting(void);
EXPORT int probe_in_runtime(unsigned long address);
EXPORT int probe_awaited(int tid, unsigned long *object, int room);
EXPORT int probe_asked(int tid, unsigned long *object, int room);
EXPORT int probe_holds(int tid, const unsigned long *wanted, int n, unsigned char *held,
		       unsigned char *gives);
EXPORT int probe_hold_many(int tid, unsigned long wanted, int times, int *seen);
EXPORT int probe_hold_times(int tid, const unsigned long *wanted, int n, int times, long *ns);
EXPORT int probe_awaited_times(int tid, int times, long *ns);
EXPORT int probe_is_queue(int tid, unsigned long object);
EXPORT int probe_shares(int pid, unsigned long object);
EXPORT int probe_native_ready(void);
EXPORT const char *probe_native_note(void);
EXPORT long probe_native(unsigned long sp, unsigned long pc, char *text, long room);

#endif
