/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read to the body's end, then look what of it are frames.
 */
#include "batch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "wire/bytes.h"

#define KEEP_ROOM (4u << 20)

void coll_batch_clear(struct coll_batch *b)
{
	b->parts = 0;
	b->body.len = 0;
	if (b->body.room > KEEP_ROOM)
		wire_buf_fini(&b->body);
}

void coll_batch_fini(struct coll_batch *b)
{
	wire_buf_fini(&b->body);
	b->parts = 0;
}

static size_t most(const struct coll_batch *b)
{
	size_t usual = b->usual ? b->usual : COLL_BATCH_BYTES;

	return b->most && b->most < usual ? b->most : usual;
}

bool coll_batch_full(const struct coll_batch *b)
{
	return b->parts == COLL_BATCH_PARTS || b->body.len >= most(b);
}

/* So many bytes from @at behind the body, which does not grow. How many came, or -errno. */
static ssize_t read_behind(struct coll_batch *b, int fd, uint64_t at, size_t len)
{
	size_t got = 0;
	int err = wire_buf_reserve(&b->body, len);

	if (err)
		return err;
	while (got < len) {
		ssize_t n =
			pread(fd, b->body.data + b->body.len + got, len - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/*
 * Of @len bytes behind the body: whole frames join it. *used: bytes looked at for good. Damage is
 * passed over where it comes first, and ends the taking where it comes later, so that what joins is
 * one piece of the file, the last one of what was used. At the end of a file (@final) it stays
 * where it is: half a frame there is cut off, and others come in its place, when the stream goes
 * on.
 */
static void take_frames(struct coll_batch *b, size_t len, bool final, size_t *used, bool *bye)
{
	uint8_t *from = b->body.data + b->body.len;
	size_t at = 0, skip = 0, kept = 0;
	struct wire_frame f;

	while (at < len &&
	       wire_frame_scan(from + at, len - at, final, &f, &skip) == WIRE_SCAN_FRAME) {
		size_t bytes = (size_t)wire_frame_bytes(&f);

		if (skip && kept)
			break;
		at += skip;
		b->damaged += skip;
		if (kept != at)
			memmove(from + kept, from + at, bytes);
		kept += bytes;
		at += bytes;
		*bye = f.type == WIRE_FRAME_BYE;
		skip = 0;
	}
	if (!kept && !final) {
		at += skip;
		b->damaged += skip;
	}
	b->body.len += kept;
	*used = at;
}

/* How many bytes to look at, so that the frame that begins at @at is whole. */
static size_t wanted(int fd, uint64_t at, size_t room)
{
	uint8_t header[WIRE_FRAME_HEADER_BYTES];
	struct wire_frame f;

	if (pread(fd, header, sizeof(header), (off_t)at) != sizeof(header) ||
	    wire_frame_header_get(&f, header))
		return room;
	return wire_frame_bytes(&f) > room ? (size_t)wire_frame_bytes(&f) : room;
}

/*
 * What was sent and not answered goes again up to where it ended then: who keeps bodies as they
 * came knows that he has it.
 */
static uint64_t end_of(const struct coll_out_file *f)
{
	return f->tried > f->at && f->tried < f->size ? f->tried : f->size;
}

static int add_frames(struct coll_batch *b, struct coll_out_file *f, int fd, uint64_t *to)
{
	size_t room = most(b) - b->body.len, len, used;
	uint64_t end = end_of(f), left = end - f->at;
	ssize_t got;
	bool final;

	len = b->body.len ? room : wanted(fd, f->at, room);
	if (len > left)
		len = (size_t)left;
	got = read_behind(b, fd, f->at, len);
	if (got < 0)
		return (int)got;
	/* Of a stream nothing that is cut becomes whole; a spool's end may not be written yet. */
	final = f->kind == COLL_OUT_FRAMES && (uint64_t)got == left && end == f->size;
	take_frames(b, (size_t)got, final, &used, &f->bye);
	*to = f->at + used;
	return 0;
}

int coll_batch_add(struct coll_batch *b, struct coll_out_run *run, struct coll_out_file *f)
{
	struct coll_batch_part *p = &b->part[b->parts];
	char path[PATH_MAX];
	uint64_t to = f->at;
	int fd, err;

	if (snprintf(path, sizeof(path), "%s/%s", run->dir, f->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*p = (struct coll_batch_part){ .run = run, .file = f, .from = f->at };
	p->body_from = b->body.len;
	err = add_frames(b, f, fd, &to);
	close(fd);
	if (err)
		return err;
	if (to == f->at) {
		/* A frame that does not fit beside others comes with the next batch. */
		if (!p->body_from)
			f->stuck = f->size;
		return 0;
	}
	p->to = f->tried = to;
	p->body_to = b->body.len;
	if (p->body_to > p->body_from)
		b->parts++;
	else
		coll_out_file_sent(run, f, to); /* nothing but damage */
	return 0;
}

/*
 * The header at *at in the body, which holds whole frames alone; *at: behind them. False: its end.
 */
static bool next_frame(const struct coll_batch *b, size_t *at, struct wire_frame *f)
{
	if (*at + WIRE_FRAME_HEADER_BYTES > b->body.len ||
	    wire_frame_header_get(f, b->body.data + *at))
		return false;
	*at += (size_t)wire_frame_bytes(f);
	return true;
}

bool coll_batch_shrink(struct coll_batch *b)
{
	struct wire_frame f;
	size_t first = 0;

	if (next_frame(b, &first, &f) && first == b->body.len)
		return false;
	b->most = b->body.len / 2 > COLL_BATCH_LEAST ? b->body.len / 2 : COLL_BATCH_LEAST;
	return true;
}

bool coll_batch_is_between(const struct coll_batch *b, uint64_t at)
{
	struct wire_frame f;
	size_t here = 0;

	while (here < at && next_frame(b, &here, &f))
		;
	return here == at;
}

/* The Ack at *at in the answer; *at: behind it. False: none is there. */
static bool next_ack(const uint8_t *answer, size_t len, size_t *at, struct wire_frame *f)
{
	if (*at + WIRE_FRAME_HEADER_BYTES > len || wire_frame_header_get(f, answer + *at) ||
	    f->type != WIRE_FRAME_ACK || f->body_len ||
	    (f->head_len && f->head_len != WIRE_ACK_HEAD_BYTES) ||
	    wire_frame_bytes(f) > len - *at ||
	    !wire_frame_payload_ok(f, answer + *at + WIRE_FRAME_HEADER_BYTES))
		return false;
	*at += (size_t)wire_frame_bytes(f);
	return true;
}

bool coll_batch_ack_of(const uint8_t *answer, size_t len, const uint8_t *stream,
		       struct coll_ack *ack)
{
	struct wire_frame f;
	size_t at = 0;

	while (next_ack(answer, len, &at, &f)) {
		const uint8_t *head = answer + at - WIRE_ACK_HEAD_BYTES;

		if (memcmp(f.stream, stream, sizeof(f.stream)))
			continue;
		*ack = (struct coll_ack){ .top = f.seq, .extents = f.head_len != 0 };
		if (ack->extents) {
			ack->had = wire_get64(head);
			ack->has = wire_get64(head + 8);
		}
		return true;
	}
	return false;
}

bool coll_batch_is_acked(const struct coll_batch *b, const uint8_t *answer, size_t len)
{
	size_t at = 0, acks = 0;
	struct wire_frame f, ack;
	struct coll_ack before;

	while (next_frame(b, &at, &f)) {
		if (coll_batch_ack_of(answer, acks, f.stream, &before))
			continue;
		if (!next_ack(answer, len, &acks, &ack) ||
		    memcmp(ack.stream, f.stream, sizeof(f.stream)) != 0)
			return false;
	}
	return acks == len;
}

void coll_batch_stored(struct coll_batch *b, uint64_t stored, struct coll_batch_part **next,
		       uint64_t *at)
{
	size_t i;

	*next = NULL;
	for (i = 0; i < b->parts; i++) {
		struct coll_batch_part *p = &b->part[i];

		if (stored >= p->body_to) {
			coll_out_file_sent(p->run, p->file, p->to);
			continue;
		}
		*next = p;
		if (stored < p->body_from)
			stored = p->body_from;
		*at = p->to - (p->body_to - stored);
		coll_out_file_sent(p->run, p->file, *at);
		return;
	}
}
