/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timebase.c - carries stamps from CLOCK_REALTIME into the time base in force, on a line through
 * one pair of readings. Stamps lie up to a queue's length in the future, so that the callback
 * cannot just be asked for each.
 */
#include "timebase.h"

#include <pthread.h>
#include <stdbool.h>

#include "../clock.h"

#define SCRIPT_EPOCH 354000000000u

static struct {
	pthread_mutex_t lock;
	bool foreign;
	uint64_t real, base;
	double rate;
} tb = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void set(uint64_t real, uint64_t base, double rate)
{
	pthread_mutex_lock(&tb.lock);
	tb.real = real;
	tb.base = base;
	tb.rate = rate;
	__atomic_store_n(&tb.foreign, rate != 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tb.lock);
}

void timebase_register(uint64_t (*fn)(void))
{
	uint64_t r0, c0, r1, c1;

	if (!fn) {
		set(0, 0, 0);
		return;
	}
	r0 = sim_now();
	c0 = fn();
	sim_sleep_until(r0 + 1000000);
	r1 = sim_now();
	c1 = fn();
	set(r0, c0, (double)(c1 - c0) / (double)(r1 - r0));
}

void timebase_script(double rate)
{
	set(sim_now(), SCRIPT_EPOCH, rate);
}

uint64_t timebase_stamp(uint64_t t)
{
	uint64_t stamp = t;

	if (!t || !__atomic_load_n(&tb.foreign, __ATOMIC_ACQUIRE))
		return t && gpusim_shown ? gpusim_shown(t) : t;
	pthread_mutex_lock(&tb.lock);
	if (tb.rate != 0)
		stamp = tb.base + (uint64_t)(int64_t)((double)(int64_t)(t - tb.real) * tb.rate);
	pthread_mutex_unlock(&tb.lock);
	return stamp;
}
