/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of descriptors that a thread of ours has for itself. Descriptors in the program's table
 * cannot be kept: programs close what they do not know and use the numbers again, count what they
 * have open, and run into their limit. In a table of its own the thread may keep files of /proc
 * open, and reading one costs a third of opening it.
 *
 * What the program has open at that moment (descriptors below 64 only, as Linux does it; before
 * Linux
 * 5.9 all of them) is for an instant held twice, as in any child that is about to run another
 * program.
 */
#ifndef PROF_OWNFDS_H
#define PROF_OWNFDS_H

#include <stdbool.h>

/*
 * The calling thread leaves the program's table for an empty one of its own (numbers 0 to 2 lead
 * nowhere). 0, or -EPERM where a filter of system calls forbids it: the thread goes on in the
 * program's table. Only for threads of ours that never touch a descriptor of the program, the
 * sender's included, nor call what opens some for others to use (CUPTI, CUDA, NVML, the loader).
 */
int prof_ownfds_leave(void);

/* Did the calling thread leave? Then what it opens may stay open. */
bool prof_ownfds(void);

#endif
