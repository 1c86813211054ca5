/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One array of events per kind, one encoder, one buffer for the frame at hand.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clockpoll.h"
#include "core/errtext.h"
#include "core/log.h"
#include "loss.h"
#include "transport.h"
#include "wire/block.h"
#include "wire/encoder.h"

#define BLOCK_EVENTS 16384u
#define ZSTD_LEVEL 3
#define EVENT_BYTES 4u /* of one in a frame, until blocks have shown it */
#define SAMPLE_BYTES 24u /* of one sample or batch in a frame, about */

static struct {
	struct wire_encoder *encoder;
	struct wire_strtab *names;
	uint32_t names_sent; /* ids up to here are in frames */
	struct wire_event *event[WIRE_KIND_MAX];
	uint32_t count[WIRE_KIND_MAX];
	struct wire_buf out;
	struct prof_stream_device device[PROF_STREAM_DEVICES];
	uint32_t devices;
	uint64_t events, launches, frames;
	uint64_t block_bytes, block_events; /* of the blocks so far */
	bool stopped;
} st;

int prof_stream_open(const uint8_t id[WIRE_STREAM_ID_BYTES])
{
	int kind;

	memset(&st, 0, sizeof(st));
	st.encoder = wire_encoder_new(id, ZSTD_LEVEL);
	st.names = wire_strtab_new();
	if (!st.encoder || !st.names)
		return -ENOMEM;
	for (kind = WIRE_KIND_OP; kind < WIRE_KIND_MAX; kind++) {
		st.event[kind] = malloc(BLOCK_EVENTS * sizeof(struct wire_event));
		if (!st.event[kind])
			return -ENOMEM;
	}
	return 0;
}

struct wire_strtab *prof_stream_names(void)
{
	return st.names;
}

/* Hands over the one frame in st.out and empties it. */
static void hand_over(int64_t t0_ns, int64_t t1_ns)
{
	if (st.out.len) {
		prof_transport_push(st.out.data, st.out.len, t0_ns, t1_ns);
		st.frames++;
	}
	st.out.len = 0;
}

static void send_names(void)
{
	uint32_t next;
	int err;

	while (st.names_sent < wire_strtab_count(st.names)) {
		next = st.names_sent + 1;
		err = wire_encoder_strings(st.encoder, st.names, next, &next, prof_now_ns(),
					   &st.out);
		if (err || next <= st.names_sent + 1) {
			prof_debug("strings: %s", prof_error_text(-err));
			st.out.len = 0;
			return;
		}
		hand_over(0, -1);
		st.names_sent = next - 1;
	}
}

static void count_device(const struct wire_block_device *d, int64_t t0_ns)
{
	struct prof_stream_device *to;

	if (d->device >= PROF_STREAM_DEVICES)
		return;
	to = &st.device[d->device];
	if (!to->first_ns)
		to->first_ns = t0_ns;
	to->busy_ns += d->busy_ns;
	to->ops += d->ops;
	if (d->device >= st.devices)
		st.devices = d->device + 1;
}

static void count_block(const struct wire_block_head *h)
{
	uint32_t i;

	st.events += h->count;
	if (h->kind == WIRE_KIND_API)
		st.launches += h->count;
	for (i = 0; h->kind == WIRE_KIND_OP && i < h->devices; i++)
		count_device(&h->device[i], h->t0_ns);
}

/* Events that get into no frame: recorded as if their frame had been lost. */
static void lose_events(int kind)
{
	int64_t t0_ns = INT64_MAX, t1_ns = INT64_MIN;
	uint32_t i;

	for (i = 0; i < st.count[kind]; i++) {
		const struct wire_event *ev = &st.event[kind][i];

		t0_ns = ev->start_ns < t0_ns ? ev->start_ns : t0_ns;
		t1_ns = ev->end_ns > t1_ns ? ev->end_ns : t1_ns;
	}
	prof_loss_span(WIRE__LOSS_REASON__LOSS_FRAMES, t0_ns, t1_ns + 1, st.count[kind]);
	st.count[kind] = 0;
}

/* Of a block of these events, with a quarter on top. */
static size_t expected_bytes(int kind)
{
	if (!st.block_events)
		return st.count[kind] * EVENT_BYTES;
	return (size_t)(st.count[kind] * st.block_bytes / st.block_events * 5 / 4);
}

