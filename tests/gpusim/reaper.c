/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reaper.c - removes a shared segment's file once a process is gone. scripts/with-gpusim starts
 * it beside the command and then becomes the command, which so keeps its pid, its exit status
 * and its signals.
 * usage: gpusim-reaper PID FILE
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_for(int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0) {
		poll(&p, 1, -1);
		return;
	}
	while (!kill(pid, 0))
		sleep(1);
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 3) {
		fprintf(stderr, "usage: gpusim-reaper PID FILE\n");
		return 2;
	}
	setsid();
	for (i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	wait_for(atoi(argv[1]));
	unlink(argv[2]);
	return 0;
}
