/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analysis costs: events per second and core, and memory, over a made-up training run
 * written through wire: per step a loader wait, copies, a few hundred launches on three streams,
 * stream waits, a synchronisation; one in ten steps starves.
 *
 *	bench_engine [--events N] [--gpus N] [--threads N] [--block EVENTS] [--launch-bound] [RUN...]
 *
 * Everything is analysed twice, without the series of the page and with them. With RUN... those are
 * analysed instead. --launch-bound: every kernel waits for its launch, so
 * every gap has to be decided. Trace and analysis are made in processes of their own, so that the
 * memory told is the analysis's.
 */
#include "harness.h"

#include <getopt.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "analysis/ledger.h"
#include "trace/trace.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

#define STEP_LAUNCHES 600
#define NAMES 300
#define BASE 1700000000000000000

struct opts {
	long events, gpus, threads, block;
	bool launch_bound, series;
};

struct table { /* events of one kind, until a block is full */
	struct wire_event *ev;
	size_t n;
};

struct maker {
	const struct opts *o;
	FILE *file;
	struct wire_encoder *encoder;
	struct wire_strtab *names;
	struct wire_buf out;
	struct table table[WIRE_KIND_MAX];
	uint64_t random, corr, written;
	int64_t host, device[3]; /* where the host stands, and each stream's end */
};

static void spill(struct maker *m)
{
	REQUIRE(fwrite(m->out.data, 1, m->out.len, m->file) == m->out.len);
	m->out.len = 0;
}

