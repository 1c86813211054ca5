/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include "wire/bounded.h"

#define RAW_MAX (1u << 20) /* a pulse is some hundred bytes; a Hello some KiB, or a long command */
#define MEMORY_MAX (8u << 20) /* all that is made of it */

struct live_reader {
	ZSTD_DCtx *zstd;
	uint8_t *raw; /* RAW_MAX, once needed */
};

struct live_reader *live_reader_new(void)
{
	return calloc(1, sizeof(struct live_reader));
}

void live_reader_free(struct live_reader *d)
{
	if (!d)
		return;
	ZSTD_freeDCtx(d->zstd);
	free(d->raw);
	free(d);
}

bool live_frame_wanted(const struct wire_frame *f)
{
	return f->type == WIRE_FRAME_HELLO || f->type == WIRE_FRAME_PULSE ||
	       f->type == WIRE_FRAME_FACTS || f->type == WIRE_FRAME_BYE;
}

/* The raw body, valid until the next call. */
static int unpack(struct live_reader *d, const struct wire_frame *f, const uint8_t *body,
		  const uint8_t **raw)
{
	*raw = body;
	if (f->raw_len > RAW_MAX)
		return -EBADMSG;
	if (!(f->flags & WIRE_FRAME_FL_ZSTD))
		return f->raw_len == f->body_len ? 0 : -EBADMSG;
	if (!d->zstd)
		d->zstd = ZSTD_createDCtx();
	if (!d->raw)
		d->raw = malloc(RAW_MAX);
	if (!d->zstd || !d->raw)
		return -ENOMEM;
	*raw = d->raw;
	size_t got = ZSTD_decompressDCtx(d->zstd, d->raw, f->raw_len, body, f->body_len);
	return !ZSTD_isError(got) && got == f->raw_len ? 0 : -EBADMSG;
}

static int apply_message(struct live_run *r, const struct wire_frame *f, const ProtobufCMessage *m,
			 const struct live_when *when)
{
	if (f->type == WIRE_FRAME_HELLO)
		return live_run_hello(r, f->stream, f->seq, (const Wire__Hello *)m);
	if (f->type == WIRE_FRAME_PULSE)
		return live_run_pulse(r, f->stream, f->seq, f->time_ns, (const Wire__Pulse *)m,
				      when);
	if (f->type == WIRE_FRAME_FACTS)
		return live_run_facts(r, f->stream, f->seq, (const Wire__Facts *)m);
	return live_run_bye(r, f->stream, f->seq, f->time_ns, (const Wire__Bye *)m, when);
}

/* What the frame says, in @memory, to be freed there; NULL: see *err. */
static ProtobufCMessage *message_of(struct live_reader *d, const struct wire_frame *f,
				    const uint8_t *payload, struct wire_bounded *memory, int *err)
{
	const ProtobufCMessageDescriptor *type =
		f->type == WIRE_FRAME_HELLO   ? &wire__hello__descriptor
		: f->type == WIRE_FRAME_PULSE ? &wire__pulse__descriptor
		: f->type == WIRE_FRAME_FACTS ? &wire__facts__descriptor
					      : &wire__bye__descriptor;
	ProtobufCMessage *m;
	const uint8_t *raw;

	*err = unpack(d, f, payload + f->head_len, &raw);
	if (*err)
		return NULL;
	wire_bounded_init(memory, MEMORY_MAX);
	m = protobuf_c_message_unpack(type, &memory->allocator, f->raw_len, raw);
	*err = m ? 0 : -EBADMSG;
	return m;
}

int live_run_frame(struct live_run *r, struct live_reader *d, const struct wire_frame *f,
		   const uint8_t *payload, const struct live_when *when)
{
	struct wire_bounded memory;
	ProtobufCMessage *m;
	int err;

	if (!live_frame_wanted(f))
		return 0;
	m = message_of(d, f, payload, &memory, &err);
	if (!m)
		return err;
	err = apply_message(r, f, m, when);
	protobuf_c_message_free_unpacked(m, &memory.allocator);
	return err;
}

int live_frame_facts(struct live_reader *d, const struct wire_frame *f, const uint8_t *payload,
		     struct live_facts *out)
{
	struct wire_bounded memory;
	const Wire__Facts *facts;
	ProtobufCMessage *m;
	int err;

	*out = (struct live_facts){ 0 };
	if (f->type != WIRE_FRAME_FACTS)
		return -EBADMSG;
	m = message_of(d, f, payload, &memory, &err);
	if (!m)
		return err;
	facts = (const Wire__Facts *)m;
	out->memory = facts->n_devices;
	for (size_t i = 0; i < facts->n_checkpoints; i++) {
		if (facts->checkpoints[i]->told > out->save)
			out->save = facts->checkpoints[i]->told;
		out->written |= facts->checkpoints[i]->state == WIRE__SAVE_STATE__SAVE_WRITTEN;
	}
	protobuf_c_message_free_unpacked(m, &memory.allocator);
	return 0;
}
