/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one percentage that leads, of every verdict, and what it comes to per GPU-hour, day, month
 * and thousand steps.
 */
#include "findings/findings.h"
#include "findings/lead.h"
#include "findings/unused.h"
#include "report/html/html.h"
#include "report/text/text.h"
#include "harness.h"
#include "view_made.h"

static struct base_arena mem;

/* One GPU for an hour of which a fifth was start-up, with a quarter of the rest in @class. */
static struct view_summary *run_of(enum ana_class class, int64_t price)
{
	struct ana_result *r = made_result(1, "NVIDIA H100", 0);
	int64_t working = MADE_HOUR_NS / 5 * 4;

	memset(r->gpu[0].classes, 0, sizeof(r->gpu[0].classes));
	memset(r->gpu[0].confidence, 0, sizeof(r->gpu[0].confidence));
	memset(r->confidence, 0, sizeof(r->confidence));
	memset(r->classes, 0, sizeof(r->classes));
	r->gpu_ns = r->starved_ns = r->wasted_ns = 0;
	r->gpu[0].held_ns = MADE_HOUR_NS;
	r->gpu[0].classes[ANA_EXCLUDED_STARTUP] = MADE_HOUR_NS - working;
	r->gpu[0].classes[ANA_COMPUTE] = working - working / 4;
	r->gpu[0].classes[class] += working / 4;
	made_totals(r);
	return made_summary_of(r, "NVIDIA H100", price);
}

static void expect(enum ana_class class, const char *lead, const char *hour)
{
	struct view_summary *s = run_of(class, 3990000000LL);
	struct view_lead l = view_lead_of(s);
	const char *said = view_lead_hour_words(s, &mem);

	EXPECT(l.known);
	EXPECT_STR(view_lead_words(&l, &mem), lead);
	EXPECT_STR(said ? said : "nothing", hour);
	view_summary_free(s);
}

static void test_verdicts(void)
{
	expect(ANA_INPUT_FETCH, "The GPU waited for input for 25.0 % of the training time",
	       "$1.00 of each $3.99 GPU-hour of training was paid for waiting");
	expect(ANA_HOST_SYNC,
	       "The GPU waited for the training program for 25.0 % of the training time",
	       "$1.00 of each $3.99 GPU-hour of training was paid for waiting");
	expect(ANA_HOST_WARMUP,
	       "The GPU waited for modules to be loaded and compiled for 25.0 % of the training time",
	       "$1.00 of each $3.99 GPU-hour of training was paid for waiting");
	expect(ANA_COMM, "The GPU communicated for 25.0 % of the training time",
	       "$1.00 of each $3.99 GPU-hour of training was paid for communication");
	expect(ANA_COPY, "The GPU did nothing but copy for 25.0 % of the training time",
	       "$1.00 of each $3.99 GPU-hour of training was paid for copying");
	expect(ANA_DEVICE_LAUNCH,
	       "Queued work waited on the device for 25.0 % of the training time",
	       "$1.00 of each $3.99 GPU-hour of training was paid for waiting");
	expect(ANA_HOST_UNKNOWN,
	       "Nobody knows what the GPU waited for in 25.0 % of the training time", "nothing");
	expect(ANA_HOST_WAIT,
	       "The GPU waited for the training program, which waited for something itself, for 25.0 % of the training time",
	       "nothing");
	expect(ANA_COMPUTE, "The GPU was busy for 100.0 % of the training time", "nothing");
}

/* Of what is in doubt the larger half leads: what the program waited in, or what nobody knows. */
static void test_doubt(void)
{
	struct view_summary *s = run_of(ANA_HOST_WAIT, 3990000000LL);
	int64_t *classes = s->result->classes;
	int64_t most = classes[ANA_HOST_WAIT] / 2 - 1;
	struct view_lead l;

	classes[ANA_HOST_WAIT] -= most;
	classes[ANA_HOST_UNKNOWN] += most;
	l = view_lead_of(s);
	EXPECT(l.host_waits && l.ns == classes[ANA_HOST_WAIT]);
	classes[ANA_HOST_WAIT] -= 2;
	classes[ANA_HOST_UNKNOWN] += 2;
	l = view_lead_of(s);
	EXPECT(!l.host_waits && l.ns == classes[ANA_HOST_WAIT] + classes[ANA_HOST_UNKNOWN]);
	view_summary_free(s);
}

