/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream from encoder to reader: everything comes back.
 */
#include "harness.h"

#include <fcntl.h>
#include "wire/encoder.h"
#include "wire/reader.h"
#include "wire/session.pb-c.h"

static char dir[256], path[512];

static void write_file(const struct wire_buf *b)
{
	FILE *f = fopen(path, "w");

	REQUIRE(f);
	REQUIRE(fwrite(b->data, 1, b->len, f) == b->len);
	fclose(f);
}

static void test_round(void)
{
	uint8_t stream[16] = "0123456789abcde";
	struct wire_encoder *e = wire_encoder_new(stream, 3);
	struct wire_strtab *t = wire_strtab_new(), *back = wire_strtab_new();
	struct wire_event ev[3] = {
		{ .start_ns = 10, .end_ns = 20, .kind = 1, .op = 1, .name = 1, .stream = 7 },
		{ .start_ns = 15, .end_ns = 30, .kind = 1, .op = 2, .name = 2, .device = 3 },
		{ .start_ns = INT64_MAX, .end_ns = INT64_MIN, .kind = 1, .corr = UINT64_MAX },
	};
	uint32_t lost[WIRE_BLOCK_DEVICES_MAX] = { [3] = 9 }, next = 0;
	Wire__Hello hello = WIRE__HELLO__INIT, *got;
	struct wire_buf out = { 0 };
	struct wire_file *f;
	struct wire_scratch *s = wire_scratch_new();
	struct wire_entry entry;
	struct wire_block_head head;
	struct wire_event *events = NULL;
	size_t room = 0, count;

	hello.host = (char *)"box";
	hello.pid = 42;
	wire_strtab_intern(t, "one", 3);
	wire_strtab_intern(t, "two", 3);
	EXPECT_INT(wire_encoder_message(e, WIRE_FRAME_HELLO, &hello.base, 5, &out), 0);
	EXPECT_INT(wire_encoder_strings(e, t, 1, &next, 6, &out), 0);
	EXPECT_UINT(next, 3);
	EXPECT_INT(wire_encoder_block(e, ev, 3, lost, 7, &out), 0);
	EXPECT_UINT(wire_encoder_seq(e), 3);
	write_file(&out);

	REQUIRE(!wire_file_open(&f, path));
	EXPECT_INT(wire_file_next(f, &entry), 1);
	got = (Wire__Hello *)wire_file_message(f, s, &entry, &wire__hello__descriptor);
	REQUIRE(got);
	EXPECT_STR(got->host, "box");
	EXPECT_INT(got->pid, 42);
	wire__hello__free_unpacked(got, NULL);
	EXPECT_INT(wire_file_next(f, &entry), 1);
	EXPECT_INT(wire_file_strings(f, s, &entry, back), 0);
	EXPECT_STR(wire_strtab_get(back, 2, NULL), "two");
	EXPECT_INT(wire_file_next(f, &entry), 1);
	EXPECT_INT(wire_file_block(f, s, &entry, &head, &events, &room), 0);
	EXPECT_UINT(head.count, 3);
	EXPECT_UINT(head.devices, 2);
	EXPECT_UINT(head.device[1].lost, 9);
	EXPECT_UINT(head.device[1].busy_ns, 15);
	EXPECT_MEM(events, ev, sizeof(ev));
	EXPECT_INT(wire_file_next(f, &entry), 0);
	EXPECT(!wire_file_damage(f, &count) && !count);
	wire_file_close(f);
	wire_scratch_free(s);
	free(events);
	wire_buf_fini(&out);
	wire_strtab_free(t);
	wire_strtab_free(back);
	wire_encoder_free(e);
}

int main(void)
{
	int status;

	t_tempdir(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/a.gst", dir);
	status = RUN(test_round);
	unlink(path);
	rmdir(dir);
	return status;
}
