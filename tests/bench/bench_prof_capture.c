/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record costs libprof's sender thread, from a CUPTI buffer to a compressed frame, by stage,
 * with the bytes it becomes and the memory that libprof's parts hold.
 *
 *	bench_prof_capture [--buffer BYTES] [--total BYTES] [--rounds N]
 *
 * Made-up buffers in the layout of CUPTI 13.0: each launch leaves the record of its operation and,
 * behind it, that of its API call. The stages are called one after another as the sender does it;
 * "whole" is prof_intake_drain itself, which also counts, queues and frees. Thread CPU time; the
 * median of the rounds, and in brackets the best one.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../wire/codec.h"
#include "../../wire/columns.h"
#include "cupti/activity.h"
#include "cupti/bufpool.h"
#include "cupti/exposure.h"
#include "cupti/intake.h"
#include "cupti/names.h"
#include "cupti/record.h"
#include "cupti/translate.h"
#include "cupti/walk.h"
#include "harness.h"
#include "stream/stream.h"
#include "stream/transport.h"
#include "wire/encoder.h"

#define T0 1700000000000000000
#define BLOCK_EVENTS 16384u /* as stream.c has it */
#define KERNELS 60u
#define ROUNDS_MAX 99
#define PILE 100 /* buffers that wait when the sender comes */
#define PILE_BYTES ((size_t)8 << 20)
#define CBID_LAUNCH 211u /* cudaLaunchKernel */
#define CBID_COPY 41u /* cudaMemcpyAsync */
#define CBID_SET 51u /* cudaMemsetAsync */
#define CBID_SYNC 131u /* cudaStreamSynchronize */

enum {
	KERNEL_BYTES = 216,
	COPY_BYTES = 96,
	SET_BYTES = 88,
	API_BYTES = 40,
	SYNC_BYTES = 56,
};

/* The least that the functions under test need of CUPTI: its records' sizes. */
static int no_record(uint8_t *buffer, size_t valid, void **record)
{
	if (*record || !valid)
		return CUPTI_MAX_LIMIT_REACHED;
	*record = buffer;
	return CUPTI_OK;
}

static struct prof_cupti cupti = {
	.GetNextRecord = no_record,
	.record_bytes = { [CUPTI_KIND_MEMCPY] = COPY_BYTES,
			  [CUPTI_KIND_MEMSET] = SET_BYTES,
			  [CUPTI_KIND_DRIVER] = API_BYTES,
			  [CUPTI_KIND_RUNTIME] = API_BYTES,
			  [CUPTI_KIND_CONCURRENT_KERNEL] = KERNEL_BYTES,
			  [CUPTI_KIND_MEMCPY2] = 96,
			  [CUPTI_KIND_SYNCHRONIZATION] = SYNC_BYTES,
			  [CUPTI_KIND_GRAPH_TRACE] = 56 },
};

/*
 * ---- made-up records --------------------------------------------------------------------------
 */

static char kernel_name[KERNELS][192];

struct job { /* a training loop: the same kernels step after step */
	uint64_t rnd;
	bool api; /* L1: with API records */
	uint32_t streams, at, corr;
	int64_t host; /* the launching thread's clock */
	int64_t end[8]; /* of each stream's work */
};

static void name_kernels(void)
{
	uint32_t i;

	for (i = 0; i < KERNELS; i++)
		snprintf(
			kernel_name[i], sizeof(kernel_name[i]),
			"void at::native::vectorized_elementwise_kernel<%u, at::native::functor_%u<"
			"float>, std::array<char*, 3ul> >(int, float, std::array<char*, 3ul>)",
			i % 8, i);
}

static void put32(uint8_t *r, int at, uint32_t v)
{
	memcpy(r + at, &v, sizeof(v));
}

static void put64(uint8_t *r, int at, uint64_t v)
{
	memcpy(r + at, &v, sizeof(v));
}

