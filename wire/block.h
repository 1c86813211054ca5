/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: many events of one kind as columns, and the plain head that a reader can use without
 * decompressing. The columns are our own code (protobuf-c allocates per value).
 *
 * Events keep the order they were given in; stamps need not be sorted (sorted ones are smaller).
 * Any thread; a codec belongs to one thread at a time.
 */
#ifndef WIRE_BLOCK_H
#define WIRE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buf.h"
#include "event.h"

#define WIRE_BLOCK_EVENTS_MAX 65536u /* a decoder refuses more */
#define WIRE_BLOCK_DEVICES_MAX 64u

struct wire_block_device {
	uint32_t device; /* ordinal */
	uint32_t ops;
	uint64_t busy_ns; /* measure of the union of this block's ops on that device */
	uint32_t lost; /* records lost since the block before, where known */
	uint32_t reserved;
};

struct wire_block_head {
	uint16_t version;
	uint8_t kind; /* enum wire_kind */
	uint8_t flags;
	uint32_t count; /* events */
	int64_t t0_ns; /* least start */
	int64_t t1_ns; /* greatest end */
	int64_t last_start_ns; /* greatest start */
	uint32_t string_max; /* highest string id that the block names */
	uint32_t devices; /* entries used in device[] */
	struct wire_block_device device[WIRE_BLOCK_DEVICES_MAX];
};

/*
 * Computes the head of @ev[0..n): kind, count, times, string_max, per-device ops and busy (ops
 * only; one that ends before it starts is counted and not busy). 0, -EINVAL (n, kinds differ),
 * -E2BIG (more than WIRE_BLOCK_DEVICES_MAX devices: make two blocks), -ENOMEM.
 */
int wire_block_head_of(struct wire_block_head *h, const struct wire_event *ev, size_t n);

/*
 * Sets what was lost on a device (an entry without ops where the block has none). 0 or -E2BIG.
 */
int wire_block_head_lost(struct wire_block_head *h, uint32_t device, uint32_t lost);

/*
 * Head to and from its plain bytes. get: 0 or -EBADMSG. It takes heads of later versions, which
 * only append, and kinds it does not know.
 */
int wire_block_head_put(const struct wire_block_head *h, struct wire_buf *out);
int wire_block_head_get(struct wire_block_head *h, const uint8_t *in, size_t len);

/* Appends the columns of @ev[0..n), all of @kind. 0, -EINVAL (n or kind) or a buffer error. */
int wire_block_encode(uint8_t kind, const struct wire_event *ev, size_t n, struct wire_buf *out);

/* What the events of a block are like, seen while they are made: nobody needs to go over them. */
struct wire_block_seen {
	int64_t t0_ns, t1_ns, last_start_ns; /* as in a head */
	uint32_t string_max;
	/* each one begins with the one before or later; operations: later */
	bool in_order;
};

/*
 * Decodes @count events into @ev (caller's array), and says in *@seen (NULL: not asked) what they
 * are like. Every byte is checked: -EBADMSG on columns that end early, run over or do not fit their
 * fields. Never reads beyond @len.
 */
int wire_block_decode(uint8_t kind, uint32_t count, const uint8_t *columns, size_t len,
		      struct wire_event *ev, struct wire_block_seen *seen);

#endif
