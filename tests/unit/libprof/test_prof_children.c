/* SPDX-License-Identifier: Apache-2.0 */
/* Which children are workers: real ones, forked and running on, or running another program. */
#include "sample/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

/* Another program under our own words, that reads what nobody writes. */
static void become_cat(void)
{
	int fd[2];

	if (!pipe(fd) && dup2(fd[0], 0) == 0)
		execlp("cat", program_invocation_name, (char *)NULL);
	_exit(1);
}

/* It stays what it is, or becomes another one; returns when it is that. */
static pid_t start(bool command)
{
	int fd[2];
	char byte;
	pid_t pid;

	REQUIRE(!pipe2(fd, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		if (command)
			become_cat();
		close(fd[1]);
		pause();
		_exit(1);
	}
	close(fd[1]);
	REQUIRE(pid > 0 && !read(fd[0], &byte, 1));
	close(fd[0]);
	return pid;
}

static bool has(const uint32_t *list, size_t n, pid_t pid)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i] == (uint32_t)pid)
			return true;
	return false;
}

/* Of several a pass asks about each for itself; a worker is believed at second sight. */
static void test_sorted(void)
{
	static struct prof_children c;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	pid_t kid[4];
	size_t i;

	for (i = 0; i < 4; i++)
		kid[i] = start(i % 2);
	if (prof_children_read(&c, &tid, 1)) { /* CONFIG_PROC_CHILDREN */
		EXPECT_INT(c.count, 0);
		EXPECT_INT(c.others, 2);
		prof_children_read(&c, &tid, 1);
		EXPECT_INT(c.count, 2);
		EXPECT(has(c.pid, c.count, kid[0]) && has(c.pid, c.count, kid[2]));
		EXPECT(has(c.other, c.others, kid[1]) && has(c.other, c.others, kid[3]));
	}
	for (i = 0; i < 4; i++)
		EXPECT_INT(prof_forked_from_us(kid[i]), i % 2 == 0);
	for (i = 0; i < 4; i++) {
		kill(kid[i], SIGKILL);
		waitpid(kid[i], NULL, 0);
	}
	EXPECT(!prof_forked_from_us(kid[0]));
	prof_children_read(&c, &tid, 1);
	EXPECT_INT(c.count + c.others + c.freshes, 0);
}

/* One that a forked one forked is ours as well, seen from either. */
static void test_grandchild(void)
{
	pid_t pid = fork(), kid;
	int status;

	if (!pid) {
		kid = start(false);
		status = !(prof_forked_from_us(kid) && prof_forked_from_us(getppid()));
		kill(kid, SIGKILL);
		waitpid(kid, NULL, 0);
		_exit(status);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT_INT(status, 0);
}

int main(void)
{
	return RUN(test_sorted, test_grandchild);
}
