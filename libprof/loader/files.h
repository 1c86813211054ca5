/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a program's own code saves: written, synced, and moved to their place by one thread
 * (LEDGER 9). fsync, fdatasync and rename of this library stand before libc's; each calls what
 * stands behind it first, and looks at what it did only while the process is recorded. Any thread;
 * async-signal-safe, no lock that is waited for, no allocation, errno kept.
 */
#ifndef PROF_FILES_H
#define PROF_FILES_H

#define PROF_FILES_LEAST (1 << 20) /* bytes; smaller ones are settings and metrics */

void prof_files_find(void); /* what stands behind; in the constructor */

/* For the hooks, and for tests: it was synced; what was moved, and where it lies now. */
void prof_files_synced(int fd);
void prof_files_moved(int from_folder, const char *from, int folder, const char *path);

#endif
