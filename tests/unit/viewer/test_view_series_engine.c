/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of whole runs: the same whatever the number of threads, in agreement with the totals, and
 * of no effect on these.
 */
#include "engine_trace.h"
#include "analysis/series/series.h"
#include "report/data/data.h"
#include "wire/evidence.h"

#define T0 INT64_C(1000000000)
#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define STEPS 60

/* A trainer on GPU @gpu: steps of a wait and a few kernels, a worker that makes the batches. */
static void made_process(struct t_run *r, unsigned int gpu, uint64_t seed)
{
	struct wire_sample sample[4 * STEPS], *s = sample;
	struct wire_batch batch[2 * STEPS + 1], *b = batch;
	uint64_t random = seed, corr = 0;
	int64_t at = T0 + 5 * MS, cpu = 1;
	struct t_proc p;
	char text[200];
	int i, k;

	t_proc_begin(r, &p, 10 + gpu, gpu, T0);
	memset(sample, 0, sizeof(sample));
	memset(batch, 0, sizeof(batch));
	*b++ = (struct wire_batch){ .what = WIRE_BATCH_OPEN,
				    .start_ns = T0 + MS,
				    .end_ns = T0 + 2 * MS,
				    .pid = 10 + gpu,
				    .tid = 1,
				    .loader = 1,
				    .text = t_name(&p, "workers=1 kind=torch") };
	for (i = 0; i < STEPS; i++) {
		int64_t start = at, wait = (int64_t)(t_random(&random) % (uint64_t)(6 * MS)) + US;

		t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", at, at + wait);
		*b++ = (struct wire_batch){ .what = WIRE_BATCH_FETCH,
					    .start_ns = at,
					    .end_ns = at + wait - US / 2,
					    .batch = (uint64_t)i,
					    .pid = 500 + gpu,
					    .tid = 500 + gpu,
					    .loader = 1,
					    .worker = 1 };
		*b++ = (struct wire_batch){ .what = WIRE_BATCH_TAKE,
					    .start_ns = at,
					    .end_ns = at + wait,
					    .batch = (uint64_t)i,
					    .pid = 10 + gpu,
					    .tid = 1,
					    .loader = 1 };
		for (k = 0; k < 2; k++) {
			snprintf(text, sizeof(text),
				 "f%d\t/home/p/data.py\t%d\nmain\t/home/p/t.py\t9",
				 (int)(t_random(&random) % 40), k + 1);
			cpu += wait / 4;
			*s++ = (struct wire_sample){ .t_ns = at + (k + 1) * wait / 3,
						     .cpu_ns = (uint64_t)cpu,
						     .period_ns = 1000000,
						     .pid = k ? 10 + gpu : 500 + gpu,
						     .tid = k ? 1 : 500 + gpu,
						     .stack = t_name(&p, text),
						     .role = k ? WIRE_ROLE_SUBMITTER
							       : WIRE_ROLE_WORKER,
						     .state = WIRE_STATE_SLEEPING,
						     .wait = k ? WIRE_WAIT_QUEUE : WIRE_WAIT_READ };
		}
		at += wait;
		for (k = 0; k < 20; k++) {
			t_launch(&p, at, at + 5 * US, at + 60 * US, ++corr);
			at += (int64_t)(50 + t_random(&random) % 100) * US;
		}
		t_range(&p, WIRE_RANGE_STEP, "ProfilerStep#1", start, at);
	}
	t_samples(&p, sample, (size_t)(s - sample));
	t_batches(&p, batch, (size_t)(b - batch));
	t_proc_end(&p, at + 20 * MS, true);
}

static void made_run(struct t_run *r, unsigned int gpus)
{
	unsigned int g;

	t_run_begin(r);
	for (g = 0; g < gpus; g++)
		made_process(r, g, 77 + g);
}

static struct ana_result *analyse(struct t_run *r, unsigned int threads, bool series,
				  size_t buckets)
{
	struct ana_options o = {
		.threads = threads, .timeline_buckets = buckets, .top_gaps = 20, .series = series
	};

	REQUIRE(!t_analyse_with(r, &o));
	return r->result;
}

