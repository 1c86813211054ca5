/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which library's code a thread of this process waits for in a page fault: what is used for the
 * first time is read from the disk then. Any thread; allocates nothing.
 */
#ifndef PROF_CODEFAULT_H
#define PROF_CODEFAULT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The file of the code that a thread blocked in a page fault at @pc waits for: the library of @pc,
 * where that page itself is not there, or the loader's, whoever it is about to bring. Cut to
 * @room - 1 bytes. Its length; 0: it is data that is waited for, or nobody knows.
 */
size_t prof_codefault_file(uint64_t pc, char *file, size_t room);

#endif
