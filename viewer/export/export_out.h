/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an export goes: a file that appears whole or not at all, a pipe, or a device; plain or
 * gzipped. Bytes gather in one buffer, so that small pieces are cheap. The first failure stays and
 * makes everything after it a no-op; view_out_close tells it. One thread at a time; no allocation
 * after opening.
 */
#ifndef EXPORT_OUT_H
#define EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VIEW_OUT_BUFFER (256u << 10)

struct view_out {
	int fd;
	char *buffer;
	size_t len;
	void *z; /* z_stream while gzipping */
	char *path, *temporary; /* NULL: written in place */
	uint64_t bytes; /* before compression */
	int err;
};

/*
 * Opens @path (NULL: stdout) for writing. A regular file is written beside its place and renamed by
 * view_out_close. 0 or negative errno, and then nothing is left to close.
 */
int view_out_open(struct view_out *o, const char *path, bool gzip);

/* Flushes and closes; @keep false takes away what was written. 0 or the first error. */
int view_out_close(struct view_out *o, bool keep);

/*
 * A name beside @path for what is renamed to it at the end; the caller frees it. NULL: no memory.
 */
char *view_out_beside(const char *path);

/* Room for @n (at most VIEW_OUT_BUFFER) more bytes; whoever fills them adds to o->len. */
char *view_out_room(struct view_out *o, size_t n);

void view_out_put(struct view_out *o, const void *data, size_t len);
void view_out_int(struct view_out *o, int64_t v);
void view_out_uint(struct view_out *o, uint64_t v);
void view_out_printf(struct view_out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* at most 4 KB */

static inline void view_out_text(struct view_out *o, const char *text)
{
	view_out_put(o, text, strlen(text));
}

static inline void view_out_char(struct view_out *o, char c)
{
	*view_out_room(o, 1) = c;
	o->len++;
}

/*
 * Foreign text, as base/escape.h has it. JSON and a label's value: with their quotes. CSV: quoted
 * where it must be, and safe in a spreadsheet.
 */
void view_out_json(struct view_out *o, const char *text, size_t len);
void view_out_label(struct view_out *o, const char *text);
void view_out_csv(struct view_out *o, const char *text);

/*
 * @text as valid UTF-8 into @out[room], always terminated; what does not fit is left out. Returns
 * the length.
 */
size_t view_text_valid(char *out, size_t room, const char *text, size_t len);

#endif
