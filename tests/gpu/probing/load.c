/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - launches on time.
 */
#include "load.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cupti.h"
#include "drv.h"
#include "probe.h"

static void launch(struct load *l, int64_t ns)
{
	drv_spin(ns, (unsigned)atomic_load(&l->blocks));
}

/* A kernel is over, of which `ns` are to be counted, and another runs if `more`. */
static void over(struct load *l, int64_t ns, bool more)
{
	atomic_fetch_add(&l->turn, 1);
	atomic_fetch_add(&l->busy_ns, ns);
	if (ns)
		atomic_fetch_add(&l->launches, 1);
	atomic_store(&l->began, more ? mono_ns() : 0);
	atomic_fetch_add(&l->turn, 1);
}

int64_t load_busy(struct load *l)
{
	for (;;) {
		unsigned turn = atomic_load(&l->turn);
		int64_t busy = atomic_load(&l->busy_ns), began = atomic_load(&l->began);
		int64_t runs = began ? mono_ns() - began : 0, ns = atomic_load(&l->kernel_ns);

		if (!(turn & 1) && atomic_load(&l->turn) == turn)
			return busy + (runs < ns ? runs : ns);
	}
}

/* A kernel at the beginning of each period. One that comes late moves those behind it. */
static void run_periods(struct load *l)
{
	int64_t next = mono_ns();

	while (atomic_load(&l->order) == LOAD_RUN) {
		int64_t ns = atomic_load(&l->kernel_ns), period = atomic_load(&l->period_ns);

		if (!period)
			return;
		launch(l, ns);
		over(l, 0, true);
		drv_wait();
		over(l, ns, false);
		next += period;
		if (next < mono_ns())
			next = mono_ns();
		sleep_until(next);
	}
}

/* One kernel behind the other: one runs while the next waits. */
static void run_through(struct load *l)
{
	int64_t ns = atomic_load(&l->kernel_ns);
	void *events[2];
	unsigned i;

	if (drv.EventCreate(&events[0], 2 /* no timing */) || drv.EventCreate(&events[1], 2))
		return;
	for (i = 0; atomic_load(&l->order) == LOAD_RUN && !atomic_load(&l->period_ns); i++) {
		launch(l, ns);
		drv.EventRecord(events[i % 2], drv_stream);
		if (!i) {
			over(l, 0, true);
			continue;
		}
		drv.EventSynchronize(events[(i - 1) % 2]);
		over(l, ns, true);
	}
	drv_wait();
	if (i)
		over(l, ns, false);
}

static void obey(struct load *l)
{
	for (;;) {
		switch (atomic_load(&l->order)) {
		case LOAD_RUN:
			atomic_store(&l->idle, 0);
			if (!atomic_load(&l->kernel_ns))
				sleep_ns(MS);
			else if (atomic_load(&l->period_ns))
				run_periods(l);
			else
				run_through(l);
			break;
		case LOAD_END:
			return;
		default:
			atomic_store(&l->idle, 1);
			sleep_ns(MS);
		}
	}
}

static void serve(struct load *l)
{
	bool good = true;

	while (atomic_load(&l->order) == LOAD_WAIT)
		sleep_ns(MS);
	if (atomic_load(&l->traced))
		good = !cupti_load() && !cupti_begin(true) && !cupti_switch(cupti_all, true);
	if (good)
		good = !drv_begin();
	atomic_store(&l->state, good ? 1 : -1);
	if (good)
		obey(l);
	_exit(good ? 0 : 1);
}

struct load *load_process(pid_t *pid)
{
	struct load *l = shared_memory(sizeof *l);

	if (!l)
		return NULL;
	*pid = child_begin();
	if (!*pid)
		serve(l);
	return *pid > 0 ? l : NULL;
}

static void *in_thread(void *arg)
{
	struct load *l = arg;

	atomic_store(&l->state, drv_use() ? -1 : 1);
	if (atomic_load(&l->state) == 1)
		obey(l);
	return NULL;
}

struct load *load_thread(void)
{
	struct load *l = calloc(1, sizeof *l);
	pthread_t t;

	if (!l || pthread_create(&t, NULL, in_thread, l)) {
		free(l);
		return NULL;
	}
	pthread_detach(t);
	return l;
}

bool load_ready(struct load *l, int64_t within)
{
	int64_t end = mono_ns() + within;

	while (!atomic_load(&l->state) && mono_ns() < end)
		sleep_ns(MS);
	return atomic_load(&l->state) == 1;
}

void load_run(struct load *l, int64_t kernel_ns, int64_t period_ns, int blocks)
{
	load_rest(l);
	atomic_store(&l->kernel_ns, kernel_ns);
	atomic_store(&l->period_ns, period_ns);
	atomic_store(&l->blocks, blocks);
	atomic_store(&l->order, LOAD_RUN);
}

void load_rest(struct load *l)
{
	int64_t end = mono_ns() + SECOND;

	atomic_store(&l->order, LOAD_BEGIN);
	/* It may be about to obey an older order: idle is asked for anew. */
	atomic_store(&l->idle, 0);
	while (!atomic_load(&l->idle) && mono_ns() < end)
		sleep_ns(MS / 2);
}
