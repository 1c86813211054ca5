/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two slots that are written in turn, each with a sum: one that was written only in part leaves the
 * other.
 */
#include "known.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"

#define VERSION 1
#define SLOT_BYTES 4096
#define RANGES_MAX 128 /* a stream with more is read whole */
#define GROWN_BYTES (1u << 20) /* so much may have to be read again */
#define SMALL_BYTES (256u << 10) /* to read so little costs less than to keep this */

enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_HAS = 6,
	AT_GENERATION = 8,
	AT_STREAM = 16,
	AT_SIZE = 32,
	AT_TOP = 40,
	AT_INDEX = 48, /* bytes of the index that are of this beginning; 0: it has none */
	AT_LAST = 56,
	AT_FIRST_HELLO = 64,
	AT_LAST_HELLO = 72,
	AT_BYE = 80,
	AT_PULSES = 88,
	AT_STRIDE = 96,
	AT_THIN = 100,
	AT_RANGES = 104,
	AT_LAST_CRC = 108, /* of that frame's header, so that it is this very one */
	AT_MTIME = 112, /* of the file, then */
	AT_OFFSETS = 120,
	AT_RANGE = AT_OFFSETS + 8 * (COLL_MARKS_THIN + COLL_MARKS_RECENT),
	AT_CRC = SLOT_BYTES - 4,
};
_Static_assert(AT_RANGE + 16 * RANGES_MAX <= AT_CRC, "a slot holds all");

static const uint8_t magic[4] = { 'G', 'S', 'T', 'K' };

static bool path_of(const struct coll_stream *s, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/.%s.known", s->dir, s->hex) < PATH_MAX;
}

static uint64_t index_bytes(const struct coll_stream *s)
{
	struct stat st;

	return s->index.fd < 0 || fstat(s->index.fd, &st) ? 0 : (uint64_t)st.st_size;
}

/* The header of the frame at @offset; false: there is none. */
static bool header_at(const struct coll_stream *s, uint64_t offset, uint8_t *header,
		      struct wire_frame *f)
{
	return pread(s->fd, header, WIRE_FRAME_HEADER_BYTES, (off_t)offset) ==
		       WIRE_FRAME_HEADER_BYTES &&
	       !wire_frame_header_get(f, header) && !memcmp(f->stream, s->id, sizeof(s->id));
}

static void put_marks(uint8_t *slot, const struct coll_marks *m)
{
	size_t i;

	wire_put16(slot + AT_HAS, (uint16_t)m->has);
	wire_put64(slot + AT_LAST, m->last);
	wire_put64(slot + AT_FIRST_HELLO, m->first_hello);
	wire_put64(slot + AT_LAST_HELLO, m->last_hello);
	wire_put64(slot + AT_BYE, m->bye);
	wire_put64(slot + AT_PULSES, m->pulses);
	wire_put32(slot + AT_STRIDE, m->stride);
	wire_put32(slot + AT_THIN, m->thin);
	for (i = 0; i < COLL_MARKS_THIN; i++)
		wire_put64(slot + AT_OFFSETS + 8 * i, m->thin_at[i]);
	for (i = 0; i < COLL_MARKS_RECENT; i++)
		wire_put64(slot + AT_OFFSETS + 8 * (COLL_MARKS_THIN + i), m->recent_at[i]);
}

