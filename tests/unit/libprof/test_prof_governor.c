/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The governor's ladder, against loops of launches whose true costs are known: what it is fed is
 * what such a loop would show it, and what it costs is summed beside it.
 */
#include "cupti/governor.h"

#include <stdlib.h>

#include "cupti/windows.h"
#include "harness.h"
#include "wire/windows.h"

#define SECOND 1000000000ll
#define HALF (SECOND / 2)
#define FIVE_MINUTES 600 /* looks */

static struct prof_governor g;
static struct prof_governor_input in;

/*
 * A loop that launches, with so much work of the host between two of them. What a launch costs on
 * each step is true here; the governor is not told.
 */
static struct {
	uint64_t work_ns, launch_ns[PROF_STEPS];
	uint64_t fast_ns; /* less work while no API calls are recorded */
	uint64_t hidden; /* of 1024 launches so many are behind queued work: seen, not exposed */
	bool counts; /* CUPTI numbers its calls */
	uint64_t charged_ns;
	double carry;
} job;

static uint64_t by_look[100000]; /* what each half second was charged */
static size_t looks;

/* Windows of full recording, where a test asks for them; what they were charged beyond the step. */
static struct {
	bool on;
	struct prof_windows w;
	uint64_t by_look[100000];
	uint32_t took; /* looks */
} windows;

static void govern(uint64_t limit, bool has_api)
{
	memset(&in, 0, sizeof(in));
	in.now_ns = SECOND;
	prof_governor_init(&g, limit, has_api, in.now_ns);
	memset(&job, 0, sizeof(job));
	job.counts = true;
	looks = 0;
	memset(&windows, 0, sizeof(windows));
}

static void draw_windows(uint64_t with_seed)
{
	windows.on = true;
	prof_windows_init(&windows.w, with_seed, g.limit);
}

/* As the H100, whose launches stay instrumented, or recover. */
static void costs(bool recovers)
{
	static const uint64_t back[PROF_STEPS] = { 2060, 1560, 500, 0 };
	static const uint64_t stays[PROF_STEPS] = { 2060, 1560, 700, 700 };

	memcpy(job.launch_ns, recovers ? back : stays, sizeof(back));
}

/* What a launch costs now. */
static uint64_t launch_ns(void)
{
	return job.launch_ns[windows.w.open ? PROF_STEP_FULL : g.step];
}

static uint64_t launches_in(int64_t ns)
{
	uint64_t work_ns = job.work_ns - (g.step == PROF_STEP_NO_API ? job.fast_ns : 0);
	double n = (double)ns / (double)(work_ns + launch_ns()) + job.carry;
	uint64_t whole = (uint64_t)n;

	job.carry = n - (double)whole;
	return whole;
}

static void look_at_windows(void)
{
	struct prof_windows_input next = { in.now_ns, g.drawn_ns,
					   prof_governor_drawn_ns(&g, in.now_ns, WIRE_WINDOW_NS) };

	if (windows.on)
		prof_windows_feed(&windows.w, &next);
}

/* Half a second later. */
static bool look(void)
{
	uint64_t n = job.work_ns ? launches_in(HALF) : 0;
	uint64_t charged = n * launch_ns();
	bool changed;

	in.now_ns += HALF;
	in.calls.calls += n + n / 500;
	in.calls.cpu_ns += HALF; /* it never sleeps */
	if (job.counts)
		in.calls.at_ns = in.now_ns - 1000;
	in.drawn = windows.w.open;
	windows.took += in.drawn;
	if (g.step < PROF_STEP_NO_KERNELS || in.drawn)
		in.exposed += n - n * job.hidden / 1024;
	job.charged_ns += charged;
	windows.by_look[looks % (sizeof(by_look) / sizeof(*by_look))] =
		in.drawn ? charged - n * job.launch_ns[g.step] : 0;
	by_look[looks++ % (sizeof(by_look) / sizeof(*by_look))] = charged;
	changed = prof_governor_feed(&g, &in);
	look_at_windows();
	return changed;
}

static int play(int n)
{
	int changes = 0;

	while (n--)
		changes += look();
	return changes;
}

static int play_until(enum prof_step step, int most)
{
	int i;

	for (i = 1; i <= most; i++) {
		look();
		if (g.step == step)
			return i;
	}
	return 0;
}

