/* SPDX-License-Identifier: Apache-2.0 */
/* Tapes: what is written comes back in order, with the time by class before each mark. */
#include "harness.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include "analysis/archive.h"
#include "analysis/ranks/collective_log.h"

#define REDUCE "ncclDevKernel_AllReduce"

static void test_marks_and_classes(void)
{
	struct ana_collective_log *t = ana_collective_log_new(1 << 20, NULL);
	struct ana_log_cursor c;
	struct ana_log_mark m;

	ana_collective_log_add(t, ANA_COMPUTE, 100, 160);
	ana_collective_log_add(t, ANA_DEVICE_LAUNCH, 160, 170);
	ana_collective_log_add_late(t, ANA_INPUT_FETCH, 20, 100); /* decided long after */
	ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, 170, 200);
	ana_collective_log_add(t, ANA_COMM, 170, 180);
	ana_collective_log_add(t, ANA_COMPUTE, 180, 190);
	ana_collective_log_add(t, ANA_COMM, 190, 200);
	ana_collective_log_add(t, ANA_COMPUTE, 200, 230);
	ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, 230, 240);
	EXPECT_INT(ana_collective_log_finish(t), 0);
	ana_log_cursor_init(&c, t);
	EXPECT(ana_log_cursor_next(&c, &m));
	EXPECT_INT(m.kind, ANA_MARK_BEGIN);
	EXPECT_INT(m.t, 170);
	EXPECT_INT(m.end, 200);
	EXPECT_INT(c.cum[ANA_COMPUTE], 60);
	EXPECT_INT(c.cum[ANA_INPUT_FETCH], 80);
	EXPECT(ana_log_cursor_next(&c, &m));
	EXPECT_INT(m.kind, ANA_MARK_PIECE);
	EXPECT_INT(m.end, 180);
	EXPECT(ana_log_cursor_next(&c, &m));
	EXPECT_INT(m.kind, ANA_MARK_PIECE);
	EXPECT_INT(m.t, 190);
	EXPECT(ana_log_cursor_next(&c, &m));
	EXPECT_INT(m.kind, ANA_MARK_END);
	EXPECT_INT(m.t, 200);
	EXPECT_INT(m.number, 0);
	EXPECT_INT(c.cum[ANA_COMM], 20);
	EXPECT_INT(c.cum[ANA_COMPUTE], 70);
	EXPECT(ana_log_cursor_next(&c, &m));
	EXPECT_INT(m.t, 230);
	EXPECT_INT(c.cum[ANA_COMPUTE], 100);
	EXPECT(ana_log_cursor_next(&c, &m));
	EXPECT_INT(m.kind, ANA_MARK_END);
	EXPECT(!ana_log_cursor_next(&c, &m));
	EXPECT_UINT(t->collectives, 2);
	ana_collective_log_free(t);
}

static uint64_t count_of(const struct ana_collective_log *t, uint64_t comm)
{
	for (uint32_t i = 0; i < t->lanes; i++)
		if (t->lane[i].comm == comm)
			return t->lane[i].count;
	return 0;
}

/*
 * The communicator is not known of each. While a stream was seen with one alone those are its;
 * once there is another nobody knows whose they were.
 */
static void test_communicators(void)
{
	static const uint64_t comm[] = { 0, 5, 0, 5, 6, 5, 0, 6 };
	static const uint32_t lanes[] = { 1, 1, 1, 1, 2, 3, 3, 3 };
	struct ana_collective_log *t = ana_collective_log_new(1 << 20, NULL);
	int64_t at = 0;

	for (size_t i = 0; i < 8; i++, at += 20) {
		ana_collective_log_begin(t, comm[i], 0, 7, 1, REDUCE, at, at + 10);
		EXPECT_UINT(t->lanes, lanes[i]);
		if (i == 3)
			EXPECT_UINT(count_of(t, 5), 4);
	}
	EXPECT_UINT(count_of(t, 0), 5);
	EXPECT_UINT(count_of(t, 5), 1);
	EXPECT_UINT(count_of(t, 6), 2);
	ana_collective_log_begin(t, 5, 0, 8, 1, REDUCE, at, at + 10); /* another stream */
	ana_collective_log_begin(t, 6, 0, 8, 1, REDUCE, at + 20, at + 30);
	EXPECT_UINT(t->lanes, 5);
	EXPECT_UINT(count_of(t, 5), 1);
	EXPECT_UINT(t->lane[3].comm, 5); /* all of it was known */
	ana_collective_log_free(t);
}

