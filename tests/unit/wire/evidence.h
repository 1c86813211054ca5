/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up samples and batches for tests and benches: hostile ones, whose every field is random, and
 * realistic ones, like those of a trainer with loader workers.
 */
#ifndef TESTS_EVIDENCE_H
#define TESTS_EVIDENCE_H

#include "events.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

static inline void t_samples_wild(struct wire_sample *s, size_t n, uint64_t *rnd)
{
	size_t i;

	memset(s, 0, n * sizeof(*s));
	for (i = 0; i < n; i++) {
		s[i].t_ns = (int64_t)t_wild(rnd);
		s[i].cpu_ns = t_wild(rnd);
		s[i].delay_ns = t_wild(rnd);
		s[i].throttled_ns = t_wild(rnd);
		s[i].period_ns = (uint32_t)t_wild(rnd);
		s[i].pid = (uint32_t)t_wild(rnd);
		s[i].tid = (uint32_t)t_wild(rnd);
		s[i].stack = (uint32_t)t_wild(rnd);
		s[i].native = (uint32_t)t_wild(rnd);
		s[i].target = (uint32_t)t_wild(rnd);
		s[i].fs = (uint32_t)t_wild(rnd);
		s[i].links = (uint32_t)t_wild(rnd);
		s[i].syscall = (uint16_t)t_wild(rnd);
		s[i].role = (uint8_t)t_wild(rnd);
		s[i].state = (uint8_t)t_wild(rnd);
		s[i].wait = (uint8_t)t_wild(rnd);
		s[i].flags = (uint8_t)t_wild(rnd);
	}
}

static inline void t_batches_wild(struct wire_batch *b, size_t n, uint64_t *rnd)
{
	size_t i;

	memset(b, 0, n * sizeof(*b));
	for (i = 0; i < n; i++) {
		b[i].start_ns = (int64_t)t_wild(rnd);
		b[i].end_ns = (int64_t)t_wild(rnd);
		b[i].batch = t_wild(rnd);
		b[i].cpu_ns = t_wild(rnd);
		b[i].delay_ns = t_wild(rnd);
		b[i].rchar_bytes = t_wild(rnd);
		b[i].read_bytes = t_wild(rnd);
		b[i].major_faults = t_wild(rnd);
		b[i].pid = (uint32_t)t_wild(rnd);
		b[i].tid = (uint32_t)t_wild(rnd);
		b[i].loader = (uint32_t)t_wild(rnd);
		b[i].worker = (uint32_t)t_wild(rnd);
		b[i].samples = (uint32_t)t_wild(rnd);
		b[i].text = (uint32_t)t_wild(rnd);
		b[i].what = (uint8_t)t_wild(rnd);
	}
}

/* One trainer and eight workers, looked at every 20 ms: what they do changes now and then. */
#define T_WORKERS 8

struct t_host {
	uint64_t rnd;
	int64_t now;
	uint32_t at; /* thread whose turn it is, 0: the trainer's */
	uint64_t cpu[T_WORKERS + 1], delay[T_WORKERS + 1], batch[T_WORKERS + 1];
	uint32_t stack[T_WORKERS + 1];
};

static inline struct t_host t_host_begin(uint64_t seed)
{
	return (struct t_host){ .rnd = seed, .now = 1700000000000000000 };
}

static inline struct wire_sample t_host_sample(struct t_host *h)
{
	uint64_t noise = t_random(&h->rnd);
	uint32_t at = h->at;
	bool waits = at == 0 || noise % 4 == 0;
	struct wire_sample s = { .pid = 4711 + at, .tid = 4711 + at, .period_ns = 20000000 };

	if (!at)
		h->now += 19900000 + (int64_t)(noise >> 8) % 200000;
	if (!h->stack[at] || (noise >> 32) % 3 == 0)
		h->stack[at] = 20 + (uint32_t)(noise >> 34) % 40;
	h->cpu[at] += waits ? 0 : 18000000 + (noise >> 40) % 2000000;
	h->delay[at] += (noise >> 20) % 50000;
	s.t_ns = h->now + at * 15000 + (int64_t)(noise >> 50) % 4000;
	s.cpu_ns = 1000000000 + h->cpu[at];
	s.delay_ns = h->delay[at];
	s.stack = h->stack[at];
	s.native = at ? 0 : 61;
	s.target = waits ? 62 + (uint32_t)(noise >> 45) % 30 : 0;
	s.fs = waits && at ? 100 : 0;
	s.links = waits ? 101 : 0;
	s.syscall = waits ? (at ? 1 : 203) : 0;
	s.role = at ? WIRE_ROLE_WORKER : WIRE_ROLE_SUBMITTER;
	s.state = waits ? (at ? WIRE_STATE_DISK : WIRE_STATE_SLEEPING) : WIRE_STATE_RUNNING;
	s.wait = waits ? (at ? WIRE_WAIT_READ : WIRE_WAIT_QUEUE) : WIRE_WAIT_NONE;
	s.flags = at ? 0 : WIRE_SAMPLE_FL_STEADY;
	h->at = (at + 1) % (T_WORKERS + 1);
	return s;
}

