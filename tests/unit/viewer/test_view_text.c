/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text pages: 80 columns, no foreign control character, cents that add up, no dollar sign
 * without a price.
 */
#include "findings/own_line.h"
#include "harness.h"
#include "report/text/text.h"
#include "base/utf8.h"
#include "view_made.h"
#include "core/wrap.h"

static void report(const struct view_summary *s, FILE *f)
{
	view_text_report(s, f, &view_text_style_plain);
}

static void verdict(const struct view_summary *s, FILE *f)
{
	view_text_verdict(s, f, &view_text_style_plain, "runs/x.gst/report.html");
}

static void coloured(const struct view_summary *s, FILE *f)
{
	const struct view_text_style look = { .colour = true, .columns = 80 };

	view_text_verdict(s, f, &look, NULL);
}

static void expect_narrow(char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (base_utf8_columns(line) > VIEW_COLUMNS)
			T_FAIL("%zu columns: %s", base_utf8_columns(line), line);
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

/* Eight lines with one figure are one. */
static void flagged_alike(void)
{
	struct view_summary *s = made_summary(8, "NVIDIA H100 80GB HBM3", 3990000000LL, 5);
	struct ana_result *r = s->result;
	char *text;

	for (size_t i = 0; i < r->gpus; i++) {
		memcpy(r->gpu[i].classes, r->gpu[0].classes, sizeof(r->gpu[i].classes));
		r->gpu[i].held_ns = r->gpu[0].held_ns;
		r->gpu[i].judgement.flagged = true;
	}
	text = made_page(s, verdict);
	EXPECT(strstr(text, "\n  flagged: all 8 GPUs; each starved "));
	EXPECT(!strstr(text, "GPU-00000000-0000"));
	free(text);
	r->gpu[7].judgement.flagged = false;
	text = made_page(s, verdict);
	EXPECT(strstr(text, "\n  flagged: 7 of 8 GPUs; how much of its training time each"));
	free(text);
	r->gpu[7].judgement.flagged = true;
	r->gpu[7].held_ns *= 2;
	text = made_page(s, verdict);
	EXPECT(strstr(text, "\n  flagged: 8 of 8 GPUs; how much of its training time each"));
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
	flagged_alike();
}

static const char golden[] =
	"gpustarve: input-bound, critical. The GPU waited for input for 33.3 % of the\n"
	"  training time: $2.29 of each $6.88 GPU-hour of training was paid for waiting\n"
	"  this run: $2.29 of $6.88 (and $0.07 wasted by other causes); 1x NVIDIA H100\n"
	"  80GB HBM3, 1 h 0 m, at $6.88 per GPU-hour (aws p5.48xlarge us-east-1,\n"
	"  on-demand, 2026-11-09)\n"
	"  if it went on like these 1.00 GPU-hours of training, day and night: $55.06 per\n"
	"  day and $1,652 per month; 2.29 \302\242 of 6.88 \302\242 per thousand steps\n"
	"  1. The GPU waited 20.8 % of the training time for batches: all 4 workers were\n"
	"     blocked reading /data/imagenet/train/shard-0017.bin and 1 more (nfs4) at\n"
	"     dataset.py:88 __getitem__. 6 workers would hide it, if the source keeps up:\n"
	"     at most 1.51 times the steps per hour (33.3 % of the training time saved,\n"
	"     other waits for batches included). [input.fetch; confidence: cause and line\n"
	"     high, gain low: its source was not seen to serve so many at a time, and\n"
	"     batches take uneven times]\n"
	"  2. The GPU waited 8.3 % of the training time for batches: all 4 workers were\n"
	"     resizing images (dataset.py:91 __getitem__). Without it: at most 1.10 times\n"
	"     the steps per hour. Remedy: cheaper samples (prepared once, or a batch at a\n"
	"     time). [input.prep; confidence: cause and line high, gain low: a change may\n"
	"     leave part of it]\n"
	"  together 29.1 of the 33.3 %; the rest has smaller causes, or no line is known\n"
	"  next: num_workers 4 -> 6, if the source keeps up; saves at most $2.29 of this\n"
	"        run, 2.29 \302\242 per thousand steps (of all waits for input, 33.3 %)\n"
	"  report: runs/x.gst/report.html\n";

/* Where the user's own call was found, it is named. */
static void test_own_call(void)
{
	struct view_summary *s =
		made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 6880000000LL);
	struct view_own own = { .file = "/home/me/train.py", .line = 45 };
	char *text;

	REQUIRE(s && s->advices);
	s->result->loader[0].made_file = strdup("/home/me/data.py");
	s->result->loader[0].made_line = 7;
	text = made_page(s, verdict);
	EXPECT(strstr(text, "  next: num_workers 4 -> 6 (data.py:7), if the source keeps up;"));
	free(text);
	s->advice[0].own = &own;
	text = made_page(s, verdict);
	EXPECT(strstr(text,
		      "  next: num_workers 4 -> 6 (train.py:45), if the source keeps up; saves at most") !=
	       NULL);
	free(text);
	view_summary_free(s);
}

