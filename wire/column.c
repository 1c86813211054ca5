/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers as byte planes with exceptions.
 */
#include "column.h"

#include <errno.h>
#include <stdbool.h>
#include "bytes.h"
#include "wide.h"

#define EXCEPTION_SHARE 32 /* about one value in so many may be left to the exceptions */
#define EXCEPTION_SHARE_MAX 16
#define SAMPLE_STEP 8 /* widths are chosen by every eighth value */
#define SAMPLE_FROM 2048 /* of columns that are longer */
#define EXCEPTION_BYTES (2 * WIRE_VARINT_MAX)

size_t wire_column_bound(size_t n)
{
	return 1 + WIRE_VARINT_MAX + n * 8 + (n / EXCEPTION_SHARE_MAX + 1) * EXCEPTION_BYTES;
}

void wire_cut(struct wire_cuts *cut, const uint8_t *p)
{
	if (cut && cut->used < sizeof(cut->at) / sizeof(cut->at[0]))
		cut->at[cut->used++] = p;
}

void wire_column_begin(struct wire_column_writer *w, uint8_t *plane, size_t room)
{
	memset(w, 0, offsetof(struct wire_column_writer, bytes));
	w->plane = plane;
	w->room = room;
}

/* Bytes of a number: 0 for 0. */
static unsigned int bytes_of(uint64_t v)
{
	return v ? (71 - (unsigned int)__builtin_clzll(v)) / 8 : 0;
}

/* Planes @k to @k + 2 in one pass. */
WIRE_INLINE void put_three(uint8_t *restrict p, size_t room, const uint64_t *restrict v, size_t n,
			   unsigned int k)
{
	unsigned int shift = 8 * k;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t bytes = v[i] >> shift;

		p[i] = (uint8_t)bytes;
		p[room + i] = (uint8_t)(bytes >> 8);
		p[2 * room + i] = (uint8_t)(bytes >> 16);
	}
}

WIRE_INLINE void put_two(uint8_t *restrict p, size_t room, const uint64_t *restrict v, size_t n,
			 unsigned int k)
{
	unsigned int shift = 8 * k;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t bytes = v[i] >> shift;

		p[i] = (uint8_t)bytes;
		p[room + i] = (uint8_t)(bytes >> 8);
	}
}

WIRE_INLINE void put_one(uint8_t *restrict p, const uint64_t *restrict v, size_t n, unsigned int k)
{
	unsigned int shift = 8 * k;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(v[i] >> shift);
}

WIRE_INLINE void put_planes(uint8_t *p, size_t room, const uint64_t *v, size_t n,
			    unsigned int width)
{
	unsigned int k;

	for (k = 0; width - k >= 3; k += 3)
		put_three(p + k * room, room, v, n, k);
	if (width - k == 2)
		put_two(p + k * room, room, v, n, k);
	else if (width - k == 1)
		put_one(p + k * room, v, n, k);
}

WIRE_INLINE void add(struct wire_column_writer *w, const uint64_t *v, size_t n)
{
	uint64_t first = w->n ? w->first : v[0], any = 0, diff = 0;
	unsigned int bytes;
	size_t i;

	for (i = 0; i < n; i++) {
		any |= v[i];
		diff |= v[i] ^ first;
	}
	bytes = bytes_of(any);
	w->bytes[w->n / WIRE_COLUMN_CHUNK] = (uint8_t)bytes;
	put_planes(w->plane + w->n, w->room, v, n, bytes);
	for (i = 0; bytes > 1 && i < n; i += SAMPLE_STEP)
		w->sample[bytes_of(v[i])]++;
	w->first = first;
	w->any |= any;
	w->diff |= diff;
	w->n += n;
}

WIRE_WIDE static void add_wide(struct wire_column_writer *w, const uint64_t *v, size_t n)
{
	if (n == WIRE_COLUMN_CHUNK)
		add(w, v, WIRE_COLUMN_CHUNK);
	else
		add(w, v, n);
}

void wire_column_add(struct wire_column_writer *w, const uint64_t *v, size_t n)
{
	if (wire_have_wide())
		add_wide(w, v, n);
	else
		add(w, v, n);
}

/* One pass over the chunks that hold values of more than @width bytes. */
struct high {
	const struct wire_column_writer *w;
	unsigned int width;
	size_t at, n; /* of the chunk at hand */
	uint8_t any[WIRE_COLUMN_CHUNK]; /* or of the bytes above the width */
};