static uint64_t dearest_of(const uint64_t *ns)
{
	uint64_t sum = 0, most = 0;
	size_t i;

	for (i = 0; i < looks; i++) {
		sum += ns[i];
		if (i >= FIVE_MINUTES)
			sum -= ns[i - FIVE_MINUTES];
		if (sum > most)
			most = sum;
	}
	return most / 300000;
}

/* The dearest five minutes, millionths. */
static uint64_t dearest(void)
{
	return dearest_of(by_look);
}

static void test_cheap(void)
{
	govern(10000, true);
	costs(true);
	job.work_ns = 250000; /* 4,000 a second: 0.8 % */
	EXPECT_INT(play(4000), 0);
	EXPECT_INT(g.step, PROF_STEP_FULL);
	EXPECT(!prof_governor_learnt(&g, PROF_STEP_FULL));
	EXPECT_UINT(prof_governor_launch_ns(&g, PROF_STEP_FULL), 2300);
	EXPECT_UINT(prof_governor_launch_ns(&g, PROF_STEP_LEAST), 0);
}

static void test_cpu_alone(void)
{
	int i;

	govern(10000, true);
	for (i = 0; i < 2000; i++) { /* cores enough: our CPU takes nothing */
		in.cpu_ns += 100000000;
		EXPECT(!look());
	}
	in.cores_short = true;
	for (i = 0; i < 20; i++) {
		in.cpu_ns += 100000000;
		look();
	}
	EXPECT_INT(g.step, PROF_STEP_NO_API);
}

static void test_no_limit(void)
{
	govern(0, true);
	costs(true);
	job.work_ns = 500;
	EXPECT_INT(play(2000), 0);
	EXPECT(g.worst > 500000);
}

/* From 20 k to 300 k launches a second, over five minutes from the first on, and any later ones. */
static void test_cap_where_launches_recover(void)
{
	static const uint64_t rates[] = {
		20000, 30000, 50000, 80000, 100000, 150000, 200000, 300000
	};
	size_t i;
	int api;

	for (i = 0; i < 2 * sizeof(rates) / sizeof(*rates); i++) {
		api = (int)i % 2;
		govern(10000, api);
		costs(true);
		if (!api)
			job.launch_ns[0] = job.launch_ns[1];
		job.work_ns = SECOND / rates[i / 2];
		play(FIVE_MINUTES);
		EXPECT(job.charged_ns <= 12000 * 300000ull);
		EXPECT(job.charged_ns >= 1000 * 300000ull); /* and is made use of */
		play(10 * FIVE_MINUTES);
		EXPECT(dearest() <= 12000);
		EXPECT_UINT(prof_governor_left_ns(&g), 0);
	}
}

static void expect_learnt(void)
{
	uint64_t ns;
	enum prof_step s;

	EXPECT(prof_governor_learnt(&g, PROF_STEP_FULL));
	for (s = PROF_STEP_FULL; s < PROF_STEPS; s++) {
		ns = prof_governor_launch_ns(&g, s);
		EXPECT(ns * 10 >= job.launch_ns[s] * 9 && ns * 10 <= job.launch_ns[s] * 11);
	}
}

/* The costs are found, on the way down and up, within a tenth. */
static void test_learns(void)
{
	govern(10000, true);
	costs(true);
	job.work_ns = 5000;
	EXPECT(play_until(PROF_STEP_LEAST, 200) > 0);
	play(10);
	expect_learnt();
	EXPECT_UINT(g.before_period, 0);
}

/* Whoever is fast and short is seen whole for some seconds, and steps are not skipped. */
static void test_way_down(void)
{
	int first;

	govern(10000, true);
	costs(true);
	job.work_ns = 3333;
	first = play_until(PROF_STEP_NO_API, 100);
	EXPECT(first >= 6 && first <= 10); /* 1.5 s of 38 % */
	first = play_until(PROF_STEP_NO_KERNELS, 10);
	EXPECT(first >= 2 && first <= 3);
	first = play_until(PROF_STEP_LEAST, 10);
	EXPECT(first >= 2 && first <= 4);
	EXPECT(play(300) == 0);
	EXPECT_UINT(g.cost, 0);
}

