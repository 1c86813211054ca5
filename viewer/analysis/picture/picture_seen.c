/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_seen.h"

#include <errno.h>
#include <stdlib.h>
#include "wire/evidence.h"

struct looking {
	const struct ana_plan *plan;
	const struct ana_step *step;
	size_t steps;
	bool *seen;
	struct wire_scratch *scratch;
	struct wire_sample *row;
	size_t room;
};

/* Some step of the process has part of the block, and none of its samples was found yet. */
static bool wanted(const struct looking *l, uint32_t process, const struct view_block *b)
{
	for (size_t i = 0; i < l->steps; i++)
		if (!l->seen[i] && l->step[i].process == process &&
		    b->head->t1_ns >= l->step[i].start_ns && b->head->t0_ns < l->step[i].end_ns)
			return true;
	return false;
}

static void mark(const struct looking *l, uint32_t process, int64_t t)
{
	for (size_t i = 0; i < l->steps; i++)
		l->seen[i] |= l->step[i].process == process && l->step[i].start_ns <= t &&
			      t < l->step[i].end_ns;
}

/* A block that does not decode was counted by the walk. */
static int look_into(struct looking *l, uint32_t process, const struct view_block *b)
{
	size_t n;
	int err = view_trace_samples(l->plan->trace, b, l->scratch, &l->row, &l->room, &n);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < n; i++)
		if (l->row[i].role == WIRE_ROLE_SUBMITTER)
			mark(l, process, l->row[i].t_ns);
	return 0;
}

static bool asked_before(const struct looking *l, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (l->step[i].process == l->step[at].process)
			return true;
	return false;
}

int ana_picture_seen(const struct ana_plan *plan, const struct ana_step *steps, size_t n,
		     bool *seen)
{
	struct looking l = { .plan = plan, .step = steps, .steps = n, .seen = seen };
	int err = 0;

	l.scratch = wire_scratch_new();
	if (!l.scratch)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		const uint32_t process = steps[i].process;
		const struct view_stream *s = plan->source[process].s;

		for (size_t k = 0; !asked_before(&l, i) && k < s->evidences && !err; k++)
			if (s->evidence[k].head->kind == WIRE_KIND_SAMPLE &&
			    wanted(&l, process, &s->evidence[k]))
				err = look_into(&l, process, &s->evidence[k]);
	}
	free(l.row);
	wire_scratch_free(l.scratch);
	return err;
}
