/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that series are gathered in: nothing is lost when buckets double, when a tree is full,
 * when a state is spread over cells.
 */
#include "harness.h"
#include "analysis/evidence/loaders.h"
#include "analysis/series/series_parts.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

/* ---- steps ----------------------------------------------------------------------------------- */

static void check_steps(size_t n, size_t max, uint64_t seed)
{
	struct ana_step_gather g;
	int64_t sum = 0, most = 0, least = INT64_MAX, got = 0, at = 0;
	uint64_t count = 0, bins = 0, random = seed;
	size_t i;

	ana_step_gather_init(&g, 3, max);
	for (i = 0; i < n; i++) {
		int64_t ns = (int64_t)(t_random(&random) % 1000000);
		struct ana_step s = {
			.start_ns = at, .end_ns = at + ns, .input_ns = ns / 2, .process = 3
		};

		REQUIRE(!ana_step_gather_add(&g, &s));
		at += ns;
		sum += ns;
		most = ns > most ? ns : most;
		least = ns < least ? ns : least;
	}
	EXPECT(g.line.buckets <= max && g.line.buckets >= (n < max ? n : max / 2));
	EXPECT(!(g.line.each & (g.line.each - 1)));
	for (i = 0; i < g.line.buckets; i++) {
		const struct ana_step_bucket *b = &g.line.bucket[i];

		EXPECT(b->count == g.line.each ||
		       (i + 1 == g.line.buckets && b->count < g.line.each));
		EXPECT(b->min_ns >= least && b->max_ns <= most && b->min_ns <= b->max_ns);
		EXPECT(!i || b->start_ns == b[-1].end_ns); /* these follow each other */
		got += b->sum_ns;
		count += b->count;
	}
	for (i = 0; i < ANA_HISTOGRAM_BINS; i++)
		bins += g.histogram[i];
	EXPECT_INT(got, sum);
	EXPECT_UINT(count, n);
	EXPECT_UINT(bins, n);
	EXPECT_INT(g.slow.step[0].end_ns - g.slow.step[0].start_ns, most);
	for (i = 1; i < g.slow.count; i++)
		EXPECT(g.slow.step[i].end_ns - g.slow.step[i].start_ns <=
		       g.slow.step[i - 1].end_ns - g.slow.step[i - 1].start_ns);
	EXPECT_UINT(g.slow.count, n < ANA_SERIES_OUTLIERS ? n : ANA_SERIES_OUTLIERS);
	ana_step_gather_fini(&g);
}

static void test_steps_double(void)
{
	size_t n;

	for (n = 1; n < 200; n++)
		check_steps(n, 16, n);
	check_steps(1024, 1024, 1);
	check_steps(1025, 1024, 2);
	check_steps(100001, 1024, 3);
}

static void test_histogram_edges(void)
{
	unsigned int i;

	for (i = 0; i < ANA_HISTOGRAM_BINS; i++) {
		EXPECT(ana_histogram_edge(i) < ana_histogram_edge(i + 1));
		EXPECT_UINT(ana_histogram_bin(ana_histogram_edge(i)), i);
		EXPECT_UINT(ana_histogram_bin(ana_histogram_edge(i + 1) - 1), i);
	}
	EXPECT_UINT(ana_histogram_bin(-5), 0);
	EXPECT_UINT(ana_histogram_bin(INT64_MAX), ANA_HISTOGRAM_BINS - 1);
	EXPECT_INT(ana_histogram_edge(8), 8);
	EXPECT_INT(ana_histogram_edge(8 * 8), 1024);
}

/* ---- loaders --------------------------------------------------------------------------------- */

static void init_loader(struct ana_loader_gather *g, int64_t start, int64_t end)
{
	struct ana_series_plan p = { .start = start, .end = end, .cell_ns = 10 * MS };

	p.cells = (size_t)((end - start + p.cell_ns - 1) / p.cell_ns);
	REQUIRE(!ana_loader_gather_init(g, &p));
}

static int64_t state_sum(const struct ana_loader_gather *g, int state)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < g->cells; i++)
		sum += g->cell[i].state_ns[state];
	return sum;
}

