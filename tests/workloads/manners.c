/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manners.c - programs with habits that an injected library must survive, each using the GPU on
 * the way. What they print and write depends on nothing but their arguments.
 * usage: manners WHAT [CHECKPOINT]
 *   plain            twenty kernels, then exit
 *   fork-first       forks before the driver is there; the child uses the GPU
 *   fork-after       forks after; the child finds the driver unusable, the parent goes on
 *   close-all        closes every descriptor but stdio, then writes its checkpoint
 *   exec-self        uses the GPU, execs itself, uses it again
 *   hard-exit        _exit(7) with work queued
 *   abort            abort() with work queued
 *   threads          four threads launch at once
 *   endless          launches until it is killed; says "running" once it does
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudrv.h"

#define KERNELS 20

static void *kernel, *stream;

static void start(void)
{
	cudrv_init();
	cudrv_device(0);
	kernel = cudrv_kernel("manners_kernel");
	CU(StreamCreate(&stream, 1));
}

static void work(int n)
{
	int i;

	for (i = 0; i < n; i++)
		cudrv_launch(kernel, 200000, stream);
	CU(StreamSynchronize(stream));
}

static int plain(const char *file)
{
	(void)file;
	start();
	work(KERNELS);
	puts("done");
	return 0;
}

static int fork_first(const char *file)
{
	int status;
	pid_t child = fork();

	(void)file;
	if (!child) {
		start();
		work(KERNELS);
		exit(3);
	}
	waitpid(child, &status, 0);
	printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

static int fork_after(const char *file)
{
	void *p;
	int status;
	pid_t child;

	(void)file;
	start();
	work(KERNELS);
	child = fork();
	if (!child)
		_exit(cu.StreamCreate(&p, 1) ? 4 : 0);
	waitpid(child, &status, 0);
	work(KERNELS);
	printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

/* The checkpoint's bytes must be its own, whatever descriptor number it gets. */
static int close_all(const char *file)
{
	FILE *f;
	int i;

	start();
	work(KERNELS);
	for (i = 3; i < 1024; i++)
		close(i);
	f = fopen(file ? file : "checkpoint.bin", "w");
	if (!f)
		return 5;
	for (i = 0; i < 200; i++) {
		fprintf(f, "weights %d\n", i);
		fflush(f);
		work(2);
		usleep(10000);
	}
	return fclose(f) ? 6 : 0;
}

static int exec_self(const char *file)
{
	(void)file;
	start();
	work(KERNELS);
	usleep(1200000);
	execl("/proc/self/exe", "manners", "plain", (char *)NULL);
	return 8;
}

__attribute__((noreturn)) static int hard_exit(const char *file)
{
	(void)file;
	start();
	work(KERNELS);
	usleep(1200000);
	cudrv_launch(kernel, 50000000, stream);
	_exit(7);
}

__attribute__((noreturn)) static int do_abort(const char *file)
{
	(void)file;
	start();
	work(KERNELS);
	usleep(1200000);
	cudrv_launch(kernel, 50000000, stream);
	abort();
}

static void *thread(void *ctx)
{
	void *own;
	int i;

	CU(CtxSetCurrent(ctx));
	CU(StreamCreate(&own, 1));
	for (i = 0; i < 500; i++)
		cudrv_launch(kernel, 5000, own);
	CU(StreamSynchronize(own));
	return NULL;
}

static int threads(const char *file)
{
	pthread_t t[4];
	void *ctx;
	int i;

	(void)file;
	start();
	ctx = cudrv_device(0);
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, ctx);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	puts("done");
	return 0;
}

__attribute__((noreturn)) static int endless(const char *file)
{
	(void)file;
	start();
	puts("running");
	fflush(stdout);
	for (;;) {
		work(5);
		usleep(1000);
	}
}

static const struct {
	const char *name;
	int (*fn)(const char *file);
} habits[] = {
	{ "plain", plain },	    { "fork-first", fork_first }, { "fork-after", fork_after },
	{ "close-all", close_all }, { "exec-self", exec_self },	  { "hard-exit", hard_exit },
	{ "abort", do_abort },	    { "threads", threads },	  { "endless", endless },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof habits / sizeof habits[0]; i++)
		if (!strcmp(argv[1], habits[i].name))
			return habits[i].fn(argc > 2 ? argv[2] : NULL);
	fprintf(stderr, "usage: manners WHAT [CHECKPOINT]\n");
	return 2;
}
