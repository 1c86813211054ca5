/* SPDX-License-Identifier: Apache-2.0 */
/* Code points as UTF-8, at each length's ends. */
#include "harness.h"

#include "wire/utf8.h"

static void expect(uint32_t code, const char *bytes)
{
	char out[WIRE_UTF8_MOST + 1] = "";
	size_t n = wire_utf8_put(out, code);

	EXPECT_UINT(n, strlen(bytes));
	EXPECT_MEM(out, bytes, n);
}

static void test_lengths(void)
{
	char out[WIRE_UTF8_MOST] = "x";

	EXPECT_UINT(wire_utf8_put(out, 0), 1);
	EXPECT(!out[0]);
	expect('A', "A");
	expect(0x7f, "\x7f");
	expect(0x80, "\xc2\x80");
	expect(0x7ff, "\xdf\xbf");
	expect(0x800, "\xe0\xa0\x80");
	expect(0xd7ff, "\xed\x9f\xbf");
	expect(0xe000, "\xee\x80\x80");
	expect(0xffff, "\xef\xbf\xbf");
	expect(0x10000, "\xf0\x90\x80\x80");
	expect(0x1f600, "\xf0\x9f\x98\x80");
	expect(0x10ffff, "\xf4\x8f\xbf\xbf");
}

static void test_none(void)
{
	static const uint32_t none[] = { 0xd800, 0xdbff, 0xdc00, 0xdfff, 0x110000, UINT32_MAX };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		EXPECT(!wire_utf8_is_code(none[i]));
		expect(none[i], "\xef\xbf\xbd");
	}
	EXPECT(wire_utf8_is_code(0) && wire_utf8_is_code(0xd7ff) && wire_utf8_is_code(0xe000) &&
	       wire_utf8_is_code(0x10ffff));
}

int main(void)
{
	return RUN(test_lengths, test_none);
}
