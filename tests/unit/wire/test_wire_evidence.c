/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and batches: every field of every row comes back, whatever it holds, alone and in whole
 * frames; columns that are cut or changed are refused or decoded, and never read beyond.
 */
#include "harness.h"

#include <errno.h>
#include "evidence.h"
#include "wire/encoder.h"
#include "wire/reader.h"

#define ROWS 70000

static struct wire_sample s[ROWS], s_back[ROWS];
static struct wire_batch b[ROWS], b_back[ROWS];

/* A copy that ends where its memory ends, so that a sanitizer sees a byte read too far. */
static uint8_t *exact(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len + 1);

	memcpy(copy + 1, data, len);
	return copy;
}

static void round_trip(size_t n)
{
	struct wire_block_head h;
	struct wire_buf out = { 0 };
	uint8_t *copy;

	EXPECT_INT(wire_samples_encode(s, n, &h, &out), 0);
	EXPECT_UINT(h.kind, WIRE_KIND_SAMPLE);
	EXPECT_UINT(h.count, n);
	copy = exact(out.data, out.len);
	memset(s_back, 0xee, n * sizeof(*s_back));
	EXPECT_INT(wire_samples_decode((uint32_t)n, copy + 1, out.len, s_back), 0);
	EXPECT_MEM(s_back, s, n * sizeof(*s));
	free(copy);
	out.len = 0;
	EXPECT_INT(wire_batches_encode(b, n, &h, &out), 0);
	EXPECT_UINT(h.kind, WIRE_KIND_BATCH);
	copy = exact(out.data, out.len);
	memset(b_back, 0xee, n * sizeof(*b_back));
	EXPECT_INT(wire_batches_decode((uint32_t)n, copy + 1, out.len, b_back), 0);
	EXPECT_MEM(b_back, b, n * sizeof(*b));
	free(copy);
	wire_buf_fini(&out);
}

static void test_wild(void)
{
	static const size_t sizes[] = { 1, 2, 255, 256, 257, 1000, 4097, WIRE_BLOCK_EVENTS_MAX };
	uint64_t rnd = t_seed(21);
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		t_samples_wild(s, sizes[i], &rnd);
		t_batches_wild(b, sizes[i], &rnd);
		round_trip(sizes[i]);
	}
}

/* Rows that are mostly alike take other paths: constants, exceptions, threads that take turns. */
static void test_tame(void)
{
	uint64_t rnd = t_seed(22);
	int round;
	size_t i;

	for (round = 0; round < 200; round++) {
		size_t n = 1 + t_random(&rnd) % 1200;
		struct t_host one = t_host_begin(t_random(&rnd)), two = one;

		for (i = 0; i < n; i++) {
			s[i] = t_host_sample(&one);
			b[i] = t_host_batch(&two);
		}
		for (i = t_random(&rnd) % 5; i > 0; i--) {
			t_samples_wild(&s[t_random(&rnd) % n], 1, &rnd);
			t_batches_wild(&b[t_random(&rnd) % n], 1, &rnd);
		}
		round_trip(n);
	}
	memset(s, 0, 1000 * sizeof(*s));
	memset(b, 0, 1000 * sizeof(*b));
	round_trip(1000);
}

static void test_head(void)
{
	struct wire_sample three[3] = {
		{ .t_ns = 50, .stack = 7, .fs = 3 },
		{ .t_ns = -20, .native = 9, .tid = 4 },
		{ .t_ns = 60, .target = 8, .tid = 2 },
	};
	struct wire_batch two[2] = {
		{ .start_ns = 10, .end_ns = 90, .text = 4 },
		{ .start_ns = 40, .end_ns = 50 },
	};
	struct wire_block_head h;

	wire_samples_head(three, 3, &h);
	EXPECT_INT(h.t0_ns, -20);
	EXPECT_INT(h.t1_ns, 60);
	EXPECT_INT(h.last_start_ns, 60);
	EXPECT_UINT(h.string_max, 9);
	EXPECT_UINT(h.devices, 0);
	wire_batches_head(two, 2, &h);
	EXPECT_INT(h.t0_ns, 10);
	EXPECT_INT(h.t1_ns, 90);
	EXPECT_INT(h.last_start_ns, 40);
	EXPECT_UINT(h.string_max, 4);
	EXPECT_UINT(h.count, 2);
}