static int by_end(const void *a, const void *b)
{
	const struct wire_event *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* Records come in order of completion. */
static void flush_table(struct maker *m, int kind)
{
	struct table *t = &m->table[kind];

	if (!t->n)
		return;
	qsort(t->ev, t->n, sizeof(*t->ev), by_end);
	REQUIRE(!wire_encoder_block(m->encoder, t->ev, t->n, NULL, m->host, &m->out));
	m->written += t->n;
	t->n = 0;
	spill(m);
}

static struct wire_event *add(struct maker *m, int kind)
{
	struct table *t = &m->table[kind];
	struct wire_event *e;

	if (t->n == (size_t)m->o->block)
		flush_table(m, kind);
	e = &t->ev[t->n++];
	memset(e, 0, sizeof(*e));
	e->kind = (uint8_t)kind;
	return e;
}

static uint64_t below(struct maker *m, uint64_t n)
{
	return t_random(&m->random) % n;
}

static void launch(struct maker *m, uint32_t name, int op, unsigned int s)
{
	struct wire_event *api = add(m, WIRE_KIND_API), *e = add(m, WIRE_KIND_OP);
	int64_t start, ns = (int64_t)(2000 + below(m, 12000));

	api->start_ns = m->host;
	api->end_ns = m->host + (int64_t)(2500 + below(m, 1500));
	api->corr = ++m->corr;
	api->name = op == WIRE_OP_COPY ? 2 : 1;
	api->tid = 4242;
	api->op = WIRE_DOMAIN_RUNTIME;
	m->host = api->end_ns + (int64_t)(m->o->launch_bound ? 12000 + below(m, 8000) : 1000);
	start = api->start_ns + 4500;
	if (start < m->device[s] + 1200)
		start = m->device[s] + 1200;
	m->device[s] = start + ns;
	*e = (struct wire_event){ .kind = WIRE_KIND_OP,
				  .start_ns = start,
				  .end_ns = start + ns,
				  .corr = m->corr,
				  .name = name,
				  .context = 1,
				  .stream = 7 + s * 6,
				  .op = (uint8_t)op };
	if (op == WIRE_OP_COPY) {
		e->bytes = 1 << 20;
		e->copy = WIRE_COPY_H2D;
		e->src = WIRE_MEM_PINNED;
		e->dst = WIRE_MEM_DEVICE;
		e->flags = WIRE_EV_FL_ASYNC;
	}
}

static void range(struct maker *m, int64_t ns)
{
	struct wire_event *e = add(m, WIRE_KIND_RANGE);

	e->start_ns = m->host;
	e->end_ns = m->host + ns;
	e->name = 3;
	e->tid = 4242;
	e->op = WIRE_RANGE_LOADER;
	m->host += ns;
}

static void synchronise(struct maker *m)
{
	struct wire_event *api = add(m, WIRE_KIND_API);
	int64_t end = m->device[0] > m->host ? m->device[0] : m->host;

	api->start_ns = m->host;
	api->end_ns = end + 3000;
	api->corr = ++m->corr;
	api->name = 4;
	api->tid = 4242;
	api->op = WIRE_DOMAIN_RUNTIME;
	m->host = api->end_ns;
}

static void stream_wait(struct maker *m)
{
	struct wire_event *e = add(m, WIRE_KIND_SYNC);

	e->start_ns = m->host;
	e->end_ns = m->host + 300;
	e->context = 1;
	e->stream = 7;
	e->op = WIRE_SYNC_STREAM_WAIT;
}

static void step(struct maker *m, unsigned long number)
{
	unsigned int i;

	range(m, number % 10 ? 20000 : 30000000);
	launch(m, 0, WIRE_OP_COPY, 1);
	stream_wait(m);
	for (i = 0; i < STEP_LAUNCHES; i++) {
		launch(m, 5 + (uint32_t)(i % NAMES), WIRE_OP_KERNEL, i % 50 ? 0 : 2);
		if (i % 100 == 0)
			stream_wait(m);
	}
	synchronise(m);
}

static void name(struct maker *m, const char *text)
{
	wire_strtab_intern(m->names, text, strlen(text));
}

static void begin_stream(struct maker *m, unsigned int gpu)
{
	uint8_t uuid[16] = { 1, 2, 3, (uint8_t)gpu };
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Device device = WIRE__DEVICE__INIT, *devices[1] = { &device };
	uint32_t next = 1, i;

	device.uuid.data = uuid;
	device.uuid.len = sizeof(uuid);
	device.name = (char *)"NVIDIA H100 80GB HBM3 (simulated)";
	device.context_ns = BASE;
	hello.host = (char *)"bench";
	hello.pid = 1000 + gpu;
	hello.process_start_ns = hello.armed_ns = BASE;
	hello.n_devices = 1;
	hello.devices = devices;
	hello.clock = (char *)"realtime";
	REQUIRE(!wire_encoder_message(m->encoder, WIRE_FRAME_HELLO, &hello.base, BASE, &m->out));
	name(m, "cudaLaunchKernel");
	name(m, "cudaMemcpyAsync");
	name(m, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(m, "cudaStreamSynchronize");
	for (i = 0; i < NAMES; i++) {
		char text[64];

		snprintf(text, sizeof(text),
			 i % 60 ? "void kernel_%u<float>(float *, int)" : "ncclDevKernel_%u", i);
		name(m, text);
	}
	while (next <= wire_strtab_count(m->names))
		REQUIRE(!wire_encoder_strings(m->encoder, m->names, next, &next, BASE, &m->out));
}

static void end_stream(struct maker *m)
{
	Wire__Bye bye = WIRE__BYE__INIT;

	bye.t_ns = m->host;
	bye.reason = (char *)"exit";
	REQUIRE(!wire_encoder_message(m->encoder, WIRE_FRAME_BYE, &bye.base, m->host, &m->out));
	spill(m);
}

static void make_stream(const struct opts *o, const char *dir, unsigned int gpu)
{
	uint8_t id[16] = { 0xbe, (uint8_t)gpu };
	struct maker m = { .o = o, .random = gpu + 1, .host = BASE + 1000000 };
	char path[512];
	unsigned long n = 0;
	int kind;

	snprintf(path, sizeof(path), "%s/%02u.gst", dir, gpu);
	m.file = fopen(path, "wb");
	m.encoder = wire_encoder_new(id, 3);
	m.names = wire_strtab_new();
	REQUIRE(m.file && m.encoder && m.names);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		REQUIRE(m.table[kind].ev = malloc((size_t)o->block * sizeof(struct wire_event)));
	begin_stream(&m, gpu);
	while (m.written < (uint64_t)(o->events / o->gpus))
		step(&m, n++);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		flush_table(&m, kind);
	end_stream(&m);
	REQUIRE(!fclose(m.file));
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void analyse(const struct opts *o, const char *path)
{
	struct ana_options ao = { .threads = (unsigned int)o->threads,
				  .timeline_buckets = 2000,
				  .top_gaps = 20,
				  .series = o->series };
	struct view_trace *t;
	struct ana_result *r;
	const char *why;
	double start = now(), opened;

	if (view_trace_open(&t, path, &why)) {
		printf("%s: %s\n", path, why);
		exit(1);
	}
	opened = now();
	REQUIRE(!ana_run(t, &ao, &r));
	printf("%" PRIu64 " events, %zu GPUs, %" PRIu64
	       " gaps on the first, trace %.1f MB; opened in %.2f s, "
	       "analysed in %.2f s\n",
	       r->quality.events, r->gpus, r->gpu[0].gaps, (double)r->quality.trace_bytes / 1e6,
	       opened - start, now() - opened);
	fflush(stdout);
	printf("EVENTS %" PRIu64 "\n", r->quality.events);
	ana_result_free(r);
	view_trace_close(t);
}

/* Runs @path's analysis in a child and tells its CPU time and memory. */
static void measure_one(const struct opts *o, const char *path)
{
	struct rusage u;
	uint64_t events = 0;
	char line[512];
	FILE *f;
	int fd[2], status;
	pid_t pid;

	REQUIRE(!pipe(fd));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd[1], 1);
		analyse(o, path);
		exit(0);
	}
	close(fd[1]);
	f = fdopen(fd[0], "r");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "EVENTS %" SCNu64, &events) != 1)
			fputs(line, stdout);
	fclose(f);
	wait4(pid, &status, 0, &u);
	if (!events)
		return;
	printf("  %s: %.1f M events/s per core (%.2f s CPU), RSS %.1f MB\n",
	       o->series ? "with series" : "without series",
	       (double)events / (seconds(u.ru_utime) + seconds(u.ru_stime)) / 1e6,
	       seconds(u.ru_utime) + seconds(u.ru_stime), (double)u.ru_maxrss / 1024);
}

