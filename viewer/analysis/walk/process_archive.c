/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process amid a walk as bytes, and back. What is found by its texts, or looked up once, is not
 * among them: it is looked up again.
 */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"

#define STREAMS_MAX UINT32_C(0x10000000)
#define STREAM_WAITS_MAX 4096u /* of one stream */
#define PLACES_MAX 64u
#define UNPLACED_MAX 4096u
#define CLASS_MAX (ANA_CLASSES - 1)

static void archive_stack(struct ana_timeline_stack *l, struct ana_archive *a)
{
	ana_timeline_stack_archive(l, CLASS_MAX, a);
}

static void archive_takes(struct ana_walk *w, struct ana_thread *t, struct ana_archive *a)
{
	ana_archive_vec(a, t->takes, t->take_count, PLACES_MAX);
	if (a->reading)
		t->take_room = t->take_count;
	for (uint32_t i = 0; i < t->take_count; i++) {
		ana_archive_field(a, t->takes[i].place);
		ana_unsampled_archive(&t->takes[i].waits, w->gpus, a);
	}
}

static void archive_unsampled(struct ana_walk *w, struct ana_thread *t, struct ana_archive *a)
{
	for (int k = 0; k < ANA_PIECE_KINDS && !a->err; k++) {
		bool one = t->unsampled[k] != NULL;

		ana_archive_bool(a, &one);
		if (one && a->reading && !ana_host_unsampled(w, t, (enum ana_piece_kind)k))
			a->err = w->err;
		if (one && !a->err)
			ana_unsampled_archive(t->unsampled[k], w->gpus, a);
	}
	ana_archive_check(a, !t->take_count || t->unsampled[ANA_PIECE_HOST]);
}

static void archive_thread(struct ana_walk *w, struct ana_thread *t, struct ana_archive *a)
{
	archive_stack(&t->calls, a);
	archive_stack(&t->waits, a);
	archive_stack(&t->ranges, a);
	archive_stack(&t->operators, a);
	archive_stack(&t->marks, a);
	ana_longcalls_archive(&t->longcalls, a);
	archive_takes(w, t, a);
	archive_unsampled(w, t, a);
}

static void archive_threads(struct ana_walk *w, struct ana_proc *p, struct ana_archive *a)
{
	uint32_t n = (uint32_t)ana_archive_number(a, p->threads, UINT32_MAX / 4);

	for (uint32_t i = 0; i < n && !a->err; i++) {
		uint32_t tid = a->reading ? 0 : p->thread[i]->tid;
		struct ana_thread *t = a->reading ? NULL : p->thread[i];

		ana_archive_field(a, tid);
		if (a->reading && !a->err) {
			t = ana_host_thread(w, p, tid);
			a->err = w->err;
			ana_archive_check(a, p->threads == i + 1); /* each is there once */
		}
		if (!a->err)
			archive_thread(w, t, a);
	}
}

/* Rows on no stack yet. */
static void archive_unplaced(struct ana_proc *p, struct ana_archive *a)
{
	ana_archive_vec(a, p->unplaced, p->unplaced_count, UNPLACED_MAX);
	if (a->reading)
		p->unplaced_room = p->unplaced_count;
	p->unplaced_first = ana_archive_small(a, p->unplaced_first, p->unplaced_count);
	for (uint32_t i = 0; i < p->unplaced_count; i++) {
		struct ana_unplaced_call *d = &p->unplaced[i];

		ana_archive_time(a, &d->start);
		ana_archive_time(a, &d->end);
		ana_archive_field(a, d->tid);
		d->value = ana_archive_small(a, d->value, CLASS_MAX);
	}
}

static void archive_stream_waits(struct ana_proc *p, struct ana_archive *a)
{
	ana_archive_vec(a, p->stream_waits, p->stream_wait_count, STREAMS_MAX);
	if (a->reading)
		p->stream_wait_room = p->stream_wait_count;
	for (uint32_t i = 0; i < p->stream_wait_count; i++) {
		struct ana_waits *s = &p->stream_waits[i];

		ana_archive_window(a, s->at, s->head, s->tail, s->room, STREAM_WAITS_MAX);
		for (size_t k = s->head; k < s->tail; k++)
			ana_archive_time(a, &s->at[k]);
	}
	ana_map_archive(&p->stream_waits_of, p->stream_wait_count - 1, a);
}

static void archive_blocked(struct ana_proc *p, struct ana_archive *a)
{
	ana_archive_vec(a, p->blocked, p->blocked_count, STREAMS_MAX);
	if (a->reading)
		p->blocked_room = p->blocked_count;
	for (uint32_t i = 0; i < p->blocked_count; i++)
		archive_stack(&p->blocked[i], a);
	ana_map_archive(&p->blocked_of, p->blocked_count - 1, a);
}

static void archive_host_code(struct ana_proc *p, struct ana_archive *a)
{
	ana_archive_vec(a, p->host_code, p->host_code_count, STREAMS_MAX);
	if (a->reading)
		p->host_code_room = p->host_code_count;
	for (uint32_t i = 0; i < p->host_code_count; i++)
		archive_stack(&p->host_code[i], a);
	ana_map_archive(&p->host_code_of, p->host_code_count - 1, a);
	archive_stack(&p->any_host_code, a);
}

void ana_process_archive(struct ana_walk *w, struct ana_proc *p, struct ana_archive *a)
{
	ana_join_archive(p->join, w->processes, a);
	archive_threads(w, p, a);
	archive_unplaced(p, a);
	archive_stack(&p->waits, a);
	archive_stream_waits(p, a);
	archive_blocked(p, a);
	archive_host_code(p, a);
	ana_steps_archive(&p->steps, a);
	ana_copied_archive(&p->copied, a);
	ana_archive_field(a, p->order);
	ana_archive_field(a, p->names.hints);
	ana_archive_stamp(a, &p->calls_next);
	ana_archive_stamp(a, &p->served);
	ana_feed_archive(&p->ops, a);
	ana_feed_archive(&p->calls, a);
	ana_feed_archive(&p->ranges, a);
	ana_feed_archive(&p->syncs, a);
	if (p->evidence && !a->err)
		ana_evidence_archive(p->evidence, a);
}
