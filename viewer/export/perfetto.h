/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of a Perfetto trace: names that are interned, tracks, slices with annotations. Private to
 * perfetto.c, which says what is written. Each packet goes to the output at once; what goes wrong
 * there stands in view_out.err.
 */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

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

#define STACK_NAMES (UINT64_C(1) << 33) /* from here on: the innermost function of a stack */
#define OWN_NAMES (UINT64_C(1) << 32) /* iids from here on: copies, operations without a name */
#define OWN_COPIES 4096u /* kinds of copies: 16 directions, 16 x 16 kinds of memory */
#define OWN_DOING (OWN_COPIES + 64u) /* before it 8 operations, calls, ranges per kind */
#define OWN_BATCHES (OWN_DOING + 16u)
#define OWN_MAX (OWN_BATCHES + 8u)

struct perfetto {
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

struct perfetto_slice {
	int64_t start, end;
	uint64_t track, name, flow, ends_flow; /* flows: 0 none */
	enum category category;
	MSG(DebugAnnotation) note[8], *notes[8];
	size_t note_count;
};

void perfetto_packet(struct perfetto *p, MSG(TracePacket) * k);
uint64_t perfetto_time(const struct perfetto *p, int64_t t);

/* The first packet of a sequence: categories and annotations. */
void perfetto_begin(struct perfetto *p, uint32_t sequence);

/*
 * Names: @iid is @text from now on; was bit @i not set yet (it is then); one of ours, below
 * OWN_MAX.
 */
void perfetto_intern(struct perfetto *p, uint64_t iid, const char *text, size_t len);
bool perfetto_first(uint8_t *bits, uint32_t i);
uint64_t perfetto_own_name(struct perfetto *p, uint32_t i, const char *text);

void perfetto_track(void *perfetto, const struct view_track_facts *t);

/* Annotations of a slice, at most eight. long: a string of the trace, which several slices have. */
void perfetto_note_uint(struct perfetto_slice *s, enum annotation a, uint64_t v);
void perfetto_note_text(struct perfetto_slice *s, enum annotation a, const char *text);
void perfetto_note_long(struct perfetto *p, struct perfetto_slice *s, enum annotation a,
			uint32_t string);

/* A slice; or one that may be an instant, which has no length. */
void perfetto_put(struct perfetto *p, struct perfetto_slice *s);
void perfetto_event(struct perfetto *p, struct perfetto_slice *s, bool instant);

#endif
