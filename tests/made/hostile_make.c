/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes runs that aim at time or memory: small files, much work for who looks at everything.
 *
 *	hostile_make FOLDER WHAT N
 *		shared		N processes on one GPU by turns, 200,000 events in all
 *		own		the same events of 8 processes
 *		nested		N loader waits, each inside of the one before
 *		samples, batches, operations
 *				N blocks of 65,536 rows each, all of the same time
 *		workers		N epochs of 16 workers that begin anew in each
 *		lasting		the same of workers that stay
 *		ranks		N ranks of 5,000 operations in ten steps, a file and a GPU for each
 *		steps		the same in 5,000 steps
 *		groups		N ranks that meet in groups of eight, half of these at once
 *		apart		the same, each of them at a time of its own
 *		strangers	N ranks that are all at once in collectives, each of a name of its own
 *		meetings	8 ranks that meet N thousand times, each late by its loader at times
 */
#include <stdlib.h>
#include <string.h>
#include "made.h"

#define BASE 1700000000000000000LL
#define ROWS 16000u /* of a block, where a block is as usual */
#define BLOCK 65536u
#define SHARED_EVENTS 200000
#define WORKERS 16
#define RANK_OPS 5000
#define COLLECTIVE 60 /* in the last of so many operations all ranks meet */
#define PACE_NS 12000 /* from one operation to the next */
#define NAMES 100
#define GROUP 8
#define ROUNDS_ALONE 10
#define ROUNDS 600
#define MS 1000000LL

struct hostile {
	const char *folder;
	int streams;
	struct made_stream s;
	int64_t t;
	uint64_t corr;
};

static uint32_t name(struct hostile *x, const char *text)
{
	return made_name(&x->s, text, strlen(text));
}

static void begin(struct hostile *x, int pid)
{
	uint8_t id[16] = "hostile run";
	struct made_hello h;
	char path[4096];

	x->streams++;
	memcpy(id + 12, &x->streams, sizeof(x->streams));
	snprintf(path, sizeof(path), "%s/%05d.gst", x->folder, x->streams);
	made_open(&x->s, path, id);
	made_hello_init(&h, "node1", pid, BASE, "NVIDIA H100 80GB HBM3");
	h.uuid[0] = 1;
	h.device.context_ns = BASE;
	made_message(&x->s, WIRE_FRAME_HELLO, &h.m.base, BASE);
	x->t = BASE + MS;
	x->corr = 0;
}

static void end(struct hostile *x)
{
	made_flush(&x->s, x->t);
	made_bye(&x->s, x->t + MS, x->t);
	made_close(&x->s);
}

static struct wire_event *row(struct hostile *x, int kind, int64_t start, int64_t stop)
{
	if (x->s.rows[kind].n == ROWS)
		made_flush(&x->s, x->t);
	return made_event(&x->s, kind, start, stop);
}

static void operation(struct hostile *x, int64_t start, int64_t stop)
{
	struct wire_event *e = row(x, WIRE_KIND_OP, start, stop);

	e->op = WIRE_OP_KERNEL;
	e->name = name(x, "gemm");
	e->corr = x->corr;
	e->context = 1;
	e->stream = 7;
}

/* A launch at the time that it is, and its kernel 5 us later. */
static void launch(struct hostile *x, int64_t ns)
{
	struct wire_event *e = row(x, WIRE_KIND_API, x->t, x->t + 2000);

	e->op = WIRE_DOMAIN_RUNTIME;
	e->name = name(x, "cudaLaunchKernel");
	e->tid = 5;
	e->corr = ++x->corr;
	operation(x, x->t + 5000, x->t + 5000 + ns);
}

static void wait(struct hostile *x, int64_t start, int64_t stop)
{
	struct wire_event *e = row(x, WIRE_KIND_RANGE, start, stop);

	e->op = WIRE_RANGE_LOADER;
	e->name = name(x, "enumerate(DataLoader)#iter.__next__");
	e->tid = 5;
}

