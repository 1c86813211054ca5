/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

static void cut(struct ana_ruled_piece *p, int64_t until)
{
	if (until < p->until)
		p->until = until;
}

static void set(struct ana_ruled_piece *p, int c, enum ana_confidence confidence)
{
	p->c = c;
	p->confidence = confidence;
}

/* Whether the stack covers @t. The piece ends where that changes. */
static bool on(struct ana_timeline_stack *l, int64_t t, struct ana_ruled_piece *p, uint32_t *value)
{
	int64_t until;
	bool inside;

	if (!l)
		return false;
	inside = ana_timeline_stack_at(l, t, value, &until);
	cut(p, until);
	return inside;
}

/* LEDGER 5, loss: goes before every rule. */
bool ana_rules_loss(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	int64_t until;
	bool lost, unobserved;

	lost = ana_spans_at(&d->g->plan->lost, t, &until);
	cut(p, until);
	unobserved = ana_spans_at(&d->g->plan->unobserved, t, &until);
	cut(p, until);
	if (lost)
		set(p, ANA_DEVICE_LOST, ANA_NONE);
	else if (unobserved)
		set(p, ANA_EXCLUDED_UNOBSERVED, ANA_NONE);
	return lost || unobserved;
}

/* A loader wait: its first one says all, of the others evidence tells more. */
static void set_wait(struct ana_ruled_piece *p, uint32_t value, enum ana_confidence confidence)
{
	set(p, (int)value, confidence);
	p->refine = value == ANA_INPUT_UNKNOWN ? ANA_REFINE_WAIT : ANA_REFINE_LINE;
}

/* Saving is all that it calls, too; and what CUPTI says of a call says more than its name. */
static bool is_of_calls(uint32_t mark)
{
	return mark == ANA_HOST_CHECKPOINT || mark == ANA_HOST_WARMUP || mark == ANA_HOST_SYNC;
}

/* LEDGER rules 1 to 6. */
void ana_rules_empty(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	bool in_call, marked;
	uint32_t call, mark, v;

	if (!d->gap->known) {
		set(p, ANA_DEVICE_UNKNOWN, ANA_NONE);
		return;
	}
	if (on(&d->thread->waits, t, p, &v)) {
		/* who collects there makes the batch itself, or is kept from taking it */
		if (on(&d->thread->marks, t, p, &mark) && mark == ANA_HOST_GC) {
			set(p, ANA_HOST_GC, ANA_HIGH);
			p->refine = ANA_REFINE_LINE;
		} else {
			set_wait(p, v, ANA_HIGH);
		}
		return;
	}
	p->refine = ANA_REFINE_LINE;
	in_call = on(&d->thread->calls, t, p, &call);
	marked = on(&d->thread->marks, t, p, &v);
	if (marked && (!in_call || is_of_calls(v))) {
		set(p, (int)v, ANA_HIGH);
	} else if (in_call) {
		set(p, (int)call, ANA_HIGH);
	} else if (on(&d->process->waits, t, p, &v)) {
		set_wait(p, v, ANA_MEDIUM);
		p->any = true;
	} else if (on(&d->thread->ranges, t, p, &v)) {
		set(p, (int)v, ANA_HIGH);
	} else {
		p->refine = ANA_REFINE_HOST;
		if (on(&d->thread->operators, t, p, &v))
			set(p, ANA_HOST_DISPATCH, ANA_MEDIUM);
		else
			set(p, ANA_HOST_UNKNOWN, ANA_NONE);
	}
}

void ana_rules_lost_graph(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	(void)d, (void)t;
	set(p, ANA_DEVICE_UNKNOWN, ANA_NONE);
}

/* Nothing in the records (LEDGER rule 11), but others may have been seen on the device. */
static void unexplained(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	int64_t until;

	if (ana_spans_at(&d->g->plan->contended, t, &until))
		set(p, ANA_DEVICE_CONTENTION, ANA_LOW);
	else
		set(p, ANA_DEVICE_UNKNOWN, ANA_NONE);
	cut(p, until);
}

/* LEDGER rule 11. */
static void rules_rest(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	if (d->gap->dependent)
		set(p, ANA_DEVICE_DEPENDENCY, ANA_MEDIUM);
	else if (d->gap->pageable && !d->call)
		set(p, ANA_INPUT_H2D, ANA_MEDIUM);
	else
		unexplained(d, t, p);
}

