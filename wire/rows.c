/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows to columns and back, one field after the other.
 */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "column.h"
#include "dict.h"
#include "section.h"

#define CHUNK WIRE_COLUMN_CHUNK
#define THREAD_BYTES 8
#define NONE UINT32_MAX

static inline uint64_t get(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

/* What the field is told by: its residual plus this is its value. @before: NULL for the first. */
static inline uint64_t expected(const struct wire_rows_field *f, const uint8_t *row,
				const uint8_t *before)
{
	if (f->coding == WIRE_ROWS_LENGTH)
		return get(row + f[-1].at, f[-1].bytes);
	return before ? get(before + f->at, f->bytes) : 0;
}

static inline uint64_t residual(const struct wire_rows_field *f, const uint8_t *row,
				const uint8_t *before)
{
	uint64_t v = get(row + f->at, f->bytes);

	return f->coding == WIRE_ROWS_PLAIN ? v : wire_zigzag(v - expected(f, row, before));
}

/*
 * Which row comes before each one: the last of its thread, or the last of all when its thread is
 * new. @last has a place for each thread and begins as NONE.
 */
static void find_before(const uint32_t *thread, size_t n, uint32_t *last, uint32_t *before)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t *mine = &last[thread[i]];

		before[i] = *mine != NONE ? *mine : (uint32_t)i - 1;
		*mine = (uint32_t)i;
	}
}

static inline const uint8_t *row_before(const uint8_t *rows, size_t row_bytes,
					const uint32_t *before, size_t i)
{
	return i ? rows + before[i] * row_bytes : NULL;
}

/* --- encoding --- */

struct encoding {
	const struct wire_rows *r;
	const uint8_t *rows;
	size_t n;
	struct wire_dict threads, shapes;
	uint32_t *thread, *shape, *before, *last; /* one allocation, with the planes */
	uint8_t *planes;
	struct wire_column_writer column;
	struct wire_buf *out;
};

static int number_all(struct wire_dict *d, const uint8_t *p, size_t bytes, size_t row_bytes,
		      size_t n, uint32_t *number)
{
	size_t i;

	for (i = 0; i < n; i++, p += row_bytes) {
		int64_t got = wire_dict_add(d, (struct wire_key){ get(p, bytes), 0 });

		if (got < 0)
			return (int)got;
		number[i] = (uint32_t)got;
	}
	return 0;
}

static int begin(struct encoding *e)
{
	const struct wire_rows *r = e->r;
	size_t n = e->n;
	int err;

	e->planes = malloc(n * (WIRE_COLUMN_WIDTH + 4 * sizeof(uint32_t)));
	if (!e->planes)
		return -ENOMEM;
	e->thread = (uint32_t *)(e->planes + n * WIRE_COLUMN_WIDTH);
	e->shape = e->thread + n;
	e->before = e->shape + n;
	e->last = e->before + n;
	memset(e->last, 0xff, n * sizeof(*e->last));
	err = number_all(&e->threads, e->rows + r->thread, THREAD_BYTES, r->row_bytes, n,
			 e->thread);
	if (!err)
		err = number_all(&e->shapes, e->rows + r->shape, r->shape_bytes, r->row_bytes, n,
				 e->shape);
	if (!err)
		find_before(e->thread, n, e->last, e->before);
	return err;
}

/* Threads as two varints each. */
static int put_threads(struct encoding *e)
{
	const struct wire_dict *d = &e->threads;
	uint8_t *begin, *p;
	uint32_t i;
	int err;

	err = wire_buf_reserve(e->out,
			       WIRE_SECTION_HEADER + (1 + 2 * (size_t)d->used) * WIRE_VARINT_MAX);
	if (err)
		return err;
	begin = wire_section_begin(e->out->data + e->out->len, WIRE_ROWS_THREADS);
	p = wire_varint_put(begin, d->used);
	for (i = 0; i < d->used; i++) {
		p = wire_varint_put(p, (uint32_t)d->key[i].a);
		p = wire_varint_put(p, d->key[i].a >> 32);
	}
	e->out->len = (size_t)(wire_section_end(begin, p) - e->out->data);
	return 0;
}

