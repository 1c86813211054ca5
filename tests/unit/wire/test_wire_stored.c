/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of every version that was released are read as they were written: the events of
 * tests/data/wire-v<N>.gst, and the samples and batches of wire-v<N>-evidence.gst, have checksums
 * that stand here. A change of the format that fails this test has to come as a new version
 * (docs/FORMAT.md, section 11).
 *
 *	test_wire_stored --write FILE     makes such a file, with what this build writes
 *	test_wire_stored --write-evidence FILE
 */
#include "harness.h"

#include "evidence.h"
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
		EXPECT_INT(wire_file_block(f, s, &e, &h, &ev, &room, NULL), 0);
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

/* Fields may be added to a row, so not the structs are summed but what they hold today. */
static uint32_t sum_of_samples(const struct wire_sample *s, size_t n)
{
	uint32_t crc = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t v[16] = {
			(uint64_t)s[i].t_ns, s[i].cpu_ns, s[i].delay_ns, s[i].throttled_ns,
			s[i].period_ns,	     s[i].pid,	  s[i].tid,	 s[i].stack,
			s[i].native,	     s[i].target, s[i].fs,	 s[i].syscall,
			s[i].role,	     s[i].state,  s[i].wait,	 s[i].flags
		};

		crc = wire_crc32c(crc, v, sizeof(v));
	}
	return crc;
}

static uint32_t sum_of_batches(const struct wire_batch *b, size_t n)
{
	uint32_t crc = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t v[15] = { (uint64_t)b[i].start_ns,
				   (uint64_t)b[i].end_ns,
				   b[i].batch,
				   b[i].cpu_ns,
				   b[i].delay_ns,
				   b[i].rchar_bytes,
				   b[i].read_bytes,
				   b[i].major_faults,
				   b[i].pid,
				   b[i].tid,
				   b[i].loader,
				   b[i].worker,
				   b[i].samples,
				   b[i].text,
				   b[i].what };

		crc = wire_crc32c(crc, v, sizeof(v));
	}
	return crc;
}

static void test_evidence_1(void)
{
	struct wire_scratch *s = wire_scratch_new();
	struct wire_sample *sample = NULL;
	struct wire_batch *batch = NULL;
	size_t sample_room = 0, batch_room = 0, frames = 0;
	struct wire_block_head h;
	struct wire_file *f;
	struct wire_entry e;

	REQUIRE(!wire_file_open(&f, TESTS_DIR "/data/wire-v1-evidence.gst"));
	while (wire_file_next(f, &e) == 1) {
		frames++;
		if (e.frame.type == WIRE_FRAME_SAMPLES) {
			EXPECT_INT(wire_file_samples(f, s, &e, &h, &sample, &sample_room), 0);
			EXPECT_UINT(h.count, EVENTS);
			EXPECT_UINT(sum_of_samples(sample, h.count), 470779795u);
		}
		if (e.frame.type == WIRE_FRAME_WORKERS) {
			EXPECT_INT(wire_file_batches(f, s, &e, &h, &batch, &batch_room), 0);
			EXPECT_UINT(h.count, EVENTS);
			EXPECT_UINT(sum_of_batches(batch, h.count), 3939029821u);
		}
	}
	EXPECT_UINT(frames, 6);
	wire_file_close(f);
	wire_scratch_free(s);
	free(sample);
	free(batch);
}

int main(int argc, char **argv)
{
	struct wire_buf out = { 0 };
	struct t_stream t;

	if (argc == 3 && !strcmp(argv[1], "--write")) {
		t_stream_make(&t, "stored version..", EVENTS, 1);
		t_write_file(argv[2], t.bytes.data, t.bytes.len);
		wire_buf_fini(&t.bytes);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "--write-evidence")) {
		t_evidence_make(&out, EVENTS);
		t_write_file(argv[2], out.data, out.len);
		wire_buf_fini(&out);
		return 0;
	}
	return RUN(test_version_1, test_evidence_1);
}
