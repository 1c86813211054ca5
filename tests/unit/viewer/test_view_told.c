/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings as sentences: who, what, where, and the bound of what would be gained; the order in
 * which they are told, what is folded under them, and how much the first ones are.
 */
#include "findings/finding_sentence.h"
#include "findings/told.h"
#include "harness.h"
#include "findings/findings.h"
#include "findings/lead.h"
#include "findings/loader.h"
#include "findings/words.h"
#include "view_made.h"

#define H100 "NVIDIA H100 80GB HBM3"
#define HALF (MADE_HOUR_NS / 2)

static struct base_arena mem;

/* @gpus for an hour each, half of the first one's of class @c, all of it at one line. */
static struct view_summary *made_line(size_t gpus, enum ana_class c, uint8_t role, uint8_t wait)
{
	struct ana_result *r = made_result(gpus, H100, 5);

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, c, HALF);
	made_site(r, (struct ana_hotspot){ .class = c,
					   .ns = HALF,
					   .role = role,
					   .wait = wait,
					   .function = (char *)"step",
					   .file = (char *)"/x/train.py",
					   .line = 42,
					   .samples = 100,
					   .threads = 1 });
	return made_summary_of(r, H100, 6880000000LL);
}

static void expect_line(enum ana_class c, uint8_t role, uint8_t wait, const char *sentence)
{
	struct view_summary *s = made_line(1, c, role, wait);

	REQUIRE(s && s->findings);
	EXPECT_STR(view_finding_sentence(s, &mem, 0), sentence);
	view_summary_free(s);
}

static void test_sentences(void)
{
	expect_line(
		ANA_INPUT_PREP, WIRE_ROLE_PIN, WIRE_WAIT_NONE,
		"The GPU waited 50.0 % of the training time for batches: the pin thread was running "
		"Python (train.py:42 step). 3 makers instead of 1 would bring at most 2.01 times the "
		"steps per hour.");
	expect_line(
		ANA_INPUT_HANDOFF, WIRE_ROLE_PIN, WIRE_WAIT_LOCK,
		"The GPU waited 50.0 % of the training time for batches that were made already: the "
		"pin thread was waiting for a lock within the process (train.py:42 step). Without "
		"it: at most 2.01 times the steps per hour.");
	/* who makes something else than batches, as torch's backward pass */
	expect_line(
		ANA_INPUT_FETCH, WIRE_ROLE_PRODUCER, WIRE_WAIT_PIPE,
		"The GPU waited 50.0 % of the training time for batches: whoever made the batches was "
		"waiting for a pipe (train.py:42 step). 3 makers instead of 1 would bring, if the source "
		"keeps up, at most 2.01 times the steps per hour.");
	expect_line(
		ANA_HOST_DISPATCH, WIRE_ROLE_PRODUCER, WIRE_WAIT_NONE,
		"The GPU waited 50.0 % of the training time to be given work: the thread that the "
		"main process waited for was running Python (train.py:42 step). Without it: at most "
		"2.01 times the steps per hour.");
	/* the class says all of it, but for the line */
	expect_line(
		ANA_HOST_SYNC, WIRE_ROLE_SUBMITTER, WIRE_WAIT_GPU,
		"The GPU stood idle 50.0 % of the training time because the main process waited for "
		"work to finish before it submitted more (train.py:42 step). Without it: at most 2.01 "
		"times the steps per hour.");
	/* and more than the wait does */
	expect_line(
		ANA_INPUT_EPOCH, WIRE_ROLE_SUBMITTER, WIRE_WAIT_QUEUE,
		"The GPU waited 50.0 % of the training time for an epoch to begin or end: an "
		"epoch's loader was starting or ending (train.py:42 step). Without it: at most 2.01 times the "
		"steps per hour.");
	/* nobody knows what it would bring */
	expect_line(
		ANA_HOST_UNKNOWN, WIRE_ROLE_SUBMITTER, WIRE_WAIT_NONE,
		"The GPU stood idle 50.0 % of the training time, and the records do not tell why; "
		"meanwhile the main process was running Python (train.py:42 step).");
	/* nor is it training */
	expect_line(ANA_HOST_NO_WORK, WIRE_ROLE_SUBMITTER, WIRE_WAIT_SOCKET,
		    "The GPU had nothing to do for 50.0 % of the time held: the process waited for "
		    "requests or a person, or slept after its last kernel (train.py:42 step).");
}

/* Half an hour of it, so much of that behind the last kernel: what is gained, and how often. */
static void expect_after(int64_t after, const char *gain, bool often)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	struct view_lead l;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_HOST_DISPATCH, HALF);
	made_site(r, (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
					   .ns = HALF,
					   .function = (char *)"step",
					   .file = (char *)"/x/train.py",
					   .line = 42,
					   .samples = 100,
					   .threads = 1 });
	r->gpu[0].after_last_ns[ANA_HOST_DISPATCH] = after;
	s = made_summary_of(r, H100, 6880000000LL);
	REQUIRE(s && s->findings);
	l = view_lead_of(s);
	const char *text = view_finding_sentence(s, &mem, 0), *at = strstr(text, " Without it");
	EXPECT_STR(at ? at : "", gain);
	EXPECT(view_lead_projects(s, &l) == often);
	EXPECT(view_class_projects(s, ANA_HOST_DISPATCH) == often);
	EXPECT(view_class_projects(s, ANA_INPUT_FETCH));
	EXPECT((view_lead_rate_words(s, &mem) != NULL) == often);
	/* the saving is one of the run all the same */
	EXPECT(!s->advices || s->advice[0].saving_ns == HALF);
	view_summary_free(s);
}

/* What comes once after the last kernel is no gain of steps, nor of a day. */
static void test_after_last(void)
{
	expect_after(0, " Without it: at most 2.01 times the steps per hour.", true);
	expect_after(HALF / 2,
		     " Without it: at most 1.51 times the steps per hour (25.0 % of the training "
		     "time saved).",
		     false);
	expect_after(HALF, "", false);
	/* a tenth of it is not told of every step, less is */
	expect_after(HALF / 10,
		     " Without it: at most 1.91 times the steps per hour (45.0 % of the training "
		     "time saved).",
		     false);
	expect_after(HALF / 10 - 1000000000,
		     " Without it: at most 1.91 times the steps per hour (45.0 % of the training "
		     "time saved).",
		     true);
}

