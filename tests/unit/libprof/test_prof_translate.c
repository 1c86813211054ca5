/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to events: each kind with the record sizes of each CUDA version from 11.8 on, stamps that
 * cannot be used, ids that wrap, and the walk over a buffer of mixed records.
 */
#include "cupti/translate.h"

#include "cupti/cuda_api.h"
#include "cupti/names.h"
#include "cupti/record.h"
#include "cupti/timebase.h"
#include "cupti/walk.h"
#include "harness.h"
#include "wire/strtab.h"

#define T0 1700000000000000000ll

struct version {
	const char *name;
	uint32_t kernel, copy, peer, set, sync, graph; /* record bytes */
};

static const struct version versions[] = {
	{ "11.8", 200, 88, 96, 88, 40, 48 }, { "12.0", 208, 88, 96, 88, 40, 48 },
	{ "12.4", 208, 88, 96, 88, 40, 56 }, { "12.9", 208, 96, 96, 88, 56, 56 },
	{ "13.0", 216, 96, 96, 88, 56, 56 }, { "13.4", 240, 112, 96, 96, 56, 56 },
};

static struct wire_strtab *names;
static struct prof_translator t;
static uint32_t sizes[CUPTI_KIND_PROBED];
static uint8_t record[256];

static void use(const struct version *v)
{
	memset(sizes, 0, sizeof(sizes));
	sizes[CUPTI_KIND_CONCURRENT_KERNEL] = v->kernel;
	sizes[CUPTI_KIND_MEMCPY] = v->copy;
	sizes[CUPTI_KIND_MEMCPY2] = v->peer;
	sizes[CUPTI_KIND_MEMSET] = v->set;
	sizes[CUPTI_KIND_SYNCHRONIZATION] = v->sync;
	sizes[CUPTI_KIND_GRAPH_TRACE] = v->graph;
	sizes[CUPTI_KIND_RUNTIME] = sizes[CUPTI_KIND_DRIVER] = 40;
	sizes[CUPTI_KIND_CUDA_EVENT] = 24;
	names = names ? names : wire_strtab_new();
	prof_translator_init(&t, names, sizes);
	prof_translator_window(&t, T0, T0 + 2000000000);
	memset(record, 0, sizeof(record));
}

static void put32(int at, uint32_t v)
{
	memcpy(record + at, &v, sizeof(v));
}

static void put64(int at, uint64_t v)
{
	memcpy(record + at, &v, sizeof(v));
}

static uint32_t number_of(const char *name)
{
	uint32_t n = prof_names_number(name);

	prof_names_collect(names);
	return n;
}

static void kernel(const struct version *v)
{
	struct wire_event ev;

	use(v);
	put32(0, CUPTI_KIND_CONCURRENT_KERNEL);
	put64(16, T0 + 100);
	put64(24, T0 + 350);
	put32(40, 3);
	put32(44, 1);
	put32(48, 7);
	put32(92, 0x1234);
	put64(104, number_of("gemm<float>"));
	put32(156, 9);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.kind, WIRE_KIND_OP);
	EXPECT_INT(ev.op, WIRE_OP_KERNEL);
	EXPECT_INT(ev.start_ns, T0 + 100);
	EXPECT_INT(ev.end_ns, T0 + 350);
	EXPECT_UINT(ev.device, 3);
	EXPECT_UINT(ev.context, 1);
	EXPECT_UINT(ev.stream, 7);
	EXPECT_UINT(ev.corr, 0x1234);
	EXPECT_UINT(ev.graph, 9);
	EXPECT_STR(wire_strtab_get(names, ev.name, NULL), "gemm<float>");
}

static void copy(const struct version *v)
{
	struct wire_event ev;

	use(v);
	put32(0, CUPTI_KIND_MEMCPY);
	record[4] = 1;
	record[5] = 2;
	record[6] = 3;
	record[7] = 1;
	put64(8, 4096);
	put64(16, T0 + 1);
	put64(24, T0 + 5);
	put32(32, 2);
	put32(36, 4);
	put32(40, 8);
	put32(48, 55);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_UINT(ev.corr, 55); /* the runtime's, where the driver's is missing */
	put32(44, 54);
	put32(72, 6);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.op, WIRE_OP_COPY);
	EXPECT_INT(ev.copy, WIRE_COPY_H2D);
	EXPECT_INT(ev.src, WIRE_MEM_PINNED);
	EXPECT_INT(ev.dst, WIRE_MEM_DEVICE);
	EXPECT_INT(ev.flags, WIRE_EV_FL_ASYNC);
	EXPECT_UINT(ev.bytes, 4096);
	EXPECT_UINT(ev.device, 2);
	EXPECT_UINT(ev.context, 4);
	EXPECT_UINT(ev.stream, 8);
	EXPECT_UINT(ev.corr, 54);
	EXPECT_UINT(ev.graph, 6);
	EXPECT_UINT(ev.peer, 0);
}

