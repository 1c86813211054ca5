/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs beside each other: exact differences, what is refused and why, findings that came, went
 * and moved, and advice whose bound nothing realised may exceed.
 */
#include "harness.h"
#include "base/utf8.h"
#include "compare/compare.h"
#include "compare/compare_priv.h"
#include "core/wrap.h"
#include "view_made.h"

#define GPU "NVIDIA H100 80GB HBM3"
#define PRICE 6880000000LL

struct both {
	struct view_summary *s[2];
	struct view_comparison c;
	const struct view_pair *p;
};

static void compare(struct both *b, struct view_summary *x, struct view_summary *y, int64_t month)
{
	static const char *const path[] = { "runs/a.gst", "runs/b.gst" };

	b->s[0] = x;
	b->s[1] = y;
	view_compare(&b->c, (const struct view_summary *const *)b->s, path, 2, month);
	b->p = &b->c.pair[0];
}

static void done(struct both *b)
{
	view_comparison_fini(&b->c);
	view_summary_free(b->s[0]);
	view_summary_free(b->s[1]);
}

static struct view_summary *starved(void)
{
	return made_summary_of(made_starved(NULL), GPU, PRICE);
}

/* The same steps, but the loader keeps up and the run is that much shorter. */
static struct ana_result *fed_result(void)
{
	struct ana_result *r = made_starved(NULL);
	int64_t gone = r->classes[ANA_INPUT_FETCH];

	made_no_class(r, ANA_INPUT_FETCH);
	r->gpu[0].classes[ANA_COMPUTE] -= gone;
	r->classes[ANA_COMPUTE] -= gone;
	r->gpu[0].held_ns -= gone;
	r->gpu_ns -= gone;
	r->gpu[0].judgement = r->judgement = ana_verdict_of(r->gpu_ns, r->classes);
	return r;
}

static struct view_summary *fed(void)
{
	return made_summary_of(fed_result(), GPU, PRICE);
}

static const struct view_measure *measure(const struct both *b, const char *id)
{
	return view_pair_measure(b->p, id);
}

static void test_measures(void)
{
	struct both b;
	int64_t third = MADE_HOUR_NS / 3;

	compare(&b, starved(), fed(), 120);
	const struct view_measure *m = measure(&b, "gpu_run");
	EXPECT_INT(m->difference, -(third / 4 * 3));
	EXPECT(m->comparable && m->has_change);
	m = measure(&b, "usd_run");
	EXPECT_INT(m->value[0], b.s[0]->cost.total);
	EXPECT_INT(m->value[1], b.s[1]->cost.total);
	EXPECT_INT(m->difference, b.s[1]->cost.total - b.s[0]->cost.total);
	EXPECT_INT(m->change_ppm, -250000); /* a quarter of the hour */
	m = measure(&b, "usd_step");
	EXPECT_INT(m->value[0], b.s[0]->step_nano_usd); /* the report's own number */
	m = measure(&b, "share_starved");
	EXPECT_INT(m->value[0], 333333);
	EXPECT_INT(b.p->saving.run_nano_usd, -measure(&b, "usd_run")->difference);
	EXPECT_INT(b.p->saving.month_nano_usd, 120 * b.p->saving.run_nano_usd);
	for (int k = 0; k < VIEW_PARTS; k++)
		EXPECT(!b.p->why[k]);
	EXPECT_INT(b.p->refusals, 0);
	done(&b);
}

static const struct view_finding_change *change(const struct both *b, enum ana_class c,
						enum view_finding_status status)
{
	for (size_t i = 0; i < b->p->findings; i++) {
		const struct view_finding_change *f = &b->p->finding[i];
		if (f->status == status &&
		    (f->finding[0] ? f->finding[0] : f->finding[1])->class == c)
			return f;
	}
	return NULL;
}

