/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the frames of one stream.
 */
#include "encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "codec.h"
#include "columns.h"

#define STRINGS_BYTES (256u << 10) /* raw size from which on a Strings frame is full */

/* Protobuf tags (field << 3 | wire type) of the messages that are written by hand. */
enum {
	TAG_COLUMNS = 1 << 3 | 2, /* of Block, Samples and Workers */
	TAG_STRINGS_ENTRY = 1 << 3 | 2,
	TAG_ENTRY_ID = 1 << 3 | 0,
	TAG_ENTRY_TEXT = 2 << 3 | 2,
};

/* The columns' length comes before them and is known after: it gets a varint of fixed width. */
#define COLUMNS_LEN_BYTES 4
#define COLUMNS_PREFIX (1 + COLUMNS_LEN_BYTES)

struct wire_encoder {
	uint8_t stream[WIRE_STREAM_ID_BYTES];
	uint64_t seq;
	struct wire_codec codec;
	struct wire_columns *columns;
	struct wire_head_builder builder;
	struct wire_buf head;
	struct wire_buf raw;
	struct wire_buf packed;
};

struct wire_encoder *wire_encoder_new(const uint8_t stream[WIRE_STREAM_ID_BYTES], int level)
{
	struct wire_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->columns = wire_columns_new();
	if (!e->columns || wire_codec_init(&e->codec, level)) {
		wire_encoder_free(e);
		return NULL;
	}
	memcpy(e->stream, stream, WIRE_STREAM_ID_BYTES);
	return e;
}

void wire_encoder_free(struct wire_encoder *e)
{
	if (!e)
		return;
	wire_buf_fini(&e->packed);
	wire_buf_fini(&e->raw);
	wire_buf_fini(&e->head);
	wire_columns_free(e->columns);
	wire_codec_fini(&e->codec);
	free(e);
}

uint64_t wire_encoder_seq(const struct wire_encoder *e)
{
	return e->seq;
}

size_t wire_encoder_bytes(const struct wire_encoder *e)
{
	return sizeof(*e) + ZSTD_sizeof_CCtx(e->codec.zstd) + wire_columns_bytes(e->columns) +
	       e->head.room + e->raw.room + e->packed.room;
}

const struct wire_block_head *wire_encoder_head(const struct wire_encoder *e)
{
	return &e->builder.head;
}

/* Compresses e->raw and appends the frame; only then the number is used up. */
static int emit(struct wire_encoder *e, enum wire_frame_type type, const struct wire_cuts *cut,
		int64_t now_ns, struct wire_buf *out)
{
	struct wire_frame f = {
		.version = WIRE_FRAME_VERSION,
		.type = (uint16_t)type,
		.seq = e->seq + 1,
		.time_ns = now_ns,
		.raw_len = (uint32_t)e->raw.len,
	};
	const struct wire_buf *body = &e->raw;
	bool packed;
	int err;

	if (e->raw.len > WIRE_FRAME_RAW_MAX)
		return -EMSGSIZE;
	err = wire_codec_pack(&e->codec, &e->raw, cut, &e->packed, &packed);
	if (err)
		return err;
	if (packed) {
		f.flags = WIRE_FRAME_FL_ZSTD;
		body = &e->packed;
	}
	memcpy(f.stream, e->stream, WIRE_STREAM_ID_BYTES);
	err = wire_frame_append(out, &f, e->head.data, e->head.len, body->data, body->len);
	if (err)
		return err;
	e->seq++;
	return 0;
}

int wire_encoder_message(struct wire_encoder *e, enum wire_frame_type type,
			 const ProtobufCMessage *msg, int64_t now_ns, struct wire_buf *out)
{
	size_t len = protobuf_c_message_get_packed_size(msg);
	int err;

	e->head.len = 0;
	e->raw.len = 0;
	if (len > WIRE_FRAME_RAW_MAX)
		return -EMSGSIZE;
	err = wire_buf_reserve(&e->raw, len);
	if (err)
		return err;
	e->raw.len = protobuf_c_message_pack(msg, e->raw.data);
	return emit(e, type, NULL, now_ns, out);
}

static int put_head(struct wire_encoder *e, const uint32_t *lost)
{
	struct wire_block_head *h = &e->builder.head;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && lost && i < WIRE_BLOCK_DEVICES_MAX; i++)
		err = wire_block_head_lost(h, i, lost[i]);
	e->head.len = 0;
	return err ? err : wire_block_head_put(h, &e->head);
}

