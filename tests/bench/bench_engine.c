/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analysis costs: events per second and core, and memory, over a made-up training run
 * written through wire: per step a loader wait, copies, a few hundred launches on three streams,
 * stream waits, a synchronisation; one in ten steps starves.
 *
 *	bench_engine [--events N] [--gpus N] [--threads N] [--block EVENTS] [--launch-bound]
 *		[--host] [--make DIR | RUN...]
 *
 * Everything is analysed twice, without the series of the page and with them. With RUN... those
 * are analysed instead; --make writes the run there, and that is all. --launch-bound: every kernel
 * waits for its launch, so every gap has to be decided. --host: somebody looked at the host all the
 * while (made/long_host.h). Trace and analysis are made in processes of their own, so that the
 * memory told is the analysis's.
 */
#include "cost.h"

#include <getopt.h>
#include <sys/wait.h>
#include "analysis/ledger.h"
#include "made/long_host.h"
#include "trace/trace.h"

#define STEP_LAUNCHES 600
#define NAMES 300
#define BASE 1700000000000000000

struct opts {
	long events, gpus, threads, block;
	bool launch_bound, looks, series;
};

struct maker {
	const struct opts *o;
	struct made_stream s;
	struct long_host seen;
	uint64_t random, corr, written;
	int64_t host, device[3]; /* where the host stands, and each stream's end */
};

/* Records come in order of completion. */
static void flush_kind(struct maker *m, int kind)
{
	m->written += m->s.rows[kind].n;
	made_sort(&m->s, kind);
	made_flush_kind(&m->s, kind, m->host);
	if (m->o->looks)
		long_host_flush(&m->seen, &m->s, m->host);
}

static struct wire_event *add(struct maker *m, int kind)
{
	if (m->s.rows[kind].n == (size_t)m->o->block)
		flush_kind(m, kind);
	return made_event(&m->s, kind, 0, 0);
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
	if (m->o->looks)
		long_host_wait(&m->seen, m->host, m->host + ns);
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
	if (m->o->looks)
		long_host_work(&m->seen, m->host);
}

static void name(struct maker *m, const char *text)
{
	made_name(&m->s, text, strlen(text));
}

static void begin_stream(struct maker *m, unsigned int gpu)
{
	struct made_hello h;
	unsigned int i;

	made_hello_init(&h, "bench", 1000 + gpu, BASE, "NVIDIA H100 80GB HBM3 (simulated)");
	memcpy(h.uuid, (uint8_t[]){ 1, 2, 3, (uint8_t)gpu }, 4);
	h.device.context_ns = BASE;
	made_message(&m->s, WIRE_FRAME_HELLO, &h.m.base, BASE);
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
	if (m->o->looks)
		long_host_begin(&m->seen, &m->s, 1000 + gpu, 4242, BASE + 2000000);
	made_names(&m->s, BASE);
}

static void make_stream(const struct opts *o, const char *dir, unsigned int gpu)
{
	uint8_t id[16] = { 0xbe, (uint8_t)gpu };
	struct maker m = { .o = o, .random = gpu + 1, .host = BASE + 1000000 };
	char path[512];
	unsigned long n = 0;
	int kind;

	snprintf(path, sizeof(path), "%s/%02u.gst", dir, gpu);
	made_open(&m.s, path, id);
	begin_stream(&m, gpu);
	while (m.written < (uint64_t)(o->events / o->gpus))
		step(&m, n++);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		flush_kind(&m, kind);
	made_bye(&m.s, m.host, m.host);
	made_close(&m.s);
	long_host_end(&m.seen);
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
	double start = b_now(), opened;

	if (view_trace_open(&t, path, &why)) {
		printf("%s: %s\n", path, why);
		exit(1);
	}
	opened = b_now();
	REQUIRE(!ana_run(t, &ao, &r));
	printf("%" PRIu64 " events, %zu GPUs, %" PRIu64
	       " gaps on the first, trace %.1f MB; opened in %.2f s, "
	       "analysed in %.2f s\n",
	       r->quality.events, r->gpus, r->gpu[0].gaps, (double)r->quality.trace_bytes / 1e6,
	       opened - start, b_now() - opened);
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
	       o->series ? "with series" : "without series", (double)events / b_cpu(&u) / 1e6,
	       b_cpu(&u), b_peak_mb(&u));
}

static void measure(const struct opts *given, const char *path)
{
	struct opts o = *given;

	measure_one(&o, path);
	o.series = true;
	measure_one(&o, path);
}

static void make(const struct opts *o, const char *dir)
{
	unsigned int i;
	int status;
	pid_t pid;

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
}

static void make_and_measure(const struct opts *o)
{
	char dir[256];

	t_tempdir(dir, sizeof(dir));
	make(o, dir);
	measure(o, dir);
	b_remove(dir);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "events", required_argument, NULL, 'e' },
		{ "gpus", required_argument, NULL, 'g' },
		{ "threads", required_argument, NULL, 't' },
		{ "block", required_argument, NULL, 'b' },
		{ "launch-bound", no_argument, NULL, 'l' },
		{ "host", no_argument, NULL, 'h' },
		{ "make", required_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	struct opts o = { .events = 10000000, .gpus = 1, .threads = 1, .block = 8192 };
	const char *kept = NULL;
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
		case 'h':
			o.looks = true;
			break;
		case 'm':
			kept = optarg;
			break;
		default:
			return 2;
		}
	}
	for (c = optind; c < argc; c++)
		measure(&o, argv[c]);
	if (kept)
		make(&o, kept);
	else if (optind == argc)
		make_and_measure(&o);
	return 0;
}
