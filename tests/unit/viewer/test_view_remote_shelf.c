/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces in a temporary file: what was put comes back, nothing else does, and neither a full disk
 * nor a folder in memory is an error.
 */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <signal.h>
#include <pthread.h>
#include "trace/remote_shelf.h"

#define BYTES 4096u
#define PIECES 300u

static uint8_t data[BYTES], got[BYTES];

static void fill(size_t piece)
{
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (uint8_t)(piece * 31 + i * 7);
}

static bool has(struct view_shelf *s, size_t piece, size_t len)
{
	fill(piece);
	memset(got, 0, sizeof(got));
	return view_shelf_read(s, piece, got, len) == (ssize_t)len && !memcmp(got, data, len);
}

static void test_what_was_put(void)
{
	struct view_shelf *s = view_shelf_new(PIECES, BYTES);
	size_t i;

	EXPECT(s != NULL);
	for (i = PIECES; i-- > 0;) {
		fill(i);
		view_shelf_put(s, i, data, i == 7 ? 100 : BYTES);
		EXPECT(i == 7 || has(s, i, BYTES));
	}
	for (i = 0; i < PIECES; i++)
		EXPECT(has(s, i, i == 7 ? 100 : BYTES));
	EXPECT_INT(view_shelf_read(s, 7, got, 101), -ENOENT);
	EXPECT(view_shelf_read(s, PIECES, got, 1) < 0);
	view_shelf_put(s, PIECES, data, 1);
	view_shelf_put(s, 8, data, BYTES + 1);
	EXPECT(has(s, 8, BYTES));
	view_shelf_free(s);
}

static void test_nothing_was_put(void)
{
	struct view_shelf *s = view_shelf_new(PIECES, BYTES);

	EXPECT_INT(view_shelf_read(s, 0, got, 1), -ENOENT);
	EXPECT_INT(view_shelf_read(NULL, 0, got, 1), -ENOENT);
	view_shelf_put(NULL, 0, data, 1);
	view_shelf_free(s);
	view_shelf_free(NULL);
}

/* As where the disk is full: files may not be longer than two pieces. */
static void test_no_room(void)
{
	struct rlimit was, few = { 2 * BYTES, 2 * BYTES };
	struct view_shelf *s = view_shelf_new(PIECES, BYTES);
	size_t i, there = 0;

	EXPECT(!getrlimit(RLIMIT_FSIZE, &was));
	few.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	EXPECT(!setrlimit(RLIMIT_FSIZE, &few));
	for (i = 0; i < 5; i++) {
		fill(i);
		view_shelf_put(s, i, data, BYTES);
	}
	EXPECT(!setrlimit(RLIMIT_FSIZE, &was));
	for (i = 0; i < 5; i++)
		there += has(s, i, BYTES);
	EXPECT_UINT(there, 2);
	fill(0);
	view_shelf_put(s, 4, data, BYTES); /* once full it stays as it is */
	EXPECT(view_shelf_read(s, 4, got, BYTES) < 0);
	view_shelf_free(s);
}

static void test_no_file(void)
{
	EXPECT(!setenv("TMPDIR", "/proc/self", 1));
	EXPECT(!view_shelf_new(PIECES, BYTES));
	EXPECT(!setenv("TMPDIR", "/dev/shm", 1)); /* memory */
	EXPECT(!view_shelf_new(PIECES, BYTES));
	EXPECT(!unsetenv("TMPDIR"));
}

struct turn {
	struct view_shelf *s;
	size_t from;
	bool wrong;
};

static void *put_and_read(void *arg)
{
	struct turn *t = arg;
	uint8_t mine[BYTES], back[BYTES];

	for (size_t i = t->from; i < PIECES; i += 4) {
		memset(mine, (int)i, sizeof(mine));
		view_shelf_put(t->s, i, mine, BYTES);
		for (size_t k = 0; k < PIECES; k++) {
			memset(mine, (int)k, sizeof(mine));
			if (view_shelf_read(t->s, k, back, BYTES) >= 0)
				t->wrong |= memcmp(mine, back, BYTES) != 0;
		}
	}
	return NULL;
}

static void test_threads(void)
{
	struct view_shelf *s = view_shelf_new(PIECES, BYTES);
	pthread_t thread[4];
	struct turn turn[4];
	size_t i;

	for (i = 0; i < 4; i++) {
		turn[i] = (struct turn){ s, i, false };
		EXPECT(!pthread_create(&thread[i], NULL, put_and_read, &turn[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		EXPECT(!turn[i].wrong);
	}
	for (i = 0; i < PIECES; i++)
		EXPECT_INT(view_shelf_read(s, i, got, BYTES), BYTES);
	view_shelf_free(s);
}

int main(void)
{
	return RUN(test_what_was_put, test_nothing_was_put, test_no_room, test_no_file,
		   test_threads);
}
