/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to columns: one pass over the events that leaves plain arrays, then each array as a
 * section.
 */
#include "columns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "bytes.h"
#include "dict.h"
#include "predict.h"

#define CONTEXT_BITS_MIN 4
#define CONTEXT_BITS 13 /* 32 KB a table: more stops paying */

enum {
	PLACE,
	SHAPE,
	NAME,
	BYTES,
	GRAPH,
	CORR,
	START,
	DURATION,
	ARRAYS
};

static const uint8_t section_of[ARRAYS] = {
	[PLACE] = WIRE_SECTION_PLACE, [SHAPE] = WIRE_SECTION_SHAPE,
	[NAME] = WIRE_SECTION_NAME,   [BYTES] = WIRE_SECTION_BYTES,
	[GRAPH] = WIRE_SECTION_GRAPH, [CORR] = WIRE_SECTION_CORR,
	[START] = WIRE_SECTION_START, [DURATION] = WIRE_SECTION_DURATION,
};

struct wire_columns {
	struct wire_dict places, shapes;
	struct wire_place *place; /* by number in places */
	uint32_t place_room, place_used;
	uint32_t *context; /* two tables */
	uint64_t *array[ARRAYS];
	size_t room; /* values an array can hold */
	size_t used[ARRAYS];
};

struct wire_columns *wire_columns_new(void)
{
	struct wire_columns *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = malloc(sizeof(*c->context) << (CONTEXT_BITS + 1));
	if (!c->context) {
		free(c);
		return NULL;
	}
	return c;
}

void wire_columns_free(struct wire_columns *c)
{
	if (!c)
		return;
	wire_dict_fini(&c->places);
	wire_dict_fini(&c->shapes);
	free(c->place);
	free(c->context);
	free(c->array[0]);
	free(c);
}

size_t wire_columns_bytes(const struct wire_columns *c)
{
	return sizeof(*c) + wire_dict_bytes(&c->places) + wire_dict_bytes(&c->shapes) +
	       c->place_room * sizeof(*c->place) + (sizeof(*c->context) << (CONTEXT_BITS + 1)) +
	       c->room * ARRAYS * sizeof(uint64_t);
}

/* Arrays for @n values each, one allocation; what they held is gone. */
static int make_room(struct wire_columns *c, size_t n)
{
	size_t room = (n + 1023) & ~(size_t)1023;
	uint64_t *values;
	int i;

	if (n <= c->room)
		return 0;
	values = malloc(room * ARRAYS * sizeof(*values));
	if (!values)
		return -ENOMEM;
	free(c->array[0]);
	for (i = 0; i < ARRAYS; i++)
		c->array[i] = values + (size_t)i * room;
	c->room = room;
	return 0;
}

static int add_place(struct wire_columns *c, uint64_t time, uint64_t corr)
{
	if (c->place_used == c->place_room) {
		uint32_t room = c->place_room ? c->place_room * 2 : 16;
		struct wire_place *place = realloc(c->place, room * sizeof(*place));

		if (!place)
			return -ENOMEM;
		c->place = place;
		c->place_room = room;
	}
	c->place[c->place_used++] = (struct wire_place){ .time = time, .corr = corr };
	return 0;
}

static struct wire_key place_key(const struct wire_event *e)
{
	return (struct wire_key){ (uint64_t)e->context << 32 | e->device,
				  (uint64_t)e->tid << 32 | e->stream };
}

static struct wire_key shape_key(const struct wire_event *e)
{
	uint64_t a = (uint64_t)e->op << WIRE_SHAPE_AT_OP | (uint64_t)e->copy << WIRE_SHAPE_AT_COPY |
		     (uint64_t)e->src << WIRE_SHAPE_AT_SRC | (uint64_t)e->dst << WIRE_SHAPE_AT_DST |
		     (uint64_t)e->flags << WIRE_SHAPE_AT_FLAGS |
		     (uint64_t)e->peer << WIRE_SHAPE_AT_PEER;

	return (struct wire_key){
		a | (e->bytes ? WIRE_SHAPE_BYTES : 0) | (e->graph ? WIRE_SHAPE_GRAPH : 0), 0
	};
}

