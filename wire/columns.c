/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to columns: one pass over the events, a chunk at a time, that leaves byte planes; then
 * each column as a section.
 */
#include "columns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "dict.h"
#include "predict.h"

#define PREFETCH 24 /* events ahead: a block is larger than the second cache */
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

/* A place that came lately, found by its stream's low bits: streams take turns. */
#define RECENT 16u

struct recent {
	struct wire_key key;
	uint64_t number; /* plus 1; 0: none */
};

struct wire_columns {
	struct wire_dict places, shapes;
	struct wire_place *place; /* by number in places */
	uint32_t place_room, place_used;
	struct recent recent[RECENT];
	uint32_t *context; /* two tables */
	struct wire_column_writer column[ARRAYS];
	uint8_t *planes; /* of all of them */
	size_t room; /* values a column can hold */
	/*
	 * The values at hand, which stay in the first cache; the sparse ones may be carried over.
	 */
	uint64_t chunk[ARRAYS][2 * WIRE_COLUMN_CHUNK];
	size_t sparse[ARRAYS]; /* of BYTES and GRAPH: values in their chunk */
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
	free(c->planes);
	free(c);
}

size_t wire_columns_bytes(const struct wire_columns *c)
{
	return sizeof(*c) + wire_dict_bytes(&c->places) + wire_dict_bytes(&c->shapes) +
	       c->place_room * sizeof(*c->place) + (sizeof(*c->context) << (CONTEXT_BITS + 1)) +
	       c->room * ARRAYS * WIRE_COLUMN_WIDTH;
}

