/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of its own that the collector reads again after a restart: what it knows of a stream
 * (.known), how often a digest failed (.digest-tries), that a run has a provisional row
 * (.digest-row), the clock of the last sweep (.sweep-clock). The first byte says which, and of
 * .known how much of it is made right, so that what follows is looked at.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include "harness.h"
#include "core/clock.h"
#include "retain/digest_tries.h"
#include "retain/run_dirs.h"
#include "retain/sweep_clock.h"
#include "store/known.h"
#include "store/store.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"

#define SLOT 4096u
#define TEXTS 6u
#define ROW 255 /* the first byte of that */
#define AT_SIZE 32
#define AT_LAST 56
#define AT_LAST_CRC 108

static char top[200];
static struct coll_counters count;
static const uint8_t id[WIRE_STREAM_ID_BYTES] = { 0xfe, 1 };
static const struct coll_hello hello = { .run = "run" };
static struct wire_buf stream; /* three frames */
static uint64_t last; /* where the third begins */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clean_up(void)
{
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	wire_buf_fini(&stream);
}

static void write_file(const char *name, const void *bytes, size_t len)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	REQUIRE(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

static void begin(void)
{
	static const uint16_t type[] = { WIRE_FRAME_HELLO, WIRE_FRAME_PULSE, WIRE_FRAME_BYE };
	char path[400];

	if (top[0])
		return;
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 1);
	t_tempdir(top, sizeof(top));
	atexit(clean_up);
	snprintf(path, sizeof(path), "%s/run.gst", top);
	REQUIRE(!mkdir(path, 0777));
	for (uint64_t i = 0; i < 3; i++) {
		struct wire_frame f = { .version = 1, .type = type[i], .seq = i + 1 };

		memcpy(f.stream, id, sizeof(id));
		last = stream.len;
		REQUIRE(!wire_frame_append(&stream, &f, NULL, 0, "body", 4));
	}
}

/* What makes a slot one of this stream, and its sum right. */
static void seal(uint8_t *slot, bool ends_right)
{
	memcpy(slot, "GSTK", 4);
	wire_put16(slot + 4, 1);
	memcpy(slot + 16, id, sizeof(id));
	if (ends_right) {
		wire_put64(slot + AT_SIZE, stream.len);
		wire_put64(slot + AT_LAST, last);
		wire_put64(slot + 48, 0); /* no index */
		wire_put64(slot + 112, 0);
		wire_put32(slot + AT_LAST_CRC,
			   wire_crc32c(0, stream.data + last, WIRE_FRAME_HEADER_BYTES));
	}
	wire_put32(slot + SLOT - 4, wire_crc32c(0, slot, SLOT - 4));
}

static void on_frame(void *arg, const struct coll_stream *s, const struct wire_frame *f,
		     const uint8_t *payload, bool thinned)
{
	(void)arg;
	(void)s;
	(void)thinned;
	if (!wire_frame_payload_ok(f, payload))
		abort();
}

/* Whatever it says: the stream is as long as its file, and what is told of it stands there. */
static void known(const uint8_t *data, size_t len, unsigned int how)
{
	static const struct timespec old[2] = { { 0, 0 }, { 0, 0 } };
	uint8_t slots[2 * SLOT] = { 0 };
	char name[100], hex[COLL_HEX_BYTES], path[400];
	struct coll_stream *s;
	struct coll_store st;

	memcpy(slots, data, len < sizeof(slots) ? len : sizeof(slots));
	if (how & 1) {
		seal(slots, how & 2);
		seal(slots + SLOT, how & 4);
	}
	coll_hex_of(hex, id);
	snprintf(name, sizeof(name), "run.gst/.%s.known", hex);
	write_file(name, slots, sizeof(slots));
	snprintf(name, sizeof(name), "run.gst/%s.gst", hex);
	write_file(name, stream.data, stream.len);
	snprintf(path, sizeof(path), "%s/%s", top, name);
	REQUIRE(!utimensat(AT_FDCWD, path, old, 0));
	REQUIRE(!coll_store_init(&st, top, &count));
	st.recovered.frame = on_frame;
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	if (s->size != stream.len || s->seqs.ranges > COLL_SEQ_SET_RANGES)
		abort();
	coll_store_fini(&st);
}

