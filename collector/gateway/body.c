/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame after frame; streams are found by a table of their ids, which who sends chooses: a keyed
 * hash.
 */
#include "body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "store/hello.h"

#define FIRST_SLOTS 64

static uint64_t slot_of(const struct coll_body *b, const uint8_t *id)
{
	return wire_keyed_hash(id, WIRE_STREAM_ID_BYTES, &b->secret) & (b->slots - 1);
}

/* Where the stream stands in the table, or would. */
static uint32_t *find(const struct coll_body *b, const uint8_t *id)
{
	uint64_t i = slot_of(b, id);

	while (b->at[i] && memcmp(b->stream[b->at[i] - 1].id, id, WIRE_STREAM_ID_BYTES) != 0)
		i = (i + 1) & (b->slots - 1);
	return &b->at[i];
}

static int make_room(struct coll_body *b)
{
	size_t slots = b->slots ? 2 * b->slots : FIRST_SLOTS;
	uint32_t *at;

	if (2 * (b->streams + 1) <= b->slots)
		return 0;
	at = calloc(slots, sizeof(*at));
	if (!at)
		return -ENOMEM;
	free(b->at);
	b->at = at;
	b->slots = slots;
	for (size_t i = 0; i < b->streams; i++)
		*find(b, b->stream[i].id) = (uint32_t)i + 1;
	return 0;
}

static int stream_of(struct coll_body *b, const uint8_t *id, struct coll_body_stream **out)
{
	uint32_t *at;
	int err = make_room(b);

	if (err)
		return err;
	at = find(b, id);
	if (!*at) {
		if (b->streams == COLL_BODY_STREAMS)
			return -E2BIG;
		if (!base_vec_more(b->stream, b->streams, b->room))
			return -ENOMEM;
		*out = &b->stream[b->streams++];
		**out = (struct coll_body_stream){ .entries = 0 };
		memcpy((*out)->id, id, WIRE_STREAM_ID_BYTES);
		coll_hex_of((*out)->hex, id);
		*at = (uint32_t)b->streams;
	}
	*out = &b->stream[*at - 1];
	return 0;
}

static bool refuse(struct coll_body *b, uint64_t at, const struct wire_frame *f, const char *why,
		   bool damaged)
{
	b->refused = (struct coll_refused){ .why = why, .offset = at, .damaged = damaged };
	if (f) {
		b->refused.named = true;
		b->refused.seq = f->seq;
		coll_hex_of(b->refused.stream, f->stream);
	}
	return false;
}

/* A whole frame with good sums that a client may send. */
static bool is_good(struct coll_body *b, uint64_t at, struct wire_frame *f)
{
	const uint8_t *bytes = b->bytes.data + at;
	size_t left = b->bytes.len - (size_t)at;

	if (left < WIRE_FRAME_HEADER_BYTES)
		return refuse(b, at, NULL, "the body ends in the middle of it", true);
	if (wire_frame_header_get(f, bytes))
		return refuse(b, at, NULL, "no frame is there, or its header is damaged", true);
	if (wire_frame_bytes(f) > left)
		return refuse(b, at, f, "the body ends in the middle of it", true);
	if (!wire_frame_payload_ok(f, bytes + WIRE_FRAME_HEADER_BYTES))
		return refuse(b, at, f, "its CRC is wrong", true);
	if (!f->seq || (f->type >= WIRE_FRAME_ACK && f->type <= WIRE_FRAME_END))
		return refuse(b, at, f, "it is not a client's to send", false);
	return true;
}

/* 0; 1: it says nothing of use; -ENOMEM. */
static int read_hello(struct coll_body_stream *s, const struct wire_frame *f, const uint8_t *bytes)
{
	struct coll_hello hello;
	int err = coll_hello_read(&hello, f, bytes + WIRE_FRAME_HEADER_BYTES);

	if (err == -ENOMEM)
		return err;
	if (err || !hello.run[0])
		return 1;
	s->begins = true;
	memcpy(s->run, hello.run, sizeof(s->run));
	return 0;
}

static int take(struct coll_body *b, uint64_t at, const struct wire_frame *f)
{
	struct coll_body_stream *s;
	int err = stream_of(b, f->stream, &s);

	if (!err && f->type == WIRE_FRAME_HELLO)
		err = read_hello(s, f, b->bytes.data + at);
	if (err > 0) {
		refuse(b, at, f, "its stream did not begin with a good Hello", false);
		return 0;
	}
	if (!err && !base_vec_more(s->entry, s->entries, s->room))
		err = -ENOMEM;
	if (!err)
		s->entry[s->entries++] = (struct wire_entry){ .frame = *f, .offset = at };
	return err;
}

int coll_body_read(struct coll_body *b)
{
	uint64_t at = 0;
	struct wire_frame f;
	int err = 0;

	b->secret = wire_secret();
	while (!err && at < b->bytes.len && is_good(b, at, &f)) {
		err = take(b, at, &f);
		if (b->refused.why)
			break;
		at += wire_frame_bytes(&f);
	}
	return err;
}

void coll_body_cut(struct coll_body *b, uint64_t at)
{
	for (size_t i = 0; i < b->streams; i++) {
		struct coll_body_stream *s = &b->stream[i];

		while (s->entries && s->entry[s->entries - 1].offset >= at)
			s->entries--;
	}
}

void coll_body_fini(struct coll_body *b)
{
	for (size_t i = 0; i < b->streams; i++)
		free(b->stream[i].entry);
	free(b->stream);
	free(b->at);
	wire_buf_fini(&b->bytes);
	*b = (struct coll_body){ .streams = 0 };
}
