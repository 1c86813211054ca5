/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of every version that was released are read as they were written: the events of
 * tests/data/wire-v<N>.gst have checksums that stand here. A change of the format that fails this test has to
 * come as a new version (docs/FORMAT.md, section 11).
 *
 *	test_wire_stored --write FILE     makes such a file, with what this build writes
 */
#include "harness.h"

#include "stream.h"
#include "wire/crc32c.h"
#include "wire/reader.h"

#define EVENTS 100

static void read_stored(const char *path, const uint32_t want[WIRE_KIND_MAX])
{
	struct wire_scratch *s = wire_scratch_new();
	struct wire_strtab *names = wire_strtab_new();
	struct wire_event *ev = NULL;
	struct wire_block_head h;
	struct wire_file *f;
	struct wire_entry e;
	unsigned int frames = 0;
	size_t room = 0, damage;

	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &e) == 1) {
		frames++;
		if (e.frame.type == WIRE_FRAME_STRINGS)
			EXPECT_INT(wire_file_strings(f, s, &e, names), 0);
		if (e.frame.type != WIRE_FRAME_BLOCK && e.frame.type != WIRE_FRAME_RANGES)
			continue;
		EXPECT_INT(wire_file_block(f, s, &e, &h, &ev, &room), 0);
		EXPECT_UINT(h.count, EVENTS);
		EXPECT_UINT(wire_crc32c(0, ev, h.count * sizeof(*ev)), want[h.kind]);
	}
	wire_file_damage(f, &damage);
	EXPECT_UINT(frames, 8);
	EXPECT_UINT(damage, 0);
	EXPECT_STR(wire_strtab_get(names, 3, NULL), "void kernel_2<float, 4>(float *)");
	wire_file_close(f);
	wire_scratch_free(s);
	wire_strtab_free(names);
	free(ev);
}

static void test_version_1(void)
{
	static const uint32_t want[WIRE_KIND_MAX] = { 0, 462957570, 2157542071, 927393504,
						      2180511669 };

	read_stored(TESTS_DIR "/data/wire-v1.gst", want);
}

int main(int argc, char **argv)
{
	struct t_stream t;

	if (argc == 3 && !strcmp(argv[1], "--write")) {
		t_stream_make(&t, "stored version..", EVENTS, 1);
		t_write_file(argv[2], t.bytes.data, t.bytes.len);
		wire_buf_fini(&t.bytes);
		return 0;
	}
	return RUN(test_version_1);
}
