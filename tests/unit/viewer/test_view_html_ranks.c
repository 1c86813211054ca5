/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's panel of ranks: who is named, in which words, with which numbers; harmless whatever
 * the ranks' strings are; small with many ranks; the same when it is made from summary.json.
 */
#include "harness.h"
#include "report/html/html.h"
#include "report/text/text.h"
#include "view_made.h"

#define SECOND 1000000000LL

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Rank @late makes each other one wait for a second; @text: every string, NULL: usual ones. */
static struct ana_result *made_ranks(size_t n, size_t late, const char *text)
{
	struct ana_result *r = made_result(n, "NVIDIA H100 80GB HBM3", 60);
	struct ana_ranks *k = &r->ranks;

	k->rows = n;
	k->row = calloc(n, sizeof(*k->row));
	for (size_t i = 0; i < n; i++) {
		struct ana_gpu *g = &r->gpu[i];

		k->row[i] = (struct ana_rank){ .gpu = (uint32_t)i,
					       .has_rank = true,
					       .rank = (int32_t)i,
					       .collectives = 200,
					       .matched = 200,
					       .late = i == late ? 190 : 3,
					       .top_cause = ANA_CLASSES };
		if (i == late)
			continue;
		k->row[i].waited_ns = SECOND;
		g->classes[ANA_COMPUTE] -= SECOND;
		g->classes[ANA_COMM_SKEW] = SECOND;
		g->skew_causes[ANA_INPUT_FETCH] = SECOND;
		r->classes[ANA_COMPUTE] -= SECOND;
		r->classes[ANA_COMM_SKEW] += SECOND;
		r->skew_causes[ANA_INPUT_FETCH] += SECOND;
		for (size_t b = 0; b < r->timeline[i].count; b++)
			r->timeline[i].bucket[b].classes[ANA_COMM_SKEW] += 20 * SECOND;
	}
	k->row[late].late_much = 180;
	k->row[late].culprit = ANA_CULPRIT_STABLE;
	k->row[late].caused_ns = k->row[late].causes[ANA_INPUT_FETCH] = SECOND * (int64_t)(n - 1);
	k->row[late].top_cause = ANA_INPUT_FETCH;
	k->row[late].file = strdup(text ? text : "/home/me/train.py");
	k->row[late].function = strdup(text ? text : "__getitem__");
	k->row[late].line = 38;
	k->clocks = 2;
	k->clock = calloc(2, sizeof(*k->clock));
	k->clock[0] = (struct ana_clock){ .host = strdup(text ? text : "node1"), .aligned = true };
	k->clock[1] = (struct ana_clock){ .host = strdup(text ? text : "node2"),
					  .aligned = true,
					  .offset_ns = -3 * SECOND,
					  .drift_ppb = -50000,
					  .residual_ns = 1500,
					  .points = 200 };
	k->groups = 1;
	k->group = calloc(1, sizeof(*k->group));
	k->group[0] = (struct ana_group){ .name = strdup(text ? text : "ncclDevKernel_AllReduce"),
					  .member = calloc(2, sizeof(uint32_t)),
					  .members = 2,
					  .matched = 200,
					  .waited_ns = SECOND };
	k->group[0].member[1] = 1;
	k->matched = 200;
	k->late_ns = 100000;
	k->step_ns = 10000000;
	return r;
}

static void test_named(void)
{
	struct view_summary *s = made_summary_of(made_ranks(4, 2, NULL), "x", 3600 * SECOND);
	char *page = made_page(s, view_html_write);
	const char *panel = strstr(page, "<section id=\"ranks\"");

	REQUIRE(panel != NULL);
	EXPECT(strstr(panel,
		      "data-key=\"/ranks/rows/2/rank\" data-unit=\"id\">2</data></b> made the "
		      "others wait <data value=\"3000000000\"") != NULL);
	EXPECT(strstr(panel, "again and again") != NULL);
	EXPECT(strstr(panel, ">train.py:38</bdi> <bdi>__getitem__</bdi>") != NULL);
	EXPECT_UINT(count(panel, "data-chart=\"ranks\""), 1);
	EXPECT(strstr(panel, "<path class=\"f-comm\"") != NULL);
	EXPECT(strstr(panel, "data-key=\"/ranks/clocks/1/residual_ns\" data-unit=\"ns\">1.5 us") !=
	       NULL);
	EXPECT(strstr(panel, " died ") == NULL && strstr(panel, " hung") == NULL &&
	       strstr(panel, "slow GPU") == NULL);
	free(page);
	view_summary_free(s);
}

