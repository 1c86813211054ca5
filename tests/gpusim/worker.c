/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - runs host functions and resolves pending work.
 */
#include "worker.h"

#include <pthread.h>
#include <signal.h>

#include "clock.h"
#include "state.h"
#include "submit.h"

#define POLL_NS 200000 /* how often an open collective is looked at */

static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool started;

static void wait_until(uint64_t t)
{
	struct timespec d = { (time_t)(t / 1000000000u), (long)(t % 1000000000u) };

	sim_wait_resolved_until(&wake, &d);
}

/* The next host function whose inputs are done; *open: some collective is under way. */
static struct sim_pending *next_host(bool *open)
{
	struct sim_pending *p, *best = NULL;

	*open = false;
	for (p = sim_state.pending; p; p = p->next) {
		if (p->placed)
			*open = true;
		if (p->work.host && !p->host_over && !p->n_deps &&
		    (!best || p->op.ready < best->op.ready))
			best = p;
	}
	return best;
}

static void run_host(struct sim_pending *p)
{
	p->op.start = sim_now();
	p->op.host_tid = sim_tid();
	sim_unlock();
	p->work.host(p->work.host_data);
	sim_lock();
	p->op.end = sim_now();
	p->host_over = true;
}

/* Bytes to move, of whatever comes first; false if there are none. The list keeps p meanwhile. */
static bool run_part(void)
{
	struct sim_pending *p = sim_state.pending;

	while (p && !p->part)
		p = p->next;
	if (!p)
		return false;
	sim_unlock();
	p->part(p);
	sim_lock();
	*p->part_done = true;
	p->part = NULL;
	return true;
}

static void step(void)
{
	struct sim_pending *p;
	uint64_t now;
	bool open;

	do
		sim_resolve();
	while (run_part());
	p = next_host(&open);
	now = sim_now();
	if (p && p->op.ready <= now)
		run_host(p);
	else if (open && (!p || p->op.ready > now + POLL_NS))
		wait_until(now + POLL_NS);
	else if (p)
		wait_until(p->op.ready);
	else
		wait_until(now + 1000000000u);
}

static void *worker(void *arg)
{
	(void)arg;
	sim_lock();
	for (;;)
		step();
	return NULL;
}

void sim_worker_wake(void)
{
	sigset_t all, old;
	pthread_t t;

	pthread_cond_signal(&wake);
	if (started)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&t, NULL, worker, NULL)) {
		started = true;
		pthread_setname_np(t, "gpusim-worker");
		pthread_detach(t);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
