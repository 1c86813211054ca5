/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a slower GPU costs for nothing, of a made-up loop whose answer is known: a worker makes a
 * batch, next() takes it off and unpacks it, the GPU works on it, and the trainer waits for that.
 * The rows of such a loop are counted, and the GPU that is said to make no step longer is played.
 */
#include "fit/places.h"

#include "analysis/evidence/loaders.h"
#include "view_made.h"
#include "harness.h"

#define MS INT64_C(1000000)
#define STEPS 1000
#define RANKS 4
#define AHEAD 2 /* batches that the worker makes before the first is taken */

static int64_t uneven; /* half of the steps take no more; 0: all take the same */

struct loop { /* times of each step */
	int64_t make, hand, work;
};

struct played {
	int64_t ns; /* from the first batch's arrival to the end of the last step */
	int64_t wait_ns; /* of it the GPU had nothing: inside next() */
};

static void add(struct ana_loaders *l, uint8_t what, uint64_t batch, int64_t start, int64_t end)
{
	const struct wire_batch b = { .what = what,
				      .loader = 1,
				      .batch = batch,
				      .samples = 1,
				      .worker = what == WIRE_BATCH_FETCH,
				      .start_ns = start,
				      .end_ns = end };

	if (l)
		EXPECT(!ana_loaders_add(l, &b));
}

/* @l: gets the rows; may be NULL. */
static struct played play(const struct loop *p, struct ana_loaders *l)
{
	int64_t taken[STEPS], made = 0, now = p->make;
	struct played out = { 0 };

	for (int i = 0; i < STEPS; i++) {
		int64_t start = made, call = now;

		if (i >= AHEAD) /* its index is sent when a batch was taken */
			start = base_max(start, taken[i - AHEAD]);
		made = start + p->make;
		now = taken[i] = base_max(call, made) + p->hand;
		add(l, WIRE_BATCH_FETCH, (uint64_t)i, start, made);
		add(l, WIRE_BATCH_TAKE, (uint64_t)i, call, now);
		out.wait_ns += now - call;
		now += p->work;
	}
	out.ns = now - p->make;
	return out;
}

/* The summary of it, as one of a trace would be; @l->trainers do the same, each with a GPU. */
static void summarise(const struct loop *p, struct ana_loader_facts *l, struct ana_gpu *gpu,
		      struct ana_result *r, struct view_summary *s)
{
	const struct played played = play(p, NULL);
	const int64_t n = l->trainers;

	*r = (struct ana_result){ .gpu = gpu,
				  .gpus = l->trainers,
				  .gpu_ns = n * played.ns,
				  .steps = STEPS,
				  .step_fed_median_ns = uneven ? uneven : p->work,
				  .batches = l->trainers * STEPS,
				  .loader = l,
				  .loaders = 1 };
	for (size_t i = 0; i < r->gpus; i++)
		gpu[i] = (struct ana_gpu){ .name = (char *)"NVIDIA H100 80GB HBM3",
					   .span_ns = played.ns,
					   .held_ns = played.ns,
					   .compute_ns = p->work * STEPS };
	r->classes[ANA_COMPUTE] = n * p->work * STEPS;
	r->classes[ANA_INPUT_FETCH] = n * played.wait_ns;
	r->work.ns[ANA_WORK(FACTS_KIND_ELEMENTWISE, FACTS_PRECISION_UNKNOWN)] = n * p->work * STEPS;
	r->work.count[ANA_WORK(FACTS_KIND_ELEMENTWISE, FACTS_PRECISION_UNKNOWN)] =
		l->trainers * STEPS;
	*s = (struct view_summary){ .result = r, .ranks = n };
	s->loader.has_need = true;
	s->loader.fetch_ns = p->make;
	s->loader.facts = (struct view_worker_facts){ .workers = 1,
						      .fetch_ns = p->make,
						      .fetch_cpu_ns = MS,
						      .step_ns = played.ns / STEPS,
						      .wait_ns = played.wait_ns / STEPS,
						      .fed_median_ns = n > 1 ? -1 : p->work,
						      .cores = 8 };
}

