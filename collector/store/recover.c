/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the file holds decides: nothing else is remembered over a restart.
 */
#include "recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "wire/reader.h"

#define INDEX_PIECE (64u << 10)

static void note_frame(struct coll_stream *s, const struct wire_file *f, const struct wire_entry *e)
{
	if (e->frame.seq)
		coll_seq_set_add(&s->seqs, e->frame.seq);
	coll_marks_add(&s->marks, &e->frame, e->offset);
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

	if (payload && (pread(s->fd, payload, len, (off_t)(e->offset + WIRE_FRAME_HEADER_BYTES)) !=
				(ssize_t)len ||
			!wire_frame_payload_ok(&e->frame, payload))) {
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
		    const struct wire_entry *e, bool thinned)
{
	uint8_t *payload;

	if (!listener->frame ||
	    (e->frame.type != WIRE_FRAME_HELLO && e->frame.type != WIRE_FRAME_PULSE &&
	     e->frame.type != WIRE_FRAME_FACTS && e->frame.type != WIRE_FRAME_BYE))
		return;
	payload = read_payload(s, e);
	if (payload)
		listener->frame(listener->arg, s, &e->frame, payload, thinned);
	free(payload);
}

/* The frame at @offset again; false: it is not there as it was. */
static bool entry_at(const struct coll_stream *s, uint64_t offset, struct wire_entry *e)
{
	uint8_t header[WIRE_FRAME_HEADER_BYTES];

	e->offset = offset;
	return pread(s->fd, header, sizeof(header), (off_t)offset) == sizeof(header) &&
	       !wire_frame_header_get(&e->frame, header) &&
	       !memcmp(e->frame.stream, s->id, sizeof(s->id));
}

/* What is told of the run, of that beginning of the file that is not read again. */
static void recall(struct coll_stream *s, const struct coll_recovery_listener *listener)
{
	uint64_t at[COLL_MARKS_MAX];
	size_t n = coll_marks_list(&s->marks, at), i;
	struct wire_entry e;

	for (i = 0; listener->frame && i < n; i++)
		if (at[i] < s->size && entry_at(s, at[i], &e))
			pass_on(listener, s, &e, true);
	if ((s->marks.has & COLL_MARKS_HELLO) && entry_at(s, s->marks.last_hello, &e) &&
	    e.frame.type == WIRE_FRAME_HELLO)
		read_hello(s, &e);
}

static bool is_longer(const struct coll_stream *s)
{
	struct stat st;

	return fstat(s->fd, &st) || (uint64_t)st.st_size != s->size;
}

int coll_recover(struct coll_stream *s, const struct coll_recovery_listener *listener)
{
	struct wire_entry e, hello = { .offset = 0 };
	struct wire_file *f;
	int got, err;

	recall(s, listener);
	if (s->size && !is_longer(s))
		return 0;
	err = wire_file_open(&f, s->path);
	if (err)
		return err;
	if (s->size)
		wire_file_start_at(f, s->size, s->id);
	while ((got = wire_file_next(f, &e)) > 0) {
		s->size = e.offset + wire_frame_bytes(&e.frame);
		if (memcmp(e.frame.stream, s->id, sizeof(s->id)))
			continue;
		note_frame(s, f, &e);
		pass_on(listener, s, &e, false);
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
