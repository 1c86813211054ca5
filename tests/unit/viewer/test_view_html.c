/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: one file, nothing fetched, nothing run, foreign strings harmless, small enough.
 */
#include "harness.h"
#include "analysis/picture/picture.h"
#include "report/html/html.h"
#include "report/html/html_script.h"
#include "view_made.h"

#define DATA_BLOCK "<script type=\"application/json\" id=\"gpustarve-data\">"

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* The page without what stands in its script elements: data, and the charts' program. */
static char *markup(const char *page)
{
	char *out = calloc(1, strlen(page) + 1), *to = out;

	for (const char *p = page; *p;) {
		*to++ = *p++;
		if (strncmp(p - 1, "<script", 7) != 0)
			continue;
		const char *begin = strchr(p, '>'), *end = strstr(p, "</script>");
		REQUIRE(begin && end && begin < end);
		memcpy(to, p, (size_t)(begin + 1 - p));
		to += begin + 1 - p;
		p = end;
	}
	return out;
}

/* Nothing but the data and the program that was built in is a script. */
static void check_scripts(const char *page)
{
	EXPECT_UINT(count(page, DATA_BLOCK), 1);
	EXPECT_UINT(count(page, "<script"), view_script_built() ? 2 : 1);
}

static bool is_void(const char *name, size_t n)
{
	return n == 4 && !strncmp(name, "meta", 4);
}

/* Every element is closed, in order; br alone may stand alone. */
static void check_nesting(const char *text)
{
	const char *open[64];
	size_t depth = 0;

	for (const char *p = strchr(text, '<'); p; p = strchr(p + 1, '<')) {
		const char *name = p[1] == '/' ? p + 2 : p + 1, *end = strchr(p, '>');
		size_t n = strcspn(name, " \n>/");
		REQUIRE(end != NULL);
		if (p[1] == '!' || end[-1] == '/' || is_void(name, n) ||
		    (n == 2 && !strncmp(name, "br", 2)))
			continue;
		if (p[1] != '/') {
			REQUIRE(depth < 64);
			open[depth++] = name;
			continue;
		}
		REQUIRE(depth > 0);
		depth--;
		EXPECT(!strncmp(open[depth], name, n) && strcspn(open[depth], " \n>/") == n);
	}
	EXPECT_UINT(depth, 0);
}

/* Whether attribute @name has the value of @n bytes at @value, somewhere. */
static size_t count_value(const char *text, const char *name, const char *value, size_t n)
{
	char *what = NULL;
	size_t found;

	REQUIRE(asprintf(&what, " %s=\"%.*s\"", name, (int)n, value) > 0);
	found = count(text, what);
	free(what);
	return found;
}

/* Ids are there once, and what is pointed to is there. */
static void check_ids(const char *text)
{
	static const char *const pointer[] = { " href=\"#", " aria-labelledby=\"" };

	for (const char *p = text; (p = strstr(p, " id=\"")); p++)
		EXPECT_UINT(count_value(text, "id", p + 5, strcspn(p + 5, "\"")), 1);
	for (size_t i = 0; i < 2; i++)
		for (const char *p = text; (p = strstr(p, pointer[i])); p++) {
			const char *to = p + strlen(pointer[i]);
			EXPECT_UINT(count_value(text, "id", to, strcspn(to, "\"")), 1);
		}
	EXPECT_UINT(count(text, " href=\""), count(text, " href=\"#"));
}

static void check_markup(const char *page)
{
	char *text = markup(page);

	check_scripts(page);
	check_nesting(text);
	check_ids(text);
	EXPECT_UINT(count(text, " style=\""), 0); /* the policy refuses it */
	free(text);
}

static void test_self_contained(void)
{
	struct view_summary *s = made_summary(4, "NVIDIA H100 80GB HBM3", 6880000000LL, 240);
	char *page = made_page(s, view_html_write), *text = markup(page);

	EXPECT(!strncmp(page, "<!doctype html>", 15));
	EXPECT(strstr(page, "default-src 'none'") != NULL);
	check_markup(page);
	EXPECT_UINT(count(text, "<link"), 0);
	EXPECT_UINT(count(text, "<img"), 0);
	EXPECT_UINT(count(text, "http://"), 0);
	EXPECT_UINT(count(text, "https://"), 0);
	EXPECT_UINT(count(text, "url("), count(text, "url(#p-"));
	EXPECT_UINT(count(text, "@import"), 0);
	EXPECT_UINT(count(text, "data-chart=\"timeline\""), 4);
	EXPECT_UINT(count(text, "<svg class=\"strip\""), 4);
	EXPECT(strstr(text, "$27.52") != NULL);
	EXPECT(strstr(text, "2026-11-09") != NULL);
	free(text);
	free(page);
	view_summary_free(s);
}

