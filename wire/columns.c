/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to columns: one pass over the events that leaves plain arrays, then each array as a
 * section.
 */
#include "columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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
	size_t room = (n + 1024) & ~(size_t)1023; /* one to spare: gather writes ahead */
	uint64_t *values;
	int i;

	if (n < c->room)
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

/* The keys are fields that lie side by side, taken as they lie. */
_Static_assert(offsetof(struct wire_event, context) == offsetof(struct wire_event, device) + 4 &&
		       offsetof(struct wire_event, tid) == offsetof(struct wire_event, stream) + 4,
	       "a place is two pairs of u32");
_Static_assert(offsetof(struct wire_event, op) == offsetof(struct wire_event, kind) + 1 &&
		       offsetof(struct wire_event, flags) == offsetof(struct wire_event, op) + 4 &&
		       offsetof(struct wire_event, peer) == offsetof(struct wire_event, kind) + 6,
	       "a shape is the last eight bytes");

static inline struct wire_key place_key(const struct wire_event *e)
{
	struct wire_key key;

	memcpy(&key.a, &e->device, sizeof(key.a));
	memcpy(&key.b, &e->stream, sizeof(key.b));
	return key;
}

static inline struct wire_key shape_key(const struct wire_event *e)
{
	uint64_t has = (e->bytes ? WIRE_SHAPE_BYTES : 0) | (e->graph ? WIRE_SHAPE_GRAPH : 0), v;

	memcpy(&v, &e->kind, sizeof(v));
	return (struct wire_key){ (v & ~0xffull) | has, 0 };
}

/*
 * Numbers of places and shapes, names, and the sparse values. Neighbours are mostly alike: their
 * keys are compared before they are looked up.
 */
static int gather_keys(struct wire_columns *c, const struct wire_event *ev, size_t from, size_t n)
{
	uint64_t *restrict place_to = c->array[PLACE] + from;
	uint64_t *restrict shape_to = c->array[SHAPE] + from;
	uint64_t *restrict name_to = c->array[NAME] + from;
	uint64_t *restrict bytes_to = c->array[BYTES] + c->used[BYTES];
	uint64_t *restrict graph_to = c->array[GRAPH] + c->used[GRAPH];
	struct wire_key at = place_key(ev), like = shape_key(ev);
	int64_t place = wire_dict_add(&c->places, at), shape = wire_dict_add(&c->shapes, like);
	uint8_t kind_diff = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct wire_key place_is = place_key(&ev[i]), shape_is = shape_key(&ev[i]);

		if (place_is.a != at.a || place_is.b != at.b) {
			at = place_is;
			place = wire_dict_add(&c->places, at);
		}
		if (shape_is.a != like.a) {
			like = shape_is;
			shape = wire_dict_add(&c->shapes, like);
		}
		if (place < 0 || shape < 0)
			return -ENOMEM;
		kind_diff |= ev[i].kind ^ ev[0].kind;
		place_to[i] = (uint64_t)place;
		shape_to[i] = (uint64_t)shape;
		name_to[i] = ev[i].name;
		*bytes_to = ev[i].bytes;
		bytes_to += ev[i].bytes != 0;
		*graph_to = ev[i].graph;
		graph_to += ev[i].graph != 0;
	}
	c->used[BYTES] = (size_t)(bytes_to - c->array[BYTES]);
	c->used[GRAPH] = (size_t)(graph_to - c->array[GRAPH]);
	if (place < 0 || shape < 0)
		return -ENOMEM;
	return kind_diff ? -EINVAL : 0;
}

/* What comes before the first event of a place: the event before it in the block. */
static int add_places(struct wire_columns *c, const struct wire_event *ev, size_t i)
{
	const struct wire_event *before = i ? &ev[i - 1] : &ev[0];

	while (c->place_used <= c->array[PLACE][i]) {
		int err = add_place(c, (uint64_t)before->start_ns, i ? before->corr : 0);

		if (err)
			return err;
	}
	return 0;
}

static int gather_times(struct wire_columns *c, const struct wire_event *all, size_t from, size_t n,
			enum wire_start_model model)
{
	const uint64_t *restrict place = c->array[PLACE] + from;
	uint64_t *restrict corr_to = c->array[CORR] + from;
	uint64_t *restrict start_to = c->array[START] + from;
	uint64_t *restrict duration_to = c->array[DURATION] + from;
	const struct wire_event *ev = all + from;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t start = (uint64_t)ev[i].start_ns, end = (uint64_t)ev[i].end_ns;
		struct wire_place *p;

		if (place[i] >= c->place_used && add_places(c, all, from + i))
			return -ENOMEM;
		p = &c->place[place[i]];
		corr_to[i] = wire_zigzag(ev[i].corr - p->corr);
		start_to[i] = wire_zigzag(start - p->time);
		duration_to[i] = end - start;
		p->time = model == WIRE_START_AFTER_END ? end : start;
		p->corr = ev[i].corr;
	}
	return 0;
}

