/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain operations and plain gaps are taken by ways of their own (plain_operations.c, plain_gap.c),
 * which must come to what the way of all others does. Who asks for pieces gets the latter: each run
 * is analysed both ways, some with looks at the host, some with ranks that are compared.
 */
#include "engine_trace.h"

#include "wire/evidence.h"

#define T0 INT64_C(1700000000000000000)
#define US INT64_C(1000)
#define STREAMS 3
#define STEPS 40
#define LAUNCHES 60
#define RUNS 150
#define RANKS 2
#define LOOKS_MAX 4096

static const char *const names[] = {
	"void gemm<float>(int)", "elementwise_kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
	"softmax_warp_forward",	 "nvjpeg_decode",
};

/* What a run is like: so many in a hundred. */
struct kind {
	unsigned int fed_late, collective, copy, graph, other_thread, turn_back, sync, wait, mark;
	int64_t grid; /* stamps are multiples of it */
	int64_t look; /* so far apart are looks at the host; 0: there are none */
};

struct maker {
	struct t_proc p;
	struct kind k;
	uint64_t random, corr;
	int64_t host, gpu[STREAMS];
	int64_t looked;
	struct wire_sample *sample;
	size_t samples;
};

static bool chance(struct maker *m, unsigned int percent)
{
	return t_random(&m->random) % 100 < percent;
}

static int64_t ns(struct maker *m, int64_t most)
{
	return (int64_t)(t_random(&m->random) % (uint64_t)most) / m->k.grid * m->k.grid;
}

static void add_operation(struct maker *m, int64_t launched, uint64_t corr)
{
	unsigned int s = chance(m, 80) ? 0 : (unsigned int)(t_random(&m->random) % STREAMS);
	unsigned int name =
		chance(m, m->k.collective) ? 2 : (unsigned int)(t_random(&m->random) % 2);
	int64_t start = launched + 4 * US, *last = &m->gpu[s];
	struct wire_event *e;

	if (start < *last + m->k.grid)
		start = *last + (chance(m, 20) ? 0 : US);
	if (chance(m, 2)) /* clocks are not perfect */
		start = launched - US;
	*last = start + ns(m, chance(m, 95) ? 20 * US : 200 * US);
	e = t_kernel(&m->p, start, *last, corr);
	e->stream = 7 + s;
	e->name = t_name(&m->p, names[chance(m, 3) ? 3 + t_random(&m->random) % 2 : name]);
	if (chance(m, m->k.copy)) {
		e->op = WIRE_OP_COPY;
		e->name = 0;
		e->copy = chance(m, 50) ? WIRE_COPY_H2D : WIRE_COPY_D2H;
		e->src = WIRE_MEM_PAGEABLE;
		e->bytes = 4096;
	}
}

/* One look at each of the threads that launch, and at a worker of the loader. */
static void look(struct maker *m, int64_t t)
{
	static const char *const stacks[] = {
		"work\t/home/me/train.py\t8",
		"loss\t/home/me/train.py\t17\nwork\t/home/me/train.py\t9",
		("_next_data\t/x/site-packages/torch/utils/data/dataloader.py\t4\n"
		 "work\t/home/me/train.py\t10"),
	};
	uint32_t i;

	for (i = 1; i <= 3 && m->samples < LOOKS_MAX; i++) {
		struct wire_sample *s = &m->sample[m->samples];
		bool runs = chance(m, 70);

		if (chance(m, 30))
			continue;
		*s = (struct wire_sample){ .t_ns = t,
					   .pid = i < 3 ? 10 : 200,
					   .tid = i < 3 ? i : 200,
					   .role = i < 3 ? WIRE_ROLE_SUBMITTER : WIRE_ROLE_WORKER,
					   .state = runs ? WIRE_STATE_RUNNING : WIRE_STATE_SLEEPING,
					   .wait = runs ? WIRE_WAIT_NONE : WIRE_WAIT_LOCK,
					   .period_ns = (uint32_t)m->k.look };
		s->stack = t_name(&m->p, stacks[t_random(&m->random) % 3]);
		m->samples++;
	}
}

static void look_on(struct maker *m)
{
	for (; m->k.look && m->looked < m->host; m->looked += m->k.look + ns(m, m->k.look))
		look(m, m->looked);
}

