/* SPDX-License-Identifier: Apache-2.0 */
/* What is written as a field is read as the same field; a spreadsheet finds no formula. */
#include "base/csv.h"
#include "harness.h"

#include <string.h>

static const char *put(void (*how)(FILE *f, const char *text), const char *text)
{
	static char out[100];
	FILE *f = fmemopen(out, sizeof(out), "w");

	REQUIRE(f);
	out[0] = '\0';
	how(f, text);
	fclose(f);
	return out;
}

static void test_quotes(void)
{
	EXPECT_STR(put(base_csv_put, "plain text"), "plain text");
	EXPECT_STR(put(base_csv_put, "a,b"), "\"a,b\"");
	EXPECT_STR(put(base_csv_put, "say \"x\""), "\"say \"\"x\"\"\"");
	EXPECT_STR(put(base_csv_put, " a"), "\" a\"");
	EXPECT_STR(put(base_csv_put, "#a"), "\"#a\"");
	EXPECT_STR(put(base_csv_put, "a;b"), "\"a;b\"");
	EXPECT_STR(put(base_csv_put, "-12.5"), "-12.5");
	EXPECT_STR(put(base_csv_put, "a\xff"), "a\xef\xbf\xbd");
}

static void test_formulas(void)
{
	static const char *const formula[] = { "=1+1", "+1", "-1", "@sum", "\t=1", "\r=1" };
	char expected[20];

	for (int i = 0; i < 6; i++) {
		snprintf(expected, sizeof(expected), "\"'%s\"", formula[i]);
		EXPECT_STR(put(base_csv_put_guarded, formula[i]), expected);
	}
	EXPECT_STR(put(base_csv_put_guarded, "a=1"), "a=1");
	EXPECT_STR(put(base_csv_put_guarded, ""), "");
	EXPECT_STR(base_csv_lead("=1"), "\"'");
	EXPECT_STR(base_csv_lead("a,b"), "\"");
	EXPECT_STR(base_csv_lead("a"), "");
}

static void test_rows(void)
{
	static const char text[] =
		"\xef\xbb\xbf# a comment\n\na ,\"b,\"\"c\"\"\r\n\",d\r\n# e\n\"#\",";
	const char *field[BASE_CSV_FIELDS];
	struct base_arena mem = { 0 };
	struct base_csv c;

	base_csv_init(&c, text, sizeof(text) - 1);
	EXPECT_INT(base_csv_row(&c, &mem, field), 3);
	EXPECT_INT(c.line, 3);
	EXPECT_STR(field[0], "a");
	EXPECT_STR(field[1], "b,\"c\"\r\n");
	EXPECT_STR(field[2], "d");
	EXPECT_INT(base_csv_row(&c, &mem, field), 2);
	EXPECT_STR(field[0], "#");
	EXPECT_STR(field[1], "");
	EXPECT_INT(base_csv_row(&c, &mem, field), 0);
	base_arena_fini(&mem);
}

static void test_there_and_back(void)
{
	static const char *const cell[] = { "a", " b ", "\"", "c\nd", "#", "e,f", "\xc3\xa9" };
	const char *field[BASE_CSV_FIELDS];
	struct base_arena mem = { 0 };
	char text[200];
	struct base_csv c;
	FILE *f = fmemopen(text, sizeof(text), "w");

	for (int i = 0; i < 7; i++) {
		fputs(i ? "," : "", f);
		base_csv_put(f, cell[i]);
	}
	fclose(f);
	base_csv_init(&c, text, strlen(text));
	REQUIRE(base_csv_row(&c, &mem, field) == 7);
	for (int i = 0; i < 7; i++)
		EXPECT_STR(field[i], cell[i]);
	base_arena_fini(&mem);
}

int main(void)
{
	return RUN(test_quotes, test_formulas, test_rows, test_there_and_back);
}
