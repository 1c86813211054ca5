/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hello out of its envelope. The bytes are hostile: sizes are bounded before anything is unpacked.
 */
#include "hello.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "wire/bounded.h"
#include "wire/session.pb-c.h"

#define RAW_MAX (1u << 20) /* a Hello is a few KiB; with long command lines some more */
#define MEMORY_MAX (8u << 20) /* all that is made of it */

/* The raw body in memory of its own. */
static int unpack(const struct wire_frame *f, const uint8_t *body, uint8_t **raw)
{
	size_t got;

	if (f->raw_len > RAW_MAX || (!(f->flags & WIRE_FRAME_FL_ZSTD) && f->raw_len != f->body_len))
		return -EBADMSG;
	*raw = malloc(f->raw_len ? f->raw_len : 1);
	if (!*raw)
		return -ENOMEM;
	if (!(f->flags & WIRE_FRAME_FL_ZSTD)) {
		memcpy(*raw, body, f->raw_len);
		return 0;
	}
	got = ZSTD_decompress(*raw, f->raw_len, body, f->body_len);
	if (!ZSTD_isError(got) && got == f->raw_len)
		return 0;
	free(*raw);
	return -EBADMSG;
}

static void copy_text(char *out, size_t room, const char *text)
{
	size_t len = strnlen(text, room - 1);

	memcpy(out, text, len);
	out[len] = '\0';
}

int coll_hello_read(struct coll_hello *h, const struct wire_frame *f, const uint8_t *payload)
{
	struct wire_bounded memory;
	Wire__Hello *msg;
	uint8_t *raw;
	int err = unpack(f, payload + f->head_len, &raw);

	if (err)
		return err;
	wire_bounded_init(&memory, MEMORY_MAX);
	msg = wire__hello__unpack(&memory.allocator, f->raw_len, raw);
	free(raw);
	if (!msg)
		return -EBADMSG;
	coll_run_name(h->run, msg->run_id);
	copy_text(h->host, sizeof(h->host), msg->host);
	h->pid = msg->pid;
	h->start_ns = msg->process_start_ns;
	wire__hello__free_unpacked(msg, &memory.allocator);
	return 0;
}