static void launch(struct maker *m)
{
	bool graph = chance(m, m->k.graph);
	int64_t start = m->host, end = start + 2 * US + ns(m, 3 * US);
	uint64_t corr = ++m->corr;
	struct wire_event *e =
		t_call(&m->p, graph ? "cudaGraphLaunch" : "cudaLaunchKernel", start, end, corr);
	unsigned int n;

	if (chance(m, m->k.other_thread)) {
		e->tid += 1;
		if (chance(m, 50)) /* beside the other thread's next call */
			end = start + US;
	}
	if (chance(m, m->k.turn_back) && corr > 3) {
		e->corr = corr + 5;
		m->corr += 5;
	}
	corr = e->corr;
	for (n = graph ? 3 : 1 - chance(m, 1); n; n--)
		add_operation(m, start, chance(m, 99) ? corr : 0);
	m->host = end + (chance(m, m->k.fed_late) ? 10 * US + ns(m, 90 * US) : ns(m, 2 * US));
	look_on(m);
	if (chance(m, 1))
		t_call(&m->p, "cudaMalloc", m->host - US, m->host + 2 * US, 0);
}

static void step(struct maker *m)
{
	int64_t start = m->host;
	int i;

	if (chance(m, m->k.wait)) {
		m->host += ns(m, 3000 * US) + m->k.grid;
		t_range(&m->p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", start, m->host);
	}
	if (chance(m, m->k.mark))
		t_range(&m->p, WIRE_RANGE_GC, "gc", m->host, m->host + 50 * US);
	for (i = 0; i < LAUNCHES; i++)
		launch(m);
	if (chance(m, m->k.sync)) {
		int64_t end = m->gpu[0] > m->host ? m->gpu[0] : m->host;

		t_call(&m->p, "cudaStreamSynchronize", m->host, end + 3 * US, ++m->corr);
		m->host = end + 3 * US;
	}
	look_on(m);
}

static void make_process(struct t_run *r, uint64_t seed, unsigned int rank)
{
	static const int64_t grids[] = { 1, 1, 100, 1000 }, looks[] = { 0, 0, 300, 5000, 50000 };
	static const unsigned int often[] = { 0, 1, 10, 60, 100 };
	struct maker m = { .random = seed * 7919 + 1 + rank, .host = T0 + (100 + rank) * US };
	unsigned int *k = &m.k.fed_late;
	int i;

	m.looked = m.host;
	m.sample = calloc(LOOKS_MAX, sizeof(*m.sample));
	REQUIRE(m.sample != NULL);

	m.k.grid = grids[t_random(&m.random) % 4];
	for (i = 0; i < 9; i++)
		k[i] = often[t_random(&m.random) % (i == 0 || i > 5 ? 5 : 3)];
	m.k.look = looks[t_random(&m.random) % 5] * US;
	t_proc_begin(r, &m.p, 10, rank, T0);
	for (i = 0; i < STEPS; i++) {
		step(&m);
		if (i % 8 == 7)
			t_flush(&m.p);
	}
	if (m.samples)
		t_samples(&m.p, m.sample, m.samples);
	t_proc_end(&m.p, m.host + 500 * US, true);
	free(m.sample);
}

static void make(struct t_run *r, uint64_t seed, unsigned int ranks)
{
	unsigned int i;

	t_run_begin(r);
	for (i = 0; i < ranks; i++)
		make_process(r, seed, i);
}

static void no_piece(void *arg, const struct ana_piece *p)
{
	(void)arg, (void)p;
}

static struct ana_result *analyse(struct t_run *r, bool all_alike, uint64_t seed)
{
	struct ana_options o = { .threads = 1,
				 .timeline_buckets = 50,
				 .top_gaps = seed % 3 ? 5 : 1000,
				 .series = seed % 2,
				 .on_piece = all_alike ? no_piece : NULL };

	REQUIRE(!t_analyse_with(r, &o));
	return r->result;
}

static void compare_gpu(const struct ana_gpu *a, const struct ana_gpu *b)
{
	EXPECT_MEM(a->classes, b->classes, sizeof(a->classes));
	EXPECT_MEM(a->confidence, b->confidence, sizeof(a->confidence));
	EXPECT_MEM(a->copies, b->copies, sizeof(a->copies));
	EXPECT_MEM(&a->work, &b->work, sizeof(a->work));
	EXPECT_UINT(a->ops, b->ops);
	EXPECT_UINT(a->ops_without_launch, b->ops_without_launch);
	EXPECT_UINT(a->gaps, b->gaps);
	EXPECT_UINT(a->streams, b->streams);
	EXPECT_UINT(a->graphs, b->graphs);
	EXPECT_UINT(a->input_kernels, b->input_kernels);
	EXPECT_INT(a->span_ns, b->span_ns);
	EXPECT_INT(a->idle_ns, b->idle_ns);
	EXPECT_INT(a->empty_ns, b->empty_ns);
	EXPECT_INT(a->queued_ns, b->queued_ns);
	EXPECT_INT(a->empty_ns + a->queued_ns, a->idle_ns);
	EXPECT_INT(a->loader_exposed_ns, b->loader_exposed_ns);
}

static void compare_timeline(const struct ana_timeline *a, const struct ana_timeline *b)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		EXPECT_MEM(&a->bucket[i], &b->bucket[i], sizeof(a->bucket[i]));
}