static void shared(struct hostile *x, int processes)
{
	int each = SHARED_EVENTS / processes, p, i;

	for (p = 0; p < processes; p++) {
		begin(x, 1000 + p);
		x->t += p * 20;
		for (i = 0; i < each; i++) {
			launch(x, 10);
			wait(x, x->t, x->t + 1000);
			x->t += processes * 20 + 7000;
		}
		end(x);
	}
}

static void nested(struct hostile *x, int n)
{
	int i;

	begin(x, 1000);
	launch(x, 4000);
	for (i = 0; i < n; i++) {
		wait(x, x->t + 20000 + i, x->t + 20000 + 3LL * n - i);
		x->s.rows[WIRE_KIND_RANGE].ev[x->s.rows[WIRE_KIND_RANGE].n - 1].flags =
			i % 2 ? WIRE_EV_FL_FIRST : 0;
	}
	x->t += 4LL * n + MS;
	launch(x, 4000);
	end(x);
}

/* Names first: rows of evidence name them, too. */
static void begin_blocks(struct hostile *x)
{
	begin(x, 1000);
	launch(x, 4000);
	made_names(&x->s, BASE);
	made_flush(&x->s, BASE);
	x->t += MS;
}

static void end_blocks(struct hostile *x)
{
	x->t += 100 * MS;
	launch(x, 4000);
	end(x);
}

static void samples(struct hostile *x, int blocks)
{
	struct wire_sample *s = calloc(BLOCK, sizeof(*s));
	unsigned int i;

	made_need(s != NULL, "no memory");
	begin_blocks(x);
	for (i = 0; i < BLOCK; i++)
		s[i] = (struct wire_sample){ .t_ns = x->t + i * 1000, .pid = 1000, .tid = 5 };
	while (blocks--)
		made_samples(&x->s, s, BLOCK, BLOCK, BASE);
	end_blocks(x);
	free(s);
}

static void batches(struct hostile *x, int blocks)
{
	struct wire_batch *b = calloc(BLOCK, sizeof(*b));
	unsigned int i;

	made_need(b != NULL, "no memory");
	begin_blocks(x);
	for (i = 0; i < BLOCK; i++)
		b[i] = (struct wire_batch){ .what = WIRE_BATCH_FETCH,
					    .start_ns = x->t + i * 1000,
					    .end_ns = x->t + i * 1000 + 900,
					    .pid = 1000,
					    .tid = 5 };
	while (blocks--)
		made_batches(&x->s, b, BLOCK, BLOCK, BASE);
	end_blocks(x);
	free(b);
}

static void operations(struct hostile *x, int blocks)
{
	unsigned int i;

	begin_blocks(x);
	while (blocks--) {
		for (i = 0; i < BLOCK; i++) {
			struct wire_event *e = made_event(&x->s, WIRE_KIND_OP, x->t + i * 1000,
							  x->t + i * 1000 + 900);

			e->op = WIRE_OP_KERNEL;
			e->name = name(x, "gemm");
			e->context = 1;
			e->stream = 7;
		}
		made_flush(&x->s, BASE);
	}
	end_blocks(x);
}

/* A wait of 100 ms and what is seen of it: the trainer ten times, each worker once. */
static size_t look(struct hostile *x, struct wire_sample *s, uint32_t first_worker)
{
	static const char trainer[] = "main\ttrain.py\t10\nget\tqueue.py\t171";
	static const char worker[] = "work\ttrain.py\t20\n__getitem__\tdataset.py\t20";
	size_t n = 0;
	uint32_t i, k;

	for (i = 0; i < 10; i++) {
		s[n++] = (struct wire_sample){ .t_ns = x->t + i * 10 * MS,
					       .pid = 1000,
					       .tid = 5,
					       .role = WIRE_ROLE_FEEDER,
					       .state = WIRE_STATE_SLEEPING,
					       .wait = WIRE_WAIT_LOCK,
					       .stack = name(x, trainer),
					       .links = name(x, "?o1") };
		for (k = 0; i == 5 && k < WORKERS; k++)
			s[n++] = (struct wire_sample){ .t_ns = x->t + i * 10 * MS,
						       .pid = 1000,
						       .tid = first_worker + k,
						       .role = WIRE_ROLE_WORKER,
						       .state = WIRE_STATE_RUNNING,
						       .stack = name(x, worker),
						       .links = name(x, "!o1") };
	}
	return n;
}

