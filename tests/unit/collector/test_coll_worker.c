/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that wait beside the loop: in order, each done once, in the loop. */
#include "harness.h"

#include <stdatomic.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/worker.h"

struct task {
	struct coll_job job; /* first */
	int number;
};

static struct coll_worker worker;
static struct coll_loop loop;
static pthread_t loop_thread;
static atomic_int at; /* jobs that have begun to work */
static atomic_bool hold;
static int worked[100], done_of[100], dones;
static struct task again;

static void work(struct coll_job *job)
{
	EXPECT(!pthread_equal(pthread_self(), loop_thread));
	worked[atomic_load(&at)] = ((struct task *)job)->number;
	atomic_fetch_add(&at, 1);
	while (atomic_load(&hold))
		usleep(100);
}

static void done(struct coll_job *job)
{
	EXPECT(pthread_equal(pthread_self(), loop_thread));
	done_of[dones++] = ((struct task *)job)->number;
}

/* Hands over another one. */
static void done_and_more(struct coll_job *job)
{
	done(job);
	coll_worker_hand(&worker, &again.job);
}

static void begin(void)
{
	loop_thread = pthread_self();
	atomic_store(&at, 0);
	dones = 0;
	REQUIRE(!coll_loop_init(&loop));
	REQUIRE(!coll_worker_init(&worker, &loop));
}

static void end(void)
{
	coll_worker_drain(&worker);
	coll_worker_fini(&worker);
	coll_loop_fini(&loop);
}

static void test_order(void)
{
	struct task task[100];
	int i;

	begin();
	atomic_store(&hold, true);
	for (i = 0; i < 100; i++) {
		task[i] = (struct task){ { .work = work, .done = done }, i };
		coll_worker_hand(&worker, &task[i].job);
	}
	EXPECT_INT(coll_loop_turn(&loop, 0), 0); /* the loop waits for nobody */
	EXPECT_INT(dones, 0);
	EXPECT(worker.since_ns && worker.since_ns <= coll_now_ns());
	EXPECT_INT(coll_worker_waits_ns(&worker, worker.since_ns + 5), 5);
	atomic_store(&hold, false);
	while (dones < 100)
		REQUIRE(!coll_loop_turn(&loop, 10000));
	for (i = 0; i < 100; i++) {
		EXPECT_INT(worked[i], i);
		EXPECT_INT(done_of[i], i);
	}
	EXPECT_UINT(worker.out, 0);
	EXPECT_INT(coll_worker_waits_ns(&worker, INT64_MAX), 0);
	end();
}

static void test_drain(void)
{
	struct task first = { { .work = work, .done = done_and_more }, 7 };

	begin();
	again = (struct task){ { .work = work, .done = done }, 8 };
	coll_worker_drain(&worker);
	coll_worker_hand(&worker, &first.job);
	coll_worker_drain(&worker);
	EXPECT_INT(dones, 2);
	EXPECT_INT(done_of[1], 8);
	EXPECT_INT(coll_loop_turn(&loop, 0), 0);
	EXPECT_INT(dones, 2);
	end();
}

/* An end without a job, and of one that never began. */
static void test_none(void)
{
	begin();
	end();
	memset(&worker, 0, sizeof(worker));
	coll_worker_fini(&worker);
}

int main(void)
{
	return RUN(test_order, test_drain, test_none);
}
