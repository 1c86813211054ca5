/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Perfetto trace: per GPU its streams and why it was idle, per process its threads with calls,
 * ranges and loader waits, arrows from launches to operations. Packets are packed one by one into
 * the output; what stays in memory is one record per track and one bit per name.
 *
 * Perfetto's times are unsigned: a trace that begins below 0 (an import) is moved up, and says so.
 */
#include <errno.h>
#include <stdlib.h>
#include "perfetto.h"

static uint64_t name_of(struct perfetto *p, const struct wire_event *e, const char *otherwise)
{
	size_t len;
	const char *text = view_export_name(p->s, e->name, &len);

	if (!len)
		return perfetto_own_name(p, OWN_COPIES + (e->kind & 7u) * 8 + (e->op & 7u),
					 otherwise);
	if (perfetto_first(p->named, e->name))
		perfetto_intern(p, e->name, text, len);
	return e->name;
}

static uint64_t op_name(struct perfetto *p, const struct wire_event *e)
{
	char text[VIEW_EXPORT_COPY_BYTES];
	uint32_t i = (e->copy & 15u) << 8 | (e->src & 15u) << 4 | (e->dst & 15u);
	size_t len;

	view_export_name(p->s, e->name, &len);
	if (e->op == WIRE_OP_COPY && !len)
		return perfetto_own_name(p, i, view_export_copy_name(text, e));
	return name_of(p, e, view_export_op_name(e));
}

static int put_op(void *arg, const struct wire_event *e)
{
	struct perfetto *p = arg;
	struct perfetto_slice s = { .start = e->start_ns, .end = e->end_ns, .category = CAT_OP };
	int err = view_track_stream(&p->tracks, view_export_gpu(p->s, e->device), p->source, e,
				    &s.track);

	if (err)
		return err;
	s.name = op_name(p, e);
	if (e->corr) {
		s.ends_flow = view_export_flow(p->source, e->corr);
		perfetto_note_uint(&s, ANN_CORRELATION, e->corr);
	}
	if (e->bytes)
		perfetto_note_uint(&s, ANN_BYTES, e->bytes);
	perfetto_put(p, &s);
	return p->o->err;
}

static int put_call(void *arg, const struct wire_event *e)
{
	struct perfetto *p = arg;
	struct perfetto_slice s = { .start = e->start_ns, .end = e->end_ns, .category = CAT_CALL };
	int err = view_track_thread(&p->tracks, p->source, e, VIEW_TRACK_CALLS, &s.track);

	if (err || e->end_ns < e->start_ns)
		return err;
	s.name = name_of(p, e, "call");
	if (e->corr) {
		s.flow = view_export_flow(p->source, e->corr);
		perfetto_note_uint(&s, ANN_CORRELATION, e->corr);
	}
	perfetto_put(p, &s);
	return p->o->err;
}

static int put_range(void *arg, const struct wire_event *e)
{
	struct perfetto *p = arg;
	bool loader = e->op == WIRE_RANGE_LOADER;
	struct perfetto_slice s = { .start = e->start_ns,
				    .end = e->end_ns,
				    .category = loader ? CAT_LOADER : CAT_RANGE };
	int err = view_track_thread(&p->tracks, p->source, e,
				    loader ? VIEW_TRACK_LOADER : VIEW_TRACK_RANGES, &s.track);

	if (err || e->end_ns < e->start_ns)
		return err;
	s.name = name_of(p, e, "range");
	perfetto_put(p, &s);
	return p->o->err;
}