/* @range: the training time on an A100-SXM4-40GB, which moves 1,555 of 3,350 GB/s. */
static double fit(const struct loop *p, const struct ana_loader_facts *l, struct fit_range *range)
{
	struct ana_loader_facts own = *l;
	struct ana_gpu gpu[RANKS];
	struct ana_result r;
	struct view_summary s;
	const char *why = NULL;
	struct fit f = { 0 };
	double times;

	summarise(p, &own, gpu, &r, &s);
	EXPECT(!fit_make(&f, &s, NULL, NULL, &why));
	EXPECT(!why);
	times = (double)f.slower_free_ppm / 1e6;
	*range = (struct fit_range){ 0, 0 };
	for (size_t i = 0; i < f.places; i++)
		if (f.place[i].gpu && !strcmp(f.place[i].gpu->name, "NVIDIA A100-SXM4-40GB"))
			*range = f.place[i].train_ns;
	fit_fini(&f);
	return times;
}

static struct ana_loader_facts facts_of(const struct loop *p)
{
	struct ana_loaders l;
	struct ana_loader_facts *out, f;
	size_t n;

	ana_loaders_init(&l, NULL);
	play(p, &l);
	EXPECT(!ana_loaders_finish(&l, &out, &n));
	EXPECT_UINT(n, 1);
	f = out[0];
	f.known |= ANA_LOADER_WORKERS | ANA_LOADER_PREFETCH;
	f.workers = 1;
	f.prefetch = AHEAD;
	free(out);
	ana_loaders_fini(&l);
	return f;
}

static struct loop slower(const struct loop *p, double times)
{
	return (struct loop){ p->make, p->hand, (int64_t)((double)p->work * times) };
}

/*
 * 14 ms to make a batch, 1 to take it, 6 to work on it: a step takes 14, for the next one is made
 * meanwhile. The GPU has 13 of them, not 14, for the trainer takes 1: (6 + 7) / 6 times as slow is
 * for nothing. 14 / 6 times as slow makes each step 1 ms longer.
 */
static void test_hand(void)
{
	const struct loop p = { 14 * MS, 1 * MS, 6 * MS };
	struct ana_loader_facts l = facts_of(&p);
	struct fit_range range;
	struct loop there = slower(&p, 3350. / 1555);
	int64_t now = play(&p, NULL).ns;
	double times = fit(&p, &l, &range);

	EXPECT_INT(now, (STEPS - 1) * 14 * MS + (1 + 6) * MS);
	EXPECT_UINT(l.handed, STEPS);
	EXPECT_INT(l.hand_ns, STEPS * MS);
	EXPECT(times > 2.16 && times < 13. / 6 + .001);
	there = slower(&p, times);
	EXPECT(play(&there, NULL).ns <= now + now / 1000);
	there = slower(&p, 14. / 6);
	EXPECT(play(&there, NULL).ns > now + now / 20);
}

/* Ranks that do the same, each with a loader of its own, are no different. */
static void test_ranks(void)
{
	const struct loop p = { 14 * MS, 1 * MS, 6 * MS };
	struct ana_loader_facts l = facts_of(&p);
	struct fit_range one, many;
	double times = fit(&p, &l, &one);

	l.trainers = RANKS;
	EXPECT(fit(&p, &l, &many) == times);
	EXPECT_INT(many.low, one.low);
	EXPECT_INT(many.high, one.high);
}

/* Where some steps take longer than half of them do, the GPU may set the pace of those. */
static void test_uneven(void)
{
	const struct loop p = { 14 * MS, 1 * MS, 6 * MS };
	struct ana_loader_facts l = facts_of(&p);
	struct fit_range range;

	l.trainers = 2;
	uneven = 5 * MS;
	EXPECT(fit(&p, &l, &range) == 1);
	uneven = 0;
}

