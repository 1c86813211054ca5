/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks, one after the other: a head byte with the kind and how many classes follow, the time since
 * the last mark, what the kind adds, then class and time for each class. A collective's end needs
 * no number: of those under way it is the earliest.
 */
#include "collective_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/archive.h"
#include "base/hash.h"
#include "wire/bytes.h"
#include "facts/kernel.h"

#define CHUNK_BYTES 32768u
#define TICK_PIECES 4096u /* decided late, of which many may come behind the last mark */
#define MARK_MAX (1 + 3 * WIRE_VARINT_MAX + ANA_CLASSES * (1 + WIRE_VARINT_MAX))

struct ana_log_chunk {
	struct ana_log_chunk *next;
	size_t len;
	uint8_t byte[]; /* CHUNK_BYTES while it is written */
};

struct ana_collective_log *ana_collective_log_new(size_t room)
{
	struct ana_collective_log *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->room = room;
	t->at = t->seen = INT64_MIN;
	t->next = INT64_MAX;
	t->last_ns = INT64_MIN;
	return t;
}

void ana_collective_log_free(struct ana_collective_log *t)
{
	struct ana_log_chunk *c;

	if (!t)
		return;
	while ((c = t->first)) {
		t->first = c->next;
		free(c);
	}
	ana_late_pieces_fini(&t->late);
	free(t->lane);
	free(t);
}

static struct ana_log_chunk *add_chunk(struct ana_collective_log *t, size_t bytes)
{
	struct ana_log_chunk *c = malloc(sizeof(*c) + bytes);

	if (!c)
		return NULL;
	c->next = NULL;
	c->len = 0;
	if (t->chunk)
		t->chunk->next = c;
	else
		t->first = c;
	t->chunk = c;
	t->used += sizeof(*c) + bytes;
	return c;
}

static uint8_t *room_for_mark(struct ana_collective_log *t)
{
	struct ana_log_chunk *c = t->chunk;

	if (c && CHUNK_BYTES - c->len >= MARK_MAX)
		return c->byte + c->len;
	c = add_chunk(t, CHUNK_BYTES);
	if (!c) {
		t->err = -ENOMEM;
		return NULL;
	}
	return c->byte;
}

/* The first mark's time is written as it is. */
static uint64_t since(int64_t last, int64_t t)
{
	return last == INT64_MIN ? wire_zigzag((uint64_t)t) : (uint64_t)(t - last);
}

static int64_t after(int64_t last, uint64_t v)
{
	return last == INT64_MIN ? (int64_t)wire_unzigzag(v) : last + (int64_t)v;
}

static void write_mark(struct ana_collective_log *t, enum ana_log_mark_kind kind, int64_t at,
		       uint32_t lane, int64_t ns)
{
	uint8_t *head = room_for_mark(t), *p;
	unsigned int classes = 0;
	int c;

	if (!head)
		return;
	p = wire_varint_put(head + 1, since(t->at, at));
	if (kind == ANA_MARK_BEGIN)
		p = wire_varint_put(p, lane);
	if (kind == ANA_MARK_BEGIN || kind == ANA_MARK_PIECE)
		p = wire_varint_put(p, (uint64_t)ns);
	for (c = 0; c < ANA_CLASSES && kind != ANA_MARK_PIECE; c++) {
		if (!t->sum[c])
			continue;
		*p++ = (uint8_t)c;
		p = wire_varint_put(p, (uint64_t)t->sum[c]);
		t->sum[c] = 0;
		classes++;
	}
	*head = (uint8_t)(kind | classes << 2);
	t->chunk->len = (size_t)(p - t->chunk->byte);
	t->at = kind == ANA_MARK_PIECE ? at + ns : at;
}

static void write_exposed(struct ana_collective_log *t)
{
	if (t->comm_start < t->comm_end)
		write_mark(t, ANA_MARK_PIECE, t->comm_start, 0, t->comm_end - t->comm_start);
	t->comm_start = t->comm_end;
}

static void end_first(struct ana_collective_log *t)
{
	write_exposed(t);
	write_mark(t, ANA_MARK_END, t->open[0], 0, 0);
	memmove(t->open, t->open + 1, --t->opens * sizeof(*t->open));
	t->next = t->opens ? t->open[0] : INT64_MAX;
}

