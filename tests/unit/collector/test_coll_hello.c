/* SPDX-License-Identifier: Apache-2.0 */
/* Run names, what is taken from a Hello, and the note of a process's end. */
#include "harness.h"

#include <errno.h>
#include "store/hello.h"
#include "store/process_end.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

static const uint8_t stream[WIRE_STREAM_ID_BYTES] = "a stream's name!";

static void name_is(const char *id, const char *want)
{
	char got[COLL_RUN_BYTES];

	coll_run_name(got, id);
	EXPECT_STR(got, want);
}

static void test_names(void)
{
	char id[1000], want[COLL_RUN_BYTES];

	name_is("", "");
	name_is("slurm-a-12.0-0", "slurm-a-12.0-0");
	name_is("..", "_.-b4a03f2d");
	name_is(".ssh", "_ssh-3047da65");
	name_is("a/../b\n", "a_.._b_-0472f756");
	name_is("\xc3\xa9t\xc3\xa9", "__t__-88b51857");
	name_is("a_.._b_-0472f756", "a_.._b_-0472f756");
	memset(id, 'x', sizeof(id));
	id[999] = '\0';
	memset(want, 'x', sizeof(want));
	strcpy(want + COLL_RUN_BYTES - 1 - 9, "-975beddf");
	name_is(id, want);
	id[COLL_RUN_BYTES - 1] = '\0';
	name_is(id, id);
}

/* One Hello frame in @out; the words make it long enough to be compressed. */
static void make_hello(struct wire_buf *out, const char *run, const char *host, const char *word,
		       size_t words)
{
	struct wire_encoder *e = wire_encoder_new(stream, 3);
	Wire__Hello m = WIRE__HELLO__INIT;
	char **command = calloc(words + 1, sizeof(*command));
	size_t i;

	for (i = 0; i < words; i++)
		command[i] = (char *)(uintptr_t)word;
	m.run_id = (char *)(uintptr_t)run;
	m.host = (char *)(uintptr_t)host;
	m.pid = 77;
	m.process_start_ns = 88;
	m.command = command;
	m.n_command = words;
	REQUIRE(e && !wire_encoder_message(e, WIRE_FRAME_HELLO, &m.base, 5, out));
	wire_encoder_free(e);
	free(command);
}

static void test_read(void)
{
	size_t words[] = { 0, 500 }, i;

	for (i = 0; i < 2; i++) {
		struct wire_buf out = { 0 };
		struct coll_hello h;
		struct wire_frame f;

		make_hello(&out, "run/1", "node1", "--option=value", words[i]);
		REQUIRE(!wire_frame_header_get(&f, out.data));
		EXPECT_INT(!!(f.flags & WIRE_FRAME_FL_ZSTD), i == 1);
		EXPECT_INT(coll_hello_read(&h, &f, out.data + WIRE_FRAME_HEADER_BYTES), 0);
		EXPECT_STR(h.run, "run_1-338d22aa");
		EXPECT_STR(h.host, "node1");
		EXPECT_INT(h.pid, 77);
		EXPECT_INT(h.start_ns, 88);
		wire_buf_fini(&out);
	}
}

static void test_long_host(void)
{
	struct wire_buf out = { 0 };
	struct coll_hello h;
	struct wire_frame f;
	char host[2000];

	memset(host, 'h', sizeof(host));
	host[sizeof(host) - 1] = '\0';
	make_hello(&out, "r", host, "", 0);
	REQUIRE(!wire_frame_header_get(&f, out.data));
	EXPECT_INT(coll_hello_read(&h, &f, out.data + WIRE_FRAME_HEADER_BYTES), 0);
	EXPECT_UINT(strlen(h.host), COLL_HOST_BYTES - 1);
	wire_buf_fini(&out);
}

/* Sizes that lie, and every byte of a good one changed: refused or read, never a crash. */
static void test_hostile(void)
{
	struct wire_buf out = { 0 };
	struct coll_hello h;
	struct wire_frame f, g;
	size_t i;

	make_hello(&out, "run", "node", "--option=value", 100);
	REQUIRE(!wire_frame_header_get(&f, out.data));
	g = f;
	g.raw_len = 60u << 20;
	EXPECT_INT(coll_hello_read(&h, &g, out.data + WIRE_FRAME_HEADER_BYTES), -EBADMSG);
	g.raw_len = f.raw_len - 1;
	EXPECT_INT(coll_hello_read(&h, &g, out.data + WIRE_FRAME_HEADER_BYTES), -EBADMSG);
	g.flags = 0;
	EXPECT_INT(coll_hello_read(&h, &g, out.data + WIRE_FRAME_HEADER_BYTES), -EBADMSG);
	for (i = 0; i < f.body_len; i++) {
		out.data[WIRE_FRAME_HEADER_BYTES + i] ^= 0x11;
		coll_hello_read(&h, &f, out.data + WIRE_FRAME_HEADER_BYTES);
		out.data[WIRE_FRAME_HEADER_BYTES + i] ^= 0x11;
	}
	wire_buf_fini(&out);
}

/* Small on the wire, and a hundred MiB of empty devices when it is unpacked. */
static void test_swelling(void)
{
	Wire__Hello m = WIRE__HELLO__INIT;
	Wire__Device device = WIRE__DEVICE__INIT, **devices;
	struct wire_encoder *e = wire_encoder_new(stream, 3);
	struct wire_buf out = { 0 };
	struct coll_hello h;
	struct wire_frame f;
	size_t i, n = 500000;

	devices = calloc(n, sizeof(*devices));
	for (i = 0; i < n; i++)
		devices[i] = &device;
	m.run_id = (char *)(uintptr_t) "run";
	m.devices = devices;
	m.n_devices = n;
	REQUIRE(e && !wire_encoder_message(e, WIRE_FRAME_HELLO, &m.base, 5, &out));
	EXPECT(out.len < 1000);
	REQUIRE(!wire_frame_header_get(&f, out.data));
	EXPECT_INT(coll_hello_read(&h, &f, out.data + WIRE_FRAME_HEADER_BYTES), -EBADMSG);
	wire_encoder_free(e);
	wire_buf_fini(&out);
	free(devices);
}

static void test_ended(void)
{
	struct coll_hello who = { .host = "a\"b\\c\n", .pid = 5, .start_ns = 6 };
	char dir[200], path[300], text[500];
	FILE *f;

	t_tempdir(dir, sizeof(dir));
	EXPECT_INT(coll_process_end_write(dir, "00ff", &who, 7), 0);
	EXPECT_INT(coll_process_end_write(dir, "00ff", &who, 8), 0);
	snprintf(path, sizeof(path), "%s/exit-coll-00ff.json", dir);
	f = fopen(path, "r");
	REQUIRE(f && fgets(text, sizeof(text), f));
	fclose(f);
	EXPECT_STR(text, "{\"exits\":[{\"host\":\"a\\u0022b\\u005cc\\u000a\",\"pid\":5,"
			 "\"start_ns\":6,\"end_ns\":8,\"status\":null}]}\n");
	unlink(path);
	EXPECT_INT(rmdir(dir), 0); /* nothing else was left there */
	EXPECT_INT(coll_process_end_write(dir, "00ff", &who, 7), -ENOENT);
}

int main(void)
{
	return RUN(test_names, test_read, test_long_host, test_hostile, test_swelling, test_ended);
}
