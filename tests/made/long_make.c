/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run of any length without holding it in memory: GPUS processes, each a training of its
 * own on one GPU, until EVENTS events are written in all. All end at about the same time.
 *
 *	long_make FOLDER EVENTS [GPUS [TRACE [host]]]
 *
 * What they do is drawn from long_stats.def, statistics of traces that were recorded: with TRACE,
 * from 0, all from that one, else each from the next. A step is a sequence of operations, drawn
 * once; it comes again and again, as it does in every one of them, and each time its lengths wobble
 * a little, its launches come at other times, and some of them come when the GPU has run out of
 * work. There are no collectives between the processes. With "host" there is evidence of what it
 * did, as in runs of ours (long_host.h), the events being the same. The seed is always the same.
 */
#include <stdlib.h>
#include <string.h>
#include "long_host.h"

#define ROWS 20000
#define BEGIN 1794232931000000000LL
#define TICK 32 /* the clock of an H100, ns */
#define NAMES 25
#define OTHERS 8
#define GROUPS 32
#define PENDING 64 /* calls that found no time yet */

/* Of one trace. Lists are means of groups of equal count, ascending. */
struct long_stats {
	const char *source;
	uint32_t period; /* operations of a step */
	uint32_t second; /* of 1,000 launches, those of another thread */
	int64_t lead; /* the longest from a launch to its operation */
	bool fine; /* its stamps are finer than a microsecond */
	uint32_t waits_every; /* operations from one loader wait to the next; 0: none */
	uint32_t
		empty_after[2]; /* of 1,000, launched on an idle GPU: after one that was not, was */
	int64_t host[GROUPS]; /* idle GPU until the launch */
	int64_t latency[GROUPS]; /* on an idle GPU, from the launch to the operation */
	int64_t turnaround[GROUPS]; /* behind what was queued; below 0: beside it */
	int64_t pace[GROUPS]; /* from the end of a launch to the next one */
	int64_t call[GROUPS]; /* how long a launch takes */
	int64_t wait[8]; /* for a loader */
	struct long_row {
		uint32_t count;
		uint8_t op, copy, src, dst;
		uint32_t stream;
		uint64_t bytes;
		int64_t length[8];
		const char *name;
	} rows[NAMES];
	struct {
		uint32_t count; /* to 1,000 operations */
		int64_t length[8];
		const char *name;
	} others[OTHERS]; /* calls that launch nothing */
};

#define LONG_TRACE(...) __VA_ARGS__,
#define LONG_WOBBLE(...)
static const struct long_stats traces[] = {
#include "long_stats.def"
};
#undef LONG_TRACE
#undef LONG_WOBBLE
#define LONG_TRACE(...)
#define LONG_WOBBLE(...) __VA_ARGS__
static const int64_t wobble[GROUPS] = {
#include "long_stats.def"
};
#define TRACES (sizeof(traces) / sizeof(traces[0]))

struct long_gpu {
	struct made_stream s;
	const struct long_stats *of;
	uint64_t random;
	int64_t host; /* where its thread stands */
	int64_t reached; /* the latest end of an operation */
	int64_t started; /* the latest start of one */
	int64_t ends[NAMES]; /* of streams, by the first row that has it */
	int64_t calls; /* thousandths that are due */
	uint64_t corr;
	bool empty;
	uint32_t late; /* launches on an idle GPU that were not drawn */
	uint32_t at;
	struct {
		uint32_t row;
		int64_t length;
	} * step;
	uint32_t names[NAMES], others[OTHERS], launch, loader, optimizer;
	uint32_t lane[NAMES]; /* of a row, index into ends */
	uint32_t per_op; /* calls to 1,000 operations */
	bool streams; /* more than one */
	struct long_host seen; /* of its host */
	bool looks; /* ... if anybody looks at it */
};

static uint32_t roll(struct long_gpu *g)
{
	g->random = g->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(g->random >> 32);
}

/* One of a list: a group's mean, moved by up to half of the way to its neighbours. */
static int64_t draw(struct long_gpu *g, const int64_t *mean, uint32_t n)
{
	uint32_t r = roll(g), i = (r >> 16) % n;
	int64_t low = mean[i ? i - 1 : 0], high = mean[i + 1 < n ? i + 1 : i];
	int64_t wide = (high - low) / (i && i + 1 < n ? 2 : 1);

	return mean[i] + wide * ((int64_t)(r & 0xffff) - 0x8000) / 0x10000;
}

