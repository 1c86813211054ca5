/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the gate raises a false alarm, and how often it sees a step that became slower.
 *
 * Series of steps are made up, all seeded: a step of 100 ms times
 *   exp(AR(1) noise of a given spread and persistence phi)   neighbours are alike
 *   x 5 for each 200th step                                  a checkpoint
 *   x (1 + Exp(1)) for one step in 100                       a stall
 * and ten slow steps in front (warm-up), of which the gate is to drop what looks like it.
 *
 *   bench_view_check [--pairs N] [--steps N] [--seed S]
 *
 * A/A: both sides from the same model: every failure is a false alarm. A/B: the new side is 3 %
 * slower: every pass is a miss.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check/change.h"

static uint64_t state;

static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static struct check_series make(size_t steps, double spread, double phi, double slower)
{
	struct check_item *item = calloc(steps, sizeof(*item));
	double noise = spread * gauss();

	if (!item)
		exit(1);
	for (size_t i = 0; i < steps; i++) {
		double ms = 100 * slower * exp(noise);
		noise = phi * noise + sqrt(1 - phi * phi) * spread * gauss();
		if (i < 10)
			ms *= 10 - 0.9 * (double)i;
		else if (i % 200 == 199)
			ms *= 5;
		else if (uniform() < 0.01)
			ms *= 1 - log(uniform());
		item[i].ns = llround(ms * 1e6);
	}
	size_t warm = check_warmup(item, steps);
	memmove(item, item + warm, (steps - warm) * sizeof(*item));
	return (struct check_series){ .item = item, .count = steps - warm, .width = 1 };
}

static bool alarm(size_t steps, double spread, double phi, double slower, double min_effect)
{
	struct check_series old = make(steps, spread, phi, 1),
			    new = make(steps, spread, phi, slower);
	struct check_change c;
	bool fails = !check_change_estimate(&old, 1, &new, 1, 0.01, &c) &&
		     ((c.whole.low > 0 && c.whole.value > min_effect) ||
		      (c.typical.low > 0 && c.typical.value > min_effect));

	check_series_fini(&old);
	check_series_fini(&new);
	return fails;
}

static void row(int pairs, size_t steps, double spread, double phi)
{
	int false_alarms = 0, seen = 0;

	for (int i = 0; i < pairs; i++) {
		false_alarms += alarm(steps, spread, phi, 1, 0.015);
		seen += alarm(steps, spread, phi, 1.03, 0.015);
	}
	printf("%7zu  %5.1f %%  %4.2f  %6.2f %%  %6.1f %%\n", steps, spread * 100, phi,
	       100.0 * false_alarms / pairs, 100.0 * seen / pairs);
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
	}
	printf("%d pairs each; alpha 0.01, min effect 1.5 %%, one run each side\n"
	       "  steps   spread   phi  false alarm  3 %% seen\n",
	       pairs);
	for (size_t s = 0; s < sizeof(many) / sizeof(many[0]); s++)
		for (size_t k = 0; k < sizeof(kind) / sizeof(kind[0]) && (!only || !s); k++)
			row(pairs, only ? only : many[s], kind[k].spread, kind[k].phi);
	return 0;
}