static void workers(struct hostile *x, int epochs, bool anew)
{
	struct wire_sample *s = calloc(ROWS, sizeof(*s));
	size_t n = 0;
	int e, i;

	made_need(s != NULL, "no memory");
	begin(x, 1000);
	for (e = 0; e < epochs; e++) {
		for (i = 0; i < 4; i++) {
			n += look(x, s + n, 100000 + (anew ? (uint32_t)(e * WORKERS) : 0));
			x->t += 100 * MS;
			launch(x, 100000);
			x->t += 110000;
		}
		if (n < ROWS - 200)
			continue;
		made_names(&x->s, x->t);
		made_samples(&x->s, s, n, ROWS, x->t);
		n = 0;
	}
	made_names(&x->s, x->t);
	made_samples(&x->s, s, n, ROWS, x->t);
	end(x);
	free(s);
}

/* A rank's Hello: a GPU and a node of eight such. */
static void begin_rank(struct hostile *x, int rank, int ranks)
{
	uint8_t id[16] = "hostile rank";
	struct made_hello h;
	char path[4096], host[32];

	memcpy(id + 12, &rank, sizeof(rank));
	snprintf(path, sizeof(path), "%s/%05d.gst", x->folder, rank);
	snprintf(host, sizeof(host), "node%04d", rank / 8);
	made_open(&x->s, path, id);
	made_hello_init(&h, host, 1000 + rank, BASE, "NVIDIA H100 80GB HBM3 (simulated)");
	h.uuid[0] = 2;
	memcpy(h.uuid + 4, &rank, sizeof(rank));
	h.device.context_ns = BASE;
	h.m.rank = rank;
	h.m.has_rank = true;
	h.m.world_size = (uint32_t)ranks;
	made_message(&x->s, WIRE_FRAME_HELLO, &h.m.base, BASE);
	x->t = BASE + MS;
	x->corr = 0;
}

