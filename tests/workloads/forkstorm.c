/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forkstorm.c - many threads start children while the GPU is used for the first time, CUPTI is lent
 * and taken back, and threads block.
 * usage: forkstorm storm THREADS CHILDREN SECONDS KINDS [EARLY_MS]
 *            KINDS: letters of f (fork, then the loader), n (fork, then NVML), e (fork, exec),
 *            v (vfork, exec), s (posix_spawn). Each child ends with a status of its own, which is
 *            looked at. Ends after so many children or seconds, and prints one line of JSON. The
 *            driver is first called EARLY_MS after the storm began.
 *        forkstorm until FILE WORD
 *            uses the GPU until FILE has WORD in it, then exits
 *        forkstorm status N
 *            exits with N
 */
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"

#define ALARM_S 20 /* a child that has not ended by then hangs */
#define THREADS_MAX 64

extern char **environ;

static struct {
	atomic_uint started, ended, lends;
	atomic_uint status[256], killed, hung, failed;
	_Atomic int64_t longest_ns;
	atomic_bool stop;
	unsigned int children;
	int64_t until_ns;
	const char *kinds;
} storm;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void nap(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/*
 * ---- children ---------------------------------------------------------------------------------
 */

/* What children do that do not exec: load what is there already, and what is not, and allocate. */
static void load(int status)
{
	alarm(ALARM_S);
	free(malloc(100000));
	_exit(dlopen("libm.so.6", RTLD_NOW) && dlopen("libz.so.1", RTLD_NOW) ? status : 126);
}

static void use_nvml(int status)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	int (*init)(void) = NULL;
	int (*count)(unsigned int *) = NULL;
	unsigned int n;

	alarm(ALARM_S);
	if (lib) {
		*(void **)&init = dlsym(lib, "nvmlInit_v2");
		*(void **)&count = dlsym(lib, "nvmlDeviceGetCount_v2");
	}
	_exit(lib && !init() && !count(&n) ? status : 125);
}

/* Volatile: a child of vfork shares this frame, and compilers warn of what it could clobber. */
static pid_t start(char kind, volatile int status)
{
	char text[8], name[] = "forkstorm", what[] = "status";
	char *argv[] = { name, what, text, NULL };
	pid_t pid = -1;

	snprintf(text, sizeof(text), "%d", status);
	if (kind == 's')
		return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) ? -1 : pid;
	pid = kind == 'v' ? vfork() : fork();
	if (pid)
		return pid;
	if (kind == 'f')
		load(status);
	if (kind == 'n')
		use_nvml(status);
	execv("/proc/self/exe", argv);
	_exit(124);
}

static void count(int status, int wanted)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == wanted)
		return;
	if (WIFEXITED(status))
		atomic_fetch_add(&storm.status[WEXITSTATUS(status)], 1);
	else if (WTERMSIG(status) == SIGALRM)
		atomic_fetch_add(&storm.hung, 1);
	else
		atomic_fetch_add(&storm.killed, 1);
}

static bool goes_on(unsigned int started)
{
	return started < storm.children && now_ns() < storm.until_ns;
}

static void *start_children(void *arg)
{
	unsigned int n = 0, seed = (unsigned int)(uintptr_t)arg;
	size_t kinds = strlen(storm.kinds);

	while (goes_on(n = atomic_fetch_add(&storm.started, 1))) {
		int status, wanted = (int)(n % 100);
		int64_t begin = now_ns(), took, longest;
		pid_t pid = start(storm.kinds[(n + seed) % kinds], wanted);

		took = now_ns() - begin;
		longest = atomic_load(&storm.longest_ns);
		while (took > longest &&
		       !atomic_compare_exchange_weak(&storm.longest_ns, &longest, took))
			;
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			atomic_fetch_add(&storm.failed, 1);
		else
			count(status, wanted);
		atomic_fetch_add(&storm.ended, 1);
	}
	return NULL;
}

/*
 * ---- what goes on meanwhile -------------------------------------------------------------------
 */

static void *kernel, *stream;

static void begin(void)
{
	cudrv_init();
	cudrv_device(0);
	kernel = cudrv_kernel("storm_kernel");
	CU(StreamCreate(&stream, 1));
}

static void work(void)
{
	cudrv_launch(kernel, 200000, stream);
	CU(StreamSynchronize(stream));
	nap(2);
}

static void *lend(void *unused)
{
	void (*out)(const char *), (*back)(uint32_t);

	*(void **)&out = dlsym(RTLD_DEFAULT, "gpustarve_lend");
	*(void **)&back = dlsym(RTLD_DEFAULT, "gpustarve_lent");
	while (out && back && !atomic_load(&storm.stop)) {
		nap(100);
		out("torch.profiler");
		nap(20);
		back(0);
		atomic_fetch_add(&storm.lends, 1);
	}
	return unused;
}

/*
 * ---- all of it --------------------------------------------------------------------------------
 */

static void print(void)
{
	const char *comma = "";
	size_t i;

	printf("{\"children\": %u, \"wrong\": {", atomic_load(&storm.ended));
	for (i = 0; i < 256; i++)
		if (atomic_load(&storm.status[i])) {
			printf("%s\"%zu\": %u", comma, i, atomic_load(&storm.status[i]));
			comma = ", ";
		}
	printf("}, \"killed\": %u, \"hung\": %u, \"failed\": %u, \"longest_fork_ms\": %lld, "
	       "\"lends\": %u}\n",
	       atomic_load(&storm.killed), atomic_load(&storm.hung), atomic_load(&storm.failed),
	       (long long)(atomic_load(&storm.longest_ns) / 1000000), atomic_load(&storm.lends));
	fflush(stdout);
}

static int run_storm(char **argv)
{
	unsigned int threads = (unsigned int)atoi(argv[0]), i;
	pthread_t thread[THREADS_MAX], lender;

	storm.children = (unsigned int)atoi(argv[1]);
	storm.until_ns = now_ns() + atoi(argv[2]) * INT64_C(1000000000);
	storm.kinds = argv[3];
	if (threads > THREADS_MAX)
		return 2;
	/* The program's own loading while it forks would be its own fault. */
	dlopen("libcuda.so.1", RTLD_NOW);
	dlopen("libm.so.6", RTLD_NOW);
	unsetenv("LD_AUDIT");
	for (i = 0; i < threads; i++)
		cudrv_check(pthread_create(&thread[i], NULL, start_children, (void *)(uintptr_t)i),
			    "pthread_create");
	nap(argv[4] ? atoi(argv[4]) : 20);
	begin();
	cudrv_check(pthread_create(&lender, NULL, lend, NULL), "pthread_create");
	while (goes_on(atomic_load(&storm.started)))
		work();
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&storm.stop, true);
	pthread_join(lender, NULL);
	print();
	return 0;
}

static bool has_word(const char *file, const char *word)
{
	FILE *f = fopen(file, "re");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, word);
	if (f)
		fclose(f);
	return found;
}

static int work_until(char **argv)
{
	begin();
	while (!has_word(argv[0], argv[1]))
		work();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "status"))
		return atoi(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "until"))
		return work_until(argv + 2);
	if (argc >= 6 && !strcmp(argv[1], "storm"))
		return run_storm(argv + 2);
	fprintf(stderr, "usage: forkstorm storm THREADS CHILDREN SECONDS KINDS [EARLY_MS]\n"
			"       forkstorm until FILE WORD\n       forkstorm status N\n");
	return 2;
}