static void again(struct t_run *r)
{
	ana_result_free(r->result);
	view_trace_close(r->trace);
	r->result = NULL;
	r->trace = NULL;
}

/* The data block, which holds every series; the summary borrows the result. */
static char *block_of(struct ana_result *r)
{
	struct view_summary s = { .result = r };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	REQUIRE(f);
	view_data_write(&s, f);
	REQUIRE(!fclose(f));
	return text;
}

static void test_any_number_of_threads(void)
{
	static const unsigned int threads[] = { 2, 3, 8, 8, 8 };
	struct t_run r;
	char *one, *other;
	size_t i;

	made_run(&r, 6);
	one = block_of(analyse(&r, 1, true, 240));
	again(&r);
	for (i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		other = block_of(analyse(&r, threads[i], true, 240));
		again(&r);
		EXPECT_STR(other, one);
		free(other);
	}
	free(one);
	analyse(&r, 1, false, 240);
	t_run_end(&r);
}

static void check_totals(const struct ana_result *a, const struct ana_result *b)
{
	size_t i;
	int c;

	EXPECT_UINT(a->gpus, b->gpus);
	for (i = 0; i < a->gpus && i < b->gpus; i++) {
		for (c = 0; c < ANA_CLASSES; c++)
			EXPECT_INT(a->gpu[i].classes[c], b->gpu[i].classes[c]);
		EXPECT_MEM(&a->gpu[i].confidence, &b->gpu[i].confidence,
			   sizeof(a->gpu[i].confidence));
	}
	for (i = 0; i < a->gpus && i < b->gpus; i++) {
		REQUIRE(a->timeline[i].count == b->timeline[i].count);
		EXPECT_MEM(a->timeline[i].bucket, b->timeline[i].bucket,
			   a->timeline[i].count * sizeof(*a->timeline[i].bucket));
	}
	EXPECT_UINT(a->top_gaps, b->top_gaps);
	for (i = 0; i < a->top_gaps && i < b->top_gaps; i++) {
		EXPECT_INT(a->top_gap[i].start_ns, b->top_gap[i].start_ns);
		EXPECT_INT(a->top_gap[i].end_ns, b->top_gap[i].end_ns);
		EXPECT_INT(a->top_gap[i].major, b->top_gap[i].major);
	}
	EXPECT_UINT(a->hotspots, b->hotspots);
	EXPECT_INT(a->step_median_ns, b->step_median_ns);
}

static void test_no_effect_on_the_totals(void)
{
	struct t_run r, off;

	made_run(&r, 2);
	made_run(&off, 2);
	analyse(&r, 1, true, 240);
	analyse(&off, 1, false, 240);
	EXPECT(!off.result->series && r.result->series);
	check_totals(r.result, off.result);
	t_run_end(&r);
	t_run_end(&off);
}

static void check_timeline(const struct ana_result *r, size_t g)
{
	const struct ana_timeline *t = &r->timeline[g];
	const struct ana_gpu_series *s = &r->series->gpu[g];
	int64_t sum, longest = 0;
	size_t i;
	int c;

	EXPECT(t->count && t->count <= 240);
	EXPECT_INT(t->bucket[0].start_ns, r->gpu[g].held_start_ns);
	EXPECT_INT(t->bucket[t->count - 1].end_ns, r->gpu[g].held_end_ns);
	for (c = 0; c < ANA_CLASSES; c++) {
		for (i = 0, sum = 0; i < t->count; i++)
			sum += t->bucket[i].classes[c];
		EXPECT_INT(sum, r->gpu[g].classes[c]);
	}
	for (i = 0; i < t->count; i++) {
		EXPECT(!i || t->bucket[i].start_ns == t->bucket[i - 1].end_ns);
		EXPECT(s->longest_ns[i] <= t->bucket[i].end_ns - t->bucket[i].start_ns);
		longest = s->longest_ns[i] > longest ? s->longest_ns[i] : longest;
	}
	EXPECT(s->gaps == ANA_SERIES_GAPS && longest > 0);
	EXPECT(longest <= s->gap[0].end_ns - s->gap[0].start_ns);
	for (i = 0; i < s->gaps; i++) {
		EXPECT_UINT(s->gap[i].gpu, g);
		EXPECT(!i || s->gap[i].end_ns - s->gap[i].start_ns <=
				     s->gap[i - 1].end_ns - s->gap[i - 1].start_ns);
	}
}

