/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage, then frames, then where that stands.
 */
#include "piece.h"

#include <stdbool.h>
#include "wire/contents.h"

static bool is_in(const struct segments_piece *p, const struct wire_damage *d, size_t len)
{
	return d->offset >= p->at && d->offset - p->at < len;
}

static int describe(struct wire_contents *c, const struct segments_piece *p,
		    const struct wire_buf *bytes)
{
	int err = 0;

	for (size_t i = 0; i < p->damages && !err; i++)
		if (is_in(p, &p->damage[i], bytes->len))
			err = wire_contents_damage(c, p->damage[i].offset - p->at,
						   p->damage[i].bytes);
	for (size_t i = 0; i < p->entries && !err; i++) {
		uint64_t from = p->entry[i].offset - p->at;

		err = wire_contents_add(c, &p->entry[i].frame,
					bytes->data + from + WIRE_FRAME_HEADER_BYTES, from);
	}
	return err;
}

int segments_piece_end(struct wire_buf *bytes, const struct segments_piece *p)
{
	struct wire_contents contents = { .frames = 0 };
	int err = describe(&contents, p, bytes);

	if (!err)
		err = wire_contents_end(&contents, bytes->len, bytes);
	wire_contents_fini(&contents);
	return err;
}
