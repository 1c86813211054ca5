/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of ten seconds, judged one by one; those that are too dear, as soon as that is known.
 */
#include "governor.h"

#include <string.h>

#define SECOND_NS 1000000000ll
#define WINDOW_NS PROF_GOVERNOR_WINDOW_NS
#define LEAST_NS (SECOND_NS / 4) /* before that a cost is no rate */
#define RETRY_FIRST_NS (300 * SECOND_NS)
#define RETRY_LAST_NS (3600 * SECOND_NS)

void prof_governor_init(struct prof_governor *g, uint64_t limit, bool has_api, int64_t now_ns)
{
	memset(g, 0, sizeof(*g));
	g->limit = limit;
	g->has_api = has_api;
	g->since_ns = now_ns;
	g->retry_ns = RETRY_FIRST_NS;
}

static uint64_t launch_cost(const struct prof_governor *g)
{
	if (g->step == PROF_STEP_NO_KERNELS)
		return 0;
	if (g->step == PROF_STEP_NO_API || !g->has_api)
		return PROF_COST_KERNEL_NS;
	return PROF_COST_KERNEL_NS + PROF_COST_API_NS;
}

static uint64_t launches_cost(const struct prof_governor *g, const struct prof_governor_input *in)
{
	return (in->exposed - g->exposed) * launch_cost(g);
}

static uint64_t window_cost(const struct prof_governor *g, const struct prof_governor_input *in)
{
	uint64_t wall = (uint64_t)(in->now_ns - g->since_ns);
	uint64_t spent = launches_cost(g, in);

	if (in->cores_short)
		spent += in->cpu_ns - g->cpu_ns;
	return spent * 1000 / (wall / 1000);
}

static bool step_down(struct prof_governor *g, int64_t now_ns)
{
	if (g->step == PROF_STEP_NO_KERNELS)
		return false;
	if (g->raised) /* it was tried again, in vain */
		g->retry_ns = g->retry_ns * 2 < RETRY_LAST_NS ? g->retry_ns * 2 : RETRY_LAST_NS;
	g->step = g->has_api && g->step == PROF_STEP_FULL ? PROF_STEP_NO_API : PROF_STEP_NO_KERNELS;
	g->raised = false;
	g->stepped_ns = now_ns;
	return true;
}

static bool step_up(struct prof_governor *g, int64_t now_ns)
{
	if (g->step == PROF_STEP_FULL || now_ns - g->stepped_ns < g->retry_ns)
		return false;
	g->step = g->has_api && g->step == PROF_STEP_NO_KERNELS ? PROF_STEP_NO_API : PROF_STEP_FULL;
	g->raised = true;
	g->stepped_ns = now_ns;
	return true;
}

/* Is there anything to judge: a whole window, or one that has been too dear already? */
static bool is_over(const struct prof_governor *g, const struct prof_governor_input *in)
{
	int64_t wall = in->now_ns - g->since_ns;

	if (wall >= WINDOW_NS)
		return true;
	return g->stepped_ns && g->limit && wall >= LEAST_NS &&
	       launches_cost(g, in) > g->limit * (WINDOW_NS / 1000000);
}

bool prof_governor_feed(struct prof_governor *g, const struct prof_governor_input *in)
{
	bool changed;

	if (!is_over(g, in))
		return false;
	g->cost = window_cost(g, in);
	if (g->cost > g->worst)
		g->worst = g->cost;
	changed = g->limit &&
		  (g->cost > g->limit ? step_down(g, in->now_ns) : step_up(g, in->now_ns));
	g->since_ns = in->now_ns;
	g->exposed = in->exposed;
	g->cpu_ns = in->cpu_ns;
	return changed;
}