static void peer(const struct version *v)
{
	struct wire_event ev;

	use(v);
	put32(0, CUPTI_KIND_MEMCPY2);
	record[4] = 10;
	put64(8, 1 << 20);
	put64(16, T0 + 1);
	put64(24, T0 + 5);
	put32(32, 1);
	put32(44, 1);
	put32(52, 0);
	put32(60, 77);
	put32(80, 5);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.copy, WIRE_COPY_P2P);
	EXPECT_UINT(ev.device, 1);
	EXPECT_UINT(ev.peer, 1); /* device 0, plus 1 */
	EXPECT_UINT(ev.corr, 77);
	EXPECT_UINT(ev.graph, 5);
	put32(32, 0); /* it ran on the destination */
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_UINT(ev.peer, 2);
}

static void set(const struct version *v)
{
	struct wire_event ev;

	use(v);
	put32(0, CUPTI_KIND_MEMSET);
	put64(8, 512);
	put64(16, T0 + 1);
	put64(24, T0 + 1); /* may take no time */
	put32(32, 2);
	put32(40, 8);
	put32(44, 12);
	record[50] = 3;
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.op, WIRE_OP_MEMSET);
	EXPECT_INT(ev.dst, WIRE_MEM_DEVICE);
	EXPECT_UINT(ev.bytes, 512);
	EXPECT_UINT(ev.corr, 12);
}

static void stream_wait(const struct version *v)
{
	struct wire_event ev;

	use(v);
	put32(0, CUPTI_KIND_SYNCHRONIZATION);
	put32(4, 2);
	put64(8, T0 + 1);
	put64(16, T0 + 3);
	put32(24, 99);
	put32(28, 1);
	put32(32, 14);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.kind, WIRE_KIND_SYNC);
	EXPECT_INT(ev.op, WIRE_SYNC_STREAM_WAIT);
	EXPECT_UINT(ev.stream, 14);
	EXPECT_UINT(ev.corr, 99);
	put32(4, 77);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP);
	put32(4, 3);
	put64(16, 0);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP); /* no operation: nothing is lost */
}

static void graph(const struct version *v)
{
	struct wire_event ev;

	use(v);
	put32(0, CUPTI_KIND_GRAPH_TRACE);
	put32(4, 31);
	put64(8, T0 + 10);
	put64(16, T0 + 90);
	put32(24, 1);
	put32(28, 17);
	put32(32, 2);
	put32(36, 13);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.op, WIRE_OP_GRAPH);
	EXPECT_UINT(ev.device, 1);
	EXPECT_UINT(ev.graph, 17);
	EXPECT_UINT(ev.stream, 13);
	EXPECT_UINT(ev.corr, 31);
	put32(24, 0x7fffffff); /* begins with a host node */
	put32(48, 3);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_UINT(ev.device, v->graph >= 56 ? 3 : 0);
}

static void api(const struct version *v)
{
	struct wire_event ev;

	use(v);
	put32(0, CUPTI_KIND_DRIVER);
	put32(4, 307);
	put64(8, T0 + 10);
	put64(16, T0 + 20);
	put32(28, 4711);
	put32(32, 88);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_LAUNCH);
	EXPECT_INT(ev.kind, WIRE_KIND_API);
	EXPECT_INT(ev.op, WIRE_DOMAIN_DRIVER);
	EXPECT_UINT(ev.tid, 4711);
	EXPECT_UINT(ev.corr, 88);
	EXPECT_STR(wire_strtab_get(names, ev.name, NULL), "cuLaunchKernel");
	put32(4, 126);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_WAIT);
	EXPECT_STR(wire_strtab_get(names, ev.name, NULL), "cuStreamSynchronize");
	put32(4, 578);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_CAPTURED);
	EXPECT_STR(wire_strtab_get(names, ev.name, NULL), "cuGraphInstantiate_v2");
	put32(4, 2); /* cuDriverGetVersion */
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_CANARY);
	put32(4, 1u << 20);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP);
	put32(0, CUPTI_KIND_RUNTIME);
	put32(4, 211);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_LAUNCH);
	EXPECT_INT(ev.op, WIRE_DOMAIN_RUNTIME);
	EXPECT_STR(wire_strtab_get(names, ev.name, NULL), "cudaLaunchKernel");
	put32(4, 41);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_MAYBE_LAUNCH);
	EXPECT_STR(wire_strtab_get(names, ev.name, NULL), "cudaMemcpyAsync");
}