/* Every table has a caption, and every head of a column or row says which it is. */
/* Beside what the verdict is about a larger sum says what else is in it. */
static void test_waste(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;
	char *page;

	made_class(r, ANA_HOST_GC, MADE_HOUR_NS / 10);
	s = made_summary_of(r, "x", 1000000000);
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, "</b> in all, other causes included") != NULL);
	free(page);
	view_summary_free(s);
	r = made_starved(NULL);
	made_no_class(r, ANA_HOST_SYNC);
	s = made_summary_of(r, "x", 1000000000);
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, "</b> in all,") && !strstr(page, "other causes included"));
	free(page);
	view_summary_free(s);
}

static void test_tables(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), "x", 1000000000);
	char *page = made_page(s, view_html_write), *text = markup(page);

	EXPECT(count(text, "<table>") > 5);
	EXPECT_UINT(count(text, "<table>"), count(text, "<caption>"));
	EXPECT_UINT(count(text, "<th ") + count(text, "<th>"), count(text, "<th scope=\""));
	EXPECT_UINT(count(text, "<main "), 1);
	EXPECT_UINT(count(text, "<h1>"), 1);
	EXPECT_UINT(count(text, "<section "), count(text, "<h2 ") + 1);
	EXPECT_UINT(count(text, "<figure "), count(text, "<summary>Table</summary>"));
	free(text);
	free(page);
	view_summary_free(s);
}

static void check_harmless(const char *page)
{
	char *text = markup(page);

	check_markup(page);
	EXPECT_UINT(count(page, "\x1b"), 0);
	EXPECT_UINT(count(page, "\xff"), 0);
	EXPECT_UINT(count(page, "\xe2\x80\xae"), 0);
	EXPECT_UINT(count(text, "<script>alert"), 0);
	EXPECT_UINT(count(text, "</title>"), 1);
	EXPECT(strstr(text, "&lt;script&gt;") != NULL);
	free(text);
}

static void test_evil_names(void)
{
	struct view_summary *s = made_summary(2, MADE_EVIL, 1000000000, 10);
	char *page = made_page(s, view_html_write);

	check_harmless(page);
	free(page);
	view_summary_free(s);
}

/* Findings, loader and advice of a run whose every string is hostile. */
static void test_evil_places(void)
{
	struct view_summary *s = made_summary_of(made_starved(MADE_EVIL), "x", 1000000000);
	char *page = made_page(s, view_html_write);

	check_harmless(page);
	free(page);
	view_summary_free(s);
}

/* Shares of a GPU's training time beside its timeline: those in its table are of all time held. */
static void of_which_time(const char *page)
{
	const char *at = strstr(page, "<span>busy <data"), *end = at ? strstr(at, "</span>") : NULL;

	EXPECT(end && !strncmp(end - 21, " of its training time", 21));
}

static void test_places(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), "x", 1000000000);
	char *page = made_page(s, view_html_write);

	EXPECT(strstr(page, "id=\"why\"") != NULL);
	EXPECT(strstr(page, ">dataset.py:88</bdi>") != NULL);
	EXPECT(strstr(page, "<bdi>__getitem__</bdi>") != NULL);
	EXPECT(strstr(page, ">/home/someone/project/data/dataset.py</bdi>") != NULL);
	EXPECT(strstr(page,
		      "<bdi data-text=\"/findings/0/sentence\">The GPU waited 20.8 % of the "
		      "training time for batches: all 4 workers were blocked reading "
		      "/data/imagenet/train/shard-0017.bin and 1 more (nfs4) at dataset.py:88 "
		      "__getitem__. 6 workers would hide it") != NULL);
	EXPECT(strstr(page, "libc.so.6+0x1b2f3") != NULL);
	EXPECT(strstr(page, "a time, and batches take uneven times; <data value=\"1514\" "
			    "data-key=\"/findings/0/evidence/samples\" data-unit=\"count\">1,514"
			    "</data> samples of ") != NULL);
	EXPECT(strstr(page, ": <b><data value=\"6\" "
			    "data-key=\"/loader/need/workers_needed\"") != NULL);
	EXPECT(strstr(page, " workers</b> would keep up; now there are "));
	of_which_time(page);
	EXPECT(strstr(page, "24.0 ms</data> on average.</p></div>"));
	free(page);
	s->loader.need.needed = s->loader.need.advised = 4;
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, " workers</b> are enough; there are "));
	EXPECT(!strstr(page, "A batch then comes"));
	free(page);
	view_summary_free(s);
}

