/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growable byte buffer. Grows by doubling, never beyond its cap.
 */
#include "buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256u

static size_t grown_room(const struct wire_buf *b, size_t need)
{
	size_t room = b->room ? b->room : FIRST_ROOM;

	while (room < need)
		room = room > SIZE_MAX / 2 ? need : room * 2;
	return b->cap && room > b->cap ? b->cap : room;
}

int wire_buf_reserve(struct wire_buf *b, size_t more)
{
	size_t need, room;
	uint8_t *data;

	if (more <= b->room - b->len)
		return 0;
	if (more > PTRDIFF_MAX - b->len)
		return -ENOMEM;
	need = b->len + more;
	if (b->cap && need > b->cap)
		return -ENOSPC;
	room = grown_room(b, need);
	data = realloc(b->data, room);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->room = room;
	return 0;
}

int wire_buf_append(struct wire_buf *b, const void *bytes, size_t len)
{
	int err = wire_buf_reserve(b, len);

	if (err)
		return err;
	if (len)
		memcpy(b->data + b->len, bytes, len);
	b->len += len;
	return 0;
}

void wire_buf_fini(struct wire_buf *b)
{
	if (!b)
		return;
	free(b->data);
	b->data = NULL;
	b->len = 0;
	b->room = 0;
}
