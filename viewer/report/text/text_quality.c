/* SPDX-License-Identifier: Apache-2.0 */
/* How good the record is: what it cost, what is missing, what the causes rest on. */
#include "base/units.h"
#include "text_priv.h"

/* What the causes rest on. */
static void put_evidence(struct page *p)
{
	const struct ana_quality *q = &p->s->result->quality;
	base_unit samples, torn, blind, lost, gap;

	if (!q->samples)
		return;
	text_line(
		p,
		base_arena_printf(
			&p->mem,
			"%s samples of threads: %s torn, %s without a Python stack, %s "
			"lost; one that tells of several gaps counts with each; idle time that no "
			"sample explains: %s",
			base_count(samples, q->samples), base_count(torn, q->samples_torn),
			base_count(blind, q->samples_without_python),
			base_count(lost, q->samples_lost),
			base_duration(gap, q->gap_unsampled_ns)));
}

/* How busy the GPUs were where not all was recorded. */
static void put_metered(struct page *p)
{
	const struct ana_metered *m = &p->s->result->quality.metered;
	base_unit share, known;

	if (m->known_ns)
		text_line(p, base_arena_printf(
				     &p->mem,
				     "not all was recorded: NVML saw work on the GPU for %s %% of "
				     "%s of that time%s",
				     base_percent(share, base_ppm(m->busy_ns, m->known_ns)),
				     base_duration(known, m->known_ns),
				     p->s->result->estimated.metered_ns
					     ? "; what is sampled is reckoned from it"
					     : ""));
}

/* What recording cost where some of it was given up, and what it would have cost. */
static void put_recording(struct page *p)
{
	const struct ana_recording *r = &p->s->result->quality.recording;
	base_unit limit, spent, share, full, api, kernels, least, left;
	const char *stays = "", *passed = "";

	if (!r->time_ns)
		return;
	if (r->left_ns)
		stays = base_arena_printf(
			&p->mem,
			"; %s of each stay whatever is given up, because launches "
			"stay instrumented until the program ends",
			base_duration(left, r->left_ns));
	if (r->passed)
		passed = base_arena_printf(&p->mem, " (%s at once, for less would not have done)",
					   r->passed == 1 ? "once"
							  : base_arena_printf(&p->mem, "%u times",
									      r->passed));
	text_line(
		p,
		base_arena_printf(
			&p->mem,
			"recording was cut down to stay below %s %%, by %s at most%s: it cost %s of "
			"the threads "
			"that launch, %s %% of their time; a launch that is waited for costs %s "
			"with all of it, %s without calls, %s without kernels, %s without copies "
			"and waits, as %s%s",
			base_percent(limit, r->limit_ppm), view_given_up_words(r), passed,
			base_duration(spent, r->spent_ns),
			base_percent(share, base_ppm(r->spent_ns, r->time_ns)),
			base_duration(full, r->full_launch_ns),
			base_duration(api, r->no_api_launch_ns),
			base_duration(kernels, r->no_kernels_launch_ns),
			base_duration(least, r->least_launch_ns),
			r->learnt ? "measured in this job" : "on an H100", stays));
}

void text_quality(struct page *p)
{
	const struct view_summary *s = p->s;
	const struct ana_quality *q = &s->result->quality;
	base_unit events, bytes, memory, cpu, share;
	const char *t;

	text_heading(p, "Quality of the record");
	t = base_arena_printf(&p->mem, "%s events", base_count(events, q->events));
	if (q->trace_bytes)
		t = base_arena_printf(&p->mem, "%s, trace %s", t,
				      base_bytes(bytes, q->trace_bytes));
	if (q->memory_peak_bytes)
		t = base_arena_printf(&p->mem, "%s, libprof's memory %s", t,
				      base_bytes(memory, q->memory_peak_bytes));
	if (q->own_cpu_ns)
		t = base_arena_printf(&p->mem, "%s, its CPU time %s = %s %% of the run", t,
				      base_duration(cpu, (int64_t)q->own_cpu_ns),
				      base_percent(share,
						   base_ppm((int64_t)q->own_cpu_ns, s->wall_ns)));
	text_line(p, t);
	put_evidence(p);
	put_metered(p);
	put_recording(p);
	for (size_t i = 0; i < s->notes; i++) {
		fputs("  - ", p->f);
		text_wrap(p, 4, 4, s->note[i]);
	}
}