/* Shapes as they lie. */
static int put_shapes(struct encoding *e)
{
	const struct wire_dict *d = &e->shapes;
	size_t bytes = e->r->shape_bytes;
	uint8_t *begin, *p;
	uint32_t i;
	int err;

	err = wire_buf_reserve(e->out, WIRE_SECTION_HEADER + WIRE_VARINT_MAX + d->used * bytes);
	if (err)
		return err;
	begin = wire_section_begin(e->out->data + e->out->len, WIRE_ROWS_SHAPES);
	p = wire_varint_put(begin, d->used);
	for (i = 0; i < d->used; i++, p += bytes)
		memcpy(p, &d->key[i].a, bytes);
	e->out->len = (size_t)(wire_section_end(begin, p) - e->out->data);
	return 0;
}

/* Writes the column that was gathered; one of zeros is left out. */
static int put_column(struct encoding *e, uint8_t section)
{
	uint8_t *begin;
	int err;

	if (!e->column.any)
		return 0;
	err = wire_buf_reserve(e->out, WIRE_SECTION_HEADER + wire_column_bound(e->n));
	if (err)
		return err;
	begin = wire_section_begin(e->out->data + e->out->len, section);
	e->out->len = (size_t)(wire_section_end(begin, wire_column_end(&e->column, begin, NULL)) -
			       e->out->data);
	return 0;
}

static int put_numbers(struct encoding *e, uint8_t section, const uint32_t *number)
{
	uint64_t v[CHUNK];
	size_t at, n, i;

	wire_column_begin(&e->column, e->planes, e->n);
	for (at = 0; at < e->n; at += n) {
		n = e->n - at < CHUNK ? e->n - at : CHUNK;
		for (i = 0; i < n; i++)
			v[i] = number[at + i];
		wire_column_add(&e->column, v, n);
	}
	return put_column(e, section);
}

static uint8_t section_of(const struct wire_rows *r, unsigned int field)
{
	unsigned int old = r->fields - r->added;

	return (uint8_t)(field < old ? WIRE_ROWS_FIELDS + field : WIRE_ROWS_ADDED + field - old);
}

static int put_field(struct encoding *e, unsigned int field)
{
	const struct wire_rows_field *f = &e->r->field[field];
	size_t row_bytes = e->r->row_bytes, at, n, i;
	uint64_t v[CHUNK];

	wire_column_begin(&e->column, e->planes, e->n);
	for (at = 0; at < e->n; at += n) {
		n = e->n - at < CHUNK ? e->n - at : CHUNK;
		for (i = 0; i < n; i++)
			v[i] = residual(f, e->rows + (at + i) * row_bytes,
					row_before(e->rows, row_bytes, e->before, at + i));
		wire_column_add(&e->column, v, n);
	}
	return put_column(e, section_of(e->r, field));
}

int wire_rows_encode(const struct wire_rows *r, const void *rows, size_t n, struct wire_buf *out)
{
	struct encoding e = { .r = r, .rows = rows, .n = n, .out = out };
	size_t len = out->len;
	unsigned int i;
	int err;

	if (!n || n > WIRE_BLOCK_EVENTS_MAX)
		return -EINVAL;
	err = begin(&e);
	if (!err)
		err = put_threads(&e);
	if (!err)
		err = put_numbers(&e, WIRE_ROWS_THREAD, e.thread);
	if (!err)
		err = put_shapes(&e);
	if (!err)
		err = put_numbers(&e, WIRE_ROWS_SHAPE, e.shape);
	for (i = 0; !err && i < r->fields; i++)
		err = put_field(&e, i);
	if (err)
		out->len = len;
	free(e.planes);
	wire_dict_fini(&e.shapes);
	wire_dict_fini(&e.threads);
	return err;
}

void wire_rows_head(const struct wire_rows *r, uint8_t kind, const void *rows, size_t n,
		    struct wire_block_head *head)
{
	const uint8_t *row = rows;
	unsigned int f;
	size_t i;