/* From one phase of many launches to the next all is recorded again; on the way down each look. */
static void second_phase(uint64_t work_ns)
{
	job.work_ns = work_ns;
	play(FIVE_MINUTES);
	job.work_ns = 500000;
	EXPECT(play_until(PROF_STEP_FULL, 800) > 0);
	play(FIVE_MINUTES);
	EXPECT_INT(g.step, PROF_STEP_FULL);
	EXPECT_UINT(g.passed, 0); /* the costs were learnt one by one */
	EXPECT(prof_governor_learnt(&g, PROF_STEP_FULL));
	job.work_ns = work_ns;
}

/* Where giving up API records brings next to nothing, that step is passed over, both ways. */
static void test_what_brings_nothing(void)
{
	static const uint64_t cheap_calls[PROF_STEPS] = { 2560, 2500, 500, 0 };
	int i;

	govern(10000, true);
	memcpy(job.launch_ns, cheap_calls, sizeof(cheap_calls));
	second_phase(5000);
	for (i = 0; i < 2 * FIVE_MINUTES; i++) {
		look();
		EXPECT(g.step != PROF_STEP_NO_API);
	}
	EXPECT(g.passed >= 1);
	EXPECT(dearest() <= 12000);
	job.work_ns = 500000;
	for (i = 0; i < 4 * FIVE_MINUTES; i++) {
		look();
		EXPECT(g.step != PROF_STEP_NO_API);
	}
	EXPECT_INT(g.step, PROF_STEP_FULL);
}

/* No more is lost than it takes, and that at once. */
static void test_first_that_fits(void)
{
	govern(10000, true);
	costs(true);
	second_phase(5000);
	EXPECT(play_until(PROF_STEP_LEAST, 200) > 0); /* 5 % without kernels */
	EXPECT_INT(g.before, PROF_STEP_FULL);
	EXPECT_UINT(g.passed, 1);

	govern(10000, true);
	costs(true);
	second_phase(5000);
	job.work_ns = 194000; /* 1.05 %, without API records 0.80 */
	EXPECT(play_until(PROF_STEP_NO_API, 2 * FIVE_MINUTES) > 0);
	EXPECT_INT(g.before, PROF_STEP_FULL);
	EXPECT_INT(play(40), 0);
}

/* What is left where launches stay instrumented is told; no more is given up than helps. */
static void test_launches_stay(void)
{
	govern(10000, true);
	costs(false);
	job.work_ns = 10000;
	play(FIVE_MINUTES);
	EXPECT_INT(g.step, PROF_STEP_NO_KERNELS); /* copies cost nothing more there */
	EXPECT_INT(g.deepest, PROF_STEP_LEAST);
	EXPECT(prof_governor_left_ns(&g) >= 700 && prof_governor_left_ns(&g) <= 1100);
	EXPECT(g.cost >= 60000); /* 7 %, and it is said */
	/* The least possible and what half of the limit allows at once. */
	EXPECT(job.charged_ns <= FIVE_MINUTES * HALF * 700 / 10700 + 10000 * 300000ull);
	play(20 * FIVE_MINUTES);
	EXPECT(g.step >= PROF_STEP_NO_KERNELS);
}

/* A core that is faster for one step alone makes nothing be left; what does stay is told still. */
static void test_one_fast_step(void)
{
	govern(10000, true);
	costs(true);
	job.work_ns = 4400;
	job.fast_ns = 900;
	play(60);
	EXPECT_INT(g.deepest, PROF_STEP_LEAST);
	EXPECT(g.saves_ns[PROF_STEP_NO_API] < 500);
	EXPECT(prof_governor_learnt(&g, PROF_STEP_FULL));
	EXPECT_UINT(prof_governor_left_ns(&g), 0);

	govern(10000, true);
	costs(false);
	job.work_ns = 9000;
	job.fast_ns = 300;
	play(60);
	EXPECT(prof_governor_left_ns(&g) >= 700);
}

/* A phase of many launches is over: all is recorded again within a minute or two, and stays. */
static void test_phase_ends(void)
{
	govern(10000, true);
	costs(true);
	job.work_ns = 5000;
	play(FIVE_MINUTES);
	EXPECT_INT(g.step, PROF_STEP_LEAST);
	job.work_ns = 500000;
	EXPECT(play_until(PROF_STEP_FULL, 400) > 0);
	EXPECT_INT(play(FIVE_MINUTES), 0);
}