/* Of 13.1 and later: the stream, and when who ran a function of the program for it. */
static void test_host_functions(void)
{
	struct wire_event ev;

	use(&versions[5]);
	put32(0, CUPTI_KIND_HOST_LAUNCH);
	put32(4, 14);
	put32(8, 2);
	put32(12, 1);
	put32(16, 77);
	put32(24, 4711);
	put64(32, T0 + 5);
	put64(40, T0 + 9);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.kind, WIRE_KIND_SYNC);
	EXPECT_INT(ev.op, WIRE_SYNC_HOST_FUNCTION);
	EXPECT_UINT(ev.stream, 14);
	EXPECT_UINT(ev.context, 2);
	EXPECT_UINT(ev.device, 1);
	EXPECT_UINT(ev.corr, 77);
	EXPECT_UINT(ev.tid, 4711);
	EXPECT_INT(ev.start_ns, T0 + 5);
	EXPECT_INT(ev.end_ns, T0 + 9);
	put64(40, 0); /* not over, or not known: nothing is lost */
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP);
	use(&versions[5]);
	put32(0, CUPTI_KIND_GRAPH_HOST_NODE);
	put32(4, 14);
	put32(20, 3);
	put32(36, 4711);
	put64(40, T0 + 5);
	put64(48, T0 + 9);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.op, WIRE_SYNC_HOST_FUNCTION);
	EXPECT_UINT(ev.graph, 3);
	EXPECT_UINT(ev.tid, 4711);
	EXPECT_INT(ev.end_ns - ev.start_ns, 4);
}

static void held_up(uint32_t what, uint32_t object)
{
	use(&versions[5]);
	sizes[CUPTI_KIND_OVERHEAD] = 56;
	put32(0, CUPTI_KIND_OVERHEAD);
	put32(4, what);
	put32(8, object);
	put32(16, 4711);
	put64(24, T0 + 5);
	put64(32, T0 + 9);
}

static void test_calls_held_up(void)
{
	struct wire_event ev;
	void *data = malloc(12);

	held_up(5 << 16, 2);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.kind, WIRE_KIND_RANGE);
	EXPECT_INT(ev.op, WIRE_RANGE_CODE_LOAD);
	EXPECT_UINT(ev.tid, 4711);
	EXPECT_INT(ev.end_ns - ev.start_ns, 4);
	held_up(4 << 16, 2);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	held_up(1, 2);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.op, WIRE_RANGE_CODE_LOAD);
	held_up(6 << 16, 2);
	put64(48, (uint64_t)(uintptr_t)data); /* ours to free: the sanitizer's build tells */
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_EVENT);
	EXPECT_INT(ev.op, WIRE_RANGE_QUEUE_FULL);
	held_up(6 << 16, 3); /* a device's: whose call it is is not known */
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP);
	held_up(1 << 16, 2); /* CUPTI's own flush; its data are nobody's business */
	put64(48, 1);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP);
	held_up(99 << 16, 2);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP);
}

static void test_versions(void)
{
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		kernel(&versions[i]);
		copy(&versions[i]);
		peer(&versions[i]);
		set(&versions[i]);
		stream_wait(&versions[i]);
		graph(&versions[i]);
		api(&versions[i]);
	}
}

static enum prof_outcome stamped(int64_t start, int64_t end)
{
	struct wire_event ev;

	put64(16, (uint64_t)start);
	put64(24, (uint64_t)end);
	return prof_translate(&t, record, &ev);
}