	*head = (struct wire_block_head){ .version = 1, .kind = kind, .count = (uint32_t)n };
	for (i = 0; i < n; i++, row += r->row_bytes) {
		int64_t start = (int64_t)get(row + r->field[0].at, 8);
		int64_t end = (int64_t)get(row + r->field[r->end].at, 8);

		if (!i || start < head->t0_ns)
			head->t0_ns = start;
		if (!i || start > head->last_start_ns)
			head->last_start_ns = start;
		if (!i || end > head->t1_ns)
			head->t1_ns = end;
		for (f = 0; f < r->fields; f++) {
			uint32_t id = r->field[f].string ? wire_get32(row + r->field[f].at) : 0;

			head->string_max = id > head->string_max ? id : head->string_max;
		}
	}
}

/* --- decoding --- */

struct decoding {
	const struct wire_rows *r;
	uint8_t *rows;
	uint32_t count;
	struct wire_section_at section[WIRE_ROWS_FIELDS + WIRE_ROWS_FIELDS_MAX];
	uint64_t *key; /* threads; one allocation, with the numbers */
	uint32_t *number, *before, *last;
	const uint8_t *shape;
	uint32_t threads, shapes;
};

/* A dictionary's number of entries; at least one, and no more than there are rows. */
static int read_threads(struct decoding *d)
{
	const struct wire_section_at *s = &d->section[WIRE_ROWS_THREADS];
	const uint8_t *p = wire_section_count(s, d->count, &d->threads), *end;
	uint64_t pid, tid;
	uint32_t i;

	end = p ? s->data + s->len : NULL; /* a section that is not there has no data either */
	for (i = 0; p && i < d->threads; i++) {
		p = wire_varint_get(p, end, &pid);
		p = p ? wire_varint_get(p, end, &tid) : NULL;
		if (!p || pid > UINT32_MAX || tid > UINT32_MAX)
			return -EBADMSG;
		d->key[i] = pid | tid << 32;
	}
	return p && p == end ? 0 : -EBADMSG;
}

static int read_shapes(struct decoding *d)
{
	const struct wire_section_at *s = &d->section[WIRE_ROWS_SHAPES];

	d->shape = wire_section_count(s, d->count, &d->shapes);
	if (!d->shape ||
	    (size_t)(s->data + s->len - d->shape) != d->shapes * (size_t)d->r->shape_bytes)
		return -EBADMSG;
	return 0;
}

static int open_column(const struct decoding *d, unsigned int section, uint64_t max,
		       struct wire_column *c)
{
	const struct wire_section_at *s = &d->section[section];

	if (s->data)
		return wire_column_open(c, s->data, s->len, d->count, max);
	wire_column_zero(c, d->count);
	return 0;
}

static int close_column(const struct decoding *d, unsigned int section, const struct wire_column *c)
{
	return d->section[section].data ? wire_column_close(c) : 0;
}

/* Which entry of a dictionary of @entries each row has. */
static int read_numbers(struct decoding *d, unsigned int section, uint32_t entries)
{
	struct wire_column c;
	uint64_t v[CHUNK];
	size_t at, n, i;

	if (open_column(d, section, entries - 1, &c))
		return -EBADMSG;
	for (at = 0; at < d->count; at += n) {
		n = d->count - at < CHUNK ? d->count - at : CHUNK;
		if (wire_column_read(&c, v, n))
			return -EBADMSG;
		for (i = 0; i < n; i++)
			d->number[at + i] = (uint32_t)v[i];
	}
	return close_column(d, section, &c);
}

static int make_threads(struct decoding *d)
{
	size_t i;
	int err = read_threads(d);

	if (!err)
		err = read_numbers(d, WIRE_ROWS_THREAD, d->threads);
	if (err)
		return err;
	memset(d->last, 0xff, d->threads * sizeof(*d->last));
	find_before(d->number, d->count, d->last, d->before);
	for (i = 0; i < d->count; i++)
		memcpy(d->rows + i * d->r->row_bytes + d->r->thread, &d->key[d->number[i]],
		       THREAD_BYTES);
	return 0;
}

