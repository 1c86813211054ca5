/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only live runs have: held time, lead and tail, loss, holes, clock steps, devices without
 * operations or launches. All times in microseconds from 1 s.
 */
#include "engine_trace.h"
#include "analysis/plan/plan.h"
#include "model/model.h"

#define US(n) (INT64_C(1000000000) + (n)*INT64_C(1000))
#define NS(us) ((us)*INT64_C(1000))

#define CLASS(r, gpu_, name_) ((r).result->gpu[gpu_].classes[ANA_##name_])

static void test_lead_and_tail(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(100), US(300));
	t_launch(&p, US(400), US(410), US(500), 1);
	t_launch(&p, US(490), US(505), US(600), 2);
	t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(650), US(700));
	t_proc_end(&p, US(1000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->gpus, 1);
	EXPECT_INT(r.result->gpu[0].held_ns, NS(1000));
	EXPECT_INT(CLASS(r, 0, INPUT_UNKNOWN), NS(200 + 50));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_STARTUP), NS(410 - 200));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(400 - 50));
	EXPECT_INT(CLASS(r, 0, COMPUTE), NS(90 + 95));
	EXPECT_INT(CLASS(r, 0, DEVICE_TURNAROUND), NS(5));
	EXPECT_INT(r.result->loader_wait_ns, NS(250));
	EXPECT_INT(r.result->loader_exposed_ns, 0);
	EXPECT_INT(r.result->loader_hidden_ns, 0);
	EXPECT_INT(r.result->batches, 2);
	EXPECT_STR(r.result->loader_kind, "DataLoader");
	EXPECT(r.result->complete);
	t_run_end(&r);
}

static void test_wait_after_the_first_launch(void)
{
	struct t_run r;
	struct t_proc p;

	/* Something is queued from 200 on: a wait behind it is no proof, and so start-up. */
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(100), US(300));
	t_launch(&p, US(200), US(410), US(500), 1);
	t_proc_end(&p, US(600), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, INPUT_UNKNOWN), NS(100));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_STARTUP), NS(310));
	t_run_end(&r);
}

static void test_first_wait_of_an_iterator(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(10), US(20), US(100), 1);
	t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(120), US(400))->flags =
		WIRE_EV_FL_FIRST;
	t_launch(&p, US(500), US(510), US(600), 2);
	t_proc_end(&p, US(600), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, 0, INPUT_EPOCH), NS(280));
	EXPECT_INT(CLASS(r, 0, HOST_UNKNOWN), NS(120));
	EXPECT_INT(r.result->gpu[0].confidence[ANA_INPUT_EPOCH][ANA_HIGH], NS(280));
	EXPECT_INT(r.result->gpu[0].held_ns, r.result->gpu[0].span_ns);
	t_run_end(&r);
}

static void test_a_gpu_without_operations(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(100), US(300));
	t_proc_end(&p, US(1000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->gpu[0].held_ns, NS(1000));
	EXPECT_INT(r.result->gpu[0].span_ns, 0);
	EXPECT_INT(CLASS(r, 0, INPUT_UNKNOWN), NS(200));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_STARTUP), NS(800));
	t_run_end(&r);
}

static void test_one_gpu_after_the_other(void)
{
	struct t_run r;
	struct t_proc p, q;

	/* Two processes, one GPU, and a time in between in which nobody held it. */
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_proc_end(&p, US(300), true);
	t_proc_begin(&r, &q, 11, 0, US(500));
	t_launch(&q, US(600), US(700), US(800), 1);
	t_proc_end(&q, US(900), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->gpus, 1);
	EXPECT_INT(r.result->gpu[0].held_ns, NS(300 + 400));
	EXPECT_INT(r.result->gpu[0].span_ns, NS(700));
	EXPECT_INT(r.result->gpu[0].idle_ns, NS(500));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_STARTUP), NS(100));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(100));
	/* 200 to 300 and 500 to 600 without a reason; 600 to 700 waits for its launch. */
	EXPECT_INT(CLASS(r, 0, HOST_UNKNOWN), NS(200));
	EXPECT_INT(CLASS(r, 0, DEVICE_LAUNCH) + CLASS(r, 0, DEVICE_UNKNOWN), NS(100));
	t_run_end(&r);
}

/* A process of two operations, the first of which lasts from 100 to @end. */
static void two_operations(struct t_run *r, struct t_proc *p, int64_t end)
{
	t_run_begin(r);
	t_proc_begin(r, p, 10, 0, US(0));
	t_launch(p, US(50), US(100), end, 1);
	t_launch(p, US(590), US(600), US(700), 2);
}

static void test_dropped_records(void)
{
	struct t_run r;
	struct t_proc p;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT;

	two_operations(&r, &p, US(200));
	span.reason = WIRE__LOSS_REASON__LOSS_DROPPED;
	span.start_ns = US(150);
	span.end_ns = US(400);
	t_loss(&p, span);
	t_proc_end(&p, US(700), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, COMPUTE), NS(200));
	EXPECT_INT(CLASS(r, 0, DEVICE_LOST), NS(200));
	EXPECT_INT(CLASS(r, 0, HOST_UNKNOWN), NS(190));
	EXPECT_INT(r.result->gpu[0].empty_ns, NS(390));
	t_run_end(&r);
}