static void test_promise(void)
{
	struct both b;

	compare(&b, starved(), fed(), -1);
	REQUIRE(change(&b, ANA_INPUT_FETCH, VIEW_FINDING_WENT));
	EXPECT(change(&b, ANA_INPUT_PREP, VIEW_FINDING_STAYED) != NULL);
	REQUIRE(b.p->promises > 0);
	for (size_t i = 0; i < b.p->promises; i++) {
		const struct view_promise *q = &b.p->promise[i];
		EXPECT(q->step_ns >= 0 && q->step_ns <= q->upper_step_ns);
		EXPECT(q->run_ns >= 0 && q->run_ns <= q->advice->saving_ns);
		EXPECT(q->run_nano_usd <= q->advice->saving_nano_usd + 1);
	}
	/* Workers: the bound is the whole third, and three quarters of it came true. */
	const struct view_promise *q = &b.p->promise[0];
	EXPECT_STR(q->advice->id, "workers");
	EXPECT_INT(q->run_ns, MADE_HOUR_NS / 3 / 4 * 3);
	EXPECT_INT(q->limit, VIEW_LIMIT_CHANGE);
	EXPECT_INT(b.p->saving.month_nano_usd, 0);
	EXPECT(strstr(b.p->sentence,
		      "B costs 25.0 % less per step than A (0.00688 \302\242 -> 0.00516 \302\242)"
		      "; GPUs waited for input 33.3 % -> 11.1 % of the training time; "
		      "input.fetch dataset.py:88 went; of the predicted saving, at most $2.29 per run, "
		      "$1.72 was realised") != NULL);
	done(&b);
}

/* A short trial whose second start took an hour longer: that is nothing that advice promised. */
static void test_slow_start(void)
{
	struct ana_result *r = fed_result();
	struct both b;

	r->classes[ANA_EXCLUDED_STARTUP] += MADE_HOUR_NS;
	r->gpu[0].classes[ANA_EXCLUDED_STARTUP] += MADE_HOUR_NS;
	r->gpu[0].held_ns += MADE_HOUR_NS;
	r->gpu_ns += MADE_HOUR_NS;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	EXPECT(measure(&b, "usd_step")->difference > 0);
	EXPECT_INT(b.p->promise[0].run_ns, MADE_HOUR_NS / 3 / 4 * 3);
	EXPECT(!strncmp(b.p->sentence, "B costs 25.0 % less per step than A (", 37));
	EXPECT(strstr(b.p->sentence, "without start-up") != NULL);
	EXPECT(strstr(b.p->sentence, "$1.72 was realised") != NULL);
	done(&b);
}

/* What the class lost, another one has: nothing came true. */
static void test_elsewhere(void)
{
	struct ana_result *r = made_starved(NULL);
	struct both b;

	made_no_class(r, ANA_INPUT_FETCH);
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	EXPECT_INT(b.p->promise[0].run_ns, 0);
	EXPECT_INT(b.p->promise[0].limit, VIEW_LIMIT_WHOLE);
	EXPECT(b.p->promise[0].change_step_ns > 0);
	EXPECT(strstr(b.p->sentence, "none was realised (its time went to other classes)") != NULL);
	done(&b);
}

/* A new place in the later run is not held against the advice on the old one. */
static void test_new_place(void)
{
	struct ana_result *r = fed_result();
	struct both b;

	made_class(r, ANA_INPUT_FETCH, MADE_HOUR_NS / 10);
	r->hotspot[0].class = r->hotspot[2].class = ANA_INPUT_FETCH;
	r->hotspot[0].ns = MADE_HOUR_NS / 20;
	r->hotspot[2].ns = MADE_HOUR_NS / 20;
	free(r->hotspot[2].function);
	r->hotspot[2].function = strdup("elsewhere");
	r->hotspot[2].line = 7;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	EXPECT(change(&b, ANA_INPUT_FETCH, VIEW_FINDING_STAYED) != NULL);
	EXPECT(change(&b, ANA_INPUT_FETCH, VIEW_FINDING_CAME) != NULL);
	int64_t kept = MADE_HOUR_NS / 3 / 4 * 3 - MADE_HOUR_NS / 20;
	EXPECT_INT(b.p->promise[0].change_step_ns, kept / 100000);
	done(&b);
}

