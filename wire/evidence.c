/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields samples and batches have, and how each is coded. The order is that of the sections
 * and part of the format.
 */
#include "evidence.h"

#include "rows.h"

#define FIELD(type, name, how)                                                                \
	{                                                                                     \
		.at = offsetof(struct type, name), .bytes = sizeof(((struct type *)0)->name), \
		.coding = WIRE_ROWS_##how                                                     \
	}
#define STRING(type, name)                                                                \
	{                                                                                 \
		.at = offsetof(struct type, name), .bytes = 4, .coding = WIRE_ROWS_AFTER, \
		.string = 1                                                               \
	}

_Static_assert(offsetof(struct wire_sample, tid) == offsetof(struct wire_sample, pid) + 4 &&
		       offsetof(struct wire_batch, tid) == offsetof(struct wire_batch, pid) + 4,
	       "a thread is two u32 in a row");
_Static_assert(offsetof(struct wire_sample, role) == offsetof(struct wire_sample, syscall) + 2 &&
		       offsetof(struct wire_sample, flags) ==
			       offsetof(struct wire_sample, syscall) + 5,
	       "a shape is six bytes in a row");

static const struct wire_rows sample = {
	.row_bytes = sizeof(struct wire_sample),
	.thread = offsetof(struct wire_sample, pid),
	.shape = offsetof(struct wire_sample, syscall),
	.shape_bytes = 6,
	.end = 0,
	.fields = 11,
	.added = 2,
	.field = {
		FIELD(wire_sample, t_ns, AFTER),
		FIELD(wire_sample, cpu_ns, AFTER),
		FIELD(wire_sample, delay_ns, AFTER),
		FIELD(wire_sample, throttled_ns, AFTER),
		FIELD(wire_sample, period_ns, AFTER),
		STRING(wire_sample, stack),
		STRING(wire_sample, native),
		STRING(wire_sample, target),
		STRING(wire_sample, fs),
		STRING(wire_sample, links),
		FIELD(wire_sample, rchar_bytes, AFTER),
	},
};

static const struct wire_rows batch = {
	.row_bytes = sizeof(struct wire_batch),
	.thread = offsetof(struct wire_batch, pid),
	.shape = offsetof(struct wire_batch, what),
	.shape_bytes = 1,
	.end = 1,
	.fields = 12,
	.field = {
		FIELD(wire_batch, start_ns, AFTER),
		FIELD(wire_batch, end_ns, LENGTH),
		FIELD(wire_batch, batch, AFTER),
		FIELD(wire_batch, cpu_ns, PLAIN),
		FIELD(wire_batch, delay_ns, PLAIN),
		FIELD(wire_batch, rchar_bytes, PLAIN),
		FIELD(wire_batch, read_bytes, PLAIN),
		FIELD(wire_batch, major_faults, PLAIN),
		FIELD(wire_batch, loader, AFTER),
		FIELD(wire_batch, worker, AFTER),
		FIELD(wire_batch, samples, AFTER),
		STRING(wire_batch, text),
	},
};

void wire_samples_head(const struct wire_sample *s, size_t n, struct wire_block_head *head)
{
	wire_rows_head(&sample, WIRE_KIND_SAMPLE, s, n, head);
}

void wire_batches_head(const struct wire_batch *b, size_t n, struct wire_block_head *head)
{
	wire_rows_head(&batch, WIRE_KIND_BATCH, b, n, head);
}

int wire_samples_encode(const struct wire_sample *s, size_t n, struct wire_block_head *head,
			struct wire_buf *out)
{
	int err = wire_rows_encode(&sample, s, n, out);

	if (!err)
		wire_samples_head(s, n, head);
	return err;
}

int wire_batches_encode(const struct wire_batch *b, size_t n, struct wire_block_head *head,
			struct wire_buf *out)
{
	int err = wire_rows_encode(&batch, b, n, out);

	if (!err)
		wire_batches_head(b, n, head);
	return err;
}

int wire_samples_decode(uint32_t count, const uint8_t *columns, size_t len, struct wire_sample *s)
{
	return wire_rows_decode(&sample, count, columns, len, s);
}

int wire_batches_decode(uint32_t count, const uint8_t *columns, size_t len, struct wire_batch *b)
{
	return wire_rows_decode(&batch, count, columns, len, b);
}