static void put_times(uint8_t *r, int at, int64_t start, int64_t end)
{
	put64(r, at, (uint64_t)start);
	put64(r, at + 8, (uint64_t)end);
}

/* Durations from 2 to 200 us, most of them short; a kernel varies by some percent. */
static int64_t length_of(uint32_t shape, uint64_t noise)
{
	int64_t base = 2000 + (int64_t)(shape % 64) * (shape % 64) * 48;

	return (base + (int64_t)(noise % (100 + (uint64_t)base / 16))) & ~31ll;
}

static uint8_t *put_api(struct job *j, uint8_t *r, uint32_t cbid, int64_t length)
{
	if (j->api) {
		put32(r, REC_KIND, CUPTI_KIND_RUNTIME);
		put32(r, REC_API_CBID, cbid);
		put_times(r, REC_API_START, j->host, j->host + length);
		put32(r, REC_API_THREAD, 4711);
		put32(r, REC_API_CORRELATION, j->corr);
		r += API_BYTES;
	}
	j->host += length;
	return r;
}

static void place(const struct job *j, uint8_t *r, int device, uint32_t stream)
{
	(void)j;
	put32(r, device, 0);
	put32(r, device + 4, 1);
	put32(r, device + 8, 7 + stream);
}

static uint8_t *put_kernel(struct job *j, uint8_t *r, uint32_t shape, uint32_t stream,
			   int64_t start, int64_t end)
{
	const char *name = kernel_name[shape % KERNELS];

	put32(r, REC_KIND, CUPTI_KIND_CONCURRENT_KERNEL);
	put_times(r, REC_KERNEL_START, start, end);
	place(j, r, REC_KERNEL_DEVICE, stream);
	put32(r, REC_KERNEL_CORRELATION, j->corr);
	memcpy(r + REC_KERNEL_NAME, &name, sizeof(name));
	return r + KERNEL_BYTES;
}

static uint8_t *put_copy(struct job *j, uint8_t *r, uint32_t shape, uint32_t stream, int64_t start,
			 int64_t end)
{
	put32(r, REC_KIND, CUPTI_KIND_MEMCPY);
	r[REC_MEMCPY_COPY_KIND] = WIRE_COPY_H2D;
	r[REC_MEMCPY_SRC_KIND] = WIRE_MEM_PINNED;
	r[REC_MEMCPY_DST_KIND] = WIRE_MEM_DEVICE;
	r[REC_MEMCPY_FLAGS] = 1;
	put64(r, REC_MEMCPY_SIZE, 1ull << (10 + shape % 10));
	put_times(r, REC_MEMCPY_START, start, end);
	place(j, r, REC_MEMCPY_DEVICE, stream);
	put32(r, REC_MEMCPY_CORRELATION, j->corr);
	return r + COPY_BYTES;
}

static uint8_t *put_set(struct job *j, uint8_t *r, uint32_t stream, int64_t start)
{
	put32(r, REC_KIND, CUPTI_KIND_MEMSET);
	put64(r, REC_MEMSET_SIZE, 4096);
	put_times(r, REC_MEMSET_START, start, start + 1024);
	place(j, r, REC_MEMSET_DEVICE, stream);
	put32(r, REC_MEMSET_CORRELATION, j->corr);
	r[REC_MEMSET_MEMORY_KIND] = WIRE_MEM_DEVICE;
	return r + SET_BYTES;
}

static uint8_t *put_sync(struct job *j, uint8_t *r)
{
	put32(r, REC_KIND, CUPTI_KIND_SYNCHRONIZATION);
	put32(r, REC_SYNC_TYPE, WIRE_SYNC_STREAM);
	put_times(r, REC_SYNC_START, j->host, j->end[0]);
	put32(r, REC_SYNC_CONTEXT, 1);
	put32(r, REC_SYNC_STREAM, 7);
	put32(r, REC_SYNC_CORRELATION, j->corr);
	return r + SYNC_BYTES;
}

