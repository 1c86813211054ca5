/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text pages: 80 columns, no foreign control character, cents that add up, no dollar sign
 * without a price.
 */
#include "harness.h"
#include "report/text.h"
#include "base/utf8.h"
#include "view_made.h"
#include "run/wrap.h"

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

static const char golden[] =
	"gpustarve: input-bound, critical. 1x NVIDIA H100 80GB HBM3, 1 h 0 m: GPUs\n"
	"  starved 33.3 % = $2.29 of $6.88 (wasted 34.3 % = $2.36) at $6.88 per GPU-hour\n"
	"  (aws p5.48xlarge us-east-1, on-demand, 2026-11-09)\n"
	"   62.5 %  input.fetch        4 of 4 workers blocked reading\n"
	"                              .../imagenet/train/shard-0017.bin and 1 more\n"
	"                              (nfs4), dataset.py:88 __getitem__\n"
	"   25.0 %  input.prep         4 of 4 workers on CPU in resize (Image.py),\n"
	"                              dataset.py:91 __getitem__\n"
	"   12.5 %  input.fetch        the loader read from storage or network, elsewhere\n"
	"  next: 4 -> 6 workers or a local cache; upper bound of the saving $2.29 per run\n"
	"  report: runs/x.gst/report.html\n";

static void test_causes(void)
{
	struct view_summary *s =
		made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 6880000000LL);
	char *text = made_page(s, verdict);

	EXPECT_STR(text, golden);
	free(text);
	text = made_page(s, report);
	EXPECT(strstr(text, "\nWhy (share of the GPU time)\n") != NULL);
	EXPECT(strstr(text, "(high: 1,514 samples of 4 threads)\n") != NULL);
	EXPECT(strstr(text, "num_workers=4 (fork), batch_size=16, prefetch_factor=2,") != NULL);
	EXPECT(strstr(text, "a batch each 36.0 ms, a step without its wait 24.0 ms: 6 workers") !=
	       NULL);
	EXPECT(strstr(text, "workers were: 71.4 % blocked on files or the") != NULL);
	EXPECT(strstr(text, "2,000 samples of threads: 3 torn") != NULL);
	expect_narrow(text);
	free(text);
	view_summary_free(s);
}

/* Every string of a site hostile: nothing foreign reaches the terminal, no line gets too long. */
static void test_evil_places(void)
{
	static const char *const evil[] = {
		MADE_EVIL,
		"/\x1b]0;title\x07/\xff\xfe/x",
		("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "\taaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		"\xc2\x9b",
		"%s%n",
		"\n\r\t",
		""
	};

	for (size_t i = 0; i < sizeof(evil) / sizeof(evil[0]); i++) {
		struct view_summary *s = made_summary_of(made_starved(evil[i]), "x", 1000000000);
		char *text = made_page(s, report);
		EXPECT(strstr(text, "\nWhy") != NULL);
		EXPECT(!strpbrk(text, "\x1b\x07\r\t"));
		EXPECT(!strstr(text, "\xc2\x9b"));
		expect_narrow(text);
		free(text);
		view_summary_free(s);
	}
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

static const char *const turning[] = { "a\xe2\x80\xaex", "a\xe2\x80\x8fx", "a\xe2\x81\xa7x",
				       "a\xe2\x80\x93x" /* a dash, which stays */ };

static void put_turning(const struct view_summary *s, FILE *f)
{
	(void)s;
	for (int i = 0; i < 4; i++)
		view_put_tame(f, turning[i]);
}

static void test_direction(void)
{
	char *text = made_page(NULL, put_turning);

	EXPECT(!strcmp(text, "a?xa?xa?xa\xe2\x80\x93x"));
	free(text);
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
	return RUN(test_narrow, test_verdict, test_causes, test_evil_places, test_no_price,
		   test_tame, test_direction, test_cents_close, test_wrap);
}