/* As many workers as there are keep up: nothing then comes otherwise. */
static void enough_workers(struct view_summary *s)
{
	char *text = made_page(s, report);

	EXPECT(strstr(text,
		      "6 workers would keep up; a batch then comes at\n    best every 24.0 ms "
		      "on average\n"));
	free(text);
	s->loader.need.needed = s->loader.need.advised = 4;
	text = made_page(s, report);
	EXPECT(strstr(text,
		      "it took one every 36.0\n    ms on average, waits included. 4 workers are "
		      "enough\n"));
	free(text);
}

/*
 * What keeps up with most steps waits for the slow ones, too: the number is by the median, the
 * period by the average, and both are told. Who makes batches itself brings none during a step.
 */
static void pace(void)
{
	struct view_summary *s =
		made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 6880000000LL);
	char *text;

	REQUIRE(s && s->loader.has_need);
	s->loader.facts.fed_median_ns = 18000000;
	s->loader.need.needed = s->loader.need.advised = 8;
	text = made_page(s, report);
	EXPECT(strstr(
		text,
		"the GPU could take a batch every 18.0 ms (the median step without its wait;\n"
		"    24.0 ms on average, slow steps included); 4 workers deliver one every "
		"36.0\n    ms on average. 8 workers would keep up; a batch then comes at best "
		"every\n    24.0 ms on average\n"));
	free(text);
	s->loader.facts.workers = 0;
	text = made_page(s, report);
	EXPECT(strstr(
		text,
		"; the main process makes them\n    itself, between steps: one comes every 36.0 "
		"ms on average. 8 workers would\n    keep up;"));
	expect_narrow(text);
	free(text);
	view_summary_free(s);
}

static void test_causes(void)
{
	struct view_summary *s =
		made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 6880000000LL);
	char *text = made_page(s, verdict);

	EXPECT_STR(text, golden);
	free(text);
	text = made_page(s, report);
	EXPECT(strstr(text, "\nWhy (the most costly first)\n") != NULL);
	EXPECT(strstr(text, "(high: 1,514 samples of 4 threads)\n") != NULL);
	EXPECT(strstr(text, "num_workers=4 (fork), batch_size=16, prefetch_factor=2,") != NULL);
	EXPECT(strstr(text, "the GPU could take a batch every 24.0 ms (on average); 4") != NULL);
	EXPECT(strstr(text, "workers were: 71.4 % blocked on files or the") != NULL);
	EXPECT(strstr(text, "2,000 samples of threads: 3 torn") != NULL);
	expect_narrow(text);
	free(text);
	enough_workers(s);
	view_summary_free(s);
	pace();
}

/*
 * Whose ever a cause is, a larger one stands before a smaller one; what that adds up to is of the
 * verdict's.
 */
