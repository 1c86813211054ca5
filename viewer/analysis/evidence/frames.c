/* SPDX-License-Identifier: Apache-2.0 */
/* Text to frames. */
#include "frames.h"

#include <string.h>

static struct ana_text cut_at(const char **p, const char *end, char c)
{
	const char *stop = memchr(*p, c, (size_t)(end - *p));
	struct ana_text t = { *p, 0 };

	if (!stop)
		stop = end;
	t.len = (uint32_t)(stop - *p);
	*p = stop < end ? stop + 1 : end;
	return t;
}

static uint32_t number(struct ana_text t)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < t.len && t.at[i] >= '0' && t.at[i] <= '9' && n < UINT32_MAX; i++)
		n = n * 10 + (uint64_t)(t.at[i] - '0');
	return n < UINT32_MAX ? (uint32_t)n : 0;
}

/* Function, tab, file, tab, line, and of a generator tab, g. */
void ana_frames_next(struct ana_frame *f, const char **p, const char *end)
{
	struct ana_text row = cut_at(p, end, '\n');
	const char *at = row.at, *stop = row.at + row.len;

	f->function = cut_at(&at, stop, '\t');
	f->file = cut_at(&at, stop, '\t');
	f->line = number(cut_at(&at, stop, '\t'));
	f->generator = stop - at == 1 && *at == 'g';
}

size_t ana_frames_read(struct ana_frame *frame, size_t max, const char *text, uint32_t len)
{
	const char *p = text, *end = text + len;
	size_t n = 0;

	while (p < end && n < max) {
		ana_frames_next(&frame[n], &p, end);
		n += frame[n].function.len && ana_module_place(frame[n].file) != ANA_PLACE_OURS;
	}
	return n;
}

/*
 * ---- native ones ------------------------------------------------------------------------------
 */

static struct ana_text first_line(struct ana_text t)
{
	const char *stop = t.len ? memchr(t.at, '\n', t.len) : NULL;

	if (stop)
		t.len = (uint32_t)(stop - t.at);
	return t;
}

/* In these every thread that blocks ends, whatever it does. */
static bool is_of_libc(struct ana_text frame)
{
	static const char *const module[] = { "libc.so", "libc-2", "libpthread", "ld-linux",
					      "[vdso]" };
	const char *end = memchr(frame.at, '\t', frame.len);
	size_t i, n, at = end ? (size_t)(end - frame.at) : frame.len;

	while (at && frame.at[at - 1] != '/')
		at--;
	for (i = 0; i < sizeof(module) / sizeof(module[0]); i++) {
		n = strlen(module[i]);
		if (frame.len - at >= n && !memcmp(frame.at + at, module[i], n))
			return true;
	}
	return false;
}

static bool is_librarys(struct ana_text frame)
{
	return frame.len && *frame.at != '<' && !is_of_libc(frame);
}

struct ana_text ana_frames_native(struct ana_text stack)
{
	struct ana_text first = first_line(stack), frame = first;

	while (frame.len && is_of_libc(frame) && frame.len < stack.len) {
		stack.at += frame.len + 1;
		stack.len -= frame.len + 1;
		frame = first_line(stack);
	}
	return is_librarys(frame) ? frame : first;
}

struct ana_text ana_frames_library(struct ana_text stack)
{
	struct ana_text frame = ana_frames_native(stack);
	const char *stop = frame.len ? memchr(frame.at, '\t', frame.len) : NULL;

	if (!is_librarys(frame))
		return (struct ana_text){ frame.at, 0 };
	if (stop)
		frame.len = (uint32_t)(stop - frame.at);
	return frame;
}
