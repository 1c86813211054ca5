/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run of any length without holding it in memory: GPUS processes, each with a GPU that runs
 * a kernel after a launch, with a loader wait and a step now and then, until EVENTS events are
 * written in all.
 *
 *	long_make FOLDER EVENTS [GPUS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

#define ROWS 20000
#define BEGIN 1794232931000000000LL
#define PERIOD 200000 /* 36,000,000 events of a GPU make an hour */
#define STEP 500 /* kernels */
#define WAIT 12000000

struct long_gpu {
	FILE *out;
	struct wire_encoder *encoder;
	struct wire_buf buf;
	struct wire_event *ev[WIRE_KIND_MAX];
	size_t n[WIRE_KIND_MAX];
	int64_t now;
	uint64_t corr;
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "long_make: %s\n", what);
	exit(1);
}

static void spill(struct long_gpu *g)
{
	check(fwrite(g->buf.data, 1, g->buf.len, g->out) == g->buf.len, "cannot write");
	g->buf.len = 0;
}

static void message(struct long_gpu *g, enum wire_frame_type type, const ProtobufCMessage *msg)
{
	check(!wire_encoder_message(g->encoder, type, msg, g->now, &g->buf), "message");
	spill(g);
}

static void put_names(struct long_gpu *g)
{
	static const char *const names[] = { "gemm", "cudaLaunchKernel",
					     "enumerate(DataLoader)#iter.__next__",
					     "Optimizer.step#SGD.step" };
	struct wire_strtab *t = wire_strtab_new();
	uint32_t next = 1;
	size_t i;

	check(t != NULL, "no memory");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check(wire_strtab_intern(t, names[i], strlen(names[i])) == i + 1, "names");
	check(!wire_encoder_strings(g->encoder, t, 1, &next, g->now, &g->buf), "names");
	spill(g);
	wire_strtab_free(t);
}

static void begin(struct long_gpu *g, const char *folder, int gpu, int gpus)
{
	uint8_t id[16] = "a long run", uuid[16] = { (uint8_t)(gpu + 1) };
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Device device = WIRE__DEVICE__INIT, *devices[1] = { &device };
	char path[4096];
	int kind;

	id[15] = (uint8_t)gpu;
	snprintf(path, sizeof(path), "%s/%d.gst", folder, gpu);
	g->out = fopen(path, "wb");
	g->encoder = wire_encoder_new(id, 3);
	check(g->out && g->encoder, path);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		check((g->ev[kind] = calloc(ROWS, sizeof(**g->ev))) != NULL, "no memory");
	g->now = BEGIN;
	device.uuid.data = uuid;
	device.uuid.len = sizeof(uuid);
	device.name = (char *)"NVIDIA H100 80GB HBM3";
	device.context_ns = BEGIN + 1;
	hello.host = (char *)"node1";
	hello.pid = 1000 + gpu;
	hello.process_start_ns = hello.armed_ns = BEGIN;
	hello.has_rank = true;
	hello.rank = hello.local_rank = gpu;
	hello.world_size = (uint32_t)gpus;
	hello.role = (char *)"trainer";
	hello.clock = (char *)"realtime";
	hello.level = (char *)"1";
	hello.cpus = 16;
	hello.n_devices = 1;
	hello.devices = devices;
	message(g, WIRE_FRAME_HELLO, &hello.base);
	put_names(g);
	g->now += 5000000000LL;
}

static void flush(struct long_gpu *g)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	int kind;

	for (kind = 1; kind < WIRE_KIND_MAX; kind++) {
		check(!g->n[kind] || !wire_encoder_block(g->encoder, g->ev[kind], g->n[kind], NULL,
							 g->now, &g->buf),
		      "events");
		g->n[kind] = 0;
	}
	spill(g);
	pulse.t_ns = pulse.complete_ns = g->now;
	pulse.level = (char *)"1";
	message(g, WIRE_FRAME_PULSE, &pulse.base);
}

static struct wire_event *event(struct long_gpu *g, int kind, int64_t start, int64_t end)
{
	struct wire_event *e = &g->ev[kind][g->n[kind]++];

	memset(e, 0, sizeof(*e));
	e->kind = (uint8_t)kind;
	e->start_ns = start;
	e->end_ns = end;
	return e;
}

/* A launch and its kernel; before each step a wait, after it the optimizer. Returns the events. */
static uint64_t kernel(struct long_gpu *g)
{
	uint64_t k = g->corr++, events = 2;
	struct wire_event *e;

	if (k % STEP == 0) {
		e = event(g, WIRE_KIND_RANGE, g->now, g->now + WAIT);
		e->op = WIRE_RANGE_LOADER;
		e->name = 3;
		e->tid = 1;
		g->now += WAIT;
		e = event(g, WIRE_KIND_RANGE, g->now + 1000, g->now + 2000);
		e->op = WIRE_RANGE_OPTIMIZER;
		e->name = 4;
		e->tid = 1;
		events += 2;
	}
	e = event(g, WIRE_KIND_API, g->now, g->now + 3000);
	e->op = WIRE_DOMAIN_RUNTIME;
	e->name = 2;
	e->tid = 1;
	e->corr = k + 1;
	e = event(g, WIRE_KIND_OP, g->now + 6000, g->now + PERIOD - (int64_t)(k % 7) * 900);
	e->op = WIRE_OP_KERNEL;
	e->name = 1;
	e->context = 1;
	e->stream = 7;
	e->corr = k + 1;
	g->now += PERIOD;
	return events;
}

static void finish(struct long_gpu *g)
{
	Wire__Bye bye = WIRE__BYE__INIT;
	int kind;

	flush(g);
	bye.t_ns = g->now + 1000000000;
	bye.reason = (char *)"exit";
	message(g, WIRE_FRAME_BYE, &bye.base);
	check(!fclose(g->out), "cannot write");
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		free(g->ev[kind]);
	wire_encoder_free(g->encoder);
	wire_buf_fini(&g->buf);
}

int main(int argc, char **argv)
{
	int gpus = argc > 3 ? atoi(argv[3]) : 8, i;
	uint64_t want, made, all = 0;

	check(argc > 2 && gpus > 0 && gpus < 250, "long_make FOLDER EVENTS [GPUS]");
	want = strtoull(argv[2], NULL, 10) / (uint64_t)gpus;
	for (i = 0; i < gpus; i++) {
		struct long_gpu g = { 0 };

		begin(&g, argv[1], i, gpus);
		for (made = 0; made < want;) {
			made += kernel(&g);
			if (g.n[WIRE_KIND_OP] == ROWS)
				flush(&g);
		}
		finish(&g);
		all += made;
	}
	printf("%llu\n", (unsigned long long)all);
	return 0;
}