/* One launch: at most KERNEL_BYTES + SYNC_BYTES + 2 * API_BYTES at @r. */
static uint8_t *put_launch(struct job *j, uint8_t *r)
{
	uint64_t noise = t_random(&j->rnd);
	uint32_t shape = (j->at * 2654435761u) >> 8;
	uint32_t stream = j->streams > 1 && noise % 5 == 0 ? 1 + shape % (j->streams - 1) : 0;
	int64_t call = 2200 + (int64_t)(noise >> 16) % 1500, start, end;
	uint32_t cbid = CBID_LAUNCH;

	j->corr += (noise >> 50) & 7 ? 1 : 4; /* calls that are not recorded take ids, too */
	j->host += 1500 + (int64_t)(noise >> 32) % 3000;
	start = j->host + 3000 > j->end[stream] + 900 ? j->host + 3000 : j->end[stream] + 900;
	start += (int64_t)((noise >> 8) % 700) & ~31ll;
	end = start + length_of(shape, noise >> 20);
	if (j->at % 60 == 59) {
		r = put_copy(j, r, shape, stream, start, end);
		cbid = CBID_COPY;
	} else if (j->at % 75 == 74) {
		r = put_set(j, r, stream, start);
		end = start + 1024;
		cbid = CBID_SET;
	} else {
		r = put_kernel(j, r, shape, stream, start, end);
	}
	j->end[stream] = end;
	r = put_api(j, r, cbid, call);
	if (++j->at < 300)
		return r;
	j->at = 0; /* the step's end: the host waits */
	j->corr++;
	r = put_sync(j, r);
	return put_api(j, r, CBID_SYNC, j->end[0] > j->host ? j->end[0] - j->host + 900 : 900);
}

struct set { /* all the buffers of one run */
	uint8_t *bytes;
	size_t each, count, pile; /* pile: so many wait for the sender */
	size_t *valid;
	int64_t t1; /* no stamp is later */
};

static void fill(struct set *s, struct job *j)
{
	const size_t most = KERNEL_BYTES + SYNC_BYTES + 2 * API_BYTES;
	size_t i, k;

	memset(s->bytes, 0, s->each * s->count);
	for (i = 0; i < s->count; i++) {
		uint8_t *begin = s->bytes + i * s->each, *r = begin;

		while ((size_t)(r - begin) + most <= s->each)
			r = put_launch(j, r);
		s->valid[i] = (size_t)(r - begin);
	}
	s->t1 = j->host;
	for (k = 0; k < j->streams; k++)
		s->t1 = j->end[k] > s->t1 ? j->end[k] : s->t1;
}

/*
 * ---- stages -----------------------------------------------------------------------------------
 */

enum stage {
	CALLBACK, /* on the program's thread: names to numbers */
	TRANSLATE, /* walk, translate, copy to the kind's array */
	COLUMNS, /* and the head */
	ZSTD,
	FRAME, /* checksums, and the copy into the buffer that is sent */
	ENCODE, /* wire_encoder_block: the three above, as they are called */
	WHOLE, /* prof_intake_drain */
	STAGES
};

static const char *const stage_name[STAGES] = { "callback",   "translate", "head, columns", "zstd",
						"frame, crc", "encoder",   "whole" };

struct result {
	double ns[STAGES][ROUNDS_MAX];
	uint64_t events, ops, launches, op_bytes, api_bytes, other_bytes;
};

struct path { /* what intake.c and stream.c hold */
	struct prof_translator translator;
	struct wire_strtab *names;
	struct wire_event *event[WIRE_KIND_MAX];
	uint32_t count[WIRE_KIND_MAX];
	struct wire_columns *columns;
	struct wire_head_builder builder;
	struct wire_codec codec;
	struct wire_encoder *encoder;
	struct wire_buf head, raw, packed, out;
	int64_t spent[STAGES];
	uint64_t made[WIRE_KIND_MAX], stored[WIRE_KIND_MAX];
};

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The time since @since goes to @stage; returns now. */
static int64_t spend(struct path *p, enum stage stage, int64_t since)
{
	int64_t now = cpu_ns();

	p->spent[stage] += now - since;
	return now;
}

