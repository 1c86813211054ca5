/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of descriptors of a thread's own: the program's is as it was, and nothing of it is held,
 * whichever way of leaving it the kernel allows.
 */
#include "core/ownfds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "harness.h"

#define NR_CLOSE_RANGE 436
#define HIGH 700

static int refused[2]; /* system calls that answer EPERM; 0: none */

static int end[2]; /* of a pipe */
static pthread_barrier_t step;
static int result;
static bool apart, nowhere;

/* From here on, for this thread alone. */
static bool refuse(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[0], 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[1], 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *leaver(void *unused)
{
	int fd;

	if (refused[0] && !refuse())
		result = -ENOTSUP;
	else
		result = prof_ownfds_leave();
	apart = prof_ownfds();
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	nowhere = fcntl(end[1], F_GETFD) < 0 && fcntl(HIGH, F_GETFD) < 0 && write(2, "", 1) < 0;
	close(fd);
	pthread_barrier_wait(&step); /* it has left ... */
	pthread_barrier_wait(&step); /* ... and lives on */
	return unused;
}

static bool ended(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLHUP;
}

/* The program's descriptors are still there, and a pipe ends when the program closes it. */
static void leave(int want)
{
	pthread_t t;

	REQUIRE(!pipe(end) && dup2(end[1], HIGH) == HIGH);
	pthread_barrier_init(&step, NULL, 2);
	REQUIRE(!pthread_create(&t, NULL, leaver, NULL));
	pthread_barrier_wait(&step);
	EXPECT_INT(result, want);
	EXPECT_INT(apart, !want);
	EXPECT(!want == nowhere);
	EXPECT(fcntl(end[0], F_GETFD) >= 0 && fcntl(end[1], F_GETFD) >= 0);
	EXPECT(fcntl(HIGH, F_GETFD) >= 0);
	EXPECT(!ended(end[0]));
	close(end[1]);
	close(HIGH);
	EXPECT(ended(end[0]));
	close(end[0]);
	pthread_barrier_wait(&step);
	pthread_join(t, NULL);
	EXPECT(!prof_ownfds());
}

static void in_child(void (*play)(void))
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		play();
		fflush(stdout);
		_exit(t_failures != 0);
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT_INT(status, 0);
}

static void play_new(void)
{
	leave(0);
}

/* Linux before 5.9, as far as the thread can tell. */
static void play_old(void)
{
	refused[0] = refused[1] = NR_CLOSE_RANGE;
	leave(0);
}

/* And without /proc: its folder cannot be listed. */
static void play_blind(void)
{
	refused[0] = NR_CLOSE_RANGE;
	refused[1] = SYS_getdents64;
	leave(0);
}

static void play_refused(void)
{
	refused[0] = NR_CLOSE_RANGE;
	refused[1] = SYS_unshare;
	leave(-EPERM);
}

static void test_ways(void)
{
	in_child(play_new);
	in_child(play_old);
	in_child(play_blind);
	in_child(play_refused);
}

int main(void)
{
	return RUN(test_ways);
}
