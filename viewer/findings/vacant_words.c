/* SPDX-License-Identifier: Apache-2.0 */
#include "vacant_words.h"

#include <inttypes.h>
#include "base/amounts.h"
#include "base/units.h"
#include "lead.h"
#include "unused.h"

const char *const view_vacant_words[ANA_VACANTS] = {
	[ANA_VACANT_BEFORE] = "before the first run",
	[ANA_VACANT_BETWEEN] = "between runs",
	[ANA_VACANT_AFTER] = "after the last run",
	[ANA_VACANT_NEVER] = "on GPUs that no run used",
	[ANA_VACANT_UNKNOWN] = "behind the last run so far: the end of the allocation is not known",
};

static struct base_scale scale_of(const struct view_summary *s)
{
	return s->cost.known ? view_cost_scale(&s->cost) : base_gpu_time_scale(s->result->gpu_ns);
}

static int64_t amount_of(const struct view_summary *s, enum ana_vacant part)
{
	return s->cost.known ? s->cost.vacant[part] : s->result->vacancy.ns[part];
}

static int64_t whole_quanta(const struct view_summary *s)
{
	return s->cost.known
		       ? s->cost.quanta[ANA_EXCLUDED_NO_PROCESS]
		       : base_quanta(scale_of(s), s->result->classes[ANA_EXCLUDED_NO_PROCESS]);
}

size_t view_vacants(const struct view_summary *s, struct view_vacant part[ANA_VACANTS])
{
	int64_t amount[ANA_VACANTS], quanta[ANA_VACANTS];
	size_t n = 0;

	for (int p = 0; p < ANA_VACANTS; p++) {
		if (!s->result->vacancy.ns[p])
			continue;
		amount[n] = amount_of(s, (enum ana_vacant)p);
		part[n++] = (struct view_vacant){ .part = (enum ana_vacant)p,
						  .ns = s->result->vacancy.ns[p],
						  .nano_usd = s->cost.vacant[p] };
	}
	base_close(amount, (int)n, whole_quanta(s), scale_of(s).quantum, quanta);
	for (size_t i = 0; i < n; i++)
		part[i].quanta = quanta[i];
	return n;
}

bool view_vacancy_told(const struct view_summary *s)
{
	const struct ana_vacancy *v = &s->result->vacancy;
	int64_t ns = s->result->classes[ANA_EXCLUDED_NO_PROCESS];

	if (!v->known || base_ppm(ns, s->result->gpu_ns) < VIEW_OUTSIDE_PPM)
		return false;
	return v->ns[ANA_VACANT_NEVER] < ns || !view_unused_gpus(s).no_process;
}

const char *view_vacancy_gaps(const struct view_summary *s, struct base_arena *mem)
{
	const struct ana_vacancy *v = &s->result->vacancy;
	base_unit count, longest;

	base_duration(longest, v->longest_ns);
	if (v->gaps == 1)
		return base_arena_printf(mem, "1 gap of %s", longest);
	return base_arena_printf(mem, "%s gaps, the longest %s",
				 base_count(count, (uint64_t)v->gaps), longest);
}

const char *view_vacancy_sentence(const struct view_summary *s, struct base_arena *mem)
{
	struct view_vacant part[ANA_VACANTS];
	size_t n = view_vacants(s, part);
	struct base_scale scale = scale_of(s);
	base_unit text;
	const char *t;

	if (!view_vacancy_told(s))
		return NULL;
	base_scaled_quanta(text, scale,
			   s->cost.known ? s->cost.classes[ANA_EXCLUDED_NO_PROCESS]
					 : s->result->classes[ANA_EXCLUDED_NO_PROCESS],
			   whole_quanta(s));
	t = base_arena_printf(mem, "the job had GPUs, and no process used them: %s", text);
	for (size_t i = 0; i < n; i++) {
		base_scaled_quanta(text, scale, amount_of(s, part[i].part), part[i].quanta);
		t = base_arena_printf(mem, "%s%s%s %s", t, i ? ", " : ", of it ", text,
				      view_vacant_words[part[i].part]);
		if (part[i].part == ANA_VACANT_BETWEEN)
			t = base_arena_printf(mem, "%s (%s)", t, view_vacancy_gaps(s, mem));
	}
	return t;
}

const char *view_vacancy_unseen(const struct view_summary *s, struct base_arena *mem)
{
	int64_t ns = s->result->vacancy.unseen_ns;
	base_unit time;

	if (!ns)
		return NULL;
	return base_arena_printf(
		mem,
		"for %s of GPU time it is not known whether anybody used the GPUs: "
		"tasks of the job were not recorded",
		base_duration(time, ns));
}
