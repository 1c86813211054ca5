/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of frames when one of them cannot be stored or is refused: never more than is true.
 */
#include "harness.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "ingest/intake.h"
#include "server.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

static char base[200];
static struct coll_server sv;
static struct coll_feeder feeder;
static struct coll_feed in;

static const uint8_t first[WIRE_STREAM_ID_BYTES] = "the first stream",
		     second[] = "the second one..";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void on_failed(struct coll_feeder *f, struct coll_stream *s)
{
	(void)f;
	(void)s;
}

static void begin(uint64_t stream_size)
{
	static struct coll_options opts;

	t_tempdir(base, sizeof(base));
	opts = (struct coll_options){ .dir = base, .until_eof = -1, .ready_fd = -1 };
	opts.limits.value[COLL_LIMIT_STREAM_SIZE] = stream_size;
	REQUIRE(!coll_server_init(&sv, &opts));
	feeder = (struct coll_feeder){ .store = &sv.store, .failed = on_failed };
	in = (struct coll_feed){ .intake = &sv.intake, .feeder = &feeder };
}

static void end(void)
{
	while (feeder.first) {
		struct coll_stream *s = feeder.first->stream;

		coll_feeder_release(s);
		coll_store_close(&sv.store, s);
	}
	coll_intake_fini(&in);
	coll_server_fini(&sv);
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put_hello(struct wire_buf *out, const uint8_t *id)
{
	struct wire_encoder *e = wire_encoder_new(id, 3);
	Wire__Hello m = WIRE__HELLO__INIT;

	m.run_id = (char *)(uintptr_t) "run";
	REQUIRE(e && !wire_encoder_message(e, WIRE_FRAME_HELLO, &m.base, 5, out));
	wire_encoder_free(e);
}

static void put_frame(struct wire_buf *out, const uint8_t *id, uint64_t seq, uint16_t type,
		      size_t body)
{
	struct wire_frame f = { .version = 1, .type = type, .seq = seq };
	uint8_t *bytes = calloc(1, body + 1);

	memcpy(f.stream, id, sizeof(f.stream));
	f.raw_len = (uint32_t)body;
	REQUIRE(!wire_frame_append(out, &f, NULL, 0, bytes, body));
	free(bytes);
}

static struct coll_stream *stream_of(const uint8_t *id)
{
	struct coll_stream *s = coll_store_get(&sv.store, id);

	REQUIRE(s);
	return s;
}

static void give(struct wire_buf *b, int want)
{
	EXPECT_INT(coll_intake(&in, b->data, b->len), want);
	b->len = 0;
}

/* The disk takes no file longer than @bytes; UINT64_MAX: it does. */
static void bound_files(uint64_t bytes)
{
	struct rlimit r;

	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(!getrlimit(RLIMIT_FSIZE, &r));
	r.rlim_cur = bytes == UINT64_MAX || bytes > r.rlim_max ? r.rlim_max : bytes;
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &r));
}

/* A bad frame behind one that was not stored: what counts is that the one before is missing. */
static void test_refused_behind_unstored(void)
{
	struct wire_buf b = { 0 };
	size_t hello;

	begin(0);
	put_hello(&b, first);
	hello = b.len;
	give(&b, 0);
	put_frame(&b, first, 2, WIRE_FRAME_PULSE, 5000);
	put_frame(&b, first, 3, WIRE_FRAME_ACK, 0);
	bound_files(3000);
	give(&b, -EFBIG);
	bound_files(UINT64_MAX);
	EXPECT(!in.refused.why);
	EXPECT_UINT(in.taken, hello);
	EXPECT_UINT(stream_of(first)->seqs.top, 1);
	wire_buf_fini(&b);
	end();
}

/* Where two streams share a connection the failure of one is no acknowledgement for the other. */
static void test_unstored_beside_another(void)
{
	struct wire_buf b = { 0 };
	struct coll_stream *s;

	begin(0);
	put_hello(&b, first);
	put_hello(&b, second);
	give(&b, 0);
	s = stream_of(second);
	EXPECT_INT(coll_stream_commit(&sv.store, s), 0);
	EXPECT_UINT(s->acked, 1);
	put_frame(&b, first, 2, WIRE_FRAME_PULSE, 5000);
	put_frame(&b, second, 2, WIRE_FRAME_PULSE, 10);
	bound_files(3000);
	give(&b, -EFBIG);
	bound_files(UINT64_MAX);
	coll_stream_acknowledge(s);
	EXPECT_UINT(s->acked, 1);
	EXPECT_UINT(s->seqs.top, 1);
	wire_buf_fini(&b);
	end();
}

/* A stream that may not become longer: the frame that would make it so is named. */
static void test_longest_stream(void)
{
	struct wire_buf b = { 0 };
	size_t third;

	begin(2000);
	put_hello(&b, first);
	put_frame(&b, first, 2, WIRE_FRAME_PULSE, 800);
	third = b.len;
	put_frame(&b, first, 3, WIRE_FRAME_PULSE, 1900);
	put_frame(&b, first, 4, WIRE_FRAME_PULSE, 10);
	give(&b, -EFBIG);
	REQUIRE(in.refused.why);
	EXPECT(in.refused.named && !in.refused.unknown);
	EXPECT_UINT(in.refused.seq, 3);
	EXPECT_UINT(in.refused.offset, third);
	EXPECT_UINT(stream_of(first)->seqs.top, 2);
	EXPECT_UINT(stream_of(first)->size, third);
	EXPECT_UINT(sv.context.count.limit_size, 1);
	wire_buf_fini(&b);
	end();
}

/* One team's half frames, and however many it has of them, do not keep another's out. */
static void test_half_frames_of_many(void)
{
	enum {
		GREEDY = 8
	};
	static struct coll_feed greedy[GREEDY];
	struct coll_feeder other = { .store = &sv.store, .failed = on_failed };
	struct wire_buf b = { 0 };
	int i, refused = 0;

	begin(0);
	put_frame(&b, second, 2, WIRE_FRAME_PULSE, 15u << 20);
	for (i = 0; i < GREEDY; i++) {
		greedy[i] = (struct coll_feed){ .intake = &sv.intake, .feeder = &feeder };
		refused += coll_intake(&greedy[i], b.data, b.len - 1) == -ENOBUFS;
	}
	EXPECT(refused > GREEDY / 2);
	EXPECT(sv.intake.held <= COLL_HELD_MAX - COLL_HELD_KEPT);
	b.len = 0;
	put_hello(&b, first);
	put_frame(&b, first, 2, WIRE_FRAME_PULSE, 1u << 20);
	in.feeder = &other;
	EXPECT_INT(coll_intake(&in, b.data, b.len / 2), 0);
	EXPECT_INT(coll_intake(&in, b.data + b.len / 2, b.len - b.len / 2), 0);
	EXPECT_UINT(stream_of(first)->seqs.top, 2);
	coll_feeder_release(stream_of(first));
	coll_store_close(&sv.store, stream_of(first));
	for (i = 0; i < GREEDY; i++)
		coll_intake_fini(&greedy[i]);
	coll_intake_fini(&in);
	in.feeder = &feeder;
	EXPECT_UINT(sv.intake.held, 0);
	EXPECT_UINT(feeder.held + other.held, 0);
	wire_buf_fini(&b);
	end();
}

int main(void)
{
	return RUN(test_refused_behind_unstored, test_unstored_beside_another, test_longest_stream,
		   test_half_frames_of_many);
}