/* Workers now run the line that the main process ran, some asleep and some not: it is one place. */
static void test_other_role(void)
{
	struct ana_result *r = fed_result();
	struct both b;
	int64_t each = MADE_HOUR_NS / 20;

	made_class(r, ANA_INPUT_FETCH, 3 * each); /* a rest, as before */
	r->hotspot[0].class = r->hotspot[2].class = ANA_INPUT_FETCH;
	r->hotspot[0].ns = r->hotspot[2].ns = each;
	r->hotspot[0].role = WIRE_ROLE_SUBMITTER;
	free(r->hotspot[2].function);
	r->hotspot[2].function = strdup(r->hotspot[0].function);
	free(r->hotspot[2].file);
	r->hotspot[2].file = strdup("/elsewhere/dataset.py");
	r->hotspot[2].line = r->hotspot[0].line;
	r->hotspot[2].role = WIRE_ROLE_PRODUCER;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	const struct view_finding_change *f = change(&b, ANA_INPUT_FETCH, VIEW_FINDING_STAYED);
	REQUIRE(f);
	EXPECT_INT(f->ns[1], 2 * each);
	EXPECT_INT(f->step_ns[1], 2 * each / 100000);
	EXPECT_INT(f->ppm[1], 2 * f->finding[1]->ppm);
	EXPECT(!change(&b, ANA_INPUT_FETCH, VIEW_FINDING_WENT));
	EXPECT(!change(&b, ANA_INPUT_FETCH, VIEW_FINDING_CAME));
	EXPECT(!strstr(b.p->sentence, "dataset.py:88"));
	/* ... and what it still takes is none of what advice on it brought */
	EXPECT_INT(b.p->promise[0].change_step_ns, (MADE_HOUR_NS / 3 / 4 * 3 - 3 * each) / 100000);
	done(&b);
}

/* Other classes took some of what the class gave, which was not all that was promised. */
static void test_rest(void)
{
	struct ana_result *r = fed_result();
	struct both b;

	r->gpu[0].classes[ANA_HOST_SYNC] += MADE_HOUR_NS / 10;
	r->classes[ANA_HOST_SYNC] += MADE_HOUR_NS / 10;
	r->gpu[0].held_ns += MADE_HOUR_NS / 10;
	r->gpu_ns += MADE_HOUR_NS / 10;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	EXPECT_INT(b.p->promise[0].limit, VIEW_LIMIT_WHOLE);
	EXPECT(b.p->promise[0].kept);
	EXPECT(strstr(b.p->sentence, "was realised (the rest stayed, or went to other classes)") !=
	       NULL);
	done(&b);
}

static void test_moved(void)
{
	struct ana_result *r = made_starved(NULL);
	struct both b;

	r->hotspot[0].line = r->hotspot[2].line = 93; /* somebody added lines above */
	r->hotspot[1].class = ANA_INPUT_CPU_STARVED; /* other class, same line */
	made_class(r, ANA_INPUT_CPU_STARVED, r->classes[ANA_INPUT_PREP]);
	made_no_class(r, ANA_INPUT_PREP);
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	const struct view_finding_change *f = change(&b, ANA_INPUT_FETCH, VIEW_FINDING_MOVED);
	REQUIRE(f);
	EXPECT_INT(f->finding[1]->where.line, 93);
	f = change(&b, ANA_INPUT_PREP, VIEW_FINDING_MOVED);
	REQUIRE(f);
	EXPECT_INT(f->finding[1]->class, ANA_INPUT_CPU_STARVED);
	EXPECT(!change(&b, ANA_INPUT_FETCH, VIEW_FINDING_WENT));
	done(&b);
}

static void expect_refused(struct both *b, const char *shown, unsigned int parts)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (int k = 0; k < VIEW_PARTS; k++)
		EXPECT_INT(b->p->why[k] != NULL, parts >> k & 1);
	for (size_t i = 0; i < b->p->measures; i++)
		EXPECT(!b->p->measure[i].comparable || !(parts >> b->p->measure[i].part & 1));
	view_compare_text(&b->c, f, &view_text_style_plain);
	fclose(f);
	for (char *p = text; (p = strchr(p, '\n')); p++) /* undo the wrapping */
		if (!strncmp(p, "\n    ", 5))
			memmove(p + 1, p + 5, strlen(p + 5) + 1), *p = ' ';
	if (!strstr(text, shown))
		T_FAIL("no \"%s\" in:\n%s", shown, text);
	free(text);
	done(b);
}

