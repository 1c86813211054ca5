/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that did not come to the end with the others. A rank whose process is gone while ranks it
 * met live on is dead. One that lives as long as they do and stopped meeting them, while they have
 * work under way that never ended, is hung.
 */
#include "ranks_result.h"

#include <string.h>

#define STEPS 3 /* so many steps alone are more than the time it takes to stop together, ... */
#define LEAST_NS 1500000000 /* ... which pulses tell to the second */

static int64_t patience(const struct ana_skew *k)
{
	int64_t ns = k->attribution.step_ns * STEPS;

	return ns < LEAST_NS ? LEAST_NS : ns;
}

static int64_t life_end(const struct ana_skew *k, size_t i)
{
	return ana_align_to(&k->align.host[k->host[i]], k->plan->source[k->source[i]].end_ns);
}

static bool is_member(const struct ana_member_set *g, uint32_t gpu)
{
	uint32_t i;

	for (i = 0; i < g->gpus; i++)
		if (g->gpu[i] == gpu)
			return true;
	return false;
}

/* The latest end of life of those it met. */
static int64_t others_end(const struct ana_skew *k, uint32_t gpu)
{
	int64_t end = INT64_MIN;
	uint32_t i, m;

	for (i = 0; i < k->groups.groups; i++) {
		const struct ana_member_set *g = &k->groups.group[i];

		if (!is_member(g, gpu))
			continue;
		for (m = 0; m < g->gpus; m++)
			if (g->gpu[m] != gpu && life_end(k, g->gpu[m]) > end)
				end = life_end(k, g->gpu[m]);
	}
	return end;
}

/* A launch of about its last collective or later has no end. */
static bool stuck(const struct ana_skew *k, uint32_t gpu)
{
	const struct ana_rank_recorder *s = k->plan->device[k->device[gpu]].recorder;

	return s->unanswered_ns != INT64_MIN &&
	       s->unanswered_ns >= k->log[gpu]->last_ns - k->attribution.step_ns;
}

static bool others_stuck(const struct ana_skew *k, uint32_t gpu)
{
	uint32_t i, m;

	for (i = 0; i < k->groups.groups; i++) {
		const struct ana_member_set *g = &k->groups.group[i];

		if (!is_member(g, gpu))
			continue;
		for (m = 0; m < g->gpus; m++)
			if (g->gpu[m] != gpu && stuck(k, g->gpu[m]))
				return true;
	}
	return false;
}

static enum ana_rank_state state_of(const struct ana_skew *k, uint32_t gpu)
{
	const struct ana_source *s = &k->plan->source[k->source[gpu]];
	int64_t others = others_end(k, gpu), own = life_end(k, gpu), wait = patience(k);
	int64_t last = k->attribution.row[gpu].last_end;

	if (s->imported || others == INT64_MIN || last == INT64_MIN)
		return ANA_RANK_ENDED;
	if (others - own > wait) /* an orderly end may well come before that of a rank that saves */
		return strcmp(s->ended, "exit") != 0 || others_stuck(k, gpu) ? ANA_RANK_DEAD
									     : ANA_RANK_ENDED;
	if (own - last > 2 * wait && !stuck(k, gpu) && others_stuck(k, gpu))
		return ANA_RANK_HUNG;
	return ANA_RANK_ENDED;
}

void ana_skew_faults(struct ana_skew *k)
{
	uint32_t i;

	for (i = 0; i < k->gpus; i++)
		k->result->ranks.row[i].state = state_of(k, i);
}