/* All but what of the index is there. False: the stream is none that a slot can tell of. */
static bool put_slot(uint8_t *slot, const struct coll_stream *s)
{
	uint8_t header[WIRE_FRAME_HEADER_BYTES];
	struct wire_frame f;
	struct stat st;
	unsigned int i;

	if (s->seqs.ranges > RANGES_MAX || !(s->marks.has & COLL_MARKS_LAST) ||
	    !header_at(s, s->marks.last, header, &f) ||
	    s->marks.last + wire_frame_bytes(&f) != s->size || fstat(s->fd, &st))
		return false;
	memset(slot, 0, SLOT_BYTES);
	memcpy(slot + AT_MAGIC, magic, sizeof(magic));
	wire_put16(slot + AT_VERSION, VERSION);
	wire_put64(slot + AT_GENERATION, s->known_generation + 1);
	memcpy(slot + AT_STREAM, s->id, sizeof(s->id));
	wire_put64(slot + AT_SIZE, s->size);
	wire_put64(slot + AT_TOP, s->seqs.top);
	wire_put64(slot + AT_MTIME, (uint64_t)coll_timespec_ns(st.st_mtim));
	put_marks(slot, &s->marks);
	wire_put32(slot + AT_RANGES, s->seqs.ranges);
	wire_put32(slot + AT_LAST_CRC, wire_crc32c(0, header, sizeof(header)));
	for (i = 0; i < s->seqs.ranges; i++) {
		wire_put64(slot + AT_RANGE + 16 * i, s->seqs.above[i].first);
		wire_put64(slot + AT_RANGE + 16 * i + 8, s->seqs.above[i].last);
	}
	return true;
}

static void write_slot(struct coll_stream *s, uint8_t *slot)
{
	char path[PATH_MAX];
	int fd = -1;

	wire_put64(slot + AT_INDEX, index_bytes(s));
	wire_put32(slot + AT_CRC, wire_crc32c(0, slot, AT_CRC));
	if (path_of(s, path))
		fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	s->known_generation++;
	if (pwrite(fd, slot, SLOT_BYTES, (off_t)(s->known_generation % 2 * SLOT_BYTES)) !=
	    SLOT_BYTES)
		unlink(path);
	close(fd);
}

static void prepare(struct coll_stream *s)
{
	free(s->known_next);
	s->known_next = malloc(SLOT_BYTES);
	s->known = s->size; /* what cannot be said now is not tried again at once */
	if (!s->known_next || put_slot(s->known_next, s))
		return;
	free(s->known_next);
	s->known_next = NULL;
}

void coll_known_prepare(struct coll_stream *s)
{
	if (s->size >= s->known + GROWN_BYTES)
		prepare(s);
}

void coll_known_save(struct coll_stream *s)
{
	if (s->known_next)
		write_slot(s, s->known_next);
	free(s->known_next);
	s->known_next = NULL;
}

/* Nothing comes after Bye, as a rule: a store does not keep these for ever. */
static void forget(struct coll_stream *s)
{
	char path[PATH_MAX];

	if (s->known_generation && path_of(s, path))
		unlink(path);
	s->known = s->known_generation = 0;
}

void coll_known_close(struct coll_stream *s)
{
	if (s->bye)
		forget(s);
	else if (!coll_stream_dirty(s) && s->size != s->known && s->size >= SMALL_BYTES) {
		prepare(s);
		coll_known_save(s);
	}
}

static void get_marks(const uint8_t *slot, struct coll_marks *m)
{
	size_t i;

	m->has = wire_get16(slot + AT_HAS);
	m->last = wire_get64(slot + AT_LAST);
	m->first_hello = wire_get64(slot + AT_FIRST_HELLO);
	m->last_hello = wire_get64(slot + AT_LAST_HELLO);
	m->bye = wire_get64(slot + AT_BYE);
	m->pulses = wire_get64(slot + AT_PULSES);
	m->stride = wire_get32(slot + AT_STRIDE);
	m->thin = wire_get32(slot + AT_THIN);
	if (m->thin > COLL_MARKS_THIN)
		m->thin = 0;
	for (i = 0; i < COLL_MARKS_THIN; i++)
		m->thin_at[i] = wire_get64(slot + AT_OFFSETS + 8 * i);
	for (i = 0; i < COLL_MARKS_RECENT; i++)
		m->recent_at[i] = wire_get64(slot + AT_OFFSETS + 8 * (COLL_MARKS_THIN + i));
}

/* In order, apart from each other. */
static bool get_seqs(const uint8_t *slot, struct coll_seq_set *set)
{
	uint64_t below = set->top = wire_get64(slot + AT_TOP);
	unsigned int i;

	set->ranges = wire_get32(slot + AT_RANGES);
	if (set->ranges > RANGES_MAX)
		return false;
	for (i = 0; i < set->ranges; i++) {
		struct coll_seq_range *r = &set->above[i];

		r->first = wire_get64(slot + AT_RANGE + 16 * i);
		r->last = wire_get64(slot + AT_RANGE + 16 * i + 8);
		if (below >= UINT64_MAX - 1 || r->first <= below + 1 || r->last < r->first)
			return false;
		below = r->last;
	}
	return true;
}