static void tries(const uint8_t *data, size_t len)
{
	static const char head[] = "gpustarve digest tries 1 " GPUSTARVE_VERSION "\n";
	struct coll_digest_tries t;
	char text[5000];
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	REQUIRE(fd >= 0);
	len = len < 4500 ? len : 4500;
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + sizeof(head) - 1, data, len);
	write_file(COLL_DIGEST_TRIES, text, sizeof(head) - 1 + len);
	coll_digest_tries_read(&t, fd, 7);
	if (coll_digest_tries_wait_ns(&t, 1000) < 0 || !memchr(t.error, '\0', sizeof(t.error)))
		abort();
	coll_digest_tries_parked(&t);
	close(fd);
}

/* A mark of any age; with a text in it there is no row. */
static void row(const uint8_t *data, size_t len)
{
	struct timespec t[2] = { { 0, 0 }, { 0, 0 } };
	struct coll_run_dir run;
	char path[400];
	int32_t s = 0;

	memcpy(&s, data, len < 4 ? len : 4);
	t[0].tv_sec = t[1].tv_sec = s;
	write_file("run.gst/run.json", "{}", 2);
	write_file("run.gst/" COLL_DIGEST_ROW_MARK, data, len);
	snprintf(path, sizeof(path), "%s/run.gst/" COLL_DIGEST_ROW_MARK, top);
	REQUIRE(!utimensat(AT_FDCWD, path, t, 0));
	REQUIRE(!coll_run_dir_read(&run, top, "", "run.gst"));
	if (run.row_made != !len || run.row_ns != s * COLL_SECOND_NS || run.newest_ns <= 0)
		abort();
	coll_run_dir_fini(&run);
}

static void sweep_clock(const uint8_t *data, size_t len)
{
	struct coll_sweep_clock was, now;

	write_file(COLL_SWEEP_CLOCK, data, len);
	coll_sweep_clock_read(&was, top);
	coll_sweep_clock_now(&now);
	if (was.real_ns < 0 || was.boot_ns < 0 || !memchr(was.boot_id, '\0', sizeof(was.boot_id)) ||
	    coll_sweep_clock_jump(&was, &now) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!len || len > 3 * SLOT)
		return 0;
	begin();
	if (data[0] == ROW) {
		row(data + 1, len - 1);
		return 0;
	}
	switch (data[0] % 4) {
	case 0:
		tries(data + 1, len - 1);
		break;
	case 1:
		sweep_clock(data + 1, len - 1);
		break;
	default:
		known(data + 1, len - 1, data[0] / 4u);
		break;
	}
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const char *const texts[TEXTS] = {
		"\4attempts 3\nnext 99999999999\ntrace 7\nerror exit status 2: no\n",
		"\4attempts 999999999\nnext -5\ntrace 7\n",
		"\5real 1795480265000000000 boot 5000000000 of 0b5a\n",
		"\5real 9999999999999999999 boot -1 of -\n",
		"\377", /* a row, and none */
		"\377none\n",
	};
	uint8_t *slot;

	if (number < TEXTS) {
		*data = (uint8_t *)strdup(texts[number]);
		return strlen(texts[number]);
	}
	if (number > TEXTS + 3)
		return 0;
	begin();
	slot = calloc(1, 2 * SLOT + 1);
	REQUIRE(slot);
	slot[0] = number == TEXTS + 3 ? 2 : (uint8_t)(2 + 4 * (1 + 2 * (number % 2) + 4));
	wire_put16(slot + 1 + 6, 7); /* has all */
	wire_put64(slot + 1 + 8, 2); /* generation */
	wire_put64(slot + 1 + 40, 3); /* top */
	wire_put64(slot + 1 + 80, last); /* Bye */
	wire_put64(slot + 1 + 88, number == TEXTS + 2 ? 100 : 1); /* pulses */
	wire_put32(slot + 1 + 100, number == TEXTS + 2 ? 16 : 0); /* of them thin */
	wire_put32(slot + 1 + 104, 2); /* ranges */
	for (uint64_t i = 0; i < 4; i++)
		wire_put64(slot + 1 + 504 + 8 * i, 10 + 5 * i);
	*data = slot;
	return 2 * SLOT + 1;
}
