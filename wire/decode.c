/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns back to events, a chunk at a time: the chunk's columns are unpacked into arrays that
 * stay in the first cache, then one loop runs the predictors and writes the events.
 */
#include "block.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "columns.h"
#include "predict.h"
#include "wide.h"

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
	[PLACE] = { WIRE_SECTION_PLACE, 0 /* by the dictionary */ },
	[SHAPE] = { WIRE_SECTION_SHAPE, 0 },
	[NAME] = { WIRE_SECTION_NAME, UINT32_MAX },
	[BYTES] = { WIRE_SECTION_BYTES, UINT64_MAX },
	[GRAPH] = { WIRE_SECTION_GRAPH, UINT32_MAX },
	[CORR] = { WIRE_SECTION_CORR, UINT64_MAX },
	[START] = { WIRE_SECTION_START, UINT64_MAX },
	[DURATION] = { WIRE_SECTION_DURATION, UINT64_MAX },
};

_Static_assert(offsetof(struct wire_event, tid) == offsetof(struct wire_event, device) + 12,
	       "a place is four u32 in a row");

struct place {
	uint32_t where[4]; /* device, context, stream, tid: as they lie in struct wire_event */
	bool begun;
	struct wire_place state;
};

struct decoder {
	struct wire_section_at section[WIRE_SECTION_MAX];
	uint8_t kind;
	uint32_t count;
	struct place *place;
	uint32_t places;
	const uint8_t *shape; /* eight bytes each */
	uint32_t shapes;
	uint64_t has; /* what any shape has: WIRE_SHAPE_BYTES, _GRAPH */
	enum wire_start_model model;
	unsigned int bits;
	uint32_t *context; /* two tables of 1 << bits */
	uint64_t before_start, before_corr;
	struct wire_column column[COLUMNS];
	struct wire_block_seen seen;
};

/*
 * The events at hand, which stay in the first cache. A column of one value fills its array once, so
 * nothing else is written there.
 */
struct chunk {
	uint64_t v[COLUMNS][CHUNK];
	uint64_t shape[CHUNK];
	int64_t start[1 + CHUNK], end[CHUNK]; /* start[0]: of the event before the chunk */
};

/* A dictionary's number of entries; at least one, and no more than there are events. */
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
	const struct wire_section_at *s = &d->section[WIRE_SECTION_PLACES];
	const uint8_t *p = wire_section_count(s, d->count, &d->places), *end;
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
		p = get_u32(p, end, &d->place[i].where[0]);
		p = get_u32(p, end, &d->place[i].where[1]);
		p = get_u32(p, end, &d->place[i].where[2]);
		p = get_u32(p, end, &d->place[i].where[3]);
	}
	return p == end ? 0 : -EBADMSG;
}

static int read_shapes(struct decoder *d)
{
	const struct wire_section_at *s = &d->section[WIRE_SECTION_SHAPES];
	uint32_t i;

	d->shape = wire_section_count(s, d->count, &d->shapes);
	if (!d->shape || (size_t)(s->data + s->len - d->shape) != d->shapes * (size_t)8)
		return -EBADMSG;
	for (i = 0; i < d->shapes; i++)
		d->has |= wire_get64(d->shape + i * (size_t)8);
	return 0;
}

static int read_time(struct decoder *d)
{
	const struct wire_section_at *s = &d->section[WIRE_SECTION_TIME];

	if (!s->data || s->len != WIRE_TIME_BYTES)
		return -EBADMSG;
	if (s->data[0] > WIRE_START_AFTER_START || s->data[1] > WIRE_CONTEXT_BITS_MAX)
		return -EPROTO;
	d->model = s->data[0];
	d->bits = s->data[1];
	d->before_start = wire_get64(s->data + 2);
	if (!d->bits)
		return 0;
	d->context = calloc((size_t)2 << d->bits, sizeof(*d->context));
	return d->context ? 0 : -ENOMEM;
}

static int open_column(struct decoder *d, int i)
{
	struct wire_section_at s = d->section[column_of[i].section];
	const uint8_t *p = s.data;
	uint64_t n = d->count, max = column_of[i].max;

	if (!p) {
		wire_column_zero(&d->column[i], d->count);
		return 0;
	}
	if (i == PLACE || i == SHAPE)
		max = i == PLACE ? d->places - 1 : d->shapes - 1;
	if (i == BYTES || i == GRAPH)
		p = wire_varint_get(p, s.data + s.len, &n);
	if (!p || n > d->count)
		return -EBADMSG;
	return wire_column_open(&d->column[i], p, s.len - (size_t)(p - s.data), (size_t)n, max);
}

