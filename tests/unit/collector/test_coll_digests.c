/* SPDX-License-Identifier: Apache-2.0 */
/* Whose digest is next, what is remembered of one that failed, how long one may take. */
#include "harness.h"

#include <fcntl.h>
#include <unistd.h>
#include "core/clock.h"
#include "retain/digest_tries.h"
#include "retain/digests.h"

static struct coll_digest_queue queue;

static struct coll_digest *add(const char *team, int run)
{
	char name[32];

	snprintf(name, sizeof(name), "r%d.gst", run);
	return coll_digest_queue_add(&queue, team, name);
}

static bool any(const void *arg, const struct coll_digest *e)
{
	(void)arg;
	(void)e;
	return true;
}

static struct coll_digest *next(void)
{
	return coll_digest_queue_next(&queue, 100, any, NULL);
}

/* The second of two teams has every other turn, however many runs the first one has. */
static void test_turns(void)
{
	struct coll_digest *e;
	int blue = 0;

	for (int i = 0; i < 1000; i++)
		REQUIRE(add("red", i));
	for (int i = 0; i < 5; i++)
		REQUIRE(add("blue", i));
	EXPECT(!add("red", 7)); /* known */
	for (int i = 0; i < 10; i++) {
		e = next();
		REQUIRE(e);
		blue += !strcmp(e->team->name, "blue");
		coll_digest_queue_remove(&queue, e);
	}
	EXPECT_INT(blue, 5);
	EXPECT_UINT(queue.count, 995);
	coll_digest_queue_fini(&queue);
	EXPECT(!queue.first && !queue.count);
}

/* Of one team what has failed least, then what is due longest; not what is running or not due. */
static void test_order(void)
{
	struct coll_digest *a = add("", 1), *b = add("", 2), *c = add("", 3), *d = add("", 4);

	REQUIRE(a && b && c && d);
	a->failures = 1;
	b->due_ns = 20;
	c->due_ns = 10;
	d->due_ns = 101;
	EXPECT(next() == c);
	c->running = true;
	EXPECT(next() == b);
	coll_digest_queue_remove(&queue, b);
	EXPECT(next() == a);
	coll_digest_queue_remove(&queue, a);
	EXPECT(!next());
	coll_digest_queue_fini(&queue);
}

/* A team that fills it makes place for another, but not for itself, and nothing that runs goes. */
static void test_full(void)
{
	struct coll_digest *first = NULL, *e;

	for (int i = 0; i < COLL_DIGESTS_MAX + 100; i++) {
		e = add("red", i);
		EXPECT(!e == (i >= COLL_DIGESTS_MAX));
		if (!first && e) {
			first = e;
			first->due_ns = 1000;
			first->running = true;
		}
	}
	for (int i = 0; i < COLL_DIGESTS_MAX; i++)
		add("blue", i);
	EXPECT_UINT(queue.count, COLL_DIGESTS_MAX);
	EXPECT_UINT(first->team->count, COLL_DIGESTS_MAX / 2);
	EXPECT(!add("red", COLL_DIGESTS_MAX + 200));
	EXPECT(add("green", 1));
	EXPECT_STR(first->run, "r0.gst");
	coll_digest_queue_fini(&queue);
}

static void test_tries(void)
{
	struct coll_digest_tries t = { .attempts = 3, .next_ns = 5000, .error = "no\ttrace" }, got;
	int64_t hour = COLL_DIGEST_PAUSE_MAX_S * COLL_SECOND_NS;
	char dir[200];
	int fd;

	t_tempdir(dir, sizeof(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	REQUIRE(fd >= 0);
	coll_digest_tries_read(&got, fd, 77);
	EXPECT_UINT(got.attempts, 0);
	EXPECT_INT(coll_digest_tries_write(&t, dir, 77), 0);
	coll_digest_tries_read(&got, fd, 77);
	EXPECT_UINT(got.attempts, 3);
	EXPECT_INT(got.next_ns, 5000);
	EXPECT_STR(got.error, "no\ttrace");
	EXPECT(!coll_digest_tries_parked(&got));
	EXPECT_INT(coll_digest_tries_wait_ns(&got, 4000), 1000);
	EXPECT_INT(coll_digest_tries_wait_ns(&got, 5000), 0);
	got.next_ns = INT64_MAX; /* made up, or from before the clock was set back */
	EXPECT_INT(coll_digest_tries_wait_ns(&got, 5000), hour);
	coll_digest_tries_read(&got, fd, 78); /* it has grown */
	EXPECT_UINT(got.attempts, 0);
	t.attempts = COLL_DIGEST_ATTEMPTS;
	EXPECT_INT(coll_digest_tries_write(&t, dir, 77), 0);
	coll_digest_tries_read(&got, fd, 77);
	EXPECT(coll_digest_tries_parked(&got));
	coll_digest_tries_remove(dir);
	coll_digest_tries_read(&got, fd, 77);
	EXPECT(!coll_digest_tries_parked(&got));
	close(fd);
	EXPECT_INT(rmdir(dir), 0);
}

static void test_pauses(void)
{
	for (unsigned int n = 1; n < 100; n++) {
		int64_t most = COLL_DIGEST_PAUSE_MAX_S * COLL_SECOND_NS;
		int64_t ns = coll_digest_pause_ns(n);

		EXPECT(ns >= COLL_DIGEST_PAUSE_MIN_S * COLL_SECOND_NS / 2 && ns <= most);
		EXPECT(n < 10 || ns >= most / 2);
	}
}

static void test_time(void)
{
	EXPECT_INT(coll_digests_time_s(0, 0), 900);
	EXPECT_INT(coll_digests_time_s(COLL_DIGEST_LARGE, 0), 964);
	EXPECT_INT(coll_digests_time_s(56ull << 30, 0), 900 + 14336);
	EXPECT_INT(coll_digests_time_s(0, 1), 1800);
	EXPECT_INT(coll_digests_time_s(0, 7), 3600);
	EXPECT_INT(coll_digests_time_s(UINT64_MAX, 3), 90 * 86400);
}

int main(void)
{
	return RUN(test_turns, test_order, test_full, test_tries, test_pauses, test_time);
}