/* What the same time could save twice counts once: the sum is at most the waste. */
static void test_advice(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), "x", 1000000000);
	char *page = made_page(s, view_html_write);
	const char *together = strstr(page, "Together at most <data value=\"");
	const char *wasted = strstr(page, "data-key=\"/cost/wasted_usd\"");

	EXPECT(s->advices >= 3 && s->advice[0].with_need);
	EXPECT(strstr(page, "by itself at most ") != NULL);
	REQUIRE(together && wasted);
	double sum = atof(strchr(together, '"') + 1);
	EXPECT(sum > 0 && sum <= atof(strchr(strstr(together, " of the <data"), '"') + 1));
	EXPECT(strstr(page, "num_workers 4 -&gt; 6</b></a>, if the source keeps up. It saves at "
			    "most ") != NULL);
	free(page);
	view_summary_free(s);
}

/* On what the change depends stands with it, too: people paste what they see. */
static void test_change_depends(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;
	char *page;
	const char *change;

	r->picture = calloc(1, sizeof(*r->picture));
	for (int k = 0; k < ANA_PICTURES; k++)
		r->picture->at[k].step.end_ns = 1000000;
	r->loader[0].made_file = strdup("/x/train.py");
	r->loader[0].made_line = 45;
	s = made_summary_of(r, "x", 1000000000);
	page = made_page(s, view_html_write);
	change = strstr(page, "<h3>The change</h3>");
	REQUIRE(change != NULL);
	/* and the call's line, here as on the page's top and in the table */
	EXPECT(strstr(page, "</b></a>, in the call at <bdi class=\"mono\" "
			    "data-from=\"/loader/settings/0\">train.py:45</bdi>, if the source "
			    "keeps up. It saves at most ") != NULL);
	EXPECT(strstr(change, "the call at </span><bdi class=\"mono\""));
	EXPECT(strstr(page, "<dt>Made at</dt><dd><bdi class=\"mono\""));
	EXPECT(strstr(change, "num_workers=6)</code>") != NULL);
	change = strstr(change, ", if the source keeps up</span></li>");
	EXPECT(change && change < strstr(page, "id=\"advice\""));
	free(page);
	view_summary_free(s);
}

static void test_no_price(void)
{
	struct view_summary *s = made_summary(2, "NVIDIA RTX 9999", 0, 10);
	char *page = made_page(s, view_html_write), *text = markup(page);

	EXPECT(!strchr(text, '$'));
	EXPECT(strstr(text, "GPU-hours") != NULL);
	check_markup(page);
	free(text);
	free(page);
	view_summary_free(s);
}

/* The part of a GPU that others used, too, in percent; of MIG slices as a fraction. */
static void test_shared(void)
{
	struct view_summary *s = made_summary(1, "NVIDIA H100", 3990000000LL, 10);
	struct view_rate *r = s->cost.rate;
	char *page;

	r->nano_usd_per_hour = 306922770;
	r->fraction_num = 76923;
	r->fraction_den = 1000000;
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, ">$0.307</data> per GPU-hour"));
	EXPECT(strstr(page, ">7.7 %</data> of <data value=\"3.99\""));
	free(page);
	r->fraction_num = 2;
	r->fraction_den = 7;
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, ">2/7</span> of <data value=\"3.99\""));
	free(page);
	view_summary_free(s);
}

/* A summary of no GPU, as a file may bring it: nothing to draw, and nothing breaks. */
static void test_no_gpu(void)
{
	struct ana_result *r = calloc(1, sizeof(*r));
	struct view_summary *s;
	char *page;

	REQUIRE(r != NULL);
	r->judgement = ana_verdict_of(0, r->classes);
	s = made_summary_of(r, "x", 0);
	REQUIRE(s != NULL);
	page = made_page(s, view_html_write);
	check_markup(page);
	EXPECT(strstr(page, "inconclusive") != NULL);
	EXPECT_UINT(count(page, "data-chart=\"timeline\""), 0);
	free(page);
	view_summary_free(s);
}