static void test_unobserved(void)
{
	struct t_run r;
	struct t_proc p;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT;

	/* A foreign client from before the first operation to within the tail. */
	two_operations(&r, &p, US(200));
	span.reason = WIRE__LOSS_REASON__LOSS_FOREIGN;
	span.start_ns = US(20);
	span.end_ns = US(750);
	t_loss(&p, span);
	t_proc_end(&p, US(800), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, COMPUTE), NS(200));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_STARTUP), NS(20));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_UNOBSERVED), NS(80 + 400 + 50));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(50));
	EXPECT_INT(r.result->quality.unobserved_ns, NS(530));
	EXPECT_INT(r.result->quality.stepped_down_ns, 0);
	t_run_end(&r);
}

/* Of what nobody watched the part that would have cost too much is told, and no more than all. */
static void test_stepped_down(void)
{
	struct t_run r;
	struct t_proc p;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT;

	two_operations(&r, &p, US(200));
	span.reason = WIRE__LOSS_REASON__LOSS_GOVERNOR;
	span.start_ns = US(300);
	span.end_ns = US(500);
	t_loss(&p, span);
	span.start_ns = US(400); /* twice the same */
	t_loss(&p, span);
	span.reason = WIRE__LOSS_REASON__LOSS_FOREIGN;
	span.start_ns = US(500);
	span.end_ns = US(550);
	t_loss(&p, span);
	t_proc_end(&p, US(800), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->quality.unobserved_ns, NS(250));
	EXPECT_INT(r.result->quality.stepped_down_ns, NS(200));
	t_run_end(&r);

	two_operations(&r, &p, US(400)); /* the first lies in half of it */
	span.reason = WIRE__LOSS_REASON__LOSS_GOVERNOR;
	span.start_ns = US(300);
	span.end_ns = US(500);
	t_loss(&p, span);
	t_proc_end(&p, US(800), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->quality.unobserved_ns, NS(100));
	EXPECT_INT(r.result->quality.stepped_down_ns, NS(100));
	t_run_end(&r);
}

/* A pulse at @t with what a meter said of the time before it. */
static void meter(struct t_proc *p, int64_t t, Wire__PulseMeter m)
{
	Wire__PulseDevice device = WIRE__PULSE_DEVICE__INIT, *devices[1] = { &device };
	Wire__Pulse pulse = WIRE__PULSE__INIT;

	device.meter = &m;
	pulse.t_ns = t;
	pulse.complete_ns = INT64_MIN;
	pulse.n_devices = 1;
	pulse.devices = devices;
	t_message(p, WIRE_FRAME_PULSE, &pulse);
}

static Wire__PulseMeter reading(uint64_t age_us, uint64_t span_us, uint32_t busy, uint32_t source)
{
	Wire__PulseMeter m = WIRE__PULSE_METER__INIT;

	m.known = 1;
	m.age_us = age_us;
	m.span_us = span_us;
	m.busy = busy;
	m.source = source;
	return m;
}

static Wire__PulseMeter without_busy(void)
{
	Wire__PulseMeter m = reading(0, 20, 10000, 1);

	m.known = 2;
	return m;
}

