/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the gate raises a false alarm, and how often it sees a step that became slower.
 *
 * Series of steps are made up, all seeded: a step of 100 ms times
 *   exp(AR(1) noise of a given spread and persistence phi)   neighbours are alike
 *   x 5 for each 200th step                                  a checkpoint
 *   x (1 + Exp(1)) for one step in 100                       a stall
 *   x exp(noise of --between), one for each run              runs alike differ
 * and ten slow steps in front (warm-up), of which the gate is to drop what looks like it.
 *
 *   bench_view_check [--pairs N] [--steps N] [--seed S] [--between PERCENT]
 *
 * One new run is held against a baseline of one run, and against one of eight. A/A: both sides from
 * the same model: every failure is a false alarm. A/B: the new side is 3 % slower: every pass is a
 * miss.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check/change.h"
#include "gauss.h"

#define MIN_EFFECT 0.015
#define MANY 8 /* runs of a baseline */

static uint64_t state;
static double between = 0.003;
static int alarms[2];

static struct check_series make(size_t steps, double spread, double phi, double slower)
{
	struct check_item *item = calloc(steps, sizeof(*item));
	double noise = spread * t_gauss(&state);

	if (!item)
		exit(1);
	slower *= exp(between * t_gauss(&state));
	for (size_t i = 0; i < steps; i++) {
		double ms = 100 * slower * exp(noise);
		noise = phi * noise + sqrt(1 - phi * phi) * spread * t_gauss(&state);
		if (i < 10)
			ms *= 10 - 0.9 * (double)i;
		else if (i % 200 == 199)
			ms *= 5;
		else if (t_uniform(&state) < 0.01)
			ms *= 1 - log(t_uniform(&state));
		item[i].ns = llround(ms * 1e6);
	}
	size_t warm = check_warmup(item, steps);
	memmove(item, item + warm, (steps - warm) * sizeof(*item));
	return (struct check_series){ .item = item, .count = steps - warm, .width = 1 };
}

static bool fails(const struct check_series *old, size_t olds, const struct check_series *new)
{
	struct check_change c;

	return !check_change_estimate(old, olds, new, 1, 0.01, CHECK_SPREAD, &c) &&
	       ((c.whole.low > 0 && c.whole.value > MIN_EFFECT) ||
		(c.typical.low > 0 && c.typical.value > MIN_EFFECT));
}

/* Counts a pair in [0] with one run before, in [1] with many. */
static void pair(size_t steps, double spread, double phi, double slower, int count[2])
{
	struct check_series old[MANY], new = make(steps, spread, phi, slower);

	for (int i = 0; i < MANY; i++)
		old[i] = make(steps, spread, phi, 1);
	count[0] += fails(old, 1, &new);
	count[1] += fails(old, MANY, &new);
	for (int i = 0; i < MANY; i++)
		check_series_fini(&old[i]);
	check_series_fini(&new);
}

static void row(int pairs, size_t steps, double spread, double phi)
{
	int false_alarms[2] = { 0 }, seen[2] = { 0 };

	for (int i = 0; i < pairs; i++) {
		pair(steps, spread, phi, 1, false_alarms);
		pair(steps, spread, phi, 1.03, seen);
	}
	printf("%7zu  %5.1f %%  %4.2f", steps, spread * 100, phi);
	for (int i = 0; i < 2; i++) {
		printf("  %6.2f %%  %6.1f %%", 100.0 * false_alarms[i] / pairs,
		       100.0 * seen[i] / pairs);
		alarms[i] += false_alarms[i];
	}
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct {
		double spread, phi;
	} kind[] = { { 0.01, 0.5 }, { 0.03, 0.5 }, { 0.03, 0.9 },
		     { 0.06, 0.8 }, { 0.15, 0.5 }, { 0.15, 0.8 } };
	static const size_t many[] = { 500, 2000, 4000 };
	int pairs = getenv("GS_BIG") ? 50 : 20;
	size_t only = 0;

	state = 1;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--pairs"))
			pairs = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--steps"))
			only = (size_t)atol(argv[i + 1]);
		else if (!strcmp(argv[i], "--seed"))
			state = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--between"))
			between = atof(argv[i + 1]) / 100;
	}
	printf("%d pairs each; alpha 0.01, min effect 1.5 %%; runs alike differ by %.2f %%\n"
	       "                          one run before       %d runs before\n"
	       "  steps   spread   phi   alarms   3 %% seen   alarms   3 %% seen\n",
	       pairs, between * 100, MANY);
	for (size_t s = 0; s < sizeof(many) / sizeof(many[0]); s++)
		for (size_t k = 0; k < sizeof(kind) / sizeof(kind[0]) && (!only || !s); k++)
			row(pairs, only ? only : many[s], kind[k].spread, kind[k].phi);
	printf("false alarms in all: %d and %d of %d\n", alarms[0], alarms[1],
	       pairs * 6 * (only ? 1 : 3));
	return 0;
}
