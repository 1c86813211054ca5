/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a process that run the same function, by the outermost one of their stacks that is not
 * of threading: what was found out of those who came first holds for one that has just begun. One
 * thread; allocates nothing.
 */
#ifndef PROF_KINDRED_H
#define PROF_KINDRED_H

#include <stdint.h>

#define PROF_KINDRED_MAX 64u /* functions; a power of two */

struct prof_kindred {
	uint64_t key;
	uint32_t looks; /* at threads of it */
	/* bits of struct prof_links.wanted: one of them was seen to take from these */
	uint32_t takes;
};

/* Of the function; 0: the stack (struct prof_thread_sample) has none. */
uint64_t prof_kindred_key(uint32_t pid, const char *stack);

/* Its place, cleared if it was another's; NULL for key 0. */
struct prof_kindred *prof_kindred_of(struct prof_kindred table[PROF_KINDRED_MAX], uint64_t key);

#endif