/* A short run's log keeps what is on it, not the chunk and the list that it was written into. */
static void test_finished_ones_are_small(void)
{
	struct ana_collective_log *t = ana_collective_log_new(1 << 20, NULL);
	int64_t i;

	for (i = 0; i < 10; i++) {
		ana_collective_log_add(t, ANA_COMPUTE, i * 100, i * 100 + 50);
		ana_collective_log_add_late(t, ANA_INPUT_FETCH, i * 100 + 60, i * 100 + 80);
		ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, i * 100 + 50, i * 100 + 60);
	}
	EXPECT(malloc_usable_size(t->chunk[0].byte) > 8000);
	EXPECT_INT(ana_collective_log_finish(t), 0);
	EXPECT_UINT(t->collectives, 10);
	EXPECT(malloc_usable_size(t->chunk[0].byte) < 1000);
	EXPECT_UINT(t->late.room, t->late.count);
	EXPECT_INT(ana_collective_log_finish(t), 0); /* again: nothing changes */
	EXPECT_UINT(t->collectives, 10);
	ana_collective_log_free(t);
}

/* Two under way at once end in order of their ends, whichever began first. */
static void test_overlap(void)
{
	struct ana_collective_log *t = ana_collective_log_new(1 << 20, NULL);
	struct ana_log_cursor c;
	struct ana_log_mark m;

	ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, 10, 100);
	ana_collective_log_begin(t, 0, 0, 8, 2, "ncclDevKernel_AllGather", 20, 60);
	EXPECT_INT(ana_collective_log_finish(t), 0);
	ana_log_cursor_init(&c, t);
	EXPECT(ana_log_cursor_next(&c, &m) && m.number == 0);
	EXPECT(ana_log_cursor_next(&c, &m) && m.number == 1);
	EXPECT(ana_log_cursor_next(&c, &m) && m.kind == ANA_MARK_END && m.number == 1 && m.t == 60);
	EXPECT(ana_log_cursor_next(&c, &m) && m.kind == ANA_MARK_END && m.number == 0 &&
	       m.t == 100);
	EXPECT(!ana_log_cursor_next(&c, &m));
	ana_collective_log_free(t);
}

/* Sends and receives are on it, but are no collectives; what nobody waits for is counted only. */
static void test_sends(void)
{
	struct ana_collective_log *t = ana_collective_log_new(1 << 20, NULL);
	struct ana_log_cursor c;
	struct ana_log_mark m;

	ana_collective_log_begin(t, 0, 0, 7, 1, "ncclDevKernel_SendRecv", 10, 100);
	ana_collective_log_begin(t, 0, 0, 7, 2, "nvshmem_put", 110, 120);
	EXPECT_INT(ana_collective_log_finish(t), 0);
	EXPECT_UINT(t->collectives, 0);
	EXPECT_UINT(t->sends, 1);
	EXPECT_UINT(t->p2p, 2);
	EXPECT_INT(t->last_ns, 100);
	ana_log_cursor_init(&c, t);
	EXPECT(ana_log_cursor_next(&c, &m) && m.kind == ANA_MARK_BEGIN && m.t == 10);
	EXPECT(ana_log_cursor_next(&c, &m) && m.kind == ANA_MARK_END && m.t == 100);
	EXPECT(!ana_log_cursor_next(&c, &m));
	ana_collective_log_free(t);
}

/* Beyond its room it takes no more, and says from when on; what it has stays readable. */
static void test_room(void)
{
	struct ana_collective_log *t = ana_collective_log_new(100000, NULL);
	struct ana_log_cursor c;
	struct ana_log_mark m;
	uint64_t begun = 0;
	int64_t i;

	for (i = 0; i < 100000; i++) {
		ana_collective_log_add(t, ANA_COMPUTE, i * 100, i * 100 + 50);
		ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, i * 100 + 50, i * 100 + 90);
		ana_collective_log_add(t, ANA_COMM, i * 100 + 50, i * 100 + 90);
	}
	EXPECT_INT(ana_collective_log_finish(t), 0);
	EXPECT(t->full);
	EXPECT(t->used < 200000);
	EXPECT_UINT(t->collectives + t->left_out, 100000);
	ana_log_cursor_init(&c, t);
	while (ana_log_cursor_next(&c, &m)) {
		begun += m.kind == ANA_MARK_BEGIN;
		EXPECT(m.kind != ANA_MARK_BEGIN || m.t < t->full_ns);
	}
	EXPECT_UINT(begun, t->collectives);
	ana_collective_log_free(t);
}