static void compare_hotspots(const struct ana_result *a, const struct ana_result *b)
{
	size_t i;

	REQUIRE(a->hotspots == b->hotspots);
	for (i = 0; i < a->hotspots; i++) {
		EXPECT_INT(a->hotspot[i].class, b->hotspot[i].class);
		EXPECT_INT(a->hotspot[i].confidence, b->hotspot[i].confidence);
		EXPECT_INT(a->hotspot[i].ns, b->hotspot[i].ns);
		EXPECT_INT(a->hotspot[i].nearby_ns, b->hotspot[i].nearby_ns);
		EXPECT_INT(a->hotspot[i].nearby_medium_ns, b->hotspot[i].nearby_medium_ns);
		EXPECT_UINT(a->hotspot[i].samples, b->hotspot[i].samples);
	}
	EXPECT_INT(a->other_hotspots_ns, b->other_hotspots_ns);
	EXPECT_UINT(a->quality.samples, b->quality.samples);
	EXPECT_INT(a->quality.gap_unsampled_ns, b->quality.gap_unsampled_ns);
}

static void compare_ranks(const struct ana_ranks *a, const struct ana_ranks *b)
{
	size_t i;

	REQUIRE(a->rows == b->rows);
	EXPECT_UINT(a->matched, b->matched);
	EXPECT_UINT(a->refused, b->refused);
	EXPECT_INT(a->refused_ns, b->refused_ns);
	for (i = 0; i < a->rows; i++) {
		EXPECT_UINT(a->row[i].collectives, b->row[i].collectives);
		EXPECT_UINT(a->row[i].late, b->row[i].late);
		EXPECT_INT(a->row[i].waited_ns, b->row[i].waited_ns);
		EXPECT_MEM(a->row[i].causes, b->row[i].causes, sizeof(a->row[i].causes));
		EXPECT_INT(a->row[i].last_ns, b->row[i].last_ns);
		EXPECT_INT(a->row[i].straggler_ppm, b->row[i].straggler_ppm);
	}
}

static void compare(const struct ana_result *a, const struct ana_result *b)
{
	size_t i;

	REQUIRE(a->gpus == b->gpus && a->top_gaps == b->top_gaps);
	for (i = 0; i < a->gpus; i++) {
		compare_gpu(&a->gpu[i], &b->gpu[i]);
		compare_timeline(&a->timeline[i], &b->timeline[i]);
	}
	compare_hotspots(a, b);
	compare_ranks(&a->ranks, &b->ranks);
	for (i = 0; i < a->top_gaps; i++)
		EXPECT_MEM(&a->top_gap[i], &b->top_gap[i], sizeof(a->top_gap[i]));
	EXPECT_UINT(a->steps, b->steps);
	EXPECT_INT(a->step_median_ns, b->step_median_ns);
	EXPECT_UINT(a->quality.ops_before_launch, b->quality.ops_before_launch);
	EXPECT_UINT(a->quality.launches_expired, b->quality.launches_expired);
}

static void check_both_ways(unsigned int ranks, unsigned int runs)
{
	uint64_t seed = t_seed(1), last = seed + runs;

	for (; seed < last; seed++) {
		struct ana_result *all_alike;
		struct view_trace *trace;
		struct t_run r;

		make(&r, seed, ranks);
		all_alike = analyse(&r, true, seed);
		trace = r.trace;
		compare(analyse(&r, false, seed), all_alike);
		ana_result_free(all_alike);
		view_trace_close(trace);
		t_run_end(&r);
	}
}

static void test_both_ways(void)
{
	check_both_ways(1, RUNS);
}

static void test_ranks_both_ways(void)
{
	check_both_ways(RANKS, RUNS / 3);
}

int main(void)
{
	return RUN(test_both_ways, test_ranks_both_ways);
}