static void test_states(void)
{
	struct ana_loader_gather g;
	struct ana_last_sample t = { 0 };
	struct wire_sample s = { .t_ns = 3 * MS,
				 .cpu_ns = 100,
				 .role = WIRE_ROLE_WORKER,
				 .state = WIRE_STATE_SLEEPING,
				 .wait = WIRE_WAIT_READ };

	init_loader(&g, 0, 100 * MS);
	ana_loader_gather_sample(&g, &t, &s);
	s.t_ns += 17 * MS; /* 4 of it on a CPU, 2 waiting for one, the rest reading */
	s.cpu_ns += 4 * MS;
	s.delay_ns += 2 * MS;
	s.wait = WIRE_WAIT_QUEUE;
	ana_loader_gather_sample(&g, &t, &s);
	EXPECT(g.has_states);
	EXPECT_INT(state_sum(&g, ANA_WORKER_CPU), 4 * MS);
	EXPECT_INT(state_sum(&g, ANA_WORKER_RUNNABLE), 2 * MS);
	EXPECT_INT(state_sum(&g, ANA_WORKER_IO), 11 * MS);
	EXPECT_INT(g.cell[0].state_ns[ANA_WORKER_IO], 11 * MS * 7 / 17); /* evenly */
	s.t_ns += 200 * MS; /* idle beyond the end of the axis */
	ana_loader_gather_sample(&g, &t, &s);
	EXPECT_INT(state_sum(&g, ANA_WORKER_IDLE), 80 * MS);
	s.t_ns -= 500 * MS; /* back in time: left out */
	ana_loader_gather_sample(&g, &t, &s);
	s.t_ns += 501 * MS;
	s.role = WIRE_ROLE_SUBMITTER; /* no worker */
	ana_loader_gather_sample(&g, &t, &s);
	EXPECT_INT(state_sum(&g, ANA_WORKER_IDLE), 80 * MS);
	ana_loader_gather_fini(&g);
}

/* Whatever the samples are, a worker's states sum to the time between the first and the last. */
static void test_states_sum(void)
{
	struct ana_loader_gather g;
	struct ana_last_sample t = { 0 };
	struct wire_sample s = { .t_ns = 0, .cpu_ns = 1, .role = WIRE_ROLE_WORKER };
	uint64_t random = 7;
	int64_t sum = 0;
	int i, k;

	init_loader(&g, 0, 10 * S);
	for (i = 0; i < 500; i++) {
		s.state = t_random(&random) % 2 ? WIRE_STATE_RUNNING : WIRE_STATE_SLEEPING;
		s.wait = (uint8_t)(t_random(&random) % 20);
		ana_loader_gather_sample(&g, &t, &s);
		k = (int)(t_random(&random) % (20 * MS));
		s.t_ns += k;
		s.cpu_ns += t_random(&random) % ((uint64_t)k + 1);
		s.delay_ns += t_random(&random) % ((uint64_t)k + 1);
	}
	for (i = 0; i < ANA_WORKER_STATES; i++)
		sum += state_sum(&g, i);
	EXPECT_INT(sum, t.last.t_ns);
	ana_loader_gather_fini(&g);
}

static void row(struct ana_loader_gather *g, struct ana_ready *ready, struct ana_loaders *l,
		struct wire_batch b)
{
	REQUIRE(!ana_loaders_add(l, &b));
	ana_loader_gather_batch(g, ready, ana_loaders_get(l, b.loader), &b);
}