static void test_refused(void)
{
	struct wire_block_head h;
	struct wire_buf out = { 0 };
	uint64_t rnd = 1;

	t_samples_wild(s, 2, &rnd);
	EXPECT_INT(wire_samples_encode(s, 0, &h, &out), -EINVAL);
	EXPECT_INT(wire_batches_encode(b, WIRE_BLOCK_EVENTS_MAX + 1, &h, &out), -EINVAL);
	out.cap = 40;
	EXPECT_INT(wire_samples_encode(s, 2, &h, &out), -ENOSPC);
	EXPECT_UINT(out.len, 0);
	EXPECT_INT(wire_samples_decode(0, out.data, 0, s_back), -EBADMSG);
	EXPECT_INT(wire_samples_decode(1, out.data, 0, s_back), -EBADMSG);
	EXPECT_INT(wire_batches_decode(WIRE_BLOCK_EVENTS_MAX + 1, out.data, 0, b_back), -EBADMSG);
	wire_buf_fini(&out);
}

static void make_tame(size_t n)
{
	struct t_host one = t_host_begin(5), two = one;
	size_t i;

	for (i = 0; i < n; i++) {
		s[i] = t_host_sample(&one);
		b[i] = t_host_batch(&two);
	}
}

/* Cut at every byte: refused, or, between two sections, zeros for what is left out. */
static void test_cut(void)
{
	struct wire_buf samples = { 0 }, batches = { 0 };
	struct wire_block_head h;
	size_t n = 300, len;

	make_tame(n);
	EXPECT_INT(wire_samples_encode(s, n, &h, &samples), 0);
	EXPECT_INT(wire_batches_encode(b, n, &h, &batches), 0);
	for (len = 0; len < samples.len || len < batches.len; len++) {
		size_t l = len < samples.len ? len : samples.len;
		uint8_t *copy = exact(samples.data, l);
		int err = wire_samples_decode((uint32_t)n, copy + 1, l, s_back);

		EXPECT(err == -EBADMSG ||
		       (!err && (memcmp(s_back, s, n * sizeof(*s)) != 0) == (l < samples.len)));
		free(copy);
		l = len < batches.len ? len : batches.len;
		copy = exact(batches.data, l);
		err = wire_batches_decode((uint32_t)n, copy + 1, l, b_back);
		EXPECT(err == -EBADMSG ||
		       (!err && (memcmp(b_back, b, n * sizeof(*b)) != 0) == (l < batches.len)));
		free(copy);
	}
	EXPECT_INT(wire_samples_decode((uint32_t)n + 1, samples.data, samples.len, s_back),
		   -EBADMSG);
	EXPECT_INT(wire_batches_decode((uint32_t)n - 1, batches.data, batches.len, b_back),
		   -EBADMSG);
	wire_buf_fini(&samples);
	wire_buf_fini(&batches);
}

