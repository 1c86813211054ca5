/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of a normal distribution, the same from the same state. */
#ifndef TESTS_GAUSS_H
#define TESTS_GAUSS_H

#include <math.h>
#include <stdint.h>

/* In (0, 1). */
static inline double t_uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

/* Of mean 0 and variance 1. */
static inline double t_gauss(uint64_t *state)
{
	return sqrt(-2 * log(t_uniform(state))) * cos(2 * M_PI * t_uniform(state));
}

#endif
