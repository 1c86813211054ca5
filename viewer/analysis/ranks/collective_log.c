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
#include "base/vec.h"
#include "wire/bytes.h"
#include "facts/kernel.h"

#define CHUNK_BYTES 8192u
#define TICK_PIECES 4096u /* decided late, of which many may come behind the last mark */
#define LATE_LEAST 512u /* of these there is always room in memory for */
#define MARK_MAX (1 + 3 * WIRE_VARINT_MAX + ANA_CLASSES * (1 + WIRE_VARINT_MAX))

struct ana_collective_log *ana_collective_log_new(size_t room, struct ana_spill *spill)
{
	struct ana_collective_log *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->room = room;
	t->spill = spill;
	t->at = t->seen = t->folded.at = INT64_MIN;
	t->next = INT64_MAX;
	t->last_ns = INT64_MIN;
	return t;
}

void ana_collective_log_free(struct ana_collective_log *t)
{
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i < t->chunks; i++)
		free(t->chunk[i].byte);
	free(t->chunk);
	ana_late_pieces_fini(&t->late);
	free(t->lane);
	free(t);
}

/* --- what is beyond its room --- */

static bool can_spill(const struct ana_collective_log *t)
{
	return t->spill && !t->spill_err;
}

/* Half of the room is for late pieces. */
static size_t late_most(const struct ana_collective_log *t)
{
	size_t most = t->room / 2 / sizeof(struct ana_late_piece);

	return most > LATE_LEAST ? most : LATE_LEAST;
}

/* Puts the last chunk into the file. Its bytes, to be used again; NULL: it stays. */
static uint8_t *spill_chunk(struct ana_collective_log *t)
{
	struct ana_log_chunk *c = t->chunks ? &t->chunk[t->chunks - 1] : NULL;
	uint8_t *byte;

	if (!c || t->used + CHUNK_BYTES <= t->room || !can_spill(t))
		return NULL;
	t->spill_err = ana_spill_write(t->spill, c->byte, c->len, &c->offset);
	if (t->spill_err)
		return NULL;
	byte = c->byte;
	c->byte = NULL;
	return byte;
}

/* --- writing --- */

static struct ana_log_chunk *add_chunk(struct ana_collective_log *t, uint8_t *byte, size_t bytes)
{
	struct ana_log_chunk *c;

	if (!base_vec_more(t->chunk, t->chunks, t->chunk_room))
		return NULL;
	c = &t->chunk[t->chunks];
	*c = (struct ana_log_chunk){ .byte = byte };
	if (!byte) {
		c->byte = malloc(bytes);
		t->used += bytes;
	}
	if (!c->byte)
		return NULL;
	t->chunks++;
	return c;
}

static struct ana_log_chunk *room_for_mark(struct ana_collective_log *t)
{
	struct ana_log_chunk *c = t->chunks ? &t->chunk[t->chunks - 1] : NULL;
	uint8_t *byte;

	if (c && CHUNK_BYTES - c->len >= MARK_MAX)
		return c;
	byte = spill_chunk(t);
	c = add_chunk(t, byte, CHUNK_BYTES);
	if (!c) {
		free(byte);
		t->err = -ENOMEM;
	}
	return c;
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
	struct ana_log_chunk *chunk = room_for_mark(t);
	unsigned int classes = 0;
	uint8_t *head, *p;
	int c;

