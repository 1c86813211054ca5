/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lateenv.c - what becomes of the environment of a program that loads libprof late, or has threads
 * before its main begins. It stands in front of the functions that change an environment and says
 * who else called them, keeps threads at getenv and along environ, and compares all of it at the
 * end. usage: lateenv WORD...
 *   threads   four threads read the environment all the time, from before the first call of CUDA
 *   gpu       twenty kernels
 *   load      opens the library NVTX_INJECTION64_PATH as NVTX would, before CUDA
 *   away      changes to the folder /
 *   fork      a forked child does what the words after this one say, and this process waits
 *   exec      the same by a program of its own
 *   show      GPUSTARVE_* and LD_* of the environment, one a line
 *   check     what was changed since the start, and by whom
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudrv.h"

#define THREADS 4
#define KERNELS 20
#define LINES 1000

extern char **environ;

static char **first, *line[LINES], copy[LINES][4096];
static int lines;
static char called[256];
static atomic_bool stop;

/* ---- in front of the C library ---- */

static void note(const char *what, const char *name)
{
	size_t n = strlen(called);

	snprintf(called + n, sizeof(called) - n, " %s(%s)", what, name);
}

__attribute__((visibility("default"))) int setenv(const char *name, const char *value, int over)
{
	int (*next)(const char *, const char *, int);

	note("setenv", name);
	*(void **)&next = dlsym(RTLD_NEXT, "setenv");
	return next(name, value, over);
}

__attribute__((visibility("default"))) int putenv(char *text)
{
	int (*next)(char *);

	note("putenv", text);
	*(void **)&next = dlsym(RTLD_NEXT, "putenv");
	return next(text);
}

__attribute__((visibility("default"))) int unsetenv(const char *name)
{
	int (*next)(const char *);

	note("unsetenv", name);
	*(void **)&next = dlsym(RTLD_NEXT, "unsetenv");
	return next(name);
}

/* ---- what is compared ---- */

static void remember(void)
{
	first = environ;
	for (lines = 0; environ[lines] && lines < LINES; lines++) {
		line[lines] = environ[lines];
		snprintf(copy[lines], sizeof(copy[0]), "%s", environ[lines]);
	}
}

static void check(void)
{
	int n = 0;

	while (environ[n])
		n++;
	printf("array %s, lines %d", environ == first ? "the same" : "another", n - lines);
	for (int i = 0; i < lines && i < n; i++)
		if (environ[i] != line[i] || strncmp(copy[i], environ[i], sizeof(copy[0]) - 1))
			printf(", changed %s", copy[i]);
	printf(", calls%s\n", called[0] ? called : " none");
	fflush(stdout);
}

/* As a program's own threads do, when they like. */
static void *read_all(void *unused)
{
	size_t sum = 0;

	(void)unused;
	while (!stop) {
		const char *home = getenv("HOME"), *none = getenv("LATEENV_NOT_THERE");

		sum += (home ? strlen(home) : 0) + (none != NULL);
		for (char **at = environ; *at; at++)
			sum += strlen(*at);
	}
	return (void *)sum;
}

static void start_threads(void)
{
	pthread_t t;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, read_all, NULL))
			exit(9);
}

static void show(void)
{
	for (char **at = environ; *at; at++)
		if ((!strncmp(*at, "GPUSTARVE_", 10) && strncmp(*at, "GPUSTARVE_BUILD", 15)) ||
		    !strncmp(*at, "LD_PRELOAD", 10) || strstr(*at, "_INJECTION64_PATH="))
			puts(*at);
	fflush(stdout);
}

static void use_gpu(void)
{
	void *stream, *kernel;

	cudrv_init();
	cudrv_device(0);
	kernel = cudrv_kernel("late_kernel");
	CU(StreamCreate(&stream, 1));
	for (int i = 0; i < KERNELS; i++)
		cudrv_launch(kernel, 200000, stream);
	CU(StreamSynchronize(stream));
}

static const void *no_table(uint32_t id)
{
	(void)id;
	return NULL;
}

static void load(void)
{
	void *library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL);
	int (*begin)(const void *(*)(uint32_t));

	*(void **)&begin = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
	if (!begin || begin(no_table) != 1)
		exit(8);
}

static int wait_for(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 7;
	return WEXITSTATUS(status);
}

static int play(char **word)
{
	for (; *word; word++) {
		if (!strcmp(*word, "threads")) {
			start_threads();
		} else if (!strcmp(*word, "gpu")) {
			use_gpu();
		} else if (!strcmp(*word, "load")) {
			load();
		} else if (!strcmp(*word, "away")) {
			if (chdir("/"))
				return 6;
		} else if (!strcmp(*word, "show")) {
			show();
		} else if (!strcmp(*word, "check")) {
			check();
		} else if (!strcmp(*word, "fork") || !strcmp(*word, "exec")) {
			pid_t child = fork();

			if (!child && **word == 'f')
				exit(play(word + 1));
			if (!child) {
				*word = (char *)"lateenv";
				execv("/proc/self/exe", word);
				_exit(5);
			}
			return wait_for(child);
		} else {
			return 4;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int rc;

	(void)argc;
	remember();
	rc = play(argv + 1);
	stop = true;
	return rc;
}