/* Every class of waste has a sentence that ends. */
static void test_all_classes(void)
{
	for (int c = 0; c < ANA_CLASSES; c++) {
		struct view_summary *s;
		const char *text;

		if (c == ANA_COMPUTE || c == ANA_EXCLUDED_STARTUP)
			continue;
		s = made_line(2, (enum ana_class)c, WIRE_ROLE_SUBMITTER, WIRE_WAIT_NONE);
		for (size_t i = 0; s && i < s->findings; i++) {
			if (s->finding[i].rest && !s->finding[i].where.known)
				continue;
			text = view_finding_sentence(s, &mem, i);
			if (strncmp(text, "The GPU", 7) || text[strlen(text) - 1] != '.')
				T_FAIL("%s", text);
			EXPECT(!strchr(text, '#'));
			EXPECT(!strstr(text, "Without it")); /* of several GPUs */
			EXPECT(!strstr(text, "GPUs was ") && !strstr(text, "GPUs has "));
		}
		view_summary_free(s);
	}
}

/* The bound is that of the advice, and never below what the saving comes to. */
static void test_bounds(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	double t, least;

	REQUIRE(s);
	t = (double)view_working_ns(s);
	least = t / (t - (double)s->advice[0].saving_ns);
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      " 6 workers would hide it, if the source keeps up: at most 1.51 times the "
		      "steps per hour (33.3 % of the training time saved, other waits for batches "
		      "included).") != NULL);
	EXPECT(least > 1.50 && least <= 1.51);
	s->loader.need.bound = VIEW_WORKERS_CORES;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      " 6 workers, all that 16 cores carry here (each waits for 79 % of its time), would "
		      "bring, if the source keeps up, at most 1.51 times the steps per hour (33.3 %") !=
	       NULL);
	s->loader.facts.workers = 0;
	s->loader.need.bound = VIEW_WORKERS_STEP;
	s->loader.need.advised = 1;
	s->ranks = 2;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      " 1 worker process per rank would hide it"));
	s->result->steps = 0;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), "at most 1.51 times the work per hour ("));
	s->advice[0].saving_least_ns = view_working_ns(s) / 6; /* 1.1999, rounded down */
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      ": 1.19 to 1.51 times the work per hour ("));
	s->advice[0].saving_least_ns = view_working_ns(s) / 50; /* next to nothing is sure */
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), "at most 1.51 times the work per hour ("));
	s->advice[0].saving_least_ns = 0;
	s->advice[0].saving_ns = view_working_ns(s); /* all of it: there is no bound */
	EXPECT(!strstr(view_finding_sentence(s, &mem, 0), "per hour"));
	/* below ten times in hundredths, as finely as the lengths beside it tell it */
	s->advice[0].saving_ns = view_working_ns(s) - view_working_ns(s) / 2304 * 1000;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      "at most 2.31 times")); /* 2.304 and more */
	s->advice[0].saving_ns = view_working_ns(s) - view_working_ns(s) / 999 * 100;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), "at most 10 times")); /* 9.990001 */
	s->advice[0].saving_ns = view_working_ns(s) - view_working_ns(s) / 87;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), "at most 88 times")); /* 87.0000001 */
	s->advice[0].saving_ns = view_working_ns(s) / 50; /* next to nothing */
	EXPECT(!strstr(view_finding_sentence(s, &mem, 0), "per hour"));
	view_summary_free(s);
}

