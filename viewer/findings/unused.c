/* SPDX-License-Identifier: Apache-2.0 */
#include "unused.h"

#include "cost/waste.h"

bool view_gpu_did_nothing(const struct ana_gpu *g)
{
	return g->held_ns > 0 && !g->ops &&
	       ana_class_sum(g->classes, ana_class_is_outside) == g->held_ns;
}

static bool nobody_used(const struct ana_gpu *g)
{
	return view_gpu_did_nothing(g) && g->classes[ANA_EXCLUDED_NO_PROCESS] == g->held_ns;
}

struct view_unused view_unused_gpus(const struct view_summary *s)
{
	struct view_unused u = { 0 };

	for (size_t i = 0; i < s->result->gpus; i++) {
		const struct ana_gpu *g = &s->result->gpu[i];
		if (!view_gpu_did_nothing(g))
			continue;
		view_cost_add(&u.ns, g->held_ns);
		view_cost_add(&u.nano_usd, view_gpu_nano_usd(s, i));
		if (nobody_used(g)) {
			u.no_process++;
			continue;
		}
		u.no_work++;
		view_cost_add(&u.no_work_ns, g->held_ns);
		view_cost_add(&u.no_work_nano_usd, view_gpu_nano_usd(s, i));
	}
	return u;
}

bool view_all_unused(const struct view_summary *s)
{
	struct view_unused u = view_unused_gpus(s);

	return s->result->gpus && u.no_process + u.no_work == s->result->gpus;
}

/* "the GPU", "any of the 4 GPUs", "3 of 4 GPUs". */
static const char *which(struct base_arena *mem, size_t n, size_t all)
{
	if (all == 1)
		return "the GPU";
	if (n == all)
		return base_arena_printf(mem, "any of the %zu GPUs", all);
	return base_arena_printf(mem, "%zu of %zu GPUs", n, all);
}

const char *view_unused_words(const struct view_summary *s, struct base_arena *mem)
{
	struct view_unused u = view_unused_gpus(s);
	size_t all = s->result->gpus;
	const char *first = "", *second = "";

	if (u.no_process)
		first = base_arena_printf(mem, "no process used %s", which(mem, u.no_process, all));
	if (u.no_work)
		second = base_arena_printf(mem, "nothing ran on %s that %s held",
					   which(mem, u.no_work, all),
					   all == 1 ? "a process" : "processes");
	return base_arena_printf(mem, "%s%s%s", first, *first && *second ? ", and " : "", second);
}

const char *view_judged_words(const struct ana_judgement *v, struct base_arena *mem)
{
	const char *severity = ana_severity_names[v->severity];

	return base_arena_printf(mem, "%s%s%s", ana_verdict_names[v->verdict], severity ? ", " : "",
				 severity ? severity : "");
}

/* The verdict's tenth of the training time (LEDGER 7), without what happens once. */
bool view_is_warmup(const struct view_summary *s)
{
	bool other[ANA_CLASSES], warmup[ANA_CLASSES] = { [ANA_HOST_WARMUP] = true };
	int64_t others, once;

	for (int c = 0; c < ANA_CLASSES; c++)
		other[c] = ana_class_is_host(c) && ana_class_is_waste(c) && !warmup[c];
	others = view_set_sum(other, s->result->classes, s->result->skew_causes);
	once = view_set_sum(warmup, s->result->classes, s->result->skew_causes);
	return s->result->judgement.verdict == ANA_V_HOST_BOUND && others <= once &&
	       (__int128)10 * others < view_working_ns(s);
}