static void test_order_of_all(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;
	const char *collector, *decoding, *lacks;
	char *text;

	made_class(r, ANA_HOST_GC, MADE_HOUR_NS / 10);
	s = made_summary_of(r, "NVIDIA H100 80GB HBM3", 6880000000LL);
	text = made_page(s, verdict);
	collector = strstr(text,
			   "  2. The GPU waited 10.0 % of the training time for Python's garbage");
	decoding = strstr(text, "  3. The GPU waited 8.3 % of the training time for batches");
	REQUIRE(collector && decoding && collector < decoding);
	/* what keeps a gain from being surer is said once */
	lacks = strstr(collector, "may leave");
	EXPECT(lacks && lacks > collector && lacks < decoding);
	EXPECT(!strstr(decoding, "may leave") && strstr(decoding, "low]\n"));
	EXPECT(strstr(text, "\n  causes 1 and 3 explain 29.1 of the 33.3 %;"));
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

static void no_price(void)
{
	struct view_summary *s = made_summary(2, "NVIDIA RTX 9999", 0, 5);
	char *text = made_page(s, report);

	EXPECT(!strchr(text, '$'));
	EXPECT(strstr(text, "GPU-hours") != NULL);
	EXPECT(strstr(text, "--price") != NULL);
	free(text);
	view_summary_free(s);
}

/* A GPU that others used, too: figures that a reader holds, and all digits in summary.json. */
static void shared_price(void)
{
	struct view_summary *s = made_summary(1, "NVIDIA H100 80GB HBM3", 3990000000LL, 5);
	struct view_rate *r = s->cost.rate;
	struct base_arena mem = { 0 };
	char *text;

	r->nano_usd_per_hour = 306922770;
	r->fraction_num = 76923;
	r->fraction_den = 1000000;
	EXPECT_STR(
		view_text_rate(r, &mem),
		"$0.307 per GPU-hour = 7.7 % of $3.99, its part of a shared GPU (aws p5.48xlarge us-east-1, on-demand, "
		"2026-11-09)");
	text = made_page(s, verdict);
	EXPECT(strstr(text, "of each $0.307 GPU-hour"));
	free(text);
	r->nano_usd_per_hour = 1140000000;
	r->fraction_num = 2;
	r->fraction_den = 7;
	EXPECT_STR(
		view_text_rate(r, &mem),
		"$1.14 per GPU-hour = 2/7 of $3.99, its part of a shared GPU (aws p5.48xlarge us-east-1, on-demand, "
		"2026-11-09)");
	base_arena_fini(&mem);
	view_summary_free(s);
}

static void test_prices(void)
{
	no_price();
	shared_price();
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

static struct view_text_style look; /* of the two below */

static void as_looked(const struct view_summary *s, FILE *f)
{
	view_text_report(s, f, &look);
}

static void verdict_as_looked(const struct view_summary *s, FILE *f)
{
	view_text_verdict(s, f, &look, NULL);
}

/* On a terminal no line is longer than it is wide, down to 40 columns, whatever the names are. */
static void expect_fits(struct view_summary *s)
{
	static const int widths[] = { 40, 53, 71, 72, 79, 80 };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		look = (struct view_text_style){ true, true, i % 2, widths[i] };
		char *text = made_page(s, as_looked);
		for (char *p = text; *p; p += strcspn(p, "\n") + 1) {
			size_t len = strcspn(p, "\n");
			if (view_line_columns(p, len) > widths[i])
				T_FAIL("%d columns in %d: %.*s", view_line_columns(p, len),
				       widths[i], (int)len, p);
		}
		free(text);
	}
	view_summary_free(s);
}

static void test_every_width(void)
{
	static const char wide[] = "/\xe6\x95\xb0\xe6\x8d\xae\xe9\x9b\x86/\xf0\x9f\x98\x80.bin";

	expect_fits(made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 6880000000LL));
	expect_fits(made_summary_of(made_starved(MADE_EVIL), MADE_EVIL, 6880000000LL));
	expect_fits(made_summary_of(made_starved(wide), wide, 6880000000LL));
	expect_fits(made_summary(20, "NVIDIA H100 80GB HBM3 (simulated)", 6880000000LL, 5));
	expect_fits(made_summary(2, "NVIDIA RTX 9999", 0, 5));
}