/* A few samples that saw a small part of it name nobody, and their line as what it is. */
static void test_thin(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	const char *text;
	size_t at;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_HOST_DISPATCH, HALF / 2);
	made_site(r, (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
					   .ns = HALF / 50,
					   .role = WIRE_ROLE_SUBMITTER,
					   .file = (char *)"/x/train.py",
					   .function = (char *)"step",
					   .line = 42,
					   .samples = 3,
					   .threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	at = (size_t)(view_finding_of(s, ANA_HOST_DISPATCH) - s->finding);
	text = view_finding_sentence(s, &mem, at);
	EXPECT(strstr(text,
		      " to be given work: Python and the framework were preparing the next launch. "
		      "Only 3 samples fell into it, at train.py:42 step. Without it"));
	s->finding[at].where.samples = 4;
	EXPECT(!strstr(view_finding_sentence(s, &mem, at), "Only "));
	s->finding[at].where.samples = 3;
	s->finding[at].ns += HALF / 10; /* a tenth and more of what it speaks for */
	EXPECT(!strstr(view_finding_sentence(s, &mem, at), "Only "));
	view_summary_free(s);
}

static struct view_summary *made_computing(int64_t fetch_pct)
{
	struct ana_result *r = made_starved(NULL);

	made_class(r, ANA_HOST_CPU_WORK, MADE_HOUR_NS / 10);
	made_site(r, (struct ana_hotspot){ .class = ANA_HOST_CPU_WORK,
					   .ns = MADE_HOUR_NS / 10,
					   .role = WIRE_ROLE_SUBMITTER,
					   .samples = 90,
					   .threads = 1 });
	r->loader[0].fetch_ns = r->loader[0].fetch_ns / 100 * fetch_pct;
	return made_summary_of(r, H100, 6880000000LL);
}

/* Where workers are at work all the time, what the main process spares shortens no step yet. */
static void test_batches_bind(void)
{
	static const int64_t pct[] = { 100, 86, 84 };

	for (size_t i = 0; i < 3; i++) {
		struct view_summary *s = made_computing(pct[i]);
		const struct view_finding *f = view_finding_of(s, ANA_HOST_CPU_WORK);
		const struct view_advice *a = s->advice;
		bool binds = pct[i] > 85;

		REQUIRE(f && s->advices && a->with_need);
		for (size_t k = 0; k < s->advices && a->class != ANA_HOST_CPU_WORK; k++)
			a = &s->advice[k];
		const char *text = view_finding_sentence(s, &mem, (size_t)(f - s->finding));

		EXPECT(strstr(text, binds ? " Without it, once batches keep up: at most 1.12 times"
					  : " Without it: at most 1.12 times"));
		EXPECT(!!strstr(a->why, "; no step gets shorter by it until batches keep up") ==
		       binds);
		EXPECT(!strstr(s->advice->why, "no step gets shorter")); /* of the batches' own */
		view_summary_free(s);
	}
}

static void test_late(void)
{
	struct view_summary *s = made_line(2, ANA_INPUT_FETCH, WIRE_ROLE_WORKER, WIRE_WAIT_READ);
	struct view_finding *f;

	REQUIRE(s && s->findings);
	f = &s->finding[0];
	f->where.known = false;
	f->where.late = true;
	f->where.rank = 2;
	EXPECT_STR(view_finding_sentence(s, &mem, 0),
		   "The others waited 25.0 % of the training time for rank 2: the loader read from "
		   "storage or network (train.py:42 step).");
	view_summary_free(s);
}

/*
 * The most costly first; what is left of a class stands below its first one; the first ones' share.
 */
static void test_order(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	struct view_told *told;
	size_t n;

	REQUIRE(s);
	n = view_findings_told(s, &mem, &told);
	REQUIRE(n == 3);
	for (size_t i = 0; i < n; i++) {
		EXPECT(!s->finding[told[i].at].rest || s->finding[told[i].at].where.known);
		EXPECT(!i || s->finding[told[i].at].ns <= s->finding[told[i - 1].at].ns);
	}
	EXPECT(told[0].rest != SIZE_MAX && told[1].rest == SIZE_MAX);
	EXPECT_STR(
		view_rest_words(s, &mem, told[0].rest),
		"input.fetch in all: 25.0 % of the training time; 20.8 % told by line, 4.2 % where no "
		"sample tells the line");
	EXPECT_STR(view_covered_words(s, &mem, told, 2, false),
		   "29.1 of the 33.3 %; the rest has smaller causes, or no line is known");
	EXPECT_STR(view_covered_words(s, &mem, told + 1, 1, false),
		   "8.3 of the 33.3 %; the rest has other causes, or no line is known");
	/* rows of which the verdict does not speak are not of its share */
	EXPECT_STR(view_covering_words(s, told), "first two are");
	s->finding[told[1].at].class = ANA_HOST_SYNC;
	EXPECT_STR(view_covering_words(s, told), "first is");
	s->finding[told[2].at].class = ANA_INPUT_PREP;
	EXPECT_STR(view_covering_words(s, told), "first and the third are");
	s->finding[told[1].at].class = ANA_INPUT_PREP;
	EXPECT_STR(view_covering_words(s, told), "first three are");
	s->finding[told[0].rest].lines_ns = MADE_HOUR_NS / 100;
	EXPECT_STR(
		view_rest_words(s, &mem, told[0].rest),
		"input.fetch in all: 25.0 % of the training time; 20.8 % told by line, 1.0 % at smaller "
		"lines, 3.2 % where no sample tells the line");
	s->finding[told[0].rest].lines_ns = s->finding[told[0].rest].ns; /* not "for 0.0 %" */
	EXPECT_STR(view_rest_words(s, &mem, told[0].rest),
		   "input.fetch in all: 25.0 % of the training time; 20.8 % told by line, 4.2 % at "
		   "smaller lines");
	view_summary_free(s);
}

/*
 * A line that most gaps take from their neighbours says so; one that samples show in most of its
 * time does not.
 */
static void test_from_neighbours(void)
{
	struct view_summary *s =
		made_line(1, ANA_HOST_DISPATCH, WIRE_ROLE_SUBMITTER, WIRE_WAIT_NONE);
	const char *many =
		" 3,012 samples show it: most of these gaps are too short to hold one, and are taken to be "
		"like the others. Without it:";
	const char *one = " 1 sample shows it: most of these gaps are too short";

	REQUIRE(s && s->findings);
	s->finding[0].nearby_ns = s->finding[0].ns / 100 * 83;
	s->finding[0].where.samples = 3012;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), many) != NULL);
	s->finding[0].where.samples = 1;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), one) != NULL);
	EXPECT(strstr(view_finding_evidence(&mem, &s->finding[0]),
		      ", which saw 17.0 % of this time") != NULL);
	s->finding[0].nearby_ns = s->finding[0].ns / 2;
	EXPECT(!strstr(view_finding_sentence(s, &mem, 0), "too short to hold"));
	view_summary_free(s);
	s = made_line(1, ANA_COPY, WIRE_ROLE_SUBMITTER, WIRE_WAIT_NONE);
	REQUIRE(s && s->findings);
	s->finding[0].nearby_ns = s->finding[0].ns / 100 * 83;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      "most of these copies are too short to hold one"));
	view_summary_free(s);
}

/* Time that nobody watched because that would have cost too much says so, if it is half of it. */
static void test_stepped_down(void)
{
	struct view_summary *s =
		made_line(1, ANA_EXCLUDED_UNOBSERVED, WIRE_ROLE_SUBMITTER, WIRE_WAIT_NONE);
	const char *why =
		", because recording all of it would have cost the job more than --max-overhead "
		"allows (0 records it all).";

	REQUIRE(s && s->findings);
	s->result->quality.unobserved_ns = 100;
	s->result->quality.stepped_down_ns = 49;
	EXPECT(!strstr(view_finding_sentence(s, &mem, 0), "--max-overhead"));
	s->result->quality.stepped_down_ns = 50;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), why) != NULL);
	/* What NVML saw meanwhile: if it measured half of it. */
	s->result->quality.metered = (struct ana_metered){ .known_ns = 49, .busy_ns = 7 };
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), why) != NULL);
	s->result->quality.metered = (struct ana_metered){ .known_ns = 80, .busy_ns = 20 };
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      "(0 records it all); NVML saw work on the GPU for 25.0 % of that time.") !=
	       NULL);
	/* One figure: the estimate's, where it is told. */
	s->result->estimated = (struct ana_estimated){ .of_ns = 49, .busy.ns = 10 };
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), "NVML saw") != NULL);
	s->result->estimated = (struct ana_estimated){ .of_ns = 80, .busy.ns = 16 };
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      "(0 records it all); sampled: likely busy for 20.0 % of it.") != NULL);
	s->result->estimated.unknown_ns = 41;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), "NVML saw") != NULL);
	view_summary_free(s);
}