static void take(struct ana_collective_log *t, int c, int64_t start, int64_t end)
{
	if (c != ANA_COMM || !t->opens) { /* where exactly matters only inside of collectives */
		t->sum[c] += end - start;
		return;
	}
	if (start != t->comm_end) {
		write_exposed(t);
		t->comm_start = start;
	}
	t->comm_end = end;
}

void ana_collective_log_split(struct ana_collective_log *t, int c, int64_t start, int64_t end)
{
	if (t->full && !t->opens)
		return;
	while (t->opens && t->next < end) {
		if (start < t->next)
			take(t, c, start, t->next);
		start = start < t->next ? t->next : start;
		end_first(t);
	}
	if (start < end)
		take(t, c, start, end);
}

/* The moments of the log so far, as ana_late_pieces_fold wants them. */
struct moments {
	struct ana_log_cursor cursor;
	int64_t end; /* of a piece: a moment of its own */
	bool has_end;
};

static bool next_mark(struct ana_log_cursor *c, struct ana_log_mark *m);

static bool next_moment(void *arg, int64_t *moment)
{
	struct moments *m = arg;
	struct ana_log_mark mark;

	if (m->has_end) {
		m->has_end = false;
		*moment = m->end;
		return true;
	}
	if (!next_mark(&m->cursor, &mark))
		return false;
	*moment = mark.t;
	m->has_end = mark.kind == ANA_MARK_PIECE;
	m->end = mark.end;
	return true;
}

static bool fold(struct ana_collective_log *t)
{
	struct ana_late_pieces *l = &t->late;
	struct moments m = { .has_end = false };

	ana_log_cursor_init(&m.cursor, t);
	m.cursor.late = SIZE_MAX; /* the marks alone */
	ana_late_pieces_fold(l, next_moment, &m);
	return l->count < l->room - l->room / 4;
}

/*
 * Without collectives there is no mark, and what is decided behind the last one could never be put
 * together.
 */
static bool tick(struct ana_collective_log *t)
{
	if (t->late.room < TICK_PIECES || (t->full && !t->opens))
		return false;
	while (t->opens && t->next <= t->seen)
		end_first(t);
	if (t->opens || t->seen <= t->at)
		return false;
	write_mark(t, ANA_MARK_TICK, t->seen, 0, 0);
	return !t->err;
}

/* Makes room by folding; by growing where that brings too little for it to be soon due again. */
static int late_room(struct ana_collective_log *t)
{
	struct ana_late_pieces *l = &t->late;
	size_t before = l->room;
	int err = 0;

	if (!fold(t) && (!tick(t) || !fold(t)))
		err = t->err ? t->err : ana_late_pieces_grow(l);
	t->used += (l->room - before) * sizeof(*l->at);
	return err;
}

void ana_collective_log_add_late(struct ana_collective_log *t, int c, int64_t start, int64_t end)
{
	if (start >= end || (t->full && start >= t->full_ns) || t->err)
		return;
	if (ana_late_pieces_add(&t->late, c, start, end))
		return;
	t->err = late_room(t);
	if (!t->err)
		ana_late_pieces_add(&t->late, c, start, end);
}

static struct ana_lane *new_lane(struct ana_collective_log *t)
{
	uint32_t room = t->lane_room ? t->lane_room * 2 : 8;
	struct ana_lane *p;

	if (t->lanes == ANA_LOG_LANES_MAX)
		return NULL;
	if (t->lanes == t->lane_room) {
		p = reallocarray(t->lane, room, sizeof(*p));
		if (!p) {
			t->err = -ENOMEM;
			return NULL;
		}
		t->lane = p;
		t->lane_room = room;
	}
	return &t->lane[t->lanes++];
}

static struct ana_lane *lane_of(struct ana_collective_log *t, uint32_t source, uint32_t stream,
				uint32_t name, const char *text)
{
	struct ana_lane *l;
	uint32_t i;

	for (i = 0; i < t->lanes; i++) {
		l = &t->lane[i];
		if (l->stream == stream && l->name == name && l->source == source)
			return l;
	}
	l = new_lane(t);
	if (l)
		*l = (struct ana_lane){ .source = source,
					.stream = stream,
					.name = name,
					.text = text,
					.hash = base_hash_text(BASE_HASH, text),
					.meeting = facts_kernel_meeting(text) };
	return l;
}

