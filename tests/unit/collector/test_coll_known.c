/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collector that starts anew knows of streams: how much it reads, and that nothing is
 * believed that is not so.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "store/known.h"
#include "store/store.h"
#include "wire/block.h"
#include "wire/reader.h"

#define BODY 20000
#define FRAMES 300 /* 6 MB */

static char base[200];
static struct coll_counters count;
static const struct coll_hello hello = { .run = "run" };
static const uint8_t id[WIRE_STREAM_ID_BYTES] = { 0xab, 1 };

/* The library's, put in its place: bytes are counted. */
static uint64_t bytes_read;

ssize_t pread(int fd, void *at, size_t len, off_t offset)
{
	ssize_t n = (ssize_t)syscall(SYS_pread64, fd, at, len, offset);

	bytes_read += n > 0 ? (uint64_t)n : 0;
	return n;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static uint64_t told[1024]; /* numbers of the frames that were told of */
static size_t tolds, thinneds; /* thinneds: with others before them left out */

static void on_frame(void *arg, const struct coll_stream *s, const struct wire_frame *f,
		     const uint8_t *payload, bool thinned)
{
	(void)arg;
	thinneds += thinned;
	(void)s;
	EXPECT(wire_frame_payload_ok(f, payload));
	if (tolds < 1024)
		told[tolds++] = f->seq;
}

static void start(struct coll_store *st)
{
	REQUIRE(!coll_store_init(st, base, &count));
	st->recovered.frame = on_frame;
	bytes_read = tolds = thinneds = 0;
}

static uint16_t type_of(uint64_t seq)
{
	if (seq == 1)
		return WIRE_FRAME_HELLO;
	return seq % 3 ? WIRE_FRAME_BLOCK : WIRE_FRAME_PULSE;
}

/* As intake does, without looking at what it says. */
static void add(struct coll_stream *s, uint64_t seq)
{
	struct wire_frame f = { .version = 1, .type = type_of(seq), .seq = seq };
	struct wire_block_head h = { .version = 1, .kind = WIRE_KIND_OP, .count = 1 };
	struct wire_buf b = { 0 }, head = { 0 };
	uint8_t *body = malloc(BODY);
	uint64_t at = s->size;

	memcpy(f.stream, s->id, sizeof(f.stream));
	memset(body, (int)seq, BODY);
	if (f.type == WIRE_FRAME_BLOCK)
		REQUIRE(!wire_block_head_put(&h, &head));
	f.raw_len = BODY;
	REQUIRE(!wire_frame_append(&b, &f, head.data, head.len, body,
				   f.type == WIRE_FRAME_BLOCK ? BODY : 100));
	wire_frame_header_get(&f, b.data);
	coll_index_add(&s->index, &f, b.data + WIRE_FRAME_HEADER_BYTES, at);
	REQUIRE(!coll_stream_append(s, b.data, b.len));
	coll_seq_set_add(&s->seqs, seq);
	coll_marks_add(&s->marks, &f, at);
	wire_buf_fini(&b);
	wire_buf_fini(&head);
	free(body);
}

static struct coll_stream *fill(struct coll_store *st, uint64_t from, uint64_t to)
{
	struct coll_stream *s;

	REQUIRE(!coll_store_open(st, id, &hello, &s));
	for (uint64_t seq = from; seq <= to; seq++) {
		if (seq == 50) /* one that went to a spool */
			continue;
		add(s, seq);
		if (seq % 10 == 0)
			REQUIRE(!coll_stream_commit(st, s));
	}
	REQUIRE(!coll_stream_commit(st, s));
	return s;
}

static void path_of(char out[400], const char *before, const char *after)
{
	char hex[COLL_HEX_BYTES];

	coll_hex_of(hex, id);
	snprintf(out, 400, "%s/run.gst/%s%s%s", base, before, hex, after);
}

/* What was read is what the stream is, its index too. */
static void expect_all(struct coll_stream *s, uint64_t to)
{
	char path[400];
	struct stat st;

	EXPECT_UINT(s->seqs.top, 49);
	EXPECT_UINT(s->seqs.ranges, 1);
	EXPECT_UINT(s->seqs.above[0].first, 51);
	EXPECT_UINT(s->seqs.above[0].last, to);
	EXPECT_UINT(s->acked, 49);
	EXPECT_UINT(s->synced, s->size);
	path_of(path, "", ".gst");
	REQUIRE(!stat(path, &st));
	EXPECT_UINT(s->size, st.st_size);
	coll_index_flush(&s->index);
	path_of(path, "", ".idx");
	REQUIRE(!stat(path, &st));
	/* Two of three are blocks; 50 is one, and is not there. */
	EXPECT_UINT((uint64_t)st.st_size,
		    COLL_INDEX_HEADER_BYTES + COLL_INDEX_RECORD_BYTES * (to - to / 3 - 2));
}

static void begin(void)
{
	t_tempdir(base, sizeof(base));
	memset(&count, 0, sizeof(count));
}

static void end(struct coll_store *st)
{
	coll_store_fini(st);
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make(uint64_t to)
{
	struct coll_store st;

	start(&st);
	fill(&st, 1, to);
	coll_store_fini(&st);
}

/* One that ended in good order reads a frame and those of its marks, and goes on. */
static void test_ended(void)
{
	struct coll_stream *s;
	struct coll_store st;

	begin();
	make(FRAMES);
	start(&st);
	REQUIRE(!coll_store_find(&st, id, &s));
	expect_all(s, FRAMES);
	EXPECT(bytes_read < 100000);
	EXPECT_UINT(told[0], 1);
	EXPECT(tolds > COLL_MARKS_RECENT && tolds <= COLL_MARKS_MAX);
	EXPECT_UINT(thinneds, tolds);
	EXPECT_UINT(told[tolds - 1], FRAMES);
	for (size_t i = 1; i < tolds; i++)
		EXPECT(told[i - 1] < told[i] && told[i] % 3 == 0);
	for (size_t i = tolds - COLL_MARKS_RECENT; i + 1 < tolds; i++)
		EXPECT_UINT(told[i] + 3, told[i + 1]);
	coll_store_close(&st, s);
	fill(&st, FRAMES + 1, FRAMES + 30);
	coll_store_fini(&st);
	start(&st);
	REQUIRE(!coll_store_find(&st, id, &s));
	expect_all(s, FRAMES + 30);
	end(&st);
}

/* One that was killed reads some MiB at most, whatever came behind them, and cuts what is torn. */
static void test_killed(void)
{
	char path[400];
	struct coll_stream *s;
	struct coll_store st;
	int status;
	pid_t pid;

	begin();
	pid = fork();
	if (!pid) {
		start(&st);
		s = fill(&st, 1, FRAMES);
		add(s, FRAMES + 1);
		_exit(truncate(s->path, (off_t)s->size - 7));
	}
	REQUIRE(waitpid(pid, &status, 0) == pid && !status);
	start(&st);
	REQUIRE(!coll_store_find(&st, id, &s));
	expect_all(s, FRAMES);
	EXPECT(bytes_read < 3 << 20);
	EXPECT_UINT(told[tolds - 1], FRAMES);
	path_of(path, ".", ".known");
	EXPECT(!access(path, F_OK));
	end(&st);
}

/* Of a process that has said goodbye nothing stays but its trace. */
static void test_bye(void)
{
	char path[400];
	struct coll_stream *s;
	struct coll_store st;

	begin();
	start(&st);
	s = fill(&st, 1, FRAMES);
	path_of(path, ".", ".known");
	EXPECT(!access(path, F_OK));
	s->bye = true;
	coll_store_close(&st, s);
	EXPECT(access(path, F_OK) && errno == ENOENT);
	fill(&st, FRAMES + 1, FRAMES + 1); /* late frames all the same */
	end(&st);
}

/* Changes the store and asks what is believed of it: nothing that is not so. */
static void expect_read_again(void (*change)(void), uint64_t to)
{
	struct coll_stream *s;
	struct coll_store st;

	begin();
	make(FRAMES);
	change();
	start(&st);
	REQUIRE(!coll_store_find(&st, id, &s));
	expect_all(s, to);
	end(&st);
}

static void put_byte(const char *path, off_t at, int byte)
{
	int fd = open(path, O_RDWR);
	char b = (char)byte;

	REQUIRE(fd >= 0 && pwrite(fd, &b, 1, at) == 1 && !close(fd));
}

static void damage_slots(void)
{
	char path[400];

	path_of(path, ".", ".known");
	put_byte(path, 100, 0x77);
	put_byte(path, 4096 + 100, 0x77);
}

static void lose_index(void)
{
	char path[400];

	path_of(path, "", ".idx");
	REQUIRE(!truncate(path, 5 * COLL_INDEX_RECORD_BYTES));
}

/* As where the file is an older one, and what is known of it the newer. */
static void go_back(void)
{
	char path[400];
	struct wire_file *f;
	struct wire_entry e;

	path_of(path, "", ".gst");
	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &e) > 0 && e.frame.seq < 240)
		;
	wire_file_close(f);
	REQUIRE(!truncate(path, (off_t)(e.offset + wire_frame_bytes(&e.frame))));
}

