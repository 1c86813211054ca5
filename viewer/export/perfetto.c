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
#include "export.h"
#include "export/perfetto.pb-c.h"
#include "tracks.h"

#define MSG(name) Perfetto__Protos__##name

/* Interned on every sequence: categories, annotations, and names that are no event's. */
enum category {
	CAT_OP = 1,
	CAT_CALL,
	CAT_RANGE,
	CAT_LOADER,
	CAT_SYNC,
	CAT_IDLE,
	CAT_SAMPLE,
	CAT_BATCH,
	CATEGORIES
};
static const char *const category_names[CATEGORIES] = {
	[CAT_OP] = "gpu",	 [CAT_CALL] = "call",	     [CAT_RANGE] = "range",
	[CAT_LOADER] = "loader", [CAT_SYNC] = "stream wait", [CAT_IDLE] = "idle",
	[CAT_SAMPLE] = "sample", [CAT_BATCH] = "batch",
};
enum annotation {
	ANN_BYTES = 1,
	ANN_CORRELATION,
	ANN_STATE,
	ANN_CONFIDENCE,
	ANN_PID,
	ANN_TID,
	ANN_DOING,
	ANN_ROLE,
	ANN_STACK,
	ANN_NATIVE,
	ANN_TARGET,
	ANN_BATCH,
	ANN_READ,
	ANNOTATIONS
};
static const char *const annotation_names[ANNOTATIONS] = {
	[ANN_BYTES] = "bytes",		 [ANN_CORRELATION] = "correlation",
	[ANN_STATE] = "state",		 [ANN_CONFIDENCE] = "confidence",
	[ANN_PID] = "submitter process", [ANN_TID] = "submitter thread",
	[ANN_DOING] = "doing",		 [ANN_ROLE] = "whose",
	[ANN_STACK] = "stack",		 [ANN_NATIVE] = "native stack",
	[ANN_TARGET] = "waits for",	 [ANN_BATCH] = "batch",
	[ANN_READ] = "bytes read",
};

#define STACK_NAMES (UINT64_C(1) << 33) /* from here on: the innermost function of a stack */
#define OWN_NAMES (UINT64_C(1) << 32) /* iids from here on: copies, operations without a name */
#define OWN_COPIES 4096u /* kinds of copies: 16 directions, 16 x 16 kinds of memory */
#define OWN_DOING (OWN_COPIES + 64u) /* before it 8 operations, calls, ranges per kind */
#define OWN_BATCHES (OWN_DOING + 16u)
#define OWN_MAX (OWN_BATCHES + 8u)

struct page {
	struct view_export *x;
	struct view_out *o;
	struct view_tracks tracks;
	uint64_t shift; /* added to all times */
	uint32_t sequence; /* 1: descriptors and idle time; a process's number plus 2 */
	size_t source;
	struct view_export_source *s;
	uint8_t *named; /* a bit per name of this sequence */
	uint8_t *stack_named, *stack_told; /* the same for names and texts of stacks */
	uint8_t own_named[OWN_MAX / 8];
};

/* --- packets --- */

/* Field 1 of Trace, length-delimited. */
static void put_packet(struct page *p, MSG(TracePacket) * k)
{
	size_t n, left;
	uint8_t *at, *begin;

	k->has_trusted_packet_sequence_id = true;
	k->trusted_packet_sequence_id = p->sequence;
	n = left = perfetto__protos__trace_packet__get_packed_size(k);
	at = begin = (uint8_t *)view_out_room(p->o, n + 16);
	*at++ = 0x0a;
	for (; left >= 0x80; left >>= 7)
		*at++ = (uint8_t)(left | 0x80);
	*at++ = (uint8_t)left;
	at += perfetto__protos__trace_packet__pack(k, at);
	p->o->len += (size_t)(at - begin);
}

static uint64_t moved(const struct page *p, int64_t t)
{
	return (uint64_t)t + p->shift;
}

/* --- interned --- */

