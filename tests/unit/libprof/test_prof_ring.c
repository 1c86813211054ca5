/* SPDX-License-Identifier: Apache-2.0 */
/* The ring: order, wrap, refusal when full, and two threads that check every byte. */
#include "core/ring.h"

#include <pthread.h>
#include <sched.h>

#include "harness.h"

#define SIZE 1024u

static _Alignas(8) uint8_t memory[SIZE];

static void test_order(void)
{
	struct prof_ring r;
	uint64_t *p;
	uint32_t bytes, i;

	prof_ring_init(&r, memory, SIZE);
	EXPECT(!prof_ring_peek(&r, &bytes));
	for (i = 0; i < 10; i++) {
		p = prof_ring_reserve(&r, 8);
		REQUIRE(p);
		*p = i;
		prof_ring_commit(&r);
	}
	for (i = 0; i < 10; i++) {
		const uint64_t *q = prof_ring_peek(&r, &bytes);

		REQUIRE(q);
		EXPECT_UINT(*q, i);
		EXPECT_UINT(bytes, 8);
		EXPECT(prof_ring_peek(&r, &bytes) == q); /* peeking does not take */
		prof_ring_release(&r);
	}
	EXPECT(!prof_ring_peek(&r, &bytes));
}

static void test_uncommitted(void)
{
	struct prof_ring r;
	uint32_t bytes;

	prof_ring_init(&r, memory, SIZE);
	REQUIRE(prof_ring_reserve(&r, 100));
	EXPECT(!prof_ring_peek(&r, &bytes));
	REQUIRE(prof_ring_reserve(&r, 20)); /* forgets the first */
	prof_ring_commit(&r);
	REQUIRE(prof_ring_peek(&r, &bytes));
	EXPECT_UINT(bytes, 20);
	prof_ring_release(&r);
	EXPECT(!prof_ring_peek(&r, &bytes));
}

static void test_full(void)
{
	struct prof_ring r;
	uint32_t bytes, n = 0, m = 0;

	prof_ring_init(&r, memory, SIZE);
	EXPECT(!prof_ring_reserve(&r, SIZE)); /* can never fit */
	EXPECT(!prof_ring_reserve(&r, SIZE / 2));
	EXPECT(!prof_ring_half_full(&r));
	while (prof_ring_reserve(&r, 24)) {
		prof_ring_commit(&r);
		n++;
	}
	EXPECT_UINT(n, SIZE / 32);
	EXPECT(prof_ring_half_full(&r));
	for (; prof_ring_peek(&r, &bytes); m++)
		prof_ring_release(&r);
	EXPECT_UINT(m, n);
	EXPECT(!prof_ring_half_full(&r));
	EXPECT(prof_ring_reserve(&r, 24) != NULL);
}

static void fill(uint8_t *p, uint32_t n, uint8_t seed)
{
	while (n--)
		*p++ = seed++;
}

static int is_filled(const uint8_t *p, uint32_t n, uint8_t seed)
{
	while (n--)
		if (*p++ != seed++)
			return 0;
	return 1;
}

/* Every size at every place: wraps, fillers and records of no bytes. */
static void test_sizes(void)
{
	struct prof_ring r;
	uint64_t rand = t_seed(7);
	uint32_t sizes[64], put = 0, got = 0, bytes, i;
	uint8_t *p;

	prof_ring_init(&r, memory, SIZE);
	for (i = 0; i < 200000; i++) {
		if (t_random(&rand) & 1 && put - got < 64) {
			uint32_t n = (uint32_t)(t_random(&rand) % 300);

			p = prof_ring_reserve(&r, n);
			if (p) {
				fill(p, n, (uint8_t)put);
				sizes[put++ % 64] = n;
				prof_ring_commit(&r);
			} else {
				REQUIRE(put != got); /* an empty ring takes these */
			}
		} else if (put != got) {
			const uint8_t *q = prof_ring_peek(&r, &bytes);

			REQUIRE(q);
			REQUIRE(bytes == sizes[got % 64]);
			REQUIRE(is_filled(q, bytes, (uint8_t)got));
			got++;
			prof_ring_release(&r);
		} else {
			REQUIRE(!prof_ring_peek(&r, &bytes));
		}
	}
}

#define RECORDS 400000u

static void *produce(void *arg)
{
	struct prof_ring *r = arg;
	uint32_t i, n;
	uint8_t *p;

	for (i = 0; i < RECORDS; i++) {
		n = 4 + i * 7 % 90;
		while (!(p = prof_ring_reserve(r, n)))
			sched_yield();
		memcpy(p, &i, 4);
		fill(p + 4, n - 4, (uint8_t)i);
		prof_ring_commit(r);
	}
	return NULL;
}

static void test_threads(void)
{
	struct prof_ring r;
	pthread_t t;
	uint32_t i = 0, seen, bytes;
	const uint8_t *p;

	prof_ring_init(&r, memory, SIZE);
	REQUIRE(!pthread_create(&t, NULL, produce, &r));
	while (i < RECORDS) {
		p = prof_ring_peek(&r, &bytes);
		if (!p) {
			sched_yield();
			continue;
		}
		memcpy(&seen, p, 4);
		REQUIRE(seen == i && bytes == 4 + i * 7 % 90);
		REQUIRE(is_filled(p + 4, bytes - 4, (uint8_t)i));
		prof_ring_release(&r);
		i++;
	}
	pthread_join(t, NULL);
	EXPECT(!prof_ring_peek(&r, &bytes));
}

int main(void)
{
	return RUN(test_order, test_uncommitted, test_full, test_sizes, test_threads);
}
