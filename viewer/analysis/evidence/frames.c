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
