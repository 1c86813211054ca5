/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run is decides what its time is called: nobody is told of the training time of a server,
 * whatever was lost and wherever that is said.
 */
#include "harness.h"
#include "check/result.h"
#include "compare/compare.h"
#include "fit/places.h"
#include "report/html/html.h"
#include "report/markdown/markdown.h"
#include "report/text/text.h"
#include "summary/kind.h"
#include "view_made.h"

static void report(const struct view_summary *s, FILE *f)
{
	view_text_report(s, f, &view_text_style_plain);
}

static void diagnosis(const struct view_summary *s, FILE *f)
{
	view_text_verdict(s, f, &view_text_style_plain, NULL);
}

static void fit(const struct view_summary *s, FILE *f)
{
	const char *why;
	struct fit fit;

	REQUIRE(fit_make(&fit, s, NULL, NULL, &why) == 0);
	fit_text(&fit, s, f);
	fit_fini(&fit);
}

static void compared(const struct view_summary *s, FILE *f)
{
	const struct view_summary *both[] = { s, s };
	const char *path[] = { "a", "b" };
	struct view_comparison c;

	view_compare(&c, both, path, 2, -1);
	view_compare_text(&c, f, &view_text_style_plain);
	view_compare_html(&c, f);
	view_comparison_fini(&c);
}

static const struct {
	const char *name;
	void (*write)(const struct view_summary *s, FILE *f);
} writers[] = {
	{ "report", report },		{ "diagnosis", diagnosis },
	{ "page", view_html_write },	{ "markdown", view_markdown_write },
	{ "JSON", view_summary_write }, { "fit", fit },
	{ "comparison", compared },
};

/* A quarter of an hour of class @c, with samples at a line of the thread that submits. */
static struct view_summary *losing(enum ana_class c, uint8_t hints)
{
	struct ana_result *r = made_starved(NULL);
	int64_t ns = MADE_HOUR_NS / 4;

	r->hints = hints;
	r->step_fed_median_ns = 30000000;
	if (c != ANA_COMPUTE)
		made_class(r, c, ns);
	r->gpu[0].judgement.flagged = r->judgement.flagged = true;
	made_site(r, (struct ana_hotspot){ .class = c,
					   .ns = ns / 2,
					   .role = WIRE_ROLE_SUBMITTER,
					   .wait = WIRE_WAIT_LOCK,
					   .function = (char *)"run",
					   .file = (char *)"/srv/serve.py",
					   .line = 12,
					   .samples = 300,
					   .threads = 1 });
	return made_summary_of(r, "serve", 3990000000LL);
}

static void expect_none(const struct view_summary *s, const char *class, const char *word)
{
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		char *text = made_page(s, writers[i].write), *at = strcasestr(text, word);

		if (at)
			T_FAIL("%s, %s: ...%.*s", writers[i].name, class, 120,
			       at - text < 60 ? text : at - 60);
		free(text);
	}
}

static void test_inference(void)
{
	for (int c = 0; c < ANA_CLASSES; c++) {
		struct view_summary *s = losing((enum ana_class)c, ANA_HINT_GENERATES);

		EXPECT(s->kind.kind == FACTS_RUN_INFERENCE);
		expect_none(s, ana_class_names[c], "training");
		view_summary_free(s);
	}
}

/* What is seen running makes a training, and comes behind no other sign. */
static void test_passes(void)
{
	struct view_summary *s = losing(ANA_HOST_LOCK, ANA_HINT_GRADIENTS | ANA_HINT_GENERATES);
	char *text = made_page(s, view_summary_write);

	EXPECT(s->kind.kind == FACTS_RUN_TRAINING);
	EXPECT(s->kind.signs == 1 && s->kind.sign[0] == FACTS_SIGN_GRADIENTS);
	EXPECT(strstr(text, "\"backward_passes\""));
	free(text);
	view_summary_free(s);
}

