/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up events for tests and benches of the format: hostile ones, whose every field is random,
 * and realistic ones, like those of a training step.
 */
#ifndef TESTS_EVENTS_H
#define TESTS_EVENTS_H

#include "harness.h"
#include "wire/event.h"

/* Extreme values often, small ones often, anything else sometimes. */
static inline uint64_t t_wild(uint64_t *rnd)
{
	static const uint64_t edge[] = { 0,	    1,		127,	   128,	       255,
					 256,	    65535,	65536,	   UINT32_MAX, 1ull << 32,
					 INT64_MAX, 1ull << 63, UINT64_MAX };

	switch (t_random(rnd) % 4) {
	case 0:
		return edge[t_random(rnd) % (sizeof(edge) / sizeof(edge[0]))];
	case 1:
		return t_random(rnd) % 8;
	default:
		return t_random(rnd) >> t_random(rnd) % 64;
	}
}

static inline void t_events_wild(struct wire_event *ev, size_t n, uint8_t kind, uint64_t *rnd)
{
	size_t i;

	memset(ev, 0, n * sizeof(*ev));
	for (i = 0; i < n; i++) {
		ev[i].start_ns = (int64_t)t_wild(rnd);
		ev[i].end_ns = (int64_t)t_wild(rnd);
		ev[i].corr = t_wild(rnd);
		ev[i].bytes = t_wild(rnd);
		ev[i].name = (uint32_t)t_wild(rnd);
		ev[i].device = (uint32_t)t_wild(rnd) % 60;
		ev[i].context = (uint32_t)t_wild(rnd);
		ev[i].stream = (uint32_t)t_wild(rnd);
		ev[i].tid = (uint32_t)t_wild(rnd);
		ev[i].graph = (uint32_t)t_wild(rnd);
		ev[i].kind = kind;
		ev[i].op = (uint8_t)t_wild(rnd);
		ev[i].copy = (uint8_t)t_wild(rnd);
		ev[i].src = (uint8_t)t_wild(rnd);
		ev[i].dst = (uint8_t)t_wild(rnd);
		ev[i].flags = (uint8_t)t_wild(rnd);
		ev[i].peer = (uint16_t)t_wild(rnd);
	}
}

/* What a training loop looks like: a step's kernels repeat, with copies between them. */
struct t_job {
	uint64_t rnd;
	int64_t now; /* end of the work so far */
	uint64_t corr;
	uint32_t names; /* kernels of a step */
	uint32_t streams; /* 1: all work in order */
	uint32_t at; /* within the step */
	int64_t stream_end[8];
};

static inline struct t_job t_job_begin(uint64_t seed, uint32_t streams)
{
	return (struct t_job){
		.rnd = seed, .now = 1700000000000000000, .names = 300, .streams = streams
	};
}

/* GPU clocks tick in 32 ns. */
static inline int64_t t_tick(uint64_t ns)
{
	return (int64_t)(ns / 32 * 32);
}

static inline struct wire_event t_job_op(struct t_job *j)
{
	uint64_t shape = (j->at * 2654435761u) >> 8, noise = t_random(&j->rnd);
	uint32_t stream = j->streams > 1 && noise % 5 == 0 ? 1 + shape % (j->streams - 1) : 0;
	int64_t gap = t_tick(900 + (noise >> 8) % 700 + ((noise >> 40) % 50 ? 0 : 20000));
	int64_t length = t_tick(1500 + shape % 60000 + (noise >> 20) % (200 + shape % 2000));
	struct wire_event e = { .kind = WIRE_KIND_OP, .context = 1, .stream = 7 + stream };

	if (j->stream_end[stream] < j->now - 200000)
		j->stream_end[stream] = j->now;
	e.start_ns = j->stream_end[stream] + gap + (noise >> 60 == 0);
	e.end_ns = e.start_ns + length;
	j->stream_end[stream] = e.end_ns;
	j->now = e.end_ns > j->now ? e.end_ns : j->now;
	e.corr = j->corr += noise >> 50 & 7 ? 1 : 4;
	e.op = WIRE_OP_KERNEL;
	e.name = 10 + (uint32_t)(shape % 90);
	if (j->at % 60 == 59) {
		e.op = WIRE_OP_COPY;
		e.copy = WIRE_COPY_H2D;
		e.src = WIRE_MEM_PINNED;
		e.dst = WIRE_MEM_DEVICE;
		e.flags = WIRE_EV_FL_ASYNC;
		e.bytes = 1 << (10 + shape % 10);
		e.name = 0;
	}
	j->at = (j->at + 1) % j->names;
	return e;
}

/* The launch of an op, on the host's clock. */
static inline struct wire_event t_job_api(struct t_job *j, const struct wire_event *op)
{
	uint64_t noise = t_random(&j->rnd);
	struct wire_event e = { .kind = WIRE_KIND_API, .op = WIRE_DOMAIN_RUNTIME, .tid = 4711 };

	e.start_ns = j->now + 2000 + (int64_t)(noise % 3000) + ((noise >> 32) % 20 ? 0 : 40000);
	e.end_ns = e.start_ns + 2500 + (int64_t)(noise >> 16) % 1500;
	j->now = e.end_ns;
	e.corr = op->corr;
	e.name = op->op == WIRE_OP_KERNEL ? 2 : 3;
	return e;
}

#endif
