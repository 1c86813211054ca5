/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: every field of every event comes back, whatever it holds; columns that are cut or
 * changed are refused or decoded, and never read beyond.
 */
#include "harness.h"

#include <errno.h>
#include "events.h"
#include "wire/block.h"

static struct wire_event ev[70000], back[70000];

/* What a decoder says that it saw, against the head and the events. */
static void check_seen(const struct wire_block_seen *seen, uint8_t kind, size_t n)
{
	struct wire_block_head h;
	bool in_order = true;
	size_t i;

	for (i = 1; i < n; i++)
		in_order &= kind == WIRE_KIND_OP ? ev[i].start_ns > ev[i - 1].start_ns
						 : ev[i].start_ns >= ev[i - 1].start_ns;
	EXPECT_INT(seen->in_order, in_order);
	if (wire_block_head_of(&h, ev, n))
		return;
	EXPECT_INT(seen->t0_ns, h.t0_ns);
	EXPECT_INT(seen->t1_ns, h.t1_ns);
	EXPECT_INT(seen->last_start_ns, h.last_start_ns);
	EXPECT_UINT(seen->string_max, h.string_max);
}

static void round_trip(uint8_t kind, size_t n)
{
	struct wire_buf out = { 0 };
	struct wire_block_seen seen;
	uint8_t *exact;

	EXPECT_INT(wire_block_encode(kind, ev, n, &out), 0);
	exact = malloc(out.len); /* so that a sanitizer sees a byte read too far */
	memcpy(exact, out.data, out.len);
	memset(back, 0xee, n * sizeof(*back));
	EXPECT_INT(wire_block_decode(kind, (uint32_t)n, exact, out.len, back, &seen), 0);
	EXPECT_MEM(back, ev, n * sizeof(*ev));
	check_seen(&seen, kind, n);
	free(exact);
	wire_buf_fini(&out);
}

static void test_wild(void)
{
	static const size_t sizes[] = { 1, 2, 3, 31, 255, 256, 257, 511, 1000, 4097 };
	uint64_t rnd = t_seed(7);
	size_t i;
	int kind;

	for (kind = 1; kind < WIRE_KIND_MAX + 1; kind++) {
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			t_events_wild(ev, sizes[i], (uint8_t)kind, &rnd);
			round_trip((uint8_t)kind, sizes[i]);
		}
	}
	t_events_wild(ev, WIRE_BLOCK_EVENTS_MAX, 1, &rnd);
	round_trip(1, WIRE_BLOCK_EVENTS_MAX);
}

/* Fields that are mostly alike take other paths: constants, exceptions, sparse columns. */
static void test_tame(void)
{
	uint64_t rnd = t_seed(8);
	int round;
	size_t i;

	for (round = 0; round < 300; round++) {
		size_t n = 1 + t_random(&rnd) % 1500;
		struct t_job j = t_job_begin(t_random(&rnd), 1 + (uint32_t)t_random(&rnd) % 4);

		for (i = 0; i < n; i++)
			ev[i] = t_job_op(&j);
		for (i = t_random(&rnd) % 5; i > 0; i--)
			t_events_wild(&ev[t_random(&rnd) % n], 1, 1, &rnd);
		round_trip(1, n);
		for (i = 0; i < n; i++)
			ev[i] = t_job_api(&j, &ev[i]);
		round_trip(2, n);
		for (i = 0; i < n; i++)
			ev[i].kind = WIRE_KIND_RANGE;
		round_trip(4, n);
	}
}

/* Columns of one value over several chunks, sparse ones too; then one event that differs. */
static void test_constant(void)
{
	size_t n = 1000, i;
	int round;

	for (round = 0; round < 3; round++) {
		memset(ev, 0, n * sizeof(*ev));
		for (i = 0; i < n; i++) {
			ev[i].kind = 1;
			ev[i].start_ns = (int64_t)(i * 100);
			ev[i].end_ns = ev[i].start_ns + 50;
			ev[i].corr = i * 2;
			ev[i].name = 300;
			ev[i].bytes = i % 3 ? 4096 : 0;
			ev[i].graph = i % 5 ? 0 : 77;
		}
		if (round == 1)
			ev[999].end_ns++;
		if (round == 2)
			memset(&ev[1], 0xff, sizeof(ev[1]) - 8);
		round_trip(1, n);
		for (i = 0; i < n; i++)
			ev[i].kind = 2;
		round_trip(2, n);
	}
}

