/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text pages: 80 columns, no foreign control character, cents that add up, no dollar sign
 * without a price.
 */
#include "harness.h"
#include "text.h"
#include "utf8.h"
#include "view_made.h"
#include "wrap.h"

static void report(const struct view_summary *s, FILE *f)
{
	view_text_report(s, f, false);
}

static void verdict(const struct view_summary *s, FILE *f)
{
	view_text_verdict(s, f, false, "runs/x.gst/report.html");
}

static void coloured(const struct view_summary *s, FILE *f)
{
	view_text_verdict(s, f, true, NULL);
}

static void expect_narrow(char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (view_utf8_columns(line) > VIEW_COLUMNS)
			T_FAIL("%zu columns: %s", view_utf8_columns(line), line);
	}
}

static void test_narrow(void)
{
	struct view_summary *s =
		made_summary(20, "NVIDIA H100 80GB HBM3 (simulated)", 6880000000LL, 5);
	char *text = made_page(s, report);

	expect_narrow(text);
	free(text);
	text = made_page(s, verdict);
	expect_narrow(text);
	free(text);
	view_summary_free(s);
}

static void test_verdict(void)
{
	struct view_summary *s = made_summary(4, "NVIDIA H100 80GB HBM3", 6880000000LL, 5);
	char *text = made_page(s, verdict);

	EXPECT(!strncmp(text, "gpustarve: ", 11));
	EXPECT(strstr(text, ana_verdict_names[s->result->judgement.verdict]) != NULL);
	EXPECT(strstr(text, "$27.52") != NULL); /* four GPUs for an hour */
	EXPECT(strstr(text, "2026-11-09") != NULL);
	EXPECT(strstr(text, "input.unknown") != NULL);
	EXPECT(strstr(text, "GPU-00000000-0000") != NULL); /* the flagged one */
	EXPECT(!strstr(text, "GPU-00000001-0000"));
	EXPECT(strstr(text, "report: runs/x.gst/report.html\n") != NULL);
	free(text);
	view_summary_free(s);
}

static void test_no_price(void)
{
	struct view_summary *s = made_summary(2, "NVIDIA RTX 9999", 0, 5);
	char *text = made_page(s, report);

	EXPECT(!strchr(text, '$'));
	EXPECT(strstr(text, "GPU-hours") != NULL);
	EXPECT(strstr(text, "--price") != NULL);
	free(text);
	view_summary_free(s);
}

static void test_tame(void)
{
	struct view_summary *s = made_summary(1, MADE_EVIL, 1000000000, 5);
	char *text = made_page(s, report);

	EXPECT(!strchr(text, '\x1b'));
	EXPECT(!strchr(text, '\xff'));
	free(text);
	text = made_page(s, coloured);
	EXPECT(strchr(text, '\x1b') != NULL); /* ours */
	EXPECT(!strstr(text, "\x1b[31m\xff"));
	free(text);
	view_summary_free(s);
}

/* The ledger's printed cents add up to the printed total. */
static void test_cents_close(void)
{
	struct view_summary *s = made_summary(7, "x", 1234567891, 5);
	char *text = made_page(s, report);
	const char *row = strstr(text, "Where the GPU time went");
	long sum = 0, total = -1;

	REQUIRE(row);
	for (; total < 0 && row; row = strchr(row + 1, '\n')) {
		const char *dollar = memchr(row + 1, '$', strcspn(row + 1, "\n"));
		char *point;
		if (!dollar || dollar[-1] == '<')
			continue; /* nothing, or less than a cent */
		long cents = strtol(dollar + 1, &point, 10) * 100;
		cents += strtol(point + 1, NULL, 10);
		if (!strncmp(row + 1, "  held", 6))
			total = cents;
		else
			sum += cents;
	}
	EXPECT_INT(sum, total);
	free(text);
	view_summary_free(s);
}

static void test_wrap(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	view_wrap(f, 0, 2, "one two");
	view_wrap(f, 78, 4, "one two");
	view_wrap(f, 0, 0, "");
	fclose(f);
	EXPECT_STR(text, "one two\none\n    two\n\n");
	free(text);
}

int main(void)
{
	return RUN(test_narrow, test_verdict, test_no_price, test_tame, test_cents_close,
		   test_wrap);
}
