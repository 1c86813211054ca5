/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ranges of a process tell before the walk: whether they mark steps, which threads emit
 * them; and where no range marks steps, which operation does.
 */
#include <errno.h>
#include <stdlib.h>
#include "plan_priv.h"

static void scan_ranger(struct ana_source *s, uint32_t tid)
{
	if (s->range_threads && s->range_thread != tid)
		s->range_threads = 2;
	else if (!s->range_threads)
		s->range_threads = 1;
	s->range_thread = tid;
}

/* One that goes on is of the batch of the first. */
static void count_wait(struct ana_source *s, const struct wire_event *e, int64_t start, int64_t end)
{
	int64_t until;

	if (s->unrecorded.count)
		ana_sum(&s->waits_unrecorded_ns, ana_spans_within(&s->unrecorded, start, end));
	if (e->flags & WIRE_EV_FL_CONT)
		return;
	s->batches++;
	s->batches_unrecorded += ana_spans_at(&s->unrecorded, end, &until);
}

static void scan_range(struct ana_source *s, const struct wire_event *e)
{
	bool operator_row = e->flags & WIRE_EV_FL_OPERATOR;

	switch (e->op) {
	case WIRE_RANGE_LOADER:
		count_wait(s, e, ana_clamp_time(e->start_ns), ana_clamp_time(e->end_ns));
		if (!s->loader_name)
			s->loader_name = e->name;
		scan_ranger(s, e->tid);
		break;
	case WIRE_RANGE_STEP:
		s->has_step = true;
		s->first_step_ns = base_min(s->first_step_ns, e->start_ns);
		if (!operator_row)
			scan_ranger(s, e->tid);
		break;
	case WIRE_RANGE_OPTIMIZER:
		s->has_optimizer = true;
		if (!operator_row)
			scan_ranger(s, e->tid);
		break;
	case WIRE_RANGE_USER:
		s->has_user = true;
		scan_ranger(s, e->tid);
		break;
	default:
		break;
	}
}

int ana_plan_scan(struct ana_plan *p, struct ana_source *s, struct wire_scratch *scratch)
{
	struct wire_event *ev = NULL;
	size_t i, k, n, room = 0;
	int err = ana_plan_unrecorded(s, &s->unrecorded);

	for (i = 0; i < s->s->blocks && err != -ENOMEM; i++) {
		if (s->s->block[i].head->kind != WIRE_KIND_RANGE)
			continue;
		err = view_trace_block(p->trace, &s->s->block[i], scratch, &ev, &room, &n);
		for (k = 0; !err && k < n; k++)
			scan_range(s, &ev[k]);
	}
	free(ev);
	if (err != -ENOMEM && s->ops && !s->has_step && !s->has_optimizer)
		err = ana_period_find(p->trace, s, scratch);
	return err == -ENOMEM ? err : 0;
}
