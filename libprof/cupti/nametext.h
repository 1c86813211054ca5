/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text behind a pointer that may point nowhere: CUPTI before 13.4 update 1 goes on giving the
 * names of kernels whose module was unloaded (facts/cupti.h). Any thread, inside CUPTI's callback
 * too: no allocation, no descriptor; errno changes.
 */
#ifndef PROF_NAMETEXT_H
#define PROF_NAMETEXT_H

#include <sys/types.h>

/*
 * Copies the text at @from, without its NUL and cut to @room bytes. Its length, or -EFAULT where
 * there is no memory before it ends. About 0.5 us.
 */
ssize_t prof_nametext_read(const char *from, char *to, size_t room);

/* For tests: as where the kernel does not allow process_vm_readv. */
void prof_nametext_forbid(void);

#endif
