/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untrusted text stays text, wherever it goes; characters of UTF-8 are told apart from other bytes.
 */
#include "base/escape.h"
#include "base/utf8.h"
#include "harness.h"

#include <string.h>

#define MARK BASE_UTF8_MARK
#define NASTY "a\"\\\n\x01\x7f<&'>\xff"
#define ALM "\xd8\x9c" /* U+061C */
#define LS "\xe2\x80\xa8" /* U+2028 */
#define RLM "\xe2\x80\x8f"
#define RLO "\xe2\x80\xae"
#define FSI "\xe2\x81\xa8"
#define C1 "\xc2\x9b"
#define NONE "\xef\xbf\xbf" /* U+FFFF */
#define WIDE LS RLM RLO FSI ALM C1 NONE "\xc3\xa9\xf0\x9f\x98\x80"
#define REST "\xc3\xa9\xf0\x9f\x98\x80"

static const char *put(enum base_escape how, const char *text)
{
	static char out[400];
	FILE *f = fmemopen(out, sizeof(out), "w");

	REQUIRE(f);
	base_put(f, how, text);
	fclose(f);
	return out;
}

static void test_json(void)
{
	EXPECT_STR(put(BASE_AS_JSON, NASTY), "a\\\"\\\\\\u000a\\u0001\\u007f<&'>\\ufffd");
	EXPECT_STR(put(BASE_AS_JSON, WIDE), WIDE);
	EXPECT_STR(put(BASE_AS_JSON_PAGE, NASTY),
		   "a\\\"\\\\\\u000a\\u0001\\u007f\\u003c\\u0026'\\u003e\\ufffd");
	EXPECT_STR(put(BASE_AS_JSON_PAGE, WIDE),
		   "\\u2028\\ufffd\\ufffd\\ufffd\\ufffd\\u009b" NONE REST);
	EXPECT_STR(put(BASE_AS_JSON_ANYWHERE, NASTY),
		   "a\\u0022\\u005c\\u000a\\u0001\\u007f\\u003c\\u0026\\u0027\\u003e" MARK);
	EXPECT_STR(put(BASE_AS_JSON_ANYWHERE, WIDE), "\\u2028" RLM RLO FSI ALM "\\u009b" NONE REST);
}

static void test_pages(void)
{
	EXPECT_STR(put(BASE_AS_HTML, NASTY), "a&quot;\\" MARK MARK MARK "&lt;&amp;&#39;&gt;" MARK);
	EXPECT_STR(put(BASE_AS_HTML, WIDE), MARK MARK MARK MARK MARK MARK NONE REST);
	EXPECT_STR(put(BASE_AS_XML, NASTY), "a&quot;\\\n" MARK MARK "&lt;&amp;'&gt;" MARK);
	EXPECT_STR(put(BASE_AS_XML, WIDE), LS MARK MARK MARK MARK MARK MARK REST);
	EXPECT_STR(put(BASE_AS_MARKDOWN, NASTY "|*@"),
		   "a\"\\\\ " MARK MARK "&lt;&amp;'\\>" MARK "\\|\\*\\@");
	EXPECT_STR(put(BASE_AS_MARKDOWN, WIDE), LS MARK MARK MARK MARK MARK MARK REST);
}

static void test_lines(void)
{
	EXPECT_STR(put(BASE_AS_GITHUB, NASTY ":,%\r"), "a\"\\%0A" MARK MARK "<&'>" MARK ":,%25%0D");
	EXPECT_STR(put(BASE_AS_GITHUB_PROPERTY, ":,%"), "%3A%2C%25");
	EXPECT_STR(put(BASE_AS_LABEL, NASTY), "a\\\"\\\\" MARK MARK MARK "<&'>" MARK);
	EXPECT_STR(put(BASE_AS_LABEL, WIDE), MARK RLM RLO FSI ALM MARK NONE REST);
	EXPECT_STR(put(BASE_AS_CSV, NASTY), "a\"\"\\\n\x01\x7f<&'>" MARK);
	EXPECT_STR(put(BASE_AS_TERMINAL, NASTY "\x1b[31m"), "a\"\\??"
							    "?<&'>??[31m");
	EXPECT_STR(put(BASE_AS_TERMINAL, WIDE), LS "?????" NONE REST);
}

/* Not one character more than is given, and a NUL is one like others. */
static void test_parts(void)
{
	char out[BASE_ESCAPED_MAX], text[11];
	size_t took;

	EXPECT_UINT(base_escape(out, BASE_AS_JSON, "\0a", 2, &took), 6);
	EXPECT(took == 1 && !memcmp(out, "\\u0000", 6));
	EXPECT_UINT(base_escape(out, BASE_AS_JSON, "\xe2\x82\xac", 2, &took), 6);
	EXPECT(took == 1 && !memcmp(out, "\\ufffd", 6));
	EXPECT_UINT(base_escape(out, BASE_AS_HTML, "\xe2\x82\xac<", 4, &took), 3);
	EXPECT_UINT(took, 3);
	EXPECT_UINT(base_escape_text(text, sizeof(text), BASE_AS_JSON, "ab\n\xff"), 8);
	EXPECT_STR(text, "ab\\u000a");
	EXPECT_UINT(base_escape_text(text, sizeof(text), BASE_AS_JSON, "12345678\xe2\x82\xac"), 8);
	EXPECT_UINT(base_escape_text(text, 1, BASE_AS_JSON, "a"), 0);
	EXPECT_UINT(base_escape_plain(BASE_AS_JSON, "ab\"c", 4), 2);
	EXPECT_UINT(base_escape_plain(BASE_AS_HTML, "ab\"c", 2), 2);
	EXPECT_UINT(base_escape_plain(BASE_AS_TERMINAL, "\x80", 1), 0);
}

static void test_every_way(void)
{
	char text[5] = { 0 }, out[BASE_ESCAPED_MAX];

	for (int how = 0; how < BASE_ESCAPES; how++)
		for (uint32_t c = 0; c < 0x30000; c++) {
			size_t len = wire_utf8_put(text, c), took;
			size_t n = base_escape(out, (enum base_escape)how, text, len, &took);

			if (!wire_utf8_is_code(c))
				continue;
			REQUIRE(took == len && n > 0 && n < BASE_ESCAPED_MAX);
			for (size_t i = 0; i < n;) {
				size_t k = base_utf8_length(out + i, n - i);
				REQUIRE(k);
				i += k;
			}
		}
}

static void test_code_points(void)
{
	char text[WIRE_UTF8_MOST];

	for (uint32_t c = 0; c < 0x110000; c += c < 0x900 ? 1 : 13) {
		size_t n = wire_utf8_is_code(c) ? wire_utf8_put(text, c) : 0;

		if (n)
			REQUIRE(base_utf8_length(text, n) == n && base_utf8_code(text, n) == c);
		if (n > 1)
			REQUIRE(!base_utf8_length(text, n - 1));
	}
	EXPECT(!base_utf8_length("\xc0\x80", 2) && !base_utf8_length("\xe0\x80\x80", 3));
	EXPECT(!base_utf8_length("\xed\xa0\x80", 3) && !base_utf8_length("\xf4\x90\x80\x80", 4));
	EXPECT(!base_utf8_length("\x80", 1) && !base_utf8_length("", 0));
}

int main(void)
{
	return RUN(test_json, test_pages, test_lines, test_parts, test_every_way, test_code_points);
}