static bool next_high(struct high *h)
{
	const struct wire_column_writer *w = h->w;

	for (h->at += h->n; h->at < w->n; h->at += h->n) {
		unsigned int k, bytes = w->bytes[h->at / WIRE_COLUMN_CHUNK];
		size_t i;

		h->n = w->n - h->at < WIRE_COLUMN_CHUNK ? w->n - h->at : WIRE_COLUMN_CHUNK;
		if (bytes <= h->width)
			continue;
		memcpy(h->any, w->plane + h->width * w->room + h->at, h->n);
		for (k = h->width + 1; k < bytes; k++)
			for (i = 0; i < h->n; i++)
				h->any[i] |= w->plane[k * w->room + h->at + i];
		return true;
	}
	return false;
}

/* How many values need more than @width bytes. */
static size_t count_high(const struct wire_column_writer *w, unsigned int width)
{
	struct high h = { .w = w, .width = width, .n = 0 };
	size_t count = 0, i;

	while (next_high(&h))
		for (i = 0; i < h.n; i++)
			count += h.any[i] != 0;
	return count;
}

static size_t count_sample(const struct wire_column_writer *w, unsigned int width)
{
	size_t count = 0;

	while (++width <= WIRE_COLUMN_WIDTH)
		count += w->sample[width];
	return count;
}

/*
 * The fewest planes that leave few exceptions; *left: how many. A sample may mislead a little: then
 * there are a few exceptions more, but never so many that the bound is passed.
 */
static unsigned int pick_width(const struct wire_column_writer *w, size_t *left)
{
	unsigned int most = bytes_of(w->any), width;

	for (width = 1; width < most; width++) {
		if (w->n >= SAMPLE_FROM &&
		    count_sample(w, width) > w->n / SAMPLE_STEP / EXCEPTION_SHARE)
			continue;
		*left = count_high(w, width);
		if (*left <= w->n / (w->n < SAMPLE_FROM ? EXCEPTION_SHARE : EXCEPTION_SHARE_MAX))
			return width;
	}
	*left = 0;
	return width;
}

/* Plane @k: chunks whose values all take fewer bytes have left it as it was. */
static void copy_plane(const struct wire_column_writer *w, uint8_t *p, unsigned int k)
{
	size_t at, n;

	for (at = 0; at < w->n; at += n) {
		n = w->n - at < WIRE_COLUMN_CHUNK ? w->n - at : WIRE_COLUMN_CHUNK;
		if (w->bytes[at / WIRE_COLUMN_CHUNK] > k)
			memcpy(p + at, w->plane + k * w->room + at, n);
		else
			memset(p + at, 0, n);
	}
}

/* What the value at @i has above @width bytes. */
static uint64_t high_of(const struct wire_column_writer *w, size_t i, unsigned int width)
{
	unsigned int k = w->bytes[i / WIRE_COLUMN_CHUNK];
	uint64_t high = 0;

	while (k-- > width)
		high = high << 8 | w->plane[k * w->room + i];
	return high;
}

static uint8_t *put_exceptions(const struct wire_column_writer *w, uint8_t *p, unsigned int width,
			       size_t left)
{
	struct high h = { .w = w, .width = width, .n = 0 };
	size_t i, from = 0;

	p = wire_varint_put(p, left);
	while (left && next_high(&h)) {
		for (i = 0; i < h.n; i++) {
			if (!h.any[i])
				continue;
			p = wire_varint_put(p, h.at + i - from);
			p = wire_varint_put(p, high_of(w, h.at + i, width));
			from = h.at + i + 1;
		}
	}
	return p;
}

uint8_t *wire_column_end(const struct wire_column_writer *w, uint8_t *p, struct wire_cuts *cut)
{
	unsigned int width, k;
	size_t left;

	if (!w->diff) {
		*p++ = 0;
		return wire_varint_put(p, w->any);
	}
	width = pick_width(w, &left);
	*p++ = (uint8_t)width;
	for (k = 0; k < width; k++) {
		copy_plane(w, p, k);
		p += w->n;
		wire_cut(cut, p);
	}
	return width < WIRE_COLUMN_WIDTH ? put_exceptions(w, p, width, left) : p;
}

/* The place of the next exception; without one, behind the last value. */
static int next_exception(struct wire_column *c, size_t from)
{
	uint64_t gap;

	c->exception_at = c->n;
	if (!c->exceptions)
		return 0;
	c->more = wire_varint_get(c->more, c->end, &gap);
	if (!c->more || gap >= c->n - from)
		return -EBADMSG;
	c->exception_at = from + (size_t)gap;
	c->exceptions--;
	return 0;
}