static void open_one(struct ana_collective_log *t, int64_t end)
{
	uint32_t i = t->opens++;

	for (; i > 0 && t->open[i - 1] > end; i--)
		t->open[i] = t->open[i - 1];
	t->open[i] = end;
	t->next = t->open[0];
}

void ana_collective_log_begin(struct ana_collective_log *t, uint32_t source, uint32_t stream,
			      uint32_t name, const char *text, int64_t start, int64_t end)
{
	struct ana_lane *l = lane_of(t, source, stream, name, text);
	bool collective = !l || l->meeting == FACTS_MEET_ALL;

	t->p2p += !collective;
	if (l && l->meeting == FACTS_MEET_NOT) {
		l->count++;
		return;
	}
	while (t->opens && t->open[0] <= start)
		end_first(t);
	if (!t->full && t->used >= t->room) {
		t->full = true;
		t->full_ns = start;
	}
	if (!l || t->full || t->opens == ANA_LOG_OPEN_MAX || end < start) {
		t->left_out += collective;
		return;
	}
	write_exposed(t);
	write_mark(t, ANA_MARK_BEGIN, start, (uint32_t)(l - t->lane), end - start);
	open_one(t, end);
	t->collectives += collective;
	t->sends += !collective;
	l->count++;
	if (end > t->last_ns) {
		t->last_ns = end;
		t->last_lane = (uint32_t)(l - t->lane);
	}
}

/* Gives back what the last chunk has too much, which of a short run is most of it. */
static void trim(struct ana_collective_log *t)
{
	struct ana_log_chunk **last = &t->first, *c;

	if (!t->chunk)
		return;
	while (*last != t->chunk)
		last = &(*last)->next;
	c = realloc(*last, sizeof(*c) + (*last)->len + WIRE_VARINT_MAX);
	if (c)
		*last = t->chunk = c;
}

int ana_collective_log_finish(struct ana_collective_log *t)
{
	while (t->opens)
		end_first(t);
	write_exposed(t);
	ana_late_pieces_sort(&t->late);
	ana_late_pieces_trim(&t->late);
	trim(t);
	return t->err;
}

/* --- reading --- */

void ana_log_cursor_init(struct ana_log_cursor *c, const struct ana_collective_log *t)
{
	*c = (struct ana_log_cursor){ .log = t, .chunk = t->first, .at = INT64_MIN };
}

/* Adds what was decided late, up to @t. */
static void add_late(struct ana_log_cursor *c, int64_t t)
{
	const struct ana_collective_log *log = c->log;

	for (; c->late < log->late.count && log->late.at[c->late].start < t; c->late++) {
		const struct ana_late_piece *l = &log->late.at[c->late];
		int64_t start = l->start > c->at ? l->start : c->at, end = ana_late_piece_end(l);

		if (end > t) {
			c->cum[ana_late_piece_class(l)] += t > start ? t - start : 0;
			return;
		}
		c->cum[ana_late_piece_class(l)] += end > start ? end - start : 0;
	}
}

static const uint8_t *read_number(const uint8_t *p, uint64_t *v)
{
	*v = 0;
	return wire_varint_get(p, p + WIRE_VARINT_MAX, v);
}

static const uint8_t *read_classes(struct ana_log_cursor *c, const uint8_t *p, unsigned int classes)
{
	uint64_t ns;

	for (; classes; classes--) {
		int k = *p++;

		p = read_number(p, &ns);
		c->cum[k] += (int64_t)ns;
	}
	return p;
}

static void begin(struct ana_log_cursor *c, struct ana_log_mark *m)
{
	uint32_t i = c->opens++;

	m->number = c->number++;
	for (; i > 0 && c->open[i - 1].end > m->end; i--)
		c->open[i] = c->open[i - 1];
	c->open[i].end = m->end;
	c->open[i].lane = m->lane;
	c->open[i].number = m->number;
}

static void finish(struct ana_log_cursor *c, struct ana_log_mark *m)
{
	m->lane = c->open[0].lane;
	m->number = c->open[0].number;
	m->end = m->t;
	memmove(c->open, c->open + 1, --c->opens * sizeof(c->open[0]));
}