/* Busy is no praise by itself: a tenth of the training time lost is told of. */
static void test_healthy(void)
{
	struct view_summary *s = run_of(ANA_COMPUTE, 3990000000LL);
	int64_t *classes = s->result->classes;

	EXPECT(view_is_healthy(s));
	classes[ANA_COMPUTE] -= MADE_HOUR_NS / 12;
	classes[ANA_HOST_UNKNOWN] += MADE_HOUR_NS / 12;
	EXPECT(!view_is_healthy(s)); /* 89.6 % */
	view_summary_free(s);
	s = run_of(ANA_INPUT_FETCH, 3990000000LL);
	EXPECT(!view_is_healthy(s));
	view_summary_free(s);
}

static void test_words(void)
{
	struct view_summary *s = run_of(ANA_INPUT_FETCH, 3990000000LL);

	EXPECT_STR(view_lead_sum_words(s, &mem), "$0.80 of $3.99");
	EXPECT_STR(view_outside_sentence(s, &mem),
		   "start-up and shutdown: $0.80, 20.0 % of what was paid");
	EXPECT_STR(
		view_lead_rate_words(s, &mem),
		"if it went on like these 48.0 GPU-minutes of training, day and night: $23.94 per day and $718 per month; $7.98 of $31.92 per thousand steps");
	s->result->steps = 0;
	EXPECT_STR(
		view_lead_rate_words(s, &mem),
		"if it went on like these 48.0 GPU-minutes of training, day and night: $23.94 per day and $718 per month");
	s->no_projection = true;
	EXPECT(!view_lead_rate_words(s, &mem));
	EXPECT(!view_lead_hour_words(s, &mem));
	EXPECT_STR(view_lead_sum_words(s, &mem), "$0.80 of $3.99");
	s->cost.wasted += s->cost.wasted / 200; /* next to nothing else */
	EXPECT_STR(view_lead_sum_words(s, &mem), "$0.80 of $3.99");
	s->cost.wasted += s->cost.wasted / 4;
	EXPECT_STR(view_lead_sum_words(s, &mem),
		   "$0.80 of $3.99 (and $0.20 wasted by other causes)");
	view_summary_free(s);
}

/* Nobody loses warm-up again tomorrow: a rate is told where less than a tenth of it is that. */
static void test_once(void)
{
	struct view_summary *s = run_of(ANA_HOST_SYNC, 3990000000LL);
	int64_t *classes = s->result->classes, lost = classes[ANA_HOST_SYNC];

	EXPECT(view_lead_rate_words(s, &mem) != NULL);
	classes[ANA_HOST_SYNC] -= lost / 11;
	classes[ANA_HOST_WARMUP] += lost / 11;
	EXPECT(view_lead_rate_words(s, &mem) != NULL);
	classes[ANA_HOST_SYNC] -= lost / 20;
	classes[ANA_HOST_WARMUP] += lost / 20;
	EXPECT(!view_lead_rate_words(s, &mem));
	EXPECT(view_lead_hour_words(s, &mem) != NULL); /* of this run */
	EXPECT(view_class_projects(s, ANA_HOST_SYNC));
	EXPECT(!view_class_projects(s, ANA_HOST_WARMUP));
	view_summary_free(s);
}

/* Start-up says what it is, with both its parts where the trace has them. */
static void test_startup(void)
{
	struct view_summary *s = run_of(ANA_HOST_SYNC, 3990000000LL);
	struct ana_result *r = s->result;
	const char *all =
		"start-up is all until the GPU's first work: imports, CUDA's context, the "
		"model, the first batch; paid once per run";

	r->classes[ANA_EXCLUDED_STARTUP] = r->gpu_ns / 6;
	EXPECT(!view_startup_sentence(s, &mem));
	r->classes[ANA_EXCLUDED_STARTUP] = r->gpu_ns / 5;
	EXPECT_STR(view_startup_sentence(s, &mem), all);
	r->before_cuda_ns = r->classes[ANA_EXCLUDED_STARTUP] - 1500000000;
	r->gpus = 1;
	EXPECT(strstr(view_startup_sentence(s, &mem), ", then 1.5 s to the GPU's first work"));
	EXPECT(!strncmp(view_startup_sentence(s, &mem), "of start-up ", 12));
	r->imported = true; /* it began in mid-run */
	EXPECT(!view_startup_sentence(s, &mem));
	view_summary_free(s);
}