static int put_sync(void *arg, const struct wire_event *e)
{
	static const char *const names[] = { "synchronise",	   "wait for an event",
					     "stream waits",	   "wait for a stream",
					     "wait for a context", "host function" };
	struct perfetto *p = arg;
	struct perfetto_slice s = { .start = e->start_ns, .end = e->end_ns, .category = CAT_SYNC };
	uint32_t gpu = view_export_gpu(p->s, view_export_sync_device(p->s, e));
	uint32_t op = e->op < sizeof(names) / sizeof(names[0]) ? e->op : 0;
	int err;

	if (gpu == ANA_MAP_NONE || e->end_ns < e->start_ns)
		return 0;
	err = view_track_stream(&p->tracks, gpu, p->source, e, &s.track);
	if (err)
		return err;
	s.name = perfetto_own_name(p, OWN_COPIES + WIRE_KIND_SYNC * 8 + op, names[op]);
	perfetto_put(p, &s);
	return p->o->err;
}

static int put_piece(void *arg, const struct ana_piece *q)
{
	struct perfetto *p = arg;
	struct perfetto_slice s = { .start = q->start_ns, .end = q->end_ns, .category = CAT_IDLE };
	int err = view_track_idle(&p->tracks, q, &s.track);

	if (err)
		return err;
	s.name = perfetto_own_name(p, (uint32_t)q->class, ana_class_names[q->class]);
	perfetto_note_text(&s, ANN_STATE, !q->gap ? "outside" : q->queued ? "queued" : "empty");
	perfetto_note_text(&s, ANN_CONFIDENCE, ana_confidence_names[q->confidence]);
	if (q->pid) {
		perfetto_note_uint(&s, ANN_PID, (uint64_t)q->pid);
		perfetto_note_uint(&s, ANN_TID, (uint64_t)q->tid);
	}
	perfetto_put(p, &s);
	return p->o->err;
}

/* --- what threads and workers did --- */

/* The innermost function of the Python stack. */
static uint64_t stack_name(struct perfetto *p, const struct wire_sample *w)
{
	size_t len;
	const char *text = view_export_name(p->s, w->stack, &len);
	size_t n = strcspn(text, "\t\n");

	if (!len)
		return perfetto_own_name(p, OWN_DOING + (w->wait & 15u), view_export_doing(w));
	if (perfetto_first(p->stack_named, w->stack))
		perfetto_intern(p, STACK_NAMES + w->stack, text, n < len ? n : len);
	return STACK_NAMES + w->stack;
}

static int put_sample(void *arg, const struct wire_sample *w)
{
	struct perfetto *p = arg;
	struct perfetto_slice s = { .start = w->t_ns, .end = w->t_ns, .category = CAT_SAMPLE };
	int err = view_track_sample(&p->tracks, p->source, w, &s.track);

	if (err)
		return err;
	s.name = stack_name(p, w);
	perfetto_note_text(&s, ANN_ROLE, view_export_role(w->role));
	perfetto_note_text(&s, ANN_DOING, view_export_doing(w));
	perfetto_note_long(p, &s, ANN_TARGET, w->target);
	perfetto_note_long(p, &s, ANN_STACK, w->stack);
	perfetto_note_long(p, &s, ANN_NATIVE, w->native);
	perfetto_event(p, &s, true);
	return p->o->err;
}

static int put_batch(void *arg, const struct wire_batch *b)
{
	static const char *const names[] = { "batch",  "makes the iterator", "makes a batch",
					     "next()", "pins a batch",	     "ends the iterator" };
	uint32_t what = b->what < sizeof(names) / sizeof(names[0]) ? b->what : 0;
	struct perfetto *p = arg;
	struct perfetto_slice s = { .start = b->start_ns, .end = b->end_ns, .category = CAT_BATCH };
	int err = view_track_batch(&p->tracks, p->source, b, &s.track);

	if (err)
		return err;
	s.name = perfetto_own_name(p, OWN_BATCHES + what, names[what]);
	perfetto_note_uint(&s, ANN_BATCH, b->batch);
	if (b->rchar_bytes)
		perfetto_note_uint(&s, ANN_READ, b->rchar_bytes);
	perfetto_put(p, &s);
	return p->o->err;
}

/* --- the whole --- */

