/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block heads: busy time against a slow way to count it, bytes there and back, hostile bytes.
 */
#include "harness.h"

#include <errno.h>
#include "events.h"
#include "wire/block.h"

#define SPAN 70000

/* Marks every nanosecond. */
static uint64_t slow_busy(const struct wire_event *ev, size_t n, uint32_t device)
{
	static uint8_t mark[SPAN];
	uint64_t sum = 0;
	int64_t t;
	size_t i;

	memset(mark, 0, sizeof(mark));
	for (i = 0; i < n; i++)
		for (t = ev[i].start_ns; ev[i].device == device && t < ev[i].end_ns; t++)
			mark[t] = 1;
	for (i = 0; i < SPAN; i++)
		sum += mark[i];
	return sum;
}

static void check(const struct wire_event *ev, size_t n)
{
	struct wire_block_head h;
	uint32_t i, ops = 0;

	EXPECT_INT(wire_block_head_of(&h, ev, n), 0);
	for (i = 0; i < h.devices; i++) {
		EXPECT_UINT(h.device[i].busy_ns, slow_busy(ev, n, h.device[i].device));
		ops += h.device[i].ops;
	}
	EXPECT_UINT(ops, n);
}

/* Sorted, nearly sorted, several sorted runs, no order at all; short and long ops. */
static void test_busy(void)
{
	static struct wire_event ev[1200];
	uint64_t rnd = t_seed(21);
	int round;
	size_t i;

	for (round = 0; round < 600; round++) {
		size_t n = 1 + t_random(&rnd) % 1200, disorder = t_random(&rnd) % 4;
		uint64_t longest = 1 + t_random(&rnd) % (round % 7 ? 6 : 900);
		uint64_t jitter = disorder == 1 ? 40 : 1;

		memset(ev, 0, sizeof(ev));
		for (i = 0; i < n; i++) {
			uint64_t at = disorder == 3   ? t_random(&rnd) % 3000
				      : disorder == 2 ? i % (n / 3 + 1) * 3000 / (n / 3 + 1)
						      : i * 3000 / n;

			ev[i].kind = WIRE_KIND_OP;
			ev[i].device = (uint32_t)t_random(&rnd) % 3 * 5;
			ev[i].start_ns = (int64_t)(at + t_random(&rnd) % jitter);
			ev[i].end_ns = ev[i].start_ns + (int64_t)(t_random(&rnd) % longest);
		}
		check(ev, n);
	}
}

/* So many ops that the oldest are closed, while some reach far back. */
static void test_busy_long(void)
{
	static struct wire_event ev[6000];
	uint64_t rnd = t_seed(22);
	int round;
	size_t i;

	for (round = 0; round < 60; round++) {
		size_t n = 3000 + t_random(&rnd) % 3000;
		uint64_t far = 1 + t_random(&rnd) % 60000;

		memset(ev, 0, sizeof(ev));
		for (i = 0; i < n; i++) {
			uint64_t at = 10 + i * 10, back = t_random(&rnd) % 200 ? 12 : far;

			ev[i].kind = WIRE_KIND_OP;
			back = back < at ? back : at;
			ev[i].start_ns = (int64_t)(at - t_random(&rnd) % (back + 1));
			ev[i].end_ns = t_random(&rnd) % 500 ? ev[i].start_ns + 4 : (int64_t)at;
		}
		check(ev, n);
	}
}

static void test_fields(void)
{
	struct wire_event ev[3] = {
		{ .kind = 1, .start_ns = 50, .end_ns = 40, .name = 9 },
		{ .kind = 1, .start_ns = INT64_MIN, .end_ns = INT64_MAX, .device = 3, .name = 4 },
		{ .kind = 1, .start_ns = 60, .end_ns = 70 },
	};
	struct wire_block_head h, back;
	struct wire_buf b = { 0 };

	EXPECT_INT(wire_block_head_of(&h, ev, 3), 0);
	EXPECT_UINT(h.count, 3);
	EXPECT_INT(h.t0_ns, INT64_MIN);
	EXPECT_INT(h.t1_ns, INT64_MAX);
	EXPECT_INT(h.last_start_ns, 60);
	EXPECT_UINT(h.string_max, 9);
	EXPECT_UINT(h.devices, 2);
	EXPECT_UINT(h.device[0].ops, 2);
	EXPECT_UINT(h.device[0].busy_ns, 10);
	EXPECT_UINT(h.device[1].busy_ns, UINT64_MAX);
	EXPECT_INT(wire_block_head_lost(&h, 3, 8), 0);
	EXPECT_INT(wire_block_head_lost(&h, 7, 9), 0);
	EXPECT_INT(wire_block_head_lost(&h, 8, 0), 0);
	EXPECT_UINT(h.devices, 3);
	EXPECT_INT(wire_block_head_put(&h, &b), 0);
	EXPECT_UINT(b.len, 40 + 3 * 24);
	EXPECT_INT(wire_block_head_get(&back, b.data, b.len), 0);
	EXPECT_MEM(&back, &h, offsetof(struct wire_block_head, device[3]));
	EXPECT_UINT(back.device[2].lost, 9);
	wire_buf_fini(&b);
}

static void test_refused(void)
{
	struct wire_event ev[WIRE_BLOCK_DEVICES_MAX + 1] = { 0 };
	struct wire_block_head h;
	size_t i;

	for (i = 0; i <= WIRE_BLOCK_DEVICES_MAX; i++)
		ev[i] = (struct wire_event){ .kind = 1, .device = (uint32_t)i, .end_ns = 5 };
	EXPECT_INT(wire_block_head_of(&h, ev, WIRE_BLOCK_DEVICES_MAX), 0);
	EXPECT_INT(wire_block_head_of(&h, ev, WIRE_BLOCK_DEVICES_MAX + 1), -E2BIG);
	EXPECT_INT(wire_block_head_of(&h, ev, 0), -EINVAL);
	ev[1].kind = 2;
	EXPECT_INT(wire_block_head_of(&h, ev, 2), -EINVAL);
}

/* Cut and changed heads are refused or give something; later versions, which append, are read. */
static void test_hostile(void)
{
	struct wire_event ev[2] = { { .kind = 1, .end_ns = 5 }, { .kind = 1, .device = 1 } };
	struct wire_block_head h, back;
	struct wire_buf b = { 0 };
	uint8_t longer[200] = { 0 };
	size_t len, bit;

	wire_block_head_of(&h, ev, 2);
	wire_block_head_put(&h, &b);
	for (len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len + 1);

		memcpy(exact + 1, b.data, len);
		EXPECT_INT(wire_block_head_get(&back, exact + 1, len), -EBADMSG);
		free(exact);
	}
	for (bit = 0; bit < b.len * 8; bit++) {
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		wire_block_head_get(&back, b.data, b.len);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	memcpy(longer, b.data, 40);
	longer[37] = 32; /* bytes of a device entry */
	longer[38] = 56; /* bytes before the entries */
	memcpy(longer + 56, b.data + 40, 24);
	memcpy(longer + 88, b.data + 64, 24);
	EXPECT_INT(wire_block_head_get(&back, longer, 120), 0);
	EXPECT_MEM(&back, &h, offsetof(struct wire_block_head, device[2]));
	wire_buf_fini(&b);
}

int main(void)
{
	return RUN(test_busy, test_busy_long, test_fields, test_refused, test_hostile);
}