static void measure(const struct opts *given, const char *path)
{
	struct opts o = *given;

	measure_one(&o, path);
	o.series = true;
	measure_one(&o, path);
}

static void make_and_measure(const struct opts *o)
{
	char dir[256], cmd[300];
	unsigned int i;
	int status;
	pid_t pid;

	t_tempdir(dir, sizeof(dir));
	fflush(stdout);
	for (i = 0; i < (unsigned int)o->gpus; i++) {
		pid = fork();
		if (!pid) {
			make_stream(o, dir, i);
			exit(0);
		}
		waitpid(pid, &status, 0);
		REQUIRE(!status);
	}
	measure(o, dir);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	REQUIRE(!system(cmd));
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "events", required_argument, NULL, 'e' },
		{ "gpus", required_argument, NULL, 'g' },
		{ "threads", required_argument, NULL, 't' },
		{ "block", required_argument, NULL, 'b' },
		{ "launch-bound", no_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	struct opts o = { .events = 10000000, .gpus = 1, .threads = 1, .block = 8192 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		long v = optarg ? atol(optarg) : 0;

		switch (c) {
		case 'e':
			o.events = v;
			break;
		case 'g':
			o.gpus = v;
			break;
		case 't':
			o.threads = v;
			break;
		case 'b':
			o.block = v;
			break;
		case 'l':
			o.launch_bound = true;
			break;
		default:
			return 2;
		}
	}
	for (c = optind; c < argc; c++)
		measure(&o, argv[c]);
	if (optind == argc)
		make_and_measure(&o);
	return 0;
}