/* A rank's operation number @i: one with its own name, or what all ranks meet in until @until. */
static void rank_operation(struct hostile *x, int rank, int i, int64_t until)
{
	bool meet = i % COLLECTIVE == COLLECTIVE - 1;
	struct wire_event *e;
	char text[64];

	launch(x, meet ? until - x->t - 5000 : 3000 + (rank * 7 + i * 13) % 4000);
	e = &x->s.rows[WIRE_KIND_OP].ev[x->s.rows[WIRE_KIND_OP].n - 1];
	snprintf(text, sizeof(text), "void kernel_%d<float>(float *, int)", i % NAMES);
	e->name = name(x, meet ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" : text);
	e->stream = meet ? 20 : 7;
	x->t = meet ? until : x->t + PACE_NS - 2000;
}

/* Before a step the rank waits for its batch, each for another while. */
static void step_of_rank(struct hostile *x, int rank, int first, int operations)
{
	int64_t begin = BASE + MS + (int64_t)first * 3 * PACE_NS;
	struct wire_event *e;
	int i;

	x->t = begin > x->t ? begin : x->t;
	wait(x, x->t, x->t + (rank + first) % 20 * 1000);
	x->t += (rank + first) % 20 * 1000;
	for (i = first; i < first + operations; i++)
		rank_operation(x, rank, i, begin + (i - first + 1) * PACE_NS + 60000);
	e = row(x, WIRE_KIND_RANGE, x->t, x->t + 100);
	e->op = WIRE_RANGE_OPTIMIZER;
	e->name = name(x, "Optimizer.step#SGD.step");
	e->tid = 5;
	x->t += 100;
}

static void ranks(struct hostile *x, int n, int steps)
{
	int rank, step;

	for (rank = 0; rank < n; rank++) {
		begin_rank(x, rank, n);
		for (step = 0; step < steps; step++)
			step_of_rank(x, rank, step * (RANK_OPS / steps), RANK_OPS / steps);
		end(x);
	}
}

/* In some rounds all groups meet, each alone, and then half of them in each, at once or not. */
static void groups(struct hostile *x, int n, bool at_once)
{
	int rank, r;

	for (rank = 0; rank < n; rank++) {
		int group = rank % (n / GROUP); /* over nodes, whose clocks it tells */

		begin_rank(x, rank, n);
		for (r = 0; r < ROUNDS; r++) {
			int64_t apart = at_once && r >= ROUNDS_ALONE ? 0 : group;
			int64_t end = BASE + MS + r * (n / GROUP + 1LL) * 200000 + apart * 200000;

			if (r >= ROUNDS_ALONE && (group * 7919 + r * 104729) % 1009 % 2)
				continue;
			x->t = end - 100000;
			rank_operation(x, rank, COLLECTIVE - 1, end);
		}
		end(x);
	}
}

static void strangers(struct hostile *x, int n)
{
	char text[64];
	int rank, r;

	for (rank = 0; rank < n; rank++) {
		snprintf(text, sizeof(text), "ncclDevKernel_AllReduce_Sum_bf16_RING_LL_%d", rank);
		begin_rank(x, rank, n);
		for (r = 0; r < ROUNDS; r++) {
			x->t = BASE + MS + r * 200000LL;
			rank_operation(x, rank, COLLECTIVE - 1, x->t + 100000);
			x->s.rows[WIRE_KIND_OP].ev[x->s.rows[WIRE_KIND_OP].n - 1].name =
				name(x, text);
		}
		end(x);
	}
}

static void meetings(struct hostile *x, int thousands)
{
	int rank, i;

	for (rank = 0; rank < GROUP; rank++) {
		begin_rank(x, rank, GROUP);
		for (i = 0; i < 1000 * thousands; i++) {
			int64_t t = BASE + MS + i * 100000LL;
			int64_t late = (rank * 7 + i * 13) % 20 * 1000;

			wait(x, t, t + late);
			x->t = t + late;
			rank_operation(x, rank, 0, 0);
			rank_operation(x, rank, COLLECTIVE - 1, t + 90000);
		}
		end(x);
	}
}

static void make(struct hostile *x, const char *what, int n)
{
	if (!strcmp(what, "shared"))
		shared(x, n);
	else if (!strcmp(what, "own"))
		shared(x, 8);
	else if (!strcmp(what, "nested"))
		nested(x, n);
	else if (!strcmp(what, "samples"))
		samples(x, n);
	else if (!strcmp(what, "batches"))
		batches(x, n);
	else if (!strcmp(what, "operations"))
		operations(x, n);
	else if (!strcmp(what, "workers") || !strcmp(what, "lasting"))
		workers(x, n, *what == 'w');
	else if (!strcmp(what, "ranks") || !strcmp(what, "steps"))
		ranks(x, n, *what == 'r' ? 10 : RANK_OPS);
	else if (!strcmp(what, "groups") || !strcmp(what, "apart"))
		groups(x, n, *what == 'g');
	else if (!strcmp(what, "strangers"))
		strangers(x, n);
	else if (!strcmp(what, "meetings"))
		meetings(x, n);
	else
		made_need(false, what);
}

int main(int argc, char **argv)
{
	struct hostile x = { .folder = argc > 1 ? argv[1] : "" };
	int n = argc > 3 ? atoi(argv[3]) : 0;

	made_need(n > 0, "hostile_make FOLDER WHAT N");
	make(&x, argv[2], n);
	return 0;
}
