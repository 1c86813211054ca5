/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: a summary, a parsed document, a price list. Caller-owned;
 * zero-initialise it. One thread at a time.
 *
 * Allocation never fails to the caller: without memory the process says so and exits 1. Where that
 * must not happen (`gpustarve run` while its command runs) no arena is used.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct base_arena_chunk;
struct base_arena {
	struct base_arena_chunk *chunk;
};

void *base_arena_alloc(struct base_arena *a, size_t bytes); /* zeroed, aligned for anything */
void *base_arena_array(struct base_arena *a, size_t count, size_t bytes);
char *base_arena_copy(struct base_arena *a, const char *text, size_t len); /* adds a NUL */
char *base_arena_text(struct base_arena *a, const char *text); /* NULL gives NULL */
char *base_arena_printf(struct base_arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void base_arena_fini(struct base_arena *a);

#endif
