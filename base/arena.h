/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: a summary, a parsed document, a price list. Caller-owned;
 * zero-initialise it. One thread at a time.
 *
 * Allocation never fails to the caller: without memory the process says so and exits 1. Where that
 * must not happen (`gpustarve run` while its command runs) no arena is used.
 */
#ifndef VIEW_ARENA_H
#define VIEW_ARENA_H

#include <stddef.h>

struct view_arena_chunk;
struct view_arena {
	struct view_arena_chunk *chunk;
};

void *view_arena_alloc(struct view_arena *a, size_t bytes); /* zeroed, aligned for anything */
void *view_arena_array(struct view_arena *a, size_t count, size_t bytes);
char *view_arena_copy(struct view_arena *a, const char *text, size_t len); /* adds a NUL */
char *view_arena_text(struct view_arena *a, const char *text); /* NULL gives NULL */
char *view_arena_printf(struct view_arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void view_arena_fini(struct view_arena *a);

#endif