#define BIT(part) (1u << VIEW_PART_##part)
#define RUNS (BIT(RUN) | BIT(GPU_RUN) | BIT(USD_RUN))
#define STEPS (BIT(STEP) | BIT(GPU_STEP) | BIT(USD_STEP))
#define DEVICE (BIT(GPU_STEP) | BIT(USD_STEP) | BIT(GPU_RUN) | BIT(USD_RUN))

static void test_refused(void)
{
	struct ana_result *r = made_starved(NULL);
	struct both b;

	r->steps = 50000;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), 10);
	EXPECT_INT(b.p->saving.month_nano_usd, 0);
	expect_refused(&b, "A took 100,000 steps and B 50,000", RUNS);

	compare(&b, starved(), made_summary_of(made_starved(NULL), GPU, PRICE / 2), -1);
	expect_refused(&b, "dollars per step, dollars of the run: their prices differ",
		       BIT(USD_STEP) | BIT(USD_RUN));

	compare(&b, starved(), made_summary_of(made_starved(NULL), GPU, 0), -1);
	expect_refused(&b, "no price is known of B", BIT(USD_STEP) | BIT(USD_RUN));

	r = made_starved(NULL);
	strcpy(r->gpu[0].name, "NVIDIA A100 80GB PCIe");
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	expect_refused(&b, "A ran on 1x NVIDIA H100 80GB HBM3 and B on 1x NVIDIA A100 80GB PCIe",
		       BIT(GPU_STEP) | BIT(GPU_RUN) | BIT(SHARE) | BIT(WASTE));

	r = made_starved(NULL);
	r->loader[0].batch_size = 32;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	expect_refused(&b, "their batches differ (16 and 32 samples)",
		       RUNS | STEPS | BIT(SHARE) | BIT(WASTE) | BIT(LOADER));

	r = made_starved(NULL);
	free(r->loader[0].dataset);
	r->loader[0].dataset = strdup(MADE_EVIL);
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	expect_refused(&b, "their data sets differ (ShardDataset and ",
		       RUNS | STEPS | BIT(SHARE) | BIT(WASTE) | BIT(LOADER));

	r = made_starved(NULL);
	r->steps = 0;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	expect_refused(&b, "the steps of B are not known", RUNS | STEPS);

	r = made_starved(NULL);
	r->complete = false;
	compare(&b, starved(), made_summary_of(r, GPU, PRICE), -1);
	expect_refused(&b, "B is incomplete", RUNS);
}

static void pages(const struct view_comparison *c, FILE *f)
{
	view_compare_text(c, f, &view_text_style_plain);
	view_compare_html(c, f);
	view_compare_json(c, f);
}

static char *page_of(const struct view_comparison *c,
		     void (*write)(const struct view_comparison *c, FILE *f))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	write(c, f);
	fclose(f);
	return text;
}

static void text_page(const struct view_comparison *c, FILE *f)
{
	view_compare_text(c, f, &view_text_style_plain);
}

/* Every string hostile: no control character, no markup, no line over 80 columns. */
static void test_evil(void)
{
	struct both b;

	compare(&b, made_summary_of(made_starved(MADE_EVIL), MADE_EVIL, PRICE),
		made_summary_of(made_starved("%s%n\n\x1b]0;x\x07"), MADE_EVIL, PRICE), 3);
	char *text = page_of(&b.c, text_page);
	EXPECT(!strpbrk(text, "\x1b\x07\r\t"));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (base_utf8_columns(line) > VIEW_COLUMNS)
			T_FAIL("%zu columns: %s", base_utf8_columns(line), line);
	free(text);
	text = page_of(&b.c, view_compare_html);
	EXPECT(!strstr(text, "<script"));
	EXPECT(!strstr(text, "</title><"));
	EXPECT(strstr(text, "default-src 'none'") != NULL);
	EXPECT(!strchr(text, '\x1b'));
	free(text);
	done(&b);
}

/* A run beside itself changes nothing, in no unit. */
static int narrow_columns;

