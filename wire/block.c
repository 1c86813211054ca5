/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns back to events, a chunk at a time: the chunk's columns are unpacked into arrays that
 * stay in the first cache, then one loop runs the predictors and writes the events.
 */
#include "block.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "bytes.h"
#include "columns.h"
#include "predict.h"

#define CHUNK WIRE_COLUMN_CHUNK

enum {
	PLACE,
	SHAPE,
	NAME,
	BYTES,
	GRAPH,
	CORR,
	START,
	DURATION,
	COLUMNS
};

static const struct {
	uint8_t section;
	uint64_t max;
} column_of[COLUMNS] = {
	[PLACE] = { WIRE_SECTION_PLACE, UINT32_MAX },
	[SHAPE] = { WIRE_SECTION_SHAPE, UINT32_MAX },
	[NAME] = { WIRE_SECTION_NAME, UINT32_MAX },
	[BYTES] = { WIRE_SECTION_BYTES, UINT64_MAX },
	[GRAPH] = { WIRE_SECTION_GRAPH, UINT32_MAX },
	[CORR] = { WIRE_SECTION_CORR, UINT64_MAX },
	[START] = { WIRE_SECTION_START, UINT64_MAX },
	[DURATION] = { WIRE_SECTION_DURATION, UINT64_MAX },
};

struct section {
	const uint8_t *data; /* NULL: absent */
	size_t len;
};

struct place {
	uint32_t device, context, stream, tid;
	bool begun;
	struct wire_place state;
};

struct decoder {
	struct section section[WIRE_SECTION_MAX];
	uint8_t kind;
	uint32_t count;
	struct place *place;
	uint32_t places;
	const uint8_t *shape; /* eight bytes each */
	uint32_t shapes;
	enum wire_start_model model;
	struct wire_context x;
	uint64_t before_start, before_corr;
	struct wire_column column[COLUMNS];
};

/* Where each section lies. 0, -EBADMSG, or -EPROTO: one that must be known is not. */
static int find_sections(struct decoder *d, const uint8_t *p, size_t len)
{
	const uint8_t *end = p + len;
	uint8_t before = 0;

	while (p < end) {
		uint8_t id = *p;
		size_t size;

		if (end - p < WIRE_SECTION_HEADER || id <= before)
			return -EBADMSG;
		size = wire_get32(p + 1);
		p += WIRE_SECTION_HEADER;
		if (size > (size_t)(end - p))
			return -EBADMSG;
		if (id >= WIRE_SECTION_MAX && id < WIRE_SECTION_OPTIONAL)
			return -EPROTO;
		if (id < WIRE_SECTION_MAX)
			d->section[id] = (struct section){ p, size };
		before = id;
		p += size;
	}
	return 0;
}

/* A dictionary's number of entries; at least one, and no more than there are events. */
static const uint8_t *get_count(const struct decoder *d, const struct section *s, uint32_t *count)
{
	const uint8_t *p;
	uint64_t v;

	if (!s->data)
		return NULL;
	p = wire_varint_get(s->data, s->data + s->len, &v);
	if (!p || !v || v > d->count)
		return NULL;
	*count = (uint32_t)v;
	return p;
}

static const uint8_t *get_u32(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
	uint64_t v;

	p = p ? wire_varint_get(p, end, &v) : NULL;
	if (!p || v > UINT32_MAX)
		return NULL;
	*out = (uint32_t)v;
	return p;
}

static int read_places(struct decoder *d)
{
	const struct section *s = &d->section[WIRE_SECTION_PLACES];
	const uint8_t *p = get_count(d, s, &d->places), *end;
	uint32_t i;

	if (!p)
		return -EBADMSG;
	end = s->data + s->len;
	if (d->places > (size_t)(end - p) / 4)
		return -EBADMSG;
	d->place = calloc(d->places, sizeof(*d->place));
	if (!d->place)
		return -ENOMEM;
	for (i = 0; p && i < d->places; i++) {
		p = get_u32(p, end, &d->place[i].device);
		p = get_u32(p, end, &d->place[i].context);
		p = get_u32(p, end, &d->place[i].stream);
		p = get_u32(p, end, &d->place[i].tid);
	}
	return p == end ? 0 : -EBADMSG;
}