/* Any bit flipped: refused, or decoded to something else; with sanitizers, cleanly. */
static void test_flip(void)
{
	struct wire_buf out[2] = { { 0 }, { 0 } };
	struct wire_block_head h;
	size_t n = 40, bit;
	int k;

	make_tame(n);
	EXPECT_INT(wire_samples_encode(s, n, &h, &out[0]), 0);
	EXPECT_INT(wire_batches_encode(b, n, &h, &out[1]), 0);
	for (k = 0; k < 2; k++) {
		uint8_t *copy = exact(out[k].data, out[k].len), *p = copy + 1;

		for (bit = 0; bit < out[k].len * 8; bit++) {
			int err;

			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
			err = k ? wire_batches_decode((uint32_t)n, p, out[k].len, b_back)
				: wire_samples_decode((uint32_t)n, p, out[k].len, s_back);
			EXPECT(!err || err == -EBADMSG || err == -EPROTO);
			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		free(copy);
		wire_buf_fini(&out[k]);
	}
}

/* A section of a later version: one above 127 is passed over, one below is refused. */
static void test_later(void)
{
	static const uint8_t optional[] = { 200, 3, 0, 0, 0, 1, 2, 3 };
	static const uint8_t needed[] = { 100, 3, 0, 0, 0, 1, 2, 3 };
	struct wire_buf out = { 0 };
	struct wire_block_head h;
	size_t n = 10, len, i;

	make_tame(n);
	for (i = 0; i < n; i++)
		s[i].links = 0; /* else their section is the last one, above 127 */
	EXPECT_INT(wire_samples_encode(s, n, &h, &out), 0);
	len = out.len;
	wire_buf_append(&out, optional, sizeof(optional));
	EXPECT_INT(wire_samples_decode((uint32_t)n, out.data, out.len, s_back), 0);
	EXPECT_MEM(s_back, s, n * sizeof(*s));
	out.len = len;
	wire_buf_append(&out, needed, sizeof(needed));
	EXPECT_INT(wire_samples_decode((uint32_t)n, out.data, out.len, s_back), -EPROTO);
	wire_buf_fini(&out);
}

static void write_file(char *path, size_t size, const struct wire_buf *out)
{
	char dir[200];
	FILE *f;

	t_tempdir(dir, sizeof(dir));
	snprintf(path, size, "%s/a.gst", dir);
	f = fopen(path, "wb");
	REQUIRE(f && fwrite(out->data, 1, out->len, f) == out->len && !fclose(f));
}

static void remove_file(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* Whole frames, written and read; one kind's reader refuses the other's frame. */
static void test_frames(void)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"0123456789abcdef", 3);
	struct wire_scratch *scratch = wire_scratch_new();
	struct wire_sample *sample = NULL;
	struct wire_batch *batch = NULL;
	size_t n = 500, room = 0, batch_room = 0;
	struct wire_buf out = { 0 };
	struct wire_block_head h;
	struct wire_entry one, two;
	struct wire_file *f;
	char path[256];

	make_tame(n);
	EXPECT_INT(wire_encoder_samples(e, s, 0, 1, &out), -EINVAL);
	EXPECT_UINT(wire_encoder_seq(e), 0);
	EXPECT_INT(wire_encoder_samples(e, s, n, 1, &out), 0);
	EXPECT_INT(wire_encoder_batches(e, b, n, 2, &out), 0);
	EXPECT_UINT(wire_encoder_seq(e), 2);
	write_file(path, sizeof(path), &out);
	REQUIRE(!wire_file_open(&f, path));
	REQUIRE(wire_file_next(f, &one) == 1 && wire_file_next(f, &two) == 1);
	EXPECT_UINT(one.frame.type, WIRE_FRAME_SAMPLES);
	EXPECT_UINT(two.frame.type, WIRE_FRAME_WORKERS);
	EXPECT_INT(wire_file_samples(f, scratch, &one, &h, &sample, &room), 0);
	EXPECT_UINT(h.count, n);
	EXPECT_MEM(sample, s, n * sizeof(*s));
	EXPECT_INT(wire_file_batches(f, scratch, &two, &h, &batch, &batch_room), 0);
	EXPECT_UINT(h.count, n);
	EXPECT_MEM(wire_encoder_head(e), &h, offsetof(struct wire_block_head, device));
	EXPECT_MEM(batch, b, n * sizeof(*b));
	EXPECT_INT(wire_file_samples(f, scratch, &two, &h, &sample, &room), -EINVAL);
	EXPECT_INT(wire_file_batches(f, scratch, &one, &h, &batch, &batch_room), -EINVAL);
	wire_file_close(f);
	remove_file(path);
	free(sample);
	free(batch);
	wire_buf_fini(&out);
	wire_scratch_free(scratch);
	wire_encoder_free(e);
}

int main(void)
{
	return RUN(test_wild, test_tame, test_head, test_refused, test_cut, test_flip, test_later,
		   test_frames);
}
