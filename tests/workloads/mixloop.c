/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixloop.c - a great many operations of all kinds, quickly and reproducibly: kernels on several
 * streams, waits between them, copies of each kind, memsets, graphs, host functions, pauses; by
 * one process or several (forked before the driver is initialised, or started anew).
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"

#define MAX_STREAMS 64
#define MAX_KERNELS 256
#define EVENTS 256
#define ROOM (8u << 20)

struct opts {
	long ops, seed, streams, kernels, processes, devices, device;
	long wait, graph, copy, pageable, memset, host, peer; /* per thousand operations */
	long nodes, sync_every, pause_every, pause_us, collective_every;
	long min_ns, max_ns, hold_ms, long_ms;
	int exec, runtime;
};

static struct opts opts = { .ops = 10000,
			    .seed = 1,
			    .streams = 4,
			    .kernels = 16,
			    .processes = 1,
			    .devices = 1,
			    .wait = 100,
			    .graph = 10,
			    .copy = 80,
			    .pageable = 5,
			    .memset = 30,
			    .nodes = 8,
			    .sync_every = 2000,
			    .pause_every = 5000,
			    .pause_us = 500,
			    .min_ns = 500,
			    .max_ns = 4000 };

static struct {
	void *ctx, *peer_ctx;
	void *stream[MAX_STREAMS], *kernel[MAX_KERNELS], *event[EVENTS], *graph[4], *collective;
	uint64_t a, b, peer;
	void *pinned;
	char *pageable;
	uint64_t random;
	unsigned recorded, hosts;
} w;

static const struct {
	const char *name;
	long *value;
	const char *help;
} table[] = {
	{ "ops", &opts.ops, "operations of each process" },
	{ "seed", &opts.seed, "of the mix" },
	{ "streams", &opts.streams, "streams of each process" },
	{ "kernels", &opts.kernels, "different kernel names" },
	{ "processes", &opts.processes, "processes, each with its own driver" },
	{ "devices", &opts.devices, "devices; process i uses device i modulo this" },
	{ "device", &opts.device, "the first device" },
	{ "wait", &opts.wait, "event and stream wait, per thousand operations" },
	{ "graph", &opts.graph, "graph launches, per thousand" },
	{ "copy", &opts.copy, "pinned and device copies, per thousand" },
	{ "pageable", &opts.pageable, "pageable copies, per thousand" },
	{ "memset", &opts.memset, "memsets, per thousand" },
	{ "host", &opts.host, "host functions, per thousand" },
	{ "peer", &opts.peer, "peer copies to the next device, per thousand" },
	{ "nodes", &opts.nodes, "nodes of a graph" },
	{ "sync-every", &opts.sync_every, "operations between synchronisations" },
	{ "pause-every", &opts.pause_every, "operations between pauses" },
	{ "pause-us", &opts.pause_us, "length of a pause" },
	{ "collective-every", &opts.collective_every, "operations between collectives, 0 none" },
	{ "min-ns", &opts.min_ns, "shortest kernel" },
	{ "max-ns", &opts.max_ns, "longest kernel" },
	{ "long-ms", &opts.long_ms, "a kernel of this length runs beside all others, 0 none" },
	{ "hold-ms", &opts.hold_ms, "stay this long at the end" },
};
#define N_OPTS (sizeof table / sizeof table[0])

static uint64_t draw(uint64_t below)
{
	w.random ^= w.random << 13;
	w.random ^= w.random >> 7;
	w.random ^= w.random << 17;
	return below ? w.random % below : 0;
}

static void *some_stream(void)
{
	return w.stream[draw((uint64_t)opts.streams)];
}

static uint64_t some_ns(void)
{
	return (uint64_t)opts.min_ns + draw((uint64_t)(opts.max_ns - opts.min_ns + 1));
}

static void one_kernel(void)
{
	cudrv_launch(w.kernel[draw((uint64_t)opts.kernels)], some_ns(), some_stream());
}

/* An event on one stream, waited for by another one. */
static void one_wait(void)
{
	void *event = w.event[w.recorded++ % EVENTS];

	CU(EventRecord(event, some_stream()));
	CU(StreamWaitEvent(some_stream(), event, 0));
	one_kernel();
}

static void one_copy(void)
{
	size_t n = 256 + draw(65536);
	void *s = some_stream();

	switch (draw(3)) {
	case 0:
		CU(MemcpyHtoDAsync(w.a, w.pinned, n, s));
		break;
	case 1:
		CU(MemcpyDtoHAsync(w.pinned, w.a, n, s));
		break;
	default:
		CU(MemcpyDtoDAsync(w.b, w.a, n, s));
	}
}

static void one_pageable(void)
{
	size_t n = 256 + draw(65536);

	if (draw(4))
		CU(MemcpyHtoDAsync(w.a, w.pageable, n, some_stream()));
	else
		CU(MemcpyDtoHAsync(w.pageable, w.a, n, some_stream()));
}

static void one_memset(void)
{
	CU(MemsetD8Async(w.b, (unsigned char)draw(256), 256 + draw(65536), some_stream()));
}

static void one_peer(void)
{
	CU(MemcpyPeerAsync(w.peer, w.peer_ctx, w.a, w.ctx, 256 + draw(65536), some_stream()));
}

static void on_host(void *arg)
{
	struct timespec d = { 0, 50000 };

	nanosleep(&d, NULL);
	__atomic_add_fetch((unsigned *)arg, 1, __ATOMIC_RELAXED);
}

static void one_host(void)
{
	CU(LaunchHostFunc(some_stream(), on_host, &w.hosts));
}

static void one_graph(void)
{
	CU(GraphLaunch(w.graph[draw(4)], some_stream()));
}