/* Planes for @n values a column, one allocation; what they held is gone. */
static int make_room(struct wire_columns *c, size_t n)
{
	size_t room = (n + 1023) & ~(size_t)1023;
	uint8_t *planes;

	if (n <= c->room)
		return 0;
	planes = malloc(room * ARRAYS * WIRE_COLUMN_WIDTH);
	if (!planes)
		return -ENOMEM;
	free(c->planes);
	c->planes = planes;
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

/* What comes before the first event of a place: the event before it in the block. */
static int64_t find_place(struct wire_columns *c, struct wire_key key, const struct wire_event *ev,
			  size_t i)
{
	struct recent *r = &c->recent[(uint32_t)key.b % RECENT];
	const struct wire_event *before = i ? &ev[i - 1] : &ev[0];
	int64_t number;

	if (r->number && r->key.a == key.a && r->key.b == key.b)
		return (int64_t)r->number - 1;
	number = wire_dict_add(&c->places, key);
	if (number == c->place_used &&
	    add_place(c, (uint64_t)before->start_ns, i ? before->corr : 0))
		return -ENOMEM;
	*r = (struct recent){ key, (uint64_t)number + 1 };
	return number;
}

/* The duration that the tables expect; both learn the true one. */
static inline uint32_t expect(uint32_t *restrict table, unsigned int bits, uint32_t history,
			      uint32_t symbol, uint64_t duration)
{
	uint32_t *by_history = &table[wire_slot(history, bits)];
	uint32_t *by_symbol = &table[((size_t)1 << bits) + wire_slot(symbol, bits)];
	uint32_t expected = *by_history ? *by_history : *by_symbol;

	*by_history = (uint32_t)duration;
	*by_symbol = (uint32_t)duration;
	return expected;
}

/* The shape at hand. */
struct shaped {
	struct wire_key key;
	int64_t number;
	uint64_t plain; /* the shape's bytes in an event that has neither bytes nor a graph */
	uint32_t symbol; /* its part of the symbol */
};

static inline uint64_t shape_bytes(const struct wire_event *e)
{
	uint64_t v;

	memcpy(&v, &e->kind, sizeof(v));
	return v;
}

/* Another shape than the one before, or one with sparse values, which are taken here. */
static int take_shape(struct wire_columns *c, struct shaped *like, const struct wire_event *e)
{
	const struct wire_key key = shape_key(e);

	if (key.a != like->key.a || like->number < 0) {
		like->key = key;
		like->number = wire_dict_add(&c->shapes, key);
		if (like->number < 0)
			return -ENOMEM;
		like->symbol = wire_symbol(0, (uint32_t)like->number, 0);
	}
	like->plain = e->bytes || e->graph ? ~shape_bytes(e) : shape_bytes(e);
	c->chunk[BYTES][c->sparse[BYTES]] = e->bytes;
	c->sparse[BYTES] += e->bytes != 0;
	c->chunk[GRAPH][c->sparse[GRAPH]] = e->graph;
	c->sparse[GRAPH] += e->graph != 0;
	return 0;
}

/*
 * One chunk, from @from on, to arrays. Neighbours are mostly alike: their keys are compared before
 * they are looked up, and the state of the place at hand is kept at hand. Inline, so that each way
 * through is a loop of its own.
 */
static inline __attribute__((always_inline)) int gather(struct wire_columns *c,
							const struct wire_event *ev, size_t from,
							size_t n, enum wire_start_model model,
							unsigned int bits)
{
	struct shaped like = { .number = -1, .plain = ~shape_bytes(&ev[from]) };
	struct wire_key at = place_key(&ev[from]);
	int64_t place = find_place(c, at, ev, from);
	uint32_t *restrict context = c->context;
	struct wire_place now;
	size_t i;

	if (place < 0)
		return -ENOMEM;
	now = c->place[place];
	for (i = 0; i < n; i++) {
		const struct wire_event *e = &ev[from + i];
		const struct wire_key place_is = place_key(e);
		uint64_t start = (uint64_t)e->start_ns, end = (uint64_t)e->end_ns;
		uint64_t duration = end - start;

		__builtin_prefetch((const void *)((uintptr_t)e + PREFETCH * sizeof(*e)));
		if (place_is.a != at.a || place_is.b != at.b) {
			c->place[place] = now;
			at = place_is;
			place = find_place(c, at, ev, from + i);
			if (place < 0)
				return -ENOMEM;
			now = c->place[place];
		}
		if (((shape_bytes(e) ^ like.plain) | e->bytes | e->graph) &&
		    take_shape(c, &like, e))
			return -ENOMEM;
		c->chunk[PLACE][i] = (uint64_t)place;
		c->chunk[SHAPE][i] = (uint64_t)like.number;
		c->chunk[NAME][i] = e->name;
		c->chunk[CORR][i] = wire_zigzag(e->corr - now.corr);
		c->chunk[START][i] = wire_zigzag(start - now.time);
		now.time = model == WIRE_START_AFTER_END ? end : start;
		now.corr = e->corr;
		if (bits) {
			uint32_t symbol = wire_symbol(e->name, 0, e->bytes) + like.symbol;

			now.history = wire_history(now.history, symbol);
			duration -= expect(context, bits, now.history, symbol, duration);
		}
		c->chunk[DURATION][i] = wire_zigzag(duration);
	}
	c->place[place] = now;
	return 0;
}

/* Values of a sparse array that make a chunk, all of them at the end. */
static void add_sparse(struct wire_columns *c, int array, bool last)
{
	uint64_t *v = c->chunk[array];
	size_t n = c->sparse[array];

	if (n >= WIRE_COLUMN_CHUNK) {
		wire_column_add(&c->column[array], v, WIRE_COLUMN_CHUNK);
		n -= WIRE_COLUMN_CHUNK;
		memmove(v, v + WIRE_COLUMN_CHUNK, n * sizeof(*v));
	}
	if (last && n) {
		wire_column_add(&c->column[array], v, n);
		n = 0;
	}
	c->sparse[array] = n;
}

static void add_chunk(struct wire_columns *c, size_t n, bool last)
{
	int i;

	for (i = 0; i < ARRAYS; i++) {
		if (i == BYTES || i == GRAPH)
			add_sparse(c, i, last);
		else
			wire_column_add(&c->column[i], c->chunk[i], n);
	}
}

static int gather_plain(struct wire_columns *c, const struct wire_event *ev, size_t from, size_t n,
			enum wire_start_model model, unsigned int bits)
{
	return bits ? gather(c, ev, from, n, model, bits) : gather(c, ev, from, n, model, 0);
}

#if defined(__x86_64__)

/* The same with shifts by any register. */
__attribute__((target("avx2,bmi,bmi2"))) static int gather_wide(struct wire_columns *c,
								const struct wire_event *ev,
								size_t from, size_t n,
								enum wire_start_model model,
								unsigned int bits)
{
	return bits ? gather(c, ev, from, n, model, bits) : gather(c, ev, from, n, model, 0);
}

static int gather_chunk(struct wire_columns *c, const struct wire_event *ev, size_t from, size_t n,
			enum wire_start_model model, unsigned int bits)
{
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		return gather_wide(c, ev, from, n, model, bits);
	return gather_plain(c, ev, from, n, model, bits);
}

#else

static int gather_chunk(struct wire_columns *c, const struct wire_event *ev, size_t from, size_t n,
			enum wire_start_model model, unsigned int bits)
{
	return gather_plain(c, ev, from, n, model, bits);
}

#endif

static int gather_all(struct wire_columns *c, const struct wire_event *ev, size_t n,
		      enum wire_start_model model, unsigned int bits,
		      struct wire_head_builder *head)
{
	size_t at, len;
	int err;

	if (head)
		wire_head_begin(head);
	for (at = 0; at < n; at += len) {
		len = n - at < WIRE_COLUMN_CHUNK ? n - at : WIRE_COLUMN_CHUNK;
		err = gather_chunk(c, ev, at, len, model, bits);
		if (!err && head)
			err = wire_head_add(head, ev + at, len);
		if (err)
			return err;
		add_chunk(c, len, at + len == n);
	}
	return head ? wire_head_end(head, ev, n) : 0;
}

static void begin(struct wire_columns *c, unsigned int bits)
{
	int i;

	wire_dict_reset(&c->places);
	wire_dict_reset(&c->shapes);
	memset(c->recent, 0, sizeof(c->recent));
	c->place_used = 0;
	if (bits)
		memset(c->context, 0, sizeof(*c->context) << (bits + 1));
	for (i = 0; i < ARRAYS; i++) {
		wire_column_begin(&c->column[i],
				  c->planes + (size_t)i * c->room * WIRE_COLUMN_WIDTH, c->room);
		c->sparse[i] = 0;
	}
}

static uint8_t *put_places(const struct wire_dict *d, uint8_t *p)
{
	uint8_t *begin = wire_section_begin(p, WIRE_SECTION_PLACES);
	uint32_t i;

	p = wire_varint_put(begin, d->used);
	for (i = 0; i < d->used; i++) {
		p = wire_varint_put(p, (uint32_t)d->key[i].a);
		p = wire_varint_put(p, d->key[i].a >> 32);
		p = wire_varint_put(p, (uint32_t)d->key[i].b);
		p = wire_varint_put(p, d->key[i].b >> 32);
	}
	return wire_section_end(begin, p);
}

static uint8_t *put_shapes(const struct wire_dict *d, uint8_t *p)
{
	uint8_t *begin = wire_section_begin(p, WIRE_SECTION_SHAPES);
	uint32_t i;

	p = wire_varint_put(begin, d->used);
	for (i = 0; i < d->used; i++, p += 8)
		wire_put64(p, d->key[i].a);
	return wire_section_end(begin, p);
}

static uint8_t *put_time(uint8_t *p, enum wire_start_model model, unsigned int bits, int64_t base)
{
	uint8_t *begin = wire_section_begin(p, WIRE_SECTION_TIME);

	begin[0] = (uint8_t)model;
	begin[1] = (uint8_t)bits;
	wire_put64(begin + 2, (uint64_t)base);
	return wire_section_end(begin, begin + WIRE_TIME_BYTES);
}

static uint8_t *put_array(const struct wire_columns *c, int array, uint8_t *p,
			  struct wire_cuts *cut)
{
	const struct wire_column_writer *w = &c->column[array];
	uint8_t *begin_at;

	if (!w->any)
		return p; /* a column of zeros is left out */
	begin_at = p = wire_section_begin(p, section_of[array]);
	if (array == BYTES || array == GRAPH)
		p = wire_varint_put(p, w->n);
	return wire_section_end(begin_at, wire_column_end(w, p, cut));
}

static size_t bound(const struct wire_columns *c)
{
	size_t len = 3 * WIRE_SECTION_HEADER + 4 * WIRE_VARINT_MAX + WIRE_TIME_BYTES, i;

	len += c->places.used * (size_t)(4 * 5) + c->shapes.used * (size_t)8;
	for (i = 0; i < ARRAYS; i++)
		len += WIRE_SECTION_HEADER + wire_column_bound(c->column[i].n);
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
			struct wire_head_builder *head, struct wire_buf *out, struct wire_cuts *cut)
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
	begin(c, bits);
	err = gather_all(c, ev, n, model, bits, head);
	if (!err)
		err = wire_buf_reserve(out, bound(c));
	if (err)
		return err;
	out->len =
		(size_t)(put_sections(c, model, bits, ev[0].start_ns, out->data + out->len, cut) -
			 out->data);
	return 0;
}

static bool one_kind(uint8_t kind, const struct wire_event *ev, size_t n)
{
	uint8_t diff = 0;
	size_t i;

	for (i = 0; i < n; i++)
		diff |= ev[i].kind ^ kind;
	return !diff;
}

int wire_block_encode(uint8_t kind, const struct wire_event *ev, size_t n, struct wire_buf *out)
{
	struct wire_columns *c;
	int err;

	if (n > WIRE_BLOCK_EVENTS_MAX || !one_kind(kind, ev, n))
		return -EINVAL;
	c = wire_columns_new();
	err = c ? wire_columns_encode(c, kind, ev, n, NULL, out, NULL) : -ENOMEM;
	wire_columns_free(c);
	return err;
}