/* The first packet of a sequence: categories and annotations. */
static void begin_sequence(struct page *p, uint32_t sequence)
{
	MSG(EventCategory) category[CATEGORIES], *categories[CATEGORIES];
	MSG(DebugAnnotationName) name[ANNOTATIONS], *names[ANNOTATIONS];
	MSG(InternedData) interned = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	MSG(TracePacket) k;
	size_t i;

	p->sequence = sequence;
	for (i = 1; i < CATEGORIES; i++) {
		perfetto__protos__event_category__init(&category[i]);
		category[i].has_iid = true;
		category[i].iid = i;
		category[i].name = (char *)category_names[i];
		categories[i - 1] = &category[i];
	}
	for (i = 1; i < ANNOTATIONS; i++) {
		perfetto__protos__debug_annotation_name__init(&name[i]);
		name[i].has_iid = true;
		name[i].iid = i;
		name[i].name = (char *)annotation_names[i];
		names[i - 1] = &name[i];
	}
	interned.event_categories = categories;
	interned.n_event_categories = CATEGORIES - 1;
	interned.debug_annotation_names = names;
	interned.n_debug_annotation_names = ANNOTATIONS - 1;
	perfetto__protos__trace_packet__init(&k);
	k.interned_data = &interned;
	k.has_sequence_flags = true;
	k.sequence_flags = 1;
	put_packet(p, &k);
}

static void intern(struct page *p, uint64_t iid, const char *text, size_t len)
{
	char valid[2 * WIRE_STRING_BYTES_MAX];
	MSG(EventName) name = PERFETTO__PROTOS__EVENT_NAME__INIT, *names[] = { &name };
	MSG(InternedData) interned = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	MSG(TracePacket) k;

	view_text_valid(valid, sizeof(valid), text, len);
	name.has_iid = true;
	name.iid = iid;
	name.name = valid;
	interned.event_names = names;
	interned.n_event_names = 1;
	perfetto__protos__trace_packet__init(&k);
	k.interned_data = &interned;
	k.has_sequence_flags = true;
	k.sequence_flags = 2;
	put_packet(p, &k);
}

/* A long text that several annotations have. */
static void intern_text(struct page *p, uint32_t iid, const char *text, size_t len)
{
	char valid[2 * WIRE_STRING_BYTES_MAX];
	MSG(InternedString) string = PERFETTO__PROTOS__INTERNED_STRING__INIT;
	MSG(InternedString) * strings[] = { &string };
	MSG(InternedData) interned = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	MSG(TracePacket) k;

	string.has_iid = string.has_str = true;
	string.iid = iid;
	string.str.len = view_text_valid(valid, sizeof(valid), text, len);
	string.str.data = (uint8_t *)valid;
	interned.debug_annotation_string_values = strings;
	interned.n_debug_annotation_string_values = 1;
	perfetto__protos__trace_packet__init(&k);
	k.interned_data = &interned;
	k.has_sequence_flags = true;
	k.sequence_flags = 2;
	put_packet(p, &k);
}

static bool first_time(uint8_t *bits, uint32_t i)
{
	bool first = !(bits[i / 8] & 1u << i % 8);

	bits[i / 8] |= (uint8_t)(1u << i % 8);
	return first;
}

static uint64_t own_name(struct page *p, uint32_t i, const char *text)
{
	if (first_time(p->own_named, i))
		intern(p, OWN_NAMES + i, text, strlen(text));
	return OWN_NAMES + i;
}

static uint64_t name_of(struct page *p, const struct wire_event *e, const char *otherwise)
{
	size_t len;
	const char *text = view_export_name(p->s, e->name, &len);

	if (!len)
		return own_name(p, OWN_COPIES + (e->kind & 7u) * 8 + (e->op & 7u), otherwise);
	if (first_time(p->named, e->name))
		intern(p, e->name, text, len);
	return e->name;
}

