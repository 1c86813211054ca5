/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a compact PyUnicodeObject of any width. Names and files of code objects are always compact.
 */
#include "pytext.h"

#include <errno.h>
#include <string.h>
#include "wire/utf8.h"

#define CHARACTERS 512u /* read at most */
#define LENGTH_MAX (1 << 20)
#define STATE 32u
#define LENGTH 16u

static char *put(char *to, uint32_t c)
{
	return to + wire_utf8_put(to, c < 0x20 || c == 0x7f || !wire_utf8_is_code(c) ? '?' : c);
}

static uint32_t character(const uint8_t *raw, size_t i, size_t width)
{
	uint16_t two;
	uint32_t four;

	if (width == 1)
		return raw[i];
	if (width == 2) {
		memcpy(&two, raw + i * 2, 2);
		return two;
	}
	memcpy(&four, raw + i * 4, 4);
	return four;
}

struct string {
	uint64_t at;
	size_t length, width;
	bool ascii;
};

static int read_head(struct prof_pymem *m, const struct prof_pylayout *l, uint64_t at,
		     struct string *s)
{
	uint8_t head[STATE + 4];
	uint32_t state;
	int64_t length;
	int rc = prof_pymem_read(m, at, head, sizeof(head));

	if (rc)
		return rc;
	memcpy(&state, head + STATE, 4);
	memcpy(&length, head + LENGTH, 8);
	s->width = state >> 2 & 7;
	s->ascii = state >> 6 & 1;
	if (!(state >> 5 & 1) || (s->width != 1 && s->width != 2 && s->width != 4) ||
	    (s->ascii && s->width != 1) || length < 0 || length > LENGTH_MAX)
		return -EINVAL;
	s->length = (size_t)length;
	s->at = at + (s->ascii ? l->ascii : l->compact);
	return 0;
}

/* What a thread beside us is just writing may say that it is ASCII, and not be: more bytes then. */
static bool is_ascii(const uint8_t *raw, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (raw[i] > 0x7f)
			return false;
	return true;
}

ssize_t prof_pytext(struct prof_pymem *m, const struct prof_pylayout *l, uint64_t at, bool tail,
		    char *to, size_t room)
{
	uint8_t raw[CHARACTERS * 4];
	struct string s;
	size_t most, first, n, i;
	char *end = to;
	int rc = read_head(m, l, at, &s);

	if (rc || room < 16)
		return rc ? rc : -EINVAL;
	most = (room - 4) / (s.ascii ? 1 : s.width == 1 ? 2 : s.width == 2 ? 3 : 4);
	if (most > CHARACTERS)
		most = CHARACTERS;
	n = s.length < most ? s.length : most;
	first = tail ? s.length - n : 0;
	rc = prof_pymem_read(m, s.at + first * s.width, raw, n * s.width);
	if (rc)
		return rc;
	if (s.ascii && !is_ascii(raw, n))
		return -EINVAL;
	if (n < s.length && tail)
		end = (char *)memcpy(end, "...", 3) + 3;
	for (i = 0; i < n; i++)
		end = put(end, character(raw, i, s.width));
	if (n < s.length && !tail)
		end = (char *)memcpy(end, "...", 3) + 3;
	*end = 0;
	return end - to;
}