int wire_column_open(struct wire_column *c, const uint8_t *p, size_t len, size_t n, uint64_t max)
{
	const uint8_t *end = p + len;

	wire_column_zero(c, n);
	c->max = max;
	c->end = end;
	if (!len || *p > 8)
		return -EBADMSG;
	c->width = *p++;
	if (!c->width) {
		c->more = wire_varint_get(p, end, &c->same);
		return c->more && c->same <= max ? 0 : -EBADMSG;
	}
	if ((size_t)(end - p) / c->width < n)
		return -EBADMSG;
	c->plane = p;
	c->more = p + n * c->width;
	if (c->width == 8)
		return 0;
	c->more = wire_varint_get(c->more, end, &c->exceptions);
	if (!c->more || c->exceptions > n)
		return -EBADMSG;
	return next_exception(c, 0);
}

void wire_column_zero(struct wire_column *c, size_t n)
{
	*c = (struct wire_column){ .n = n, .exception_at = n, .max = UINT64_MAX };
}

/* Adds plane @k to values whose lower bytes are there. */
WIRE_INLINE void add_plane(uint64_t *restrict v, const uint8_t *restrict p, size_t n,
			   unsigned int k)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] |= (uint64_t)p[i] << (8 * k);
}

WIRE_INLINE void read_planes(const struct wire_column *c, uint64_t *restrict v, size_t n)
{
	const uint8_t *restrict p = c->plane + c->at;
	unsigned int k = 1;
	size_t i;

	if (c->width == 1) {
		for (i = 0; i < n; i++)
			v[i] = p[i];
	} else if (c->width == 2) {
		for (i = 0; i < n; i++)
			v[i] = p[i] | (uint32_t)p[c->n + i] << 8;
		k = 2;
	} else {
		for (i = 0; i < n; i++)
			v[i] = p[i] | (uint32_t)p[c->n + i] << 8 | (uint32_t)p[2 * c->n + i] << 16;
		k = 3;
	}
	for (; k < c->width; k++)
		add_plane(v, p + k * c->n, n, k);
}

static int read_exceptions(struct wire_column *c, uint64_t *v, size_t n)
{
	unsigned int shift = 8 * c->width;

	while (c->exception_at < c->at + n) {
		size_t i = c->exception_at - c->at;
		uint64_t high;

		c->more = wire_varint_get(c->more, c->end, &high);
		if (!c->more || high << shift >> shift != high)
			return -EBADMSG;
		v[i] |= high << shift;
		if (v[i] > c->max || next_exception(c, c->exception_at + 1))
			return -EBADMSG;
	}
	return 0;
}

/* Only planes that can hold more than the greatest value allowed are looked at. */
WIRE_INLINE int check_max(const struct wire_column *c, const uint64_t *v, size_t n)
{
	const uint8_t *p = c->plane + c->at;
	uint8_t most = 0;
	uint64_t any = 0;
	size_t i;

	if (c->width == 8 ? c->max == UINT64_MAX : c->max >> (8 * c->width) != 0)
		return 0;
	if (c->width == 1) {
		for (i = 0; i < n; i++)
			most = p[i] > most ? p[i] : most;
		return most > c->max ? -EBADMSG : 0;
	}
	for (i = 0; i < n; i++)
		any |= v[i] > c->max;
	return any ? -EBADMSG : 0;
}

WIRE_INLINE int read_values(struct wire_column *c, uint64_t *v, size_t n)
{
	read_planes(c, v, n);
	return read_exceptions(c, v, n) || check_max(c, v, n) ? -EBADMSG : 0;
}

/* A whole chunk: loops of a known length are made of vectors. */
WIRE_WIDE static int read_chunk_wide(struct wire_column *c, uint64_t *v)
{
	return read_values(c, v, WIRE_COLUMN_CHUNK);
}

static int read_chunk(struct wire_column *c, uint64_t *v)
{
	return read_values(c, v, WIRE_COLUMN_CHUNK);
}

int wire_column_read(struct wire_column *c, uint64_t *v, size_t n)
{
	size_t i;
	int err = 0;

	if (n > c->n - c->at)
		return -EBADMSG;
	if (!c->width)
		for (i = 0; !c->at && i < WIRE_COLUMN_CHUNK; i++)
			v[i] = c->same;
	else if (n < WIRE_COLUMN_CHUNK)
		err = read_values(c, v, n);
	else
		err = wire_have_wide() ? read_chunk_wide(c, v) : read_chunk(c, v);
	if (!err)
		c->at += n;
	return err;
}

int wire_column_close(const struct wire_column *c)
{
	return c->at == c->n && !c->exceptions && c->exception_at == c->n && c->more == c->end
		       ? 0
		       : -EBADMSG;
}
