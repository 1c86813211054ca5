/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that opens, writes and closes what a trace goes to. It has a table of descriptors of
 * its own: a file that the sender opened would take, if only for microseconds, the number that a
 * program expects which closes a descriptor and opens another in its place, and such a program's
 * close could hit that file, or what we write its file. The sender keeps the program's table, for
 * it calls CUPTI, NVML and the loader: what these open must be there for the program's threads,
 * too.
 *
 * The sender waits while the writer works, so the two share what the sender owns without a lock.
 */
#ifndef PROF_WRITER_H
#define PROF_WRITER_H

#include <stdint.h>

/* Sender, once. Without a thread, or a table of its own (ownfds.h), it is as if there were none. */
void prof_writer_start(void);

/*
 * Runs @fn(@arg) on the writer and returns when it has ended; without a writer it runs right here.
 * @fn may not print: stderr is the program's. Sender.
 */
void prof_writer_call(void (*fn)(void *arg), void *arg);

int64_t prof_writer_cpu_ns(void); /* its own CPU time. Any thread */

#endif