/* The duration that the tables expect; both learn the true one. */
static inline uint32_t expect(const struct wire_context *x, struct wire_place *p, uint32_t symbol,
			      uint64_t duration)
{
	uint32_t *by_history = &x->by_history[wire_slot(wire_history(p, symbol), x->bits)];
	uint32_t *by_symbol = &x->by_symbol[wire_slot(symbol, x->bits)];
	uint32_t expected = *by_history ? *by_history : *by_symbol;

	*by_history = (uint32_t)duration;
	*by_symbol = (uint32_t)duration;
	wire_remember(p, symbol);
	return expected;
}

/* The one pass over the events. */
static int gather(struct wire_columns *c, const struct wire_event *ev, size_t n,
		  enum wire_start_model model, const struct wire_context *x)
{
	uint64_t before_start = (uint64_t)ev[0].start_ns, before_corr = 0;
	size_t bytes = 0, graphs = 0, i;

	for (i = 0; i < n; i++) {
		const struct wire_event *e = &ev[i];
		uint64_t start = (uint64_t)e->start_ns, end = (uint64_t)e->end_ns, expected = 0;
		int64_t place = wire_dict_find(&c->places, place_key(e));
		int64_t shape = wire_dict_find(&c->shapes, shape_key(e));
		struct wire_place *p;

		if (place < 0 || shape < 0)
			return -ENOMEM;
		if (place == c->place_used && add_place(c, before_start, before_corr))
			return -ENOMEM;
		p = &c->place[place];
		if (x->bits)
			expected = expect(x, p, wire_symbol(e->name, (uint32_t)shape, e->bytes),
					  end - start);
		c->array[PLACE][i] = (uint64_t)place;
		c->array[SHAPE][i] = (uint64_t)shape;
		c->array[NAME][i] = e->name;
		c->array[CORR][i] = wire_zigzag(e->corr - p->corr);
		c->array[START][i] = wire_zigzag(start - p->time);
		c->array[DURATION][i] = wire_zigzag(end - start - expected);
		if (e->bytes)
			c->array[BYTES][bytes++] = e->bytes;
		if (e->graph)
			c->array[GRAPH][graphs++] = e->graph;
		p->time = model == WIRE_START_AFTER_END ? end : start;
		p->corr = before_corr = e->corr;
		before_start = start;
	}
	for (i = 0; i < ARRAYS; i++)
		c->used[i] = n;
	c->used[BYTES] = bytes;
	c->used[GRAPH] = graphs;
	return 0;
}

/* A section's header, its length to be filled in by section_end. */
static uint8_t *section_begin(uint8_t *p, uint8_t id)
{
	*p = id;
	return p + WIRE_SECTION_HEADER;
}

static uint8_t *section_end(uint8_t *begin, uint8_t *p)
{
	wire_put32(begin - 4, (uint32_t)(p - begin));
	return p;
}

static uint8_t *put_places(const struct wire_dict *d, uint8_t *p)
{
	uint8_t *begin = section_begin(p, WIRE_SECTION_PLACES);
	uint32_t i;

	p = wire_varint_put(begin, d->used);
	for (i = 0; i < d->used; i++) {
		p = wire_varint_put(p, (uint32_t)d->key[i].a);
		p = wire_varint_put(p, d->key[i].a >> 32);
		p = wire_varint_put(p, (uint32_t)d->key[i].b);
		p = wire_varint_put(p, d->key[i].b >> 32);
	}
	return section_end(begin, p);
}

static uint8_t *put_shapes(const struct wire_dict *d, uint8_t *p)
{
	uint8_t *begin = section_begin(p, WIRE_SECTION_SHAPES);
	uint32_t i;

	p = wire_varint_put(begin, d->used);
	for (i = 0; i < d->used; i++, p += 8)
		wire_put64(p, d->key[i].a);
	return section_end(begin, p);
}

