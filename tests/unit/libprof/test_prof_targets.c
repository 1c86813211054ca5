/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers are many and looked for seldom: each of them comes to have its Python read, not the first
 * few again and again. Threads that submitted and ended make room.
 */
#include "sample/submitters.h"
#include "sample/targets.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define CHILDREN 11
#define SECOND 1000000000ll

static void test_all_settle(void)
{
	static struct prof_targets c;
	pid_t pid[CHILDREN];
	size_t i, settled = 0;

	REQUIRE(!prof_targets_init(&c));
	for (i = 0; i < CHILDREN; i++) {
		pid[i] = fork();
		REQUIRE(pid[i] >= 0);
		if (!pid[i]) {
			pause();
			_exit(0);
		}
	}
	for (i = 1; i <= 8;
	     i++) /* a child is believed at second sight, and a few are opened each time */
		prof_targets_workers(&c, (int64_t)i * SECOND);
	for (i = 0; i < c.workers; i++)
		settled += c.worker[i].settled_ns > 0;
	EXPECT_INT(c.workers, CHILDREN);
	EXPECT_INT(settled, CHILDREN);
	for (i = 0; i < CHILDREN; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	prof_targets_workers(&c, 9 * SECOND);
	EXPECT_INT(c.workers, 0);
	prof_target_close(c.self);
}

static void *burn(void *end)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (!t.tv_sec && t.tv_nsec < 20000000);
	if (write(*(int *)end, "", 1) == 1)
		pause();
	return NULL;
}

/* As a pool's process does: its main thread waits. */
static pid_t pool(int end)
{
	pid_t pid = fork();
	pthread_t thread;

	REQUIRE(pid >= 0);
	if (pid)
		return pid;
	if (!pthread_create(&thread, NULL, burn, &end))
		pause();
	_exit(0);
}

/* Nobody is known to make what is awaited: the first answer tells who is at work. */
static void test_threads_at_work(void)
{
	static struct prof_targets c;
	static struct prof_thread_sample waits;
	size_t i, works = 0;
	int end[2];
	pid_t pid;
	char byte;

	REQUIRE(!pipe(end));
	pid = pool(end[1]);
	REQUIRE(read(end[0], &byte, 1) == 1);
	REQUIRE(!prof_targets_init(&c));
	waits.s = (struct wire_sample){ .pid = (uint32_t)getpid(),
					.tid = (uint32_t)getpid(),
					.role = WIRE_ROLE_SUBMITTER,
					.state = WIRE_STATE_SLEEPING,
					.wait = WIRE_WAIT_LOCK };
	strcpy(waits.links, "?oaa");
	for (i = 1; i <= 3; i++) /* a child is believed at second sight */
		prof_targets_workers(&c, (int64_t)i * SECOND);
	REQUIRE(c.workers == 1);
	prof_links_await(&c.givers.links, &waits, 4 * SECOND);
	prof_targets_makers(&c, 4 * SECOND);
	for (i = 0; i < PROF_TARGETS_TASKS; i++)
		works += c.worker[0].task[i].works;
	EXPECT_INT(works, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	prof_targets_workers(&c, 9 * SECOND);
	prof_target_close(c.self);
	close(end[0]);
	close(end[1]);
}

static void *submit(void *tid)
{
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	prof_submitters_saw((uint32_t) * (pid_t *)tid);
	return NULL;
}

static void wait_for_end(pid_t tid)
{
	while (!syscall(SYS_tgkill, getpid(), tid, 0))
		usleep(1000);
}

/* As a server has one for each request: more than there are slots. */
static void test_submitters_that_end(void)
{
	static struct prof_targets c;
	pid_t tid = 0;
	size_t i;

	REQUIRE(!prof_targets_init(&c));
	prof_targets_submitters(&c);
	EXPECT(!c.bereft); /* nobody submitted so far */
	for (i = 0; i < 2 * PROF_SUBMITTERS_MAX; i++) {
		pthread_t thread;

		REQUIRE(!pthread_create(&thread, NULL, submit, &tid));
		pthread_join(thread, NULL);
		wait_for_end(tid);
		prof_targets_submitters(&c);
		EXPECT(c.bereft);
		EXPECT_INT(c.submitters, 1);
		EXPECT_INT(c.thread[0].tid, getpid());
	}
	prof_targets_submitters(&c);
	EXPECT(c.bereft); /* as long as nobody else does */
	prof_submitters_saw((uint32_t)getpid());
	prof_targets_submitters(&c);
	EXPECT(!c.bereft);
	EXPECT_INT(c.submitters, 1);
	prof_target_close(c.self);
}

int main(void)
{
	return RUN(test_all_settle, test_threads_at_work, test_submitters_that_end);
}
