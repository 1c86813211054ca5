/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepper.c - loops that are played by turns. Several of these programs stay beside each other, and
 * the one that is told to plays a block of steps: what they cost can be compared within a second,
 * and a start-up is paid once. A line on standard input is one command, a line of JSON its answer:
 *
 *   block MS CALL NS N M   steps of N calls, then a synchronisation, until MS milliseconds are over,
 *                          eight at least; NS is the length of a kernel, M what the call makes of it
 *                          (see `calls`)
 *   work M                 how long M rounds of arithmetic take
 *   quit
 *
 * stepper [LIBRARY] makes its calls by the CUDA runtime of that library instead of the driver.
 * A step's `total` is its time, `enqueue` the part before the synchronisation, both in ns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"

#define STEPS_MIN 8
#define STEPS_MAX 20000
#define ROOM (1u << 20)
#define FEW 4u /* bytes of a small copy */
#define GRAPHS 8

struct block {
	char call[16];
	uint64_t ns;
	long ms, n, m;
};

static struct {
	void *stream, *other, *kernel, *event;
	void *pinned;
	uint64_t device, second;
	struct graph {
		uint64_t ns;
		long nodes;
		void *exec;
	} graph[GRAPHS]; /* each made once: blocks of several come by turns */
} w;

static uint64_t total[STEPS_MAX], enqueued[STEPS_MAX];

static uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * ---- calls ------------------------------------------------------------------------------------
 */

/* What a program does between two launches: always the same, however long it takes. */
static void work(long rounds)
{
	uint64_t x = 88172645463325252u;

	for (; rounds > 0; rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x)); /* not worked out by the compiler */
	}
}

static void call_kernel(const struct block *b)
{
	cudrv_launch(w.kernel, b->ns, w.stream);
}

static void call_worked(const struct block *b)
{
	work(b->m);
	cudrv_launch(w.kernel, b->ns, w.stream);
}

static void *make_graph(uint64_t ns, long nodes)
{
	void *graph, *exec;

	CU(StreamBeginCapture(w.stream, 0));
	for (; nodes > 0; nodes--)
		cudrv_launch(w.kernel, ns, w.stream);
	CU(StreamEndCapture(w.stream, &graph));
	CU(GraphInstantiate(&exec, graph, 0));
	return exec;
}

/* The last place is everybody's who found no other. */
static void *graph_of(uint64_t ns, long nodes)
{
	struct graph *g = w.graph;

	while (g < w.graph + GRAPHS - 1 && g->exec && (g->ns != ns || g->nodes != nodes))
		g++;
	if (!g->exec || g->ns != ns || g->nodes != nodes)
		*g = (struct graph){ ns, nodes, make_graph(ns, nodes) };
	return g->exec;
}

/* The graph is made in the first step of the first block, which nobody counts. */
static void call_graph(const struct block *b)
{
	CU(GraphLaunch(graph_of(b->ns, b->m), w.stream));
}

/* A batch to the device, M kernels, a number back. */
static void call_mixed(const struct block *b)
{
	long i;

	CU(MemcpyHtoDAsync(w.device, w.pinned, ROOM, w.stream));
	for (i = 0; i < b->m; i++)
		cudrv_launch(w.kernel, b->ns, w.stream);
	CU(MemcpyDtoHAsync(w.pinned, w.device, FEW, w.stream));
}

static void call_h2d(const struct block *b)
{
	(void)b;
	CU(MemcpyHtoDAsync(w.device, w.pinned, FEW, w.stream));
}

static void call_d2h(const struct block *b)
{
	(void)b;
	CU(MemcpyDtoHAsync(w.pinned, w.device, FEW, w.stream));
}

static void call_d2d(const struct block *b)
{
	(void)b;
	CU(MemcpyDtoDAsync(w.second, w.device, FEW, w.stream));
}

static void call_memset(const struct block *b)
{
	(void)b;
	CU(MemsetD8Async(w.device, 0, FEW, w.stream));
}

static void call_record(const struct block *b)
{
	(void)b;
	CU(EventRecord(w.event, w.stream));
}

static void call_wait(const struct block *b)
{
	(void)b;
	CU(StreamWaitEvent(w.other, w.event, 0));
}

static void call_sync(const struct block *b)
{
	(void)b;
	CU(StreamSynchronize(w.other));
}

static void call_evsync(const struct block *b)
{
	(void)b;
	CU(EventSynchronize(w.event));
}