static void test_troubles(void)
{
	struct ana_result *r = made_ranks(4, 2, NULL);
	struct view_summary *s;
	char *page;

	r->ranks.row[0].state = ANA_RANK_DEAD;
	r->ranks.row[0].last_name = strdup("ncclDevKernel_Last");
	r->ranks.row[1].state = ANA_RANK_HUNG;
	r->ranks.row[2].culprit = ANA_CULPRIT_ROTATING;
	r->ranks.row[2].caused_ns = SECOND;
	r->ranks.row[3].has_straggler = r->ranks.row[3].straggler = true;
	r->ranks.row[3].straggler_ppm = 81234;
	s = made_summary_of(r, "x", 0);
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, " died while the others went on") != NULL);
	EXPECT(strstr(page, "ncclDevKernel_Last") != NULL);
	EXPECT(strstr(page, " hung: it lived on") != NULL);
	EXPECT(strstr(page, "has a slow GPU") != NULL && strstr(page, ">8.1 %</data>") != NULL);
	EXPECT(strstr(page, ", at times: it came last") != NULL);
	EXPECT(strstr(page, "caused_usd") == NULL);
	free(page);
	view_summary_free(s);
}

static void verdict(const struct view_summary *s, FILE *f)
{
	view_text_verdict(s, f, &view_text_style_plain, NULL);
}

/* Who is late for next to nothing is not named; of others the most costly first. */
static void test_costly_first(void)
{
	static const struct {
		size_t row;
		int64_t caused;
	} late[] = {
		{ 0, 0 }, { 1, SECOND }, { 4, 5 * SECOND }, { 5, 3 * SECOND }, { 6, 2 * SECOND }
	};
	struct ana_result *r = made_ranks(8, 2, NULL);
	const char *first, *second, *third;
	struct view_summary *s;
	char *text;

	r->ranks.row[2].caused_ns = 4 * SECOND;
	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
		r->ranks.row[late[i].row].culprit = ANA_CULPRIT_STABLE;
		r->ranks.row[late[i].row].caused_ns = late[i].caused;
	}
	r->ranks.row[1].caused_ns = (r->gpu_ns - r->classes[ANA_EXCLUDED_STARTUP]) / 110000;
	s = made_summary_of(r, "x", SECOND);
	text = made_page(s, verdict);
	first = strstr(text, "rank 4 made the others wait");
	second = strstr(text, "rank 2 made the others wait");
	third = strstr(text, "rank 5 made the others wait");
	EXPECT(first && second && third && first < second && second < third);
	EXPECT(strstr(text, "and 1 more rank was late") != NULL);
	EXPECT(!strstr(text, "rank 0 made") && !strstr(text, "rank 1 made"));
	free(text);
	text = made_page(s, view_html_write);
	EXPECT(strstr(text, "waited for input ") && strstr(text, ", in part within collectives"));
	free(text);
	view_summary_free(s);
}