/* What NVML's meters say counts where it lies wholly in what was not recorded, and once. */
static void test_metered(void)
{
	struct t_run r;
	struct t_proc p;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT;
	const struct ana_metered *m;

	two_operations(&r, &p, US(200));
	span.reason = WIRE__LOSS_REASON__LOSS_GOVERNOR;
	span.start_ns = US(300);
	span.end_ns = US(500);
	t_loss(&p, span);
	meter(&p, US(320), reading(0, 30, 10000, 1)); /* in part before */
	meter(&p, US(360), reading(10, 40, 2500, 1)); /* 310 to 350 */
	meter(&p, US(370), reading(0, 30, 10000, 1)); /* 340 to 370: another's of the same time */
	meter(&p, US(400), reading(0, 51, 20000, 2)); /* 349 to 400, and more than all of it */
	meter(&p, US(420), without_busy());
	meter(&p, US(420), reading(0, 0, 10000, 1));
	meter(&p, US(420), reading(UINT64_MAX, 10, 10000, 1));
	meter(&p, US(420), reading(0, UINT64_MAX, 10000, 1));
	meter(&p, INT64_MIN, reading(5, 10, 10000, 1));
	meter(&p, US(510), reading(0, 20, 10000, 1)); /* in part behind */
	meter(&p, US(700), reading(0, 20, 10000, 1)); /* that was recorded */
	t_proc_end(&p, US(800), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	m = &r.result->quality.metered;
	EXPECT_INT(m->known_ns, NS(90));
	EXPECT_INT(m->busy_ns, NS(10 + 50));
	EXPECT_INT(m->gpm_ns, NS(40));
	t_run_end(&r);

	two_operations(&r, &p, US(200)); /* all is recorded */
	meter(&p, US(400), reading(0, 40, 5000, 1));
	t_proc_end(&p, US(800), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->quality.metered.known_ns, 0);
	t_run_end(&r);
}

static Wire__PulseMeter units(uint64_t span_us, uint32_t busy, uint32_t tensor, uint32_t dram)
{
	Wire__PulseMeter m = reading(0, span_us, busy, 1);

	m.known = 1 | 8 | 16;
	m.tensor = tensor;
	m.dram = dram;
	return m;
}

/* What GPM says of tensor cores and memory counts between the operations, and once. */
static void test_units(void)
{
	struct t_run r;
	struct t_proc p;
	const struct ana_units *u;
	Wire__PulseMeter m;

	two_operations(&r, &p, US(200));
	meter(&p, US(150), units(100, 10000, 10000, 10000)); /* in part before */
	meter(&p, US(260), units(40, 5000, 2500, 5000)); /* 220 to 260 */
	meter(&p, US(250), units(20, 10000, 10000, 10000)); /* another's of the same time */
	meter(&p, US(270), reading(0, 10, 10000, 1)); /* nothing of units */
	m = units(20, 10000, 20000, 1000); /* more than all of them */
	meter(&p, US(300), m);
	meter(&p, US(5000), units(20, 10000, 10000, 10000)); /* behind */
	t_proc_end(&p, US(6000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	u = &r.result->units;
	EXPECT_INT(u->known_ns, NS(60));
	EXPECT_INT(u->busy_ns, NS(20 + 20));
	EXPECT_INT(u->tensor_ns, NS(10 + 20));
	EXPECT_INT(u->dram_ns, NS(20 + 2));
	t_run_end(&r);

	two_operations(&r, &p, US(200));
	m.known = 1 | 8; /* nothing of memory */
	meter(&p, US(300), m);
	meter(&p, US(400), units(20, 10000, 10000, 10000));
	t_proc_end(&p, US(800), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	u = &r.result->units;
	EXPECT_INT(u->tensor_ns, NS(20 + 20));
	EXPECT_INT(u->dram_ns, -1);
	t_run_end(&r);
}

static void expect_units(const struct ana_units *u, int64_t known, int64_t busy, int64_t tensor,
			 int64_t dram)
{
	EXPECT_INT(u->known_ns, known);
	EXPECT_INT(u->busy_ns, busy);
	EXPECT_INT(u->tensor_ns, tensor);
	EXPECT_INT(u->dram_ns, dram);
}

static void phases(struct t_run *r, struct t_proc *p)
{
	Wire__PulseMeter m = units(20, 10000, 100, 10000);

	two_operations(r, p, US(200));
	t_range(p, WIRE_RANGE_STEP, "ProfilerStep#1", US(180), US(300));
	t_range(p, WIRE_RANGE_STEP, "ProfilerStep#2", US(200), US(290)); /* within it */
	t_range(p, WIRE_RANGE_USER, "forward", US(200), US(300));
	t_range(p, WIRE_RANGE_STEP, "ProfilerStep#3", US(301), US(500));
	t_range(p, WIRE_RANGE_USER, "eval", US(399), US(450));
	t_range(p, WIRE_RANGE_USER, "validate", US(440), US(442)); /* within it */
	meter(p, US(160), units(40, 10000, 10000, 10000)); /* 120 to 160: in neither */
	meter(p, US(200), units(40, 5000, 2500, 5000)); /* to half in a step */
	meter(p, US(320), units(120, 5000, 1000, 2000)); /* 200 to 320: in two */
	meter(p, US(380), units(40, 10000, 4000, 10000)); /* 340 to 380: in one */
	meter(p, US(420), units(40, 10000, 4000, 0)); /* 380 to 420: to half evaluation */
	meter(p, US(450), units(30, 10000, 2000, 0));
	m.known = 1 | 8;
	meter(p, US(480), m);
	t_proc_end(p, US(800), true);
	t_analyse(r, ANA_WINDOW_JOB);
}

/* Which phase a reading is of; the phases sum to the whole. */
static void test_phases(void)
{
	struct t_run r;
	struct t_proc p;
	const struct ana_units *in;
	struct ana_units sum = { 0 };

	phases(&r, &p);
	in = r.result->units_in;
	expect_units(&in[ANA_PHASE_OTHER], NS(40), NS(40), NS(40), NS(40));
	expect_units(&in[ANA_PHASE_MIXED], NS(80), NS(60), NS(10 + 16), NS(20));
	expect_units(&in[ANA_PHASE_EVALUATION], NS(30), NS(30), NS(6), 0);
	expect_units(&in[ANA_PHASE_STEPS], NS(180), NS(60 + 40 + 20), 12000 + 16000 + 200, -1);
	for (int i = 0; i < ANA_PHASES; i++) {
		sum.known_ns += in[i].known_ns;
		sum.busy_ns += in[i].busy_ns;
		sum.tensor_ns += in[i].tensor_ns;
	}
	expect_units(&r.result->units, sum.known_ns, sum.busy_ns, sum.tensor_ns, -1);
	t_run_end(&r);
}

static void bad_stamp(uint64_t corr, int64_t lost)
{
	struct t_run r;
	struct t_proc p;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_call(&p, "cudaLaunchKernel", US(300), US(302), 2); /* whose record had no stamps */
	t_launch(&p, US(500), US(600), US(700), 3);
	span.reason = WIRE__LOSS_REASON__LOSS_BAD_STAMP;
	span.start_ns = US(250);
	span.end_ns = US(550);
	span.has_device = true;
	span.stream = 7;
	span.correlation = corr;
	t_loss(&p, span);
	t_proc_end(&p, US(700), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, DEVICE_LOST), lost);
	EXPECT_INT(r.result->gpu[0].idle_ns, NS(400));
	t_run_end(&r);
}

static void test_bad_stamps(void)
{
	bad_stamp(2, NS(550 - 300)); /* from its launch, at most to the end of its flush */
	bad_stamp(0, NS(550 - 250)); /* the whole flush interval */
}

static void test_a_cut_stream(void)
{
	struct t_run r;
	struct t_proc p;
	FILE *f;
	char path[300];

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_flush(&p);
	t_pulse(&p, US(400), US(350));
	t_proc_end(&p, 0, false);
	snprintf(path, sizeof(path), "%s/run.json", r.dir);
	f = fopen(path, "w");
	fprintf(f,
		"{\"id\": \"x\", \"exit_status\": 137, \"exits\": [{\"host\": \"here\", "
		"\"pid\": 10, \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64
		", \"status\": 137}]}",
		US(0), US(1000));
	fclose(f);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.trace->stream[0].holes, 1);
	EXPECT_INT(r.trace->stream[0].hole[0].start_ns, US(350));
	EXPECT_INT(r.trace->stream[0].hole[0].end_ns, US(1000));
	EXPECT_INT(r.result->gpu[0].held_ns, NS(1000));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_UNOBSERVED), NS(650));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(150));
	EXPECT(!r.result->complete);
	EXPECT_STR(r.result->process[0].ended, "lost");
	t_run_end(&r);
}

