/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to compare ranks: time and memory of the analysis of a made-up data-parallel run
 * whose ranks meet in collectives, one of them late in each step.
 *
 *	bench_ranks [--ranks N] [--ops N] [--threads N] [--collectives PER_STEP] [--contexts]
 *		[--make DIR]
 *
 * --ops: per rank. --contexts: every rank has a context on the first one's GPU, too.
 * --make writes the run there, and that is all. The run of the goal is --ranks 64 --ops 1000000.
 * Trace and analysis are made in processes of their own, so that the memory told is the analysis's.
 */
#include "cost.h"

#include <getopt.h>
#include <sys/wait.h>
#include "analysis/ledger.h"
#include "made/made.h"
#include "trace/trace.h"

#define KERNELS 480 /* per step */
#define NAMES 100
#define BLOCK 8192
#define BASE 1700000000000000000
#define RANKS_MAX 2048

enum name { /* string ids, in order of interning */
	NAME_LAUNCH = 1,
	NAME_SYNC,
	NAME_LOADER,
	NAME_COLLECTIVE,
	NAME_KERNEL,
};

struct opts {
	long ranks, ops, threads, collectives;
	bool contexts;
};

struct rank {
	struct made_stream s;
	uint64_t random, corr;
	int64_t host, compute, comm; /* where the host stands, and each stream's end */
	struct wire_event waiting; /* the collective that it is in */
};

/* Records come in order of completion. */
static void flush_kind(struct rank *r, int kind)
{
	made_sort(&r->s, kind);
	made_flush_kind(&r->s, kind, r->host);
}

