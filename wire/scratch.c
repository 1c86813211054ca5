/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads frames that were found: payload, decompression, messages, names, events.
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "codec.h"
#include "source.h"

/*
 * What one message may take of memory. protobuf-c allocates a struct for every two bytes of a
 * hostile body, so the body's limit alone does not bound it.
 */
#define MESSAGE_BYTES_MAX (256u << 20)

struct wire_scratch {
	ZSTD_DCtx *zstd;
	struct wire_buf frame;
	struct wire_buf raw;
};

struct wire_scratch *wire_scratch_new(void)
{
	struct wire_scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->zstd = ZSTD_createDCtx();
	if (!s->zstd) {
		free(s);
		return NULL;
	}
	return s;
}

void wire_scratch_free(struct wire_scratch *s)
{
	if (!s)
		return;
	ZSTD_freeDCtx(s->zstd);
	wire_buf_fini(&s->frame);
	wire_buf_fini(&s->raw);
	free(s);
}

/* Header and payload of the frame, still the one that the scan found. */
static int read_frame(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e)
{
	size_t len = (size_t)wire_frame_bytes(&e->frame);
	struct wire_frame now;
	ssize_t got;
	int err;

	s->frame.len = 0;
	err = wire_buf_reserve(&s->frame, len);
	if (err)
		return err;
	got = wire_file_pread(f, s->frame.data, len, e->offset);
	if (got < 0)
		return (int)got;
	if ((size_t)got < len || wire_frame_header_get(&now, s->frame.data) ||
	    wire_frame_bytes(&now) != len || now.crc != e->frame.crc ||
	    !wire_frame_payload_ok(&e->frame, s->frame.data + WIRE_FRAME_HEADER_BYTES))
		return -EBADMSG;
	s->frame.len = len;
	return 0;
}

int wire_file_load(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		   const uint8_t **head, const uint8_t **raw, size_t *raw_len)
{
	const uint8_t *body;
	int err;

	if (e->frame.version > WIRE_FRAME_VERSION || e->frame.flags & ~WIRE_FRAME_FL_ZSTD)
		return -EPROTO;
	err = read_frame(f, s, e);
	if (err)
		return err;
	*head = s->frame.data + WIRE_FRAME_HEADER_BYTES;
	body = *head + e->frame.head_len;
	*raw_len = e->frame.raw_len;
	if (!(e->frame.flags & WIRE_FRAME_FL_ZSTD)) {
		*raw = body;
		return e->frame.raw_len == e->frame.body_len ? 0 : -EBADMSG;
	}
	err = wire_codec_unpack(s->zstd, body, e->frame.body_len, e->frame.raw_len, &s->raw);
	*raw = s->raw.data;
	return err;
}

static void *bounded_alloc(void *left, size_t size)
{
	size_t *room = left;

	if (size > *room)
		return NULL;
	*room -= size;
	return malloc(size);
}

static void bounded_free(void *left, void *p)
{
	(void)left;
	free(p);
}

ProtobufCMessage *wire_file_message(struct wire_file *f, struct wire_scratch *s,
				    const struct wire_entry *e,
				    const ProtobufCMessageDescriptor *type)
{
	size_t left = MESSAGE_BYTES_MAX, len;
	ProtobufCAllocator bounded = { bounded_alloc, bounded_free, &left };
	const uint8_t *head, *raw;

	if (wire_file_load(f, s, e, &head, &raw, &len))
		return NULL;
	return protobuf_c_message_unpack(type, &bounded, len, raw);
}

/* One field of a protobuf message. */
struct field {
	uint64_t tag; /* number << 3 | wire type */
	uint64_t value; /* of a varint */
	const uint8_t *bytes; /* of a length-delimited one */
	size_t len;
};

/* Reads the field at @p, passing types that we do not use; NULL on damage. */
static const uint8_t *next_field(const uint8_t *p, const uint8_t *end, struct field *out)
{
	uint64_t skip = 0;

	p = wire_varint_get(p, end, &out->tag);
	if (!p)
		return NULL;
	switch (out->tag & 7) {
	case 0:
		return wire_varint_get(p, end, &out->value);
	case 1:
		skip = 8;
		break;
	case 2:
		p = wire_varint_get(p, end, &skip);
		break;
	case 5:
		skip = 4;
		break;
	default:
		return NULL;
	}
	if (!p || skip > (uint64_t)(end - p))
		return NULL;
	out->bytes = p;
	out->len = (size_t)skip;
	return p + skip;
}

enum {
	TAG_FIRST_BYTES = 1 << 3 | 2, /* Strings.entries; columns of Block, Samples, Workers */
	TAG_ENTRY_ID = 1 << 3 | 0,
	TAG_ENTRY_TEXT = 2 << 3 | 2,
};

static int add_entry(const uint8_t *p, const uint8_t *end, struct wire_strtab *t)
{
	struct field got, text = { .bytes = p };
	uint64_t id = 0;
	int err;

	while (p < end) {
		p = next_field(p, end, &got);
		if (!p)
			return -EBADMSG;
		if (got.tag == TAG_ENTRY_ID)
			id = got.value;
		else if (got.tag == TAG_ENTRY_TEXT)
			text = got;
	}
	if (id > UINT32_MAX)
		return -EBADMSG;
	err = wire_strtab_set(t, (uint32_t)id, (const char *)text.bytes, text.len);
	if (err == -EEXIST)
		return 0;
	return err == -EINVAL ? -EBADMSG : err;
}