static void test_stamps(void)
{
	const int64_t hour = 3600000000000, second = 1000000000;

	use(&versions[4]);
	put32(0, CUPTI_KIND_CONCURRENT_KERNEL);
	EXPECT_INT(stamped(T0, T0), PROF_EVENT);
	EXPECT_INT(stamped(0, T0), PROF_BAD);
	EXPECT_INT(stamped(T0, 0), PROF_BAD);
	EXPECT_INT(stamped(0, 0), PROF_BAD);
	EXPECT_INT(stamped(T0 + 2, T0 + 1), PROF_BAD);
	EXPECT_INT(stamped(T0 - hour, T0), PROF_EVENT);
	EXPECT_INT(stamped(T0 - hour - 1, T0), PROF_BAD);
	EXPECT_INT(stamped(T0, T0 + 3 * second), PROF_EVENT);
	EXPECT_INT(stamped(T0, T0 + 3 * second + 1), PROF_BAD);
	EXPECT_INT(stamped(-5, T0), PROF_BAD);
	EXPECT_INT(stamped(194172045144, 194172045999), PROF_BAD); /* another client's clock */
}

/* A cycle counter of 2 GHz that began 5 s before T0. */
static uint64_t cycles(int64_t ns)
{
	return (uint64_t)(10000000000 + 2 * ns);
}

static enum prof_outcome span(uint64_t start, uint64_t end, struct wire_event *ev)
{
	use(&versions[4]);
	put32(0, CUPTI_KIND_CONCURRENT_KERNEL);
	put64(16, start);
	put64(24, end);
	return prof_translate(&t, record, ev);
}

/* Records of when another client's clock came and went: each stamp is read by itself. */
static void test_foreign_clock(void)
{
	struct prof_triplet p = { .before_ns = 0 };
	struct wire_event ev;
	int64_t i;

	prof_timebase_reset();
	EXPECT_INT(span(T0 + 100, cycles(400), &ev), PROF_BAD);
	for (i = 0; i < 4; i++) {
		p.axis_ns = T0 + i * 100000000;
		p.cupti_ns = (int64_t)cycles(i * 100000000);
		prof_timebase_learn(&p);
		EXPECT_INT(span(cycles(100), cycles(400), &ev), i ? PROF_EVENT : PROF_BAD);
	}
	EXPECT_INT(ev.start_ns, T0 + 100);
	EXPECT_INT(ev.end_ns, T0 + 400);
	EXPECT_INT(span(T0 + 100, cycles(400), &ev), PROF_EVENT); /* it came meanwhile */
	EXPECT_INT(ev.start_ns, T0 + 100);
	EXPECT_INT(ev.end_ns, T0 + 400);
	EXPECT_INT(span(cycles(100), T0 + 400, &ev), PROF_EVENT); /* it went meanwhile */
	EXPECT_INT(ev.start_ns, T0 + 100);
	EXPECT_INT(ev.end_ns, T0 + 400);
	EXPECT_INT(span(cycles(400), cycles(100), &ev), PROF_BAD);
	EXPECT_INT(span(0, cycles(100), &ev), PROF_BAD);
	EXPECT_INT(span(cycles(100), 0, &ev), PROF_BAD);
	EXPECT_INT(span(cycles(3000000000), cycles(3000000100), &ev), PROF_BAD); /* not yet */
	prof_timebase_reset();
}

static void test_others(void)
{
	struct wire_event ev;

	use(&versions[4]);
	put32(0, CUPTI_KIND_CUDA_EVENT);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_SKIP);
	put32(0, 55);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_UNKNOWN);
	put32(0, 0);
	EXPECT_INT(prof_translate(&t, record, &ev), PROF_UNKNOWN);
}

static void test_ids(void)
{
	const uint64_t e32 = (uint64_t)1 << 32;
	uint64_t latest = 0;

	EXPECT_UINT(prof_corr_extend(&latest, 0), 0);
	EXPECT_UINT(latest, 0);
	EXPECT_UINT(prof_corr_extend(&latest, 0xfffffff0), 0xfffffff0);
	EXPECT_UINT(prof_corr_extend(&latest, 5), e32 + 5);
	EXPECT_UINT(prof_corr_extend(&latest, 0xfffffff8), 0xfffffff8); /* late, before the wrap */
	EXPECT_UINT(prof_corr_extend(&latest, 5), e32 + 5);
	EXPECT_UINT(prof_corr_extend(&latest, 0x70000000), e32 + 0x70000000);
	EXPECT_UINT(prof_corr_extend(&latest, 0xe0000000), e32 + 0xe0000000);
	EXPECT_UINT(prof_corr_extend(&latest, 3), 2 * e32 + 3);
	EXPECT_UINT(prof_corr_extend(&latest, 0), 0);
	latest = 0;
	EXPECT_UINT(prof_corr_extend(&latest, 10), 10);
	EXPECT_UINT(prof_corr_extend(&latest, 3), 3);
	EXPECT_UINT(prof_corr_extend(&latest, 0x7fffff00), 0x7fffff00);
}

