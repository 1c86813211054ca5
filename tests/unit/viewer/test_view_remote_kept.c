/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of objects: the right bytes from any number of threads, each piece asked for once while
 * there is room, the next ones ahead of who reads, errors not kept, no more memory than pieces.
 */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "trace/remote_kept.h"

#define PIECE 64u
#define SIZE 1000u /* of an object: 16 pieces, the last one of 40 bytes */
#define PIECES 16u
#define OBJECTS 4u

static atomic_uint asked[OBJECTS][PIECES + 1], asking, most;
static atomic_int broken; /* so many calls fail first */

static uint8_t byte_at(size_t object, uint64_t at)
{
	return (uint8_t)(at * 7 + object * 31);
}

static ssize_t ask(void *own, size_t object, void *to, size_t len, uint64_t at)
{
	unsigned int now = atomic_fetch_add(&asking, 1) + 1, seen = atomic_load(&most);
	size_t i;

	(void)own;
	while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
		;
	atomic_fetch_add(&asked[object][at / PIECE], 1);
	usleep(200);
	for (i = 0; i < len && at + i < SIZE; i++)
		((uint8_t *)to)[i] = byte_at(object, at + i);
	atomic_fetch_sub(&asking, 1);
	return atomic_fetch_sub(&broken, 1) > 0 ? -EIO : (ssize_t)i;
}

static void reset(void)
{
	memset(asked, 0, sizeof(asked));
	atomic_store(&most, 0);
	atomic_store(&broken, 0);
}

/* Whether these bytes came, as they lie there. */
static bool reads(struct view_kept *k, size_t object, uint64_t at, size_t len)
{
	size_t want = at >= SIZE ? 0 : len < SIZE - at ? len : (size_t)(SIZE - at), i;
	uint8_t got[SIZE + 100];

	if (view_kept_read(k, object, SIZE, got, len, at) != (ssize_t)want)
		return false;
	for (i = 0; i < want; i++)
		if (got[i] != byte_at(object, at + i))
			return false;
	return true;
}

static unsigned int asked_of(size_t object)
{
	unsigned int sum = 0;

	for (size_t i = 0; i <= PIECES; i++)
		sum += atomic_load(&asked[object][i]);
	return sum;
}

static void test_any_part(void)
{
	struct view_kept *k = view_kept_new(ask, NULL, PIECES, PIECE);

	reset();
	for (uint64_t at = 0; at < SIZE + 70; at += 13)
		for (size_t len = 0; len < 200; len += 37)
			EXPECT(reads(k, 0, at, len));
	EXPECT(reads(k, 0, 0, SIZE + 50));
	view_kept_free(k);
	for (size_t i = 0; i < PIECES; i++)
		EXPECT_UINT(atomic_load(&asked[0][i]), 1);
	EXPECT_UINT(atomic_load(&asked[0][PIECES]), 0);
}

/* The next piece is asked for by itself, and none behind the last. */
static void test_ahead(void)
{
	struct view_kept *k = view_kept_new(ask, NULL, PIECES, PIECE);

	reset();
	EXPECT(reads(k, 1, 5, 1));
	for (int i = 0; i < 2000 && asked_of(1) < 1 + VIEW_KEPT_AHEAD; i++)
		usleep(1000);
	usleep(20000);
	/* it, the next ones, and no more until these are read */
	EXPECT_UINT(asked_of(1), 1 + VIEW_KEPT_AHEAD);
	EXPECT(reads(k, 1, SIZE - 1, 1));
	usleep(20000);
	EXPECT_UINT(asked_of(1), 2 + VIEW_KEPT_AHEAD);
	view_kept_free(k);
}

static void *read_much(void *arg)
{
	struct view_kept *k = arg;
	uint64_t rnd = (uint64_t)pthread_self() | 1;
	unsigned long wrong = 0;

	for (int i = 0; i < 300; i++) {
		uint64_t r = t_random(&rnd);

		wrong += !reads(k, r % OBJECTS, (r >> 8) % (SIZE + 20), (r >> 32) % 150);
	}
	return (void *)wrong;
}

/* Few pieces, many threads: they are taken from each other, and the bytes are right. */
static void test_many_threads(void)
{
	static const size_t rooms[] = { 1, 2, 5, OBJECTS * PIECES };
	pthread_t thread[8];
	void *wrong;

	for (size_t r = 0; r < sizeof(rooms) / sizeof(rooms[0]); r++) {
		struct view_kept *k = view_kept_new(ask, NULL, rooms[r], PIECE);

		reset();
		for (size_t i = 0; i < 8; i++)
			REQUIRE(!pthread_create(&thread[i], NULL, read_much, k));
		for (size_t i = 0; i < 8; i++) {
			pthread_join(thread[i], &wrong);
			EXPECT(!wrong);
		}
		view_kept_free(k);
		EXPECT(atomic_load(&most) <= rooms[r]);
		if (rooms[r] < OBJECTS * PIECES)
			continue;
		for (size_t o = 0; o < OBJECTS; o++)
			EXPECT(asked_of(o) <= PIECES); /* whoever waits for it */
	}
}

static void test_errors_are_not_kept(void)
{
	struct view_kept *k = view_kept_new(ask, NULL, PIECES, PIECE);
	uint8_t got[10];

	reset();
	atomic_store(&broken, 1);
	EXPECT_INT(view_kept_read(k, 2, SIZE, got, sizeof(got), 0), -EIO);
	EXPECT(reads(k, 2, 0, 10));
	view_kept_free(k);
	view_kept_free(NULL);
}

int main(void)
{
	return RUN(test_any_part, test_ahead, test_many_threads, test_errors_are_not_kept);
}