static int read_shapes(struct decoder *d)
{
	const struct section *s = &d->section[WIRE_SECTION_SHAPES];

	d->shape = get_count(d, s, &d->shapes);
	if (!d->shape || (size_t)(s->data + s->len - d->shape) != d->shapes * (size_t)8)
		return -EBADMSG;
	return 0;
}

static int read_time(struct decoder *d)
{
	const struct section *s = &d->section[WIRE_SECTION_TIME];

	if (!s->data || s->len != WIRE_TIME_BYTES)
		return -EBADMSG;
	if (s->data[0] > WIRE_START_AFTER_START || s->data[1] > WIRE_CONTEXT_BITS_MAX)
		return -EPROTO;
	d->model = s->data[0];
	d->x.bits = s->data[1];
	d->before_start = wire_get64(s->data + 2);
	if (!d->x.bits)
		return 0;
	d->x.by_history = calloc((size_t)2 << d->x.bits, sizeof(*d->x.by_history));
	if (!d->x.by_history)
		return -ENOMEM;
	d->x.by_symbol = d->x.by_history + ((size_t)1 << d->x.bits);
	return 0;
}

static int open_column(struct decoder *d, int i, size_t n)
{
	const struct section *s = &d->section[column_of[i].section];

	if (!s->data) {
		wire_column_zero(&d->column[i], n);
		return 0;
	}
	return wire_column_open(&d->column[i], s->data, s->len, n, column_of[i].max);
}

/* Values of a sparse column: as many as events have a shape that asks for one. */
static int count_sparse(struct decoder *d, size_t *bytes, size_t *graphs)
{
	struct wire_column c = d->column[SHAPE];
	uint64_t shape[CHUNK];
	size_t at, i, n;

	*bytes = *graphs = 0;
	for (at = 0; at < d->count; at += n) {
		n = d->count - at < CHUNK ? d->count - at : CHUNK;
		if (wire_column_read(&c, shape, n))
			return -EBADMSG;
		for (i = 0; i < n; i++) {
			uint64_t v;

			if (shape[i] >= d->shapes)
				return -EBADMSG;
			v = wire_get64(d->shape + shape[i] * 8);
			*bytes += !!(v & WIRE_SHAPE_BYTES);
			*graphs += !!(v & WIRE_SHAPE_GRAPH);
		}
	}
	return 0;
}

static int open_columns(struct decoder *d)
{
	size_t n[COLUMNS];
	int i, err;

	for (i = 0; i < COLUMNS; i++)
		n[i] = d->count;
	err = open_column(d, SHAPE, d->count);
	if (!err)
		err = count_sparse(d, &n[BYTES], &n[GRAPH]);
	for (i = 0; !err && i < COLUMNS; i++)
		err = open_column(d, i, n[i]);
	return err;
}

static void set_shape(struct wire_event *e, uint64_t v)
{
	e->op = (uint8_t)(v >> WIRE_SHAPE_AT_OP);
	e->copy = (uint8_t)(v >> WIRE_SHAPE_AT_COPY);
	e->src = (uint8_t)(v >> WIRE_SHAPE_AT_SRC);
	e->dst = (uint8_t)(v >> WIRE_SHAPE_AT_DST);
	e->flags = (uint8_t)(v >> WIRE_SHAPE_AT_FLAGS);
	e->peer = (uint16_t)(v >> WIRE_SHAPE_AT_PEER);
}

/* One value of a sparse column into each event of the chunk whose shape has @bit. */
static int spread(struct wire_column *c, const uint64_t *shape, size_t n, uint64_t bit,
		  uint64_t *out)
{
	uint64_t dense[CHUNK];
	size_t i, used = 0;

	for (i = 0; i < n; i++)
		used += !!(shape[i] & bit);
	if (wire_column_read(c, dense, used))
		return -EBADMSG;
	used = 0;
	for (i = 0; i < n; i++)
		out[i] = shape[i] & bit ? dense[used++] : 0;
	return 0;
}

