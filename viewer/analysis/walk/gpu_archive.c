/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU amid a walk as bytes, and back: its gaps that wait, what is busy, its streams. What the
 * result has of it is not among them.
 */
#include "walk.h"

#include <stdlib.h>
#include "analysis/archive.h"

#define STREAMS_MAX UINT32_C(0x10000000)

static void archive_submitter(struct ana_submitter *s, uint32_t processes, struct ana_archive *a)
{
	ana_archive_bool(a, &s->known);
	s->process = ana_archive_small(a, s->process, processes - 1);
	ana_archive_field(a, s->tid);
}

static void archive_gap(struct ana_open_gap *gap, uint32_t processes, struct ana_archive *a)
{
	ana_archive_time(a, &gap->start);
	ana_archive_time(a, &gap->end);
	ana_archive_check(a, gap->start <= gap->end);
	gap->process = ana_archive_small(a, gap->process, processes - 1);
	ana_archive_field(a, gap->ordinal);
	ana_archive_field(a, gap->context);
	ana_archive_field(a, gap->stream);
	ana_archive_bool(a, &gap->known);
	ana_archive_bool(a, &gap->pageable);
	ana_archive_bool(a, &gap->copied);
	ana_archive_field(a, gap->copied_bytes);
	ana_archive_bool(a, &gap->same_graph);
	ana_archive_bool(a, &gap->dependent);
	archive_submitter(&gap->left, processes, a);
	ana_archive_stamp(a, &gap->computed);
}

static void archive_gaps(struct ana_walk *w, struct ana_gpu_state *g, struct ana_archive *a)
{
	uint64_t all = 0;

	ana_archive_window(a, g->gap, g->gap_head, g->gap_tail, g->gap_room,
			   2 * (size_t)ANA_GAPS_OPEN_MAX);
	for (size_t i = g->gap_head; i < g->gap_tail; i++)
		archive_gap(&g->gap[i], w->processes, a);
	ana_archive_window(a, g->run, g->run_head, g->run_tail, g->run_room,
			   2 * (size_t)ANA_GAPS_OPEN_MAX);
	for (size_t i = g->run_head; i < g->run_tail; i++) {
		struct ana_run_of_gaps *run = &g->run[i];

		ana_call_archive(&run->call, w->processes, a);
		ana_archive_bool(a, &run->known);
		run->gaps = ana_archive_number(a, run->gaps, 2 * ANA_GAPS_OPEN_MAX);
		all += run->gaps;
	}
	ana_archive_check(a, all == g->gap_tail - g->gap_head);
}

/* The place in the array, plus 1; 0: none. */
static void archive_open_bucket(struct ana_gpu_state *g, struct ana_archive *a)
{
	const struct ana_timeline *line = g->buckets.line;
	size_t at = g->open_bucket ? (size_t)(g->open_bucket - line->bucket) + 1 : 0;

	at = ana_archive_number(a, at, line->count);
	g->open_bucket = at ? &line->bucket[at - 1] : NULL;
	ana_archive_stamp(a, &g->open_until);
	ana_buckets_archive(&g->buckets, a);
	ana_minutes_archive(&g->minutes, a);
}

static void archive_busy(struct ana_walk *w, struct ana_gpu_state *g, struct ana_archive *a)
{
	ana_archive_bool(a, &g->started);
	ana_archive_time(a, &g->start);
	ana_archive_stamp(a, &g->at);
	for (int c = 0; c < ANA_CLASSES; c++)
		ana_archive_time(a, &g->unflushed[c]);
	archive_open_bucket(g, a);
	ana_archive_time(a, &g->end);
	ana_archive_stamp(a, &g->compute_end);
	ana_archive_stamp(a, &g->comm_end);
	ana_archive_stamp(a, &g->copy_end);
	for (int d = 0; d < ANA_COPY_DIRS; d++)
		ana_archive_stamp(a, &g->dir_end[d]);
	ana_archive_time(a, &g->copying.start);
	ana_archive_time(a, &g->copying.end);
	g->copying.process = ana_archive_small(a, g->copying.process, w->processes - 1);
	ana_archive_field(a, g->copying.tid);
}

static void archive_last(struct ana_walk *w, struct ana_gpu_state *g, struct ana_archive *a)
{
	ana_archive_field(a, g->left_stream);
	ana_archive_field(a, g->left_process);
	ana_archive_bool(a, &g->left_graph);
	ana_archive_field(a, g->left_corr);
	archive_submitter(&g->left, w->processes, a);
	ana_archive_stamp(a, &g->computed);
	ana_archive_bool(a, &g->lead_open);
	archive_gap(&g->lead, w->processes, a);
	ana_archive_bool(a, &g->lead_known);
	ana_call_archive(&g->lead_call, w->processes, a);
}

static void archive_waiters(struct ana_gpu_state *g, struct ana_archive *a)
{
	for (uint32_t i = 0; i < g->waiters; i++)
		ana_archive_bool(a, &g->waiter[i].waits);
	g->waitings = ana_archive_small(a, g->waitings, g->waiters);
	for (uint32_t i = 0; i < g->waitings; i++)
		g->waiting[i] = ana_archive_small(a, g->waiting[i], g->waiters - 1);
}

static void archive_streams(struct ana_gpu_state *g, struct ana_archive *a)
{
	ana_archive_vec(a, g->stream, g->streams, STREAMS_MAX);
	if (a->reading)
		g->stream_room = g->streams;
	for (uint32_t i = 0; i < g->streams; i++) {
		ana_archive_field(a, g->stream[i].key);
		ana_archive_stamp(a, &g->stream[i].submitted);
	}
	ana_map_archive(&g->stream_of, g->streams - 1, a);
	ana_archive_field(a, g->last_stream);
}

void ana_gpu_archive(struct ana_walk *w, struct ana_gpu_state *g, struct ana_archive *a)
{
	archive_busy(w, g, a);
	archive_last(w, g, a);
	archive_gaps(w, g, a);
	ana_archive_field(a, g->launches);
	ana_timeline_stack_archive(&g->waits, ANA_CLASSES - 1, a);
	archive_waiters(g, a);
	archive_streams(g, a);
	ana_archive_stamp(a, &g->waits_floor);
}
