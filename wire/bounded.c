/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is freed is not counted back: a message is unpacked once.
 */
#include "bounded.h"

#include <stdlib.h>

static void *give(void *arg, size_t size)
{
	struct wire_bounded *b = arg;

	if (size > b->left)
		return NULL;
	b->left -= size;
	return malloc(size);
}

static void take_back(void *arg, void *memory)
{
	(void)arg;
	free(memory);
}

void wire_bounded_init(struct wire_bounded *b, size_t most)
{
	b->allocator =
		(ProtobufCAllocator){ .alloc = give, .free = take_back, .allocator_data = b };
	b->left = most;
}