static uint64_t op_name(struct page *p, const struct wire_event *e)
{
	char text[VIEW_EXPORT_COPY_BYTES];
	uint32_t i = (e->copy & 15u) << 8 | (e->src & 15u) << 4 | (e->dst & 15u);
	size_t len;

	view_export_name(p->s, e->name, &len);
	if (e->op == WIRE_OP_COPY && !len)
		return own_name(p, i, view_export_copy_name(text, e));
	return name_of(p, e, view_export_op_name(e));
}

/* --- tracks --- */

static void put_track(void *arg, const struct view_track_facts *t)
{
	struct page *p = arg;
	MSG(ProcessDescriptor) process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
	MSG(ThreadDescriptor) thread = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
	MSG(TrackDescriptor) d = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	char name[2 * VIEW_TRACK_NAME];
	MSG(TracePacket) k;

	view_text_valid(name, sizeof(name), t->name, strlen(t->name));
	d.has_uuid = true;
	d.uuid = t->uuid;
	d.has_parent_uuid = t->parent != 0;
	d.parent_uuid = t->parent;
	d.name = name;
	d.has_sibling_order_rank = true;
	d.sibling_order_rank = t->rank;
	d.description = (char *)t->description;
	if (t->what == VIEW_TRACK_PROCESS) {
		process.has_pid = true;
		process.pid = (int32_t)t->pid;
		process.process_name = name;
		d.process = &process;
		d.name = NULL;
	} else if (t->what == VIEW_TRACK_THREAD) {
		thread.has_pid = thread.has_tid = true;
		thread.pid = (int32_t)t->pid;
		thread.tid = (int32_t)t->tid;
		thread.thread_name = name;
		d.thread = &thread;
		d.name = NULL;
		d.has_parent_uuid = false;
	}
	perfetto__protos__trace_packet__init(&k);
	k.track_descriptor = &d;
	put_packet(p, &k);
}

/* --- slices --- */

struct slice {
	int64_t start, end;
	uint64_t track, name, flow, ends_flow; /* flows: 0 none */
	enum category category;
	MSG(DebugAnnotation) note[8], *notes[8];
	size_t note_count;
};

static void note_uint(struct slice *s, enum annotation a, uint64_t v)
{
	MSG(DebugAnnotation) *n = &s->note[s->note_count];

	perfetto__protos__debug_annotation__init(n);
	n->has_name_iid = n->has_uint_value = true;
	n->name_iid = a;
	n->uint_value = v;
	s->notes[s->note_count++] = n;
}

static void note_text(struct slice *s, enum annotation a, const char *text)
{
	MSG(DebugAnnotation) *n = &s->note[s->note_count];

	perfetto__protos__debug_annotation__init(n);
	n->has_name_iid = true;
	n->name_iid = a;
	n->string_value = (char *)text;
	s->notes[s->note_count++] = n;
}

static void note_long(struct page *p, struct slice *s, enum annotation a, uint32_t string)
{
	MSG(DebugAnnotation) *n = &s->note[s->note_count];
	size_t len;
	const char *text = view_export_name(p->s, string, &len);

	if (!len)
		return;
	if (first_time(p->stack_told, string))
		intern_text(p, string, text, len);
	perfetto__protos__debug_annotation__init(n);
	n->has_name_iid = n->has_string_value_iid = true;
	n->name_iid = a;
	n->string_value_iid = string;
	s->notes[s->note_count++] = n;
}