int wire_file_strings(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		      struct wire_strtab *t)
{
	const uint8_t *head, *p, *end;
	struct field got;
	size_t len;
	int err;

	err = wire_file_load(f, s, e, &head, &p, &len);
	if (err)
		return err;
	for (end = p + len; p < end;) {
		p = next_field(p, end, &got);
		if (!p)
			return -EBADMSG;
		if (got.tag != TAG_FIRST_BYTES)
			continue;
		err = add_entry(got.bytes, got.bytes + got.len, t);
		if (err)
			return err;
	}
	return 0;
}

/* The columns bytes of a Block, Samples or Workers message. */
static int find_columns(const uint8_t *p, size_t len, struct field *columns)
{
	const uint8_t *end = p + len;
	struct field got;

	columns->bytes = NULL;
	while (p < end) {
		p = next_field(p, end, &got);
		if (!p)
			return -EBADMSG;
		if (got.tag == TAG_FIRST_BYTES)
			*columns = got;
	}
	return columns->bytes ? 0 : -EBADMSG;
}

/* Room for @count of @each bytes in *rows. */
static int make_room(void *rows, size_t *room, size_t count, size_t each)
{
	void *grown;

	if (*room >= count)
		return 0;
	grown = reallocarray(*(void **)rows, count, each);
	if (!grown)
		return -ENOMEM;
	*(void **)rows = grown;
	*room = count;
	return 0;
}

/* Head and columns of a frame that has both. */
static int load_columns(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
			struct wire_block_head *h, struct field *columns)
{
	const uint8_t *head, *raw;
	size_t len;
	int err;

	err = wire_file_load(f, s, e, &head, &raw, &len);
	if (!err)
		err = wire_block_head_get(h, head, e->frame.head_len);
	return err ? err : find_columns(raw, len, columns);
}

/* What others skip blocks by must be true. */
static bool head_true(const struct wire_block_head *h, const struct wire_block_seen *is)
{
	return is->t0_ns == h->t0_ns && is->last_start_ns == h->last_start_ns &&
	       is->t1_ns == h->t1_ns && is->string_max == h->string_max;
}

int wire_file_block(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		    struct wire_block_head *h, struct wire_event **ev, size_t *room, bool *in_order)
{
	struct wire_block_seen seen;
	struct field columns;
	int err;

	if (e->frame.type != WIRE_FRAME_BLOCK && e->frame.type != WIRE_FRAME_RANGES)
		return -EINVAL;
	err = load_columns(f, s, e, h, &columns);
	if (!err)
		err = make_room(ev, room, h->count, sizeof(**ev));
	if (!err)
		err = wire_block_decode(h->kind, h->count, columns.bytes, columns.len, *ev, &seen);
	if (err)
		return err;
	if (in_order)
		*in_order = seen.in_order;
	return head_true(h, &seen) ? 0 : -EBADMSG;
}

/* What an index says of the frame must be true. */
static int check_head(const struct wire_block_head *said, const struct wire_block_head *is)
{
	return said->t0_ns == is->t0_ns && said->t1_ns == is->t1_ns &&
			       said->last_start_ns == is->last_start_ns &&
			       said->string_max == is->string_max
		       ? 0
		       : -EBADMSG;
}

/* The same of a frame of evidence, which must be of this kind. */
static int load_evidence(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
			 enum wire_evidence_kind kind, struct wire_block_head *h,
			 struct field *columns)
{
	int err;

	if (e->frame.type != (kind == WIRE_KIND_SAMPLE ? WIRE_FRAME_SAMPLES : WIRE_FRAME_WORKERS))
		return -EINVAL;
	err = load_columns(f, s, e, h, columns);
	return !err && h->kind != kind ? -EPROTO : err;
}

int wire_file_samples(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		      struct wire_block_head *h, struct wire_sample **sample, size_t *room)
{
	struct wire_block_head is;
	struct field columns;
	int err = load_evidence(f, s, e, WIRE_KIND_SAMPLE, h, &columns);

	if (!err)
		err = make_room(sample, room, h->count, sizeof(**sample));
	if (!err)
		err = wire_samples_decode(h->count, columns.bytes, columns.len, *sample);
	if (err)
		return err;
	wire_samples_head(*sample, h->count, &is);
	return check_head(h, &is);
}

int wire_file_batches(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		      struct wire_block_head *h, struct wire_batch **batch, size_t *room)
{
	struct wire_block_head is;
	struct field columns;
	int err = load_evidence(f, s, e, WIRE_KIND_BATCH, h, &columns);

	if (!err)
		err = make_room(batch, room, h->count, sizeof(**batch));
	if (!err)
		err = wire_batches_decode(h->count, columns.bytes, columns.len, *batch);
	if (err)
		return err;
	wire_batches_head(*batch, h->count, &is);
	return check_head(h, &is);
}
