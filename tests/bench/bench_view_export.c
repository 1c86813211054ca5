/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each export costs: events per second by the clock, the greatest memory, bytes per event. The
 * run is made up and written through wire: steps of a loader wait, a copy, 600 launches on two
 * streams, some of which overlap.
 *
 *	bench_view_export [EVENTS [GPUS]]        2000000 and 1; the goal of 256 MB is for 20000000
 *
 * Each export is a process of its own, writing a file that is then removed.
 */
#include "cost.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include "made/made.h"

#define BLOCK 8192
#define NAMES 300
#define LAUNCHES 600
#define BASE INT64_C(1700000000000000000)

struct maker {
	struct made_stream s;
	uint64_t random, corr, written;
	int64_t host, device[2];
};

static void flush_kind(struct maker *m, int kind)
{
	m->written += m->s.rows[kind].n;
	made_flush_kind(&m->s, kind, m->host);
}

static void add(struct maker *m, const struct wire_event *e)
{
	if (m->s.rows[e->kind].n == BLOCK)
		flush_kind(m, e->kind);
	*made_event(&m->s, e->kind, 0, 0) = *e;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void launch(struct maker *m, unsigned int i)
{
	unsigned int s = i % 50 == 0;
	struct wire_event api = { .kind = WIRE_KIND_API,
				  .op = WIRE_DOMAIN_RUNTIME,
				  .name = i ? 1 : 2,
				  .tid = 4242,
				  .corr = ++m->corr,
				  .start_ns = m->host,
				  .end_ns = m->host + 3000 };
	struct wire_event op = { .kind = WIRE_KIND_OP,
				 .op = i ? WIRE_OP_KERNEL : WIRE_OP_COPY,
				 .name = i ? 4 + i % NAMES : 0,
				 .context = 1,
				 .stream = 7 + s,
				 .corr = m->corr };

	if (!i) {
		op.copy = WIRE_COPY_H2D;
		op.src = WIRE_MEM_PINNED;
		op.dst = WIRE_MEM_DEVICE;
		op.bytes = 1 << 20;
	}
	m->host += 4000;
	op.start_ns = later(api.start_ns + 4500, m->device[s] + 1200);
	op.end_ns = op.start_ns + 2000 + (int64_t)(t_random(&m->random) % 12000);
	m->device[s] = op.end_ns;
	add(m, &api);
	add(m, &op);
}

static void step(struct maker *m, uint64_t number)
{
	struct wire_event wait = { .kind = WIRE_KIND_RANGE,
				   .op = WIRE_RANGE_LOADER,
				   .name = 3,
				   .tid = 4242,
				   .start_ns = m->host,
				   .end_ns = m->host + (number % 10 ? 20000 : 30000000) };
	unsigned int i;

	add(m, &wait);
	m->host = wait.end_ns;
	for (i = 0; i < LAUNCHES; i++)
		launch(m, i);
	m->host = later(m->host, later(m->device[0], m->device[1]));
}

static void begin(struct maker *m, unsigned int gpu)
{
	static const char *const first[] = { "cudaLaunchKernel", "cudaMemcpyAsync",
					     "enumerate(DataLoader)#_Iter.__next__" };
	struct made_hello h;
	unsigned int i;
	char text[64];

	made_hello_init(&h, "bench", 1000 + gpu, BASE, "NVIDIA H100 80GB HBM3 (simulated)");
	h.uuid[0] = 'b';
	h.uuid[1] = (uint8_t)gpu;
	h.device.context_ns = BASE;
	made_message(&m->s, WIRE_FRAME_HELLO, &h.m.base, m->host);
	for (i = 0; i < 3; i++)
		made_name(&m->s, first[i], strlen(first[i]));
	for (i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "void kernel_%u<float>(float *, int)", i);
		made_name(&m->s, text, strlen(text));
	}
	made_names(&m->s, BASE);
}

static void make_stream(const char *dir, unsigned int gpu, uint64_t events)
{
	struct maker m = { .random = gpu + 1, .host = BASE + 1000000 };
	uint8_t id[16] = { 'b', (uint8_t)gpu };
	char path[512];
	uint64_t n = 0;
	int kind;

	snprintf(path, sizeof(path), "%s/%02u.gst", dir, gpu);
	made_open(&m.s, path, id);
	begin(&m, gpu);
	while (m.written < events)
		step(&m, n++);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		flush_kind(&m, kind);
	made_bye(&m.s, m.host, m.host);
	made_close(&m.s);
}

static void measure(const char *dir, const char *format, uint64_t events)
{
	char file[300];
	double began = b_now(), took;
	struct stat st;
	struct rusage u;
	int status;
	pid_t pid;

	snprintf(file, sizeof(file), "%s/out", dir);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl(TESTS_BIN "/gpustarve", "gpustarve", "export", dir, "--format", format, "-o",
		      file, "-q", "--price", "2", NULL);
		_exit(127);
	}
	REQUIRE(wait4(pid, &status, 0, &u) == pid);
	took = b_now() - began;
	if (status || stat(file, &st)) {
		printf("%s: export failed\n", format);
		exit(1);
	}
	printf("%-10s %6.2f M events/s (%.2f s, %.2f s of processor), RSS %4.0f MB, %.1f bytes per "
	       "event\n",
	       format, (double)events / took / 1e6, took, b_cpu(&u), b_peak_mb(&u),
	       (double)st.st_size / (double)events);
	unlink(file);
}

int main(int argc, char **argv)
{
	static const char *const formats[] = { "perfetto", "kineto",	 "sqlite", "folded",
					       "pprof",	   "prometheus", "focus",  "csv" };
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	unsigned int gpus = argc > 2 ? (unsigned int)atoi(argv[2]) : 1, i;
	char dir[256];
	int status;
	pid_t pid;

	t_tempdir(dir, sizeof(dir));
	fflush(stdout);
	for (i = 0; i < gpus; i++) {
		pid = fork();
		if (!pid) {
			make_stream(dir, i, events / gpus);
			exit(0);
		}
		REQUIRE(waitpid(pid, &status, 0) == pid && !status);
	}
	printf("%" PRIu64 " events, %u GPUs, 2 dollars per GPU-hour\n", events, gpus);
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		measure(dir, formats[i], events);
	b_remove(dir);
	return 0;
}
