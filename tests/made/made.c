/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void made_need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(1);
}

void made_open(struct made_stream *s, const char *path, const uint8_t id[16])
{
	memset(s, 0, sizeof(*s));
	s->file = fopen(path, "wb");
	s->encoder = wire_encoder_new(id, 3);
	s->names = wire_strtab_new();
	s->next_name = 1;
	made_need(s->file && s->encoder && s->names, path);
}

void made_close(struct made_stream *s)
{
	int kind;

	made_need(!fclose(s->file), "cannot write");
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		free(s->rows[kind].ev);
	wire_encoder_free(s->encoder);
	wire_strtab_free(s->names);
	wire_buf_fini(&s->out);
	memset(s, 0, sizeof(*s));
}

/* Writes the frames in s->out. @err: of making the last one. */
static void spill(struct made_stream *s, int err, const char *what)
{
	made_need(!err, what);
	made_need(fwrite(s->out.data, 1, s->out.len, s->file) == s->out.len, "cannot write");
	s->out.len = 0;
}

uint32_t made_name(struct made_stream *s, const char *text, size_t len)
{
	return len ? wire_strtab_intern(s->names, text, len) : 0;
}

struct wire_event *made_event(struct made_stream *s, int kind, int64_t start_ns, int64_t end_ns)
{
	struct wire_event *e;

	made_need(s->file != NULL, "a row before its stream");
	if (s->rows[kind].n == s->rows[kind].room) {
		s->rows[kind].room = s->rows[kind].room ? 2 * s->rows[kind].room : 1024;
		e = reallocarray(s->rows[kind].ev, s->rows[kind].room, sizeof(*e));
		made_need(e != NULL, "no memory");
		s->rows[kind].ev = e;
	}
	e = &s->rows[kind].ev[s->rows[kind].n++];
	*e = (struct wire_event){ .kind = (uint8_t)kind, .start_ns = start_ns, .end_ns = end_ns };
	return e;
}

static int by_end(const void *a, const void *b)
{
	const struct wire_event *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

void made_sort(struct made_stream *s, int kind)
{
	if (s->rows[kind].n)
		qsort(s->rows[kind].ev, s->rows[kind].n, sizeof(*s->rows[kind].ev), by_end);
}

void made_names(struct made_stream *s, int64_t now)
{
	while (s->next_name <= wire_strtab_count(s->names))
		spill(s,
		      wire_encoder_strings(s->encoder, s->names, s->next_name, &s->next_name, now,
					   &s->out),
		      "names");
}

void made_block(struct made_stream *s, int kind, size_t first, size_t n, int64_t now)
{
	made_names(s, now);
	if (n)
		spill(s,
		      wire_encoder_block(s->encoder, s->rows[kind].ev + first, n, NULL, now,
					 &s->out),
		      "events");
}

void made_flush_kind(struct made_stream *s, int kind, int64_t now)
{
	size_t i, n;

	made_names(s, now);
	for (i = 0; i < s->rows[kind].n; i += n) {
		n = s->rows[kind].n - i;
		n = n < WIRE_BLOCK_EVENTS_MAX ? n : WIRE_BLOCK_EVENTS_MAX;
		made_block(s, kind, i, n, now);
	}
	s->rows[kind].n = 0;
}

void made_flush(struct made_stream *s, int64_t now)
{
	int kind;

	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		made_flush_kind(s, kind, now);
}

void made_samples(struct made_stream *s, const struct wire_sample *row, size_t n, size_t most,
		  int64_t now)
{
	size_t i;

	made_names(s, now);
	for (i = 0; i < n; i += most)
		spill(s,
		      wire_encoder_samples(s->encoder, row + i, n - i < most ? n - i : most, now,
					   &s->out),
		      "samples");
}

void made_batches(struct made_stream *s, const struct wire_batch *row, size_t n, size_t most,
		  int64_t now)
{
	size_t i;

	made_names(s, now);
	for (i = 0; i < n; i += most)
		spill(s,
		      wire_encoder_batches(s->encoder, row + i, n - i < most ? n - i : most, now,
					   &s->out),
		      "batches");
}

void made_message(struct made_stream *s, enum wire_frame_type type, const ProtobufCMessage *msg,
		  int64_t now)
{
	spill(s, wire_encoder_message(s->encoder, type, msg, now, &s->out), "message");
}

void made_pulse(struct made_stream *s, int64_t t_ns, int64_t now)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;

	pulse.t_ns = pulse.complete_ns = t_ns;
	pulse.level = (char *)"1";
	made_message(s, WIRE_FRAME_PULSE, &pulse.base, now);
}

void made_bye(struct made_stream *s, int64_t t_ns, int64_t now)
{
	Wire__Bye bye = WIRE__BYE__INIT;

	bye.t_ns = t_ns;
	bye.reason = (char *)"exit";
	made_message(s, WIRE_FRAME_BYE, &bye.base, now);
}

void made_hello_init(struct made_hello *h, const char *host, int64_t pid, int64_t start_ns,
		     const char *gpu)
{
	memset(h->uuid, 0, sizeof(h->uuid));
	wire__hello__init(&h->m);
	wire__device__init(&h->device);
	h->devices[0] = &h->device;
	h->device.uuid.data = h->uuid;
	h->device.uuid.len = sizeof(h->uuid);
	h->device.name = (char *)(uintptr_t)gpu;
	h->m.host = (char *)(uintptr_t)host;
	h->m.pid = pid;
	h->m.process_start_ns = h->m.armed_ns = start_ns;
	h->m.clock = (char *)"realtime";
	h->m.level = (char *)"1";
	h->m.n_devices = 1;
	h->m.devices = h->devices;
}
