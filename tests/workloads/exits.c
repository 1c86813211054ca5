/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.c - ways to end without exit(), each after fifty milliseconds of a GPU's work that has
 * ended. usage: exits WAY STATUS. Prints the time (monotonic ns) before it ends.
 *   plain, capital   _exit, _Exit
 *   quick            quick_exit
 *   raw              the system call
 *   handler          _exit in a signal handler that interrupts malloc and free
 *   twice            _exit in two threads at once, with the same status
 *   late             _exit in one thread, and some milliseconds later exit(1) in the first
 *   waiting          _exit while another thread is in exit(), whose handlers wait for it
 *   vforks           a hundred vfork children that end with _exit(5), then exit
 *   spawns           posix_spawn of programs that are there and that are not, then exit
 *   namespace        children that share our memory and, in a namespace of theirs, maybe our pid; then exit
 *   child            a forked child ends with _exit(5), then exit
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"

static int status;
static pthread_barrier_t both;

static void say_time(void)
{
	struct timespec t;
	char text[32];
	int n;

	clock_gettime(CLOCK_MONOTONIC, &t);
	n = snprintf(text, sizeof(text), "%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
	if (write(1, text, (size_t)n) != n)
		abort();
}

static void on_alarm(int number)
{
	(void)number;
	_exit(status);
}

static void handler(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 20000 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (;;) /* large blocks: the lock of the heap is held most of the time */
		free(malloc(200000));
}

static void *end_now(void *arg)
{
	pthread_barrier_wait(&both);
	_exit(status);
	return arg;
}

static void twice(void)
{
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&t, NULL, end_now, NULL))
		abort();
	end_now(NULL);
}

static void late(void)
{
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&t, NULL, end_now, NULL))
		abort();
	pthread_barrier_wait(&both);
	usleep(5000);
	exit(1);
}

static void hold_exit(void)
{
	pthread_barrier_wait(&both);
	pause();
}

static void waiting(void)
{
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	if (atexit(hold_exit) || pthread_create(&t, NULL, end_now, NULL))
		abort();
	exit(1);
}

static void expect(pid_t child, int want)
{
	int got = 0;

	if (waitpid(child, &got, 0) != child || !WIFEXITED(got) || WEXITSTATUS(got) != want) {
		printf("child ended with %x\n", got);
		exit(99);
	}
}

static void vforks(void)
{
	pid_t child;
	int i;

	for (i = 0; i < 100; i++) {
		child = vfork();
		if (!child)
			_exit(5);
		expect(child, 5);
	}
}

static void spawns(void)
{
	char *argv[] = { (char *)"true", NULL };
	pid_t child;
	int i;

	for (i = 0; i < 15; i++) {
		if (!posix_spawn(&child, "/no/such/program", NULL, NULL, argv, environ))
			expect(child, 127);
		if (!posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ))
			expect(child, 0);
	}
}

static int in_namespace(void *arg)
{
	_exit(*(int *)arg);
}

/* Where that is not allowed there is nothing to be seen. */
static void namespaces(void)
{
	static _Alignas(16) char stack[65536];
	int i, want = 5;
	pid_t child;

	for (i = 0; i < 20; i++) {
		child = clone(in_namespace, stack + sizeof(stack),
			      CLONE_VM | CLONE_VFORK | CLONE_NEWPID | SIGCHLD, &want);
		if (child > 0)
			expect(child, want);
	}
}

static void in_child(void)
{
	pid_t child = fork();

	if (!child)
		_exit(5);
	expect(child, 5);
}

static void end(const char *way)
{
	if (!strcmp(way, "plain"))
		_exit(status);
	if (!strcmp(way, "capital"))
		_Exit(status);
	if (!strcmp(way, "quick"))
		quick_exit(status);
	if (!strcmp(way, "raw"))
		syscall(SYS_exit_group, status);
	if (!strcmp(way, "handler"))
		handler();
	if (!strcmp(way, "twice"))
		twice();
	if (!strcmp(way, "late"))
		late();
	if (!strcmp(way, "waiting"))
		waiting();
	if (!strcmp(way, "vforks"))
		vforks();
	if (!strcmp(way, "spawns"))
		spawns();
	if (!strcmp(way, "namespace"))
		namespaces();
	if (!strcmp(way, "child"))
		in_child();
}

int main(int argc, char **argv)
{
	void *kernel, *stream;
	int i;

	if (argc != 3)
		return 98;
	status = atoi(argv[2]);
	cudrv_init();
	cudrv_device(0);
	kernel = cudrv_kernel("exits_kernel");
	CU(StreamCreate(&stream, 1));
	for (i = 0; i < 100; i++)
		cudrv_launch(kernel, 500000, stream);
	CU(StreamSynchronize(stream));
	usleep(120000); /* the simulator writes its truth meanwhile */
	say_time();
	end(argv[1]);
	return status;
}
