/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that did not come to the end with the others. A rank whose process is gone while ranks it
 * met live on is dead. One that lives as long as they do and stopped meeting them, while they have
 * work under way that never ended, is hung. Of those that live on, some wait for a dead one until
 * they end, too: their pulses tell of nothing more that came to an end.
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

/* Whether stamps of both hosts can be held against each other. */
static bool is_comparable(const struct ana_skew *k, uint32_t gpu, uint32_t other)
{
	return k->host[gpu] == k->host[other] ||
	       (k->align.host[k->host[gpu]].aligned && k->align.host[k->host[other]].aligned);
}

/*
 * How long the GPU was held by work that was under way as another rank ended at @death and never
 * came to an end, though pulses went on; 0: by none, or not for long enough to say so.
 */
static int64_t held_behind(const struct ana_skew *k, uint32_t gpu, int64_t death)
{
	const struct ana_timebase *clock = &k->align.host[k->host[gpu]];
	const struct view_stream *s = k->plan->source[k->source[gpu]].s;
	int64_t complete, pulse, from;

	if (s->bye || !s->last_pulse || s->complete_ns == INT64_MIN)
		return 0;
	complete = ana_align_to(clock, ana_clamp_time(s->complete_ns));
	pulse = ana_align_to(clock, ana_clamp_time(s->last_pulse->t_ns));
	from = complete < death ? death : complete;
	if (complete - death > patience(k) || pulse - from < LEAST_NS)
		return 0;
	return life_end(k, gpu) - from;
}

/* Those that it met and that live on wait for it, unless they wait for one that was dead before. */
static void leave_behind(struct ana_skew *k, uint32_t gpu)
{
	struct ana_rank *row = k->result->ranks.row;
	const int64_t death = life_end(k, gpu);
	uint32_t i, m;

	for (i = 0; i < k->groups.groups; i++) {
		const struct ana_member_set *g = &k->groups.group[i];

		for (m = 0; is_member(g, gpu) && m < g->gpus; m++) {
			struct ana_rank *other = &row[g->gpu[m]];
			int64_t ns = g->gpu[m] == gpu || !is_comparable(k, gpu, g->gpu[m])
					     ? 0
					     : held_behind(k, g->gpu[m], death);

			if (!ns || (other->behind && life_end(k, other->behind - 1) <= death))
				continue;
			other->behind = gpu + 1;
			other->behind_ns = ns;
		}
	}
}

void ana_skew_faults(struct ana_skew *k)
{
	struct ana_rank *row = k->result->ranks.row;
	uint32_t i;

	for (i = 0; i < k->gpus; i++) {
		row[i].state = state_of(k, i);
		row[i].ended_ns = k->plan->source[k->source[i]].end_ns;
	}
	for (i = 0; i < k->gpus; i++)
		if (row[i].state == ANA_RANK_DEAD)
			leave_behind(k, i);
	for (i = 0; i < k->gpus; i++)
		if (row[i].behind) {
			row[row[i].behind - 1].left++;
			ana_sum(&row[row[i].behind - 1].left_ns, row[i].behind_ns);
		}
}
