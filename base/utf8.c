/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include <string.h>

static int is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t base_utf8_length(const char *p, size_t len)
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

uint32_t base_utf8_code(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	uint32_t code = n > 1 ? u[0] & (0x7fu >> n) : u[0];

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (u[i] & 0x3fu);
	return code;
}

/* The blocks that matter; a rare character elsewhere costs a column. */
static const struct {
	uint32_t first, last;
	int width;
} blocks[] = {
	{ 0x0300, 0x036f, 0 },	 { 0x1100, 0x115f, 2 },	  { 0x200b, 0x200d, 0 },
	{ 0x2060, 0x2064, 0 },	 { 0x2e80, 0xa4cf, 2 },	  { 0xac00, 0xd7a3, 2 },
	{ 0xf900, 0xfaff, 2 },	 { 0xfe00, 0xfe0f, 0 },	  { 0xfe30, 0xfe6f, 2 },
	{ 0xff00, 0xff60, 2 },	 { 0xffe0, 0xffe6, 2 },	  { 0x1f300, 0x1f64f, 2 },
	{ 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

int base_utf8_width(const char *p, size_t n)
{
	uint32_t code = n ? base_utf8_code(p, n) : 0;

	for (size_t i = 0; n > 1 && i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (code >= blocks[i].first && code <= blocks[i].last)
			return blocks[i].width;
	return 1;
}

size_t base_utf8_columns(const char *text)
{
	size_t columns = 0, len = strlen(text);

	for (size_t i = 0; i < len; columns++) {
		size_t n = base_utf8_length(text + i, len - i);
		i += n ? n : 1;
	}
	return columns;
}
