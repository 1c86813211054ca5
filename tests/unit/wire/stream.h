/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small stream of every kind of frame, made with the encoder, for tests that then hurt it; and
 * one block as training makes them, for benches.
 */
#ifndef TESTS_STREAM_H
#define TESTS_STREAM_H

#include "events.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

struct t_stream {
	struct wire_buf bytes;
	size_t at[64]; /* where each frame begins, and where the last one ends */
	unsigned int frames;
};

/* Kernels and copies of training steps as one Block frame, of a stream whose id is all zeros. */
static inline void t_job_block(struct wire_buf *out, size_t events)
{
	static const uint8_t id[WIRE_STREAM_ID_BYTES];
	struct wire_encoder *e = wire_encoder_new(id, 3);
	struct wire_event *ev = calloc(events, sizeof(*ev));
	struct t_job job = t_job_begin(5, 3);
	size_t i;

	for (i = 0; i < events; i++)
		ev[i] = t_job_op(&job);
	REQUIRE(e && !wire_encoder_block(e, ev, events, NULL, 1, out));
	wire_encoder_free(e);
	free(ev);
}

static inline void t_stream_mark(struct t_stream *s)
{
	s->at[++s->frames] = s->bytes.len;
}

static inline void t_stream_block(struct t_stream *s, struct wire_encoder *e, uint8_t kind,
				  size_t n, uint64_t *rnd)
{
	struct wire_event *ev = calloc(n, sizeof(*ev));
	struct t_job j = t_job_begin(t_random(rnd), 3);
	size_t i;

	for (i = 0; i < n; i++) {
		ev[i] = t_job_op(&j);
		if (kind != WIRE_KIND_OP)
			ev[i] = t_job_api(&j, &ev[i]);
		ev[i].kind = kind;
	}
	REQUIRE(!wire_encoder_block(e, ev, n, NULL, 1000, &s->bytes));
	t_stream_mark(s);
	free(ev);
}

/*
 * Hello, names, blocks of @n events of each kind, a pulse, Bye. Free s->bytes with wire_buf_fini.
 */
static inline void t_stream_make(struct t_stream *s, const char id[WIRE_STREAM_ID_BYTES], size_t n,
				 uint64_t seed)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)id, 3);
	struct wire_strtab *names = wire_strtab_new();
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Device device = WIRE__DEVICE__INIT, *devices[1] = { &device };
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	Wire__Bye bye = WIRE__BYE__INIT;
	uint32_t next, i;
	uint8_t kind;

	memset(s, 0, sizeof(*s));
	REQUIRE(e && names);
	for (i = 0; i < 120; i++) {
		char name[64];

		snprintf(name, sizeof(name), "void kernel_%u<float, %u>(float *)", i, i * i);
		wire_strtab_intern(names, name, strlen(name));
	}
	device.name = (char *)"Test GPU";
	hello.host = (char *)"box";
	hello.pid = 42;
	hello.n_devices = 1;
	hello.devices = devices;
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_HELLO, &hello.base, 1, &s->bytes));
	t_stream_mark(s);
	REQUIRE(!wire_encoder_strings(e, names, 1, &next, 2, &s->bytes) && next == 121);
	t_stream_mark(s);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		t_stream_block(s, e, kind, n, &seed);
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_PULSE, &pulse.base, 3, &s->bytes));
	t_stream_mark(s);
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_BYE, &bye.base, 4, &s->bytes));
	t_stream_mark(s);
	wire_strtab_free(names);
	wire_encoder_free(e);
}

/* Writes bytes to a file, which is replaced. */
static inline void t_write_file(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	REQUIRE(f);
	REQUIRE(fwrite(bytes, 1, len, f) == len);
	REQUIRE(!fclose(f));
}

#endif