/* Many wraps with ids up to a million apart: every id maps to where it belongs. */
static void test_ids_random(void)
{
	uint64_t seed = t_seed(7), latest = 0, true_id = 0xfff00000, i;

	for (i = 0; i < 2000000; i++) {
		uint64_t back = t_random(&seed) % 1000000, id;

		true_id += t_random(&seed) % 100000;
		id = true_id - back;
		if (!(uint32_t)id || id < 0xfff00000)
			continue;
		if (prof_corr_extend(&latest, (uint32_t)id) != id) {
			T_FAIL("id %" PRIu64, id);
			return;
		}
	}
	EXPECT(latest > (uint64_t)20 << 32);
}

static uint32_t known[CUPTI_KIND_PROBED]; /* by the CUPTI of the walk below */
static int asked;

static int next_record(uint8_t *buffer, size_t valid, void **rec)
{
	uint8_t *at = *rec ? (uint8_t *)*rec + known[rec_u32(*rec, 0)] : buffer;

	asked++;
	if (at + 8 > buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	if (rec_u32(at, 0) >= CUPTI_KIND_PROBED || !known[rec_u32(at, 0)])
		return 21;
	if (at + known[rec_u32(at, 0)] > buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	*rec = at;
	return CUPTI_OK;
}

static struct prof_cupti cupti = { .GetNextRecord = next_record };

static size_t lay(uint8_t *buffer, const uint32_t *kinds, size_t n)
{
	size_t at = 0, i;

	for (i = 0; i < n; i++) {
		memcpy(buffer + at, &kinds[i], sizeof(kinds[i]));
		at += known[kinds[i]] ? known[kinds[i]] : 8;
	}
	return at;
}

static size_t walk(uint8_t *buffer, size_t valid, bool *cut)
{
	struct prof_record_walk w = { .cupti = &cupti, .data = buffer, .valid = valid };
	size_t n = 0;

	while (prof_record_next(&w) && n < 1000)
		n++;
	*cut = w.cut;
	return n;
}

static void test_walk(void)
{
	static const uint32_t kinds[] = { 10, 5, 1, 10, 38, 22, 51, 2, 4, 10 };
	static const uint32_t with_new[] = { 10, 60, 5, 60, 60, 10 };
	static const uint32_t broken[] = { 10, 5, 70, 10 };
	static _Alignas(8) uint8_t buffer[4096];
	bool cut;
	size_t n;

	use(&versions[4]);
	memcpy(known, sizes, sizeof(known));
	memcpy(cupti.record_bytes, sizes, sizeof(sizes));
	n = lay(buffer, kinds, 10);
	asked = 0;
	EXPECT_UINT(walk(buffer, n, &cut), 10);
	EXPECT(!cut);
	EXPECT_INT(asked, 1); /* only for the first */
	EXPECT_UINT(walk(buffer, n - 8, &cut), 9); /* the last one is not whole */
	EXPECT_UINT(walk(buffer, 0, &cut), 0);
	EXPECT(!cut);
	known[60] = 72; /* a kind that only CUPTI knows */
	memset(buffer, 0, sizeof(buffer));
	n = lay(buffer, with_new, 6);
	EXPECT_UINT(walk(buffer, n, &cut), 6);
	EXPECT(!cut);
	memset(buffer, 0, sizeof(buffer));
	n = lay(buffer, broken, 4);
	EXPECT_UINT(walk(buffer, n, &cut), 2);
	EXPECT(cut);
}

int main(void)
{
	return RUN(test_versions, test_host_functions, test_calls_held_up, test_stamps,
		   test_foreign_clock, test_others, test_ids, test_ids_random, test_walk);
}