/* The chunk's columns; shape numbers are replaced by the shapes. */
static int read_chunk(struct decoder *d, uint64_t v[COLUMNS][CHUNK], uint64_t *shape, size_t n)
{
	static const uint8_t dense[] = { PLACE, SHAPE, NAME, CORR, START, DURATION };
	uint64_t bad = 0;
	size_t i;

	for (i = 0; i < sizeof(dense); i++)
		if (wire_column_read(&d->column[dense[i]], v[dense[i]], n))
			return -EBADMSG;
	for (i = 0; i < n; i++) {
		shape[i] = wire_get64(d->shape + v[SHAPE][i] * 8);
		bad |= v[PLACE][i] >= d->places;
	}
	if (bad || spread(&d->column[BYTES], shape, n, WIRE_SHAPE_BYTES, v[BYTES]))
		return -EBADMSG;
	return spread(&d->column[GRAPH], shape, n, WIRE_SHAPE_GRAPH, v[GRAPH]);
}

/* Adds what was expected to the residual @v; the tables learn the sum. */
static inline uint64_t duration_of(const struct wire_context *x, struct wire_place *p,
				   uint32_t symbol, uint64_t v)
{
	uint32_t *by_history = &x->by_history[wire_slot(wire_history(p, symbol), x->bits)];
	uint32_t *by_symbol = &x->by_symbol[wire_slot(symbol, x->bits)];

	v += *by_history ? *by_history : *by_symbol;
	*by_history = (uint32_t)v;
	*by_symbol = (uint32_t)v;
	wire_remember(p, symbol);
	return v;
}

static void make_events(struct decoder *d, uint64_t v[COLUMNS][CHUNK], const uint64_t *shape,
			size_t n, struct wire_event *ev)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct place *place = &d->place[v[PLACE][i]];
		struct wire_place *p = &place->state;
		uint64_t start, duration = wire_unzigzag(v[DURATION][i]);
		struct wire_event *e = &ev[i];

		if (!place->begun) {
			place->begun = true;
			p->time = d->before_start;
			p->corr = d->before_corr;
		}
		if (d->x.bits)
			duration = duration_of(&d->x, p,
					       wire_symbol((uint32_t)v[NAME][i],
							   (uint32_t)v[SHAPE][i], v[BYTES][i]),
					       duration);
		start = p->time + wire_unzigzag(v[START][i]);
		p->time = d->model == WIRE_START_AFTER_END ? start + duration : start;
		p->corr += wire_unzigzag(v[CORR][i]);
		d->before_start = start;
		d->before_corr = p->corr;
		e->start_ns = (int64_t)start;
		e->end_ns = (int64_t)(start + duration);
		e->corr = p->corr;
		e->bytes = v[BYTES][i];
		e->name = (uint32_t)v[NAME][i];
		e->device = place->device;
		e->context = place->context;
		e->stream = place->stream;
		e->tid = place->tid;
		e->graph = (uint32_t)v[GRAPH][i];
		e->kind = d->kind;
		set_shape(e, shape[i]);
	}
}

static int decode(struct decoder *d, struct wire_event *ev)
{
	uint64_t v[COLUMNS][CHUNK], shape[CHUNK];
	size_t at, n, i;

	for (at = 0; at < d->count; at += n) {
		n = d->count - at < CHUNK ? d->count - at : CHUNK;
		if (read_chunk(d, v, shape, n))
			return -EBADMSG;
		make_events(d, v, shape, n, ev + at);
	}
	for (i = 0; i < COLUMNS; i++)
		if (d->section[column_of[i].section].data && wire_column_close(&d->column[i]))
			return -EBADMSG;
	return 0;
}

int wire_block_decode(uint8_t kind, uint32_t count, const uint8_t *columns, size_t len,
		      struct wire_event *ev)
{
	struct decoder d = { .kind = kind, .count = count };
	int err;

	if (!kind || !count || count > WIRE_BLOCK_EVENTS_MAX)
		return -EBADMSG;
	err = find_sections(&d, columns, len);
	if (!err)
		err = read_places(&d);
	if (!err)
		err = read_shapes(&d);
	if (!err)
		err = read_time(&d);
	if (!err)
		err = open_columns(&d);
	if (!err)
		err = decode(&d, ev);
	free(d.x.by_history);
	free(d.place);
	return err;
}
