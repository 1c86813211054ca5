/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers are many and looked for seldom: each of them comes to have its Python read, not the first
 * few again and again.
 */
#include "sample/targets.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
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

int main(void)
{
	return RUN(test_all_settle);
}
