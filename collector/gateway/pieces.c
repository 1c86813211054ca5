/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted by number, each once, then cut by length.
 */
#include "pieces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "segments/piece.h"
#include "segments/send.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"
#include "wire/keys.h"

#define KEY_BYTES 1024

/* Frames that are put together. */
struct piece {
	struct objects *objects;
	const char *run;
	const struct coll_body *body;
	const struct coll_body_stream *stream;
	const struct wire_entry *entry;
	size_t entries;
	struct coll_pieces_count *count;
	struct objects_trouble *trouble;
};

static int by_number(const void *a, const void *b)
{
	const struct wire_entry *x = a, *y = b;

	if (x->frame.seq != y->frame.seq)
		return x->frame.seq < y->frame.seq ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* As they nearly always come. */
static bool is_sorted(const struct coll_body_stream *s)
{
	size_t i = 1;

	while (i < s->entries && s->entry[i].frame.seq > s->entry[i - 1].frame.seq)
		i++;
	return i >= s->entries;
}

static void sort(struct coll_body_stream *s)
{
	size_t kept = 0;

	if (is_sorted(s))
		return;
	qsort(s->entry, s->entries, sizeof(*s->entry), by_number);
	for (size_t i = 0; i < s->entries; i++)
		if (!kept || s->entry[i].frame.seq != s->entry[kept - 1].frame.seq)
			s->entry[kept++] = s->entry[i];
	s->entries = kept;
}

static uint64_t first_of(const struct piece *p)
{
	return p->entry[0].frame.seq;
}

static uint64_t last_of(const struct piece *p)
{
	return p->entry[p->entries - 1].frame.seq;
}

static bool is_whole(const struct piece *p)
{
	return last_of(p) - first_of(p) == p->entries - 1;
}

static uint32_t sum_of(const struct piece *p)
{
	uint32_t sum = 0;
	uint8_t number[8];

	for (size_t i = 0; i < p->entries; i++) {
		wire_put64(number, p->entry[i].frame.seq);
		sum = wire_crc32c(sum, number, sizeof(number));
	}
	return sum;
}

static bool make_key(const struct piece *p, char key[KEY_BYTES])
{
	char file[COLL_HEX_BYTES + 16], below[WIRE_KEY_BYTES];

	snprintf(file, sizeof(file), "%s", p->stream->hex);
	if (!is_whole(p))
		snprintf(file, sizeof(file), "%s.g%08x", p->stream->hex, sum_of(p));
	return wire_key_of_segment(below, file, (int)strlen(file), first_of(p), last_of(p)) &&
	       snprintf(key, KEY_BYTES, "%s/%s", p->run, below) < KEY_BYTES;
}

static size_t bytes_of(const struct piece *p)
{
	size_t bytes = 0;

	for (size_t i = 0; i < p->entries; i++)
		bytes += (size_t)wire_frame_bytes(&p->entry[i].frame);
	return bytes;
}

/* The frames one behind the other, and what they are. */
static int copy(const struct piece *p, struct wire_buf *bytes)
{
	struct wire_entry *entry = calloc(p->entries, sizeof(*entry));
	struct segments_piece piece = { .entry = entry, .entries = p->entries };
	int err = entry ? wire_buf_reserve(bytes, bytes_of(p)) : -ENOMEM;

	for (size_t i = 0; i < p->entries && !err; i++) {
		entry[i] = p->entry[i];
		entry[i].offset = bytes->len;
		err = wire_buf_append(bytes, p->body->bytes.data + p->entry[i].offset,
				      (size_t)wire_frame_bytes(&entry[i].frame));
	}
	if (!err)
		err = segments_piece_end(bytes, &piece);
	free(entry);
	return err;
}

static int put(const struct piece *p);

/*
 * Another length is there: what was put there was cut or packed otherwise than we do, or is none of
 * ours. It stays; ours comes under two other keys, and at last, where it is one frame, in its
 * place.
 */
static int put_otherwise(const struct piece *p, const char *key, const struct wire_buf *bytes)
{
	struct piece half = *p;
	int err;

	if (p->entries == 1)
		return objects_put(p->objects, key, bytes->data, bytes->len, false, p->trouble);
	half.entries = p->entries / 2;
	err = put(&half);
	half.entry += half.entries;
	half.entries = p->entries - half.entries;
	return err ? err : put(&half);
}

static int put(const struct piece *p)
{
	struct wire_buf bytes = { .data = NULL };
	char key[KEY_BYTES];
	int got = make_key(p, key) ? copy(p, &bytes) : -ENAMETOOLONG;

	if (!got)
		got = segments_send(p->objects, key, bytes.data, bytes.len, p->trouble);
	if (got == -EEXIST)
		got = put_otherwise(p, key, &bytes);
	if (got >= 0) {
		p->count->segments++;
		p->count->there += !got;
		p->count->bytes += got ? bytes.len : 0;
	}
	wire_buf_fini(&bytes);
	return got < 0 ? got : 0;
}

int coll_pieces_put(struct objects *o, const char *run, const struct coll_body *b,
		    struct coll_body_stream *s, struct coll_pieces_count *count,
		    struct objects_trouble *t)
{
	struct piece p = { o, run, b, s, s->entry, 0, count, t };
	uint64_t bytes = 0;
	int err = 0;

	t->why[0] = '\0';
	sort(s);
	p.entry = s->entry;
	for (size_t i = 0; i < s->entries && !err; i++) {
		bytes += wire_frame_bytes(&s->entry[i].frame);
		p.entries++;
		if (bytes < SEGMENTS_BYTES && i + 1 < s->entries)
			continue;
		err = put(&p);
		p.entry += p.entries;
		p.entries = 0;
		bytes = 0;
	}
	return err;
}
