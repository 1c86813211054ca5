/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking messages of others in bounded memory: a body of some hundred bytes, compressed, may
 * hold half a million empty messages of a hundred bytes each.
 */
#ifndef WIRE_BOUNDED_H
#define WIRE_BOUNDED_H

#include <stddef.h>
#include <protobuf-c/protobuf-c.h>

struct wire_bounded {
	ProtobufCAllocator allocator; /* for unpacking, and for freeing what came of it */
	size_t left;
};

/* From now on @b gives out at most @most bytes, and then none: unpacking fails. */
void wire_bounded_init(struct wire_bounded *b, size_t most);

#endif
