/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of /proc and /sys: opened, read and closed in one go, for programs close descriptors
 * that they do not know. By system calls alone, so that nothing that a program has put in front of
 * open or read notices. Any thread; allocates nothing.
 */
#ifndef PROF_PROCFILE_H
#define PROF_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The beginning of the file, NUL-terminated. Its length (at most @room - 1) or -errno. */
ssize_t prof_proc_read(const char *path, char *out, size_t room);

/* What a symbolic link says, NUL-terminated; nothing behind it is touched. Length or -errno. */
ssize_t prof_proc_link(const char *path, char *out, size_t room);

/*
 * The numbers that are names in a folder (threads, processes, descriptors), at most @room, the
 * first @skip of them left out. How many, or -errno.
 */
ssize_t prof_proc_numbers(const char *path, uint32_t skip, uint32_t *out, size_t room);

/*
 * Reads a number of base 10 or, with 0x, 16 at *p and sets *p behind it; false: there is none. A
 * leading minus makes it negative, in two's complement.
 */
bool prof_proc_number(const char **p, uint64_t *value);

#endif
