/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - makes launches cost what the script says, and keeps account of it by thread.
 */
#include "cost.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"

#define TOLD_EACH_NS 1000000000u

enum cost {
	LOADED,
	KERNEL,
	LEFT,
	OTHER,
	WITHIN,
	COPY,
	GRAPH,
	SYNC,
	API,
	CALLBACKS,
	EVENT,
	COSTS
};

static const char *const name[COSTS] = { "loaded=", "kernel=",	  "left=",  "other=",
					 "within=", "copy=",	  "graph=", "sync=",
					 "api=",    "callbacks=", "event=" };

/* README.md, "What an H100 said of its meters", says where each is from. */
static const uint64_t h100[COSTS] = {
	[LOADED] = 100, [KERNEL] = 1560,   [LEFT] = 700,   [OTHER] = 500,
	[WITHIN] = 112, [COPY] = 1950,	   [GRAPH] = 5054, [SYNC] = 619,
	[API] = 500,	[CALLBACKS] = 200, [EVENT] = 3600
};

/* Of one thread; never freed, for its sums are told at the exit, too. */
struct account {
	struct account *next;
	uint32_t tid;
	uint64_t told_ns; /* the thread's own */
	atomic_uint_fast64_t ns[COSTS];
};

static uint64_t cost[COSTS];
static atomic_bool was_on;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(struct account *) accounts;
static _Atomic(const struct sim_export *) driver;
static pid_t owner;
static _Thread_local struct account *mine;

/* "h100", "h100-recovers" or nothing, then "NAME=NS,NAME=NS" */
static void read_script(void)
{
	const char *script = getenv("GPUSIM_TRACE_COST");
	int i;

	if (!script)
		return;
	if (!strncmp(script, "h100", 4))
		memcpy(cost, h100, sizeof cost);
	if (!strncmp(script, "h100-recovers", 13))
		cost[LOADED] = cost[LEFT] = 0;
	for (i = 0; i < COSTS; i++) {
		const char *at = strstr(script, name[i]);

		if (at)
			cost[i] = strtoull(at + strlen(name[i]), NULL, 10);
	}
}

static uint64_t scripted(enum cost which)
{
	pthread_once(&once, read_script);
	return cost[which];
}

/* ---- what was charged ---- */

static void tell_account(const struct sim_export *d, const struct account *a)
{
	char by[400] = "", line[512];
	const char *comma = "";
	uint64_t sum = 0, ns;
	size_t at = 0, i;

	for (i = 0; i < COSTS; i++) {
		ns = atomic_load_explicit(&a->ns[i], memory_order_relaxed);
		if (!ns)
			continue;
		sum += ns;
		at += (size_t)snprintf(by + at, sizeof by - at, "%s\"%.*s\":%llu", comma,
				       (int)strlen(name[i]) - 1, name[i], (unsigned long long)ns);
		comma = ",";
	}
	at = (size_t)snprintf(
		line, sizeof line,
		"{\"charged\":%llu,\"by\":{%s},\"tid\":%u,\"until_ns\":%llu,\"pid\":%d}",
		(unsigned long long)sum, by, a->tid, (unsigned long long)sim_now(), owner);
	d->truth(line, at);
}

static void tell_all(void)
{
	const struct sim_export *d = atomic_load(&driver);
	const struct account *a;

	if (getpid() != owner)
		return;
	for (a = atomic_load(&accounts); a; a = a->next)
		tell_account(d, a);
}

void cost_tell(const struct sim_export *d)
{
	owner = getpid();
	atomic_store(&driver, d);
	atexit(tell_all);
}

/* NULL: there is no memory, or no driver whose file could be told. */
static struct account *account(const struct sim_export *d)
{
	if (mine || !d)
		return mine;
	mine = calloc(1, sizeof(*mine));
	if (!mine)
		return NULL;
	mine->tid = d->tid();
	mine->next = atomic_load(&accounts);
	while (!atomic_compare_exchange_weak(&accounts, &mine->next, mine))
		;
	return mine;
}

static void charge(enum cost which, uint64_t ns)
{
	const struct sim_export *d = atomic_load_explicit(&driver, memory_order_acquire);
	struct account *a;
	uint64_t now;

	if (!ns)
		return;
	now = sim_now();
	a = account(d);
	if (a) {
		atomic_fetch_add_explicit(&a->ns[which], ns, memory_order_relaxed);
		if (now - a->told_ns >= TOLD_EACH_NS && getpid() == owner) {
			a->told_ns = now;
			tell_account(d, a);
		}
	}
	sim_work_until(now + ns);
}

/* ---- what costs ---- */

void cost_kernel(bool kernels, bool others)
{
	enum cost which = kernels ? KERNEL : LEFT;
	uint64_t ns = 0;

	if (kernels)
		atomic_store_explicit(&was_on, true, memory_order_relaxed);
	if (atomic_load_explicit(&was_on, memory_order_relaxed))
		ns = scripted(which);
	if (others && scripted(OTHER) > ns)
		which = OTHER;
	charge(which, which == OTHER ? scripted(OTHER) : ns);
}

void cost_within(void)
{
	charge(WITHIN, scripted(WITHIN));
}

void cost_launch(void)
{
	charge(LOADED, scripted(LOADED));
}

void cost_copy(void)
{
	charge(COPY, scripted(COPY));
}

void cost_graph(void)
{
	charge(GRAPH, scripted(GRAPH));
}

void cost_sync(void)
{
	charge(SYNC, scripted(SYNC));
}

void cost_api(void)
{
	charge(API, scripted(API));
}

void cost_callback(void)
{
	charge(CALLBACKS, scripted(CALLBACKS));
}

void cost_event(void)
{
	charge(EVENT, scripted(EVENT));
}

void cost_forget(void)
{
	atomic_store(&was_on, false);
}