static int open_columns(struct decoder *d)
{
	int i, err = 0;

	for (i = 0; !err && i < COLUMNS; i++)
		err = open_column(d, i);
	return err;
}

/* The chunk's values of a sparse column: one for each event whose shape has @bit. */
static int read_sparse(struct wire_column *c, uint64_t *v, const uint64_t *shape, size_t n,
		       uint64_t bit)
{
	size_t i, used = 0;

	for (i = 0; i < n; i++)
		used += (shape[i] & bit) / bit;
	return wire_column_read(c, v, used);
}

/* The shapes that the chunk's events name by number; where there is one alone, once for all. */
static void name_shapes(const struct decoder *d, struct chunk *c, size_t n, bool first)
{
	size_t i;

	if (d->shapes == 1)
		n = first ? CHUNK : 0;
	for (i = 0; i < n; i++)
		c->shape[i] = wire_get64(d->shape + (d->shapes > 1 ? c->v[SHAPE][i] * 8 : 0));
}

static int read_chunk(struct decoder *d, struct chunk *c, size_t n, bool first)
{
	static const uint8_t dense[] = { PLACE, SHAPE, NAME, CORR, START, DURATION };
	size_t i;

	for (i = 0; i < sizeof(dense); i++)
		if (wire_column_read(&d->column[dense[i]], c->v[dense[i]], n))
			return -EBADMSG;
	name_shapes(d, c, n, first);
	if (d->has & WIRE_SHAPE_BYTES &&
	    read_sparse(&d->column[BYTES], c->v[BYTES], c->shape, n, WIRE_SHAPE_BYTES))
		return -EBADMSG;
	if (d->has & WIRE_SHAPE_GRAPH &&
	    read_sparse(&d->column[GRAPH], c->v[GRAPH], c->shape, n, WIRE_SHAPE_GRAPH))
		return -EBADMSG;
	return 0;
}

/* Adds what was expected to the residual @v; the tables learn the sum. */
static inline uint64_t duration_of(uint32_t *restrict table, unsigned int bits,
				   struct wire_place *p, uint32_t symbol, uint64_t v)
{
	uint32_t history = wire_history(p->history, symbol);
	uint32_t *by_history = &table[wire_slot(history, bits)];
	uint32_t *by_symbol = &table[((size_t)1 << bits) + wire_slot(symbol, bits)];

	v += *by_history ? *by_history : *by_symbol;
	*by_history = (uint32_t)v;
	*by_symbol = (uint32_t)v;
	p->history = history;
	return v;
}

/* A place that was not seen yet goes on from the event before. */
static inline struct wire_place enter(struct place *p, uint64_t start, uint64_t corr)
{
	if (!p->begun) {
		p->begun = true;
		p->state.time = start;
		p->state.corr = corr;
	}
	return p->state;
}

/*
 * Neighbours are mostly of one place, whose state is kept at hand. Inline, so that each way through
 * is a loop of its own: what is constant in @has (of WIRE_SHAPE_BYTES, _GRAPH) and @learnt
 * (durations are) is never asked per event.
 */