static void make_block(int kind)
{
	const struct wire_block_head *head = wire_encoder_head(st.encoder);
	int err;

	if (!st.count[kind])
		return;
	if (!prof_transport_fits(expected_bytes(kind))) { /* before it gets a number */
		lose_events(kind);
		return;
	}
	send_names();
	err = wire_encoder_block(st.encoder, st.event[kind], st.count[kind], NULL, prof_now_ns(),
				 &st.out);
	if (err) {
		prof_debug("block of kind %d: %s", kind, prof_error_text(-err));
		st.out.len = 0;
		lose_events(kind);
		return;
	}
	st.count[kind] = 0;
	st.block_bytes += st.out.len;
	st.block_events += head->count;
	count_block(head);
	hand_over(head->t0_ns, head->t1_ns);
}

/* Rows that were just made into the frame in st.out, or could not be. */
static bool hand_over_rows(const char *what, int err)
{
	const struct wire_block_head *head = wire_encoder_head(st.encoder);

	if (err) {
		prof_debug("%s: %s", what, prof_error_text(-err));
		st.out.len = 0;
		return false;
	}
	hand_over(head->t0_ns, head->t1_ns);
	return true;
}

bool prof_stream_samples(const struct wire_sample *s, size_t n)
{
	if (!n || st.stopped || !prof_transport_fits(n * SAMPLE_BYTES))
		return !n;
	send_names();
	return hand_over_rows("samples",
			      wire_encoder_samples(st.encoder, s, n, prof_now_ns(), &st.out));
}

bool prof_stream_batches(const struct wire_batch *b, size_t n)
{
	if (!n || st.stopped || !prof_transport_fits(n * SAMPLE_BYTES))
		return !n;
	send_names();
	return hand_over_rows("batches",
			      wire_encoder_batches(st.encoder, b, n, prof_now_ns(), &st.out));
}

struct wire_event *prof_stream_slot(uint8_t kind)
{
	return &st.event[kind][st.count[kind]];
}

void prof_stream_commit(uint8_t kind)
{
	if (st.stopped)
		return;
	if (++st.count[kind] == BLOCK_EVENTS)
		make_block(kind);
}

void prof_stream_add(const struct wire_event *ev)
{
	if (!ev->kind || ev->kind >= WIRE_KIND_MAX)
		return;
	*prof_stream_slot(ev->kind) = *ev;
	prof_stream_commit(ev->kind);
}

void prof_stream_blocks(void)
{
	int kind;

	for (kind = WIRE_KIND_OP; kind < WIRE_KIND_MAX; kind++)
		make_block(kind);
}

void prof_stream_stop(void)
{
	prof_stream_blocks();
	st.stopped = true;
}

void prof_stream_message(enum wire_frame_type type, const ProtobufCMessage *msg)
{
	int err = wire_encoder_message(st.encoder, type, msg, prof_now_ns(), &st.out);

	if (err) {
		prof_debug("message of type %d: %s", type, prof_error_text(-err));
		st.out.len = 0;
		return;
	}
	hand_over(0, -1);
}

void prof_stream_losses(int64_t end_ns)
{
	Wire__LossSpan *list[PROF_LOSS_SPANS];
	Wire__Loss msg = WIRE__LOSS__INIT;

	msg.n_spans = prof_loss_take(list, end_ns);
	msg.spans = list;
	if (msg.n_spans)
		prof_stream_message(WIRE_FRAME_LOSS, &msg.base);
}

const struct prof_stream_device *prof_stream_device(uint32_t ordinal)
{
	return &st.device[ordinal < PROF_STREAM_DEVICES ? ordinal : PROF_STREAM_DEVICES - 1];
}

uint32_t prof_stream_device_count(void)
{
	return st.devices;
}

void prof_stream_stats(struct prof_stream_stats *s)
{
	s->events = st.events;
	s->launches = st.launches;
	s->frames = st.frames;
	s->memory = wire_encoder_bytes(st.encoder) + wire_strtab_bytes(st.names) + st.out.room +
		    (WIRE_KIND_MAX - 1) * BLOCK_EVENTS * sizeof(struct wire_event);
}
