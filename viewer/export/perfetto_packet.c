/* SPDX-License-Identifier: Apache-2.0 */
#include "perfetto.h"

static const char *const category_names[CATEGORIES] = {
	[CAT_OP] = "gpu",	 [CAT_CALL] = "call",	     [CAT_RANGE] = "range",
	[CAT_LOADER] = "loader", [CAT_SYNC] = "stream wait", [CAT_IDLE] = "idle",
	[CAT_SAMPLE] = "sample", [CAT_BATCH] = "batch",
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

/* Field 1 of Trace, length-delimited. */
void perfetto_packet(struct perfetto *p, MSG(TracePacket) * k)
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

uint64_t perfetto_time(const struct perfetto *p, int64_t t)
{
	return (uint64_t)t + p->shift;
}

void perfetto_begin(struct perfetto *p, uint32_t sequence)
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
	perfetto_packet(p, &k);
}

void perfetto_intern(struct perfetto *p, uint64_t iid, const char *text, size_t len)
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
	perfetto_packet(p, &k);
}

/* A long text that several annotations have. */
static void intern_text(struct perfetto *p, uint32_t iid, const char *text, size_t len)
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
	perfetto_packet(p, &k);
}

bool perfetto_first(uint8_t *bits, uint32_t i)
{
	bool first = !(bits[i / 8] & 1u << i % 8);

	bits[i / 8] |= (uint8_t)(1u << i % 8);
	return first;
}

uint64_t perfetto_own_name(struct perfetto *p, uint32_t i, const char *text)
{
	if (perfetto_first(p->own_named, i))
		perfetto_intern(p, OWN_NAMES + i, text, strlen(text));
	return OWN_NAMES + i;
}

void perfetto_track(void *arg, const struct view_track_facts *t)
{
	struct perfetto *p = arg;
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
	perfetto_packet(p, &k);
}

void perfetto_note_uint(struct perfetto_slice *s, enum annotation a, uint64_t v)
{
	MSG(DebugAnnotation) *n = &s->note[s->note_count];

	perfetto__protos__debug_annotation__init(n);
	n->has_name_iid = n->has_uint_value = true;
	n->name_iid = a;
	n->uint_value = v;
	s->notes[s->note_count++] = n;
}

void perfetto_note_text(struct perfetto_slice *s, enum annotation a, const char *text)
{
	MSG(DebugAnnotation) *n = &s->note[s->note_count];

	perfetto__protos__debug_annotation__init(n);
	n->has_name_iid = true;
	n->name_iid = a;
	n->string_value = (char *)text;
	s->notes[s->note_count++] = n;
}

void perfetto_note_long(struct perfetto *p, struct perfetto_slice *s, enum annotation a,
			uint32_t string)
{
	MSG(DebugAnnotation) *n = &s->note[s->note_count];
	size_t len;
	const char *text = view_export_name(p->s, string, &len);

	if (!len)
		return;
	if (perfetto_first(p->stack_told, string))
		intern_text(p, string, text, len);
	perfetto__protos__debug_annotation__init(n);
	n->has_name_iid = n->has_string_value_iid = true;
	n->name_iid = a;
	n->string_value_iid = string;
	s->notes[s->note_count++] = n;
}

void perfetto_event(struct perfetto *p, struct perfetto_slice *s, bool instant)
{
	MSG(TrackEvent) e = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	uint64_t category = s->category;
	MSG(TracePacket) k;

	perfetto__protos__trace_packet__init(&k);
	k.track_event = &e;
	k.has_timestamp = true;
	k.timestamp = perfetto_time(p, s->start);
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
	perfetto_packet(p, &k);
	p->x->rows++;
	if (instant)
		return;
	k.timestamp = perfetto_time(p, s->end);
	k.sequence_flags = 0;
	k.has_sequence_flags = false;
	perfetto__protos__track_event__init(&e);
	e.has_type = e.has_track_uuid = true;
	e.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	e.track_uuid = s->track;
	perfetto_packet(p, &k);
}

void perfetto_put(struct perfetto *p, struct perfetto_slice *s)
{
	perfetto_event(p, s, false);
}