WIRE_INLINE void make_events(struct decoder *d, struct chunk *restrict c, size_t n, uint64_t has,
			     bool learnt, struct wire_event *restrict ev)
{
	const uint64_t *bytes = c->v[BYTES], *graph = c->v[GRAPH], *shape = c->shape;
	const bool after_end = d->model == WIRE_START_AFTER_END;
	uint64_t start = d->before_start, corr = d->before_corr, place = c->v[PLACE][0];
	struct place *at = &d->place[place];
	struct wire_place now = enter(at, start, corr);
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t ns = wire_unzigzag(c->v[DURATION][i]);
		struct wire_event *e = &ev[i];

		if (c->v[PLACE][i] != place) {
			at->state = now;
			place = c->v[PLACE][i];
			at = &d->place[place];
			now = enter(at, start, corr);
		}
		e->bytes = has & shape[i] & WIRE_SHAPE_BYTES ? *bytes++ : 0;
		e->graph = has & shape[i] & WIRE_SHAPE_GRAPH ? (uint32_t)*graph++ : 0;
		e->name = (uint32_t)c->v[NAME][i];
		memcpy(&e->device, at->where, sizeof(at->where));
		memcpy(&e->kind, &shape[i], sizeof(shape[i]));
		e->kind = d->kind;
		if (learnt)
			ns = duration_of(d->context, d->bits, &now,
					 wire_symbol(e->name, (uint32_t)c->v[SHAPE][i],
						     has ? e->bytes : 0),
					 ns);
		start = now.time + wire_unzigzag(c->v[START][i]);
		corr = now.corr + wire_unzigzag(c->v[CORR][i]);
		now.time = after_end ? start + ns : start;
		now.corr = corr;
		e->start_ns = (int64_t)start;
		e->end_ns = (int64_t)(start + ns);
		e->corr = corr;
		c->start[1 + i] = (int64_t)start;
		c->end[i] = (int64_t)(start + ns);
	}
	at->state = now;
	d->before_start = start;
	d->before_corr = corr;
}

static void make_chunk(struct decoder *d, struct chunk *c, size_t n, struct wire_event *ev)
{
	uint64_t has = d->has & (WIRE_SHAPE_BYTES | WIRE_SHAPE_GRAPH);

	if (!has && !d->bits)
		make_events(d, c, n, 0, false, ev);
	else if (!has)
		make_events(d, c, n, 0, true, ev);
	else if (has == WIRE_SHAPE_BYTES && d->bits)
		make_events(d, c, n, WIRE_SHAPE_BYTES, true, ev);
	else
		make_events(d, c, n, has, d->bits, ev);
}

/* What the chunk's events are like, by the arrays that they were made of. */
WIRE_INLINE void look_at(struct wire_block_seen *seen, const struct chunk *c, size_t n, bool ops)
{
	const int64_t *start = c->start + 1, *before = c->start;
	int64_t t0 = seen->t0_ns, last = seen->last_start_ns, t1 = seen->t1_ns;
	uint64_t name = seen->string_max, backwards = 0, together = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		t0 = start[i] < t0 ? start[i] : t0;
		last = start[i] > last ? start[i] : last;
		t1 = c->end[i] > t1 ? c->end[i] : t1;
		name = c->v[NAME][i] > name ? c->v[NAME][i] : name;
		backwards |= start[i] < before[i];
		together |= start[i] == before[i];
	}
	*seen = (struct wire_block_seen){ t0, t1, last, (uint32_t)name,
					  seen->in_order && !backwards && !(ops && together) };
}

WIRE_WIDE static void look_at_chunk(struct wire_block_seen *seen, const struct chunk *c, bool ops)
{
	look_at(seen, c, CHUNK, ops);
}

static void look(struct decoder *d, const struct chunk *c, size_t n)
{
	bool ops = d->kind == WIRE_KIND_OP;

	if (n == CHUNK && wire_have_wide())
		look_at_chunk(&d->seen, c, ops);
	else
		look_at(&d->seen, c, n, ops);
}

static int decode(struct decoder *d, struct wire_event *ev)
{
	struct chunk c;
	size_t at, n, i;

	d->seen = (struct wire_block_seen){ INT64_MAX, INT64_MIN, INT64_MIN, 0, true };
	c.start[0] = INT64_MIN;
	for (at = 0; at < d->count; at += n) {
		n = d->count - at < CHUNK ? d->count - at : CHUNK;
		if (read_chunk(d, &c, n, !at))
			return -EBADMSG;
		make_chunk(d, &c, n, ev + at);
		look(d, &c, n);
		c.start[0] = c.start[n];
	}
	for (i = 0; i < COLUMNS; i++)
		if (d->section[column_of[i].section].data && wire_column_close(&d->column[i]))
			return -EBADMSG;
	return 0;
}

int wire_block_decode(uint8_t kind, uint32_t count, const uint8_t *columns, size_t len,
		      struct wire_event *ev, struct wire_block_seen *seen)
{
	struct decoder d = { .kind = kind, .count = count };
	int err;

	if (!kind || !count || count > WIRE_BLOCK_EVENTS_MAX)
		return -EBADMSG;
	err = wire_section_find(d.section, WIRE_SECTION_MAX, columns, len);
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
	if (seen)
		*seen = d.seen;
	free(d.context);
	free(d.place);
	return err;
}