static size_t notes_with(const struct ana_quality *q, const char *text)
{
	size_t i, n = 0;

	for (i = 0; i < q->note_count; i++)
		n += strstr(q->notes[i], text) != NULL;
	return n;
}

static void trace_left_out(struct t_run *r, int pid, uint64_t looks)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	struct t_proc p;

	t_proc_begin(r, &p, pid, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_flush(&p);
	pulse.t_ns = p.now = US(400);
	pulse.complete_ns = US(400);
	pulse.looks_left_out = looks;
	t_message(&p, WIRE_FRAME_PULSE, &pulse);
	t_proc_end(&p, US(500), false);
}

/* What all processes left out is one note; of none there is none. */
static void test_looks_left_out(void)
{
	struct t_run r;

	t_run_begin(&r);
	trace_left_out(&r, 10, 40);
	trace_left_out(&r, 11, 2);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_UINT(notes_with(&r.result->quality, "42 samples were left out"), 1);
	EXPECT_UINT(notes_with(&r.result->quality, "left out"), 1);
	t_run_end(&r);

	t_run_begin(&r);
	trace_left_out(&r, 10, 0);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_UINT(notes_with(&r.result->quality, "left out"), 0);
	t_run_end(&r);
}

static void clock_step(int64_t jump)
{
	struct t_run r;
	struct t_proc p;
	Wire__Clock clock = WIRE__CLOCK__INIT;
	Wire__ClockTriplet t[2] = { WIRE__CLOCK_TRIPLET__INIT, WIRE__CLOCK_TRIPLET__INIT };
	Wire__ClockTriplet *triplets[2] = { &t[0], &t[1] };
	int64_t later = jump; /* what stamps after the step have too much */

	/* 100 us of real time between the triplets, and a step in between. */
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(20000), 1);
	t_launch(&p, US(30090) + later, US(30100) + later, US(30200) + later, 2);
	t[0].monotonic_before_ns = t[0].monotonic_after_ns = 5000000;
	t[0].cupti_ns = US(25000);
	t[1].monotonic_before_ns = t[1].monotonic_after_ns = 5100000;
	t[1].cupti_ns = US(25100) + later;
	clock.n_triplets = 2;
	clock.triplets = triplets;
	t_message(&p, WIRE_FRAME_CLOCK, &clock);
	t_proc_end(&p, US(31000) + later, true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->gpu[0].held_ns, NS(31000));
	EXPECT(CLASS(r, 0, EXCLUDED_UNOBSERVED) >= NS(100));
	t_run_end(&r);
}

static void test_clock_steps(void)
{
	clock_step(NS(3600000000)); /* an hour forwards */
	clock_step(-NS(2000));
}

static void test_no_launch_records(void)
{
	struct t_run r;
	struct t_proc p;

	/* Level 0: a wait of the only thread that emits ranges takes the gap. */
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_kernel(&p, US(0), US(100), 1);
	t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(150), US(400));
	t_kernel(&p, US(500), US(600), 2);
	t_kernel(&p, US(605), US(700), 3);
	t_proc_end(&p, US(700), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(r.result->gpu[0].empty_ns, 0);
	EXPECT_INT(CLASS(r, 0, INPUT_UNKNOWN), NS(250));
	EXPECT_INT(r.result->gpu[0].confidence[ANA_INPUT_UNKNOWN][ANA_MEDIUM], NS(250));
	EXPECT_INT(CLASS(r, 0, DEVICE_UNKNOWN), NS(150));
	EXPECT_INT(CLASS(r, 0, DEVICE_TURNAROUND), NS(5));
	t_run_end(&r);
}

static void test_launches_that_own_nothing(void)
{
	struct t_run r;
	struct t_proc p;
	unsigned int i;

	/* Copies of no bytes: launches without an operation, more than the engine waits for. */
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	for (i = 0; i < 6000; i++) {
		int64_t t = US(200 * (int64_t)i);

		t_call(&p, "cudaMemcpyAsync", t, t + 1000, 3 * i + 2);
		t_launch(&p, t + NS(100), t + NS(105), t + NS(150), 3 * i + 3);
	}
	t_proc_end(&p, US(200 * 6000), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(r.result->gpu[0].gaps, 5999);
	EXPECT_INT(r.result->gpu[0].queued_ns, NS(5) * 5999);
	EXPECT_INT(r.result->gpu[0].empty_ns, NS(150) * 5999);
	EXPECT_INT(CLASS(r, 0, HOST_DISPATCH), NS(1) * 5999);
	t_run_end(&r);
}

static void test_execv(void)
{
	struct t_run r;
	struct t_proc p, q;

	/* A stream is cut because its process went on as another program. */
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_pulse(&p, US(250), US(250));
	t_proc_end(&p, 0, false);
	t_proc_begin_again(&r, &q, 10, 0, US(0), US(300));
	t_launch(&q, US(500), US(600), US(700), 1);
	t_proc_end(&q, US(800), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->gpu[0].held_ns, NS(800));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_UNOBSERVED), NS(50)); /* 250 to 300 */
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(100));
	t_run_end(&r);
}

