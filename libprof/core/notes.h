/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What could not be done and why, one sentence each, for Hello and Bye. Any thread; a note is kept
 * once. Bounded; texts are copied. Waits for nothing, in a forked child neither.
 */
#ifndef PROF_NOTES_H
#define PROF_NOTES_H

#include <stddef.h>

#define PROF_NOTES 24

__attribute__((format(printf, 1, 2))) void prof_note(const char *format, ...);

/* Fills at most PROF_NOTES pointers, valid for ever; returns how many. */
size_t prof_notes(const char **out);

#endif