/* The range holds what happens, where the GPU has more of a step than the loader leaves it. */
static void test_range(void)
{
	const struct loop of[] = { { 14 * MS, 1 * MS, 6 * MS },
				   { 14 * MS, 3 * MS, 6 * MS },
				   { 20 * MS, 2 * MS, 9 * MS },
				   { 30 * MS, 5 * MS, 13 * MS } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct ana_loader_facts l = facts_of(&of[i]);
		struct loop there = slower(&of[i], 3350. / 1555);
		struct fit_range range;
		int64_t ns = play(&there, NULL).ns;

		fit(&of[i], &l, &range);
		EXPECT(range.low > 0 && range.low <= ns + ns / 1000);
		EXPECT(range.high >= ns - ns / 1000);
	}
}

/* Where nobody tells what next() takes for a made batch, of no slower GPU is it said. */
static void test_not_told(void)
{
	const struct loop p = { 14 * MS, 1 * MS, 6 * MS };
	struct ana_loader_facts l = facts_of(&p);
	struct fit_range range;

	l.handed = 0;
	l.hand_ns = 0;
	EXPECT(fit(&p, &l, &range) == 1);
	EXPECT(range.high >= (14 + 6) * MS * STEPS);
}

/*
 * Rows in any order; a batch that was ready counts from the call, and one of which nothing more is
 * told, nothing.
 */
static void test_taking(void)
{
	struct ana_loader_facts f = { 0 };
	struct ana_taking t = { 0 };
	struct wire_batch fetch = { .what = WIRE_BATCH_FETCH, .loader = 1, .samples = 4 };
	struct wire_batch take = { .what = WIRE_BATCH_TAKE, .loader = 1 };

	fetch.end_ns = 100, take.start_ns = 60, take.end_ns = 107; /* waited for */
	EXPECT(!ana_taking_add(&t, &f, &take) && !ana_taking_add(&t, &f, &fetch));
	EXPECT_UINT(f.handed, 1);
	EXPECT_INT(f.hand_ns, 7);
	fetch.batch = take.batch = 1; /* it was there */
	take.start_ns = 150, take.end_ns = 152, take.samples = WIRE_TAKE_BATCH;
	EXPECT(!ana_taking_add(&t, &f, &fetch) && !ana_taking_add(&t, &f, &take));
	EXPECT_UINT(f.handed, 2);
	EXPECT_INT(f.hand_ns, 9);
	EXPECT_INT(ana_loader_hand_ns(&f), 5); /* 4.5, and never less */
	EXPECT(!ana_taking_add(&t, &f, &take)); /* once is enough */
	take.batch = 2, take.samples = WIRE_TAKE_END; /* no batch */
	fetch.batch = 2;
	EXPECT(!ana_taking_add(&t, &f, &take) && !ana_taking_add(&t, &f, &fetch));
	take.samples = WIRE_TAKE_BATCH, take.loader = 2; /* another iterator's */
	EXPECT(!ana_taking_add(&t, &f, &take));
	take.batch = fetch.batch = WIRE_BATCH_INDEX_UNKNOWN, take.loader = 1;
	EXPECT(!ana_taking_add(&t, &f, &take) && !ana_taking_add(&t, &f, &fetch));
	take.batch = fetch.batch = 3, take.start_ns = 10, take.end_ns = 20; /* before it was made */
	EXPECT(!ana_taking_add(&t, &f, &take) && !ana_taking_add(&t, &f, &fetch));
	EXPECT_UINT(f.handed, 2);
	for (uint64_t i = 0; i < 3 * ANA_TAKING_WAITING; i++) { /* no end of the ring */
		take.batch = 10 + i;
		EXPECT(!ana_taking_add(&t, &f, &take));
	}
	EXPECT_UINT(t.count, ANA_TAKING_WAITING);
	EXPECT_UINT(f.handed, 2);
	ana_taking_fini(&t);
}

int main(void)
{
	return RUN(test_taking, test_hand, test_ranks, test_uneven, test_range, test_not_told);
}