static inline struct wire_batch t_host_batch(struct t_host *h)
{
	uint64_t noise = t_random(&h->rnd);
	uint32_t at = h->at;
	struct wire_batch b = { .pid = 4711 + at, .tid = 4711 + at, .loader = 1, .worker = at };

	if (!at)
		h->now += 80000000;
	b.what = at ? WIRE_BATCH_FETCH : WIRE_BATCH_TAKE;
	b.batch = h->batch[at] + (at ? at - 1 : 0);
	h->batch[at] += at ? T_WORKERS : 1;
	b.start_ns = h->now + (int64_t)(noise % 300000);
	b.end_ns = b.start_ns + 60000000 + (int64_t)(noise >> 20) % 15000000;
	b.cpu_ns = at ? 30000000 + (noise >> 30) % 20000000 : 40000;
	b.delay_ns = (noise >> 40) % 400000;
	b.rchar_bytes = at ? 6000000 + (noise >> 12) % 900000 : 0;
	b.read_bytes = at ? b.rchar_bytes & ~4095ull : 0;
	b.samples = at ? 64 : 0;
	b.text = h->batch[0] == 1 && !at ? 60 : 0;
	h->at = (at + 1) % (T_WORKERS + 1);
	return b;
}

/* The texts that the rows above name: 20 to 59 stacks, 60 settings, 61 native, 62 to 91 files. */
static inline void t_host_names(struct wire_strtab *names)
{
	char text[200];
	uint32_t i;

	for (i = 1; i <= 100; i++) {
		if (i >= 20 && i < 60)
			snprintf(text, sizeof(text),
				 "__getitem__\tdata.py\t%u\nfetch\tfetch.py\t54\n_worker_loop\t"
				 "worker.py\t308",
				 i);
		else if (i == 60)
			snprintf(text, sizeof(text), "workers=%d prefetch=2 batch=64", T_WORKERS);
		else if (i == 61)
			snprintf(text, sizeof(text),
				 "/lib/libc.so.6\t9a6f1\t1b2c\n<python>\n/opt/my app.so\t10\t");
		else if (i < 100)
			snprintf(text, sizeof(text), "/data/%u/image.jpg", i);
		else
			snprintf(text, sizeof(text), "ext4");
		REQUIRE(wire_strtab_intern(names, text, strlen(text)) == i);
	}
}

/* The ranges that are evidence, too. */
static inline void t_host_ranges(struct wire_event *ev, int64_t start)
{
	static const uint8_t op[] = { WIRE_RANGE_GC, WIRE_RANGE_CHECKPOINT, WIRE_RANGE_ITER };
	size_t i;

	memset(ev, 0, 3 * sizeof(*ev));
	for (i = 0; i < 3; i++) {
		ev[i].kind = WIRE_KIND_RANGE;
		ev[i].op = op[i];
		ev[i].start_ns = start + (int64_t)i * 1000000;
		ev[i].end_ns = ev[i].start_ns + 5000;
		ev[i].tid = 4711;
		ev[i].name = op[i] == WIRE_RANGE_CHECKPOINT ? 99 : 0;
	}
}

/*
 * A stream of Hello, names, ranges, @n > 3 samples, as many batches, three of each wild, and Bye.
 */
static inline void t_evidence_make(struct wire_buf *out, size_t n)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"stream evidence.", 3);
	struct t_host one = t_host_begin(1), two = t_host_begin(2);
	struct wire_sample *sample = calloc(n, sizeof(*sample));
	struct wire_batch *batch = calloc(n, sizeof(*batch));
	struct wire_strtab *names = wire_strtab_new();
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Bye bye = WIRE__BYE__INIT;
	struct wire_event range[3];
	uint64_t rnd = 3;
	uint32_t next;
	size_t i;

	REQUIRE(e && sample && batch && names);
	t_host_names(names);
	t_host_ranges(range, one.now);
	for (i = 0; i < n; i++) {
		sample[i] = t_host_sample(&one);
		batch[i] = t_host_batch(&two);
	}
	t_samples_wild(sample + n - 3, 3, &rnd);
	t_batches_wild(batch + n - 3, 3, &rnd);
	hello.host = (char *)"box";
	hello.pid = 4711;
	hello.clock = (char *)"realtime";
	bye.reason = (char *)"exit";
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_HELLO, &hello.base, 1, out));
	REQUIRE(!wire_encoder_strings(e, names, 1, &next, 2, out) && next == 101);
	REQUIRE(!wire_encoder_block(e, range, 3, NULL, 3, out));
	REQUIRE(!wire_encoder_samples(e, sample, n, 4, out));
	REQUIRE(!wire_encoder_batches(e, batch, n, 5, out));
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_BYE, &bye.base, 6, out));
	wire_strtab_free(names);
	free(batch);
	free(sample);
	wire_encoder_free(e);
}

#endif
