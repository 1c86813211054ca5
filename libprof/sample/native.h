/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native stacks of blocked threads of this process, unwound from the stack pointer and program
 * counter that the kernel tells, by the modules' tables (cfi.h). Memory and modules are read as
 * those of another process are, so that a thread that wakes meanwhile spoils its own stack only,
 * and no lock of the loader is taken.
 *
 * The callee-saved registers of the thread are not known: a walk ends at the first frame that needs
 * one which no inner frame has saved. What it gives until then is right. The frame pointer alone is
 * looked for on the stack, by the call that led into the function that needs it.
 */
#ifndef PROF_NATIVE_H
#define PROF_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "cfibytes.h"
#include "modules.h"

#define PROF_NATIVE_FRAMES 64u
#define PROF_NATIVE_TEXT 16384u

/*
 * Can stacks be unwound here? Tries at the first call, with one of its own. One thread. x86-64 and
 * aarch64 only.
 */
bool prof_native_ready(void);

/* Why it is not, one sentence; "" if it is. */
const char *prof_native_note(void);

/*
 * The native stack of a thread of this process that is blocked with these registers
 * (/proc/self/task/TID/syscall), as wire/evidence.h has it: module path, tab, hexadecimal offset in
 * the file's address space, tab, build id; innermost first, as far as Python's interpreter, which
 * is one frame "<python>" and the last. The offset of a caller is that of its call, so that it
 * names the right function. NUL-terminated; its length, 0: nothing could be told; -ENOTSUP: not
 * ready. One thread at a time, of the process that made it ready or of a child forked from it.
 */
ssize_t prof_native_walk(uint64_t sp, uint64_t pc, char *text, size_t room);

struct prof_native_frame {
	uint64_t address; /* of code; of a caller that of its call */
	uint64_t sp; /* the stack pointer in it */
};

/*
 * The frames of such a stack themselves. How many, at most @room and PROF_NATIVE_FRAMES; -ENOTSUP.
 */
ssize_t prof_native_frames(uint64_t sp, uint64_t pc, struct prof_native_frame *frame, size_t room);

/* Text of a stack of these addresses, as above. Its length. */
ssize_t prof_native_describe(const uint64_t *address, size_t n, char *text, size_t room);

/*
 * Of this process, for whoever looks at more of it than stacks: memory as it is after this call,
 * small pieces in whole pages. NULL: not ready. Modules may have been read anew by it.
 */
const struct prof_cfi_memory *prof_native_memory(void);

/* The module of an address; NULL: none. Good until a call of one of the functions above. */
const struct prof_module *prof_native_module(uint64_t address);

/* Is it an address of code or of a variable of one? */
bool prof_native_has(uint64_t address);

#endif