/* A slice, or an instant if it has no length and is told to be one. */
static void put_event(struct page *p, struct slice *s, bool instant)
{
	MSG(TrackEvent) e = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	uint64_t category = s->category;
	MSG(TracePacket) k;

	perfetto__protos__trace_packet__init(&k);
	k.track_event = &e;
	k.has_timestamp = true;
	k.timestamp = moved(p, s->start);
	k.has_sequence_flags = true;
	k.sequence_flags = 2;
	e.has_type = e.has_track_uuid = e.has_name_iid = true;
	e.type = instant ? PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT
			 : PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
	e.track_uuid = s->track;
	e.name_iid = s->name;
	e.category_iids = &category;
	e.n_category_iids = 1;
	e.debug_annotations = s->notes;
	e.n_debug_annotations = s->note_count;
	e.flow_ids = &s->flow;
	e.n_flow_ids = s->flow != 0;
	e.terminating_flow_ids = &s->ends_flow;
	e.n_terminating_flow_ids = s->ends_flow != 0;
	put_packet(p, &k);
	p->x->rows++;
	if (instant)
		return;
	k.timestamp = moved(p, s->end);
	k.sequence_flags = 0;
	k.has_sequence_flags = false;
	perfetto__protos__track_event__init(&e);
	e.has_type = e.has_track_uuid = true;
	e.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	e.track_uuid = s->track;
	put_packet(p, &k);
}

static void put_slice(struct page *p, struct slice *s)
{
	put_event(p, s, false);
}

static int put_op(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	struct slice s = { .start = e->start_ns, .end = e->end_ns, .category = CAT_OP };
	int err = view_track_stream(&p->tracks, view_export_gpu(p->s, e->device), p->source, e,
				    &s.track);

	if (err)
		return err;
	s.name = op_name(p, e);
	if (e->corr) {
		s.ends_flow = view_export_flow(p->source, e->corr);
		note_uint(&s, ANN_CORRELATION, e->corr);
	}
	if (e->bytes)
		note_uint(&s, ANN_BYTES, e->bytes);
	put_slice(p, &s);
	return p->o->err;
}

static int put_call(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	struct slice s = { .start = e->start_ns, .end = e->end_ns, .category = CAT_CALL };
	int err = view_track_thread(&p->tracks, p->source, e, VIEW_TRACK_CALLS, &s.track);

	if (err || e->end_ns < e->start_ns)
		return err;
	s.name = name_of(p, e, "call");
	if (e->corr) {
		s.flow = view_export_flow(p->source, e->corr);
		note_uint(&s, ANN_CORRELATION, e->corr);
	}
	put_slice(p, &s);
	return p->o->err;
}

static int put_range(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	bool loader = e->op == WIRE_RANGE_LOADER;
	struct slice s = { .start = e->start_ns,
			   .end = e->end_ns,
			   .category = loader ? CAT_LOADER : CAT_RANGE };
	int err = view_track_thread(&p->tracks, p->source, e,
				    loader ? VIEW_TRACK_LOADER : VIEW_TRACK_RANGES, &s.track);

	if (err || e->end_ns < e->start_ns)
		return err;
	s.name = name_of(p, e, "range");
	put_slice(p, &s);
	return p->o->err;
}

static int put_sync(void *arg, const struct wire_event *e)
{
	static const char *const names[] = { "synchronise", "wait for an event", "stream waits",
					     "wait for a stream", "wait for a context" };
	struct page *p = arg;
	struct slice s = { .start = e->start_ns, .end = e->end_ns, .category = CAT_SYNC };
	uint32_t gpu = view_export_gpu(p->s, view_export_sync_device(p->s, e));
	uint32_t op = e->op < 5 ? e->op : 0;
	int err;

	if (gpu == ANA_MAP_NONE || e->end_ns < e->start_ns)
		return 0;
	err = view_track_stream(&p->tracks, gpu, p->source, e, &s.track);
	if (err)
		return err;
	s.name = own_name(p, OWN_COPIES + WIRE_KIND_SYNC * 8 + op, names[op]);
	put_slice(p, &s);
	return p->o->err;
}

static int put_piece(void *arg, const struct ana_piece *q)
{
	struct page *p = arg;
	struct slice s = { .start = q->start_ns, .end = q->end_ns, .category = CAT_IDLE };
	int err = view_track_idle(&p->tracks, q, &s.track);

	if (err)
		return err;
	s.name = own_name(p, (uint32_t)q->class, ana_class_names[q->class]);
	note_text(&s, ANN_STATE, !q->gap ? "outside" : q->queued ? "queued" : "empty");
	note_text(&s, ANN_CONFIDENCE, ana_confidence_names[q->confidence]);
	if (q->pid) {
		note_uint(&s, ANN_PID, (uint64_t)q->pid);
		note_uint(&s, ANN_TID, (uint64_t)q->tid);
	}
	put_slice(p, &s);
	return p->o->err;
}