/* A time: those that a coarse clock told are spread over its tick. */
static int64_t draw_ns(struct long_gpu *g, const int64_t *mean, uint32_t n)
{
	int64_t ns = draw(g, mean, n);

	return g->of->fine ? ns : ns + roll(g) % 1000 - 500;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static uint32_t name(struct long_gpu *g, const char *text)
{
	return text ? made_name(&g->s, text, strlen(text)) : 0;
}

static void put_names(struct long_gpu *g)
{
	uint32_t i;

	for (i = 0; i < NAMES; i++)
		g->names[i] = name(g, g->of->rows[i].name);
	for (i = 0; i < OTHERS; i++)
		g->others[i] = name(g, g->of->others[i].name);
	g->launch = name(g, "cudaLaunchKernel");
	g->loader = name(g, "enumerate(DataLoader)#iter.__next__");
	g->optimizer = name(g, "Optimizer.step#SGD.step");
	made_names(&g->s, g->host);
}

/* The rows of the step, and how long each operation is as a rule. */
static void plan(struct long_gpu *g)
{
	const struct long_row *row = g->of->rows;
	uint32_t all = 0, i, k, left;

	for (i = 0; i < NAMES && row[i].count; i++) {
		all += row[i].count;
		for (k = 0; row[k].stream != row[i].stream;)
			k++;
		g->lane[i] = k;
		g->streams |= k > 0;
	}
	for (i = 0; i < OTHERS; i++)
		g->per_op += g->of->others[i].count;
	g->step = calloc(g->of->period, sizeof(*g->step));
	made_need(g->step != NULL, "no memory");
	for (i = 0; i < g->of->period; i++) {
		for (k = 0, left = roll(g) % all; left >= row[k].count; k++)
			left -= row[k].count;
		g->step[i].row = k;
		g->step[i].length = later(draw_ns(g, row[k].length, 8), 10 * TICK);
	}
}

static void begin(struct long_gpu *g, const char *folder, int gpu, const struct long_stats *of,
		  bool looks)
{
	uint8_t id[16] = "a long run";
	struct made_hello h;
	char path[4096];

	id[15] = (uint8_t)gpu;
	snprintf(path, sizeof(path), "%s/%d.gst", folder, gpu);
	made_open(&g->s, path, id);
	g->of = of;
	g->random = (uint64_t)gpu;
	g->host = BEGIN;
	made_hello_init(&h, "node1", 1000 + gpu, BEGIN, "NVIDIA H100 80GB HBM3");
	h.uuid[0] = (uint8_t)(gpu + 1);
	h.device.context_ns = BEGIN + 1;
	h.m.role = (char *)"trainer";
	h.m.cpus = 16;
	made_message(&g->s, WIRE_FRAME_HELLO, &h.m.base, g->host);
	g->looks = looks;
	if (looks)
		long_host_begin(&g->seen, &g->s, (uint32_t)h.m.pid, 1, g->host + 1000000);
	put_names(g);
	plan(g);
	g->host += 5000000000LL;
	g->reached = g->host;
}

static void flush(struct long_gpu *g)
{
	int64_t now = later(g->host, g->reached);

	if (g->streams)
		made_sort(&g->s, WIRE_KIND_OP); /* records come as operations complete */
	made_flush(&g->s, now);
	if (g->looks)
		long_host_flush(&g->seen, &g->s, now);
	made_pulse(&g->s, now, now);
}

static struct wire_event *range(struct long_gpu *g, int op, uint32_t called, int64_t ns)
{
	struct wire_event *e = made_event(&g->s, WIRE_KIND_RANGE, g->host, g->host + ns);

	e->op = (uint8_t)op;
	e->name = called;
	e->tid = 1;
	return e;
}

static struct wire_event *call(struct long_gpu *g, int64_t start, int64_t ns, uint32_t called)
{
	struct wire_event *e = made_event(&g->s, WIRE_KIND_API, start, start + ns);

	e->op = WIRE_DOMAIN_RUNTIME;
	e->name = called;
	e->tid = g->at < g->of->period * (uint64_t)(1000 - g->of->second) / 1000 ? 1 : 2;
	e->corr = ++g->corr;
	return e;
}

/* What is due between two launches, as long as there is time. Returns the events. */
static uint64_t calls(struct long_gpu *g, int64_t until)
{
	uint64_t events = 0;
	uint32_t k, left;
	int64_t ns;

	for (g->calls += g->per_op; g->calls >= 1000; g->calls -= 1000, events++) {
		for (k = 0, left = roll(g) % g->per_op; left >= g->of->others[k].count; k++)
			left -= g->of->others[k].count;
		ns = later(draw_ns(g, g->of->others[k].length, 8), 200);
		if (g->host + ns + 300 > until)
			break;
		call(g, g->host + 150, ns, g->others[k]);
		g->host += ns + 150;
	}
	if (g->calls > 1000 * PENDING)
		g->calls = 1000 * PENDING;
	return events;
}

/*
 * When the next operation is launched; whether the GPU has nothing left then is in g->empty. Where
 * the thread comes too late for what was drawn, one of the later ones is taken back.
 */
static int64_t launched(struct long_gpu *g)
{
	const struct long_stats *of = g->of;
	bool empty = roll(g) % 1000 < of->empty_after[g->empty], late = g->host > g->reached;
	int64_t t;

	if (late && !empty)
		g->late++;
	if (!late && empty && g->late) {
		g->late--;
		empty = false;
	}
	g->empty = late || empty;
	if (g->empty)
		return later(g->host, g->reached + later(draw_ns(g, of->host, GROUPS), 1));
	t = g->host + later(draw_ns(g, of->pace, GROUPS), 0);
	if (t - g->host >
	    (g->reached - g->host) / 2) /* pauses are made where there is time for them */
		t = g->host + later(draw_ns(g, of->pace, GROUPS / 4), 0);
	return later(t < g->reached ? t : g->reached, g->reached - of->lead);
}

static void operation(struct long_gpu *g, int64_t launch)
{
	uint32_t k = g->step[g->at].row;
	const struct long_row *row = &g->of->rows[k];
	int64_t start, ns = g->step[g->at].length;
	struct wire_event *e;

	start = g->empty ? launch + draw_ns(g, g->of->latency, GROUPS)
			 : g->reached + draw_ns(g, g->of->turnaround, GROUPS);
	start = later(later(start, launch + g->of->latency[0] / 2), g->started);
	start = (later(start, g->ends[g->lane[k]]) + TICK - 1) / TICK * TICK;
	ns = later(ns + ns * draw(g, wobble, GROUPS) / 1000, 10 * TICK) / TICK * TICK;
	e = made_event(&g->s, WIRE_KIND_OP, start, start + ns);
	e->op = row->op;
	e->copy = row->copy;
	e->src = row->src;
	e->dst = row->dst;
	e->bytes = row->bytes;
	e->name = row->op == WIRE_OP_KERNEL ? g->names[k] : 0;
	e->context = 1;
	e->stream = row->stream;
	e->corr = g->corr;
	g->started = start;
	g->ends[g->lane[k]] = start + ns;
	g->reached = later(g->reached, start + ns);
}

/* A launch and its operation, and what comes before them. Returns the events. */
static uint64_t next(struct long_gpu *g, uint64_t ops)
{
	uint64_t events = 2;
	int64_t launch, ns;

	if (!g->at && ops) {
		range(g, WIRE_RANGE_OPTIMIZER, g->optimizer, 1000);
		g->host += 2000;
		events++;
	}
	if (g->of->waits_every && ops % g->of->waits_every == 0) {
		ns = later(draw_ns(g, g->of->wait, 8), 1000);
		range(g, WIRE_RANGE_LOADER, g->loader, ns);
		if (g->looks)
			long_host_wait(&g->seen, g->host, g->host + ns);
		g->host += ns;
		events++;
	}
	launch = launched(g);
	events += calls(g, launch);
	launch = later(launch, g->host + 100);
	ns = draw_ns(g, g->of->call, GROUPS);
	if (ns > (g->reached - launch) / 2) /* those that last long wait for room in a full queue */
		ns = draw_ns(g, g->of->call, GROUPS / 2);
	ns = later(ns, 500);
	call(g, launch, ns, g->launch);
	g->host = launch + ns;
	if (g->looks)
		long_host_work(&g->seen, g->host);
	operation(g, launch);
	g->at = g->at + 1 < g->of->period ? g->at + 1 : 0;
	return events;
}

static void finish(struct long_gpu *g)
{
	int64_t now = later(g->host, g->reached);

	flush(g);
	made_bye(&g->s, now + 1000000000, now);
	made_close(&g->s);
	long_host_end(&g->seen);
	free(g->step);
}

int main(int argc, char **argv)
{
	int gpus = argc > 3 ? atoi(argv[3]) : 8, i, least;
	size_t trace = argc > 4 ? strtoul(argv[4], NULL, 10) : TRACES;
	bool looks = argc > 5 && !strcmp(argv[5], "host");
	uint64_t want, made = 0, *ops;
	struct long_gpu *gpu;

	made_need(argc > 2 && gpus > 0 && gpus < 250 && (argc < 5 || trace < TRACES) &&
			  (argc < 6 || looks),
		  "long_make FOLDER EVENTS [GPUS [TRACE [host]]]");
	want = strtoull(argv[2], NULL, 10);
	gpu = calloc((size_t)gpus, sizeof(*gpu));
	ops = calloc((size_t)gpus, sizeof(*ops));
	made_need(gpu && ops, "no memory");
	for (i = 0; i < gpus; i++)
		begin(&gpu[i], argv[1], i, &traces[argc > 4 ? trace : (size_t)i % TRACES], looks);
	while (made < want) {
		for (i = least = 0; i < gpus; i++)
			if (gpu[i].host < gpu[least].host)
				least = i;
		made += next(&gpu[least], ops[least]++);
		if (gpu[least].s.rows[WIRE_KIND_OP].n == ROWS)
			flush(&gpu[least]);
	}
	for (i = 0; i < gpus; i++)
		finish(&gpu[i]);
	free(gpu);
	free(ops);
	printf("%llu\n", (unsigned long long)made);
	return 0;
}