static void test_contention(void)
{
	struct t_run r;
	struct t_proc p;
	Wire__DeviceFacts device = WIRE__DEVICE_FACTS__INIT, *devices[1] = { &device };
	Wire__Facts facts = WIRE__FACTS__INIT;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_launch(&p, US(200), US(600), US(700), 2); /* queued for 400 us */
	facts.n_devices = 1;
	facts.devices = devices;
	facts.t_ns = US(300);
	device.other_processes = 1;
	t_message(&p, WIRE_FRAME_FACTS, &facts);
	facts.t_ns = US(500);
	device.other_processes = 0;
	t_message(&p, WIRE_FRAME_FACTS, &facts);
	t_proc_end(&p, US(700), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, 0, DEVICE_CONTENTION), NS(200));
	EXPECT_INT(CLASS(r, 0, DEVICE_LAUNCH), NS(2));
	EXPECT_INT(CLASS(r, 0, DEVICE_UNKNOWN), NS(198));
	EXPECT_INT(r.result->gpu[0].shared_with, 1);
	t_run_end(&r);
}

/* What lies before the first look nobody has seen. */
static void test_contention_seen_late(void)
{
	struct t_run r;
	struct t_proc p;
	Wire__DeviceFacts device = WIRE__DEVICE_FACTS__INIT, *devices[1] = { &device };
	Wire__Facts facts = WIRE__FACTS__INIT;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_launch(&p, US(200), US(5000000), US(5000100), 2);
	facts.n_devices = 1;
	facts.devices = devices;
	facts.t_ns = US(4000000);
	device.other_processes = 1;
	t_message(&p, WIRE_FRAME_FACTS, &facts);
	t_proc_end(&p, US(5000100), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, 0, DEVICE_CONTENTION), NS(1000000));
	EXPECT_INT(CLASS(r, 0, DEVICE_UNKNOWN), NS(4000000 - 202));
	t_run_end(&r);
}

/* Two ranks of the run share a GPU, and each counts the other; then a stranger comes, and goes. */
static void test_siblings_are_no_other_job(void)
{
	struct t_run r;
	struct t_proc p, q;
	Wire__DeviceFacts device = WIRE__DEVICE_FACTS__INIT, *devices[1] = { &device };
	Wire__Facts facts = WIRE__FACTS__INIT;

	facts.n_devices = 1;
	facts.devices = devices;
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_launch(&p, US(200), US(9000000), US(9000100), 2); /* queued for 9 s */
	facts.t_ns = US(2000000);
	device.other_processes = 1;
	t_message(&p, WIRE_FRAME_FACTS, &facts);
	facts.t_ns = US(4000000);
	device.other_processes = 2;
	t_message(&p, WIRE_FRAME_FACTS, &facts);
	t_proc_end(&p, US(9000100), true);
	t_proc_begin(&r, &q, 11, 0, US(0));
	facts.t_ns = US(5000000); /* the other one looks: what it sees holds for both */
	device.other_processes = 1;
	t_message(&q, WIRE_FRAME_FACTS, &facts);
	t_proc_end(&q, US(9000100), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, 0, DEVICE_CONTENTION), NS(1000000));
	EXPECT_INT(CLASS(r, 0, DEVICE_UNKNOWN), NS(8000000 - 202));
	EXPECT_INT(r.result->gpu[0].shared_with, 1);
	t_run_end(&r);
}

/* One that has just gone, or is about to come, is the run's own yet. */
static void test_siblings_that_come_and_go(void)
{
	struct t_run r;
	struct t_proc p, q;
	Wire__DeviceFacts device = WIRE__DEVICE_FACTS__INIT, *devices[1] = { &device };
	Wire__Facts facts = WIRE__FACTS__INIT;

	facts.n_devices = 1;
	facts.devices = devices;
	device.other_processes = 1;
	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_launch(&p, US(200), US(9000000), US(9000100), 2);
	facts.t_ns = US(2900000);
	t_message(&p, WIRE_FRAME_FACTS, &facts);
	facts.t_ns = US(5000000);
	t_message(&p, WIRE_FRAME_FACTS, &facts);
	t_proc_end(&p, US(9000100), true);
	t_proc_begin(&r, &q, 11, 0, US(1000000));
	t_proc_end(&q, US(2000000), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, 0, DEVICE_CONTENTION), NS(4000000)); /* 5 s to 9 s */
	t_run_end(&r);
}

/*
 * Asleep in a synchronisation inside next(), the thread reads from no storage: gpudev.py:63 was
 * "fetch".
 */
static void test_a_call_is_no_fetch(void)
{
	struct t_run r;
	struct t_proc p;
	struct wire_sample row[20];
	size_t n = 0;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_range(&p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(1000), US(101000));
	t_call(&p, "cuStreamSynchronize", US(1100), US(100900), 0);
	t_launch(&p, US(101100), US(101200), US(101300), 2);
	for (int64_t t = US(5000); t < US(100000); t += 10000000)
		row[n++] = (struct wire_sample){
			.t_ns = t,
			.pid = 10,
			.tid = 1,
			.role = WIRE_ROLE_SUBMITTER,
			.state = WIRE_STATE_SLEEPING,
			.wait = WIRE_WAIT_SLEEP,
			.stack = t_name(&p, "synchronize\t/home/me/gpudev.py\t63")
		};
	t_samples(&p, row, n);
	t_proc_end(&p, US(102000), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, 0, INPUT_FETCH), 0);
	EXPECT_INT(CLASS(r, 0, INPUT_PREP), 0);
	EXPECT(r.result->gpu[0].empty_ns > NS(100000));
	t_run_end(&r);
}