static void narrow_page(const struct view_comparison *c, FILE *f)
{
	struct view_text_style look = { .columns = narrow_columns };

	view_compare_text(c, f, &look);
}

/* On a narrower terminal nothing sticks out, and every figure of the wide page is there. */
static void test_narrow(void)
{
	struct both b;

	compare(&b, starved(), fed(), 10);
	for (narrow_columns = 40; narrow_columns < 80; narrow_columns += 13) {
		char *text = page_of(&b.c, narrow_page);
		size_t longest = 0;
		for (char *p = text; *p; p += strcspn(p, "\n") + 1) {
			size_t n = (size_t)view_line_columns(p, strcspn(p, "\n"));
			longest = n > longest ? n : longest;
		}
		EXPECT(longest <= (size_t)narrow_columns && longest > 30);
		for (char *p = text; (p = strchr(p, '\n')); p++) /* undo the wrapping */
			if (!strncmp(p, "\n    ", 5))
				memmove(p + 1, p + 5, strlen(p + 5) + 1), *p = ' ';
		for (size_t i = 0; i < b.p->measures; i++) {
			const struct view_measure *m = &b.p->measure[i];
			base_unit shown;
			if (m->known[0])
				EXPECT(strstr(text, compare_figure(shown, m->figure, m->value[0])));
			EXPECT(!(m->known[0] || m->known[1]) || strstr(text, m->title));
		}
		free(text);
	}
	done(&b);
}

static void test_itself(void)
{
	struct both b;

	compare(&b, starved(), starved(), 1000000000);
	for (size_t i = 0; i < b.p->measures; i++)
		if (b.p->measure[i].comparable)
			EXPECT_INT(b.p->measure[i].difference, 0);
	for (size_t i = 0; i < b.p->findings; i++)
		EXPECT_INT(b.p->finding[i].status, VIEW_FINDING_STAYED);
	for (size_t i = 0; i < b.p->promises; i++)
		EXPECT_INT(b.p->promise[i].run_ns, 0);
	EXPECT(strstr(b.p->sentence, "B costs the same per step as A") != NULL);
	char *text = page_of(&b.c, pages);
	EXPECT(strstr(text, "A and B have the same id") != NULL);
	free(text);
	done(&b);
}

static void test_without_price(void)
{
	struct both b;

	compare(&b, made_summary_of(made_starved(NULL), GPU, 0),
		made_summary_of(fed_result(), GPU, 0), 10);
	char *text = page_of(&b.c, text_page);
	EXPECT(!strchr(text, '$'));
	EXPECT(strstr(text, "B takes 25.0 % less GPU time per step than A") != NULL);
	EXPECT_INT(b.p->saving.month_ns, 10 * (MADE_HOUR_NS / 4));
	free(text);
	done(&b);
}

/* A server of as many steps as @s, which answered so many requests in them. */
static struct view_summary *served(struct view_summary *s, int64_t requests,
				   enum view_outcome_bound bound)
{
	view_outcome_set(s, "samples", 77, 1, VIEW_OUTCOME_LOADER, VIEW_OUTCOME_EXACT);
	view_outcome_set(s, "tokens", 5000000, 1, VIEW_OUTCOME_COUNTED, VIEW_OUTCOME_EXACT);
	view_outcome_set(s, "requests", requests, 1, VIEW_OUTCOME_COUNTED, bound);
	return s;
}

/* The table's row of it, in the sentence: its change, its unit, its figures. */
static void expect_headline(const struct both *b, const char *id, const char *sentence,
			    const char *saving)
{
	struct base_arena mem = { 0 };
	char *json = page_of(&b->c, view_compare_json);
	char want[128];

	REQUIRE(b->p->headline);
	EXPECT_STR(b->p->headline->id, id);
	EXPECT(!strncmp(b->p->sentence, sentence, strlen(sentence)));
	if (strncmp(b->p->sentence, sentence, strlen(sentence)))
		printf("%s\n", b->p->sentence);
	snprintf(want, sizeof(want), "\"headline\": \"%s\"", id);
	EXPECT(strstr(json, want) != NULL);
	EXPECT_STR(compare_saving_words(&b->c, b->p, &mem), saving);
	base_arena_fini(&mem);
	free(json);
}