static const struct call {
	const char *name;
	void (*fn)(const struct block *b);
} calls[] = {
	{ "kernel", call_kernel }, /* a launch */
	{ "worked", call_worked }, /* M rounds of arithmetic, then a launch */
	{ "graph", call_graph }, /* a graph of M kernels */
	{ "mixed", call_mixed }, /* a copy, M kernels, a copy back */
	{ "h2d", call_h2d },	   { "d2h", call_d2h },	      { "d2d", call_d2d },
	{ "memset", call_memset }, { "record", call_record }, { "wait", call_wait },
	{ "sync", call_sync }, /* of a stream with nothing on it */
	{ "evsync", call_evsync }, /* of an event that is past */
};

static const struct call *find_call(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(name, calls[i].name))
			return &calls[i];
	return NULL;
}

/*
 * ---- commands ---------------------------------------------------------------------------------
 */

static void one_step(const struct call *c, const struct block *b, long step)
{
	uint64_t begin = clock_of(CLOCK_MONOTONIC);
	long i;

	for (i = 0; i < b->n; i++)
		c->fn(b);
	enqueued[step] = clock_of(CLOCK_MONOTONIC) - begin;
	CU(CtxSynchronize());
	total[step] = clock_of(CLOCK_MONOTONIC) - begin;
}

static void put_list(const char *name, const uint64_t *list, long n)
{
	long i;

	printf(", \"%s\": [", name);
	for (i = 0; i < n; i++)
		printf("%s%" PRIu64, i ? "," : "", list[i]);
	printf("]");
}

static void play(const struct block *b)
{
	const struct call *c = find_call(b->call);
	uint64_t begin, thread, process;
	long steps = 0;

	if (!c || b->n < 1) {
		printf("{\"error\": \"no such call, or none of it\"}\n");
		return;
	}
	thread = clock_of(CLOCK_THREAD_CPUTIME_ID);
	process = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	begin = clock_of(CLOCK_MONOTONIC);
	do
		one_step(c, b, steps++);
	while (steps < STEPS_MIN || (steps < STEPS_MAX && clock_of(CLOCK_MONOTONIC) - begin <
								  (uint64_t)b->ms * 1000000u));
	thread = clock_of(CLOCK_THREAD_CPUTIME_ID) - thread;
	process = clock_of(CLOCK_PROCESS_CPUTIME_ID) - process;
	printf("{\"thread_cpu\": %" PRIu64 ", \"process_cpu\": %" PRIu64, thread, process);
	put_list("total", total, steps);
	put_list("enqueue", enqueued, steps);
	printf("}\n");
}

static void time_work(long rounds)
{
	uint64_t begin = clock_of(CLOCK_MONOTONIC);

	work(rounds);
	printf("{\"ns\": %" PRIu64 "}\n", clock_of(CLOCK_MONOTONIC) - begin);
}

/* False: there is nothing more to do. */
static int obey(const char *line)
{
	struct block b;
	long rounds;

	if (sscanf(line, "block %ld %15s %" SCNu64 " %ld %ld", &b.ms, b.call, &b.ns, &b.n, &b.m) ==
	    5)
		play(&b);
	else if (sscanf(line, "work %ld", &rounds) == 1)
		time_work(rounds);
	else if (!strncmp(line, "quit", 4))
		return 0;
	else
		printf("{\"error\": \"no such command\"}\n");
	fflush(stdout);
	return 1;
}

static void set_up(const char *runtime)
{
	cudrv_init();
	cudrv_device(0);
	if (runtime)
		cudrv_use_runtime(runtime);
	CU(StreamCreate(&w.stream, 1));
	CU(StreamCreate(&w.other, 1));
	CU(EventCreate(&w.event, 2)); /* without timing, as PyTorch makes them */
	CU(MemAlloc(&w.device, ROOM));
	CU(MemAlloc(&w.second, ROOM));
	CU(MemHostAlloc(&w.pinned, ROOM, 0));
	w.kernel = cudrv_kernel("stepper_kernel");
	CU(EventRecord(w.event, w.stream));
	cudrv_launch(w.kernel, 1000, w.stream);
	CU(CtxSynchronize());
}

int main(int argc, char **argv)
{
	char line[256], name[128];

	set_up(argc > 1 ? argv[1] : NULL);
	CU(DeviceGetName(name, sizeof(name), 0));
	printf("{\"pid\": %d, \"device\": \"%s\"}\n", (int)getpid(), name);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && obey(line))
		;
	return 0;
}