/* A copy of [launch + 2 us, end) whose call ends with it, or, if it is asynchronous, after 2 us. */
static void copy(struct t_proc *p, int64_t launch, int64_t end, uint64_t corr, bool lasts)
{
	struct wire_event *e;

	t_call(p, "cudaMemcpyAsync", launch, lasts ? end + 2000 : launch + 2000, corr);
	e = t_event(p, WIRE_KIND_OP, launch + 2000, end);
	e->op = WIRE_OP_COPY;
	e->copy = WIRE_COPY_H2D;
	e->src = lasts ? WIRE_MEM_PAGEABLE : WIRE_MEM_PINNED;
	e->bytes = 1 << 20;
	e->context = 1;
	e->stream = 7;
	e->corr = corr;
}

static struct wire_sample at_line(struct t_proc *p, int64_t t, const char *stack)
{
	return (struct wire_sample){ .t_ns = t,
				     .pid = 10,
				     .tid = 1,
				     .role = WIRE_ROLE_SUBMITTER,
				     .state = WIRE_STATE_RUNNING,
				     .stack = t_name(p, stack) };
}

/*
 * The thread is in the call of the first two copies as long as they last: a sample in one of them
 * tells the line of both. The third copies by itself, while its thread is at another line, and
 * beside the fourth a kernel runs.
 */
static void test_lines_of_copies(void)
{
	struct t_run r;
	struct t_proc p;
	struct wire_sample row[3];

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	copy(&p, US(1000), US(5002), 2, true);
	copy(&p, US(6000), US(8002), 3, true);
	copy(&p, US(9000), US(12002), 4, false);
	t_launch(&p, US(13000), US(13100), US(17000), 5);
	copy(&p, US(13500), US(16002), 6, true);
	row[0] = at_line(&p, US(3000), "train\t/home/me/train.py\t41");
	row[1] = at_line(&p, US(10000), "train\t/home/me/train.py\t77");
	row[2] = at_line(&p, US(15000), "train\t/home/me/train.py\t78");
	t_samples(&p, row, 3);
	t_proc_end(&p, US(20000), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, 0, COPY), NS(9000));
	REQUIRE(r.result->hotspots == 1);
	const struct ana_hotspot *h = &r.result->hotspot[0];
	EXPECT_INT(h->class, ANA_COPY);
	EXPECT_INT(h->line, 41);
	EXPECT_STR(h->file, "/home/me/train.py");
	EXPECT_INT(h->ns, NS(4000));
	EXPECT_INT(h->nearby_ns, NS(2000));
	EXPECT_INT(h->confidence, ANA_HIGH);
	EXPECT_INT(h->samples, 1);
	t_run_end(&r);
}

#define TORCH "/v/lib/python3.11/site-packages/torch/autograd/"
#define BACKWARD                                                                               \
	"_engine_run_backward\t" TORCH "graph.py\t1072\nbackward\t" TORCH "__init__.py\t395\n" \
	"train\t/home/me/train.py\t46"

/*
 * A gap inside a launch of a thread without Python; thread 1 was at @stack meanwhile, if thread 3
 * was at @other.
 */