/* In order but for one place, wherever in the chunks that is; operations that begin together. */
static void test_order(void)
{
	static const size_t places[] = { 1, 200, 255, 256, 257, 511, 512, 599 };
	size_t n = 600, i, k;
	int kind;

	for (kind = WIRE_KIND_OP; kind <= WIRE_KIND_API; kind++) {
		for (k = 0; k < 3 * sizeof(places) / sizeof(places[0]); k++) {
			memset(ev, 0, n * sizeof(*ev));
			for (i = 0; i < n; i++) {
				ev[i].kind = (uint8_t)kind;
				ev[i].start_ns = (int64_t)(i * 100);
				ev[i].end_ns = ev[i].start_ns + 50;
			}
			ev[places[k / 3]].start_ns -= 99 + (int64_t)(k % 3);
			round_trip((uint8_t)kind, n);
		}
	}
}

static void test_refused(void)
{
	struct wire_buf out = { 0 };
	uint64_t rnd = 1;

	t_events_wild(ev, 2, 1, &rnd);
	EXPECT_INT(wire_block_encode(1, ev, 0, &out), -EINVAL);
	EXPECT_INT(wire_block_encode(2, ev, 2, &out), -EINVAL);
	EXPECT_INT(wire_block_encode(0, ev, 2, &out), -EINVAL);
	EXPECT_INT(wire_block_encode(1, ev, WIRE_BLOCK_EVENTS_MAX + 1, &out), -EINVAL);
	out.cap = 16;
	EXPECT_INT(wire_block_encode(1, ev, 2, &out), -ENOSPC);
	EXPECT_UINT(out.len, 0);
	EXPECT_INT(wire_block_decode(1, 0, out.data, 0, back, NULL), -EBADMSG);
	EXPECT_INT(wire_block_decode(1, WIRE_BLOCK_EVENTS_MAX + 1, out.data, 0, back, NULL),
		   -EBADMSG);
	wire_buf_fini(&out);
}

/* Cut at every byte, the columns are refused: the last section always ends the block. */
static void test_cut(void)
{
	struct t_job j = t_job_begin(3, 3);
	struct wire_buf out = { 0 };
	size_t n = 300, len, i;

	for (i = 0; i < n; i++)
		ev[i] = t_job_op(&j);
	EXPECT_INT(wire_block_encode(1, ev, n, &out), 0);
	for (len = 0; len < out.len; len++) {
		uint8_t *exact = malloc(len + 1);
		int err;

		memcpy(exact + 1, out.data, len);
		err = wire_block_decode(1, (uint32_t)n, exact + 1, len, back, NULL);
		/* Between two sections a cut cannot be seen: what is left out counts as zeros. */
		EXPECT(err == -EBADMSG || (!err && memcmp(back, ev, n * sizeof(*ev))));
		free(exact);
	}
	EXPECT_INT(wire_block_decode(1, (uint32_t)n + 1, out.data, out.len, back, NULL), -EBADMSG);
	EXPECT_INT(wire_block_decode(1, (uint32_t)n - 1, out.data, out.len, back, NULL), -EBADMSG);
	wire_buf_fini(&out);
}

/* Any bit flipped: refused, or decoded to something else; with sanitizers, cleanly. */
static void test_flip(void)
{
	struct t_job j = t_job_begin(4, 3);
	struct wire_buf out = { 0 };
	size_t n = 40, bit, i;

	for (i = 0; i < n; i++)
		ev[i] = t_job_op(&j);
	EXPECT_INT(wire_block_encode(1, ev, n, &out), 0);
	for (bit = 0; bit < out.len * 8; bit++) {
		int err;

		out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		err = wire_block_decode(1, (uint32_t)n, out.data, out.len, back, NULL);
		EXPECT(!err || err == -EBADMSG || err == -EPROTO);
		out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	EXPECT_INT(wire_block_decode(1, (uint32_t)n, out.data, out.len, back, NULL), 0);
	EXPECT_MEM(back, ev, n * sizeof(*ev));
	wire_buf_fini(&out);
}

/* A section of a later version: one above 127 is passed over, one below is refused. */
static void test_later(void)
{
	static const uint8_t optional[] = { 200, 3, 0, 0, 0, 1, 2, 3 };
	static const uint8_t needed[] = { 100, 3, 0, 0, 0, 1, 2, 3 };
	struct t_job j = t_job_begin(5, 1);
	struct wire_buf out = { 0 };
	size_t n = 10, len, i;

	for (i = 0; i < n; i++)
		ev[i] = t_job_op(&j);
	EXPECT_INT(wire_block_encode(1, ev, n, &out), 0);
	len = out.len;
	wire_buf_append(&out, optional, sizeof(optional));
	EXPECT_INT(wire_block_decode(1, (uint32_t)n, out.data, out.len, back, NULL), 0);
	EXPECT_MEM(back, ev, n * sizeof(*ev));
	out.len = len;
	wire_buf_append(&out, needed, sizeof(needed));
	EXPECT_INT(wire_block_decode(1, (uint32_t)n, out.data, out.len, back, NULL), -EPROTO);
	wire_buf_fini(&out);
}

int main(void)
{
	return RUN(test_wild, test_tame, test_constant, test_order, test_refused, test_cut,
		   test_flip, test_later);
}
