/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks in a list; large requests get a chunk of their own. */
#include "arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

struct base_arena_chunk {
	struct base_arena_chunk *next;
	size_t used, room;
	alignas(max_align_t) unsigned char data[];
};

static _Noreturn void out_of_memory(void)
{
	fputs("gpustarve: out of memory: the result does not fit; use a machine with more\n",
	      stderr);
	exit(1);
}

static struct base_arena_chunk *chunk_new(struct base_arena *a, size_t bytes)
{
	size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	struct base_arena_chunk *c = calloc(1, sizeof(*c) + room);

	if (!c)
		out_of_memory();
	c->room = room;
	c->next = a->chunk;
	a->chunk = c;
	return c;
}

void *base_arena_alloc(struct base_arena *a, size_t bytes)
{
	struct base_arena_chunk *c = a->chunk;
	size_t step = alignof(max_align_t);

	if (bytes > SIZE_MAX / 2)
		out_of_memory();
	bytes = (bytes + step - 1) / step * step;
	if (!c || c->room - c->used < bytes)
		c = chunk_new(a, bytes);
	void *p = c->data + c->used;
	c->used += bytes;
	return p;
}

void *base_arena_array(struct base_arena *a, size_t count, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(count, bytes, &all))
		out_of_memory();
	return base_arena_alloc(a, all);
}

char *base_arena_copy(struct base_arena *a, const char *text, size_t len)
{
	char *p = base_arena_alloc(a, len + 1);

	memcpy(p, text, len);
	return p;
}

char *base_arena_text(struct base_arena *a, const char *text)
{
	return text ? base_arena_copy(a, text, strlen(text)) : NULL;
}

char *base_arena_printf(struct base_arena *a, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *p = base_arena_alloc(a, n > 0 ? (size_t)n + 1 : 1);
	if (n > 0)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p;
}

void base_arena_fini(struct base_arena *a)
{
	while (a->chunk) {
		struct base_arena_chunk *c = a->chunk;
		a->chunk = c->next;
		free(c);
	}
}
