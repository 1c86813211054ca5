/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lowfd.c - a program that counts on its descriptors' numbers, as shells and daemons do, while its
 * GPU makes many records: what it closes it opens again under the same number, pipes end where
 * their writers close them, and descriptors that come in a message are the lowest that are free.
 * usage: lowfd SECONDS. Says how many numbers were wrong (open, pipe, end of a pipe, message), and
 * how many rounds there were. Before that it works for a while: libraries are loaded then, NVML is
 * asked. It has an open() of its own, in which spool files take their time: they stay among the
 * descriptors of whoever opens them for long enough to be met on any machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"

#define WARM 1.2 /* seconds */
#define SLOW_US 20000
#define PAUSE_US 2000 /* in which the program does other things */
#define KEPT 100 /* where stdout is meanwhile */

static atomic_bool done;
static atomic_ulong rounds;
static unsigned long wrong_open, wrong_pipe, wrong_end, wrong_message;

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	va_list arguments;
	int fd;

	va_start(arguments, flags);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags,
			  flags & O_CREAT ? va_arg(arguments, unsigned int) : 0);
	va_end(arguments);
	if (strstr(path, ".spool"))
		usleep(SLOW_US);
	return fd;
}

static void open_again(void)
{
	int fd;

	close(1);
	usleep(PAUSE_US);
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	wrong_open += fd != 1;
	if (fd > 2)
		close(fd);
}

/* Descriptors 0 and 1 are free: a pipe gets both, and ends with its only writer. */
static void make_pipe(void)
{
	struct pollfd end = { .events = POLLIN };
	int p[2];

	close(0);
	close(1);
	usleep(PAUSE_US);
	if (pipe(p))
		abort();
	wrong_pipe += p[0] != 0 || p[1] != 1;
	close(p[1]);
	end.fd = p[0];
	wrong_end += poll(&end, 1, 2000) != 1 || !(end.revents & POLLHUP);
	close(p[0]);
}

static void send_one(int to, int what)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &what, sizeof(what));
	if (sendmsg(to, &m, 0) != 1)
		abort();
}

static int take_one(int from)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	int fd;

	if (recvmsg(from, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		abort();
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void pass_on(const int pair[2])
{
	int fd;

	close(1);
	usleep(PAUSE_US);
	send_one(pair[0], KEPT);
	fd = take_one(pair[1]);
	wrong_message += fd != 1;
	close(fd);
}

static void *play(void *arg)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	for (; !atomic_load(&done); rounds++) {
		open_again();
		pass_on(pair);
		if (rounds % 8)
			continue;
		make_pipe();
		if (open("/dev/null", O_RDONLY) || open("/dev/null", O_WRONLY) != 1)
			wrong_open++;
	}
	return arg;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double begin = seconds() + WARM, end = begin + (argc > 1 ? atof(argv[1]) : 1);
	bool playing = false;
	void *kernel, *stream;
	pthread_t player;
	int i;

	cudrv_init();
	cudrv_device(0);
	kernel = cudrv_kernel("lowfd_kernel");
	CU(StreamCreate(&stream, 1));
	dup2(1, KEPT);
	while (seconds() < end || !atomic_load(&rounds)) { /* a busy machine begins late */
		if (!playing && seconds() >= begin) {
			if (pthread_create(&player, NULL, play, NULL))
				return 2;
			playing = true;
		}
		for (i = 0; i < 200; i++)
			cudrv_launch(kernel, 500, stream);
		CU(StreamSynchronize(stream));
		if (!playing)
			usleep(5000);
	}
	atomic_store(&done, true);
	pthread_join(player, NULL);
	dup2(KEPT, 1);
	printf("%lu %lu %lu %lu of %lu\n", wrong_open, wrong_pipe, wrong_end, wrong_message,
	       atomic_load(&rounds));
	return atomic_load(&rounds) ? 0 : 3;
}