/* Host-bound by warm-up says so, unless others are a tenth of the time or more than it. */
static void test_warmup(void)
{
	struct view_summary *s = run_of(ANA_HOST_WARMUP, 3990000000LL);

	EXPECT(view_is_warmup(s));
	EXPECT_STR(view_verdict_words(s, &mem), "host-bound by warm-up");
	EXPECT(!view_short_words(s, &mem));
	s->result->classes[ANA_COMPUTE] -= MADE_HOUR_NS / 10;
	s->result->classes[ANA_HOST_SYNC] += MADE_HOUR_NS / 10;
	EXPECT(!view_is_warmup(s));
	EXPECT_STR(view_verdict_words(s, &mem), "host-bound");
	view_summary_free(s);
	s = run_of(ANA_HOST_WARMUP, 3990000000LL);
	s->result->classes[ANA_HOST_WARMUP] = s->result->classes[ANA_HOST_SYNC] = MADE_HOUR_NS / 20;
	EXPECT(view_is_warmup(s));
	s->result->classes[ANA_HOST_SYNC]++;
	EXPECT(!view_is_warmup(s));
	view_summary_free(s);
	s = run_of(ANA_INPUT_FETCH, 3990000000LL);
	EXPECT(!view_is_warmup(s));
	view_summary_free(s);
}

/* Ten seconds of training time for each GPU are enough to say nothing of it. */
static void test_short(void)
{
	struct view_summary *s = run_of(ANA_INPUT_FETCH, 3990000000LL);
	int64_t *classes = s->result->classes;

	memset(classes, 0, sizeof(s->result->classes));
	classes[ANA_COMPUTE] = VIEW_SHORT_NS;
	s->result->gpu_ns = VIEW_SHORT_NS;
	classes[ANA_COMPUTE] /= 2;
	classes[ANA_INPUT_FETCH] = VIEW_SHORT_NS - classes[ANA_COMPUTE];
	s->result->steps = 1000;
	EXPECT(!view_short_words(s, &mem));
	EXPECT(strstr(view_lead_rate_words(s, &mem), "per month; "));
	s->result->gpu_ns--;
	EXPECT(!strstr(view_lead_rate_words(s, &mem), "per month"));
	EXPECT(!strncmp(view_lead_rate_words(s, &mem), "per thousand steps: ", 20));
	EXPECT_STR(
		view_short_words(s, &mem),
		"only 10.0 GPU-seconds of training, slow first steps among them: too short for figures "
		"per day or month");
	view_summary_free(s);
}

/* Pauses of the device are told from a tenth of the training time on. */
static void test_between(void)
{
	struct view_summary *s = run_of(ANA_HOST_DISPATCH, 3990000000LL);
	int64_t *classes = s->result->classes, tenth = view_working_ns(s) / 10;

	classes[ANA_COMPUTE] -= tenth;
	classes[ANA_DEVICE_TURNAROUND] = tenth - tenth / 1000;
	EXPECT(!view_between_ns(s) && !view_between_sentence(s, &mem));
	classes[ANA_DEVICE_TURNAROUND] = tenth;
	classes[ANA_COMPUTE]--;
	EXPECT_INT(view_between_ns(s), tenth);
	EXPECT_STR(
		view_between_sentence(s, &mem),
		"10.0 % of the training time passed from one operation to the next that was launched "
		"already, 10 us or less each: what a GPU needs there, or the pace at which small ones "
		"are launched. Not counted as waste, but CUDA graphs, torch.compile or larger batches "
		"make them fewer, on top of what is said below");
	view_summary_free(s);
}

