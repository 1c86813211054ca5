/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes of several threads come whole, and forking meanwhile leaves no child waiting.
 */
#include "core/notes.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define THREADS 4
#define EACH 5

static void *write_some(void *arg)
{
	int i;

	for (i = 0; i < EACH; i++) {
		prof_note("%c%0200d", 'a' + (int)(intptr_t)arg, i);
		prof_note("of all, number %d", i % 2);
	}
	return NULL;
}

/* 0: the child could write a note; it has seen no half of one. */
static int in_child(void)
{
	const char *text[PROF_NOTES];
	size_t n, i;

	alarm(10);
	prof_note("by the child");
	n = prof_notes(text);
	for (i = 0; i < n; i++)
		if (!*text[i])
			return 1;
	return n ? 0 : 2;
}

static void test_forks(void)
{
	const char *text[PROF_NOTES];
	pthread_t thread[THREADS];
	size_t n, i, whole = 0, all = 0;
	int status;
	pid_t pid;

	for (i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&thread[i], NULL, write_some, (void *)(intptr_t)i));
	for (i = 0; i < 20; i++) {
		pid = fork();
		REQUIRE(pid >= 0);
		if (!pid)
			_exit(in_child());
		REQUIRE(waitpid(pid, &status, 0) == pid);
		EXPECT_INT(status, 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	n = prof_notes(text);
	for (i = 0; i < n; i++) {
		whole += strlen(text[i]) == 201;
		all += !strncmp(text[i], "of all, number ", 15);
	}
	EXPECT_UINT(whole + all, n);
	EXPECT(all >= 2 && whole >= PROF_NOTES - 2 * THREADS); /* twice at most, at the same time */
}

/* With no room left nothing happens, however often. */
static void test_full(void)
{
	const char *text[PROF_NOTES];
	int i;

	for (i = 0; i < 1000; i++)
		prof_note("one more: %d", i);
	EXPECT_UINT(prof_notes(text), PROF_NOTES);
}

int main(void)
{
	return RUN(test_forks, test_full);
}
