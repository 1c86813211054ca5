/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client sends, all at once and in pieces: the same files must come of it, and they must
 * hold whole frames only, none of them twice. The first byte says how large the pieces are, the
 * second whether checksums are made right again first (or nearly nothing would get past them).
 * In memory, by two collectors that live on; of an input nothing stays in them.
 */
#include "fuzz.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "ingest/client.h"
#include "ingest/intake.h"
#include "server.h"
#include "store/seq_set.h"
#include "unit/wire/stream.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"

#define REPAIR 1u
#define INPUT_MAX 16384u

static char top[200]; /* all that is written */

static struct taker { /* takes the input all at once, or in pieces */
	const char *name;
	char dir[300];
	struct coll_options opts;
	struct coll_server sv;
} whole = { .name = "w" }, pieces = { .name = "p" };

static int remove_run(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	return ftw->level > 1 ? remove(path) : 0;
}

static void start(struct taker *t)
{
	snprintf(t->dir, sizeof(t->dir), "%s/%s", top, t->name);
	/* With somebody to tell, pulses are read, too. */
	t->opts = (struct coll_options){
		.dir = t->dir, .until_eof = -1, .ready_fd = -1, .http.listen = "unused"
	};
	REQUIRE(!coll_server_init(&t->sv, &t->opts));
}

static void stop(struct taker *t)
{
	coll_server_fini(&t->sv);
	rmdir(t->dir);
}

static void clean_up(void)
{
	nftw(top, remove_run, 16, FTW_DEPTH | FTW_PHYS);
	stop(&whole);
	stop(&pieces);
	rmdir(top);
}

static void begin(void)
{
	if (top[0]) {
		nftw(top, remove_run, 16, FTW_DEPTH | FTW_PHYS);
		return;
	}
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 1);
	t_tempdir(top, sizeof(top));
	start(&whole);
	start(&pieces);
	atexit(clean_up);
}

/* Makes the sums of all that looks like a frame right, in order from the front. */
static void repair(uint8_t *data, size_t len)
{
	size_t at = 0;

	while (at + WIRE_FRAME_HEADER_BYTES <= len) {
		struct wire_frame f;
		uint64_t bytes;

		wire_put32(data + at + 60, wire_crc32c(0, data + at, 60));
		if (wire_frame_header_get(&f, data + at))
			return;
		bytes = wire_frame_bytes(&f);
		if (bytes > len - at)
			return;
		f.crc = wire_crc32c(0, data + at + WIRE_FRAME_HEADER_BYTES,
				    (size_t)bytes - WIRE_FRAME_HEADER_BYTES);
		wire_frame_header_put(&f, data + at);
		at += (size_t)bytes;
	}
}

/* One connection from its first byte to its end, into an empty store. */
static void feed(struct taker *t, const uint8_t *data, size_t len, size_t step)
{
	struct coll_server *sv = &t->sv;
	struct ucred peer = { .pid = 0 };
	int pair[2], err = 0;
	size_t n;

	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	REQUIRE(!coll_client_new(&sv->clients, pair[0], &peer));
	for (; len && !err; data += n, len -= n) {
		n = len < step ? len : step;
		err = coll_intake(&sv->clients.first->in, data, n);
		if (!err && len % 3 == 0)
			coll_server_settle(sv, len % 2);
		if (len % 2) /* else the disk is slow */
			coll_worker_drain(&sv->context.worker);
	}
	coll_runs_tick(&sv->runs);
	coll_client_close(sv->clients.first);
	coll_clients_finish(&sv->clients);
	if (sv->clients.first || sv->store.streams || sv->intake.held)
		abort();
	coll_runs_fini(&sv->runs); /* they outlive streams */
	REQUIRE(!coll_runs_init(&sv->runs, &t->opts.conditions));
	close(pair[1]);
}

static uint8_t *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	uint8_t *data = malloc(INPUT_MAX + 1);

	REQUIRE(f && data);
	*len = fread(data, 1, INPUT_MAX + 1, f);
	fclose(f);
	return data;
}

static void check_frames(const uint8_t *data, size_t len)
{
	struct coll_seq_set seen = { 0 };
	struct wire_frame f;
	size_t at = 0;

	while (at < len) {
		if (len - at < WIRE_FRAME_HEADER_BYTES || wire_frame_header_get(&f, data + at) ||
		    wire_frame_bytes(&f) > len - at ||
		    !wire_frame_payload_ok(&f, data + at + WIRE_FRAME_HEADER_BYTES) || !f.seq ||
		    (seen.ranges < COLL_SEQ_SET_RANGES / 2 && coll_seq_set_has(&seen, f.seq)))
			abort();
		coll_seq_set_add(&seen, f.seq);
		at += (size_t)wire_frame_bytes(&f);
	}
}

static const char *other; /* the directory that must hold the same */

static int check_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t len, twin_len, n = strlen(path);
	uint8_t *data, *twin;
	char name[600];

	(void)st;
	(void)ftw;
	if (type != FTW_F || n < 4 || strcmp(path + n - 4, ".gst"))
		return 0;
	snprintf(name, sizeof(name), "%s/%s/%s", top, other, path + strlen(top) + 3);
	data = slurp(path, &len);
	twin = slurp(name, &twin_len);
	if (len != twin_len || memcmp(data, twin, len))
		abort();
	check_frames(data, len);
	free(data);
	free(twin);
	return 0;
}

static void compare(const char *one, const char *two)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", top, one);
	other = two;
	nftw(path, check_one, 16, FTW_PHYS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy;

	if (len < 2 || len > INPUT_MAX)
		return 0;
	begin();
	copy = malloc(len);
	memcpy(copy, data, len);
	if (data[1] & REPAIR)
		repair(copy + 2, len - 2);
	feed(&whole, copy + 2, len - 2, len);
	feed(&pieces, copy + 2, len - 2, 1u + data[0] * 9u);
	compare("w", "p");
	compare("p", "w");
	free(copy);
	return 0;
}

/* A Hello that names a run; the one of the stream itself is a duplicate then. */
static void hello(struct wire_buf *b, const char *id)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)id, 3);
	Wire__Hello m = WIRE__HELLO__INIT;
	char run[] = "run";

	m.run_id = run;
	REQUIRE(e && !wire_encoder_message(e, WIRE_FRAME_HELLO, &m.base, 1, b));
	wire_encoder_free(e);
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	uint8_t first[2] = { (uint8_t)(number * 37), (uint8_t)(number % 4 ? REPAIR : 0) };
	struct wire_buf b = { 0 };
	struct t_stream s, t;

	if (number >= 8)
		return 0;
	REQUIRE(!wire_buf_append(&b, first, sizeof(first)));
	hello(&b, "another stream..");
	hello(&b, "stream to fuzz..");
	t_stream_make(&s, "stream to fuzz..", 1 + number * 2, number);
	t_stream_make(&t, "another stream..", 1 + number, number + 100);
	if (number & 1)
		REQUIRE(!wire_buf_append(&b, t.bytes.data, t.bytes.len / 2));
	REQUIRE(!wire_buf_append(&b, s.bytes.data, s.bytes.len));
	if (number & 2)
		REQUIRE(!wire_buf_append(&b, s.bytes.data, s.bytes.len));
	wire_buf_fini(&s.bytes);
	wire_buf_fini(&t.bytes);
	*data = b.data;
	return b.len;
}
