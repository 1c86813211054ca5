/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good the record is: what was lost, damaged or never seen, and remarks in words.
 */
#include "result_make.h"

#include <errno.h>
#include <stdio.h>
#include "analysis/note.h"
#include "base/minmax.h"

static int source_notes(struct ana_quality *q, const struct ana_source *s)
{
	const Wire__Bye *bye = s->s->bye;
	size_t i;
	int err = 0;

	for (i = 0; s->hello && i < s->hello->n_notes && !err; i++)
		err = ana_quality_note(q, s->hello->notes[i]);
	for (i = 0; bye && i < bye->n_notes && !err; i++)
		err = ana_quality_note(q, bye->notes[i]);
	return err;
}

static const Wire__Pulse *last_pulse(const struct view_stream *v)
{
	return v->bye && v->bye->last ? v->bye->last : v->last_pulse;
}

/* Why samples are further apart than they might be. */
static int left_out_note(struct ana_result_parts *r)
{
	uint64_t left_out = 0;
	char text[160];
	size_t i;

	for (i = 0; i < r->plan->sources; i++) {
		const Wire__Pulse *p = last_pulse(r->plan->source[i].s);

		left_out += p ? p->looks_left_out : 0;
	}
	if (!left_out)
		return 0;
	snprintf(text, sizeof(text),
		 "%llu sample%s left out, because they would have cost more than their share of a "
		 "core: samples are further apart there",
		 (unsigned long long)left_out, left_out == 1 ? " was" : "s were");
	return ana_quality_note(&r->result->quality, text);
}

static uint32_t launch_ns(const Wire__PulseCost *c, size_t step)
{
	return step < c->n_launch_ns ? c->launch_ns[step] : 0;
}

static void take_ladder(struct ana_recording *r, const Wire__PulseCost *c)
{
	r->limit_ppm = c->limit;
	r->worst_ppm = c->worst;
	r->deepest = base_min(c->deepest, 3);
	r->full_launch_ns = launch_ns(c, 0);
	r->no_api_launch_ns = launch_ns(c, 1);
	r->no_kernels_launch_ns = launch_ns(c, 2);
	r->least_launch_ns = launch_ns(c, 3);
	r->left_ns = c->left_ns;
	r->passed = c->passed;
	r->learnt = c->learnt & 1;
}

/* @most: what the dearest process so far has spent. */
static void add_recording(struct ana_recording *r, const struct view_stream *s,
			  const Wire__Pulse *p, int64_t *most)
{
	int64_t armed = s->hello ? ana_clamp_time(s->hello->armed_ns) : 0;
	int64_t time = ana_clamp_time(p->t_ns) - armed, spent;

	if (!p->cost || !armed || time <= 0)
		return;
	spent = (int64_t)base_min(p->cost->spent_ns, (uint64_t)time);
	ana_sum(&r->time_ns, time);
	ana_sum(&r->spent_ns, spent);
	if (spent < *most)
		return;
	*most = spent;
	take_ladder(r, p->cost);
}

static void recording(struct ana_result_parts *r)
{
	int64_t most = 0;
	size_t i;

	for (i = 0; i < r->plan->sources; i++) {
		const struct view_stream *s = r->plan->source[i].s;
		const Wire__Pulse *p = last_pulse(s);

		if (p)
			add_recording(&r->result->quality.recording, s, p, &most);
	}
}

static void source_quality(struct ana_quality *q, const struct ana_source *s)
{
	const struct view_stream *v = s->s;
	const Wire__Pulse *p = last_pulse(v);
	size_t i;

	q->events += s->events;
	q->trace_bytes += v->bytes;
	if (s->imported)
		q->invalid += s->hello->import->bad_ops;
	for (i = 0; i < v->holes; i++)
		if (v->hole[i].last_seq)
			q->frames_missing += v->hole[i].last_seq - v->hole[i].first_seq + 1;
	if (!p)
		return;
	q->dropped += p->dropped;
	q->invalid += p->invalid;
	q->own_cpu_ns += p->own_cpu_ns;
	q->samples_lost += p->evidence_dropped;
	if (p->memory_bytes > q->memory_peak_bytes)
		q->memory_peak_bytes = p->memory_bytes;
}

/* What the walk could not read, in words. */
static int walk_notes(struct ana_result_parts *r, uint64_t unreadable)
{
	char text[160];
	size_t i;

	for (i = 0; i < r->plan->components; i++)
		if (r->found[i].forgot &&
		    ana_quality_note(
			    &r->result->quality,
			    "a GPU idled while its process was so busy elsewhere that what its "
			    "threads did was not kept: that part of the gap stays unknown "
			    "(host.unknown)"))
			return -ENOMEM;

	if (r->plan->devices_left_out) {
		snprintf(text, sizeof(text), "more than %u GPUs: the others are left out",
			 ANA_DEVICES_MAX);
		if (ana_quality_note(&r->result->quality, text))
			return -ENOMEM;
	}
	if (!unreadable)
		return 0;
	snprintf(text, sizeof(text),
		 "%llu block%s of events could not be decoded and %s missing: written by another "
		 "version, or damaged",
		 (unsigned long long)unreadable, unreadable == 1 ? "" : "s",
		 unreadable == 1 ? "is" : "are");
	return ana_quality_note(&r->result->quality, text);
}

static void add_quality(struct ana_quality *q, const struct ana_quality *found)
{
	q->invalid += found->invalid;
	q->ops_before_launch += found->ops_before_launch;
	q->launches_expired += found->launches_expired;
	q->graphs_lost += found->graphs_lost;
	q->frames_missing += found->frames_missing;
	q->samples += found->samples;
	q->samples_torn += found->samples_torn;
	q->samples_without_python += found->samples_without_python;
	q->samples_lost += found->samples_lost;
	ana_sum(&q->gap_unsampled_ns, found->gap_unsampled_ns);
}

int ana_result_quality(struct ana_result_parts *r)
{
	struct ana_quality *q = &r->result->quality;
	const struct view_trace *t = r->plan->trace;
	uint64_t unreadable = 0;
	size_t i;
	int err;

	for (i = 0; i < r->plan->components; i++)
		add_quality(q, &r->found[i].quality);
	unreadable = q->frames_missing;
	err = walk_notes(r, unreadable);
	recording(r);
	q->damage_bytes = t->damage_bytes;
	q->damage_spans = t->damage_spans;
	q->unobserved_ns = r->result->classes[ANA_EXCLUDED_UNOBSERVED];
	for (i = 0; i < r->plan->devices; i++)
		ana_sum(&q->stepped_down_ns, ana_spans_measure(&r->plan->device[i].stepped_down));
	q->stepped_down_ns = base_min(q->stepped_down_ns, q->unobserved_ns);
	for (i = 0; i < t->notes && !err; i++)
		err = ana_quality_note(q, t->note[i]);
	for (i = 0; i < r->plan->sources && !err; i++) {
		source_quality(q, &r->plan->source[i]);
		err = source_notes(q, &r->plan->source[i]);
	}
	if (!err)
		err = ana_result_metered(r->plan, r->result);
	return err ? err : left_out_note(r);
}