/* Every line of the box is as wide as the box, also with ideographs and emoji in it. */
static void expect_box(const char *name, bool utf8, bool colour, const char *corner)
{
	struct view_summary *s = made_summary_of(made_starved(name), "NVIDIA H100", 6880000000LL);

	for (int columns = 36; columns <= 80; columns += 4) {
		look = (struct view_text_style){ colour, true, utf8, columns };
		char *text = made_page(s, verdict_as_looked);
		EXPECT(!strncmp(text, corner, strlen(corner)));
		EXPECT(strstr(text, " gpustarve ") != NULL);
		EXPECT((strchr(text, '\x1b') != NULL) == colour);
		for (char *p = text; *p; p += strcspn(p, "\n") + 1)
			EXPECT_INT(view_line_columns(p, strcspn(p, "\n")), columns);
		for (const char *p = text; !utf8 && !name && *p; p++)
			EXPECT(!(*p & 0x80));
		free(text);
	}
	view_summary_free(s);
}

static void test_box(void)
{
	expect_box(NULL, false, false, "+- gpustarve -");
	expect_box(NULL, false, true, "+- gpustarve -");
	expect_box(NULL, true, true, "\u256d\u2500 gpustarve \u2500");
	expect_box("/data/\xe6\x95\xb0\xe6\x8d\xae/\xf0\x9f\x98\x80 x.bin", true, true, "\u256d");
	expect_box("a\xcc\x81\xcc\x81\xe2\x80\xae z", true, false, "\u256d");
}

static void test_cut_words(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	view_wrap_in(f, 10, true, 2, 4, "abcdefghijklmnopqrst uv");
	view_wrap_in(f, 10, false, 0, 2, "abcdefghijklmnopqrst uv");
	fclose(f);
	EXPECT_STR(text, "abcdefgh\n    ijklmn\n    opqrst\n    uv\nabcdefghijklmnopqrst\n  uv\n");
	free(text);
}

/* What it looks like: no terminal, no escape, no box. */
static void test_look(void)
{
	FILE *f = tmpfile();

	REQUIRE(f);
	setenv("TERM", "xterm", 1);
	struct view_text_style l = view_text_style_of(f);
	EXPECT(!l.colour && !l.box && !l.utf8);
	EXPECT_INT(l.columns, 80);
	fclose(f);
}

/* Cents where a terminal has no such sign: spelt out, and what follows stays in its column. */
static void test_ascii(void)
{
	struct view_text_style style = { .box = true, .columns = 80 };
	struct view_text_ascii a;
	char *text;
	size_t len;

	for (int utf8 = 0; utf8 < 2; utf8++) {
		FILE *to = open_memstream(&text, &len), *f;
		style.utf8 = utf8;
		f = view_text_begin(&a, to, &style);
		fputs("x   0.140 \302\242  high\n1.0 \302\242 of 2 \302\242\n  3.0 \302\242", f);
		view_text_end(&a);
		fclose(to);
		EXPECT_STR(
			text,
			utf8 ? "x   0.140 \302\242  high\n1.0 \302\242 of 2 \302\242\n  3.0 \302\242"
			     : "x  0.140 ct  high\n1.0 ct of 2 ct\n 3.0 ct");
		free(text);
	}
}

int main(void)
{
	return RUN(test_every_width, test_box, test_cut_words, test_look, test_narrow, test_verdict,
		   test_causes, test_own_call, test_order_of_all, test_evil_places, test_prices,
		   test_tame, test_direction, test_cents_close, test_wrap, test_ascii);
}