static void test_nobody(void)
{
	struct ana_result *r = made_ranks(3, 0, NULL);
	struct view_summary *s;
	char *page;

	r->ranks.row[0].culprit = ANA_CULPRIT_NONE;
	s = made_summary_of(r, "x", SECOND);
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, "No rank made the others wait by more than chance") != NULL);
	EXPECT(strstr(page, "again and again") == NULL);
	free(page);
	view_summary_free(s);

	/* A rank that cost much, in too few events to tell, is not told to be chance. */
	r = made_ranks(3, 0, NULL);
	r->ranks.row[0].culprit = ANA_CULPRIT_NONE;
	r->ranks.row[0].late_much = 9;
	r->ranks.row[0].caused_ns = r->gpu_ns / 20;
	s = made_summary_of(r, "x", SECOND);
	page = made_page(s, view_html_write);
	EXPECT(!strstr(page, "No rank made the others wait by more than chance"));
	EXPECT(strstr(page, ", but came last by much only to ") &&
	       strstr(page, "collectives, too few to tell"));
	free(page);
	page = made_page(s, verdict);
	EXPECT(strstr(page,
		      "but came last by much\n    only 9 times: too few to tell whether it is"));
	free(page);
	s->result->ranks.row[0].late_much = 10; /* enough of them, and chance all the same */
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, "No rank made the others wait by more than chance"));
	free(page);
	view_summary_free(s);
	s = made_summary(2, "x", SECOND, 10);
	page = made_page(s, view_html_write);
	EXPECT(strstr(page, "<section id=\"ranks\"") == NULL);
	free(page);
	view_summary_free(s);
}

static void test_harmless(void)
{
	struct view_summary *s = made_summary_of(made_ranks(4, 2, MADE_EVIL), "x", SECOND);
	char *page = made_page(s, view_html_write);
	const char *panel = strstr(page, "<section id=\"ranks\"");

	REQUIRE(panel != NULL);
	EXPECT_UINT(count(panel, "<script>alert"), 0);
	EXPECT_UINT(count(panel, "\x1b") + count(panel, "\xff") + count(panel, "\xe2\x80\xae"), 0);
	EXPECT(count(panel, "&lt;script&gt;") >= 4);
	free(page);
	view_summary_free(s);
}

static void test_small(void)
{
	struct view_summary *s = made_summary_of(made_ranks(1024, 700, NULL), "x", SECOND);
	char *page = made_page(s, view_html_write);
	const char *panel = strstr(page, "<section id=\"ranks\""), *end;

	REQUIRE(panel != NULL);
	end = strstr(panel, "</section>");
	printf("1024 ranks: %zu bytes of %zu\n", (size_t)(end - panel), strlen(page));
	EXPECT((size_t)(end - panel) < 200000);
	EXPECT(strlen(page) <= 1000000);
	EXPECT(strstr(panel, "data-key=\"/ranks/rows/700/rank\"") != NULL); /* named all the same */
	free(page);
	view_summary_free(s);
}

/* Stamps at the ends of their type, as a hostile trace may have them. */
static void test_far_clocks(void)
{
	struct ana_result *r = made_ranks(2, 0, NULL);
	struct view_summary *s;

	r->ranks.clock[0].offset_ns = INT64_MIN;
	r->timeline[1].bucket[0].start_ns = -(INT64_C(1) << 61); /* the least a file may bring */
	r->timeline[1].bucket[59].end_ns = INT64_C(1) << 61;
	s = made_summary_of(r, "x", SECOND);
	free(made_page(s, view_html_write));
	view_summary_free(s);
}

static void test_from_file(void)
{
	struct view_summary *s = made_summary_of(made_ranks(4, 2, NULL), "x", SECOND), *again;
	char *json = made_page(s, view_summary_write), *page, *copy;
	char path[] = "/tmp/gpustarve-ranks-XXXXXX";
	const char *why = NULL, *panel;
	int fd = mkstemp(path);

	REQUIRE(fd >= 0 && write(fd, json, strlen(json)) == (ssize_t)strlen(json));
	close(fd);
	EXPECT_INT(view_summary_read(&again, path, &why), 0);
	unlink(path);
	page = made_page(s, view_html_write);
	copy = made_page(again, view_html_write);
	panel = strstr(page, "<section id=\"ranks\"");
	REQUIRE(panel && strstr(copy, "<section id=\"ranks\""));
	EXPECT(!strcmp(panel, strstr(copy, "<section id=\"ranks\"")));
	free(json);
	free(page);
	free(copy);
	view_summary_free(s);
	view_summary_free(again);
}

int main(void)
{
	return RUN(test_named, test_troubles, test_costly_first, test_nobody, test_harmless,
		   test_small, test_far_clocks, test_from_file);
}
