/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on stderr does nothing to the program beside: no signal, whatever stderr is, no signal of
 * the program's own taken away, errno kept.
 */
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/config.h"

#include "harness.h"

static volatile sig_atomic_t caught;

static void catch (int number)
{
	(void)number;
	caught++;
}

static void set_stderr(int fd)
{
	REQUIRE(dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

static void unread_pipe(void)
{
	int fd[2];

	REQUIRE(!pipe(fd));
	close(fd[0]);
	set_stderr(fd[1]);
}

static void full_file(void)
{
	static const struct rlimit none;
	char path[] = "/tmp/gpustarve-test-log-XXXXXX";
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	unlink(path);
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &none));
	set_stderr(fd);
}

/* In a child whose stderr is @make's. Its exit status; a signal is none. */
static int in_child(void (*make)(void), void (*check)(int number), int number)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		make();
		check(number);
		_exit(t_failures ? 1 : 0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool is_pending(int number)
{
	sigset_t set;

	REQUIRE(!sigpending(&set));
	return sigismember(&set, number);
}

static void does_not_end(int number)
{
	signal(number, SIG_DFL);
	errno = 1234;
	prof_debug("a line");
	EXPECT_INT(errno, 1234);
	signal(number, catch);
	prof_debug("another");
	EXPECT_INT(caught, 0);
}

static void leaves_pending_alone(int number)
{
	sigset_t one;

	signal(number, catch);
	sigemptyset(&one);
	sigaddset(&one, number);
	REQUIRE(!sigprocmask(SIG_BLOCK, &one, NULL));
	prof_debug("a line");
	EXPECT(!is_pending(number)); /* the program did not bring that on itself */
	raise(number);
	prof_debug("another");
	EXPECT(is_pending(number));
	REQUIRE(!sigprocmask(SIG_UNBLOCK, &one, NULL));
	EXPECT_INT(caught, 1);
}

static void test_unread_pipe(void)
{
	EXPECT_INT(in_child(unread_pipe, does_not_end, SIGPIPE), 0);
	EXPECT_INT(in_child(unread_pipe, leaves_pending_alone, SIGPIPE), 0);
}

static void test_full_file(void)
{
	EXPECT_INT(in_child(full_file, does_not_end, SIGXFSZ), 0);
	EXPECT_INT(in_child(full_file, leaves_pending_alone, SIGXFSZ), 0);
}

/* A pipe in the place of stderr; how many bytes a line put into it. */
static ssize_t printed(bool remembered)
{
	char line[100];
	int fd[2];

	REQUIRE(!pipe(fd));
	REQUIRE(!fcntl(fd[0], F_SETFL, O_NONBLOCK));
	set_stderr(fd[1]);
	if (remembered)
		prof_log_remember();
	prof_debug("a line");
	return read(fd[0], line, sizeof(line));
}

static void other_file(int unused)
{
	(void)unused;
	EXPECT(printed(true) > 0);
	EXPECT(printed(false) < 0); /* the program's own file stands there now */
	close(STDERR_FILENO);
	prof_debug("a line");
	prof_log_remember(); /* loaded into a program without stderr */
	EXPECT(printed(false) < 0);
}

static void nothing(void)
{
}

static void test_not_stderr(void)
{
	EXPECT_INT(in_child(nothing, other_file, 0), 0);
}

int main(void)
{
	setenv("GPUSTARVE_DEBUG", "1", 1);
	prof_config_read();
	return RUN(test_unread_pipe, test_full_file, test_not_stderr);
}