static bool is_whole(const struct coll_stream *s, const uint8_t *slot)
{
	return !memcmp(slot + AT_MAGIC, magic, sizeof(magic)) &&
	       wire_get16(slot + AT_VERSION) == VERSION &&
	       wire_get32(slot + AT_CRC) == wire_crc32c(0, slot, AT_CRC) &&
	       !memcmp(slot + AT_STREAM, s->id, sizeof(s->id));
}

/* The last frame of the beginning is there as it was, and ends where the slot says. */
static bool ends_so(const struct coll_stream *s, const uint8_t *slot)
{
	uint64_t last = wire_get64(slot + AT_LAST), size = wire_get64(slot + AT_SIZE);
	uint8_t header[WIRE_FRAME_HEADER_BYTES], *payload;
	struct wire_frame f;
	size_t len;
	bool good;

	if (last > INT64_MAX || size > INT64_MAX || !header_at(s, last, header, &f) ||
	    wire_crc32c(0, header, sizeof(header)) != wire_get32(slot + AT_LAST_CRC) ||
	    last + wire_frame_bytes(&f) != size)
		return false;
	len = (size_t)f.head_len + f.body_len;
	payload = malloc(len + 1);
	good = payload &&
	       pread(s->fd, payload, len, (off_t)(last + WIRE_FRAME_HEADER_BYTES)) ==
		       (ssize_t)len &&
	       wire_frame_payload_ok(&f, payload);
	free(payload);
	return good;
}

/* Somebody else has written to it: what it is now is to be read. */
static bool was_touched(const struct coll_stream *s, const uint8_t *slot)
{
	struct stat st;

	return fstat(s->fd, &st) || (uint64_t)st.st_size < wire_get64(slot + AT_SIZE) ||
	       ((uint64_t)st.st_size == wire_get64(slot + AT_SIZE) &&
		(uint64_t)coll_timespec_ns(st.st_mtim) != wire_get64(slot + AT_MTIME));
}

static bool restore_index(struct coll_stream *s, uint64_t bytes)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s.idx", s->dir, s->hex) >= PATH_MAX)
		return false;
	return coll_index_resume_at(&s->index, path, bytes);
}

static bool take(struct coll_stream *s, const uint8_t *slot)
{
	struct coll_seq_set *seqs;
	bool good = false;

	seqs = malloc(sizeof(*seqs));
	if (!seqs)
		return false;
	if (get_seqs(slot, seqs) && !was_touched(s, slot) && ends_so(s, slot) &&
	    restore_index(s, wire_get64(slot + AT_INDEX))) {
		coll_seq_set_copy(&s->seqs, seqs);
		get_marks(slot, &s->marks);
		s->size = s->synced = s->known = wire_get64(slot + AT_SIZE);
		s->known_generation = wire_get64(slot + AT_GENERATION);
		s->bye = (s->marks.has & COLL_MARKS_BYE) != 0;
		good = true;
	}
	free(seqs);
	return good;
}

bool coll_known_restore(struct coll_stream *s)
{
	uint8_t slots[2 * SLOT_BYTES] = { 0 }, *first = slots, *second = slots + SLOT_BYTES;
	char path[PATH_MAX];
	ssize_t got = -1;
	int fd = -1;

	if (path_of(s, path))
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = pread(fd, slots, sizeof(slots), 0);
	close(fd);
	if (got > 0 && wire_get64(first + AT_GENERATION) < wire_get64(second + AT_GENERATION)) {
		first = second;
		second = slots;
	}
	if (got > 0 && !is_whole(s, first))
		first = second; /* and where the newest does not hold, no older one is tried */
	if (got > 0 && is_whole(s, first) && take(s, first))
		return true;
	unlink(path);
	return false;
}
