/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the file holds decides: nothing else is remembered over a restart.
 */
#include "recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire/reader.h"

#define INDEX_PIECE (64u << 10)

static void note_frame(struct coll_stream *s, const struct wire_file *f, const struct wire_entry *e)
{
	if (e->frame.seq)
		coll_seq_set_add(&s->seqs, e->frame.seq);
	coll_index_add(&s->index, &e->frame, wire_file_head(f), e->offset);
	if (s->index.waiting.len > INDEX_PIECE)
		coll_index_flush(&s->index);
	if (e->frame.type == WIRE_FRAME_BYE)
		s->bye = true;
}

/* Head and body, to be freed; NULL: no memory, or the file has changed. */
static uint8_t *read_payload(const struct coll_stream *s, const struct wire_entry *e)
{
	size_t len = (size_t)e->frame.head_len + e->frame.body_len;
	uint8_t *payload = malloc(len + 1);

	if (payload && pread(s->fd, payload, len, (off_t)(e->offset + WIRE_FRAME_HEADER_BYTES)) !=
			       (ssize_t)len) {
		free(payload);
		return NULL;
	}
	return payload;
}

/* The process, from its last Hello. Without one the stream is stored all the same. */
static void read_hello(struct coll_stream *s, const struct wire_entry *e)
{
	uint8_t *payload = read_payload(s, e);

	if (payload)
		s->who_known = !coll_hello_read(&s->who, &e->frame, payload);
	free(payload);
}

static void pass_on(const struct coll_recovery_listener *listener, const struct coll_stream *s,
		    const struct wire_entry *e)
{
	uint8_t *payload;

	if (!listener->frame ||
	    (e->frame.type != WIRE_FRAME_HELLO && e->frame.type != WIRE_FRAME_PULSE &&
	     e->frame.type != WIRE_FRAME_BYE))
		return;
	payload = read_payload(s, e);
	if (payload)
		listener->frame(listener->arg, s, &e->frame, payload);
	free(payload);
}

int coll_recover(struct coll_stream *s, const struct coll_recovery_listener *listener)
{
	struct wire_entry e, hello = { .offset = 0 };
	struct wire_file *f;
	int got, err = wire_file_open(&f, s->path);

	if (err)
		return err;
	while ((got = wire_file_next(f, &e)) > 0) {
		s->size = e.offset + wire_frame_bytes(&e.frame);
		if (memcmp(e.frame.stream, s->id, sizeof(s->id)))
			continue;
		note_frame(s, f, &e);
		pass_on(listener, s, &e);
		if (e.frame.type == WIRE_FRAME_HELLO)
			hello = e;
	}
	wire_file_close(f);
	if (got < 0)
		return got;
	if (hello.frame.type == WIRE_FRAME_HELLO)
		read_hello(s, &hello);
	return 0;
}