/* Blocks tell their earliest time without being decoded. */
static int64_t earliest(const struct view_export *x)
{
	const struct ana_result *r = x->summary->result;
	int64_t least = 0;
	size_t i, k;

	for (i = 0; i < x->plan.sources; i++) {
		const struct view_stream *s = x->plan.source[i].s;

		for (k = 0; k < s->blocks; k++)
			if (ana_clamp_time(s->block[k].head->t0_ns) < least)
				least = ana_clamp_time(s->block[k].head->t0_ns);
	}
	for (i = 0; i < r->gpus; i++)
		if (ana_clamp_time(r->gpu[i].held_start_ns) < least)
			least = ana_clamp_time(r->gpu[i].held_start_ns);
	return least;
}

/* The trace's clock is the wall clock, where the run has one. */
static void put_clocks(struct perfetto *p)
{
	const struct ana_result *r = p->x->summary->result;
	uint64_t now = r->gpus ? perfetto_time(p, r->gpu[0].held_start_ns) : 0;
	MSG(ClockSnapshot__Clock) wall = PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__INIT;
	MSG(ClockSnapshot__Clock) own = wall, *clocks[] = { &wall, &own };
	MSG(ClockSnapshot) snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	MSG(TracePacket) k;

	wall.has_clock_id = wall.has_timestamp = own.has_clock_id = own.has_timestamp = true;
	wall.clock_id = 1;
	own.clock_id = 6;
	wall.timestamp = own.timestamp = now;
	snapshot.clocks = clocks;
	snapshot.n_clocks = 2;
	perfetto__protos__trace_packet__init(&k);
	k.clock_snapshot = &snapshot;
	perfetto_packet(p, &k);
}

static void put_caveat(void *arg, const char *text)
{
	struct view_track_facts t = { .what = VIEW_TRACK_OTHER, .name = text, .rank = -1 };
	struct perfetto *p = arg;

	t.uuid = view_tracks_uuid(&p->tracks);
	perfetto_track(p, &t);
}

static int put_source(struct perfetto *p, size_t i)
{
	static const struct view_export_kind kinds[] = {
		{ WIRE_KIND_OP, put_op },
		{ WIRE_KIND_API, put_call },
		{ WIRE_KIND_RANGE, put_range },
		{ WIRE_KIND_SYNC, put_sync },
	};
	size_t bytes = wire_strtab_count(p->x->source[i].s->s->strings) / 8 + 1;
	int err = 0;

	p->source = i;
	p->s = &p->x->source[i];
	memset(p->own_named, 0, sizeof(p->own_named));
	p->named = calloc(bytes, 1);
	p->stack_named = calloc(bytes, 1);
	p->stack_told = calloc(bytes, 1);
	if (!p->named || !p->stack_named || !p->stack_told)
		err = -ENOMEM;
	else
		perfetto_begin(p, (uint32_t)i + 2);
	if (!err)
		err = view_export_events(p->x, i, kinds, sizeof(kinds) / sizeof(kinds[0]), p);
	if (!err)
		err = view_export_evidence(p->x, i, put_sample, NULL, p);
	if (!err)
		err = view_export_evidence(p->x, i, NULL, put_batch, p);
	free(p->named);
	free(p->stack_named);
	free(p->stack_told);
	return err;
}

int view_export_perfetto(struct view_export *x)
{
	struct perfetto p = { .x = x, .o = &x->out };
	size_t i;
	int err;

	p.shift = 0 - (uint64_t)earliest(x);
	view_tracks_init(&p.tracks, x, perfetto_track, &p);
	perfetto_begin(&p, 1);
	put_clocks(&p);
	view_export_caveats(x, put_caveat, &p);
	if (p.shift)
		put_caveat(&p, "times are moved: this trace's clock begins below 0");
	err = view_tracks_gpus(&p.tracks);
	if (!err)
		err = view_export_pieces(x, put_piece, NULL, &p);
	for (i = 0; i < x->plan.sources && !err; i++)
		err = put_source(&p, i);
	view_tracks_fini(&p.tracks);
	return err;
}
