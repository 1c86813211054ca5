/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tour.c - one of everything, in a fixed order, with a line of its own clock for each: what the
 * tests of the simulator compare, and what shows the same things on a real GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"

#define BIG (16u << 20)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Says what follows and when it was over. */
#define STEP(call)                                                                  \
	do {                                                                        \
		uint64_t begin = now();                                             \
		call;                                                               \
		printf("%s begin=%llu ns=%llu\n", #call, (unsigned long long)begin, \
		       (unsigned long long)(now() - begin));                        \
	} while (0)

static void on_host(void *arg)
{
	(void)arg;
	usleep(20000);
}

static void copies(uint64_t device, void *stream)
{
	char *pageable = calloc(1, BIG);
	void *pinned;

	CU(MemHostAlloc(&pinned, BIG, 0));
	STEP(CU(MemcpyHtoDAsync(device, pageable, 1024, stream)));
	STEP(CU(MemcpyHtoDAsync(device, pageable, 65536, stream)));
	STEP(CU(MemcpyHtoDAsync(device, pageable, 200000, stream)));
	STEP(CU(MemcpyHtoDAsync(device, pageable, BIG, stream)));
	STEP(CU(MemcpyDtoHAsync(pageable, device, BIG, stream)));
	STEP(CU(StreamSynchronize(stream)));
	STEP(CU(MemcpyHtoDAsync(device, pinned, BIG, stream)));
	STEP(CU(MemcpyDtoHAsync(pinned, device, BIG, stream)));
	STEP(CU(MemcpyDtoDAsync(device, device + BIG, BIG, stream)));
	STEP(CU(MemsetD8Async(device, 3, BIG, stream)));
	STEP(CU(StreamSynchronize(stream)));
	free(pageable);
}

static void waits(void *kernel, void *a, void *b)
{
	void *event;

	CU(EventCreate(&event, 0));
	STEP(cudrv_launch(kernel, 20000000, a));
	STEP(CU(EventRecord(event, a)));
	STEP(CU(StreamWaitEvent(b, event, 0)));
	STEP(cudrv_launch(kernel, 1000000, b));
	STEP(CU(EventSynchronize(event)));
	STEP(CU(StreamSynchronize(b)));
	STEP(CU(LaunchHostFunc(a, on_host, NULL)));
	STEP(cudrv_launch(kernel, 1000000, a));
	STEP(CU(CtxSynchronize()));
}

static void *captured(void *kernel, uint64_t device, void *s, int host_first)
{
	void *graph, *exec;
	int i;

	CU(StreamBeginCapture(s, 0));
	if (host_first)
		CU(LaunchHostFunc(s, on_host, NULL));
	for (i = 0; i < 3; i++)
		cudrv_launch(kernel, 500000, s);
	CU(MemsetD8Async(device, 1, 65536, s));
	CU(StreamEndCapture(s, &graph));
	CU(GraphInstantiate(&exec, graph, 0));
	return exec;
}

static void graphs(void *kernel, uint64_t device, void *s)
{
	void *plain = captured(kernel, device, s, 0), *host = captured(kernel, device, s, 1);

	STEP(CU(GraphLaunch(plain, s)));
	STEP(CU(GraphLaunch(plain, s)));
	STEP(CU(StreamSynchronize(s)));
	STEP(CU(GraphLaunch(host, s)));
	STEP(CU(StreamSynchronize(s)));
}

/* What a flush may and may not deliver while a long kernel runs. */
static void long_kernel(void *kernel, void *a, void *b)
{
	int i;

	STEP(cudrv_launch(kernel, 500000000, a));
	for (i = 0; i < 20; i++) {
		STEP(cudrv_launch(kernel, 100000, b));
		usleep(20000);
	}
	STEP(CU(CtxSynchronize()));
}

static void legacy_stream(void *kernel, void *blocking, void *free_stream)
{
	STEP(cudrv_launch(kernel, 3000000, blocking));
	STEP(cudrv_launch(kernel, 2000000, NULL));
	STEP(cudrv_launch(kernel, 1000000, blocking));
	STEP(cudrv_launch(kernel, 1000000, free_stream));
	STEP(CU(CtxSynchronize()));
}

int main(void)
{
	void *a, *b, *blocking, *kernel;
	uint64_t device;

	STEP(cudrv_init());
	STEP(cudrv_device(0));
	STEP(CU(StreamCreate(&a, 1)));
	CU(StreamCreate(&b, 1));
	CU(StreamCreate(&blocking, 0));
	STEP(kernel = cudrv_kernel("tour_kernel"));
	STEP(CU(MemAlloc(&device, 2 * BIG)));
	STEP(cudrv_launch(kernel, 2000000, a));
	STEP(CU(StreamSynchronize(a)));
	copies(device, a);
	waits(kernel, a, b);
	graphs(kernel, device, a);
	legacy_stream(kernel, blocking, a);
	long_kernel(kernel, a, b);
	STEP(CU(MemFree(device)));
	return 0;
}
