/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain head of a block: what a reader may know of it without decompressing.
 */
#include "head.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "bytes.h"

#define HEAD_VERSION 1

/* Where each field lies; docs/FORMAT.md has the table. */
enum {
	AT_VERSION = 0,
	AT_KIND = 2,
	AT_FLAGS = 3,
	AT_COUNT = 4,
	AT_T0 = 8,
	AT_T1 = 16,
	AT_LAST_START = 24,
	AT_STRING_MAX = 32,
	AT_DEVICES = 36,
	AT_DEVICE_BYTES = 37,
	AT_FIXED_BYTES = 38,
	FIXED_BYTES = 40,
	DEV_ORDINAL = 0,
	DEV_OPS = 4,
	DEV_BUSY = 8,
	DEV_LOST = 16,
	DEV_RESERVED = 20,
	DEVICE_BYTES = 24,
};

/* The entry of a device, made if it is new; NULL when there is no room. */
static struct wire_block_device *device_entry(struct wire_block_head *h, uint32_t device)
{
	uint32_t i;

	for (i = 0; i < h->devices; i++)
		if (h->device[i].device == device)
			return &h->device[i];
	if (h->devices == WIRE_BLOCK_DEVICES_MAX)
		return NULL;
	h->device[h->devices] = (struct wire_block_device){ .device = device };
	return &h->device[h->devices++];
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Ops per device. */
static int count_ops(struct wire_block_head *h, const struct wire_event *ev, size_t n)
{
	size_t from = 0, to;

	while (from < n) { /* runs on one device, mostly one run */
		struct wire_block_device *d = device_entry(h, ev[from].device);

		if (!d)
			return -E2BIG;
		for (to = from + 1; to < n && ev[to].device == d->device; to++)
			;
		d->ops += (uint32_t)(to - from);
		from = to;
	}
	return 0;
}

void wire_head_begin(struct wire_head_builder *m)
{
	memset(&m->head, 0, offsetof(struct wire_block_head, device));
	m->head.version = HEAD_VERSION;
	m->head.t0_ns = INT64_MAX;
	m->head.t1_ns = m->head.last_start_ns = INT64_MIN;
	m->kind_diff = 0;
	m->in_order = true;
	wire_busy_begin(&m->busy);
}

int wire_head_add(struct wire_head_builder *m, const struct wire_event *ev, size_t n)
{
	struct wire_block_head *h = &m->head;
	int64_t t0 = h->t0_ns, t1 = h->t1_ns, last_start = h->last_start_ns;
	uint32_t name = h->string_max;
	uint8_t kind, kind_diff = m->kind_diff;
	size_t i;
	int err;

	if (!h->count)
		h->kind = ev[0].kind;
	for (i = 0, kind = h->kind; i < n; i++) {
		t0 = least(t0, ev[i].start_ns);
		last_start = most(last_start, ev[i].start_ns);
		t1 = most(t1, ev[i].end_ns);
		name = ev[i].name > name ? ev[i].name : name;
		kind_diff |= ev[i].kind ^ kind;
	}
	h->t0_ns = t0;
	h->t1_ns = t1;
	h->last_start_ns = last_start;
	h->string_max = name;
	h->count += (uint32_t)n;
	m->kind_diff = kind_diff;
	if (kind != WIRE_KIND_OP)
		return 0;
	err = count_ops(h, ev, n);
	if (!err && m->in_order)
		m->in_order = wire_busy_add(&m->busy, ev, n, h->device[0].device);
	return err;
}

static int busy_of(struct wire_busy *b, const struct wire_event *ev, size_t n,
		   struct wire_block_device *d)
{
	wire_busy_begin(b);
	if (!wire_busy_add(b, ev, n, d->device))
		return wire_busy_sorted(ev, n, d->device, &d->busy_ns);
	d->busy_ns = wire_busy_sum(b);
	return 0;
}

int wire_head_end(struct wire_head_builder *m, const struct wire_event *ev, size_t n)
{
	struct wire_block_head *h = &m->head;
	uint32_t i = 0;
	int err = 0;

	if (m->kind_diff || !h->kind)
		return -EINVAL;
	if (h->devices && m->in_order)
		h->device[i++].busy_ns = wire_busy_sum(&m->busy);
	for (; !err && i < h->devices; i++)
		err = busy_of(&m->busy, ev, n, &h->device[i]);
	return err;
}

int wire_block_head_of(struct wire_block_head *h, const struct wire_event *ev, size_t n)
{
	struct wire_head_builder m;
	int err;

	memset(h, 0, offsetof(struct wire_block_head, device));
	if (!n || n > WIRE_BLOCK_EVENTS_MAX)
		return -EINVAL;
	wire_head_begin(&m);
	err = wire_head_add(&m, ev, n);
	if (!err)
		err = wire_head_end(&m, ev, n);
	if (!err)
		memcpy(h, &m.head, offsetof(struct wire_block_head, device[m.head.devices]));
	return err;
}

int wire_block_head_lost(struct wire_block_head *h, uint32_t device, uint32_t lost)
{
	struct wire_block_device *d;

	if (!lost)
		return 0;
	d = device_entry(h, device);
	if (!d)
		return -E2BIG;
	d->lost = lost;
	return 0;
}

int wire_block_head_put(const struct wire_block_head *h, struct wire_buf *out)
{
	size_t len = FIXED_BYTES + (size_t)h->devices * DEVICE_BYTES;
	uint32_t i;
	uint8_t *p;
	int err;

	if (h->devices > WIRE_BLOCK_DEVICES_MAX)
		return -EINVAL;
	err = wire_buf_reserve(out, len);
	if (err)
		return err;
	p = out->data + out->len;
	wire_put16(p + AT_VERSION, h->version);
	p[AT_KIND] = h->kind;
	p[AT_FLAGS] = h->flags;
	wire_put32(p + AT_COUNT, h->count);
	wire_put64(p + AT_T0, (uint64_t)h->t0_ns);
	wire_put64(p + AT_T1, (uint64_t)h->t1_ns);
	wire_put64(p + AT_LAST_START, (uint64_t)h->last_start_ns);
	wire_put32(p + AT_STRING_MAX, h->string_max);
	p[AT_DEVICES] = (uint8_t)h->devices;
	p[AT_DEVICE_BYTES] = DEVICE_BYTES;
	wire_put16(p + AT_FIXED_BYTES, FIXED_BYTES);
	for (i = 0, p += FIXED_BYTES; i < h->devices; i++, p += DEVICE_BYTES) {
		wire_put32(p + DEV_ORDINAL, h->device[i].device);
		wire_put32(p + DEV_OPS, h->device[i].ops);
		wire_put64(p + DEV_BUSY, h->device[i].busy_ns);
		wire_put32(p + DEV_LOST, h->device[i].lost);
		wire_put32(p + DEV_RESERVED, h->device[i].reserved);
	}
	out->len += len;
	return 0;
}

/* The sizes that the head gives for itself hold together and lie within @len. */
static bool sizes_ok(const uint8_t *in, size_t len)
{
	size_t fixed, each, devices;

	if (len < FIXED_BYTES)
		return false;
	fixed = wire_get16(in + AT_FIXED_BYTES);
	each = in[AT_DEVICE_BYTES];
	devices = in[AT_DEVICES];
	return fixed >= FIXED_BYTES && (!devices || each >= DEVICE_BYTES) &&
	       devices <= WIRE_BLOCK_DEVICES_MAX && fixed + devices * each <= len;
}

int wire_block_head_get(struct wire_block_head *h, const uint8_t *in, size_t len)
{
	const uint8_t *p;
	uint32_t i;

	if (!sizes_ok(in, len))
		return -EBADMSG;
	memset(h, 0, offsetof(struct wire_block_head, device));
	h->version = wire_get16(in + AT_VERSION);
	h->kind = in[AT_KIND];
	h->flags = in[AT_FLAGS];
	h->count = wire_get32(in + AT_COUNT);
	h->t0_ns = (int64_t)wire_get64(in + AT_T0);
	h->t1_ns = (int64_t)wire_get64(in + AT_T1);
	h->last_start_ns = (int64_t)wire_get64(in + AT_LAST_START);
	h->string_max = wire_get32(in + AT_STRING_MAX);
	h->devices = in[AT_DEVICES];
	if (!h->version || !h->kind || !h->count || h->count > WIRE_BLOCK_EVENTS_MAX ||
	    h->t0_ns > h->last_start_ns)
		return -EBADMSG;
	p = in + wire_get16(in + AT_FIXED_BYTES);
	for (i = 0; i < h->devices; i++, p += in[AT_DEVICE_BYTES]) {
		h->device[i].device = wire_get32(p + DEV_ORDINAL);
		h->device[i].ops = wire_get32(p + DEV_OPS);
		h->device[i].busy_ns = wire_get64(p + DEV_BUSY);
		h->device[i].lost = wire_get32(p + DEV_LOST);
		h->device[i].reserved = wire_get32(p + DEV_RESERVED);
	}
	return 0;
}