static uint64_t random_state = 12345;

static int64_t random_below(int64_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((random_state >> 33) % (uint64_t)n);
}

#define PIECES 60000
#define SHUFFLED 200 /* a piece may come so many pieces late */

static struct {
	int64_t start, end;
	int c;
} piece[PIECES];

/* Time of class @c in the pieces up to @t. @from: where the last call stopped, for t ascends. */
static void brute(int64_t cum[ANA_CLASSES], size_t *from, int64_t *at, int64_t t)
{
	for (; *from < PIECES && piece[*from].start < t; (*from)++) {
		int64_t start = piece[*from].start > *at ? piece[*from].start : *at;
		int64_t end = piece[*from].end < t ? piece[*from].end : t;
		if (end > start)
			cum[piece[*from].c] += end - start;
		if (piece[*from].end > t)
			break;
	}
	*at = t;
}

static void make_pieces(void)
{
	int64_t t = 1000;

	for (int i = 0; i < PIECES; i++) {
		t += random_below(50);
		piece[i].start = t;
		t += 1 + random_below(i % 500 ? 40 : 3000); /* some reach over many marks */
		piece[i].end = t;
		piece[i].c = ANA_INPUT_FETCH + (int)random_below(6);
	}
}

/* The pieces, up to SHUFFLED of them late, and collectives between them. */
static void write_pieces(struct ana_collective_log *t)
{
	static size_t order[PIECES];
	int64_t end;

	make_pieces();
	for (size_t i = 0; i < PIECES; i++)
		order[i] = i;
	for (size_t i = 0; i + SHUFFLED < PIECES; i++) {
		size_t k = i + (size_t)random_below(SHUFFLED), keep = order[i];
		order[i] = order[k];
		order[k] = keep;
	}
	end = piece[PIECES - 1].end;
	for (int64_t now = 0, i = 0; i < PIECES; now += 700) {
		for (; i < PIECES && (piece[i].start < now || now >= end); i++)
			ana_collective_log_add_late(t, piece[order[i]].c, piece[order[i]].start,
						    piece[order[i]].end);
		ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, now, now + 100 + random_below(500));
	}
	EXPECT_INT(ana_collective_log_finish(t), 0);
}

/* Each mark has before it what the pieces have; how many marks there are. */
static size_t compare_pieces(const struct ana_collective_log *t)
{
	int64_t cum[ANA_CLASSES] = { 0 }, at = INT64_MIN;
	size_t from = 0, marks = 0;
	struct ana_log_cursor c;
	struct ana_log_mark m;

	ana_log_cursor_init(&c, t);
	while (ana_log_cursor_next(&c, &m)) {
		brute(cum, &from, &at, m.t);
		for (int k = ANA_INPUT_FETCH; k < ANA_INPUT_FETCH + 6; k++)
			EXPECT_INT(c.cum[k], cum[k]);
		marks++;
	}
	EXPECT_INT(c.err, 0);
	ana_log_cursor_fini(&c);
	return marks;
}

/* Put together or not, late pieces sum up to the same before each mark, whenever they came. */
static void test_late_pieces(void)
{
	struct ana_collective_log *t = ana_collective_log_new(64 << 20, NULL);

	write_pieces(t);
	EXPECT(t->late.count < PIECES); /* something was put together */
	EXPECT(compare_pieces(t) > 1000);
	ana_collective_log_free(t);
}

static const char *text_of(const void *arg, uint32_t source, uint32_t name)
{
	(void)arg;
	return source == 0 && name == 1 ? REDUCE : NULL;
}