/* Of another version, or half written: the slot before it, or nothing, is believed. */
static void half_a_slot(void)
{
	char path[400];

	path_of(path, ".", ".known");
	for (off_t at = 0; at < 8192; at += 4096)
		put_byte(path, at + 4, 2);
}

static void test_wrong(void)
{
	expect_read_again(damage_slots, FRAMES);
	expect_read_again(lose_index, FRAMES);
	expect_read_again(go_back, 240);
	expect_read_again(half_a_slot, FRAMES);
}

/* Somebody else wrote to the file: what is damaged there is not said to be there. */
static void test_touched(void)
{
	static const struct timespec later[2] = { { 2000000000, 0 }, { 2000000000, 0 } };
	char path[400];
	struct coll_stream *s;
	struct coll_store st;

	begin();
	make(FRAMES);
	path_of(path, "", ".gst");
	put_byte(path, 5000, 0x77);
	REQUIRE(!utimensat(AT_FDCWD, path, later, 0));
	start(&st);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT(!coll_seq_set_has(&s->seqs, 2));
	EXPECT(coll_seq_set_has(&s->seqs, FRAMES));
	end(&st);
}

/* Each byte of what is known may be any: what is believed then is what stands in the file. */
static void test_any_byte(void)
{
	char path[400];
	struct coll_stream *s;
	struct coll_store st;

	begin();
	make(20); /* some 300 KB */
	path_of(path, ".", ".known");
	for (off_t at = 0; at < 700; at += 3) {
		put_byte(path, at, 0xff);
		put_byte(path, 4096 + at, 0xff);
		start(&st);
		REQUIRE(!coll_store_find(&st, id, &s));
		EXPECT_UINT(s->seqs.top, 20);
		EXPECT_UINT(s->seqs.ranges, 0);
		coll_store_fini(&st);
	}
	start(&st);
	end(&st);
}

int main(void)
{
	return RUN(test_ended, test_killed, test_bye, test_wrong, test_touched, test_any_byte);
}
