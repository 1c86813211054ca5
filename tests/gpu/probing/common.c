/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.c - time, and children of a part.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534

struct probe probe;

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

int64_t mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

int64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void sleep_until(int64_t mono)
{
	struct timespec t = { mono / SECOND, mono % SECOND };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

void sleep_ns(int64_t ns)
{
	sleep_until(mono_ns() + ns);
}

int64_t left_ns(void)
{
	return probe.end - mono_ns();
}

int64_t scaled(int64_t full)
{
	return probe.quick ? full / 10 : full;
}

pid_t child_begin(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	return 0;
}

bool child_end(pid_t pid, int64_t within)
{
	int64_t end = mono_ns() + within;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (mono_ns() > end) {
			kill(pid, SIGKILL);
			end = mono_ns() + SECOND;
			while (waitpid(pid, &status, WNOHANG) == 0 && mono_ns() < end)
				sleep_ns(MS);
			return false;
		}
		sleep_ns(MS);
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool become_nobody(void)
{
	return !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY);
}

static void play_child(void (*play)(int, void *), void *arg, bool other, int fd)
{
	if (other && !become_nobody())
		_exit(2);
	/* A change of user takes the wish to die with the parent back. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	play(fd, arg);
	_exit(0);
}

/* What comes through fd until it is closed or the time is over. */
static size_t read_all(int fd, int64_t end, char *text, size_t size)
{
	struct pollfd p = { fd, POLLIN, 0 };
	size_t n = 0;

	while (n + 1 < size) {
		int64_t left = end - mono_ns();
		ssize_t k;

		if (left <= 0 || poll(&p, 1, (int)(left / MS) + 1) <= 0)
			break;
		k = read(fd, text + n, size - 1 - n);
		if (k <= 0)
			break;
		n += (size_t)k;
	}
	text[n] = 0;
	return n;
}

int child_text(void (*play)(int, void *), void *arg, bool other, int64_t within, char *text,
	       size_t size)
{
	int64_t end = mono_ns() + within;
	int fds[2];
	bool good;
	pid_t pid;

	text[0] = 0;
	if (other && geteuid()) {
		errno = EPERM;
		return -1;
	}
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = child_begin();
	if (!pid)
		play_child(play, arg, other, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -1;
	}
	read_all(fds[0], end, text, size);
	close(fds[0]);
	good = child_end(pid, end > mono_ns() ? end - mono_ns() : 0);
	errno = ETIMEDOUT;
	return good ? 0 : -1;
}

void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}