/* Before 12.5 nobody counts calls where none is recorded: then it is tried, ever less often. */
static void test_nobody_counts(void)
{
	int i, down = 0;
	enum prof_step was;

	govern(10000, true);
	costs(true);
	job.counts = false;
	job.work_ns = 10000;
	play(FIVE_MINUTES);
	EXPECT_INT(g.step, PROF_STEP_LEAST);
	for (i = 0; i < 2 * 3600; i++) {
		was = g.step;
		look();
		down += g.step > was;
	}
	EXPECT(down >= 2 && down <= 12);
	EXPECT(dearest() <= 12000);
}

/* The loop is behind queued work: no launch is waited for, so nothing is given up. */
static void test_gpu_bound(void)
{
	govern(10000, true);
	costs(true);
	job.hidden = 1024;
	job.work_ns = 20000;
	EXPECT_INT(play(2 * FIVE_MINUTES), 0);
}

static uint64_t seed;

static uint64_t random_to(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? seed % n : 0;
}

/* Costs that differ from an H100's by up to a third, of which any part may stay. */
static void random_costs(void)
{
	uint64_t stays = random_to(2) ? 0 : random_to(1000), api = 350 + random_to(300);
	uint64_t others = 350 + random_to(350), kernel = others + 800 + random_to(700);

	job.launch_ns[PROF_STEP_LEAST] = stays;
	job.launch_ns[PROF_STEP_NO_KERNELS] = others > stays ? others : stays;
	job.launch_ns[PROF_STEP_NO_API] = kernel > stays ? kernel : stays;
	job.launch_ns[PROF_STEP_FULL] = job.launch_ns[PROF_STEP_NO_API] + api;
}

/*
 * Phases of all rates, pauses, loops behind queued work. In no five minutes is more spent than may
 * be, but for what no step takes away; and steps are taken one by one. A third more, for costs are
 * an H100's until they are learnt; and twice where loops come out from behind queued work while no
 * launch is seen: nobody can know.
 */
static void random_job(bool api, bool hides, bool draws)
{
	uint64_t left = 0, limit = 2000 + random_to(18000), least;
	enum prof_step was;
	uint32_t passed;
	int i, until = 0;

	govern(limit, api);
	random_costs();
	if (draws)
		draw_windows(seed);
	if (!api)
		job.launch_ns[PROF_STEP_FULL] = job.launch_ns[PROF_STEP_NO_API];
	least = job.launch_ns[PROF_STEP_LEAST];
	for (i = 0; i < 8 * FIVE_MINUTES; i++) {
		if (i == until) {
			until = i + 1 + (int)random_to(FIVE_MINUTES);
			job.work_ns = random_to(5) ? 2500 + random_to(200000) : 0;
			job.hidden = random_to(4) || !hides ? 0 : random_to(1025);
		}
		was = g.step;
		passed = g.passed;
		look();
		/* what cannot be avoided or is hidden costs, but is nobody's to save */
		left = by_look[looks - 1];
		if (left)
			by_look[looks - 1] -= left * least / job.launch_ns[in.drawn ? 0 : was];
		by_look[looks - 1] -= by_look[looks - 1] * job.hidden / 1024;
		EXPECT(g.step < PROF_STEPS);
		EXPECT(g.step <= was || g.passed > passed ||
		       (int)g.step - (int)was <= (api || was ? 1 : 2));
		EXPECT(api || g.step != PROF_STEP_NO_API);
	}
	EXPECT(dearest() <= limit * (hides ? 20 : 14) / 10);
}

static void test_random_jobs(void)
{
	int i;

	for (i = 0; i < 600; i++) {
		seed = (uint64_t)i * 0x9E3779B97F4A7C15ull + 1;
		random_job(i % 3, i % 2, i % 5 < 2);
	}
}

/* The governor knows what windows were charged, and counts it among what five minutes cost. */
static void expect_accounted(void)
{
	uint64_t all = 0, last = 0, slots = 0;
	size_t i;

	for (i = 0; i < looks; i++) {
		all += windows.by_look[i];
		last += i + FIVE_MINUTES - 40 >= looks ? windows.by_look[i] : 0;
	}
	for (i = 0; i < PROF_GOVERNOR_SLOTS; i++)
		slots += g.slot_ns[i];
	EXPECT(g.drawn_ns * 10 >= all * 9 && g.drawn_ns * 10 <= all * 12);
	EXPECT(slots * 10 >= last * 9);
}