/* What is waited for beside a loader is a server's of metrics, if it is not much. */
static void test_requests(void)
{
	static const struct {
		uint64_t batches;
		int64_t ns; /* of an hour */
		enum facts_run_kind kind;
	} cases[] = {
		{ 0, MADE_HOUR_NS / 100, FACTS_RUN_UNKNOWN },
		{ 0, MADE_HOUR_NS / 49, FACTS_RUN_INFERENCE },
		{ 100, MADE_HOUR_NS / 11, FACTS_RUN_UNKNOWN },
		{ 100, MADE_HOUR_NS / 9, FACTS_RUN_INFERENCE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ana_result *r = made_starved(NULL);
		struct view_summary s = { .result = r };

		r->batches = cases[i].batches;
		r->gpu_ns = MADE_HOUR_NS;
		r->classes[ANA_HOST_NO_WORK] = cases[i].ns;
		summary_make_kind(&s, NULL);
		if (s.kind.kind != cases[i].kind)
			T_FAIL("%zu: %s", i, facts_run_kinds[s.kind.kind]);
		ana_result_free(r);
	}
}

/* With torch, batches and a model's kernels; @hints, and so much that nobody saw. */
static enum facts_run_kind of_a_loader(uint8_t hints, int64_t unseen_ns)
{
	struct ana_result *r = made_starved(NULL);
	Wire__Hello hello = WIRE__HELLO__INIT;
	struct view_stream stream = { .hello = &hello };
	struct view_trace t = { .stream = &stream, .streams = 1 };
	struct view_summary s = { .result = r };
	enum facts_run_kind kind;

	hello.torch_version = (char *)"2.4.0";
	r->hints = hints;
	r->batches = 100;
	memset(&r->work, 0, sizeof(r->work));
	r->work.ns[FACTS_KIND_MATMUL * FACTS_PRECISIONS] = MADE_HOUR_NS / 2;
	r->quality.unobserved_ns = unseen_ns;
	summary_make_kind(&s, &t);
	kind = s.kind.kind;
	ana_result_free(r);
	return kind;
}

/* That nothing trains is said only where somebody looked. */
static void test_evaluation(void)
{
	EXPECT(of_a_loader(ANA_HINT_WATCHED, 0) == FACTS_RUN_EVALUATION);
	EXPECT(of_a_loader(0, 0) == FACTS_RUN_UNKNOWN);
	EXPECT(of_a_loader(ANA_HINT_WATCHED, MADE_HOUR_NS / 4) == FACTS_RUN_UNKNOWN);
	EXPECT(of_a_loader(ANA_HINT_GRADIENTS, 0) == FACTS_RUN_TRAINING);
}

/* The word is there, in its place. */
static void test_words(void)
{
	static const char *const said[] = { "of the training time", "GPU-hour of training" };
	static const char *const serves[] = { "of the inference time", "GPU-hour of inference" };

	for (int infers = 0; infers < 2; infers++) {
		struct view_summary *s =
			losing(ANA_HOST_LOCK, infers ? ANA_HINT_GENERATES : ANA_HINT_STEPS);
		const char *const *words = infers ? serves : said;

		for (size_t i = 0; i < 3; i++) {
			char *text = made_page(s, writers[i].write);

			for (size_t k = 0; k < 2; k++)
				if (!strstr(text, words[k]))
					T_FAIL("%s: no \"%s\"", writers[i].name, words[k]);
			free(text);
		}
		view_summary_free(s);
	}
}

static void test_table_texts(void)
{
	struct base_arena mem = { 0 };
	struct view_kind k = { .kind = FACTS_RUN_EVALUATION };
	const char *text = "the training thread";

	EXPECT_STR(view_words_of_kind(&k, &mem, "Training time, of training"),
		   "Evaluation time, of evaluation");
	EXPECT_STR(view_words_of_kind(&k, &mem, "raining, straining"), "raining, sevaluation");
	EXPECT(!view_words_of_kind(&k, &mem, NULL));
	EXPECT_STR(view_whole_words(&k, false), "evaluation time");
	EXPECT_STR(view_whole_words(&k, true), "time held");
	k.kind = FACTS_RUN_UNKNOWN;
	EXPECT(view_words_of_kind(&k, &mem, text) == text);
	k.kind = FACTS_RUN_INTERACTIVE;
	EXPECT(view_words_of_kind(&k, &mem, text) == text);
	base_arena_fini(&mem);
}

/* The gate names the share beside what it judges. */
static void test_check(void)
{
	struct view_summary *s = losing(ANA_EXCLUDED_STARTUP, ANA_HINT_GENERATES);
	struct base_arena mem = { 0 };
	struct check_run run;
	struct check_result result;
	struct check_budget budget;
	const char *why;

	check_run_make(&run, &mem, s, NULL);
	check_result_init(&result, &mem);
	REQUIRE(check_budget_parse("starved_pct<=1", &budget, &why) == 0);
	check_judge_budget(&result, &budget, &run);
	EXPECT(strstr(result.first->message, " % of the inference time) > 1"));
	check_run_fini(&run);
	base_arena_fini(&mem);
	view_summary_free(s);
}

int main(void)
{
	return RUN(test_inference, test_passes, test_requests, test_evaluation, test_words,
		   test_table_texts, test_check);
}