static void test_batches(void)
{
	struct wire_strtab *names = wire_strtab_new();
	struct ana_loader_gather g;
	struct ana_ready ready = { 0 };
	struct ana_loaders l;
	uint32_t settings = wire_strtab_intern(names, "workers=2 kind=torch", 20);
	int i;

	init_loader(&g, 0, 100 * MS);
	ana_loaders_init(&l, names);
	row(&g, &ready, &l,
	    (struct wire_batch){ .what = WIRE_BATCH_OPEN, .loader = 1, .text = settings });
	for (i = 0; i < 5; i++) /* made in cells 0 to 4, each a little slower */
		row(&g, &ready, &l,
		    (struct wire_batch){ .what = WIRE_BATCH_FETCH,
					 .loader = 1,
					 .worker = 1,
					 .batch = (uint64_t)i,
					 .start_ns = i * 10 * MS,
					 .end_ns = i * 10 * MS + 1000 + i });
	for (i = 0; i < 2; i++)
		row(&g, &ready, &l,
		    (struct wire_batch){ .what = WIRE_BATCH_TAKE,
					 .loader = 1,
					 .batch = (uint64_t)i,
					 .start_ns = 60 * MS,
					 .end_ns = 61 * MS + i * 10 * MS });
	row(&g, &ready, &l,
	    (struct wire_batch){ .what = WIRE_BATCH_TAKE, /* the end of the epoch gives none */
				 .loader = 1,
				 .batch = WIRE_BATCH_INDEX_UNKNOWN,
				 .start_ns = 75 * MS,
				 .end_ns = 75 * MS });
	row(&g, &ready, &l,
	    (struct wire_batch){ .what = WIRE_BATCH_CLOSE,
				 .loader = 1,
				 .start_ns = 80 * MS,
				 .end_ns = 85 * MS });
	for (i = 0; i < 5; i++) {
		EXPECT_INT(g.cell[i].ready, 1);
		EXPECT_UINT(g.cell[i].fetch.count, 1);
		EXPECT_INT(g.cell[i].fetch.max_ns, 1000 + i);
	}
	EXPECT_INT(g.cell[5].ready, 0);
	EXPECT_INT(g.cell[6].ready, -1);
	EXPECT_INT(g.cell[7].ready, -1);
	EXPECT_INT(g.cell[8].ready, -3); /* thrown away */
	EXPECT_UINT(g.cell[6].take.count, 2);
	EXPECT_INT(g.cell[6].take.min_ns, MS);
	EXPECT_INT(g.cell[6].take.sum_ns, 12 * MS);
	ana_loaders_fini(&l);
	ana_loader_gather_fini(&g);
	wire_strtab_free(names);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint32_t made_stack(struct wire_strtab *names, uint64_t *random, int variety)
{
	char text[4096];
	size_t len = 0;
	int depth = (int)(t_random(random) % 9);

	while (depth-- > 0)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"f%d\t/home/someone/p/m%d.py\t%d\n",
					(int)(t_random(random) % (uint64_t)variety), depth, depth);
	return len ? wire_strtab_intern(names, text, len) : 0;
}

/* Preorder, sums, siblings by time; returns the own time of all nodes. */
static int64_t check_flame(const struct ana_series *s, const struct ana_flame *f)
{
	int64_t *below = calloc(f->nodes, sizeof(*below)), folded = 0, own = 0;
	size_t i;

	REQUIRE(below);
	for (i = 1; i < f->nodes; i++) {
		EXPECT(f->node[i].parent < i && f->node[i].frame < s->frames);
		EXPECT(f->node[i].ns > 0);
		below[f->node[i].parent] += f->node[i].ns;
		if (!strcmp(s->frame[f->node[i].frame], "(other)"))
			folded += f->node[i].ns;
	}
	for (i = 0; i < f->nodes; i++) {
		EXPECT(below[i] <= f->node[i].ns);
		own += f->node[i].ns - below[i];
	}
	EXPECT_INT(below[0], f->node[0].ns); /* nothing is outside of the classes */
	EXPECT_INT(own, f->node[0].ns);
	EXPECT_INT(folded, f->folded_ns);
	free(below);
	return own;
}

static int64_t grow_flames(uint32_t max, int variety, size_t *nodes, int64_t *folded)
{
	struct wire_strtab *names = wire_strtab_new();
	struct ana_series *s = calloc(1, sizeof(*s));
	struct ana_flames f[2];
	uint64_t random = 11;
	int64_t booked = 0, found = 0;
	size_t i;

	REQUIRE(names && s);
	ana_flames_init(&f[0], max);
	ana_flames_init(&f[1], max);
	for (i = 0; i < 4000; i++) {
		struct wire_sample w = { .stack = made_stack(names, &random, variety),
					 .role = (uint8_t)(t_random(&random) % 3) };
		int64_t ns = 1 + (int64_t)(t_random(&random) % 1000);
		enum ana_class c = i % 3 ? ANA_INPUT_FETCH : ANA_HOST_SYNC;

		ana_flames_add(&f[i % 2], (uint32_t)(i % 2), names, c, &w, ns);
		ana_flames_add(&f[i % 2], (uint32_t)(i % 2), names, ANA_DEVICE_LAUNCH, &w, ns);
		booked += ns; /* of device.* nothing is booked */
	}
	REQUIRE(!ana_flames_finish(f, 2, s));
	EXPECT_UINT(s->flames, 6);
	EXPECT_INT(s->flame_sampled_ns, booked);
	*nodes = 0;
	*folded = 0;
	for (i = 0; i < s->flames; i++) {
		found += check_flame(s, &s->flame[i]);
		*nodes += s->flame[i].nodes;
		*folded += s->flame[i].folded_ns;
		EXPECT(!i || s->flame[i].node[0].ns <= s->flame[i - 1].node[0].ns);
	}
	ana_flames_fini(&f[0]);
	ana_flames_fini(&f[1]);
	ana_series_free(s);
	wire_strtab_free(names);
	EXPECT_INT(found, booked);
	return found;
}

