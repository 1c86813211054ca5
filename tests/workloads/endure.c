/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endure.c - a mixed loop at a steady rate for as long as it is told: kernels on two streams, a
 * graph of twenty, copies and a memset per round. Once a second, and at the end, a line of JSON
 * tells what was launched so far and how much memory the process and the device use. The launches
 * are counted, so that a trace can be compared with them exactly.
 *
 *   endure SECONDS [LAUNCHES-PER-SECOND]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"

#define KERNELS 40
#define NODES 20
/* launches of a round: a graph is one, and so are copies and memset */
#define ROUND (KERNELS + 1 + 3)
#define SYNC_ROUNDS 10
#define ROOM (1u << 16)
#define KERNEL_NS 4000
#define SECOND_NS 1000000000ll

static struct {
	void *stream[2], *kernel[4], *graph;
	uint64_t memory;
	void *host;
	int (*memory_info)(size_t *, size_t *);
	uint64_t kernels, graphs, copies, memsets;
} w;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static long resident_kb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f)
		return 0;
	if (fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void tell(int64_t begin)
{
	size_t unused = 0, total = 0;

	if (w.memory_info)
		w.memory_info(&unused, &total);
	printf("{\"s\":%.3f,\"kernels\":%llu,\"graphs\":%llu,\"copies\":%llu,\"memsets\":%llu,"
	       "\"rss_kb\":%ld,\"device_used\":%zu}\n",
	       (double)(now() - begin) / 1e9, (unsigned long long)w.kernels,
	       (unsigned long long)w.graphs, (unsigned long long)w.copies,
	       (unsigned long long)w.memsets, resident_kb(), total - unused);
	fflush(stdout);
}

static void make_graph(void)
{
	void *graph;
	int i;

	CU(StreamBeginCapture(w.stream[0], 0));
	for (i = 0; i < NODES; i++)
		cudrv_launch(w.kernel[i % 4], 1000, w.stream[0]);
	CU(StreamEndCapture(w.stream[0], &graph));
	CU(GraphInstantiate(&w.graph, graph, 0));
}

static void set_up(void)
{
	char name[32];
	void *lib;
	int i;

	cudrv_init();
	cudrv_device(0);
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (lib)
		*(void **)&w.memory_info = dlsym(lib, "cuMemGetInfo_v2");
	for (i = 0; i < 2; i++)
		CU(StreamCreate(&w.stream[i], 1));
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "endure_%d", i);
		w.kernel[i] = cudrv_kernel(name);
	}
	CU(MemAlloc(&w.memory, ROOM));
	CU(MemHostAlloc(&w.host, ROOM, 0));
	make_graph();
}

static void one_round(uint64_t n)
{
	int i;

	CU(MemcpyHtoDAsync(w.memory, w.host, ROOM, w.stream[0]));
	for (i = 0; i < KERNELS; i++)
		cudrv_launch(w.kernel[i % 4], KERNEL_NS, w.stream[i % 2]);
	CU(GraphLaunch(w.graph, w.stream[0]));
	CU(MemsetD8Async(w.memory, 0, ROOM, w.stream[1]));
	CU(MemcpyDtoHAsync(w.host, w.memory, 4096, w.stream[1]));
	w.kernels += KERNELS;
	w.graphs++;
	w.copies += 2;
	w.memsets++;
	if (n % SYNC_ROUNDS == SYNC_ROUNDS - 1) {
		CU(StreamSynchronize(w.stream[0]));
		CU(StreamSynchronize(w.stream[1]));
	}
}

/* Until the time of the next round, if it has not come; what was missed is not caught up with. */
static int64_t pace(int64_t due, int64_t every)
{
	int64_t t = now();
	struct timespec at = { due / SECOND_NS, due % SECOND_NS };

	if (due > t)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	return (due > t ? due : t) + every;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
	double rate = argc > 2 ? strtod(argv[2], NULL) : 30000;
	int64_t begin, told, due;
	uint64_t n;

	if (seconds <= 0 || rate < 1) {
		fprintf(stderr, "usage: endure SECONDS [LAUNCHES-PER-SECOND]\n");
		return 2;
	}
	set_up();
	begin = told = due = now();
	for (n = 0; now() - begin < (int64_t)(seconds * 1e9); n++) {
		one_round(n);
		if (now() - told >= SECOND_NS) {
			told += SECOND_NS;
			tell(begin);
		}
		due = pace(due, (int64_t)(ROUND * 1e9 / rate));
	}
	CU(CtxSynchronize());
	tell(begin);
	return 0;
}
