/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - makes launches cost what the script says.
 */
#include "cost.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"

static uint64_t kernel_ns, left_ns;
static atomic_bool was_on;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t value(const char *script, const char *key)
{
	const char *at = script ? strstr(script, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void read_script(void)
{
	kernel_ns = value(getenv("GPUSIM_TRACE_COST"), "kernel=");
	left_ns = value(getenv("GPUSIM_TRACE_COST"), "left=");
}

void cost_kernel(bool on)
{
	uint64_t ns, end;

	pthread_once(&once, read_script);
	if (on)
		atomic_store_explicit(&was_on, true, memory_order_relaxed);
	ns = on ? kernel_ns : atomic_load_explicit(&was_on, memory_order_relaxed) ? left_ns : 0;
	if (!ns)
		return;
	for (end = sim_now() + ns; sim_now() < end;)
		;
}

void cost_forget(void)
{
	atomic_store(&was_on, false);
}