static uint32_t line_of_backward(const char *stack, uint8_t state, const char *other)
{
	struct t_run r;
	struct t_proc p;
	struct wire_sample row[3];
	uint32_t line;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_call(&p, "cudaLaunchKernel", US(300), US(9000), 2)->tid = 2;
	t_kernel(&p, US(9000), US(9100), 2);
	row[0] = at_line(&p, US(3000), stack);
	row[0].state = state;
	row[0].wait = state == WIRE_STATE_SLEEPING ? WIRE_WAIT_LOCK : WIRE_WAIT_NONE;
	row[1] = at_line(&p, US(3100), other);
	row[1].tid = 3;
	row[1].state = WIRE_STATE_SLEEPING;
	row[1].wait = WIRE_WAIT_LOCK;
	row[2] = (struct wire_sample){ .t_ns = US(3200),
				       .pid = 10,
				       .tid = 2,
				       .role = WIRE_ROLE_SUBMITTER,
				       .state = WIRE_STATE_RUNNING };
	t_samples(&p, row, 3);
	t_proc_end(&p, US(20000), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	REQUIRE(r.result->hotspots >= 1);
	line = r.result->hotspot[0].line;
	t_run_end(&r);
	return line;
}

/*
 * torch's engine runs backward() on threads of its own: the line is that of who called it, and
 * waits.
 */
static void test_line_of_backward(void)
{
	EXPECT_INT(line_of_backward(BACKWARD, WIRE_STATE_SLEEPING, "serve\t/home/me/web.py\t7"),
		   46);
	EXPECT_INT(line_of_backward(BACKWARD, WIRE_STATE_RUNNING, "serve\t/home/me/web.py\t7"), 0);
	/* which of them? */
	EXPECT_INT(line_of_backward(BACKWARD, WIRE_STATE_SLEEPING, BACKWARD), 0);
	EXPECT_INT(line_of_backward("train\t/home/me/train.py\t46", WIRE_STATE_SLEEPING,
				    "serve\t/home/me/web.py\t7"),
		   0);
}

/* What a kernel's name tells is counted where it ran; of a graph launch nothing is known. */
static void test_kernels_by_name(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_call(&p, "cudaLaunchKernel", US(210), US(212), 2);
	t_kernel(&p, US(220), US(250), 2)->name = t_name(&p, "void nvjpeg::DecodeKernel()");
	t_call(&p, "cudaLaunchKernel", US(255), US(257), 3);
	t_kernel(&p, US(260), US(290), 3)->name = t_name(&p, "vllm::cross_device_reduce_2stage");
	t_call(&p, "cudaGraphLaunch", US(292), US(294), 4);
	t_kernel(&p, US(300), US(390), 4)->op = WIRE_OP_GRAPH;
	t_proc_end(&p, US(400), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_UINT(r.result->gpu[0].input_kernels, 1);
	EXPECT_INT(r.result->gpu[0].input_kernel_ns, NS(30));
	EXPECT_UINT(r.result->gpu[0].graphs, 1);
	EXPECT_INT(CLASS(r, 0, COMM), NS(30));
	EXPECT_INT(CLASS(r, 0, COMPUTE), NS(220));
	t_run_end(&r);
}

/*
 * A look at thread 1 every 100 ms of [@from, @to): it reads @target, or what it reads is not known.
 */
static void look(struct t_proc *p, int64_t from, int64_t to, const char *target)
{
	struct wire_sample row[600];
	size_t n = 0;

	for (; from < to && n < sizeof(row) / sizeof(row[0]); from += 100000000)
		row[n++] = (struct wire_sample){ .t_ns = from,
						 .pid = 10,
						 .tid = 1,
						 .role = WIRE_ROLE_SUBMITTER,
						 .state = WIRE_STATE_SLEEPING,
						 .wait = WIRE_WAIT_READ,
						 .target = target ? t_name(p, target) : 0,
						 .stack = t_name(
							 p, "wait\t/usr/lib/python3.11/x.py\t1") };
	t_samples(p, row, n);
}

/* It runs there all the time. */
static void busy_at(struct t_proc *p, int64_t from, int64_t to, const char *stack)
{
	struct wire_sample row[600];
	uint32_t text = t_name(p, stack);
	size_t n = 0;
	int64_t t;

	for (t = from; t < to && n < sizeof(row) / sizeof(row[0]); t += 100000000)
		row[n++] = (struct wire_sample){ .t_ns = t,
						 .cpu_ns = (uint64_t)(t - from) + 1,
						 .period_ns = 100000000,
						 .pid = 10,
						 .tid = 1,
						 .role = WIRE_ROLE_SUBMITTER,
						 .state = WIRE_STATE_RUNNING,
						 .stack = text };
	t_samples(p, row, n);
}

static int64_t after_last(const struct t_run *r)
{
	return view_gpu_after_last_ns(&r->result->gpu[0]);
}

/* A look every 100 ms at one that sleeps there. */
static void asleep_at(struct t_proc *p, int64_t from, int64_t to, const char *stack)
{
	struct wire_sample row[600];
	uint32_t text = t_name(p, stack);
	size_t n = 0;

	for (; from < to && n < sizeof(row) / sizeof(row[0]); from += 100000000)
		row[n++] = (struct wire_sample){ .t_ns = from,
						 .period_ns = 100000000,
						 .pid = 10,
						 .tid = 1,
						 .role = WIRE_ROLE_SUBMITTER,
						 .state = WIRE_STATE_SLEEPING,
						 .wait = WIRE_WAIT_SLEEP,
						 .stack = text };
	t_samples(p, row, n);
}

/* One that is done and sleeps on holds the GPU for nothing, which tells of no server. */
static void test_a_tail_asleep(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	asleep_at(&p, US(300), US(40000000), "<module>\t/home/u/idle.py\t9");
	t_proc_end(&p, US(40000200), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, HOST_NO_WORK), NS(30000000));
	EXPECT_INT(r.result->gpu[0].no_work_after_ns, NS(30000000));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(10000000));
	EXPECT_INT(after_last(&r), 0);
	t_run_end(&r);
}

static void test_a_tail_without_work(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	look(&p, US(300), US(20000000), "/dev/pts/0");
	t_proc_end(&p, US(30000000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, EXCLUDED_STARTUP), NS(100));
	/* whole seconds that were looked at, from ten behind the last kernel on */
	EXPECT_INT(CLASS(r, 0, HOST_NO_WORK), NS(10000000));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(19999800));
	EXPECT_INT(r.result->gpu_ns, NS(30000000));
	t_run_end(&r);
}

/* Its end is the program's own; what it saves then the GPU waits for. */
static void test_a_tail_of_an_end(void)
{
	static const char *const at[] = {
		"report\t/home/u/train.py\t1",
		"_save\t/usr/lib/python3/dist-packages/torch/serialization.py\t4\n"
		"report\t/home/u/train.py\t2",
	};
	struct t_run r;
	struct t_proc p;
	size_t saves;

	for (saves = 0; saves < 2; saves++) {
		t_run_begin(&r);
		t_proc_begin(&r, &p, 10, 0, US(0));
		t_launch(&p, US(50), US(100), US(200), 1);
		busy_at(&p, US(300), US(14000000), at[saves]);
		t_proc_end(&p, US(14000200), true);
		t_analyse(&r, ANA_WINDOW_JOB);
		EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(saves ? 1000000 : 10000000));
		EXPECT_INT(CLASS(r, 0, HOST_CHECKPOINT), NS(saves ? 13000000 : 0));
		EXPECT_INT(CLASS(r, 0, HOST_CPU_WORK), NS(saves ? 0 : 4000000));
		EXPECT_INT(after_last(&r), NS(saves ? 13000000 : 4000000));
		t_run_end(&r);
	}
}

/* Nobody looked, or what was seen tells nothing: all of it is as it was. */
static void test_a_tail_that_nothing_tells_of(void)
{
	struct t_run r;
	struct t_proc p;
	int seen;

	for (seen = 0; seen < 2; seen++) {
		t_run_begin(&r);
		t_proc_begin(&r, &p, 10, 0, US(0));
		t_launch(&p, US(50), US(100), US(200), 1);
		if (seen)
			look(&p, US(300), US(20000000), NULL);
		t_proc_end(&p, US(30000000), true);
		t_analyse(&r, ANA_WINDOW_JOB);
		EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(29999800));
		t_run_end(&r);
	}
}