/* The chunk with the next mark; false: there is none. */
static bool find_chunk(struct ana_log_cursor *c)
{
	while (c->chunk && c->pos == c->chunk->len) {
		c->chunk = c->chunk->next;
		c->pos = 0;
	}
	return c->chunk != NULL;
}

/* What is written of a mark; END's lane and number are known to the cursor. */
static void read_mark(struct ana_log_cursor *c, struct ana_log_mark *m)
{
	const uint8_t *p = c->chunk->byte + c->pos;
	unsigned int head = *p++;
	uint64_t v;

	*m = (struct ana_log_mark){ .kind = (enum ana_log_mark_kind)(head & 3) };
	p = read_number(p, &v);
	m->t = after(c->at, v);
	if (m->kind == ANA_MARK_BEGIN) {
		p = read_number(p, &v);
		m->lane = (uint32_t)v;
	}
	if (m->kind == ANA_MARK_BEGIN || m->kind == ANA_MARK_PIECE) {
		p = read_number(p, &v);
		m->end = m->t + (int64_t)v;
	}
	p = read_classes(c, p, head >> 2);
	c->pos = (size_t)(p - c->chunk->byte);
}

static bool next_mark(struct ana_log_cursor *c, struct ana_log_mark *m)
{
	if (!find_chunk(c))
		return false;
	read_mark(c, m);
	add_late(c, m->t);
	c->at = m->t;
	if (m->kind == ANA_MARK_PIECE) {
		c->cum[ANA_COMM] += m->end - m->t;
		add_late(c, m->end);
		c->at = m->end;
	} else if (m->kind == ANA_MARK_BEGIN) {
		begin(c, m);
	} else if (m->kind == ANA_MARK_END) {
		finish(c, m);
	}
	return true;
}

bool ana_log_cursor_next(struct ana_log_cursor *c, struct ana_log_mark *m)
{
	bool any;

	do
		any = next_mark(c, m);
	while (any && m->kind == ANA_MARK_TICK);
	return any;
}

/* --- kept --- */

static void archive_lanes(struct ana_collective_log *t, struct ana_archive *a,
			  const char *(*text)(const void *arg, uint32_t source, uint32_t name),
			  const void *arg)
{
	ana_archive_vec(a, t->lane, t->lanes, ANA_LOG_LANES_MAX);
	if (a->reading)
		t->lane_room = t->lanes;
	for (uint32_t i = 0; i < t->lanes; i++) {
		struct ana_lane *l = &t->lane[i];

		ana_archive_field(a, l->source);
		ana_archive_field(a, l->stream);
		ana_archive_field(a, l->name);
		ana_archive_field(a, l->count);
		if (!a->reading)
			continue;
		l->text = text(arg, l->source, l->name);
		ana_archive_check(a, l->text != NULL);
		l->text = l->text ? l->text : "";
		l->hash = base_hash_text(BASE_HASH, l->text);
		l->meeting = facts_kernel_meeting(l->text);
	}
}

static void archive_late(struct ana_late_pieces *l, struct ana_archive *a)
{
	ana_archive_vec(a, l->at, l->count, SIZE_MAX / 64);
	if (a->reading)
		l->room = l->count;
	for (size_t i = 0; i < l->count; i++) {
		ana_archive_time(a, &l->at[i].start);
		ana_archive_field(a, l->at[i].ns_and_class);
		ana_archive_check(a, ana_late_piece_class(&l->at[i]) < ANA_CLASSES);
	}
}

/*
 * What the cursor takes for granted of marks that we wrote: so many, one after the other, of known
 * lanes.
 */
struct check {
	const struct ana_collective_log *log;
	int64_t at;
	uint32_t opens;
	uint64_t begun;
	uint64_t ns; /* of classes, all together */
};

static const uint8_t *number(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	return p ? wire_varint_get(p, end, v) : NULL;
}

static bool is_time(const struct check *c, uint64_t since, int64_t *t)
{
	if (c->at == INT64_MIN)
		*t = (int64_t)wire_unzigzag(since);
	else if (since > ANA_ARCHIVE_TIME_MAX)
		return false;
	else
		*t = c->at + (int64_t)since;
	return *t >= -ANA_ARCHIVE_TIME_MAX && *t <= ANA_ARCHIVE_TIME_MAX;
}