/* Arithmetic in fp32 is told from a tenth of the training time on, with what it cost. */
static void test_fp32(void)
{
	const int conv = ANA_WORK(FACTS_KIND_CONVOLUTION, FACTS_PRECISION_FP32);
	const int sgemm = ANA_WORK(FACTS_KIND_MATMUL, FACTS_PRECISION_FP32);
	struct view_summary *s = run_of(ANA_HOST_DISPATCH, 4000000000LL);
	struct ana_work *w = &s->result->work;
	int64_t tenth = view_working_ns(s) / 10;

	w->ns[ANA_WORK(FACTS_KIND_MATMUL, FACTS_PRECISION_BF16)] = tenth * 4;
	w->ns[ANA_WORK(FACTS_KIND_ELEMENTWISE, FACTS_PRECISION_FP32)] = tenth * 2;
	w->ns[sgemm] = tenth - tenth / 1000;
	EXPECT(!view_fp32_sentence(s, &mem));
	w->ns[sgemm] = tenth;
	s->cost.work[sgemm] = 320000000;
	EXPECT_STR(
		view_fp32_sentence(s, &mem),
		"13.3 % of compute is matmul in fp32, $0.32 of this run: tf32, bf16 or fp16 would save a "
		"part of that");
	w->ns[conv] = tenth / 2;
	s->cost.work[conv] = 160000000;
	EXPECT_STR(
		view_fp32_sentence(s, &mem),
		"20.0 % of compute is matmul and convolution in fp32, $0.48 of this run: tf32, bf16 or "
		"fp16 would save a part of that");
	view_summary_free(s);
}

/* Without a price the same in GPU time, and no dollar. */
static void test_no_price(void)
{
	struct view_summary *s = run_of(ANA_INPUT_FETCH, 0);

	EXPECT(!view_lead_hour_words(s, &mem));
	EXPECT_STR(view_lead_sum_words(s, &mem), "0.20 GPU-hours of 1.00 GPU-hours");
	EXPECT_STR(view_outside_sentence(s, &mem),
		   "start-up and shutdown: 0.20 GPU-hours, 20.0 % of what was held");
	EXPECT_STR(
		view_lead_rate_words(s, &mem),
		"if it went on like these 48.0 GPU-minutes of training, day and night: 6.00 GPU-hours per day and 180.00 GPU-hours per month; "
		"2.00 GPU-hours of 8.00 GPU-hours per thousand steps");
	view_summary_free(s);
}

/*
 * Where other ranks waited for a late one, the summary has no dollars of that by cause: none are
 * told.
 */
static void test_skew(void)
{
	struct view_summary *s = run_of(ANA_HOST_SYNC, 3990000000LL);
	struct view_lead l;

	s->result->skew_causes[ANA_HOST_SYNC] = MADE_HOUR_NS / 10;
	l = view_lead_of(s);
	EXPECT_INT(l.ns, MADE_HOUR_NS / 5 + MADE_HOUR_NS / 10);
	EXPECT(!l.cost);
	EXPECT(!view_lead_hour_words(s, &mem));
	view_summary_free(s);
}

/* Nothing but start-up: nothing leads. */
static void nothing_leads(void)
{
	struct view_summary *s = run_of(ANA_INPUT_FETCH, 3990000000LL);

	memset(s->result->classes, 0, sizeof(s->result->classes));
	s->result->classes[ANA_EXCLUDED_STARTUP] = s->result->gpu_ns;
	EXPECT(!view_lead_of(s).known);
	EXPECT(!view_lead_hour_words(s, &mem));
	EXPECT(!view_lead_rate_words(s, &mem));
	view_summary_free(s);
}

static char *text_of(const struct view_summary *s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fprintf(f, "%s. %s", view_verdict_words(s, &mem), view_text_money(s, &mem));
	fclose(f);
	return text;
}

static int64_t no_work_after; /* behind the last kernel, of what expect_waiting gives */