/* LEDGER rule 10, within the call that realises the submit. */
static void rules_submit(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	const struct ana_call *c = d->call;
	uint32_t v, mark;
	bool marked = on(&d->thread->marks, t, p, &mark);

	if (d->gap->pageable)
		set(p, ANA_INPUT_H2D, ANA_HIGH);
	else if (marked && mark == ANA_HOST_WARMUP)
		set(p, ANA_HOST_WARMUP, ANA_HIGH);
	else if (marked &&
		 mark == ANA_HOST_SYNC) /* the queue is full: it is not the call's doing */
		rules_rest(d, t, p);
	else if (on(&d->thread->calls, t, p, &v) && (v == ANA_HOST_ALLOC || v == ANA_HOST_WARMUP))
		set(p, (int)v, ANA_HIGH);
	else if (c->flags & ANA_NAME_LAUNCH && c->end > c->start + ANA_SLOW_LAUNCH_NS)
		set(p, ANA_HOST_WARMUP, ANA_MEDIUM);
	else
		set(p, ANA_DEVICE_LAUNCH, ANA_HIGH);
}

/* LEDGER rule 12. False: no stream was held by the program's own code. */
static bool rules_host_code(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	uint32_t v;

	if (on(d->host_code, t, p, &v))
		set(p, ANA_DEVICE_HOST_CODE, ANA_HIGH);
	else if (on(d->any_host_code, t, p, &v))
		set(p, ANA_DEVICE_HOST_CODE, ANA_MEDIUM);
	else
		return false;
	return true;
}

/* LEDGER rules 7 to 12. */
void ana_rules_queued(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	int64_t ns = d->queued_end - d->queued_start;

	if (ns > ANA_LAUNCH_NS && rules_host_code(d, t, p))
		return;
	if (ns <= ANA_TURNAROUND_NS) {
		set(p, ANA_DEVICE_TURNAROUND, ANA_HIGH);
	} else if (d->gap->same_graph) {
		set(p, ANA_DEVICE_GRAPH, ANA_HIGH);
	} else if (ns <= ANA_LAUNCH_NS) {
		set(p, ANA_DEVICE_LAUNCH, ANA_HIGH);
	} else if (d->call && t < d->call->end) {
		cut(p, d->call->end);
		p->refine = ANA_REFINE_LINE; /* the submitter is in that call */
		rules_submit(d, t, p);
	} else {
		rules_rest(d, t, p);
	}
}

/* The same where nothing on the device has a launch record. */
void ana_rules_no_launches(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	uint32_t v;

	if (on(d->waits, t, p, &v))
		set_wait(p, v, ANA_MEDIUM);
	else if (on(d->blocked, t, p, &v))
		set(p, ANA_HOST_SYNC, ANA_LOW);
	else
		ana_rules_queued(d, t, p);
}

void ana_rules_startup(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	uint32_t v;

	p->any = true;
	if (on(&d->g->waits, t, p, &v))
		set_wait(p, v, d->call ? ANA_HIGH : ANA_MEDIUM);
	else
		set(p, ANA_EXCLUDED_STARTUP, ANA_HIGH);
}

void ana_rules_started(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	(void)d, (void)t;
	set(p, ANA_EXCLUDED_STARTUP, ANA_HIGH);
}

/* LEDGER 5, the tail: within [rest_start, rest_end) evidence tells more, one cell at a time. */
void ana_rules_teardown(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	uint32_t v;

	p->any = true;
	if (on(&d->g->waits, t, p, &v)) {
		set_wait(p, v, ANA_HIGH);
		return;
	}
	set(p, ANA_EXCLUDED_TEARDOWN, ANA_HIGH);
	if (t < d->rest_start) {
		cut(p, d->rest_start);
	} else if (t < d->rest_end) {
		p->refine = ANA_REFINE_HOST;
		cut(p, t + ANA_TAIL_CELL_NS - (t - d->rest_start) % ANA_TAIL_CELL_NS);
		cut(p, d->rest_end);
	}
}

void ana_rules_unobserved(struct ana_gap_decision *d, int64_t t, struct ana_ruled_piece *p)
{
	(void)d, (void)t;
	set(p, ANA_EXCLUDED_UNOBSERVED, ANA_NONE);
}
