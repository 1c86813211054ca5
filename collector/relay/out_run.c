/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a run, by what their names say.
 */
#include "out_run.h"

#include <stdlib.h>
#include <string.h>

#define HEX_DIGITS (2 * WIRE_STREAM_ID_BYTES)

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_id(const char *name, uint8_t id[WIRE_STREAM_ID_BYTES])
{
	size_t i;

	for (i = 0; i < HEX_DIGITS; i++) {
		int digit = nibble(name[i]);

		if (digit < 0)
			return false;
		id[i / 2] = (uint8_t)(i & 1 ? id[i / 2] << 4 | digit : digit);
	}
	return true;
}

static bool is_spool(const char *rest)
{
	size_t digits;

	if (*rest++ != '.')
		return false;
	digits = strspn(rest, "0123456789");
	return digits && digits < 10 && !strcmp(rest + digits, ".spool");
}

/* What kind of file @name is; -1: none that is forwarded. */
static int kind_of(const char *name, uint8_t id[WIRE_STREAM_ID_BYTES])
{
	if (coll_side_name_ok(name))
		return COLL_OUT_SIDE;
	if (!read_id(name, id))
		return -1;
	if (!strcmp(name + HEX_DIGITS, ".gst"))
		return COLL_OUT_FRAMES;
	return is_spool(name + HEX_DIGITS) ? COLL_OUT_SPOOL : -1;
}

int coll_out_kind_of(const char *name)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];

	return kind_of(name, id);
}

struct coll_out_file *coll_out_file_named(struct coll_out_run *run, const char *name)
{
	struct coll_out_file *f = run->files;
	uint8_t id[WIRE_STREAM_ID_BYTES] = { 0 };
	int kind;

	while (f && strcmp(f->name, name))
		f = f->next;
	if (f)
		return f;
	kind = kind_of(name, id);
	f = kind < 0 ? NULL : calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->name = strdup(name);
	if (!f->name) {
		free(f);
		return NULL;
	}
	f->kind = (enum coll_out_kind)kind;
	memcpy(f->stream, id, sizeof(id));
	f->next = run->files;
	run->files = f;
	return f;
}

void coll_out_files_free(struct coll_out_run *run)
{
	while (run->files) {
		struct coll_out_file *f = run->files;

		run->files = f->next;
		free(f->name);
		free(f);
	}
}

uint64_t coll_out_file_pending(const struct coll_out_file *f)
{
	if (f->kind == COLL_OUT_SIDE)
		return f->mtime_ns != f->sent_mtime_ns || f->size != f->sent_size;
	if (f->at >= f->size || (f->stuck && f->stuck == f->size))
		return 0;
	return f->size - f->at;
}

void coll_out_file_sent(struct coll_out_run *run, struct coll_out_file *f, uint64_t to)
{
	run->changed = true;
	if (f->kind != COLL_OUT_SIDE)
		f->at = to;
}

void coll_out_file_extent(struct coll_out_file *f, uint64_t extent,
			  const struct coll_centre *centre)
{
	f->extent = extent;
	f->unknown_since = extent == COLL_OUT_UNKNOWN ? centre->start : 0;
}

bool coll_out_file_is_claimed(const struct coll_out_file *f)
{
	return f->kind == COLL_OUT_SIDE ? f->sent_mtime_ns != 0 : f->at != 0;
}

bool coll_out_run_is_sure(struct coll_out_run *run, const struct coll_centre *centre)
{
	const struct coll_out_file *f;

	if (run->start == centre->start)
		return true;
	for (f = run->files; f; f = f->next)
		if (coll_out_file_is_claimed(f) && f->sure != centre->start)
			return false;
	run->start = centre->start;
	run->changed = true;
	return true;
}