/* An hour of which @no_work was waits for requests, @unknown nobody knows, and @ns was @c. */
static void expect_waiting(int64_t no_work, int64_t unknown, enum ana_class c, int64_t ns,
			   const char *words)
{
	struct ana_result *r = made_result(1, "NVIDIA H100", 0);
	struct view_summary *s;
	char *text, *page;

	r->gpu[0].held_ns = MADE_HOUR_NS;
	memset(r->gpu[0].classes, 0, sizeof(r->gpu[0].classes));
	r->gpu[0].classes[ANA_HOST_NO_WORK] = no_work;
	r->gpu[0].no_work_after_ns = no_work_after;
	r->gpu[0].classes[ANA_HOST_UNKNOWN] = unknown;
	r->gpu[0].classes[c] += ns;
	r->gpu[0].classes[ANA_COMPUTE] += MADE_HOUR_NS - no_work - unknown - ns;
	r->gpu[0].judgement = ana_verdict_of(MADE_HOUR_NS, r->gpu[0].classes);
	r->gpu_ns = r->starved_ns = r->wasted_ns = 0;
	memset(r->classes, 0, sizeof(r->classes));
	made_totals(r);
	s = made_summary_of(r, "NVIDIA H100", 3990000000LL);
	text = text_of(s);
	EXPECT_STR(text, words);
	page = made_page(s, view_html_write);
	EXPECT_INT(!strstr(page, "had nothing to do for <span class=\""),
		   !strstr(text, "had nothing to do"));
	EXPECT_INT(!strstr(page, "<span class=\"badge warn\">inconclusive</span>"),
		   !strstr(text, "inconclusive"));
	EXPECT_STR(view_gpu_verdict_words(s, 0, &mem), view_verdict_words(s, &mem));
	free(page);
	free(text);
	view_summary_free(s);
}

/* A server's waits for requests lead where they are more than what nobody knows. */
static void test_waiting(void)
{
	const int64_t tenth = MADE_HOUR_NS / 10;

	nothing_leads();
	expect_waiting(
		5 * tenth, 2 * tenth, ANA_COMPUTE, 0,
		"waiting for work. The GPU had nothing to do for 50.0 % of the time held: the "
		"process waited for requests, or for a person. Nobody knows what the GPU waited "
		"for in 40.0 % of the inference time");
	expect_waiting(
		2 * tenth, 2 * tenth, ANA_COMPUTE, 0,
		"inconclusive. Nobody knows what the GPU waited for in 25.0 % of the inference "
		"time");
	/* known or not, what else there is leads as before */
	expect_waiting(
		5 * tenth, tenth / 2, ANA_HOST_SYNC, tenth,
		"host-bound. The GPU waited for the inference program for 20.0 % of the "
		"inference time: $0.80 of each $3.99 GPU-hour of inference was paid for waiting");
	/* a server that is busy in what is left is none that is busy */
	expect_waiting(
		6 * tenth, 0, ANA_COMPUTE, 0,
		"waiting for work. The GPU had nothing to do for 60.0 % of the time held: the "
		"process waited for requests, or for a person. The GPU was busy for 100.0 % of "
		"the inference time");
	expect_waiting(
		8 * tenth, 0, ANA_EXCLUDED_STARTUP, 2 * tenth,
		"waiting for work. The GPU had nothing to do for 80.0 % of the time held: the "
		"process waited for requests, or for a person");
	/* a server whose last request was long ago, and one that is done and sleeps */
	no_work_after = 3 * tenth;
	expect_waiting(
		6 * tenth, 0, ANA_COMPUTE, 0,
		"waiting for work. The GPU had nothing to do for 60.0 % of the time held: the "
		"process waited for requests, or for a person. The GPU was busy for 100.0 % of "
		"the inference time");
	no_work_after = 6 * tenth;
	expect_waiting(
		6 * tenth, 0, ANA_COMPUTE, 0,
		"waiting for work. The GPU had nothing to do for 60.0 % of the time held: its last "
		"kernel had ended, and the process went on without work for it. The GPU was busy "
		"for 100.0 % of the training time");
	no_work_after = 0;
}

/* By cost, the most first, each once; what is left of a class is known as that. */
static void test_by_cost(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), "x", 3990000000LL);
	const size_t *at = view_findings_by_cost(s, &s->mem);
	size_t sum = 0, rests = 0;

	REQUIRE(s->findings > 2);
	for (size_t i = 0; i < s->findings; i++) {
		const struct view_finding *f = &s->finding[at[i]];

		EXPECT(!i || s->finding[at[i - 1]].ns >= f->ns);
		EXPECT(!view_finding_is_rest(f) || view_finding_of(s, f->class));
		sum += at[i];
		rests += view_finding_is_rest(f);
	}
	EXPECT_INT(sum, s->findings * (s->findings - 1) / 2);
	EXPECT_INT(rests, 1);
	view_summary_free(s);
}