/* A varint of COLUMNS_LEN_BYTES bytes, longer than it need be: readers must take that. */
static void put_columns_prefix(uint8_t *p, size_t len)
{
	int i;

	p[0] = TAG_COLUMNS;
	for (i = 1; i <= COLUMNS_LEN_BYTES; i++, len >>= 7)
		p[i] = (uint8_t)(len & 0x7f) | (i < COLUMNS_LEN_BYTES ? 0x80 : 0);
}

/* An empty body with room for the prefix. */
static int begin_columns(struct wire_encoder *e)
{
	int err;

	e->raw.len = 0;
	err = wire_buf_reserve(&e->raw, COLUMNS_PREFIX);
	if (!err)
		e->raw.len = COLUMNS_PREFIX;
	return err;
}

static int make_columns(struct wire_encoder *e, const struct wire_event *ev, size_t n,
			struct wire_cuts *cut)
{
	int err = begin_columns(e);

	if (err)
		return err;
	err = wire_columns_encode(e->columns, ev[0].kind, ev, n, &e->builder, &e->raw, cut);
	if (err)
		return err;
	put_columns_prefix(e->raw.data, e->raw.len - COLUMNS_PREFIX);
	return 0;
}

int wire_encoder_block(struct wire_encoder *e, const struct wire_event *ev, size_t n,
		       const uint32_t *lost, int64_t now_ns, struct wire_buf *out)
{
	struct wire_cuts cut = { .used = 0 };
	int err = n ? make_columns(e, ev, n, &cut) : -EINVAL;

	if (!err)
		err = put_head(e, lost);
	if (err)
		return err;
	return emit(e, ev[0].kind == WIRE_KIND_RANGE ? WIRE_FRAME_RANGES : WIRE_FRAME_BLOCK, &cut,
		    now_ns, out);
}

/* The frame of rows whose columns are in e->raw behind the prefix, their head in e->builder. */
static int emit_rows(struct wire_encoder *e, enum wire_frame_type type, int64_t now_ns,
		     struct wire_buf *out)
{
	int err;

	put_columns_prefix(e->raw.data, e->raw.len - COLUMNS_PREFIX);
	err = put_head(e, NULL);
	return err ? err : emit(e, type, NULL, now_ns, out);
}

int wire_encoder_samples(struct wire_encoder *e, const struct wire_sample *s, size_t n,
			 int64_t now_ns, struct wire_buf *out)
{
	int err = begin_columns(e);

	if (!err)
		err = wire_samples_encode(s, n, &e->builder.head, &e->raw);
	return err ? err : emit_rows(e, WIRE_FRAME_SAMPLES, now_ns, out);
}

int wire_encoder_batches(struct wire_encoder *e, const struct wire_batch *b, size_t n,
			 int64_t now_ns, struct wire_buf *out)
{
	int err = begin_columns(e);

	if (!err)
		err = wire_batches_encode(b, n, &e->builder.head, &e->raw);
	return err ? err : emit_rows(e, WIRE_FRAME_WORKERS, now_ns, out);
}

static int add_string(struct wire_buf *raw, uint32_t id, const char *text, size_t len)
{
	size_t body = 1 + wire_varint_size(id) + 1 + wire_varint_size(len) + len;
	uint8_t *p;
	int err;

	err = wire_buf_reserve(raw, 1 + WIRE_VARINT_MAX + body);
	if (err)
		return err;
	p = raw->data + raw->len;
	*p++ = TAG_STRINGS_ENTRY;
	p = wire_varint_put(p, body);
	*p++ = TAG_ENTRY_ID;
	p = wire_varint_put(p, id);
	*p++ = TAG_ENTRY_TEXT;
	p = wire_varint_put(p, len);
	memcpy(p, text, len);
	raw->len = (size_t)(p - raw->data) + len;
	return 0;
}

int wire_encoder_strings(struct wire_encoder *e, const struct wire_strtab *t, uint32_t first,
			 uint32_t *next, int64_t now_ns, struct wire_buf *out)
{
	uint32_t id = first ? first : 1;
	size_t len;
	int err;

	*next = first;
	e->head.len = 0;
	e->raw.len = 0;
	for (; id <= wire_strtab_count(t) && e->raw.len < STRINGS_BYTES; id++) {
		const char *text = wire_strtab_get(t, id, &len);

		err = add_string(&e->raw, id, text, len);
		if (err)
			return err;
	}
	err = e->raw.len ? emit(e, WIRE_FRAME_STRINGS, NULL, now_ns, out) : 0;
	if (!err)
		*next = id;
	return err;
}
