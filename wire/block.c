/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to columns and back.
 */
#include "block.h"

#include <errno.h>
#include "bytes.h"

enum {
	COLUMNS = 16
};

static uint64_t field(const struct wire_event *e, int column)
{
	switch (column) {
	case 0:
		return (uint64_t)e->start_ns;
	case 1:
		return (uint64_t)e->end_ns - (uint64_t)e->start_ns;
	case 2:
		return e->corr;
	case 3:
		return e->bytes;
	case 4:
		return e->name;
	case 5:
		return e->device;
	case 6:
		return e->context;
	case 7:
		return e->stream;
	case 8:
		return e->tid;
	case 9:
		return e->graph;
	case 10:
		return e->op;
	case 11:
		return e->copy;
	case 12:
		return e->src;
	case 13:
		return e->dst;
	case 14:
		return e->flags;
	default:
		return e->peer;
	}
}

static int set_field(struct wire_event *e, int column, uint64_t v)
{
	static const uint64_t max[COLUMNS] = {
		UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX,
		UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT8_MAX,  UINT8_MAX,
		UINT8_MAX,  UINT8_MAX,	UINT8_MAX,  UINT16_MAX,
	};
	if (v > max[column])
		return -EBADMSG;
	switch (column) {
	case 0:
		e->start_ns = (int64_t)v;
		break;
	case 1:
		e->end_ns = (int64_t)((uint64_t)e->start_ns + v);
		break;
	case 2:
		e->corr = v;
		break;
	case 3:
		e->bytes = v;
		break;
	case 4:
		e->name = (uint32_t)v;
		break;
	case 5:
		e->device = (uint32_t)v;
		break;
	case 6:
		e->context = (uint32_t)v;
		break;
	case 7:
		e->stream = (uint32_t)v;
		break;
	case 8:
		e->tid = (uint32_t)v;
		break;
	case 9:
		e->graph = (uint32_t)v;
		break;
	case 10:
		e->op = (uint8_t)v;
		break;
	case 11:
		e->copy = (uint8_t)v;
		break;
	case 12:
		e->src = (uint8_t)v;
		break;
	case 13:
		e->dst = (uint8_t)v;
		break;
	case 14:
		e->flags = (uint8_t)v;
		break;
	default:
		e->peer = (uint16_t)v;
		break;
	}
	return 0;
}

int wire_block_encode(uint8_t kind, const struct wire_event *ev, size_t n, struct wire_buf *out)
{
	size_t i;
	uint8_t *p;
	int c, err;

	if (!n || n > WIRE_BLOCK_EVENTS_MAX || !kind)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (ev[i].kind != kind)
			return -EINVAL;
	err = wire_buf_reserve(out, n * COLUMNS * WIRE_VARINT_MAX);
	if (err)
		return err;
	p = out->data + out->len;
	for (c = 0; c < COLUMNS; c++) {
		uint64_t last = 0;

		for (i = 0; i < n; i++) {
			p = wire_varint_put(p, wire_zigzag(field(&ev[i], c) - last));
			last = field(&ev[i], c);
		}
	}
	out->len = (size_t)(p - out->data);
	return 0;
}

int wire_block_decode(uint8_t kind, uint32_t count, const uint8_t *columns, size_t len,
		      struct wire_event *ev)
{
	const uint8_t *p = columns, *end = columns + len;
	uint32_t i;
	int c;

	if (!kind || !count || count > WIRE_BLOCK_EVENTS_MAX)
		return -EBADMSG;
	memset(ev, 0, count * sizeof(*ev));
	for (c = 0; c < COLUMNS; c++) {
		uint64_t last = 0, v;

		for (i = 0; i < count; i++) {
			p = wire_varint_get(p, end, &v);
			if (!p)
				return -EBADMSG;
			last += wire_unzigzag(v);
			ev[i].kind = kind;
			if (set_field(&ev[i], c, last))
				return -EBADMSG;
		}
	}
	return p == end ? 0 : -EBADMSG;
}
