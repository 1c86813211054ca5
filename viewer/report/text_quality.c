/* SPDX-License-Identifier: Apache-2.0 */
/* How good the record is: what it cost, what is missing, what the causes rest on. */
#include "base/units.h"
#include "text_priv.h"

/* What the causes rest on. */
static void put_evidence(struct page *p)
{
	const struct ana_quality *q = &p->s->result->quality;
	view_unit samples, torn, blind, lost, gap;

	if (!q->samples)
		return;
	text_line(p, view_arena_printf(
			     &p->mem,
			     "%s samples of threads: %s torn, %s without a Python stack, %s "
			     "lost; idle time that no sample explains: %s",
			     view_count(samples, q->samples), view_count(torn, q->samples_torn),
			     view_count(blind, q->samples_without_python),
			     view_count(lost, q->samples_lost),
			     view_duration(gap, q->gap_unsampled_ns)));
}

void text_quality(struct page *p)
{
	const struct view_summary *s = p->s;
	const struct ana_quality *q = &s->result->quality;
	view_unit events, bytes, memory, cpu, share;
	const char *t;

	text_heading(p, "Quality of the record");
	t = view_arena_printf(&p->mem, "%s events", view_count(events, q->events));
	if (q->trace_bytes)
		t = view_arena_printf(&p->mem, "%s, trace %s", t,
				      view_bytes(bytes, q->trace_bytes));
	if (q->memory_peak_bytes)
		t = view_arena_printf(&p->mem, "%s, libprof's memory %s", t,
				      view_bytes(memory, q->memory_peak_bytes));
	if (q->own_cpu_ns)
		t = view_arena_printf(&p->mem, "%s, its CPU time %s = %s %% of the run", t,
				      view_duration(cpu, (int64_t)q->own_cpu_ns),
				      view_percent(share,
						   view_ppm((int64_t)q->own_cpu_ns, s->wall_ns)));
	text_line(p, t);
	put_evidence(p);
	for (size_t i = 0; i < s->notes; i++) {
		fputs("  - ", p->f);
		text_wrap(p, 4, 4, s->note[i]);
	}
}