/* Lines that each took too little are counted with what is left. */
static void test_small_lines(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	struct view_told *told;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_HOST_DISPATCH, HALF);
	for (uint32_t i = 0; i < 30; i++)
		made_site(r, (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
						   .ns = i ? HALF / 100 : HALF / 2,
						   .role = WIRE_ROLE_SUBMITTER,
						   .file = (char *)"t.py",
						   .line = i + 1,
						   .samples = 1,
						   .threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	REQUIRE(s && view_findings_told(s, &mem, &told) >= 1 && told[0].rest != SIZE_MAX);
	EXPECT_INT(s->finding[told[0].rest].ns, HALF / 2);
	EXPECT_INT(s->finding[told[0].rest].lines_ns, HALF / 100 * 29);
	view_summary_free(s);
}

/*
 * A line that samples saw for less than they saw nothing of its class: it speaks for that, and says
 * so.
 */
static void test_stands(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	struct view_told *told;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_HOST_DISPATCH, HALF / 2);
	made_class(r, ANA_HOST_GC, HALF / 4);
	made_site(r, (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
					   .ns = HALF / 10,
					   .role = WIRE_ROLE_SUBMITTER,
					   .file = (char *)"t.py",
					   .line = 7,
					   .samples = 9,
					   .threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	REQUIRE(s && view_findings_told(s, &mem, &told) >= 2);
	EXPECT_INT(view_told_ns(s, told[0].at), HALF / 2); /* before the collector's quarter */
	EXPECT_STR(
		view_finding_sentence(s, &mem, told[0].at),
		"The GPU waited 25.0 % of the training time to be given work: the main process was "
		"running Python (t.py:7, at least 5.0 of these 25.0 %). Without it: at most 1.34 times the "
		"steps per hour.");
	EXPECT(told[0].rest == view_told_rest(s, told[0].at));
	EXPECT(view_told_rest(s, told[1].at) == SIZE_MAX);
	view_summary_free(s);
}

/* How sure the cause is and how sure the line is are two things. */
static void test_line_confidence(void)
{
	static const struct {
		int64_t here, there; /* of a hundred: at the line, at others too small to be told */
		const char *words;
	} cases[] = {
		{ 49, 1,
		  "confidence: cause high, line medium, gain low: a change may leave part of it" },
		{ 26, 20,
		  "confidence: cause high, line medium, gain low: a change may leave part of it" },
		{ 26, 30,
		  "confidence: cause high, line low, gain low: a change may leave part of it" }, /* one of many */
		/* hardly anything was seen */
		{ 20, 1,
		  "confidence: cause high, line low, gain low: a change may leave part of it" },
		{ 60, 1,
		  "confidence: cause and line high, gain low: a change may leave part of it" }, /* it speaks for itself */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ana_result *r = made_result(1, H100, 5);
		struct view_summary *s;
		struct view_told *told;

		made_no_class(r, ANA_INPUT_UNKNOWN);
		made_no_class(r, ANA_HOST_SYNC);
		made_class(r, ANA_HOST_DISPATCH, HALF);
		for (int64_t k = 0; k <= cases[i].there; k++)
			made_site(r,
				  (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
							.ns = HALF / 100 * (k ? 1 : cases[i].here),
							.role = WIRE_ROLE_SUBMITTER,
							.file = (char *)"t.py",
							.line = (uint32_t)k + 7,
							.samples = 1,
							.threads = 1 });
		s = made_summary_of(r, H100, 6880000000LL);
		REQUIRE(s && view_findings_told(s, &mem, &told));
		EXPECT_STR(view_alike_confidence_words(s, &mem, told, 1), cases[i].words);
		view_summary_free(s);
	}
}

/* Where arithmetic tells what is sure, that is worth a grade by itself. */
static void test_gain_sure_interval(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	struct view_advice *a = s->advice;
	int64_t sure = 0;

	REQUIRE(s->advices && a->with_need);
	EXPECT_INT(view_finding_gain_sure(s, &mem, 0).grade, ANA_LOW);
	a->saving_least_ns = a->saving_ns / 50; /* next to nothing is told to be sure */
	EXPECT_INT(view_finding_gain_sure(s, &mem, 0).grade, ANA_LOW);
	a->saving_least_ns = a->saving_ns / 2;
	EXPECT_INT(view_finding_gain_sure(s, &mem, 0).grade, ANA_MEDIUM);
	a->saving_least_ns = a->saving_ns - a->saving_ns / 5;
	EXPECT_INT(view_finding_gain_sure(s, &mem, 0).grade, ANA_HIGH);
	EXPECT(strstr(view_finding_confidence_words(s, &mem, 0), ", gain high"));
	s->finding[0].confidence = ANA_MEDIUM;
	EXPECT_STR(view_finding_confidence_words(s, &mem, 0),
		   "confidence: cause and line medium, gain medium: no surer than its cause");
	a->saving_ns = view_working_ns(s); /* no gain is told of that */
	EXPECT_INT(view_finding_gain_sure(s, &mem, 0).grade, ANA_NONE);
	EXPECT(!strstr(view_finding_confidence_words(s, &mem, 0), "gain"));
	for (size_t i = 0; i < s->findings; i++)
		sure += strstr(view_finding_sentence(s, &mem, i), " per hour") != NULL;
	EXPECT(sure > 0);
	view_summary_free(s);
}

static void expect_sure(const struct view_summary *s, enum ana_confidence grade, const char *lacks)
{
	struct view_sure sure = view_gain_sure(s, &mem, s->advice, s->advice->saving_ns, 0);

	EXPECT_INT(sure.grade, grade);
	EXPECT_STR(sure.lacks ? sure.lacks : "", lacks);
}

/* Else a gain is graded by what was measured of all that it rests on. */
static void test_gain_sure_by_rows(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	struct ana_loader_facts *l = &s->result->loader[0];
	struct view_loader *v = &s->loader;

	REQUIRE(s->advices && s->advice->with_need && view_advice_asks_source(s, s->advice));
	l->fetch_p95_ns = l->fetch_median_ns;
	v->facts.fed_median_ns = v->facts.step_ns - v->facts.wait_ns;
	expect_sure(s, ANA_MEDIUM, "its source was not seen to serve so many at a time");
	v->facts.fed_median_ns = -1;
	expect_sure(
		s, ANA_LOW,
		"its source was not seen to serve so many at a time, and how even its steps are is "
		"not known");
	s->advice->class = ANA_INPUT_PREP; /* no source is asked for more */
	expect_sure(s, ANA_MEDIUM, "how even its steps are is not known");
	v->facts.fed_median_ns = v->facts.step_ns - v->facts.wait_ns;
	expect_sure(s, ANA_HIGH, "");
	l->fetch_median_ns = 10;
	l->fetch_p95_ns = 15;
	expect_sure(s, ANA_HIGH, "");
	l->fetch_p95_ns = 16;
	expect_sure(s, ANA_MEDIUM, "batches take uneven times");
	v->facts.fed_median_ns = (v->facts.step_ns - v->facts.wait_ns) / 2;
	expect_sure(s, ANA_LOW, "batches take uneven times, and steps take uneven times");
	l->fetch_p95_ns = 10;
	expect_sure(s, ANA_MEDIUM, "steps take uneven times");
	v->facts.fed_median_ns = v->facts.step_ns - v->facts.wait_ns;
	v->need.bound = VIEW_WORKERS_CORES;
	expect_sure(s, ANA_MEDIUM, "it takes all cores that are here");
	v->need.advised = v->facts.workers;
	v->facts.cores = v->need.cores_needed - 1;
	REQUIRE(view_loader_wants_cores(s));
	expect_sure(s, ANA_MEDIUM, "these cores are not here yet");
	v->need.bound = VIEW_WORKERS_STEP;
	v->facts.fetch_delay_ns = v->facts.fetch_ns / VIEW_LACK_PART;
	expect_sure(s, ANA_HIGH, "");
	v->facts.fetch_delay_ns++;
	expect_sure(s, ANA_LOW, "the workers lack a CPU as it is");
	v->facts.workers = 0;
	expect_sure(s, ANA_LOW, "making batches lacks a CPU as it is");
	l->made = 19;
	expect_sure(s, ANA_LOW, "few batches were seen");
	s->advice->with_need = false; /* num_workers=0 */
	s->advice->class = ANA_INPUT_HANDOFF;
	s->advice->id = "no-workers";
	expect_sure(s, ANA_LOW, "few batches were seen");
	l->made = 20;
	expect_sure(s, ANA_LOW,
		    "the main process was not seen to make batches, and making them lacks a CPU as "
		    "it is");
	v->facts.fetch_delay_ns = 0;
	expect_sure(s, ANA_MEDIUM, "the main process was not seen to make batches");
	l->fetch_p95_ns = 16;
	expect_sure(s, ANA_LOW,
		    "the main process was not seen to make batches, and batches take uneven "
		    "times");
	view_summary_free(s);
}

/* Who was merely seen at work is not counted out. */
static void test_gain_sure_by_samples(void)
{
	struct view_summary *s = made_line(1, ANA_INPUT_PREP, WIRE_ROLE_PIN, WIRE_WAIT_NONE);

	REQUIRE(s && s->advices && s->advice->makers == 3);
	s->result->cpus = 4;
	expect_sure(s, ANA_MEDIUM, "samples alone tell how fast batches are made");
	s->result->cpus = 3;
	expect_sure(s, ANA_LOW,
		    "samples alone tell how fast batches are made, and it takes all cores that are "
		    "here");
	s->result->classes[ANA_HOST_CPU_STARVED] = view_working_ns(s) / 10;
	expect_sure(s, ANA_LOW,
		    "samples alone tell how fast batches are made, and it takes all cores that are "
		    "here");
	s->result->classes[ANA_HOST_CPU_STARVED]++;
	expect_sure(s, ANA_LOW, "making batches lacks a CPU as it is");
	s->advice->makers = 0; /* what is taken away as a whole */
	expect_sure(s, ANA_LOW, "a change may leave part of it");
	view_summary_free(s);
}

/* Workers that survive the epoch bring what is sure of them at least. */
static void test_gain_of_epochs(void)
{
	struct view_summary *s =
		made_line(1, ANA_INPUT_EPOCH, WIRE_ROLE_SUBMITTER, WIRE_WAIT_QUEUE);
	struct view_advice *a = s->advice;

	REQUIRE(s->advices && a->class == ANA_INPUT_EPOCH && !a->saving_least_ns);
	EXPECT(strstr(view_finding_sentence(s, &mem, 0), " Without it: at most 2.01 times"));
	a->brief = "persistent_workers=True";
	a->saving_least_ns = a->saving_ns / 2;
	EXPECT(strstr(view_finding_sentence(s, &mem, 0),
		      " persistent_workers=True would bring 1.33 to 2.01 times the steps per "
		      "hour."));
	EXPECT_INT(view_finding_gain_sure(s, &mem, 0).grade, ANA_MEDIUM);
	s->result->gpu = reallocarray(s->result->gpu, 2, sizeof(*s->result->gpu));
	REQUIRE(s->result->gpu);
	s->result->gpu[1] = s->result->gpu[0];
	s->result->gpus = 2; /* another one may wait then */
	EXPECT(!strstr(view_finding_sentence(s, &mem, 0), "per hour"));
	s->result->gpus = 1; /* what the copy points to is the first one's */
	view_summary_free(s);
}

/* Of a simulated GPU nothing is called measured that is not. */
static void test_simulated(void)
{
	struct view_summary *s = made_line(1, ANA_INPUT_PREP, WIRE_ROLE_WORKER, WIRE_WAIT_NONE);

	REQUIRE(s);
	EXPECT(strstr(view_confidence_words(s), "is measured"));
	s->result->simulated = true;
	EXPECT(!strstr(view_confidence_words(s), "is measured"));
	view_summary_free(s);
}

/* Who it was without a line says no more than the class: all of that is told at once. */
static void test_stands_without_line(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	struct view_told *told;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_HOST_DISPATCH, HALF / 2);
	made_site(r, (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
					   .ns = HALF / 2 / 4 * 3,
					   .role = WIRE_ROLE_SUBMITTER,
					   .samples = 9,
					   .threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	REQUIRE(s && view_findings_told(s, &mem, &told));
	EXPECT_INT(view_told_ns(s, told[0].at), HALF / 2);
	EXPECT(told[0].rest == view_told_rest(s, told[0].at));
	view_summary_free(s);
}

/* What is said of one line is not said again of the next. */
static void test_alike(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	struct view_cause *cause;
	struct view_told *told;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_INPUT_HANDOFF, HALF);
	for (uint32_t line = 7; line < 10; line++)
		made_site(r,
			  (struct ana_hotspot){ .class = ANA_INPUT_HANDOFF,
						.ns = HALF / 3 - line,
						.role = line < 9 ? WIRE_ROLE_PIN : WIRE_ROLE_WORKER,
						.wait = WIRE_WAIT_LOCK,
						.file = (char *)"/x/data.py",
						.line = line,
						.samples = 9,
						.threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	REQUIRE(s && view_findings_told(s, &mem, &told) >= 3);
	EXPECT(view_told_alike(s, told[0].at, told[1].at));
	EXPECT(!view_told_alike(s, told[0].at, told[2].at)); /* another thread's */
	EXPECT(!view_told_alike(s, told[0].at, told[0].at));
	EXPECT_INT(view_alike_ns(s, told, 2), HALF / 3 * 2 - 15);
	EXPECT_STR(
		view_alike_sentence(s, &mem, told, 2),
		"The GPU waited 33.3 % of the training time for batches that were made already: the "
		"pin thread was waiting for a lock within the process (data.py:7, also 8). Without it: "
		"at most 1.51 times the steps per hour.");
	/* line by line the gain of the cause stands with the first, and is the same */
	EXPECT(strstr(view_finding_sentence(s, &mem, told[0].at),
		      "waited 16.7 % of the training time"));
	EXPECT(strstr(
		view_finding_sentence(s, &mem, told[0].at),
		"(data.py:7). Without it at any of its lines: at most 1.51 times the steps per "
		"hour (33.3 % of the training time saved)."));
	EXPECT(!strstr(view_finding_sentence(s, &mem, told[1].at), "Without it"));
	EXPECT_STR(view_finding_sentence(s, &mem, told[2].at),
		   view_alike_sentence(s, &mem, told + 2, 1));
	EXPECT_UINT(view_causes_told(s, &mem, &told, &cause), 2);
	EXPECT(!cause[0].from && cause[0].n == 2 && cause[0].ns == HALF / 3 * 2 - 15);
	EXPECT(cause[1].from == 2 && cause[1].n == 1);
	view_summary_free(s);
}

/* A document may claim anything of its parts: then each is shown as it is, at once. */
static void test_no_parts(void)
{
	const int64_t ppm[] = { INT64_MAX, 250, 333333, INT64_MAX };
	int64_t tenths[4];

	view_close_tenths(ppm, 4, 1000, tenths);
	EXPECT(tenths[1] == 0 && tenths[2] == 333 && tenths[3] == INT64_MAX / 2000 + 1);
	view_close_tenths(ppm + 1, 2, 334, tenths);
	EXPECT(tenths[0] == 0 && tenths[1] == 334);
}

/* What is shown of the parts of a class sums to what is shown of it, however each would round. */
static void test_parts_sum(void)
{
	for (int64_t part = 0; part < 40; part++) {
		struct ana_result *r = made_result(1, H100, 5);
		int64_t line = HALF / 10 + part * (HALF / 9973), small = HALF / 100;
		struct view_summary *s;
		const char *text;
		double all, told, few, none;
		size_t rest;

		made_no_class(r, ANA_INPUT_UNKNOWN);
		made_class(r, ANA_HOST_DISPATCH, HALF / 4 + part * (HALF / 3331));
		for (uint32_t i = 0; i < 9; i++)
			made_site(r, (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
							   .ns = i < 2 ? line : small / (i + 8),
							   .role = WIRE_ROLE_SUBMITTER,
							   .file = (char *)(i ? "u.py" : "t.py"),
							   .line = i + 1,
							   .samples = 1,
							   .threads = 1 });
		s = made_summary_of(r, H100, 6880000000LL);
		REQUIRE(s != NULL);
		for (rest = 0; rest < s->findings && !s->finding[rest].rest; rest++)
			;
		REQUIRE(rest < s->findings);
		text = view_rest_words(s, &mem, rest);
		if (sscanf(text,
			   "host.dispatch in all: %lf %% of the training time; %lf %% told by line, %lf "
			   "%% at smaller lines, %lf %% where no",
			   &all, &told, &few, &none) != 4)
			T_FAIL("%s", text);
		EXPECT_INT((int)(10 * all + .5), (int)(10 * (told + few + none) + .5));
		view_summary_free(s);
	}
}

/*
 * Who did the same at a line that nobody saw is told with it; confidence is that of the least
 * certain.
 */
static void test_alike_without_line(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	struct view_told *told;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_INPUT_EPOCH, HALF);
	for (int k = 0; k < 2; k++)
		made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_EPOCH,
						   .ns = HALF / 2 - k,
						   .role = WIRE_ROLE_SUBMITTER,
						   .confidence = k ? ANA_LOW : ANA_HIGH,
						   .wait = k ? WIRE_WAIT_NONE : WIRE_WAIT_QUEUE,
						   .file = k ? NULL : (char *)"/x/train.py",
						   .line = k ? 0 : 7,
						   .samples = 9,
						   .threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	REQUIRE(s && view_findings_told(s, &mem, &told) >= 2);
	EXPECT(view_told_alike(s, told[0].at, told[1].at));
	EXPECT(view_told_alike(s, told[1].at, told[0].at));
	EXPECT(strstr(
		view_alike_sentence(s, &mem, told, 2),
		"50.0 % of the training time for an epoch to begin or end: an epoch's loader was "
		"starting or ending (train.py:7, also where no line was seen)."));
	/* however many there are */
	struct view_told three[] = { told[0], told[1], told[1] };
	EXPECT(strstr(view_alike_sentence(s, &mem, three, 3),
		      " (train.py:7, also where no line was seen)."));
	struct view_told turned[] = { told[1], told[0] };
	EXPECT(strstr(view_alike_sentence(s, &mem, turned, 2), ", in part at train.py:7."));
	EXPECT_INT(view_alike_confidence(s, told, 1), ANA_HIGH);
	EXPECT_INT(view_alike_confidence(s, told, 2), ANA_LOW);
	view_summary_free(s);
}

/*
 * What is left of a class whose lines are too small to be told is a sentence, and not a remainder.
 */
static void test_left_alone(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	struct view_told *told;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_INPUT_HANDOFF, HALF / 5);
	made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_HANDOFF,
					   .ns = HALF / 4000,
					   .role = WIRE_ROLE_PIN,
					   .file = (char *)"/x/data.py",
					   .line = 7,
					   .samples = 9,
					   .threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	REQUIRE(s && view_findings_told(s, &mem, &told) == 1);
	EXPECT_STR(
		view_finding_sentence(s, &mem, told[0].at),
		"The GPU waited 10.0 % of the training time for batches that were made already: a "
		"finished batch was on its way to the main process; no sample tells the line. Without "
		"it: at most 1.12 times the steps per hour.");
	view_summary_free(s);
}

/* What workers did instead is told as far as it was seen. */
static void expect_pipeline(uint32_t workers, int64_t idle, int64_t lock, const char *words)
{
	struct view_summary *s =
		made_line(1, ANA_INPUT_PIPELINE, WIRE_ROLE_SUBMITTER, WIRE_WAIT_QUEUE);

	REQUIRE(s && s->findings);
	s->result->loader = calloc(1, sizeof(*s->result->loader));
	REQUIRE(s->result->loader);
	s->result->loaders = 1;
	s->result->loader->known = ANA_LOADER_WORKERS;
	s->result->loader->workers = workers;
	s->loader.share_ppm[ANA_WORKER_IDLE] = idle;
	s->loader.share_ppm[ANA_WORKER_LOCK] = lock;
	s->loader.share_ppm[ANA_WORKER_IO] = 1000000 - idle - lock;
	words = base_arena_printf(&mem, "for batches: %s (train.py:42 step).", words);
	EXPECT_STR(strstr(view_finding_sentence(s, &mem, 0), words)
			   ? words
			   : view_finding_sentence(s, &mem, 0),
		   words);
	view_summary_free(s);
}

static void test_pipeline(void)
{
	expect_pipeline(1, 0, 0,
			"no sample tells what the only worker did while the main process waited");
	expect_pipeline(1, 400000, 0,
			"the only worker was not making the batch that was due: it was idle");
	expect_pipeline(
		1, 0, 400000,
		"the only worker was not making the batch that was due: it waited for a lock");
	expect_pipeline(
		4, 0, 0,
		"no worker was making the batch that was due: they were ahead with later batches");
	expect_pipeline(
		4, 1, 1,
		"no worker was making the batch that was due: they were idle or waiting for each other "
		"or ahead with later batches");
}

/* Who had what was wanted, as far as the run tells. */
static void expect_taken(enum ana_class c, uint8_t wait, uint32_t cores, size_t ranks,
			 const char *words)
{
	struct view_summary *s = made_line(1, c, WIRE_ROLE_SUBMITTER, wait);
	const char *told;

	REQUIRE(s && s->findings);
	s->result->cpus = cores;
	s->ranks = ranks;
	told = view_finding_sentence(s, &mem, 0);
	EXPECT_STR(strstr(told, words) ? words : told, words);
	view_summary_free(s);
}

static void test_taken(void)
{
	expect_taken(
		ANA_HOST_CPU_STARVED, WIRE_WAIT_NONE, 4, 1,
		"(train.py:42 step); the main process has 4 cores, which other threads of the job or "
		"other programs used: the run does not tell which.");
	expect_taken(ANA_HOST_CPU_STARVED, WIRE_WAIT_NONE, 0, 1,
		     "(train.py:42 step); who had the CPUs is not recorded.");
	expect_taken(ANA_HOST_CPU_STARVED, WIRE_WAIT_NONE, 4, 8,
		     "(train.py:42 step); who had the CPUs is not recorded.");
	expect_taken(ANA_HOST_LOCK, WIRE_WAIT_LOCK, 4, 1,
		     "(train.py:42 step); who held it is not recorded.");
	expect_taken(
		ANA_HOST_LOCK, WIRE_WAIT_GIL, 4, 1,
		"(train.py:42 step); another thread of the process ran Python meanwhile: the run does not tell "
		"which.");
	expect_taken(ANA_HOST_NET, WIRE_WAIT_SOCKET, 4, 1, "(train.py:42 step). ");
}

/*
 * Of two classes that lacked a CPU the larger one tells of the CPUs; the other one does not again.
 */
static void test_taken_once(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	const enum ana_class class[] = { ANA_INPUT_CPU_STARVED, ANA_HOST_CPU_STARVED };
	size_t said = 0;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	r->cpus = 4;
	for (int k = 0; k < 2; k++) {
		made_class(r, class[k], HALF / (4 - 2 * k));
		made_site(r, (struct ana_hotspot){ .class = class[k],
						   .ns = HALF / (4 - 2 * k),
						   .role = WIRE_ROLE_SUBMITTER,
						   .runnable = true,
						   .file = (char *)"/x/train.py",
						   .line = 42,
						   .samples = 9,
						   .threads = 1 });
	}
	struct view_summary *s = made_summary_of(r, H100, 6880000000LL);

	REQUIRE(s && s->findings >= 2);
	for (size_t i = 0; i < s->findings; i++) {
		bool tells =
			strstr(view_finding_sentence(s, &mem, i), "does not tell which") != NULL;

		said += tells;
		EXPECT(tells == (s->finding[i].class == ANA_HOST_CPU_STARVED));
	}
	EXPECT(said == 1);
	/* who is known to have run had them: the other one does not know */
	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == ANA_HOST_CPU_STARVED)
			s->finding[i].where.has_cpu = "process mill\tgrind\t/home/me/mill.py\t12";
	for (size_t i = 0; i < s->findings; i++) {
		bool tells =
			strstr(view_finding_sentence(s, &mem, i), "does not tell which") != NULL;

		EXPECT(tells == (s->finding[i].class == ANA_INPUT_CPU_STARVED));
	}
	view_summary_free(s);
}

/*
 * Workers of an epoch that end or start are told as what they are, and whether they need not have.
 */
static void expect_turnover(uint64_t iterators, bool persistent, bool ends, const char *words)
{
	struct view_summary *s = made_line(1, ANA_INPUT_EPOCH, WIRE_ROLE_SUBMITTER,
					   ends ? WIRE_WAIT_CHILD : WIRE_WAIT_NONE);
	const char *told;

	REQUIRE(s && s->findings);
	s->result->loader = calloc(1, sizeof(*s->result->loader));
	REQUIRE(s->result->loader);
	s->result->loaders = 1;
	s->result->loader->iterators = iterators;
	s->result->loader->known = ANA_LOADER_PERSISTENT;
	s->result->loader->persistent = persistent;
	s->finding[0].where.target = ends ? "Process.join" : NULL;
	s->finding[0].where.leaf =
		ends ? NULL : "Popen._launch\t/usr/lib/python3.11/multiprocessing/popen_fork.py";
	told = view_finding_sentence(s, &mem, 0);
	words = base_arena_printf(
		&mem, "for an epoch to begin or end: the main process was %s (train.py:42 step).",
		words);
	EXPECT_STR(strstr(told, words) ? words : told, words);
	view_summary_free(s);
}

static void test_turnover(void)
{
	expect_turnover(1, false, true, "ending the loader's workers");
	expect_turnover(30, false, true, "ending workers that the next epoch starts again");
	expect_turnover(30, true, true, "ending the loader's workers");
	expect_turnover(30, false, false, "starting workers again");
	expect_turnover(1, false, false, "starting the loader's workers");
}

static void expect_doing(uint8_t role, const char *leaf, const char *native, const char *words)
{
	struct view_hotspot p = { .known = true, .role = role, .leaf = leaf, .native = native };
	const char *is = view_words_activity(&p);

	if (words)
		EXPECT_STR(is ? is : "", words);
	else
		EXPECT(!is);
	p.wait = WIRE_WAIT_READ;
	EXPECT(!view_words_activity(&p));
}

static void expect_activity(const char *leaf, const char *native, const char *words)
{
	expect_doing(WIRE_ROLE_WORKER, leaf, native, words);
}

static void expect_training(const char *leaf, const char *words)
{
	expect_doing(WIRE_ROLE_SUBMITTER, leaf, NULL, words);
}

static void test_activities(void)
{
	expect_activity("ImageFile.load\t/usr/lib/python3/dist-packages/PIL/ImageFile.py", NULL,
			"decoding images");
	expect_activity("load\t/x/PIL/ImageFile.py", NULL, "decoding images");
	expect_activity("ImageFile.download\t/x/PIL/ImageFile.py", NULL, NULL);
	expect_activity("load\t/x/my/ImageFile.py", NULL, NULL);
	expect_activity("Linear.forward\t/x/torch/nn/modules/linear.py", NULL,
			NULL); /* a worker's transform */
	expect_training("_engine_run_backward\t/x/torch/autograd/graph.py",
			"running the backward pass");
	expect_doing(WIRE_ROLE_PRODUCER, "_engine_run_backward\t/x/torch/autograd/graph.py", NULL,
		     "running the backward pass"); /* autograd's thread */
	expect_doing(WIRE_ROLE_PRODUCER, "Linear.forward\t/x/torch/nn/modules/linear.py", NULL,
		     NULL); /* a thread's transform */
	expect_training("Linear.forward\t/x/torch/nn/modules/linear.py",
			"running the forward pass");
	expect_training("Adam.step\t/x/torch/optim/adam.py", "running the optimizer's step");
	expect_training("load\t/x/PIL/ImageFile.py", "decoding images");
	expect_training("forward\t/x/my/modules/linear.py", NULL);
	expect_activity("", NULL, NULL);
	expect_activity("load", "", NULL);
	expect_activity(NULL, "/usr/lib/libjpeg.so.62\t1a2b\t", "decoding JPEGs");
	expect_activity(NULL, "libjpeg.so.62", "decoding JPEGs");
	expect_activity(NULL, "/usr/lib/libjpeg/libc.so.6\t1\t", NULL);
}

static const struct t_case cases[] = {
	T_CASE(test_sentences),
	T_CASE(test_all_classes),
	T_CASE(test_bounds),
	T_CASE(test_thin),
	T_CASE(test_batches_bind),
	T_CASE(test_late),
	T_CASE(test_order),
	T_CASE(test_from_neighbours),
	T_CASE(test_stepped_down),
	T_CASE(test_small_lines),
	T_CASE(test_stands),
	T_CASE(test_stands_without_line),
	T_CASE(test_alike),
	T_CASE(test_alike_without_line),
	T_CASE(test_left_alone),
	T_CASE(test_pipeline),
	T_CASE(test_taken),
	T_CASE(test_activities),
	T_CASE(test_line_confidence),
	T_CASE(test_simulated),
	T_CASE(test_gain_sure_interval),
	T_CASE(test_gain_sure_by_rows),
	T_CASE(test_gain_sure_by_samples),
	T_CASE(test_gain_of_epochs),
	T_CASE(test_taken_once),
	T_CASE(test_turnover),
	T_CASE(test_parts_sum),
	T_CASE(test_no_parts),
	T_CASE(test_after_last),
};

int main(void)
{
	int rc = t_run(cases, sizeof(cases) / sizeof(cases[0]));

	base_arena_fini(&mem);
	return rc;
}
