/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native stacks of blocked threads of this process, unwound from the stack pointer and program
 * counter that the kernel tells, by a libunwind that is found at run time. It is never linked: as a
 * dependency of a preloaded library it would take the place of libgcc's unwinder in the whole
 * process.
 *
 * The unwinder asks the loader for its list, under the loader's lock: never call
 * prof_native_walk where a fork may wait for the caller, nor from a callback of CUPTI.
 */
#ifndef PROF_NATIVE_H
#define PROF_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROF_NATIVE_FRAMES 64u
#define PROF_NATIVE_TEXT 16384u

/*
 * Is libunwind there? Loads it at the first call: outside of locks, and not while a fork is under
 * way. One thread.
 */
bool prof_native_ready(void);

/* Why it is not, one sentence; "" if it is. */
const char *prof_native_note(void);

/*
 * The native stack of a thread of this process that is blocked with these registers
 * (/proc/self/task/TID/syscall), as wire/evidence.h has it: module path, tab, hexadecimal offset in
 * the file's address space, tab, build id; innermost first; frames inside Python's interpreter are
 * one frame "<python>". The offset of a caller is that of its call, so that it names the right
 * function. NUL-terminated; its length, 0: nothing could be told; -ENOTSUP: no libunwind.
 * One thread at a time; allocates nothing of ours (libunwind may map memory).
 */
ssize_t prof_native_walk(uint64_t sp, uint64_t pc, char *text, size_t room);

#endif