static void one_op(void)
{
	static const struct {
		long *weight;
		void (*fn)(void);
	} kinds[] = {
		{ &opts.wait, one_wait },     { &opts.graph, one_graph },
		{ &opts.copy, one_copy },     { &opts.pageable, one_pageable },
		{ &opts.memset, one_memset }, { &opts.host, one_host },
		{ &opts.peer, one_peer },
	};
	long x = (long)draw(1000);
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (x < *kinds[i].weight) {
			kinds[i].fn();
			return;
		}
		x -= *kinds[i].weight;
	}
	one_kernel();
}

static void *make_graph(void)
{
	void *s = w.stream[0], *graph, *exec;
	long i;

	CU(StreamBeginCapture(s, 0));
	for (i = 0; i < opts.nodes; i++)
		if (i % 4 == 3)
			CU(MemsetD8Async(w.b, 0, 4096, s));
		else
			cudrv_launch(w.kernel[draw((uint64_t)opts.kernels)], some_ns(), s);
	CU(StreamEndCapture(s, &graph));
	CU(GraphInstantiate(&exec, graph, 0));
	return exec;
}

static void set_up(long rank)
{
	long device = opts.device + rank % opts.devices, i;
	char name[64];

	w.random = (uint64_t)(opts.seed * 1000003 + rank) * 0x9e3779b97f4a7c15u | 1;
	cudrv_init();
	if (opts.runtime)
		cudrv_use_runtime("libgpusimrt.so");
	if (opts.peer) {
		w.peer_ctx = cudrv_device((int)(opts.device + (rank + 1) % opts.devices));
		CU(MemAlloc(&w.peer, ROOM));
	}
	w.ctx = cudrv_device((int)device);
	for (i = 0; i < opts.streams; i++)
		CU(StreamCreate(&w.stream[i], 1));
	for (i = 0; i < opts.kernels; i++) {
		snprintf(name, sizeof name, "mix_kernel_%ld", i);
		w.kernel[i] = cudrv_kernel(name);
	}
	w.collective = cudrv_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	for (i = 0; i < EVENTS; i++)
		CU(EventCreate(&w.event[i], 2));
	CU(MemAlloc(&w.a, ROOM));
	CU(MemAlloc(&w.b, ROOM));
	CU(MemHostAlloc(&w.pinned, ROOM, 0));
	w.pageable = calloc(1, ROOM);
	for (i = 0; opts.graph && i < 4; i++)
		w.graph[i] = make_graph();
}

/* On a stream that nothing else uses or waits for. */
static void long_kernel(void)
{
	void *s;

	CU(StreamCreate(&s, 1));
	cudrv_launch(w.kernel[0], (uint64_t)opts.long_ms * 1000000, s);
}

static void loop(void)
{
	long i;

	if (opts.long_ms)
		long_kernel();
	for (i = 1; i <= opts.ops; i++) {
		one_op();
		if (opts.collective_every && i % opts.collective_every == 0)
			cudrv_launch(w.collective, 20000, w.stream[0]);
		if (opts.sync_every && i % opts.sync_every == 0)
			CU(StreamSynchronize(some_stream()));
		if (opts.pause_every && i % opts.pause_every == 0)
			usleep((useconds_t)opts.pause_us);
	}
	CU(CtxSynchronize());
}

static void run(long rank)
{
	struct timespec a, b;

	set_up(rank);
	clock_gettime(CLOCK_MONOTONIC, &a);
	loop();
	clock_gettime(CLOCK_MONOTONIC, &b);
	usleep((useconds_t)(opts.hold_ms * 1000));
	printf("mixloop: rank %ld: %ld operations in %.3f s\n", rank, opts.ops,
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
}

/* Forked before the driver is there; with --exec started anew, with the rank in the environment. */
static int run_many(char **argv)
{
	int status, rc = 0;
	char rank[24];
	long i;

	for (i = 0; i < opts.processes; i++) {
		if (fork())
			continue;
		if (opts.exec) {
			snprintf(rank, sizeof rank, "%ld", i);
			setenv("MIXLOOP_RANK", rank, 1);
			execv("/proc/self/exe", argv);
			_exit(127);
		}
		run(i);
		exit(0);
	}
	while (wait(&status) > 0 || errno == EINTR)
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			rc = 1;
	return rc;
}

static void usage(void)
{
	size_t i;

	fprintf(stderr, "usage: mixloop [--exec] [--runtime] [--NAME=N]...\n");
	for (i = 0; i < N_OPTS; i++)
		fprintf(stderr, "  --%-18s %s (%ld)\n", table[i].name, table[i].help,
			*table[i].value);
	exit(2);
}

static void parse(int argc, char **argv)
{
	struct option longs[N_OPTS + 3] = { { NULL, 0, NULL, 0 } };
	size_t i;
	int c;

	for (i = 0; i < N_OPTS; i++)
		longs[i] = (struct option){ table[i].name, required_argument, NULL, (int)i + 256 };
	longs[N_OPTS + 1] = (struct option){ "runtime", no_argument, &opts.runtime, 1 };
	longs[N_OPTS] = (struct option){ "exec", no_argument, &opts.exec, 1 };
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == '?')
			usage();
		if (c >= 256)
			*table[c - 256].value = strtol(optarg, NULL, 10);
	}
	if (opts.streams < 1 || opts.streams > MAX_STREAMS || opts.kernels < 1 ||
	    opts.kernels > MAX_KERNELS || opts.max_ns < opts.min_ns || opts.devices < 1)
		usage();
}

int main(int argc, char **argv)
{
	const char *rank = getenv("MIXLOOP_RANK");

	parse(argc, argv);
	if (rank || opts.processes <= 1) {
		run(rank ? strtol(rank, NULL, 10) : 0);
		return 0;
	}
	return run_many(argv);
}
