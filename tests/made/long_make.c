/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run of any length without holding it in memory: GPUS processes, each with a GPU that
 * runs a kernel after a launch, with a loader wait and a step now and then, until EVENTS events are
 * written in all.
 *
 *	long_make FOLDER EVENTS [GPUS]
 */
#include <stdlib.h>
#include <string.h>
#include "made.h"

#define ROWS 20000
#define BEGIN 1794232931000000000LL
#define PERIOD 200000 /* 36,000,000 events of a GPU make an hour */
#define STEP 500 /* kernels */
#define WAIT 12000000

struct long_gpu {
	struct made_stream s;
	int64_t now;
	uint64_t corr;
};

/* In order of interning. */
enum {
	NAME_KERNEL = 1,
	NAME_LAUNCH,
	NAME_LOADER,
	NAME_STEP
};

static void put_names(struct long_gpu *g)
{
	static const char *const names[] = { "gemm", "cudaLaunchKernel",
					     "enumerate(DataLoader)#iter.__next__",
					     "Optimizer.step#SGD.step" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		made_need(made_name(&g->s, names[i], strlen(names[i])) == i + 1, "names");
	made_names(&g->s, g->now);
}

static void begin(struct long_gpu *g, const char *folder, int gpu, int gpus)
{
	uint8_t id[16] = "a long run";
	struct made_hello h;
	char path[4096];

	id[15] = (uint8_t)gpu;
	snprintf(path, sizeof(path), "%s/%d.gst", folder, gpu);
	made_open(&g->s, path, id);
	g->now = BEGIN;
	made_hello_init(&h, "node1", 1000 + gpu, BEGIN, "NVIDIA H100 80GB HBM3");
	h.uuid[0] = (uint8_t)(gpu + 1);
	h.device.context_ns = BEGIN + 1;
	h.m.has_rank = true;
	h.m.rank = h.m.local_rank = gpu;
	h.m.world_size = (uint32_t)gpus;
	h.m.role = (char *)"trainer";
	h.m.cpus = 16;
	made_message(&g->s, WIRE_FRAME_HELLO, &h.m.base, g->now);
	put_names(g);
	g->now += 5000000000LL;
}

static void flush(struct long_gpu *g)
{
	made_flush(&g->s, g->now);
	made_pulse(&g->s, g->now, g->now);
}

/* A launch and its kernel; before each step a wait, after it the optimizer. Returns the events. */
static uint64_t kernel(struct long_gpu *g)
{
	uint64_t k = g->corr++, events = 2;
	struct wire_event *e;

	if (k % STEP == 0) {
		e = made_event(&g->s, WIRE_KIND_RANGE, g->now, g->now + WAIT);
		e->op = WIRE_RANGE_LOADER;
		e->name = NAME_LOADER;
		e->tid = 1;
		g->now += WAIT;
		e = made_event(&g->s, WIRE_KIND_RANGE, g->now + 1000, g->now + 2000);
		e->op = WIRE_RANGE_OPTIMIZER;
		e->name = NAME_STEP;
		e->tid = 1;
		events += 2;
	}
	e = made_event(&g->s, WIRE_KIND_API, g->now, g->now + 3000);
	e->op = WIRE_DOMAIN_RUNTIME;
	e->name = NAME_LAUNCH;
	e->tid = 1;
	e->corr = k + 1;
	e = made_event(&g->s, WIRE_KIND_OP, g->now + 6000,
		       g->now + PERIOD - (int64_t)(k % 7) * 900);
	e->op = WIRE_OP_KERNEL;
	e->name = NAME_KERNEL;
	e->context = 1;
	e->stream = 7;
	e->corr = k + 1;
	g->now += PERIOD;
	return events;
}

static void finish(struct long_gpu *g)
{
	flush(g);
	made_bye(&g->s, g->now + 1000000000, g->now);
	made_close(&g->s);
}

int main(int argc, char **argv)
{
	int gpus = argc > 3 ? atoi(argv[3]) : 8, i;
	uint64_t want, made, all = 0;

	made_need(argc > 2 && gpus > 0 && gpus < 250, "long_make FOLDER EVENTS [GPUS]");
	want = strtoull(argv[2], NULL, 10) / (uint64_t)gpus;
	for (i = 0; i < gpus; i++) {
		struct long_gpu g = { 0 };

		begin(&g, argv[1], i, gpus);
		for (made = 0; made < want;) {
			made += kernel(&g);
			if (g.s.rows[WIRE_KIND_OP].n == ROWS)
				flush(&g);
		}
		finish(&g);
		all += made;
	}
	printf("%llu\n", (unsigned long long)all);
	return 0;
}