/* An hour of which a tenth was @input, and @ns of @c. */
static struct view_summary *beside_input(enum ana_class c, int64_t ns)
{
	struct ana_result *r = made_result(1, "NVIDIA H100", 0);

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_INPUT_FETCH, MADE_HOUR_NS / 10);
	made_class(r, c, ns);
	return made_summary_of(r, "NVIDIA H100", 3990000000LL);
}

static void expect_larger(enum ana_class c, int64_t ns, const char *words)
{
	struct view_summary *s = beside_input(c, ns);
	const struct view_advice *a = view_advice_first(s);
	struct view_lead l = view_lead_of(s), input;
	bool beside = view_lead_beside(s, &input);

	EXPECT_INT(s->result->judgement.verdict, ANA_V_INPUT_BOUND);
	EXPECT_STR(view_lead_words(&l, &mem), words);
	EXPECT_INT(beside, l.verdict != ANA_V_INPUT_BOUND);
	EXPECT_INT(view_lead_paid_of(s).ns, l.ns + (beside ? input.ns : 0));
	EXPECT_INT(view_lead_paid_of(s).nano_usd, l.nano_usd + (beside ? input.nano_usd : 0));
	EXPECT_INT(input.ppm / 1000, 100);
	EXPECT_STR(view_verdict_words(s, &mem),
		   l.verdict == ANA_V_HOST_BOUND   ? "host-bound and input-bound, warning"
		   : l.verdict == ANA_V_COPY_BOUND ? "copy-bound and input-bound, warning"
						   : "input-bound, warning");
	REQUIRE(a);
	EXPECT(ana_class_is_input(a->class) == !beside);
	view_summary_free(s);
}

#define INPUT_LEADS "The GPU waited for input for 10.0 % of the training time"

/* A verdict of input hides no larger loss: that leads, and the first advice is about it. */
static void test_larger(void)
{
	expect_larger(ANA_HOST_SYNC, MADE_HOUR_NS / 2,
		      "The GPU waited for the training program for 50.0 % of the training time");
	expect_larger(ANA_COPY, MADE_HOUR_NS / 5,
		      "The GPU did nothing but copy for 20.0 % of the training time");
	expect_larger(ANA_HOST_SYNC, MADE_HOUR_NS / 20, INPUT_LEADS);
	/* what is no loss is none, and what nobody knows */
	expect_larger(ANA_COMM, MADE_HOUR_NS / 2, INPUT_LEADS);
	expect_larger(ANA_HOST_UNKNOWN, MADE_HOUR_NS / 2, INPUT_LEADS);
}

/* A table of GPUs says of each what the headline says of the only one. */
static void test_gpus_say_as_the_run(void)
{
	struct view_summary *s = beside_input(ANA_HOST_SYNC, MADE_HOUR_NS / 2);
	struct ana_result *r = s->result;
	struct ana_gpu *two = calloc(2, sizeof(*two));

	EXPECT_STR(view_verdict_words(s, &mem), "host-bound and input-bound, warning");
	EXPECT_STR(view_gpu_verdict_words(s, 0, &mem), "host-bound and input-bound, warning");
	REQUIRE(two);
	two[0] = r->gpu[0];
	two[1] = r->gpu[0];
	two[1].classes[ANA_HOST_SYNC] = 0;
	struct ana_gpu *one = r->gpu;
	r->gpu = two;
	r->gpus = 2;
	EXPECT_STR(view_gpu_verdict_words(s, 0, &mem), "host-bound and input-bound, warning");
	EXPECT_STR(view_gpu_verdict_words(s, 1, &mem), "input-bound, warning");
	r->gpu = one;
	r->gpus = 1;
	free(two);
	view_summary_free(s);
}

int main(void)
{
	int failed =
		RUN(test_verdicts, test_doubt, test_healthy, test_words, test_once, test_startup,
		    test_warmup, test_short, test_no_price, test_between, test_fp32, test_skew,
		    test_waiting, test_by_cost, test_larger, test_gpus_say_as_the_run);

	base_arena_fini(&mem);
	return failed;
}
