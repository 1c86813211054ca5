/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a blocked system call was given: memory of this process or of a child, which may be gone by
 * now. Any thread; allocates nothing.
 */
#ifndef PROF_PROCMEM_H
#define PROF_PROCMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All @bytes at @from of process @pid (0: this one), or false. */
bool prof_procmem_read(pid_t pid, uint64_t from, void *to, size_t bytes);

/* Text that ends with NUL; cut to @room - 1 bytes. Its length, 0 if there is none to be had. */
size_t prof_procmem_text(pid_t pid, uint64_t from, char *to, size_t room);

#endif
