/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each attempt of a job held: a job that was requeued held its GPUs several times, and what
 * lies between was somebody else's.
 */
#include "result_make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "analysis/note.h"
#include "analysis/plan/allocations.h"
#include "analysis/time/span.h"
#include "job/peek.h"

#define ATTEMPTS_MAX 1024u

struct stretch { /* of one GPU in one attempt */
	int64_t restart;
	uint32_t row;
	int64_t start, end;
};

static int64_t told_restart(const struct ana_source *s)
{
	struct view_job_identity id = VIEW_JOB_NONE;

	if (s->hello)
		view_job_from(&id, view_hello_variable, (void *)(uintptr_t)s->hello);
	return id.number[VIEW_JOB_RESTART] < 0 ? 0 : id.number[VIEW_JOB_RESTART];
}

/* By the allocation that it began in, whose number holds on every node; else by its own. */
static int64_t restart_of(const struct ana_plan *p, uint32_t row, const struct ana_source *s)
{
	for (size_t i = 0; i < p->allocated_gpus; i++) {
		const struct ana_allocation *g = p->allocated_gpu[i].allocation;

		if (p->allocated_gpu[i].row == row && s->start_ns >= g->start_ns &&
		    s->start_ns < g->end_ns)
			return g->alloc->id.number[VIEW_JOB_RESTART];
	}
	return told_restart(s);
}

static int by_attempt(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->restart != y->restart)
		return x->restart < y->restart ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static size_t collect(const struct ana_plan *p, struct stretch *s)
{
	size_t n = 0;

	for (size_t i = 0; i < p->allocated_gpus; i++)
		s[n++] = (struct stretch){
			p->allocated_gpu[i].allocation->alloc->id.number[VIEW_JOB_RESTART],
			p->allocated_gpu[i].row, p->allocated_gpu[i].allocation->start_ns,
			p->allocated_gpu[i].allocation->end_ns
		};
	for (uint32_t row = 0; row < p->devices; row++) {
		const struct ana_device *d = &p->device[row];

		for (size_t u = 0; u < d->uses; u++) {
			const struct ana_source *o = &p->source[d->use[u].source];

			if (!o->imported)
				s[n++] = (struct stretch){ restart_of(p, row, o), row, o->start_ns,
							   o->end_ns };
		}
	}
	return n;
}

static size_t most_stretches(const struct ana_plan *p)
{
	size_t n = p->allocated_gpus;

	for (size_t i = 0; i < p->devices; i++)
		n += p->device[i].uses;
	return n;
}

/* Sorted: of one GPU in one attempt what overlaps counts once. */
static void sum_up(struct ana_result *r, const struct stretch *s, size_t n)
{
	int64_t upto = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		struct ana_attempt *a = r->attempts ? &r->attempt[r->attempts - 1] : NULL;

		if (!a || a->restart != s[i].restart) {
			if (r->attempts == ATTEMPTS_MAX)
				return;
			a = &r->attempt[r->attempts++];
			*a = (struct ana_attempt){ .restart = s[i].restart,
						   .start_ns = s[i].start,
						   .end_ns = s[i].end };
			upto = INT64_MIN;
		}
		if (!a->gpus || s[i].row != s[i - 1].row) {
			a->gpus++;
			upto = INT64_MIN;
		}
		a->start_ns = base_min(a->start_ns, s[i].start);
		a->end_ns = base_max(a->end_ns, s[i].end);
		if (s[i].end > upto)
			ana_sum(&a->held_ns, s[i].end - base_max(s[i].start, upto));
		upto = base_max(upto, s[i].end);
	}
}

static void mark_open(const struct ana_plan *p, struct ana_result *r)
{
	for (size_t i = 0; i < p->allocations; i++)
		for (size_t k = 0; k < r->attempts && !p->allocation[i].alloc->ended; k++)
			if (r->attempt[k].restart ==
			    p->allocation[i].alloc->id.number[VIEW_JOB_RESTART])
				r->attempt[k].open = true;
}

static int note_unended(const struct ana_plan *p, struct ana_quality *q)
{
	for (size_t i = 0; i < p->allocations; i++)
		if (!p->allocation[i].alloc->ended)
			return ana_quality_note(q, "the end of some allocations is not known: they "
						   "count until the last moment known of processes "
						   "of the job");
	return 0;
}

static int note_guesses(const struct ana_plan *p, struct ana_quality *q)
{
	for (size_t i = 0; i < p->unuseds; i++)
		if (p->unused[i].guessed)
			return ana_quality_note(q, "some GPUs that nobody used have no name: they "
						   "are taken to be like the others of their node");
	return 0;
}

static int note_unseen(const struct ana_plan *p, struct ana_quality *q)
{
	for (size_t i = 0; i < p->allocations; i++)
		if (p->allocation[i].alloc->unseen)
			return ana_quality_note(q,
						"some tasks of the job were not recorded (opted "
						"out, no library, a shell of their own, or stored "
						"elsewhere): what GPUs of their nodes did for "
						"them is unobserved");
	return 0;
}

static int note_strangers(const struct ana_plan *p, struct ana_quality *q)
{
	char text[96];
	size_t n = 0;

	for (size_t i = 0; i < p->devices; i++)
		n += !p->device[i].given.count && !p->device[i].imported;
	if (!p->allocations || !n)
		return 0;
	snprintf(text, sizeof(text), "%zu GPU%s used that no allocation of the job names", n,
		 n == 1 ? " was" : "s were");
	return ana_quality_note(q, text);
}

/* Runs of a label have none to be known. */
static int note_ungiven(const struct ana_plan *p, struct ana_quality *q)
{
	if (p->trace->allocs || !view_job_known(&p->trace->run.job))
		return 0;
	return ana_quality_note(q, "which GPUs the job was given, and from when until when, is not "
				   "known (no Prolog wrote it down): time in which it had GPUs and "
				   "no process of it used them is in no figure");
}

int ana_attempts_make(struct ana_plan *p, struct ana_result *r)
{
	size_t n = most_stretches(p);
	struct stretch *s;
	int err;

	if (!p->trace->joined || !n)
		return 0;
	s = calloc(n, sizeof(*s));
	r->attempt = calloc(n < ATTEMPTS_MAX ? n : ATTEMPTS_MAX, sizeof(*r->attempt));
	if (!s || !r->attempt) {
		free(s);
		return -ENOMEM;
	}
	n = collect(p, s);
	qsort(s, n, sizeof(*s), by_attempt);
	sum_up(r, s, n);
	free(s);
	mark_open(p, r);
	err = note_ungiven(p, &r->quality);
	if (!err)
		err = note_unended(p, &r->quality);
	if (!err)
		err = note_guesses(p, &r->quality);
	if (!err)
		err = note_unseen(p, &r->quality);
	return err ? err : note_strangers(p, &r->quality);
}
