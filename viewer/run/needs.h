/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a command need the runtime of a sanitizer as a shared library? AddressSanitizer's ends every
 * program at its start in which another library comes first, as one that is preloaded does;
 * HWASan's, whose home is aarch64, was not seen to, but is spared the same. In one with
 * ThreadSanitizer nothing may be recorded (libprof/core/sanitizer.h), so that nothing is preloaded
 * either. Programs with a runtime that is linked in statically refuse nothing.
 *
 * Read are the files that execvp, the kernel and ld.so would read: the command as PATH finds it, #!
 * lines (of env, too), the names of needed libraries. Every byte of them is hostile; on any doubt
 * the answer is no. What the command starts in turn is not looked at.
 *
 * The SPANK plugin is built with the same file: it needs nothing but libc. No allocation; what is
 * opened is closed.
 */
#ifndef VIEW_NEEDS_H
#define VIEW_NEEDS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define VIEW_NEEDS_NAME 64

/* What an executable file can be given: a program that has no loader loads nothing. */
enum view_needs_kind {
	VIEW_NEEDS_UNKNOWN, /* not to be read, or no program */
	VIEW_NEEDS_GLIBC,
	VIEW_NEEDS_MUSL, /* libprof loads there and does nothing */
	VIEW_NEEDS_STATIC,
	VIEW_NEEDS_OTHER, /* of another word size, or of another machine */
};

enum view_needs_kind view_needs_kind(const char *file);

/*
 * The program that the kernel runs for @command: PATH is searched and #! lines are followed. False:
 * there is none.
 */
bool view_needs_program(const char *command, const char *path, char out[PATH_MAX]);

/* @path: the command's PATH, NULL if it has none. True: @name is the runtime's, cut to its room. */
bool view_needs_sanitizer(const char *command, const char *path, char name[VIEW_NEEDS_NAME]);

#endif