static void add(struct rank *r, struct wire_event e)
{
	if (r->s.rows[e.kind].n == BLOCK)
		flush_kind(r, e.kind);
	*made_event(&r->s, e.kind, 0, 0) = e;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t below(struct rank *r, uint64_t n)
{
	return (int64_t)(t_random(&r->random) % n);
}

/* The host's call; returns when it began. */
static int64_t call(struct rank *r, uint32_t name, int64_t ns)
{
	int64_t begin = r->host;

	r->host += ns;
	add(r, (struct wire_event){ .kind = WIRE_KIND_API,
				    .start_ns = begin,
				    .end_ns = r->host,
				    .corr = ++r->corr,
				    .name = name,
				    .tid = 4242,
				    .op = WIRE_DOMAIN_RUNTIME });
	r->host += 500;
	return begin;
}

static void kernel(struct rank *r, uint32_t name)
{
	int64_t begin = call(r, NAME_LAUNCH, 2500);
	int64_t start = later(begin + 4500, r->compute + 1200);

	r->compute = start + 4000 + below(r, 12000);
	add(r, (struct wire_event){ .kind = WIRE_KIND_OP,
				    .start_ns = start,
				    .end_ns = r->compute,
				    .corr = r->corr,
				    .name = name,
				    .context = 1,
				    .stream = 7,
				    .op = WIRE_OP_KERNEL });
}

/* The rank comes to a collective, which it begins behind what it has computed so far. */
static int64_t arrive(struct rank *r)
{
	int64_t begin = call(r, NAME_LAUNCH, 2500);

	r->waiting = (struct wire_event){ .kind = WIRE_KIND_OP,
					  .start_ns = later(later(begin + 4500, r->comm + 1200),
							    r->compute + 1200),
					  .corr = r->corr,
					  .name = NAME_COLLECTIVE,
					  .context = 1,
					  .stream = 20,
					  .op = WIRE_OP_KERNEL };
	return r->waiting.start_ns;
}

static void leave(struct rank *r, int64_t end)
{
	r->waiting.end_ns = r->comm = end + below(r, 2000);
	add(r, r->waiting);
}

static void meet(struct rank *all, long ranks)
{
	int64_t last = 0;
	long i;

	for (i = 0; i < ranks; i++)
		last = later(last, arrive(&all[i]));
	for (i = 0; i < ranks; i++)
		leave(&all[i], last + 40000);
}

/* The step's wait for its batch. */
static void wait_for_batch(struct rank *r, bool late)
{
	int64_t ns = late ? 1000000 : 20000;

	add(r, (struct wire_event){ .kind = WIRE_KIND_RANGE,
				    .start_ns = r->host,
				    .end_ns = r->host + ns,
				    .name = NAME_LOADER,
				    .tid = 4242,
				    .op = WIRE_RANGE_LOADER });
	r->host += ns;
}

static void step(const struct opts *o, struct rank *all, unsigned long number)
{
	long i, k, c;

	for (i = 0; i < o->ranks; i++)
		wait_for_batch(&all[i], i == o->ranks / 2 || (long)(number % 50) == i);
	for (c = 0; c < o->collectives; c++) {
		for (i = 0; i < o->ranks; i++)
			for (k = 0; k < KERNELS / o->collectives; k++)
				kernel(&all[i], NAME_KERNEL + (uint32_t)((c * 7 + k) % NAMES));
		meet(all, o->ranks);
	}
	for (i = 0; i < o->ranks; i++) {
		int64_t end = later(all[i].compute, all[i].comm);

		call(&all[i], NAME_SYNC, later(end - all[i].host, 0) + 3000);
	}
}

static void begin(struct rank *r, const char *dir, long number, const struct opts *o)
{
	Wire__Device first = WIRE__DEVICE__INIT, *devices[2];
	uint8_t id[16] = { 0xba, (uint8_t)(number >> 8), (uint8_t)number };
	static const char *const names[] = {
		"cudaLaunchKernel", "cudaStreamSynchronize",
		"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	};
	uint8_t uuid[16] = { 9 };
	struct made_hello h;
	char text[512];
	int i;

	snprintf(text, sizeof(text), "%s/%04ld.gst", dir, number);
	made_open(&r->s, text, id);
	r->random = (uint64_t)number + 1;
	r->host = BASE + 1000000;
	made_hello_init(&h, "bench", 1000 + number, BASE, "NVIDIA H100 80GB HBM3 (simulated)");
	memcpy(h.uuid, (uint8_t[]){ 9, (uint8_t)(number >> 8), (uint8_t)number }, 3);
	h.device.context_ns = BASE;
	h.m.rank = (int32_t)number;
	h.m.has_rank = true;
	h.m.world_size = (uint32_t)o->ranks;
	if (o->contexts && number) {
		first.ordinal = 1;
		first.context_ns = BASE;
		first.uuid = (ProtobufCBinaryData){ sizeof(uuid), uuid };
		devices[0] = &h.device;
		devices[1] = &first;
		h.m.devices = devices;
		h.m.n_devices = 2;
	}
	made_message(&r->s, WIRE_FRAME_HELLO, &h.m.base, BASE);
	for (i = 0; i < 4; i++)
		made_name(&r->s, names[i], strlen(names[i]));
	for (i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "void kernel_%d<float>(float *, int)", i);
		made_name(&r->s, text, strlen(text));
	}
	made_names(&r->s, BASE);
}

static void end(struct rank *r)
{
	int kind;

	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		flush_kind(r, kind);
	made_bye(&r->s, r->host + 1000, r->host);
	made_close(&r->s);
}

static void make(const struct opts *o, const char *dir)
{
	struct rank *all = calloc((size_t)o->ranks, sizeof(*all));
	unsigned long n, steps;
	long i;

	REQUIRE(all != NULL);
	for (i = 0; i < o->ranks; i++)
		begin(&all[i], dir, i, o);
	steps = (unsigned long)(o->ops /
				(KERNELS / o->collectives * o->collectives + o->collectives));
	for (n = 0; n < steps; n++)
		step(o, all, n);
	for (i = 0; i < o->ranks; i++)
		end(&all[i]);
}

static void analyse(const struct opts *o, const char *path)
{
	struct ana_options ao = { .threads = (unsigned int)o->threads,
				  .timeline_buckets = 240, /* as reports have */
				  .top_gaps = 20 };
	struct view_trace *t;
	struct ana_result *r;
	const char *why;
	double start = b_now();
	uint64_t ops = 0;
	size_t i;

	REQUIRE(!view_trace_open(&t, path, &why));
	REQUIRE(!ana_run(t, &ao, &r));
	for (i = 0; i < r->gpus; i++)
		ops += r->gpu[i].ops;
	printf("%zu ranks, %.1f M ops, %" PRIu64 " events, trace %.1f MB, analysed in %.2f s\n"
	       "  %" PRIu64 " collectives matched, %" PRIu64
	       " kernels refused, comm.skew %.1f %%\n",
	       r->gpus, (double)ops / 1e6, r->quality.events, (double)r->quality.trace_bytes / 1e6,
	       b_now() - start, r->ranks.matched, r->ranks.refused,
	       100.0 * (double)r->classes[ANA_COMM_SKEW] / (double)r->gpu_ns);
	ana_result_free(r);
	view_trace_close(t);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "ranks", required_argument, NULL, 'r' },
		{ "ops", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 't' },
		{ "collectives", required_argument, NULL, 'c' },
		{ "contexts", no_argument, NULL, 'x' },
		{ "make", required_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	struct opts o = { .ranks = 64, .ops = 50000, .threads = 0, .collectives = 8 };
	const char *kept = NULL;
	char dir[256];
	struct rusage u;
	int c, status;
	pid_t pid;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		long v = optarg ? atol(optarg) : 0;

		switch (c) {
		case 'r':
			o.ranks = v;
			break;
		case 'o':
			o.ops = v;
			break;
		case 't':
			o.threads = v;
			break;
		case 'c':
			o.collectives = v;
			break;
		case 'x':
			o.contexts = true;
			break;
		case 'm':
			kept = optarg;
			break;
		default:
			return 2;
		}
	}
	REQUIRE(o.ranks > 1 && o.ranks <= RANKS_MAX && o.collectives > 0 &&
		o.collectives <= KERNELS && o.ops > 0);
	if (kept) {
		make(&o, kept);
		return 0;
	}
	t_tempdir(dir, sizeof(dir));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		make(&o, dir);
		exit(0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid && !status);
	pid = fork();
	if (!pid) {
		analyse(&o, dir);
		exit(0);
	}
	REQUIRE(wait4(pid, &status, 0, &u) == pid && !status);
	printf("  %.2f s CPU, RSS %.1f MB\n", b_cpu(&u), b_peak_mb(&u));
	b_remove(dir);
	return 0;
}