static bool is_noted(const struct both *b, const char *text)
{
	for (size_t i = 0; i < b->p->notes; i++)
		if (strstr(b->p->note[i], text))
			return true;
	return false;
}

/* Steps became cheaper and requests dearer: it is the requests that the servers are there for. */
static void test_unit(void)
{
	const enum view_outcome_bound exact = VIEW_OUTCOME_EXACT;
	struct both b;

	compare(&b, served(starved(), 100000, exact), served(fed(), 50000, exact), -1);
	EXPECT(measure(&b, "usd_step")->difference < 0);
	EXPECT(measure(&b, "usd_per_1k_requests")->change_ppm == 500000);
	expect_headline(&b, "usd_per_1k_requests",
			"B costs 50.0 % more per 1,000 requests than A (6.9 \302\242 -> 10.3 "
			"\302\242); GPUs waited for input 33.3 % -> 11.1 %",
			"3.4 \302\242 more per 1,000 requests, $1.72 less per run");
	EXPECT(strstr(b.p->sentence, " step") == NULL);
	EXPECT(is_noted(&b, "a step is of 1.00 requests in A and of 0.50 in B"));
	done(&b);

	/* what only one of them counted says nothing of the other */
	compare(&b, starved(), served(fed(), 50000, exact), -1);
	expect_headline(&b, "usd_step", "B costs 25.0 % less per step than A (",
			"1.72 \302\242 less per thousand steps without start-up and shutdown, "
			"$1.72 less per run");
	done(&b);

	/* a unit that one counted and the other was told; samples alone are those of steps */
	b.s[0] = starved();
	b.s[1] = fed();
	for (int i = 0; i < 2; i++)
		view_outcome_set(b.s[i], "samples", 77, 1, VIEW_OUTCOME_LOADER, exact);
	compare(&b, b.s[0], b.s[1], -1);
	EXPECT_STR(b.p->headline->id, "usd_step");
	done(&b);
	b.s[0] = starved();
	b.s[1] = fed();
	view_outcome_set(b.s[0], "tokens", 1000000, 1, VIEW_OUTCOME_COUNTED, exact);
	view_outcome_set(b.s[1], "tokens", 1000000, 1, VIEW_OUTCOME_GIVEN, exact);
	compare(&b, b.s[0], b.s[1], -1);
	expect_headline(&b, "usd_per_1m_tokens",
			"B costs 25.0 % less per million tokens than A ($6.88 -> $5.16)",
			"$1.72 less per million tokens, $1.72 less per run");
	EXPECT(!is_noted(&b, "a step is of"));
	done(&b);
}

/* Where a count is a bound so are the dollars; of another window they are another sum. */
static void test_unit_doubt(void)
{
	struct view_summary *other = served(fed(), 50000, VIEW_OUTCOME_EXACT);
	struct both b;

	compare(&b, served(starved(), 100000, VIEW_OUTCOME_AT_LEAST),
		served(fed(), 50000, VIEW_OUTCOME_AT_MOST), -1);
	EXPECT(strstr(b.p->sentence, "(at most 6.9 \302\242 -> at least 10.3 \302\242)") != NULL);
	EXPECT(is_noted(&b, "A: at least 100,000 requests"));
	EXPECT(is_noted(&b, "B: at most 50,000 requests"));
	EXPECT(!is_noted(&b, "a step is of"));
	done(&b);

	other->window = ANA_WINDOW_DEVICE;
	compare(&b, served(starved(), 100000, VIEW_OUTCOME_EXACT), other, -1);
	EXPECT(!measure(&b, "usd_per_1k_requests")->comparable);
	EXPECT(b.p->why[VIEW_PART_USD_UNIT] != NULL);
	EXPECT(strstr(b.p->sentence, "requests") == NULL);
	done(&b);

	/* another price, other GPUs, other numbers of steps: the question itself */
	compare(&b, served(starved(), 100000, VIEW_OUTCOME_EXACT),
		served(made_summary_of(made_starved(NULL), GPU, PRICE / 2), 50000,
		       VIEW_OUTCOME_EXACT),
		-1);
	expect_headline(&b, "usd_per_1k_requests",
			"B costs the same per 1,000 requests as A (6.88 \302\242 -> 6.88 \302\242)",
			"nothing per 1,000 requests");
	done(&b);
}

