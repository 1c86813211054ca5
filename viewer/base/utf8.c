/* SPDX-License-Identifier: Apache-2.0 */
/* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
#include "utf8.h"

#include <string.h>

static int is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t view_utf8_length(const char *p, size_t len)
{
	const unsigned char *u = (const unsigned char *)p;

	if (!len)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] >= 0xc2 && u[0] < 0xe0)
		return len >= 2 && is_tail(u[1]) ? 2 : 0;
	if (u[0] >= 0xe0 && u[0] < 0xf0) {
		if (len < 3 || !is_tail(u[1]) || !is_tail(u[2]))
			return 0;
		if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] >= 0xa0))
			return 0;
		return 3;
	}
	if (u[0] >= 0xf0 && u[0] < 0xf5) {
		if (len < 4 || !is_tail(u[1]) || !is_tail(u[2]) || !is_tail(u[3]))
			return 0;
		if ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] >= 0x90))
			return 0;
		return 4;
	}
	return 0;
}

size_t view_utf8_put(char *out, uint32_t code)
{
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

size_t view_utf8_columns(const char *text)
{
	size_t columns = 0, len = strlen(text);

	for (size_t i = 0; i < len; columns++) {
		size_t n = view_utf8_length(text + i, len - i);
		i += n ? n : 1;
	}
	return columns;
}
