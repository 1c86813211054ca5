/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native stacks of blocked threads of this process, unwound from the stack pointer and program
 * counter that the kernel tells, by the modules' tables (cfi.h). Memory and modules are read as those
 * of another process are, so that a thread that wakes meanwhile spoils its own stack only, and no lock
 * of the loader is taken.
 *
 * The callee-saved registers of the thread are not known: a walk ends at the first frame that needs
 * one which no inner frame has saved. What it gives until then is right.
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
 * Can stacks be unwound here? Tries at the first call, with one of its own. One thread. x86-64 only.
 */
bool prof_native_ready(void);

/* Why it is not, one sentence; "" if it is. */
const char *prof_native_note(void);

/*
 * The native stack of a thread of this process that is blocked with these registers
 * (/proc/self/task/TID/syscall), as wire/evidence.h has it: module path, tab, hexadecimal offset in
 * the file's address space, tab, build id; innermost first, as far as Python's interpreter, which is
 * one frame "<python>" and the last. The offset of a caller is that of its call, so that it names
 * the right function. NUL-terminated; its length, 0: nothing could be told; -ENOTSUP: not ready.
 * One thread at a time, of the process that made it ready or of a child forked from it.
 */
ssize_t prof_native_walk(uint64_t sp, uint64_t pc, char *text, size_t room);

#endif