/* Windows are finer than the timeline, tell all of their time, and show the run's longest gap. */
static void check_zooms(const struct ana_result *r)
{
	const struct ana_series *s = r->series;
	const struct ana_gap *top = &r->top_gap[0];
	bool shown = false;
	size_t i, k;
	int c;

	EXPECT(s->zooms > 0 && s->zooms <= ANA_SERIES_ZOOMS);
	for (i = 0; i < s->zooms; i++) {
		const struct ana_zoom *z = &s->zoom[i];
		const struct ana_timeline *t = &r->timeline[z->gpu];

		EXPECT(z->line.bucket[0].end_ns - z->line.bucket[0].start_ns <
		       t->bucket[0].end_ns - t->bucket[0].start_ns);
		for (k = 0; k < z->line.count; k++) {
			const struct ana_bucket *b = &z->line.bucket[k];
			int64_t sum = 0;

			for (c = 0; c < ANA_CLASSES; c++)
				sum += b->classes[c];
			EXPECT_INT(sum, b->end_ns - b->start_ns);
			EXPECT(!k || b->start_ns == b[-1].end_ns);
		}
		shown |= z->gpu == top->gpu && z->line.bucket[0].start_ns <= top->start_ns &&
			 z->line.bucket[z->line.count - 1].end_ns >= top->end_ns;
	}
	EXPECT(shown);
}

static void test_agrees_with_the_totals(void)
{
	const struct ana_series *s;
	int64_t flames = 0, host = 0;
	uint64_t steps = 0, fetches = 0;
	struct t_run r;
	size_t i;
	int c;

	made_run(&r, 3);
	s = analyse(&r, 2, true, 240)->series;
	for (i = 0; i < 3; i++)
		check_timeline(r.result, i);
	check_zooms(r.result);
	EXPECT_UINT(s->step_series, 3);
	for (i = 0; i < ANA_HISTOGRAM_BINS; i++)
		steps += s->histogram[i];
	EXPECT_UINT(steps, 3 * STEPS);
	EXPECT_UINT(s->steps[1].buckets, STEPS);
	EXPECT_UINT(s->outliers, ANA_SERIES_OUTLIERS);
	for (i = 0; i < s->cells; i++)
		fetches += s->cell[i].fetch.count;
	EXPECT_UINT(fetches, 3 * STEPS);
	EXPECT(s->has_states && s->has_ready);
	for (c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_input(c) || ana_class_is_host(c))
			host += r.result->classes[c];
	for (i = 0; i < s->flames; i++)
		flames += s->flame[i].node[0].ns;
	EXPECT_INT(s->flame_total_ns, host);
	EXPECT_INT(s->flame_sampled_ns, flames);
	EXPECT(flames > 0 && flames <= host);
	t_run_end(&r);
}

/* What samples explain of input.* and host.*, told one by one. */
static void sum_samples(void *arg, const struct ana_hotspot_sample *s)
{
	if (ana_class_is_input((int)s->class) || ana_class_is_host((int)s->class))
		*(int64_t *)arg += s->ns;
}

static void test_flames_are_what_samples_explain(void)
{
	int64_t seen = 0;
	struct ana_options o = { .series = true, .on_hotspot_sample = sum_samples, .arg = &seen };
	struct t_run r;

	made_run(&r, 3);
	REQUIRE(!t_analyse_with(&r, &o));
	EXPECT_INT(r.result->series->flame_sampled_ns, seen);
	t_run_end(&r);
}

static void test_nothing_to_tell(void)
{
	struct t_run r;
	struct t_proc p;
	char *block;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, T0); /* held, and no operation */
	t_proc_end(&p, T0 + 5, true);
	block = block_of(analyse(&r, 1, true, 240));
	EXPECT(strstr(block, "\"steps\":null,\"loader\":null,\"flame\":null"));
	EXPECT(!r.result->series->zooms && !r.result->series->cell);
	free(block);
	t_run_end(&r);
}

