/* SPDX-License-Identifier: Apache-2.0 */
#include "base64.h"

void base_put_base64(FILE *f, const void *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i += 3) {
		size_t have = len - i < 3 ? len - i : 3;
		unsigned int v = (unsigned int)p[i] << 16;

		if (have > 1)
			v |= (unsigned int)p[i + 1] << 8;
		if (have > 2)
			v |= p[i + 2];
		fputc(digits[v >> 18 & 63], f);
		fputc(digits[v >> 12 & 63], f);
		fputc(have > 1 ? digits[v >> 6 & 63] : '=', f);
		fputc(have > 2 ? digits[v & 63] : '=', f);
	}
}
