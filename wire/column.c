/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers as byte planes with exceptions.
 */
#include "column.h"

#include <errno.h>
#include "bytes.h"

#define EXCEPTION_SHARE 32 /* about one value in so many may be left to the exceptions */
#define EXCEPTION_SHARE_MAX 16
#define SAMPLE_STEP 8 /* widths are chosen by every eighth value */
#define SAMPLE_FROM 2048 /* of columns that are longer */
#define EXCEPTION_BYTES (2 * WIRE_VARINT_MAX)

size_t wire_column_bound(size_t n)
{
	return 1 + WIRE_VARINT_MAX + n * 8 + (n / EXCEPTION_SHARE_MAX + 1) * EXCEPTION_BYTES;
}

void wire_column_look(struct wire_column_stats *s, const uint64_t *v, size_t n)
{
	uint64_t any = 0, diff = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		any |= v[i];
		diff |= v[i] ^ v[0];
	}
	*s = (struct wire_column_stats){ any, diff };
}

/* How many of every @step-th value need more than @width bytes. */
static size_t count_above(const uint64_t *v, size_t n, unsigned int width, size_t step)
{
	size_t i, count = 0;

	for (i = 0; i < n; i += step)
		count += v[i] >> (8 * width) != 0;
	return count;
}

/* The same of all; without compares, which 64-bit vectors lack. */
static size_t count_all_above(const uint64_t *v, size_t n, unsigned int width)
{
	unsigned int shift = 8 * width;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t high = v[i] >> shift;

		count += (high | (0 - high)) >> 63;
	}
	return count;
}

/*
 * The fewest planes that leave few exceptions; *left: how many. A sample may mislead a little: then
 * there are a few exceptions more, but never so many that the bound is passed.
 */
static unsigned int pick_width(uint64_t any, const uint64_t *v, size_t n, size_t *left)
{
	size_t step = n < SAMPLE_FROM ? 1 : SAMPLE_STEP, few = n / step / EXCEPTION_SHARE;
	unsigned int width;

	for (width = 1; width < 8; width++) {
		*left = 0;
		if (!(any >> (8 * width)))
			return width;
		if (count_above(v, n, width, step) > few)
			continue;
		*left = count_all_above(v, n, width);
		if (*left <= n / EXCEPTION_SHARE_MAX)
			return width;
	}
	*left = 0;
	return 8;
}

void wire_cut(struct wire_cuts *cut, const uint8_t *p)
{
	if (cut && cut->used < sizeof(cut->at) / sizeof(cut->at[0]))
		cut->at[cut->used++] = p;
}

/* Planes @k to @k + 2 in one pass: reading the values is what costs. */
static void put_three(uint8_t *restrict p, const uint64_t *restrict v, size_t n, unsigned int k)
{
	unsigned int shift = 8 * k;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t bytes = v[i] >> shift;

		p[i] = (uint8_t)bytes;
		p[n + i] = (uint8_t)(bytes >> 8);
		p[2 * n + i] = (uint8_t)(bytes >> 16);
	}
}

static void put_one(uint8_t *restrict p, const uint64_t *restrict v, size_t n, unsigned int k)
{
	unsigned int shift = 8 * k;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(v[i] >> shift);
}

static uint8_t *put_planes(uint8_t *p, const uint64_t *v, size_t n, unsigned int width,
			   struct wire_cuts *cut)
{
	unsigned int k;

	for (k = 0; width - k >= 3; k += 3)
		put_three(p + k * n, v, n, k);
	for (; k < width; k++)
		put_one(p + k * n, v, n, k);
	for (k = 1; k <= width; k++)
		wire_cut(cut, p + k * n);
	return p + width * n;
}

static uint8_t *put_exceptions(uint8_t *p, const uint64_t *v, unsigned int width, size_t left)
{
	size_t i, from = 0;

	p = wire_varint_put(p, left);
	for (i = 0; left; i++) {
		uint64_t high = v[i] >> (8 * width);

		if (!high)
			continue;
		p = wire_varint_put(p, i - from);
		p = wire_varint_put(p, high);
		from = i + 1;
		left--;
	}
	return p;
}

uint8_t *wire_column_put(uint8_t *p, const uint64_t *v, size_t n, const struct wire_column_stats *s,
			 struct wire_cuts *cut)
{
	unsigned int width;
	size_t left;

	if (!s->diff) {
		*p++ = 0;
		return wire_varint_put(p, s->any);
	}
	width = pick_width(s->any, v, n, &left);
	*p++ = (uint8_t)width;
	p = put_planes(p, v, n, width, cut);
	return width < 8 ? put_exceptions(p, v, width, left) : p;
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
static void add_plane(uint64_t *v, const uint8_t *p, size_t n, unsigned int k)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] |= (uint64_t)p[i] << (8 * k);
}

static void read_planes(const struct wire_column *c, uint64_t *v, size_t n)
{
	const uint8_t *p = c->plane + c->at;
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
static int check_max(const struct wire_column *c, const uint64_t *v, size_t n)
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

int wire_column_read(struct wire_column *c, uint64_t *v, size_t n)
{
	size_t i;

	if (n > c->n - c->at)
		return -EBADMSG;
	if (!c->width) {
		for (i = 0; !c->at && i < WIRE_COLUMN_CHUNK; i++)
			v[i] = c->same;
		c->at += n;
		return 0;
	}
	read_planes(c, v, n);
	if (read_exceptions(c, v, n) || check_max(c, v, n))
		return -EBADMSG;
	c->at += n;
	return 0;
}

int wire_column_close(const struct wire_column *c)
{
	return c->at == c->n && !c->exceptions && c->exception_at == c->n && c->more == c->end
		       ? 0
		       : -EBADMSG;
}