#define INLINE                                                                      \
	"load\t/home/p/data.py\t12\n_next_data\t/x/site-packages/torch/utils/data/" \
	"dataloader.py\t1300\nmain\t/home/p/t.py\t9"

/*
 * Nobody announces a wait: samples alone tell that the thread makes its batch in each step's first
 * half, and in every second step no sample lies, so that it waits for what its neighbours tell.
 */
static void made_unannounced(struct t_run *r)
{
	struct wire_sample sample[8 * STEPS], *s = sample;
	struct t_proc p;
	int64_t at = T0 + 10 * MS;
	uint64_t corr = 0;

	t_run_begin(r);
	t_proc_begin(r, &p, 10, 0, T0);
	memset(sample, 0, sizeof(sample));
	t_launch(&p, at - 6 * MS, at - 5 * MS, at, ++corr);
	for (int i = 0; i < STEPS; i++) {
		int64_t start = at, half = 100 * MS + i * MS;

		for (int k = 1; i % 2 && k <= 8; k++)
			*s++ = (struct wire_sample){ .t_ns = at + k * half / 9,
						     .cpu_ns = (uint64_t)(at + k * half / 9 - T0),
						     .period_ns = 10000000,
						     .pid = 10,
						     .tid = 1,
						     .stack = t_name(&p, INLINE),
						     .role = WIRE_ROLE_SUBMITTER,
						     .state = WIRE_STATE_RUNNING };
		t_launch(&p, at + half, at + half, at + 2 * half, ++corr);
		at += 2 * half;
		t_range(&p, WIRE_RANGE_STEP, "ProfilerStep#1", start, at);
	}
	t_samples(&p, sample, (size_t)(s - sample));
	t_proc_end(&p, at + 20 * MS, true);
}

static int64_t sum_of_input(const int64_t *classes)
{
	int64_t ns = 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		ns += ana_class_is_input(c) ? classes[c] : 0;
	return ns;
}

/* What a step tells is what the ledger has in it, whoever told and however late. */
static void test_waits_of_steps_are_the_ledgers(void)
{
	const struct ana_result *a;
	const struct ana_series *s;
	int64_t input, told = 0;
	struct t_run r;

	made_unannounced(&r);
	a = analyse(&r, 1, true, 240);
	s = a->series;
	input = sum_of_input(a->classes);
	EXPECT_INT(a->loader_exposed_ns, 0);
	EXPECT_INT(input, (STEPS * 100 + STEPS * (STEPS - 1) / 2) * MS);
	REQUIRE(s->step_series == 1);
	for (size_t i = 0; i < s->steps[0].buckets; i++)
		told += s->steps[0].bucket[i].input_ns;
	EXPECT_INT(told, input);
	for (size_t i = 0; i < s->outliers; i++)
		EXPECT_INT(s->outlier[i].input_ns,
			   (s->outlier[i].end_ns - s->outlier[i].start_ns) / 2);
	t_run_end(&r);
}

static void check_gap(const struct ana_gap *g)
{
	EXPECT(ana_class_is_input(g->major));
	EXPECT_INT(g->class_ns, g->end_ns - g->start_ns);
}

/* A gap is called what the ledger booked for it, not what it was before its neighbours told. */
static void test_gaps_are_called_as_they_are_booked(void)
{
	const struct ana_result *a;
	struct t_run r;

	made_unannounced(&r);
	a = analyse(&r, 1, true, 240);
	EXPECT_INT(a->classes[ANA_HOST_UNKNOWN], 0);
	EXPECT(a->top_gaps > 10);
	for (size_t i = 0; i < a->top_gaps; i++)
		check_gap(&a->top_gap[i]);
	EXPECT(a->series->gpu[0].gaps > 10);
	for (size_t i = 0; i < a->series->gpu[0].gaps; i++)
		check_gap(&a->series->gpu[0].gap[i]);
	t_run_end(&r);
}

int main(void)
{
	return RUN(test_any_number_of_threads, test_no_effect_on_the_totals,
		   test_agrees_with_the_totals, test_flames_are_what_samples_explain,
		   test_nothing_to_tell, test_waits_of_steps_are_the_ledgers,
		   test_gaps_are_called_as_they_are_booked);
}