static void path_open(struct path *p)
{
	static const uint8_t id[WIRE_STREAM_ID_BYTES] = "bench";
	int kind;

	memset(p, 0, sizeof(*p));
	p->names = wire_strtab_new();
	p->columns = wire_columns_new();
	p->encoder = wire_encoder_new(id, 3);
	REQUIRE(p->names && p->columns && p->encoder && !wire_codec_init(&p->codec, 3));
	for (kind = WIRE_KIND_OP; kind < WIRE_KIND_MAX; kind++) {
		p->event[kind] = malloc(BLOCK_EVENTS * sizeof(struct wire_event));
		REQUIRE(p->event[kind]);
	}
	prof_translator_init(&p->translator, p->names, cupti.record_bytes);
}

static void path_close(struct path *p)
{
	int kind;

	for (kind = WIRE_KIND_OP; kind < WIRE_KIND_MAX; kind++)
		free(p->event[kind]);
	wire_buf_fini(&p->head);
	wire_buf_fini(&p->raw);
	wire_buf_fini(&p->packed);
	wire_buf_fini(&p->out);
	wire_codec_fini(&p->codec);
	wire_columns_free(p->columns);
	wire_encoder_free(p->encoder);
	wire_strtab_free(p->names);
}

static void block_by_stages(struct path *p, const struct wire_event *ev, uint32_t n)
{
	struct wire_frame f = { .version = WIRE_FRAME_VERSION, .type = WIRE_FRAME_BLOCK };
	struct wire_cuts cut = { .used = 0 };
	int64_t t = cpu_ns();
	const struct wire_buf *body;
	bool packed;

	p->head.len = p->raw.len = p->out.len = 0;
	REQUIRE(!wire_columns_encode(p->columns, ev->kind, ev, n, &p->builder, &p->raw, &cut));
	REQUIRE(!wire_block_head_put(&p->builder.head, &p->head));
	t = spend(p, COLUMNS, t);
	REQUIRE(!wire_codec_pack(&p->codec, &p->raw, &cut, &p->packed, &packed));
	body = packed ? &p->packed : &p->raw;
	t = spend(p, ZSTD, t);
	REQUIRE(!wire_frame_append(&p->out, &f, p->head.data, p->head.len, body->data, body->len));
	spend(p, FRAME, t);
}

static void make_block(struct path *p, int kind)
{
	uint32_t n = p->count[kind];
	int64_t t;

	p->count[kind] = 0;
	if (!n)
		return;
	block_by_stages(p, p->event[kind], n);
	p->out.len = 0;
	t = cpu_ns();
	REQUIRE(!wire_encoder_block(p->encoder, p->event[kind], n, NULL, 0, &p->out));
	spend(p, ENCODE, t);
	p->made[kind] += n;
	p->stored[kind] += p->out.len;
}

/* Translates all buffers; blocks that get full are made outside of the stage's time. */
static void take_buffers(struct path *p, const struct set *s, uint8_t *data)
{
	int64_t t = cpu_ns();
	struct wire_event ev;
	size_t i;

	for (i = 0; i < s->count; i++) {
		struct prof_record_walk walk = { .cupti = &cupti,
						 .data = data + i * s->each,
						 .valid = s->valid[i] };

		while (prof_record_next(&walk)) {
			enum prof_outcome v = prof_translate(&p->translator, walk.record, &ev);

			REQUIRE(v == PROF_EVENT || v == PROF_LAUNCH || v == PROF_MAYBE_LAUNCH ||
				v == PROF_WAIT);
			prof_exposure_add(&ev);
			p->event[ev.kind][p->count[ev.kind]++] = ev;
			if (p->count[ev.kind] < BLOCK_EVENTS)
				continue;
			spend(p, TRANSLATE, t);
			make_block(p, ev.kind);
			t = cpu_ns();
		}
		REQUIRE(!walk.cut);
	}
	spend(p, TRANSLATE, t);
}