static int make_shapes(struct decoding *d)
{
	size_t bytes = d->r->shape_bytes, i;
	int err = read_shapes(d);

	if (!err)
		err = read_numbers(d, WIRE_ROWS_SHAPE, d->shapes);
	for (i = 0; !err && i < d->count; i++)
		memcpy(d->rows + i * d->r->row_bytes + d->r->shape, d->shape + d->number[i] * bytes,
		       bytes);
	return err;
}

/* @bytes: of the field, which are known here so that none is copied byte by byte. */
static inline __attribute__((always_inline)) int make_values(const struct decoding *d,
							     const struct wire_rows_field *f,
							     const uint64_t *v, size_t at, size_t n,
							     size_t bytes)
{
	size_t row_bytes = d->r->row_bytes, i;
	bool after = f->coding == WIRE_ROWS_AFTER, plain = f->coding == WIRE_ROWS_PLAIN;

	for (i = 0; i < n; i++) {
		uint8_t *row = d->rows + (at + i) * row_bytes;
		const uint8_t *before = row_before(d->rows, row_bytes, d->before, at + i);
		uint64_t value = v[i];

		if (after)
			value = wire_unzigzag(value) + (before ? get(before + f->at, bytes) : 0);
		else if (!plain)
			value = wire_unzigzag(value) + expected(f, row, before);
		if (bytes == 4 && value > UINT32_MAX)
			return -EBADMSG;
		memcpy(row + f->at, &value, bytes);
	}
	return 0;
}

static int make_chunk(const struct decoding *d, const struct wire_rows_field *f, const uint64_t *v,
		      size_t at, size_t n)
{
	if (f->bytes == 4)
		return make_values(d, f, v, at, n, 4);
	if (f->bytes == 8)
		return make_values(d, f, v, at, n, 8);
	return make_values(d, f, v, at, n, f->bytes);
}

static int make_field(struct decoding *d, unsigned int field)
{
	const struct wire_rows_field *f = &d->r->field[field];
	unsigned int section = WIRE_ROWS_FIELDS + field; /* where it was put, whatever its id */
	struct wire_column c;
	uint64_t v[CHUNK];
	size_t at, n;

	if (!d->section[section].data && f->coding != WIRE_ROWS_LENGTH)
		return 0; /* all are 0, as the rows are */
	if (open_column(d, section, UINT64_MAX, &c))
		return -EBADMSG;
	for (at = 0; at < d->count; at += n) {
		n = d->count - at < CHUNK ? d->count - at : CHUNK;
		if (wire_column_read(&c, v, n) || make_chunk(d, f, v, at, n))
			return -EBADMSG;
	}
	return close_column(d, section, &c);
}

static int decode(struct decoding *d)
{
	unsigned int i;
	int err;

	memset(d->rows, 0, d->count * d->r->row_bytes);
	err = make_threads(d);
	if (!err)
		err = make_shapes(d);
	for (i = 0; !err && i < d->r->fields; i++)
		err = make_field(d, i);
	return err;
}

static int find_sections(struct decoding *d, const uint8_t *columns, size_t len)
{
	unsigned int old = d->r->fields - d->r->added, i;
	int err = wire_section_find(d->section, (uint8_t)(WIRE_ROWS_FIELDS + old), columns, len);

	for (i = old; !err && i < d->r->fields; i++)
		d->section[WIRE_ROWS_FIELDS + i] =
			wire_section_one(section_of(d->r, i), columns, len);
	return err;
}

int wire_rows_decode(const struct wire_rows *r, uint32_t count, const uint8_t *columns, size_t len,
		     void *rows)
{
	struct decoding d = { .r = r, .rows = rows, .count = count };
	int err;

	if (!count || count > WIRE_BLOCK_EVENTS_MAX)
		return -EBADMSG;
	err = find_sections(&d, columns, len);
	if (err)
		return err;
	d.key = malloc(count * (sizeof(*d.key) + 3 * sizeof(uint32_t)));
	if (!d.key)
		return -ENOMEM;
	d.number = (uint32_t *)(d.key + count);
	d.before = d.number + count;
	d.last = d.before + count;
	err = decode(&d);
	free(d.key);
	return err;
}