/*
 * The same loop with windows and without: they stay below half of the limit and with all else below
 * the limit; the governor ends on the same step, and has learnt what is true.
 */
static void windows_stay_below(void)
{
	static const uint64_t rates[] = {
		20000, 30000, 50000, 80000, 100000, 150000, 200000, 300000
	};
	struct prof_governor without = { 0 };
	uint64_t worst;
	size_t i;

	for (i = 0; i < 2 * sizeof(rates) / sizeof(*rates); i++) {
		int api = (int)i % 2, with;

		for (with = 0; with < 2; with++) {
			govern(10000, api);
			costs(true);
			if (!api)
				job.launch_ns[0] = job.launch_ns[1];
			job.work_ns = SECOND / rates[i / 2];
			if (with)
				draw_windows(rates[i / 2] + i);
			play(10 * FIVE_MINUTES);
			if (!with)
				without = g;
		}
		worst = dearest_of(windows.by_look);
		EXPECT(worst <= 5000);
		EXPECT(dearest() <= 12000);
		EXPECT(windows.w.begun >= 8); /* in 50 minutes */
		EXPECT(windows.took >= windows.w.begun && windows.took <= 4 * windows.w.begun);
		EXPECT_INT(g.step, without.step);
		EXPECT_INT(g.deepest, without.deepest);
		EXPECT_UINT(g.passed, without.passed);
		EXPECT_UINT(prof_governor_left_ns(&g), 0);
		expect_learnt();
		expect_accounted();
	}
}

/* Where launches stay dear, or nobody counts, or all is recorded: none. */
static void no_windows(void)
{
	govern(10000, true);
	costs(false);
	draw_windows(1);
	job.work_ns = 10000;
	play(10 * FIVE_MINUTES);
	EXPECT(prof_governor_left_ns(&g) > 0);
	EXPECT_UINT(windows.w.begun, 0);

	govern(10000, true);
	costs(true);
	draw_windows(1);
	job.counts = false;
	job.work_ns = 10000;
	play(10 * FIVE_MINUTES);
	EXPECT_UINT(windows.w.begun, 0);

	govern(10000, true);
	costs(true);
	draw_windows(1);
	job.work_ns = 250000;
	play(10 * FIVE_MINUTES);
	EXPECT_UINT(windows.w.begun, 0);
}

static void test_windows(void)
{
	windows_stay_below();
	no_windows();
}

/* Whatever it is fed: clocks that stand or jump, counts that run backwards. */
static void test_random_input(void)
{
	int i;

	seed = 7;
	for (i = 0; i < 200000; i++) {
		if (i % 1000 == 0)
			govern(random_to(3) ? random_to(1000000) : 0, random_to(2));
		in.now_ns += (int64_t)random_to(random_to(8) ? SECOND : 4000 * SECOND);
		in.exposed += random_to(random_to(8) ? 1000000 : 1);
		in.calls.calls =
			random_to(8) ? in.calls.calls + random_to(1000000) : random_to(1u << 31);
		in.calls.cpu_ns += (int64_t)random_to(SECOND) - SECOND / 10;
		in.calls.at_ns = random_to(8) ? in.now_ns - (int64_t)random_to(SECOND) : 0;
		in.cpu_ns += random_to(SECOND);
		in.cores_short = random_to(2);
		prof_governor_feed(&g, &in);
		EXPECT(g.step < PROF_STEPS && g.deepest >= g.step);
		EXPECT(prof_governor_launch_ns(&g, PROF_STEP_FULL) <= 3 * 5000 + 1800);
	}
}

int main(void)
{
	return RUN(test_cheap, test_cpu_alone, test_no_limit, test_cap_where_launches_recover,
		   test_learns, test_way_down, test_what_brings_nothing, test_first_that_fits,
		   test_launches_stay, test_one_fast_step, test_phase_ends, test_nobody_counts,
		   test_gpu_bound, test_random_jobs, test_windows, test_random_input);
}