static void test_small(void)
{
	static const size_t gpus[] = { 1, 8, 64, 1024 };

	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		size_t buckets = gpus[i] > 64 ? 16 : 240;
		struct view_summary *s = made_summary(gpus[i], "NVIDIA H100 80GB HBM3", 1, buckets);
		char *page = made_page(s, view_html_write);
		printf("%zu GPUs: %zu bytes\n", gpus[i], strlen(page));
		EXPECT(strlen(page) <= 1000000);
		if (gpus[i] == 64)
			check_markup(page);
		free(page);
		view_summary_free(s);
	}
}

/* The page needs the summary only: made from the file it is the same, byte by byte. */
static void from_file(struct view_summary *s)
{
	struct view_summary *again;
	char *json = made_page(s, view_summary_write), *page = made_page(s, view_html_write), *copy;
	char path[] = "/tmp/gpustarve-page-XXXXXX";
	const char *why = NULL;
	int fd = mkstemp(path);

	REQUIRE(fd >= 0 && write(fd, json, strlen(json)) == (ssize_t)strlen(json));
	close(fd);
	EXPECT_INT(view_summary_read(&again, path, &why), 0);
	copy = made_page(again, view_html_write);
	EXPECT(!strcmp(copy, page));
	unlink(path);
	free(json);
	free(page);
	free(copy);
	view_summary_free(s);
	view_summary_free(again);
}

static void test_from_file(void)
{
	from_file(made_summary(3, "NVIDIA H100 80GB HBM3", 6880000000LL, 50));
	from_file(made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 6880000000LL));
}

/* Three lines of one cause, and one of another class. */
static struct ana_result *several_lines(void)
{
	struct ana_result *r = made_result(1, "x", 5);

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_HOST_SYNC, MADE_HOUR_NS / 2);
	for (uint32_t line = 7; line < 10; line++)
		made_site(r, (struct ana_hotspot){ .class = ANA_HOST_SYNC,
						   .ns = MADE_HOUR_NS / 7 - line,
						   .role = WIRE_ROLE_SUBMITTER,
						   .file = (char *)"/x/data.py",
						   .function = (char *)"load",
						   .line = line,
						   .samples = 1000 + line,
						   .threads = 1 });
	return r;
}

/* The page's top tells what the box tells: all lines of the cause at once, and one gain. */
static void test_one_cause(void)
{
	struct view_summary *s = made_summary_of(several_lines(), "x", 6880000000LL);
	char *page = made_page(s, view_html_write), *text = markup(page);
	const char *top = strstr(text, "<dt>At line</dt>"), *why = strstr(text, "id=\"why\"");
	const char *gain = " times the steps per hour", *first;

	REQUIRE(top && why);
	EXPECT(strstr(top, "data-text=\"/causes/0/sentence\"") != NULL);
	EXPECT(strstr(top, "data.py:7 load, also 8 and 9). Without it: at most 1.76 times the "
			   "steps per hour.") != NULL);
	EXPECT(strstr(top, "Line by line: ") != NULL);
	EXPECT(strstr(top, ", by <data value=\"3024\"") != NULL);
	EXPECT(strstr(top, " samples of these lines") != NULL);
	/* below, line by line, the cause has the same gain, once */
	first = strstr(why, gain);
	REQUIRE(first != NULL);
	EXPECT(!strncmp(first - strlen("at most 1.76"), "at most 1.76", strlen("at most 1.76")));
	/* which is of all its lines: said where the sentence is of one of them */
	EXPECT(!strncmp(first + strlen(gain), " (42.9 % of the training time saved).", 37));
	EXPECT(!strstr(first + 1, gain) || strstr(first + 1, gain) > strstr(why, "</section>"));
	free(text);
	free(page);
	view_summary_free(s);
}

/* What is shown of the lines sums to what is shown of all of them. */
static void test_lines_sum(void)
{
	struct view_summary *s = made_summary_of(several_lines(), "x", 6880000000LL);
	char *page = made_page(s, view_html_write);
	const char *at = strstr(page, "Line by line: "), *end = at ? strstr(at, "</span>") : NULL;
	int tenths = 0, lines = 0, whole, part;

	REQUIRE(at && end);
	while ((at = strstr(at, "data-closed=\"\" data-unit=\"pct\">")
			     ?: strstr(at, "data-closed=\"\">")) &&
	       at < end) {
		at = strchr(at, '>') + 1;
		if (sscanf(at, "%d.%d", &whole, &part) == 2) {
			tenths += 10 * whole + part;
			lines++;
		}
	}
	EXPECT_INT(lines, 3);
	EXPECT_INT(tenths, 429); /* each is 14.3 */
	free(page);
	view_summary_free(s);
}

