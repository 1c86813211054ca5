/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.c SECONDS - everybody at once: threads that tell of loaders and lend CUPTI since before
 * libprof arms, threads that launch, threads that live for a few ranges, forks. All of libprof is
 * in this program, so that a sanitizer sees both sides of what they share.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"
#include "cupti/handover.h"
#include "loader/shim.h"
#include "ranges/marks.h"
#include "wire/event.h"

#define LAUNCHING 4
#define LOADING 4
#define MARKING 8 /* at a time; each thread makes some ranges and ends */
#define RANGES 50
#define NAMES 40
#define BYTES 65536

static atomic_bool stop;
static atomic_ulong marked, lent, launched, forked;

static void nap(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

/* What shim.py tells, from threads that are there before the driver is. */
static void *load(void *arg)
{
	uint64_t key = (uint64_t)(uintptr_t)arg, n;
	uint32_t save;
	char note[64];

	for (n = 0; !atomic_load(&stop); n++) {
		gpustarve_opening(key, "enumerate(DataLoader)#crowd");
		gpustarve_opened(key, (uint32_t)key, 1, "num_workers=2");
		gpustarve_take(key, "enumerate(DataLoader)#crowd", !n, (uint32_t)key, n);
		gpustarve_begin(WIRE_BATCH_FETCH, 0);
		nap(100);
		gpustarve_end(WIRE_BATCH_FETCH, (uint32_t)key, n, 0, 8);
		gpustarve_took(key, (uint32_t)key, n, WIRE_TAKE_BATCH);
		save = gpustarve_saving(key, "torch.save\tmodel.pt", 0);
		gpustarve_saved(save, "torch.save\tmodel.pt", PROF_SAVE_WHOLE, 1, 2, 3);
		gpustarve_worker((uint32_t)getpid(), (uint32_t)key, (uint32_t)n % 4, n > 4);
		snprintf(note, sizeof(note), "note %lu of %lu", (unsigned long)n,
			 (unsigned long)key);
		gpustarve_note(note);
	}
	return NULL;
}

static void *lend(void *unused)
{
	gpustarve_lending(PROF_HANDOVER_ABI, "torch.profiler");
	while (!atomic_load(&stop)) {
		gpustarve_lend("torch.profiler");
		nap(20000);
		gpustarve_lent(0);
		atomic_fetch_add(&lent, 1);
		nap(100000);
	}
	return unused;
}

static void *mark(void *arg)
{
	uint64_t domain = (uint64_t)(uintptr_t)arg;
	int i;

	for (i = 0; i < RANGES && prof_marks_on(); i++) {
		prof_mark_push(domain % 3, "a range", 7);
		prof_mark_begin(PROF_SOURCE_ID, domain << 32 | (uint64_t)i, "by id", 5);
		prof_mark_begin(PROF_SOURCE_TORCH, domain, "enumerate(DataLoader)#x", 23);
		prof_mark_end(PROF_SOURCE_TORCH, domain);
		prof_mark_end(PROF_SOURCE_ID, domain << 32 | (uint64_t)i);
		prof_mark_pop(domain % 3);
		atomic_fetch_add(&marked, 1);
	}
	return NULL;
}

static void *mark_in_turns(void *unused)
{
	pthread_t t[MARKING];
	uintptr_t n = 1;
	int i;

	while (!atomic_load(&stop)) {
		for (i = 0; i < MARKING; i++)
			if (pthread_create(&t[i], NULL, mark, (void *)n++))
				abort();
		for (i = 0; i < MARKING; i++)
			pthread_join(t[i], NULL);
	}
	return unused;
}

static void *launch(void *arg)
{
	void *stream, *kernel[NAMES], *host;
	char name[32];
	uint64_t at;
	int i;

	cudrv_device(0);
	CU(StreamCreate(&stream, 1));
	CU(MemAlloc(&at, BYTES));
	CU(MemHostAlloc(&host, BYTES, 0));
	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "k%d_%d", (int)(intptr_t)arg % 2, i);
		kernel[i] = cudrv_kernel(name);
	}
	while (!atomic_load(&stop)) {
		for (i = 0; i < NAMES; i++)
			cudrv_launch(kernel[i], 2000, stream);
		CU(MemcpyHtoDAsync(at, host, BYTES, stream));
		CU(MemsetD8Async(at, 1, BYTES, stream));
		CU(MemcpyDtoHAsync(host, at, BYTES, stream));
		CU(StreamSynchronize(stream));
		atomic_fetch_add(&launched, NAMES + 3);
	}
	return NULL;
}

/* Forks while all of that goes on. */
static void fork_some(double seconds)
{
	struct timespec begin, now;
	int status;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0 && waitpid(pid, &status, 0) == pid && !status)
			atomic_fetch_add(&forked, 1);
		nap(50000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 <
		 seconds);
}

int main(int argc, char **argv)
{
	pthread_t t[LOADING + LAUNCHING + 2];
	int n = 0, i;

	for (i = 0; i < LOADING; i++)
		if (pthread_create(&t[n++], NULL, load, (void *)(intptr_t)(i + 1)))
			return 1;
	if (pthread_create(&t[n++], NULL, lend, NULL) ||
	    pthread_create(&t[n++], NULL, mark_in_turns, NULL))
		return 1;
	nap(20000);
	cudrv_init();
	for (i = 0; i < LAUNCHING; i++)
		if (pthread_create(&t[n++], NULL, launch, (void *)(intptr_t)i))
			return 1;
	fork_some(argc > 1 ? atof(argv[1]) : 2);
	atomic_store(&stop, true);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%lu launched, %lu ranges, lent %lu times, %lu forks\n", launched, marked, lent,
	       forked);
	return 0;
}