/* The duration that the tables expect; both learn the true one. */
static inline uint32_t expect(uint32_t *restrict table, unsigned int bits, struct wire_place *p,
			      uint32_t symbol, uint64_t duration)
{
	uint32_t history = wire_history(p->history, symbol);
	uint32_t *by_history = &table[wire_slot(history, bits)];
	uint32_t *by_symbol = &table[((size_t)1 << bits) + wire_slot(symbol, bits)];
	uint32_t expected = *by_history ? *by_history : *by_symbol;

	*by_history = (uint32_t)duration;
	*by_symbol = (uint32_t)duration;
	p->history = history;
	return expected;
}

static void gather_durations(struct wire_columns *c, const struct wire_event *ev, size_t from,
			     size_t n, unsigned int bits)
{
	const uint64_t *restrict place = c->array[PLACE] + from;
	const uint64_t *restrict shape = c->array[SHAPE] + from;
	uint64_t *restrict duration = c->array[DURATION] + from;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t symbol = wire_symbol(ev[i].name, (uint32_t)shape[i], ev[i].bytes);

		duration[i] =
			wire_zigzag(duration[i] - expect(c->context, bits, &c->place[place[i]],
							 symbol, duration[i]));
	}
}

static void zigzag_durations(struct wire_columns *c, size_t from, size_t n)
{
	uint64_t *duration = c->array[DURATION] + from;
	size_t i;

	for (i = 0; i < n; i++)
		duration[i] = wire_zigzag(duration[i]);
}

/* Events to arrays, in pieces that stay in the first cache: short loops, each over one piece. */
static int gather(struct wire_columns *c, const struct wire_event *ev, size_t n,
		  enum wire_start_model model, unsigned int bits)
{
	size_t at, len;
	int i, err;

	for (i = 0; i < ARRAYS; i++)
		c->used[i] = i == BYTES || i == GRAPH ? 0 : n;
	for (at = 0; at < n; at += len) {
		len = n - at < WIRE_COLUMN_CHUNK ? n - at : WIRE_COLUMN_CHUNK;
		err = ev[at].kind == ev[0].kind ? gather_keys(c, ev + at, at, len) : -EINVAL;
		if (!err)
			err = gather_times(c, ev, at, len, model);
		if (err)
			return err;
		if (bits)
			gather_durations(c, ev + at, at, len, bits);
		else
			zigzag_durations(c, at, len);
	}
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

static uint8_t *put_array(const struct wire_columns *c, int array, uint8_t *p,
			  struct wire_cuts *cut)
{
	const uint64_t *v = c->array[array];
	struct wire_column_stats s;
	uint8_t *begin;

	wire_column_look(&s, v, c->used[array]);
	if (!s.any)
		return p; /* a column of zeros is left out */
	begin = p = section_begin(p, section_of[array]);
	if (array == BYTES || array == GRAPH)
		p = wire_varint_put(p, c->used[array]);
	return section_end(begin, wire_column_put(p, v, c->used[array], &s, cut));
}

static size_t bound(const struct wire_columns *c)
{
	size_t len = 3 * WIRE_SECTION_HEADER + 4 * WIRE_VARINT_MAX + WIRE_TIME_BYTES, i;

	len += c->places.used * (size_t)(4 * 5) + c->shapes.used * (size_t)8;
	for (i = 0; i < ARRAYS; i++)
		len += WIRE_SECTION_HEADER + wire_column_bound(c->used[i]);
	return len;
}

/*
 * First what repeats, in one piece: its long matches need no statistics of their own. Then noise,
 * plane by plane.
 */
static uint8_t *put_sections(const struct wire_columns *c, enum wire_start_model model,
			     unsigned int bits, int64_t base, uint8_t *p, struct wire_cuts *cut)
{
	p = put_places(&c->places, p);
	if (c->places.used > 1)
		p = put_array(c, PLACE, p, NULL);
	p = put_shapes(&c->shapes, p);
	if (c->shapes.used > 1)
		p = put_array(c, SHAPE, p, NULL);
	p = put_array(c, NAME, p, NULL);
	p = put_array(c, BYTES, p, NULL);
	p = put_array(c, GRAPH, p, NULL);
	wire_cut(cut, p);
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

int wire_columns_encode(struct wire_columns *c, uint8_t kind, const struct wire_event *ev, size_t n,
			struct wire_buf *out, struct wire_cuts *cut)
{
	/* Host calls last as long as they last: measured, what ran before tells nothing. */
	unsigned int bits = kind == WIRE_KIND_API ? 0 : context_bits(n);
	enum wire_start_model model =
		kind == WIRE_KIND_RANGE ? WIRE_START_AFTER_START : WIRE_START_AFTER_END;
	int err;

	if (!n || n > WIRE_BLOCK_EVENTS_MAX || !kind || ev[0].kind != kind)
		return -EINVAL;
	err = make_room(c, n);
	if (err)
		return err;
	wire_dict_reset(&c->places);
	wire_dict_reset(&c->shapes);
	c->place_used = 0;
	if (bits)
		memset(c->context, 0, sizeof(*c->context) << (bits + 1));
	err = gather(c, ev, n, model, bits);
	if (!err)
		err = wire_buf_reserve(out, bound(c));
	if (err)
		return err;
	out->len =
		(size_t)(put_sections(c, model, bits, ev[0].start_ns, out->data + out->len, cut) -
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
