/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of files that were saved: whether one is deleted or written to again, by whomever,
 * for what it covered is then not safe any more (LEDGER 9). The kernel tells it (inotify), so that
 * nothing is opened, read or kept from being freed. Where the writer has no table of descriptors of
 * its own, or the kernel gives no watch, nothing is told. Sender thread.
 */
#ifndef PROF_SAVEWATCH_H
#define PROF_SAVEWATCH_H

struct prof_checkpoint;

/* With each thing that is told of a save: a whole one is watched, a moved one found again. */
void prof_savewatch_told(const struct prof_checkpoint *c, const char *path);

/* Tells what the kernel has told. One system call, and none before a save. */
void prof_savewatch_tick(void);

#endif
