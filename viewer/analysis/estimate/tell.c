/* SPDX-License-Identifier: Apache-2.0 */
/* What an estimate is made of, for who asks. */
#include <errno.h>
#include <stdlib.h>
#include "estimate_priv.h"

static enum ana_estimate_use use_of(const struct ana_estimate_cell *c)
{
	if (ana_estimate_tells(c))
		return ANA_ESTIMATE_TELLS;
	return ana_estimate_shows(c) ? ANA_ESTIMATE_CORRECTS : ANA_ESTIMATE_LEFT_OUT;
}

static void tell_readings(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
			  struct ana_estimate_reading *to)
{
	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		to[i] = (struct ana_estimate_reading){
			.start_ns = c->start,
			.end_ns = c->end,
			.gpm = c->gpm,
			.use = use_of(c),
			.said_ns = a->by_sm ? ana_estimate_sm(c) : ana_estimate_said(c),
			.recorded_ns = c->held_ns - c->idle_ns,
			.of_ns = c->target_ns,
			.busy_ns = c->busy_ns,
		};
	}
}

static size_t tell_states(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
			  struct ana_estimate_state to[ANA_STATES])
{
	size_t n = 0;

	for (int s = 0; s < ANA_STATES; s++) {
		bool line = s >= ANA_STATE_LINE && s < ANA_STATE_CPU;

		if (!a->seen[s] && !g->target[s])
			continue;
		to[n++] = (struct ana_estimate_state){
			.name = ana_state_name(&g->states, s),
			.line = line ? g->states.line[s - ANA_STATE_LINE] : NULL,
			.seen_ns = a->seen[s],
			.idle_seen_ns = a->idle_seen[s],
			.of_ns = g->target[s],
			.metered_ns = a->held[s],
			.idle_ns = a->idle[s],
			.idle_ppm = a->share[s],
			.part = a->part[s],
		};
	}
	return n;
}

int ana_estimate_tell(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
		      const struct ana_estimated *found, uint32_t gpu, const struct ana_options *o)
{
	struct ana_estimate_reading *reading = calloc(g->cells + 1, sizeof(*reading));
	struct ana_estimate_state state[ANA_STATES];
	struct ana_estimate_told told = {
		.gpu = gpu,
		.worked_ppm = a->worked_ppm,
		.by_sm = a->by_sm,
		.spread_ns = a->spread_ns,
		.reading = reading,
		.readings = g->cells,
		.state = state,
		.states = tell_states(g, a, state),
		.estimated = found,
	};

	if (!reading)
		return -ENOMEM;
	tell_readings(g, a, reading);
	o->on_estimate(o->arg, &told);
	free(reading);
	return 0;
}