/* --- what threads and workers did --- */

/* The innermost function of the Python stack. */
static uint64_t stack_name(struct page *p, const struct wire_sample *w)
{
	size_t len;
	const char *text = view_export_name(p->s, w->stack, &len);
	size_t n = strcspn(text, "\t\n");

	if (!len)
		return own_name(p, OWN_DOING + (w->wait & 15u), view_export_doing(w));
	if (first_time(p->stack_named, w->stack))
		intern(p, STACK_NAMES + w->stack, text, n < len ? n : len);
	return STACK_NAMES + w->stack;
}

static int put_sample(void *arg, const struct wire_sample *w)
{
	struct page *p = arg;
	struct slice s = { .start = w->t_ns, .end = w->t_ns, .category = CAT_SAMPLE };
	int err = view_track_sample(&p->tracks, p->source, w, &s.track);

	if (err)
		return err;
	s.name = stack_name(p, w);
	note_text(&s, ANN_ROLE, view_export_role(w->role));
	note_text(&s, ANN_DOING, view_export_doing(w));
	note_long(p, &s, ANN_TARGET, w->target);
	note_long(p, &s, ANN_STACK, w->stack);
	note_long(p, &s, ANN_NATIVE, w->native);
	put_event(p, &s, true);
	return p->o->err;
}

static int put_batch(void *arg, const struct wire_batch *b)
{
	static const char *const names[] = { "batch",  "makes the iterator", "makes a batch",
					     "next()", "pins a batch",	     "ends the iterator" };
	uint32_t what = b->what < sizeof(names) / sizeof(names[0]) ? b->what : 0;
	struct page *p = arg;
	struct slice s = { .start = b->start_ns, .end = b->end_ns, .category = CAT_BATCH };
	int err = view_track_batch(&p->tracks, p->source, b, &s.track);

	if (err)
		return err;
	s.name = own_name(p, OWN_BATCHES + what, names[what]);
	note_uint(&s, ANN_BATCH, b->batch);
	if (b->rchar_bytes)
		note_uint(&s, ANN_READ, b->rchar_bytes);
	put_slice(p, &s);
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
static void put_clocks(struct page *p)
{
	const struct ana_result *r = p->x->summary->result;
	uint64_t now = r->gpus ? moved(p, r->gpu[0].held_start_ns) : 0;
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
	put_packet(p, &k);
}

static void put_caveat(void *arg, const char *text)
{
	struct view_track_facts t = { .what = VIEW_TRACK_OTHER, .name = text, .rank = -1 };
	struct page *p = arg;

	t.uuid = view_tracks_uuid(&p->tracks);
	put_track(p, &t);
}

static int put_source(struct page *p, size_t i)
{
	static const struct {
		uint8_t kind;
		int (*take)(void *arg, const struct wire_event *e);
	} kinds[] = {
		{ WIRE_KIND_OP, put_op },
		{ WIRE_KIND_API, put_call },
		{ WIRE_KIND_RANGE, put_range },
		{ WIRE_KIND_SYNC, put_sync },
	};
	size_t bytes = wire_strtab_count(p->x->source[i].s->s->strings) / 8 + 1, k;
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
		begin_sequence(p, (uint32_t)i + 2);
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && !err; k++)
		err = view_export_events(p->x, i, kinds[k].kind, kinds[k].take, p);
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
	struct page p = { .x = x, .o = &x->out };
	size_t i;
	int err;

	p.shift = 0 - (uint64_t)earliest(x);
	view_tracks_init(&p.tracks, x, put_track, &p);
	begin_sequence(&p, 1);
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
