/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that several pages show. */
#include <string.h>

#include "base/minmax.h"
#include "cost/waste.h"
#include "model.h"

int64_t view_busy_ns(const struct view_summary *s)
{
	return (int64_t)ana_class_sum(s->result->classes, ana_class_is_busy);
}

int64_t view_working_ns(const struct view_summary *s)
{
	return (int64_t)(s->result->gpu_ns -
			 ana_class_sum(s->result->classes, ana_class_is_outside));
}

int64_t view_recorded_ns(const struct view_summary *s)
{
	return view_working_ns(s) - s->result->unrecorded.ns;
}

uint64_t view_steps_in_all(const struct view_summary *s)
{
	const struct ana_unrecorded *u = &s->result->unrecorded;

	if (!u->ns)
		return s->result->steps;
	return u->counted == ANA_COUNTED_RECORDED ? 0 : u->steps;
}

int64_t view_gpu_working_ns(const struct ana_gpu *g)
{
	return (int64_t)(g->held_ns - ana_class_sum(g->classes, ana_class_is_outside));
}

int64_t view_gpu_after_last_ns(const struct ana_gpu *g)
{
	int64_t ns = 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		ana_sum(&ns, g->after_last_ns[c]);
	return ns;
}

const char *view_outside_words(const struct view_summary *s)
{
	static const char *const words[2][2] = {
		{ "start-up and shutdown", "start-up, shutdown and time that no process used" },
		{ "start-up, shutdown and waits for work",
		  "start-up, shutdown, waits for work and time that no process used" },
	};
	const int64_t *classes = s->result->classes;

	return words[classes[ANA_HOST_NO_WORK] != 0][classes[ANA_EXCLUDED_NO_PROCESS] != 0];
}

int64_t view_gpu_starved_ns(const struct ana_gpu *g)
{
	bool starved[ANA_CLASSES];

	view_starved_set(starved);
	return view_set_sum(starved, g->classes, g->skew_causes);
}

int64_t view_gpu_nano_usd(const struct view_summary *s, size_t gpu)
{
	int64_t sum = 0;

	for (int c = 0; s->cost.known && c < ANA_CLASSES; c++)
		view_cost_add(&sum, s->cost.gpu_class[gpu][c]);
	return sum;
}

static bool is_trainer(const struct ana_process *p, const char *host)
{
	return p->role && !strcmp(p->role, "trainer") &&
	       (!host || (p->host && !strcmp(p->host, host)));
}

/* One that began at the end of another came after it. */
static int64_t trainers_at(const struct ana_result *r, const char *host, int64_t t)
{
	int64_t n = 0;

	for (size_t i = 0; i < r->processes; i++)
		n += is_trainer(&r->process[i], host) && r->process[i].start_ns <= t &&
		     (r->process[i].end_ns > t || r->process[i].start_ns == t);
	return n;
}

int64_t view_trainers_at_once(const struct ana_result *r, bool one_host)
{
	int64_t most = 0;

	for (size_t i = 0; i < r->processes; i++) {
		const struct ana_process *p = &r->process[i];

		if (is_trainer(p, NULL) && (p->host || !one_host))
			most = base_max(most,
					trainers_at(r, one_host ? p->host : NULL, p->start_ns));
	}
	return most;
}
