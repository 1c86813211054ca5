/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - makes launches cost what the script says.
 */
#include "cost.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"

enum cost {
	LOADED,
	KERNEL,
	LEFT,
	OTHER,
	CALLBACKS,
	EVENT,
	COSTS
};

static uint64_t cost[COSTS];
static atomic_bool was_on;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* "NAME=NS,NAME=NS" */
static void read_script(void)
{
	static const char *const name[COSTS] = { "loaded=", "kernel=",	  "left=",
						 "other=",  "callbacks=", "event=" };
	const char *script = getenv("GPUSIM_TRACE_COST");
	int i;

	for (i = 0; i < COSTS && script; i++) {
		const char *at = strstr(script, name[i]);

		cost[i] = at ? strtoull(at + strlen(name[i]), NULL, 10) : 0;
	}
}

static uint64_t scripted(enum cost which)
{
	pthread_once(&once, read_script);
	return cost[which];
}

static void spin(uint64_t ns)
{
	if (ns)
		sim_work_until(sim_now() + ns);
}

void cost_kernel(bool kernels, bool others)
{
	uint64_t ns = 0;

	if (kernels)
		atomic_store_explicit(&was_on, true, memory_order_relaxed);
	if (atomic_load_explicit(&was_on, memory_order_relaxed))
		ns = scripted(kernels ? KERNEL : LEFT);
	if (others)
		ns = sim_max(ns, scripted(OTHER));
	spin(ns);
}

void cost_launch(void)
{
	spin(scripted(LOADED));
}

void cost_callback(void)
{
	spin(scripted(CALLBACKS));
}

void cost_event(void)
{
	spin(scripted(EVENT));
}

void cost_forget(void)
{
	atomic_store(&was_on, false);
}