/* Two steps of 3 s: the next one may be about to begin for 6 s, the program to end for ten. */
static void test_a_tail_behind_long_steps(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_launch(&p, US(3000050), US(3000100), US(6000000), 2);
	t_range(&p, WIRE_RANGE_STEP, "ProfilerStep#1", US(0), US(3000000));
	t_range(&p, WIRE_RANGE_STEP, "ProfilerStep#2", US(3000000), US(6000000));
	look(&p, US(6000100), US(30000000), "/dev/pts/0");
	t_proc_end(&p, US(30000000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(10000000));
	EXPECT_INT(CLASS(r, 0, HOST_NO_WORK), NS(14000000));
	t_run_end(&r);
}

/* Another process keeps the GPU: what the one that worked last does until its own end counts. */
static void test_a_tail_of_two_processes(void)
{
	struct t_run r;
	struct t_proc p, q;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	look(&p, US(300), US(19000000), "/dev/pts/0");
	t_proc_end(&p, US(19000200), true);
	t_proc_begin(&r, &q, 11, 0, US(0));
	t_proc_end(&q, US(30000000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, HOST_NO_WORK), NS(9000000));
	EXPECT_INT(CLASS(r, 0, EXCLUDED_TEARDOWN), NS(20999800));
	t_run_end(&r);
}

/* A process that has contexts on GPU @gpu, where it may have run something, and GPU 0. */
static void with_two_contexts(struct t_run *r, int64_t pid, unsigned int gpu, bool works)
{
	Wire__Device other = WIRE__DEVICE__INIT, *devices[2];
	uint8_t id[16] = { 't', (uint8_t)++r->procs }, uuid[16] = { 'g' };
	struct made_hello h;
	struct t_proc p = { .now = US(0) };
	char path[300];

	snprintf(path, sizeof(path), "%s/%u.gst", r->dir, r->procs);
	made_open(&p.s, path, id);
	made_hello_init(&h, "here", pid, US(0), "test GPU");
	h.uuid[0] = 'g';
	h.uuid[1] = (uint8_t)gpu;
	h.device.context_ns = US(1);
	other.ordinal = 1;
	other.context_ns = US(2);
	other.uuid.data = uuid;
	other.uuid.len = sizeof(uuid);
	devices[0] = &h.device;
	devices[1] = &other;
	h.m.devices = devices;
	h.m.n_devices = 2;
	t_message(&p, WIRE_FRAME_HELLO, &h.m);
	if (works)
		t_launch(&p, US(50), US(100), US(300), 1);
	t_proc_end(&p, US(1000), true);
}

/* Ranks that merely have a context on the GPU of another are walked apart. */
static void test_contexts_unite_no_ranks(void)
{
	struct ana_options o = { .threads = 1 };
	struct ana_plan plan;
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	with_two_contexts(&r, 9, 1, true);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(50), US(100), US(200), 1);
	t_proc_end(&p, US(1000), true);
	with_two_contexts(&r, 11, 1, false);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->gpus, 2);
	EXPECT_INT(CLASS(r, 0, COMPUTE), NS(200));
	EXPECT_INT(CLASS(r, 1, COMPUTE), NS(100));
	REQUIRE(!ana_plan_make(&plan, r.trace, &o));
	EXPECT_INT(plan.components, 2);
	EXPECT_INT(plan.source[0].component, plan.device[0].component);
	EXPECT_INT(plan.source[1].component, plan.device[1].component);
	EXPECT(plan.device[0].component != plan.device[1].component);
	EXPECT_INT(plan.component[plan.source[2].component].devices, 1);
	ana_plan_fini(&plan);
	t_run_end(&r);
}

static void test_verdict_of_nothing(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_proc_end(&p, US(10), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(r.result->judgement.verdict, ANA_V_INCONCLUSIVE);
	t_run_end(&r);
}

static const struct t_case cases[] = {
	T_CASE(test_lead_and_tail),
	T_CASE(test_wait_after_the_first_launch),
	T_CASE(test_first_wait_of_an_iterator),
	T_CASE(test_a_gpu_without_operations),
	T_CASE(test_one_gpu_after_the_other),
	T_CASE(test_dropped_records),
	T_CASE(test_unobserved),
	T_CASE(test_stepped_down),
	T_CASE(test_metered),
	T_CASE(test_units),
	T_CASE(test_phases),
	T_CASE(test_bad_stamps),
	T_CASE(test_a_cut_stream),
	T_CASE(test_looks_left_out),
	T_CASE(test_clock_steps),
	T_CASE(test_no_launch_records),
	T_CASE(test_launches_that_own_nothing),
	T_CASE(test_execv),
	T_CASE(test_contention),
	T_CASE(test_contention_seen_late),
	T_CASE(test_siblings_are_no_other_job),
	T_CASE(test_siblings_that_come_and_go),
	T_CASE(test_a_call_is_no_fetch),
	T_CASE(test_lines_of_copies),
	T_CASE(test_line_of_backward),
	T_CASE(test_kernels_by_name),
	T_CASE(test_a_tail_asleep),
	T_CASE(test_a_tail_without_work),
	T_CASE(test_a_tail_of_an_end),
	T_CASE(test_a_tail_that_nothing_tells_of),
	T_CASE(test_a_tail_behind_long_steps),
	T_CASE(test_a_tail_of_two_processes),
	T_CASE(test_contexts_unite_no_ranks),
	T_CASE(test_verdict_of_nothing),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