/* @s with so many samples in its steps, as the loader gave them. */
static struct view_summary *sampled(struct view_summary *s, int64_t samples)
{
	view_outcome_set(s, "samples", samples, 1, VIEW_OUTCOME_LOADER, VIEW_OUTCOME_EXACT);
	return s;
}

/* Gradients of twice as many batches: a step costs more, and a sample less. */
static void test_other_work(void)
{
	struct both b;
	char *json;

	compare(&b, sampled(fed(), 100000), sampled(starved(), 200000), -1);
	expect_headline(&b, "usd_per_1k_samples",
			"B costs 33.3 % less per 1,000 samples than A (5.16 \302\242 -> 3.44 "
			"\302\242)",
			"1.72 \302\242 less per 1,000 samples");
	REQUIRE(b.p->why[VIEW_PART_STEP]);
	EXPECT(strstr(b.p->why[VIEW_PART_STEP], "samples in A and of") != NULL);
	EXPECT(b.p->why[VIEW_PART_STEP] == b.p->why[VIEW_PART_USD_RUN]);
	EXPECT(!measure(&b, "usd_step_working")->comparable);
	EXPECT(!measure(&b, "usd_run")->comparable && !is_noted(&b, "a step is of"));
	json = page_of(&b.c, view_compare_json);
	EXPECT(strstr(json, "\"gpu_step\": \"a step is of") != NULL);
	free(json);
	done(&b);

	/* of each sample half of the waiting went, as steps have twice as many */
	compare(&b, sampled(starved(), 100000), sampled(starved(), 200000), -1);
	REQUIRE(b.p->promises > 0);
	EXPECT(b.p->promise[0].upper_samples_ns > 0);
	EXPECT_INT(b.p->promise[0].samples_ns, b.p->promise[0].upper_samples_ns / 2);
	EXPECT(b.p->promise[0].samples_nano_usd > 0 && !b.p->promise[0].step_ns);
	EXPECT(strstr(b.p->sentence, "of the predicted saving, at most") != NULL);
	EXPECT(strstr(b.p->sentence, "per 1,000 samples, ") != NULL);
	json = page_of(&b.c, view_compare_json);
	EXPECT(strstr(json, "\"realised_1k_samples\"") != NULL);
	free(json);
	done(&b);

	/* a last step that has no end makes no other; in half of the steps they did the same */
	compare(&b, sampled(starved(), 100000), sampled(fed(), 100100), -1);
	EXPECT_STR(b.p->headline->id, "usd_step");
	done(&b);
	struct view_summary *fewer = sampled(fed(), 100000);
	((struct ana_result *)fewer->result)->steps /= 2;
	compare(&b, sampled(starved(), 100000), fewer, -1);
	expect_headline(&b, "usd_per_1k_samples", "B costs 25.0 % less per 1,000 samples than A",
			"1.72 \302\242 less per 1,000 samples, $1.72 less per run");
	EXPECT(measure(&b, "usd_run")->comparable && b.p->why[VIEW_PART_STEP]);
	done(&b);

	/* of how many samples nobody knows, but how many batches */
	struct view_summary *two[2] = { starved(), fed() };
	for (int i = 0; i < 2; i++) {
		struct ana_result *r = (struct ana_result *)two[i]->result;

		REQUIRE(r->loaders == 1);
		((struct ana_loader_facts *)r->loader)[0].given.batches = r->steps * (i + 1);
	}
	compare(&b, two[0], two[1], -1);
	EXPECT(!b.p->headline);
	EXPECT(strstr(b.p->sentence,
		      "are not comparable per step: a step is of 1.00 batches in A and of 2.00") !=
	       NULL);
	done(&b);
}

int main(void)
{
	return RUN(test_measures, test_promise, test_slow_start, test_elsewhere, test_new_place,
		   test_other_role, test_rest, test_moved, test_refused, test_evil, test_narrow,
		   test_itself, test_without_price, test_unit, test_unit_doubt, test_other_work);
}