/*
 * ---- the real thing ----------------------------------------------------------------------------
 */

/* Buffers through the pool, drained as they would pile up. */
static void whole(const struct set *s, int64_t *callback_ns, int64_t *drain_ns)
{
	size_t i, k, batch, size;
	uint8_t *to[PILE];
	int64_t t;

	*callback_ns = *drain_ns = 0;
	for (i = 0; i < s->count; i += batch) {
		batch = s->count - i < s->pile ? s->count - i : s->pile;
		for (k = 0; k < batch; k++) {
			to[k] = prof_pool_take(T0, &size);
			REQUIRE(size >= s->valid[i + k]);
			memcpy(to[k], s->bytes + (i + k) * s->each, s->valid[i + k]);
		}
		t = cpu_ns();
		for (k = 0; k < batch; k++) {
			uint32_t id = prof_pool_find(to[k], s->valid[i + k]);

			REQUIRE(id != PROF_POOL_NONE);
			prof_activity_number_names(to[k], s->valid[i + k]);
			prof_pool_queue(id, s->valid[i + k]);
		}
		*callback_ns += cpu_ns() - t;
		t = cpu_ns();
		prof_intake_drain(T0);
		*drain_ns += cpu_ns() - t;
	}
	t = cpu_ns();
	prof_stream_blocks();
	*drain_ns += cpu_ns() - t;
}

static void whole_open(size_t each)
{
	static const uint8_t id[WIRE_STREAM_ID_BYTES] = "bench";
	struct prof_transport_opts to = {
		.socket = "", .out = "/nowhere", .run_id = "bench", .stream = id
	};

	REQUIRE(!prof_pool_init(false));
	prof_pool_want(each);
	REQUIRE(!prof_stream_open(id));
	prof_transport_init(&to);
	prof_intake_init(&cupti);
}

/*
 * ---- runs --------------------------------------------------------------------------------------
 */

static uint64_t total(const uint64_t *by_kind)
{
	uint64_t sum = 0;
	int kind;

	for (kind = WIRE_KIND_OP; kind < WIRE_KIND_MAX; kind++)
		sum += by_kind[kind];
	return sum;
}

/*
 * Pointers to names become numbers in the buffers: a copy is walked, so that each round has them.
 */
static void one_round(const struct set *s, struct path *p, struct result *r, int round)
{
	uint8_t *data = malloc(s->each * s->count);
	int64_t callback, drain;
	size_t i;
	int k;

	REQUIRE(data);
	memset(p->spent, 0, sizeof(p->spent));
	memset(p->made, 0, sizeof(p->made));
	memset(p->stored, 0, sizeof(p->stored));
	whole(s, &callback, &drain);
	memcpy(data, s->bytes, s->each * s->count);
	for (i = 0; i < s->count; i++)
		prof_activity_number_names(data + i * s->each, s->valid[i]);
	prof_translator_window(&p->translator, T0, s->t1);
	take_buffers(p, s, data);
	for (k = WIRE_KIND_OP; k < WIRE_KIND_MAX; k++)
		make_block(p, k);
	p->spent[CALLBACK] = callback;
	p->spent[WHOLE] = drain;
	r->events = total(p->made);
	r->ops = p->made[WIRE_KIND_OP];
	r->launches = p->made[WIRE_KIND_API];
	r->op_bytes = p->stored[WIRE_KIND_OP];
	r->api_bytes = p->stored[WIRE_KIND_API];
	r->other_bytes = p->stored[WIRE_KIND_SYNC];
	for (k = 0; k < STAGES; k++)
		r->ns[k][round] = (double)p->spent[k] / (double)r->events;
	free(data);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *what, struct result *r, int rounds)
{
	double per_op = (double)r->events / (double)r->ops, sum = 0, least = 0;
	int k;

	printf("%s: %" PRIu64 " ops, %" PRIu64 " calls, %" PRIu64 " events\n", what, r->ops,
	       r->launches, r->events);
	printf("  ns of thread CPU          per event            per op\n");
	for (k = 0; k < STAGES; k++) {
		qsort(r->ns[k], (size_t)rounds, sizeof(r->ns[k][0]), by_value);
		if (k >= TRANSLATE && k <= FRAME) {
			sum += r->ns[k][rounds / 2];
			least += r->ns[k][0];
		}
		if (k == ENCODE)
			printf("  %-18s  %6.1f [%6.1f]   %6.1f [%6.1f]\n", "sum of four", sum,
			       least, sum * per_op, least * per_op);
		printf("  %-18s  %6.1f [%6.1f]   %6.1f [%6.1f]\n", stage_name[k],
		       r->ns[k][rounds / 2], r->ns[k][0], r->ns[k][rounds / 2] * per_op,
		       r->ns[k][0] * per_op);
	}
	printf("  bytes: %.3f per op", (double)r->op_bytes / (double)r->ops);
	if (r->launches)
		printf(", %.3f per call, %.3f per op with its call",
		       (double)r->api_bytes / (double)r->launches,
		       (double)(r->op_bytes + r->api_bytes) / (double)r->ops);
	printf("\n");
}