/* Where a saving is of more than the line that stands beside it. */
static void test_of_all(void)
{
	struct ana_result *r = made_result(1, "x", 5);
	struct view_summary *s;
	char *page;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_INPUT_INLINE, MADE_HOUR_NS / 2);
	for (uint32_t i = 0; i < 2; i++)
		made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_INLINE,
						   .ns = MADE_HOUR_NS / 4 - i,
						   .role = WIRE_ROLE_SUBMITTER,
						   .file = (char *)(i ? "/x/a.py" : "/x/b.py"),
						   .line = 7,
						   .samples = 9,
						   .threads = 1 });
	s = made_summary_of(r, "x", 6880000000LL);
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, " That is of all of input.inline, <data value=\"50.01") != NULL);
	EXPECT(strstr(page, " (of all of input.inline, <data value=\"50.01") != NULL);
	free(page);
	view_summary_free(s);
}

static void made_row(struct ana_picture_step *p, uint32_t line, uint64_t samples, uint64_t seen,
		     bool tied)
{
	struct ana_picture_row *row = &p->row[p->rows++];

	*row = (struct ana_picture_row){ .kind = ANA_ROW_WORKER,
					 .number = (int64_t)p->rows,
					 .file = strdup("/x/data.py"),
					 .function = strdup("load"),
					 .line = line,
					 .samples = samples,
					 .line_samples = seen,
					 .line_tied = tied,
					 .line_state = ANA_DOES_CPU };
	memset(row->cell, ana_picture_words[ANA_DOES_CPU].letter, ANA_PICTURE_CELLS);
	memset(row->eighth, '0', ANA_PICTURE_CELLS);
	row->ns[ANA_DOES_CPU] = p->step.end_ns - p->step.start_ns;
}

/* A line that chance may have chosen is named only if it is the run's first one. */
static void test_picture_lines(void)
{
	struct ana_result *r = several_lines();
	struct ana_picture_step *p;
	struct view_summary *s;
	char *page;

	r->picture = calloc(1, sizeof(*r->picture));
	for (int k = 0; k < ANA_PICTURES; k++) {
		r->picture->at[k].step.start_ns = r->gpu[0].held_start_ns;
		r->picture->at[k].step.end_ns = r->gpu[0].held_start_ns + 1000000;
	}
	p = &r->picture->at[ANA_PICTURE_MEDIAN];
	made_row(p, 70, 3, 2, false); /* enough */
	made_row(p, 71, 2, 2, false);
	made_row(p, 72, 9, 4, true);
	made_row(p, 8, 2, 1, true); /* of the first cause */
	made_row(p, 73, 2, 2,
		 false); /* two workers at one line are as good as one looked at longer */
	made_row(p, 73, 2, 2, false);
	s = made_summary_of(r, "x", 6880000000LL);
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, ">data.py:70</bdi>") && strstr(page, ">data.py:73</bdi>"));
	EXPECT(!strstr(page, ">data.py:71</bdi>") && !strstr(page, ">data.py:72</bdi>"));
	EXPECT_UINT(count(page, "</b>: too few to name a line: <data value=\"2\""), 1);
	EXPECT_UINT(count(page, "</b>: no line has most of <data value=\"9\""), 1);
	EXPECT_UINT(count(page, ", the line of the run&#8217;s first cause, in <data value=\"1\""),
		    1);
	check_markup(page);
	free(page);
	from_file(s);
}

static const struct t_case cases[] = {
	T_CASE(test_self_contained), T_CASE(test_waste),	  T_CASE(test_tables),
	T_CASE(test_evil_names),     T_CASE(test_evil_places),	  T_CASE(test_places),
	T_CASE(test_advice),	     T_CASE(test_change_depends), T_CASE(test_no_price),
	T_CASE(test_shared),	     T_CASE(test_no_gpu),	  T_CASE(test_small),
	T_CASE(test_from_file),	     T_CASE(test_one_cause),	  T_CASE(test_lines_sum),
	T_CASE(test_of_all),	     T_CASE(test_picture_lines),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