static void test_flames(void)
{
	int64_t folded, all;
	size_t nodes;

	all = grow_flames(8192, 3, &nodes, &folded);
	EXPECT_INT(folded, 0);
	EXPECT_INT(grow_flames(200, 300, &nodes, &folded), all); /* full, and nothing is lost */
	EXPECT(folded > 0);
	EXPECT(nodes <= 2 * 2 * 200 + 100);
}

static void test_frame_names(void)
{
	static const char stack[] =
		"leaf\t/a/very/long/path/that/goes/on/and/on/and/on/and/on/and/on/and/on/and/on/"
		"until/it/is/too/long/to/be/shown/whole/data.py\t88\n"
		"a_function_with_a_name_that_is_rather_longer_than_anybody_would_like_to_type\tx.py\t1\n";
	struct wire_strtab *names = wire_strtab_new();
	struct ana_series *s = calloc(1, sizeof(*s));
	struct ana_flames f;
	struct wire_sample w = { .role = WIRE_ROLE_WORKER };

	w.stack = wire_strtab_intern(names, stack, sizeof(stack) - 1);
	ana_flames_init(&f, 100);
	ana_flames_add(&f, 0, names, ANA_INPUT_FETCH, &w, 5);
	w.stack = 99; /* no such stack */
	ana_flames_add(&f, 0, names, ANA_INPUT_FETCH, &w, 7);
	REQUIRE(!ana_flames_finish(&f, 1, s));
	REQUIRE(s->flames == 1 && s->flame[0].nodes == 4);
	EXPECT_INT(s->flame[0].node[1].ns, 12);
	EXPECT_STR(s->frame[s->flame[0].node[1].frame], "input.fetch");
	EXPECT_STR(s->frame[s->flame[0].node[2].frame],
		   "a_function_with_a_name_that_is_rather_longer_than_anybody_would_\xe2\x80\xa6 "
		   "x.py:1");
	EXPECT(strstr(s->frame[s->flame[0].node[3].frame], "leaf \xe2\x80\xa6/"));
	EXPECT(strstr(s->frame[s->flame[0].node[3].frame], "/whole/data.py:88"));
	ana_flames_fini(&f);
	ana_series_free(s);
	wire_strtab_free(names);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* However many GPUs and processes: what is laid out stays within what series_parts.h says. */
static void test_room(void)
{
	static const size_t many[] = { 1, 2, 8, 64, 500, 4096 };
	size_t i;

	for (i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		size_t n = many[i];
		struct ana_result r = { .gpus = n, .gpu = calloc(n, sizeof(*r.gpu)) };
		struct ana_series_plan p;

		REQUIRE(r.gpu);
		r.gpu[n - 1].held_start_ns = 5 * S;
		r.gpu[n - 1].held_end_ns = 3605 * S;
		ana_series_plan(&p, &r, n, n, 240);
		EXPECT_INT(p.start, 5 * S); /* GPUs that were never held say nothing */
		EXPECT_INT(p.end, 3605 * S);
		EXPECT(p.cells <= ANA_SERIES_CELLS);
		EXPECT(p.cell_ns * (int64_t)p.cells >= 3600 * S);
		EXPECT(p.fine == 1 || n * 240 * p.fine <= 65536);
		EXPECT(n * p.step_buckets <= 65536);
		EXPECT(n * p.nodes <= 64 * 4096);
		EXPECT(!(p.fine & (p.fine - 1)) && p.fine <= 64 && p.step_buckets >= 16);
		free(r.gpu);
	}
}

int main(void)
{
	return RUN(test_steps_double, test_histogram_edges, test_states, test_states_sum,
		   test_batches, test_flames, test_frame_names, test_room);
}
