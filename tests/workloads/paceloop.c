/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paceloop.c - a loop that is bound by its launches: a short kernel, then as much work of the host
 * as makes RATE launches a second where tracing is free. What a launch costs more comes on top.
 *
 * paceloop RATE SECONDS [NS]   NS is the length of a kernel (500)
 *
 * Prints the launches and the seconds they took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cudrv.h"

#define LAUNCH_NS 250 /* of the model's own launch */
#define TOGETHER 500 /* launches from one synchronisation to the next */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

int main(int argc, char **argv)
{
	void *stream, *kernel;
	uint64_t ns, rest, begin, end, launches = 0;
	int i;

	if (argc < 3)
		return 2;
	ns = argc > 3 ? strtoull(argv[3], NULL, 10) : 500;
	rest = 1000000000u / strtoull(argv[1], NULL, 10);
	rest = rest > LAUNCH_NS ? rest - LAUNCH_NS : 0;
	cudrv_init();
	cudrv_device(0);
	CU(StreamCreate(&stream, 1));
	kernel = cudrv_kernel("pace");
	begin = now_ns();
	end = begin + (uint64_t)(strtod(argv[2], NULL) * 1e9);
	while (now_ns() < end) {
		for (i = 0; i < TOGETHER; i++) {
			cudrv_launch(kernel, ns, stream);
			work(rest);
		}
		CU(StreamSynchronize(stream));
		launches += TOGETHER;
	}
	printf("%" PRIu64 " %.3f\n", launches, (double)(now_ns() - begin) / 1e9);
	return 0;
}
