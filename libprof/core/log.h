/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line to stderr, written with one write(2) from a stack buffer; errno is kept. Any thread.
 * Debug lines appear with GPUSTARVE_DEBUG=1 only; a complaint appears once per process, because a
 * job's stderr belongs to the job.
 */
#ifndef PROF_LOG_H
#define PROF_LOG_H

/*
 * In the constructor: what stderr is. A program may close it and open its own file under that
 * number: from then on nothing is printed. One system call.
 */
void prof_log_remember(void);

__attribute__((format(printf, 1, 2))) void prof_debug(const char *format, ...);

/* "gpustarve: what: why; what to do". Only the first of a process is printed. */
__attribute__((format(printf, 1, 2))) void prof_complain(const char *format, ...);

#endif