static const uint8_t *check_classes(struct check *c, const uint8_t *p, const uint8_t *end,
				    unsigned int classes)
{
	uint64_t ns;

	for (; classes; classes--) {
		if (!p || p == end || *p++ >= ANA_CLASSES || !(p = number(p, end, &ns)) ||
		    ns > ANA_ARCHIVE_TIME_MAX)
			return NULL;
		c->ns += ns;
		if (c->ns > ANA_ARCHIVE_TIME_MAX)
			return NULL;
	}
	return p;
}

/* The byte behind the mark; NULL: it is none. */
static const uint8_t *check_mark(struct check *c, const uint8_t *p, const uint8_t *end)
{
	unsigned int head = *p++, kind = head & 3;
	uint64_t since = 0, lane = 0, ns = 0;
	int64_t t;

	p = number(p, end, &since);
	if (kind == ANA_MARK_BEGIN)
		p = number(p, end, &lane);
	if (kind == ANA_MARK_BEGIN || kind == ANA_MARK_PIECE)
		p = number(p, end, &ns);
	if (!p || !is_time(c, since, &t) || lane >= c->log->lanes || ns > ANA_ARCHIVE_TIME_MAX ||
	    (kind == ANA_MARK_END && !c->opens) ||
	    (kind == ANA_MARK_BEGIN && c->opens == ANA_LOG_OPEN_MAX) ||
	    (kind == ANA_MARK_PIECE && head >> 2))
		return NULL;
	c->opens += kind == ANA_MARK_BEGIN;
	c->opens -= kind == ANA_MARK_END;
	c->begun += kind == ANA_MARK_BEGIN;
	c->at = kind == ANA_MARK_PIECE ? t + (int64_t)ns : t;
	c->ns += kind == ANA_MARK_PIECE ? ns : 0;
	return check_classes(c, p, end, head >> 2);
}

static bool is_sound(const struct ana_collective_log *t)
{
	struct check c = { .log = t, .at = INT64_MIN };

	for (const struct ana_log_chunk *k = t->first; k; k = k->next) {
		const uint8_t *p = k->byte, *end = k->byte + k->len;

		while (p && p < end)
			p = check_mark(&c, p, end);
		if (!p)
			return false;
	}
	return !c.opens && c.begun == t->collectives + t->sends &&
	       (!c.begun || t->last_lane < t->lanes);
}

static void read_chunk(struct ana_collective_log *t, struct ana_archive *a, size_t len)
{
	struct ana_log_chunk *c = add_chunk(t, len + WIRE_VARINT_MAX);

	if (!c) {
		a->err = a->err ? a->err : -ENOMEM;
		return;
	}
	memset(c->byte, 0, len + WIRE_VARINT_MAX);
	c->len = len;
	ana_archive_bytes(a, c->byte, len);
}

static void archive_chunks(struct ana_collective_log *t, struct ana_archive *a)
{
	struct ana_log_chunk *c = t->first;
	size_t len;

	for (;;) { /* a length of 0 is the end */
		len = ana_archive_number(a, !a->reading && c ? c->len : 0, CHUNK_BYTES);
		if (!len || a->err)
			return;
		if (a->reading) {
			read_chunk(t, a, len);
		} else {
			ana_archive_bytes(a, c->byte, len);
			c = c->next;
		}
	}
}

void ana_collective_log_archive(struct ana_collective_log *t, struct ana_archive *a,
				const char *(*text)(const void *arg, uint32_t source,
						    uint32_t name),
				const void *arg)
{
	archive_lanes(t, a, text, arg);
	ana_archive_field(a, t->collectives);
	ana_archive_field(a, t->sends);
	ana_archive_field(a, t->p2p);
	ana_archive_field(a, t->left_out);
	ana_archive_bool(a, &t->full);
	ana_archive_field(a, t->full_ns);
	ana_archive_field(a, t->last_ns);
	ana_archive_check(a, !(t->collectives + t->sends) || (t->last_ns >= -ANA_ARCHIVE_TIME_MAX &&
							      t->last_ns <= ANA_ARCHIVE_TIME_MAX));
	ana_archive_field(a, t->last_lane);
	archive_late(&t->late, a);
	archive_chunks(t, a);
	if (a->reading)
		ana_archive_check(a, is_sound(t));
}
