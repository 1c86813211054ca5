/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and messages to frames: collects events by kind, makes blocks of them, sends each string
 * before the block that names it, and hands the frames to the transport. Sender thread.
 */
#ifndef PROF_STREAM_H
#define PROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <protobuf-c/protobuf-c.h>
#include "wire/event.h"
#include "wire/evidence.h"
#include "wire/frame.h"
#include "wire/strtab.h"

#define PROF_STREAM_DEVICES 64

struct prof_stream_device { /* since the stream began */
	uint64_t busy_ns, ops;
	int64_t first_ns; /* start of its first operation */
};

struct prof_stream_stats {
	uint64_t events, launches;
	uint64_t frames;
	size_t memory;
};

/* 0 or -ENOMEM. */
int prof_stream_open(const uint8_t id[WIRE_STREAM_ID_BYTES]);

/* The table of all names; whatever is interned before an event is added is sent before it. */
struct wire_strtab *prof_stream_names(void);

/*
 * Where the next event of this kind (enum wire_kind) will stand: to be filled in place, for a copy
 * of fields that were just written costs as much as the translation. It counts once
 * prof_stream_commit was called, which makes a block when its kind has enough.
 */
struct wire_event *prof_stream_slot(uint8_t kind);
void prof_stream_commit(uint8_t kind);

/* Both in one, by a copy. Events of no known kind are dropped. */
void prof_stream_add(const struct wire_event *ev);

/*
 * Frames of rows whose string ids are those of the table of all names. @n may be 0. False: they did
 * not fit into what the trace may grow to, or could not be made; nothing of them is written.
 */
bool prof_stream_samples(const struct wire_sample *s, size_t n);
bool prof_stream_batches(const struct wire_batch *b, size_t n);

/* Makes blocks of what is there. */
void prof_stream_blocks(void);

/* Writes what is there; events are taken and forgotten from then on, messages go on. */
void prof_stream_stop(void);

/* protobuf-c has no const strings and does not write to them. */
static inline char *prof_text(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* One message frame. */
void prof_stream_message(enum wire_frame_type type, const ProtobufCMessage *msg);

/*
 * A Loss frame of what was lost since the last one (loss.h); bad stamps get @end_ns as their end.
 */
void prof_stream_losses(int64_t end_ns);

const struct prof_stream_device *prof_stream_device(uint32_t ordinal);
uint32_t prof_stream_device_count(void); /* highest ordinal seen plus 1 */
void prof_stream_stats(struct prof_stream_stats *s);

#endif