	if (!chunk)
		return;
	head = chunk->byte + chunk->len;
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
	chunk->len = (uint32_t)(p - chunk->byte);
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

static bool next_raw(struct ana_log_cursor *c, struct ana_log_mark *m);

/* The moments of the log from somewhere on, as ana_late_pieces_fold wants them. */
struct moments {
	struct ana_log_cursor cursor;
	int64_t end; /* of a piece: a moment of its own */
	bool has_end;
};

static bool next_moment(void *arg, int64_t *moment)
{
	struct moments *m = arg;
	struct ana_log_mark mark;

	if (m->has_end) {
		m->has_end = false;
		*moment = m->end;
		return true;
	}
	if (!next_raw(&m->cursor, &mark))
		return false;
	*moment = mark.t;
	m->has_end = mark.kind == ANA_MARK_PIECE;
	m->end = mark.end;
	return true;
}

/* What is put together from now on begins at @start or later: the marks before are done with. */
static void pass_marks(struct ana_collective_log *t, int64_t start)
{
	struct ana_log_cursor c;
	struct ana_log_mark m;

	ana_log_cursor_init(&c, t);
	c.place = t->folded;
	while (next_raw(&c, &m) && c.place.at <= start)
		t->folded = c.place;
	t->err = t->err ? t->err : c.err;
	ana_log_cursor_fini(&c);
}

static bool fold(struct ana_collective_log *t)
{
	struct ana_late_pieces *l = &t->late;
	struct moments m = { .has_end = false };

	ana_log_cursor_init(&m.cursor, t);
	m.cursor.place = t->folded;
	ana_late_pieces_fold(l, t->folded.at, next_moment, &m);
	t->err = t->err ? t->err : m.cursor.err;
	ana_log_cursor_fini(&m.cursor);
	if (l->count) /* of what was just put together only the newest may get more */
		pass_marks(t, l->at[l->count - 1 - l->count / 4].start);
	return l->count < l->room - l->room / 4;
}
/*
 * Without collectives there is no mark, and what is decided behind the last one could never be put
 * together.
 */
static bool tick(struct ana_collective_log *t)
{
	size_t most = late_most(t);

	if (t->late.room < (most < TICK_PIECES ? most : TICK_PIECES) || (t->full && !t->opens))
		return false;
	while (t->opens && t->next <= t->seen)
		end_first(t);
	if (t->opens || t->seen <= t->at)
		return false;
	write_mark(t, ANA_MARK_TICK, t->seen, 0, 0);
	return !t->err;
}

/* More room: in memory, or by what goes to the file. */
static int more_late_room(struct ana_collective_log *t)
{
	struct ana_late_pieces *l = &t->late;
	size_t before = l->room, most = late_most(t);
	int64_t kept_from;
	int err;

	if (l->room >= most && can_spill(t)) {
		t->spill_err = ana_late_pieces_spill(l, t->spill, &kept_from);
		if (!t->spill_err)
			pass_marks(t, kept_from);
		if (!t->spill_err || t->spill_err == -ENOMEM)
			return t->spill_err;
	}
	err = ana_late_pieces_grow(l, most);
	t->used += (l->room - before) * sizeof(*l->at);
	return err;
}

/* Makes room by folding; otherwise where that brings too little for it to be soon due again. */
static int late_room(struct ana_collective_log *t)
{
	if (fold(t) || (tick(t) && fold(t)))
		return t->err;
	return t->err ? t->err : more_late_room(t);
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

static bool is_of(const struct ana_lane *l, uint32_t source, uint32_t stream, uint32_t name)
{
	return l->stream == stream && l->name == name && l->source == source;
}

/*
 * The only lane of its stream takes what is not known to be of another's communicator, until one
 * of another comes: then it is not known what it has.
 */
static bool takes(struct ana_lane *l, uint64_t comm)
{
	if (comm && l->comm) {
		l->comm = l->guessed ? 0 : l->comm;
		return false;
	}
	l->guessed = true;
	l->comm |= comm;
	return true;
}

static struct ana_lane *lane_of(struct ana_collective_log *t, uint64_t comm, uint32_t source,
				uint32_t stream, uint32_t name, const char *text)
{
	struct ana_lane *l, *only = NULL;
	uint32_t i, n = 0;

	for (i = 0; i < t->lanes; i++) {
		l = &t->lane[i];
		if (!is_of(l, source, stream, name))
			continue;
		if (l->comm == comm)
			return l;
		only = l;
		n++;
	}
	if (n == 1 && takes(only, comm))
		return only;
	l = new_lane(t);
	if (l)
		*l = (struct ana_lane){ .comm = comm,
					.source = source,
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

void ana_collective_log_begin(struct ana_collective_log *t, uint64_t comm, uint32_t source,
			      uint32_t stream, uint32_t name, const char *text, int64_t start,
			      int64_t end)
{
	struct ana_lane *l = lane_of(t, comm, source, stream, name, text);
	bool collective = !l || l->meeting == FACTS_MEET_ALL;

	t->p2p += !collective;
	if (l && l->meeting == FACTS_MEET_NOT) {
		l->count++;
		return;
	}
	while (t->opens && t->open[0] <= start)
		end_first(t);
	if (!t->full && t->used >= t->room && !can_spill(t)) {
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
	struct ana_log_chunk *last = t->chunks ? &t->chunk[t->chunks - 1] : NULL;
	uint8_t *byte = last ? realloc(last->byte, last->len + WIRE_VARINT_MAX) : NULL;

	if (byte)
		last->byte = byte;
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
	*c = (struct ana_log_cursor){ .log = t, .place.at = INT64_MIN, .loaded = UINT32_MAX };
	ana_late_reader_init(&c->late, &t->late, t->spill);
}

void ana_log_cursor_fini(struct ana_log_cursor *c)
{
	ana_late_reader_fini(&c->late);
	free(c->room);
	c->room = NULL;
	c->loaded = UINT32_MAX;
}

/* Adds what was decided late, up to @t. */
static void add_late(struct ana_log_cursor *c, int64_t t)
{
	const struct ana_late_piece *l;

	while ((l = ana_late_reader_peek(&c->late)) && l->start < t) {
		int64_t at = c->place.at, end = ana_late_piece_end(l);
		int64_t start = l->start > at ? l->start : at;

		if (end > t) {
			c->cum[ana_late_piece_class(l)] += t > start ? t - start : 0;
			return;
		}
		c->cum[ana_late_piece_class(l)] += end > start ? end - start : 0;
		ana_late_reader_take(&c->late);
	}
	c->err = c->err ? c->err : c->late.err;
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

/* The bytes of a chunk; NULL: an error. */
static const uint8_t *bytes_of(struct ana_log_cursor *c, uint32_t chunk)
{
	const struct ana_log_chunk *k = &c->log->chunk[chunk];

	if (k->byte)
		return k->byte;
	if (c->loaded == chunk)
		return c->room;
	if (!c->room)
		c->room = calloc(1, CHUNK_BYTES + WIRE_VARINT_MAX);
	c->err = c->room ? ana_spill_read(c->log->spill, c->room, k->len, k->offset) : -ENOMEM;
	c->loaded = c->err ? UINT32_MAX : chunk;
	return c->err ? NULL : c->room;
}

/* The bytes of the chunk with the next mark; NULL: there is none, or an error. */
static const uint8_t *find_chunk(struct ana_log_cursor *c)
{
	struct ana_log_place *at = &c->place;

	while (at->chunk < c->log->chunks && at->pos == c->log->chunk[at->chunk].len) {
		at->chunk++;
		at->pos = 0;
	}
	return at->chunk < c->log->chunks && !c->err ? bytes_of(c, at->chunk) : NULL;
}

/* What is written of a mark; END's lane and number are known to the cursor. */
static void read_mark(struct ana_log_cursor *c, const uint8_t *byte, struct ana_log_mark *m)
{
	const uint8_t *p = byte + c->place.pos;
	unsigned int head = *p++;
	uint64_t v;

	*m = (struct ana_log_mark){ .kind = (enum ana_log_mark_kind)(head & 3) };
	p = read_number(p, &v);
	m->t = after(c->place.at, v);
	if (m->kind == ANA_MARK_BEGIN) {
		p = read_number(p, &v);
		m->lane = (uint32_t)v;
	}
	if (m->kind == ANA_MARK_BEGIN || m->kind == ANA_MARK_PIECE) {
		p = read_number(p, &v);
		m->end = m->t + (int64_t)v;
	}
	p = read_classes(c, p, head >> 2);
	c->place.pos = (uint32_t)(p - byte);
}

/* The next mark by itself, without what was decided late and who was under way. */
static bool next_raw(struct ana_log_cursor *c, struct ana_log_mark *m)
{
	const uint8_t *byte = find_chunk(c);

	if (!byte)
		return false;
	read_mark(c, byte, m);
	c->place.at = m->kind == ANA_MARK_PIECE ? m->end : m->t;
	return true;
}

/* To the next mark that is none, in this chunk; most are. They have no classes. */
static void pass_pieces(struct ana_log_cursor *c, const uint8_t *byte)
{
	uint32_t len = c->log->chunk[c->place.chunk].len;
	const uint8_t *p = byte + c->place.pos;
	int64_t at = c->place.at;
	uint64_t since, ns;

	while (p < byte + len && (*p & 3) == ANA_MARK_PIECE) {
		p = read_number(p + 1, &since);
		p = read_number(p, &ns);
		at = after(at, since) + (int64_t)ns;
	}
	c->place.at = at;
	c->place.pos = (uint32_t)(p - byte);
}

/* The bytes of the chunk with the next mark that is to be told. */
static const uint8_t *find_mark(struct ana_log_cursor *c)
{
	const uint8_t *byte = find_chunk(c);

	while (c->moments && byte) {
		pass_pieces(c, byte);
		if (c->place.pos < c->log->chunk[c->place.chunk].len)
			return byte;
		byte = find_chunk(c);
	}
	return byte;
}

static bool next_mark(struct ana_log_cursor *c, struct ana_log_mark *m)
{
	const uint8_t *byte = find_mark(c);

	if (!byte)
		return false;
	read_mark(c, byte, m);
	if (!c->moments)
		add_late(c, m->t);
	c->place.at = m->t;
	if (m->kind == ANA_MARK_PIECE) {
		c->cum[ANA_COMM] += m->end - m->t;
		if (!c->moments)
			add_late(c, m->end);
		c->place.at = m->end;
	} else if (m->kind == ANA_MARK_BEGIN) {
		begin(c, m);
	} else if (m->kind == ANA_MARK_END) {
		finish(c, m);
	}
	return !c->err;
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

		ana_archive_field(a, l->comm);
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

static void archive_piece(struct ana_archive *a, struct ana_late_piece *l)
{
	ana_archive_time(a, &l->start);
	ana_archive_field(a, l->ns_and_class);
	ana_archive_check(a, ana_late_piece_class(l) < ANA_CLASSES);
}

static void write_late(struct ana_collective_log *t, struct ana_archive *a)
{
	const struct ana_late_piece *l;
	struct ana_late_reader r;

	ana_late_reader_init(&r, &t->late, t->spill);
	while ((l = ana_late_reader_peek(&r))) {
		struct ana_late_piece piece = *l;

		archive_piece(a, &piece);
		ana_late_reader_take(&r);
	}
	a->err = a->err ? a->err : r.err;
	ana_late_reader_fini(&r);
}

/* They are in order, and nothing more of them can be put together. */
static void read_late(struct ana_collective_log *t, struct ana_archive *a, uint64_t n)
{
	struct ana_late_piece l = { 0 };
	int err = 0;

	for (; n && !a->err && !err; n--) {
		archive_piece(a, &l);
		if (a->err || !ana_late_piece_ns(&l))
			continue;
		if (t->late.count == t->late.room)
			err = more_late_room(t);
		if (!err)
			t->late.at[t->late.count++] = l;
	}
	a->err = a->err ? a->err : err;
	ana_late_pieces_trim(&t->late);
}

static void archive_late(struct ana_collective_log *t, struct ana_archive *a)
{
	uint64_t n = t->late.spilled + t->late.count;

	n = ana_archive_number(a, a->reading ? 0 : n, SIZE_MAX / 64);
	if (a->reading)
		read_late(t, a, n);
	else
		write_late(t, a);
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
	struct ana_log_cursor at;
	uint32_t read = 0;

	ana_log_cursor_init(&at, t);
	for (uint32_t i = 0; i < t->chunks; i++) {
		const uint8_t *p = bytes_of(&at, i), *end = p ? p + t->chunk[i].len : NULL;

		while (p && p < end)
			p = check_mark(&c, p, end);
		if (!p)
			break;
		read++;
	}
	ana_log_cursor_fini(&at);
	return read == t->chunks && !c.opens && c.begun == t->collectives + t->sends &&
	       (!c.begun || t->last_lane < t->lanes);
}

static void read_chunk(struct ana_collective_log *t, struct ana_archive *a, size_t len)
{
	uint8_t *byte = spill_chunk(t);
	struct ana_log_chunk *c = add_chunk(t, byte, CHUNK_BYTES + WIRE_VARINT_MAX);

	if (!c) {
		free(byte);
		a->err = a->err ? a->err : -ENOMEM;
		return;
	}
	memset(c->byte, 0, CHUNK_BYTES + WIRE_VARINT_MAX);
	c->len = (uint32_t)len;
	ana_archive_bytes(a, c->byte, len);
}

/* A length of 0 is the end. */
static void read_chunks(struct ana_collective_log *t, struct ana_archive *a)
{
	size_t len;

	while ((len = ana_archive_number(a, 0, CHUNK_BYTES)) && !a->err)
		read_chunk(t, a, len);
	trim(t);
}

static void write_chunks(struct ana_collective_log *t, struct ana_archive *a)
{
	struct ana_log_cursor c;
	uint32_t i;

	ana_log_cursor_init(&c, t);
	for (i = 0; i < t->chunks && !a->err; i++) {
		const uint8_t *byte = bytes_of(&c, i);

		if (byte) {
			ana_archive_number(a, t->chunk[i].len, CHUNK_BYTES);
			/* read from, not written to */
			ana_archive_bytes(a, (uint8_t *)byte, t->chunk[i].len);
		}
		a->err = a->err ? a->err : c.err;
	}
	ana_archive_number(a, 0, CHUNK_BYTES);
	ana_log_cursor_fini(&c);
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
	archive_late(t, a);
	if (!a->reading) {
		write_chunks(t, a);
		return;
	}
	read_chunks(t, a);
	ana_archive_check(a, is_sound(t));
}
