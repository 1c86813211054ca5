/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, what was lost, what measuring cost, and what else should be known. */
#include "html_priv.h"

static void put_metered(struct html *h, const struct ana_metered *m)
{
	bool sampled = h->s->result->estimated.metered_ns;

	if (!m->known_ns)
		return;
	html_put(h, "<dt>Busy meanwhile, as NVML saw</dt><dd>");
	html_ns(h, m->busy_ns, "/quality/metered/busy_ns");
	html_put(h, " of ");
	html_ns(h, m->known_ns, "/quality/metered/known_ns");
	html_put(h, sampled ? "; what is sampled is reckoned from it</dd>\n" : "</dd>\n");
}

static void put_events(struct html *h, const struct ana_quality *q)
{
	html_put(h, "<dt>Events</dt><dd>");
	html_count(h, q->events, "/quality/events");
	html_put(h, ", of which ");
	html_count(h, q->dropped, "/quality/dropped");
	html_put(h, " were lost and ");
	html_count(h, q->invalid, "/quality/invalid");
	html_put(h, " were unusable</dd>\n<dt>Not observed</dt><dd>");
	html_ns(h, q->unobserved_ns, "/quality/unobserved_ns");
	html_put(h, " of GPU time</dd>\n");
	put_metered(h, &q->metered);
	if (!q->damage_bytes && !q->frames_missing)
		return;
	html_put(h, "<dt>Damage to the trace</dt><dd>");
	html_bytes(h, q->damage_bytes, "/quality/damage_bytes");
	html_put(h, " in ");
	html_count(h, q->damage_spans, "/quality/damage_spans");
	html_put(h, " places, ");
	html_count(h, q->frames_missing, "/quality/frames_missing");
	html_put(h, " frames missing</dd>\n");
}

static void put_samples(struct html *h, const struct ana_quality *q)
{
	if (!q->samples)
		return;
	html_put(h, "<dt>Samples of threads</dt><dd>");
	html_count(h, q->samples, "/quality/evidence/samples");
	html_put(h, ": ");
	html_count(h, q->samples_torn, "/quality/evidence/torn");
	html_put(h, " torn, ");
	html_count(h, q->samples_without_python, "/quality/evidence/without_python");
	html_put(h, " without a Python stack, ");
	html_count(h, q->samples_lost, "/quality/evidence/lost");
	html_put(
		h,
		" lost. One that tells of several gaps counts with each, so that a finding may have more. "
		"No sample explains ");
	html_ns(h, q->gap_unsampled_ns, "/quality/evidence/gap_unsampled_ns");
	html_put(h, " of idle time</dd>\n");
}

static void put_launch(struct html *h, const char *what, uint32_t ns, const char *where)
{
	html_put(h, what);
	html_ns(h, ns, "%s", where);
}

/* What recording cost where some of it was given up. */
static void put_recording(struct html *h, const struct ana_recording *r)
{
	if (!r->time_ns)
		return;
	html_put(h, "<dt>Cost of recording</dt><dd>");
	html_ns(h, r->spent_ns, "/quality/recording/spent_ns");
	html_put(h, " of ");
	html_ns(h, r->time_ns, "/quality/recording/time_ns");
	html_put(h, " of threads that launch; cut down to stay below ");
	html_pct(h, r->limit_ppm, "/quality/recording/limit_pct");
	html_put(h, ", by ");
	html_put(h, view_given_up_words(r));
	html_put(h, " at most");
	if (r->passed) {
		html_put(h, "; times that several went at once, for less would not have done: ");
		html_count(h, r->passed, "/quality/recording/passed");
	}
	put_launch(h, ". A launch that is waited for costs ", r->full_launch_ns,
		   "/quality/recording/full_launch_ns");
	put_launch(h, " with all of it, ", r->no_api_launch_ns,
		   "/quality/recording/no_api_launch_ns");
	put_launch(h, " without calls, ", r->no_kernels_launch_ns,
		   "/quality/recording/no_kernels_launch_ns");
	put_launch(h, " without kernels, ", r->least_launch_ns,
		   "/quality/recording/least_launch_ns");
	html_put(h, " without copies and waits, as ");
	html_put(h, r->learnt ? "measured in this job" : "on an H100");
	if (r->left_ns) {
		put_launch(h, "; ", r->left_ns, "/quality/recording/left_ns");
		html_put(h, " of each stay whatever is given up");
	}
	html_put(h, "</dd>\n");
}

static void put_overhead(struct html *h, const struct ana_quality *q)
{
	const struct view_summary *s = h->s;

	if (q->own_cpu_ns) {
		html_put(h, "<dt>Our own CPU time</dt><dd>");
		html_ns(h, (int64_t)q->own_cpu_ns, "/quality/overhead/own_cpu_ns");
		html_put(h, ", ");
		html_pct(h, base_ppm((int64_t)q->own_cpu_ns, s->wall_ns),
			 "/quality/overhead/own_cpu_pct");
		html_put(h, " of the run's time on one core</dd>\n");
	}
	if (q->memory_peak_bytes) {
		html_put(h, "<dt>Our own memory</dt><dd>");
		html_bytes(h, q->memory_peak_bytes, "/quality/overhead/memory_peak_bytes");
		html_put(h, " at most, per process</dd>\n");
	}
	if (q->trace_bytes) {
		html_put(h, "<dt>Trace</dt><dd>");
		html_bytes(h, q->trace_bytes, "/quality/overhead/trace_bytes");
		html_put(h, "</dd>\n");
	}
}

void html_quality(struct html *h)
{
	const struct view_summary *s = h->s;
	const struct ana_quality *q = &s->result->quality;

	html_section(h, "quality", "What was measured, and what was not");
	html_put(h, "<dl class=\"facts\">\n");
	put_events(h, q);
	put_samples(h, q);
	put_overhead(h, q);
	put_recording(h, &q->recording);
	if (s->result->level) {
		html_put(h, "<dt>Level of recording</dt><dd>");
		html_text(h, "span", s->result->level, "/level");
		html_put(h, "</dd>\n");
	}
	html_put(h, "</dl>\n");
	if (s->notes)
		html_put(h, "<h3>Notes</h3>\n<ul class=\"notes\">\n");
	for (size_t i = 0; i < s->notes; i++) {
		html_sentence(h, "li", s->note[i], "/quality/notes/%zu", i);
		html_put(h, "\n");
	}
	html_put(h, s->notes ? "</ul>\n" : "");
	html_section_end(h);
}