/* What is beyond its room lies in the file, and comes back from there, also when it is kept. */
static void test_spill(void)
{
	struct ana_spill *spill = ana_spill_new(NULL);
	struct ana_collective_log *t = ana_collective_log_new(16384, spill);
	struct ana_collective_log *back = ana_collective_log_new(16384, spill);
	struct ana_archive a = { .reading = false }, read = { .reading = true };
	size_t marks;

	write_pieces(t);
	EXPECT(!t->full);
	EXPECT(t->used <= 2 * 16384);
	EXPECT(t->late.runs > 5 && t->chunks > 3);
	EXPECT(ana_spill_bytes(spill) > 100000);
	marks = compare_pieces(t);
	EXPECT(marks > 1000);
	ana_collective_log_archive(t, &a, text_of, NULL);
	EXPECT_INT(a.err, 0);
	read.at = a.at;
	read.len = a.len;
	ana_collective_log_archive(back, &read, text_of, NULL);
	EXPECT_INT(read.err, 0);
	EXPECT_UINT(read.pos, read.len);
	EXPECT(back->used <= 2 * 16384);
	EXPECT_UINT(compare_pieces(back), marks);
	free(a.at);
	ana_collective_log_free(t);
	ana_collective_log_free(back);
	ana_spill_free(spill);
}

/* Without a place for the file it takes no more than it has room for, and says why. */
static void test_no_place_to_spill(void)
{
	struct ana_spill *spill = ana_spill_new("/nowhere/at/all");
	struct ana_collective_log *t = ana_collective_log_new(16384, spill);
	uint64_t before;

	write_pieces(t);
	EXPECT(t->full);
	EXPECT_INT(t->spill_err, -ENOENT);
	EXPECT(t->left_out > 0 && t->collectives > 0);
	EXPECT(t->used < 64 * 1024);
	EXPECT(compare_pieces(t) > 10);
	before = t->left_out;
	ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, INT64_C(1) << 50, INT64_C(2) << 50);
	EXPECT_UINT(t->left_out, before + 1);
	ana_collective_log_free(t);
	ana_spill_free(spill);
}

/* A file that is full: what is in it is read, and no more is taken. */
static void test_full_disk(void)
{
	struct ana_spill *spill = ana_spill_new(NULL);
	struct ana_collective_log *t = ana_collective_log_new(16384, spill);
	struct rlimit was, small = { .rlim_cur = 50000 };

	REQUIRE(!getrlimit(RLIMIT_FSIZE, &was));
	small.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &small));
	write_pieces(t);
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &was));
	EXPECT(t->full);
	EXPECT_INT(t->spill_err, -EFBIG);
	EXPECT(t->left_out > 0 && t->collectives > 0);
	EXPECT(t->late.runs > 0);
	EXPECT(compare_pieces(t) > 10);
	ana_collective_log_free(t);
	ana_spill_free(spill);
}

/*
 * Ten collectives, then a million launches that were late, and no collective for long: of these no
 * more is kept than of some thousand, and the sums before the next one hold all of them.
 */
static void test_no_collective_for_long(void)
{
	struct ana_collective_log *t = ana_collective_log_new(64 << 20, NULL);
	struct ana_log_cursor c;
	struct ana_log_mark m;
	int64_t at = 0, i;
	uint32_t marks = 0;

	for (i = 0; i < 10; i++, at += 10)
		ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, at, at + 5);
	for (i = 0; i < 1000000; i++, at += 10) {
		ana_collective_log_add(t, ANA_COMPUTE, at + 4, at + 10);
		ana_collective_log_add_late(t, ANA_DEVICE_LAUNCH, at, at + 3);
		ana_collective_log_add_late(t, ANA_HOST_DISPATCH, at + 3, at + 4);
	}
	ana_collective_log_begin(t, 0, 0, 7, 1, REDUCE, at, at + 5);
	EXPECT_INT(ana_collective_log_finish(t), 0);
	EXPECT(t->used < 1 << 20);
	ana_log_cursor_init(&c, t);
	while (ana_log_cursor_next(&c, &m)) {
		EXPECT(m.kind == ANA_MARK_BEGIN || m.kind == ANA_MARK_END);
		marks++;
	}
	EXPECT_UINT(marks, 22);
	EXPECT_INT(c.cum[ANA_COMPUTE], 6000000);
	EXPECT_INT(c.cum[ANA_DEVICE_LAUNCH], 3000000);
	EXPECT_INT(c.cum[ANA_HOST_DISPATCH], 1000000);
	ana_collective_log_free(t);
}

int main(void)
{
	return RUN(test_late_pieces, test_spill, test_no_place_to_spill, test_full_disk,
		   test_no_collective_for_long, test_marks_and_classes, test_overlap, test_sends,
		   test_room, test_finished_ones_are_small, test_communicators);
}