struct opts {
	size_t each, total;
	int rounds;
};

static void run(const struct opts *o, uint32_t streams, bool api)
{
	struct job j = { .rnd = 7, .streams = streams, .api = api, .host = T0 };
	struct set s = { .each = o->each, .count = o->total / o->each };
	static struct result r;
	static struct path p;
	char what[64];
	int round;

	s.pile = PILE_BYTES / o->each < PILE ? PILE_BYTES / o->each : PILE;
	s.bytes = malloc(s.each * s.count);
	s.valid = malloc(s.count * sizeof(*s.valid));
	REQUIRE(s.bytes && s.valid);
	fill(&s, &j);
	path_open(&p);
	for (round = 0; round < o->rounds; round++)
		one_round(&s, &p, &r, round);
	snprintf(what, sizeof(what), "%s, %u stream%s", api ? "L1" : "L0", streams,
		 streams > 1 ? "s" : "");
	print(what, &r, o->rounds);
	path_close(&p);
	free(s.valid);
	free(s.bytes);
}

static void print_memory(void)
{
	struct prof_transport_stats transport;
	struct prof_stream_stats stream;
	struct prof_pool_stats pool;
	size_t names = prof_names_bytes();

	prof_pool_stats(&pool);
	prof_stream_stats(&stream);
	prof_transport_stats(&transport);
	printf("memory held, MB (nobody takes the frames, so the queue is full): buffers %.1f, "
	       "stream %.1f, queue %.1f, names %.1f, together %.1f of 64\n",
	       (double)pool.touched_bytes / 1e6, (double)stream.memory / 1e6,
	       (double)transport.memory / 1e6, (double)names / 1e6,
	       (double)(pool.touched_bytes + stream.memory + transport.memory + names) / 1e6);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "buffer", required_argument, NULL, 'b' },
		{ "total", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ 0 },
	};
	static const struct prof_activity_hooks none;
	struct opts o = { .each = 16 << 10, .total = 48 << 20, .rounds = 7 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'b')
			o.each = strtoul(optarg, NULL, 0);
		else if (c == 't')
			o.total = strtoul(optarg, NULL, 0);
		else if (c == 'r')
			o.rounds = atoi(optarg);
		else
			return 1;
	}
	if (o.each < 4096 || o.each > 1 << 20 || o.total < o.each || o.rounds < 1 ||
	    o.rounds > ROUNDS_MAX)
		return 1;
	name_kernels();
	prof_activity_init(&cupti, &none);
	whole_open(o.each);
	run(&o, 1, false);
	run(&o, 1, true);
	run(&o, 4, true);
	print_memory();
	return 0;
}