static uint8_t *put_time(uint8_t *p, enum wire_start_model model, unsigned int bits, int64_t base)
{
	uint8_t *begin = section_begin(p, WIRE_SECTION_TIME);

	begin[0] = (uint8_t)model;
	begin[1] = (uint8_t)bits;
	wire_put64(begin + 2, (uint64_t)base);
	return section_end(begin, begin + WIRE_TIME_BYTES);
}

/* A column of zeros is left out. */
static int is_zero(const uint64_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i])
			return 0;
	return 1;
}

static uint8_t *put_array(const struct wire_columns *c, int array, uint8_t *p,
			  struct wire_cuts *cut)
{
	uint8_t *begin;

	if (is_zero(c->array[array], c->used[array]))
		return p;
	begin = section_begin(p, section_of[array]);
	return section_end(begin, wire_column_put(begin, c->array[array], c->used[array], cut));
}

static size_t bound(const struct wire_columns *c)
{
	size_t len = 3 * WIRE_SECTION_HEADER + 2 * WIRE_VARINT_MAX + WIRE_TIME_BYTES, i;

	len += c->places.used * (size_t)(4 * 5) + c->shapes.used * (size_t)8;
	for (i = 0; i < ARRAYS; i++)
		len += WIRE_SECTION_HEADER + wire_column_bound(c->used[i]);
	return len;
}

static uint8_t *put_sections(const struct wire_columns *c, enum wire_start_model model,
			     unsigned int bits, int64_t base, uint8_t *p, struct wire_cuts *cut)
{
	p = put_places(&c->places, p);
	p = put_array(c, PLACE, p, cut);
	p = put_shapes(&c->shapes, p);
	p = put_array(c, SHAPE, p, cut);
	p = put_array(c, NAME, p, cut);
	p = put_array(c, BYTES, p, cut);
	p = put_array(c, GRAPH, p, cut);
	p = put_array(c, CORR, p, cut);
	p = put_time(p, model, bits, base);
	p = put_array(c, START, p, cut);
	return put_array(c, DURATION, p, cut);
}

/* Table size by block size: clearing them must not cost more than they save. */
static unsigned int context_bits(size_t n)
{
	unsigned int bits = CONTEXT_BITS_MIN;

	while (bits < CONTEXT_BITS && (size_t)1 << bits < n)
		bits++;
	return bits;
}

static bool same_kind(uint8_t kind, const struct wire_event *ev, size_t n)
{
	uint8_t diff = 0;
	size_t i;

	for (i = 0; i < n; i++)
		diff |= ev[i].kind ^ kind;
	return !diff;
}

int wire_columns_encode(struct wire_columns *c, uint8_t kind, const struct wire_event *ev, size_t n,
			struct wire_buf *out, struct wire_cuts *cut)
{
	/* Host calls last as long as they last: measured, what ran before tells nothing. */
	struct wire_context x = { .bits = kind == WIRE_KIND_API ? 0 : context_bits(n) };
	enum wire_start_model model =
		kind == WIRE_KIND_RANGE ? WIRE_START_AFTER_START : WIRE_START_AFTER_END;
	int err;

	if (!n || n > WIRE_BLOCK_EVENTS_MAX || !kind || !same_kind(kind, ev, n))
		return -EINVAL;
	err = make_room(c, n);
	if (err)
		return err;
	wire_dict_reset(&c->places);
	wire_dict_reset(&c->shapes);
	c->place_used = 0;
	x.by_history = c->context;
	x.by_symbol = c->context + ((size_t)1 << x.bits);
	if (x.bits)
		memset(c->context, 0, sizeof(*c->context) << (x.bits + 1));
	err = gather(c, ev, n, model, &x);
	if (!err)
		err = wire_buf_reserve(out, bound(c));
	if (err)
		return err;
	out->len =
		(size_t)(put_sections(c, model, x.bits, ev[0].start_ns, out->data + out->len, cut) -
			 out->data);
	return 0;
}

int wire_block_encode(uint8_t kind, const struct wire_event *ev, size_t n, struct wire_buf *out)
{
	struct wire_columns *c = wire_columns_new();
	int err = c ? wire_columns_encode(c, kind, ev, n, out, NULL) : -ENOMEM;

	wire_columns_free(c);
	return err;
}
