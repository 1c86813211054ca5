/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timebase.c - carries stamps from CLOCK_REALTIME into the time base in force, on a line through
 * pairs of readings. Stamps lie up to a queue's length in the future, so that the callback cannot
 * just be asked for each. A thread reads both clocks again and again, without any lock, so that a
 * stamp is right to a fraction of a microsecond, as the real library's are.
 */
#include "timebase.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "../clock.h"

#define SCRIPT_EPOCH 354000000000u
#define FIRST_NS 1000000 /* between the two readings that a new clock begins with */
#define PERIOD_NS 20000000u /* between two later ones */
#define BASE_NS 10000000000u /* the rate is that of so long, or half of it */
#define TRIES 5
#define WIDE_NS 5000 /* a reading that took longer was interrupted */

struct reading {
	uint64_t real, base;
	uint64_t width;
};

static struct {
	pthread_mutex_t lock;
	bool foreign, running;
	uint64_t (*fn)(void); /* NULL: none, or a scripted clock */
	struct reading old, middle, last; /* the line leads through old and last */
	double rate;
} tb = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct reading read_once(uint64_t (*fn)(void))
{
	uint64_t before = sim_now(), base = fn(), after = sim_now();

	return (struct reading){ before + (after - before) / 2, base, after - before };
}

/* The one of several that was disturbed least. */
static struct reading read_clocks(uint64_t (*fn)(void))
{
	struct reading best = read_once(fn), next;
	int i;

	for (i = 1; i < TRIES; i++) {
		next = read_once(fn);
		if (next.width < best.width)
			best = next;
	}
	return best;
}

static double rate_of(const struct reading *a, const struct reading *b)
{
	return (double)(b->base - a->base) / (double)(b->real - a->real);
}

static void set(uint64_t (*fn)(void), struct reading first, struct reading last, double rate)
{
	pthread_mutex_lock(&tb.lock);
	tb.fn = fn;
	tb.old = tb.middle = first;
	tb.last = last;
	tb.rate = rate;
	__atomic_store_n(&tb.foreign, rate != 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tb.lock);
}

/* A later reading of the same clock. */
static void refine(uint64_t (*fn)(void), const struct reading *r)
{
	pthread_mutex_lock(&tb.lock);
	if (tb.fn == fn && r->width <= WIDE_NS) {
		tb.last = *r;
		if (r->real - tb.middle.real > BASE_NS / 2) {
			tb.old = tb.middle;
			tb.middle = *r;
		}
		tb.rate = rate_of(&tb.old, r);
	}
	pthread_mutex_unlock(&tb.lock);
}

/* Is there a callback to ask? Else the thread is over. */
static bool callback(uint64_t (**fn)(void))
{
	pthread_mutex_lock(&tb.lock);
	*fn = tb.fn;
	tb.running = tb.fn != NULL;
	pthread_mutex_unlock(&tb.lock);
	return *fn != NULL;
}

static void *follow(void *arg)
{
	const struct timespec pause = { 0, PERIOD_NS };
	uint64_t (*fn)(void);

	(void)arg;
	while (callback(&fn)) {
		struct reading r = read_clocks(fn);

		refine(fn, &r);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void start_following(void)
{
	sigset_t all, old;
	pthread_t t;
	bool running;

	pthread_mutex_lock(&tb.lock);
	running = tb.running;
	tb.running = true;
	pthread_mutex_unlock(&tb.lock);
	if (running)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&t, NULL, follow, NULL)) {
		pthread_setname_np(t, "gpusim-clock");
		pthread_detach(t);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void timebase_register(uint64_t (*fn)(void))
{
	struct reading first = { 0 }, last;

	if (!fn) {
		set(NULL, first, first, 0);
		return;
	}
	first = read_clocks(fn);
	sim_sleep_until(first.real + FIRST_NS);
	last = read_clocks(fn);
	set(fn, first, last, rate_of(&first, &last));
	start_following();
}

void timebase_script(double rate)
{
	struct reading begin = { sim_now(), SCRIPT_EPOCH, 0 };

	set(NULL, begin, begin, rate);
}

uint64_t timebase_stamp(uint64_t t)
{
	uint64_t stamp = t;

	if (!t || !__atomic_load_n(&tb.foreign, __ATOMIC_ACQUIRE))
		return t && gpusim_shown ? gpusim_shown(t) : t;
	pthread_mutex_lock(&tb.lock);
	if (tb.rate != 0)
		stamp = tb.last.base +
			(uint64_t)(int64_t)((double)(int64_t)(t - tb.last.real) * tb.rate);
	pthread_mutex_unlock(&tb.lock);
	return stamp;
}
