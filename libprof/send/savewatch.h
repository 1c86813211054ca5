/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of files that were saved: whether one is deleted or written to again, by
 * whomever, for what it covered is then not safe any more; and whether one is renamed, for many
 * are saved beside their place, and count only once they are there (LEDGER 9), or a folder
 * around it is. The kernel tells it (inotify), so that nothing is opened, read or kept from
 * being freed. Where the writer has no table of descriptors of its own, or the kernel gives no
 * watch, nothing is told but the process's own renames. Sender thread.
 */
#ifndef PROF_SAVEWATCH_H
#define PROF_SAVEWATCH_H

struct prof_checkpoint;

/*
 * With each thing that happens to a save, behind its own report: a whole one is watched; a moved
 * one, of which @path is where it lies now and size how many folders it left, is found again, and
 * told; of a folder @path is where it lay, and all that were saved below it are told.
 */
void prof_savewatch_told(const struct prof_checkpoint *c, const char *path);

/* Tells what the kernel has told. One system call, and none before a save. */
void prof_savewatch_tick(void);

#endif
