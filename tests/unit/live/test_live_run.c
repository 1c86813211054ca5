/* SPDX-License-Identifier: Apache-2.0 */
/* What pulses tell: sums, windows, GPUs that are shared, restarts, clocks that jump, lost bytes. */
#include "harness.h"

#include <errno.h>
#include "live/frame.h"

#define S LIVE_SECOND_NS
#define START (1000 * S) /* of every process, Unix time and trace clock alike */

static struct live_run run;

struct pulse {
	int64_t t, complete; /* seconds of the process's life, in ns; complete 0: t */
	uint64_t busy, wait, launches;
	const char *level;
};

static void hello(uint8_t id, uint32_t devices, uint8_t uuid)
{
	Wire__Hello m = WIRE__HELLO__INIT;
	Wire__Device d[4], *list[4];
	uint8_t bytes[4][16] = { { 0 } };
	char name[] = "GPU", host[] = "node";

	for (uint32_t i = 0; i < devices; i++) {
		wire__device__init(&d[i]);
		bytes[i][0] = (uint8_t)(uuid + i);
		d[i].ordinal = i;
		d[i].name = name;
		d[i].uuid = (ProtobufCBinaryData){ 16, bytes[i] };
		list[i] = &d[i];
	}
	m.host = host;
	m.process_start_ns = START;
	m.devices = list;
	m.n_devices = devices;
	EXPECT_INT(live_run_hello(&run, (uint8_t[16]){ id }, 1, &m), 0);
}

static uint64_t pulse_told; /* of the next: see Pulse.saves_told */

/* All its devices did the same. */
static int pulse_of(uint8_t id, uint64_t seq, uint32_t devices, struct pulse p,
		    const struct live_when *when)
{
	Wire__Pulse m = WIRE__PULSE__INIT;
	Wire__PulseDevice d[4], *list[4];
	char level[16];

	snprintf(level, sizeof(level), "%s", p.level ? p.level : "1");
	for (uint32_t i = 0; i < devices; i++) {
		wire__pulse_device__init(&d[i]);
		d[i].ordinal = i;
		d[i].busy_ns = p.busy;
		d[i].ops = p.busy / 1000;
		list[i] = &d[i];
	}
	m.t_ns = START + p.t;
	m.complete_ns = START + (p.complete ? p.complete : p.t);
	m.loader_wait_ns = p.wait;
	m.saves_told = pulse_told;
	m.launches = p.launches;
	m.level = level;
	m.devices = list;
	m.n_devices = devices;
	return live_run_pulse(&run, (uint8_t[16]){ id }, seq, START + p.t, &m, when);
}

static void pulse(uint8_t id, uint64_t seq, struct pulse p)
{
	struct live_when when = { .now_ns = p.t, .wall_ns = START + p.t };

	EXPECT_INT(pulse_of(id, seq, 1, p, &when), 0);
}

static struct live_totals totals(int64_t now)
{
	struct live_totals t;

	live_run_totals(&run, now, &t);
	return t;
}

/* One process that is busy half of the time and waits for its loader a quarter of it. */
static void test_sums(void)
{
	live_run_init(&run);
	hello(1, 1, 7);
	EXPECT_INT(totals(0).gpus, 0);
	EXPECT(!totals(0).now.known);
	for (int64_t i = 2; i <= 100; i++)
		pulse(1, (uint64_t)i,
		      (struct pulse){ i * S, 0, (uint64_t)(i * S / 2), (uint64_t)(i * S / 4),
				      (uint64_t)i, NULL });
	struct live_totals t = totals(100 * S);
	EXPECT_INT(t.gpus, 1);
	EXPECT_INT(t.alive, 1);
	EXPECT_INT(t.held_ns, 100 * S); /* from the process's start, not from its first pulse */
	EXPECT_INT(t.busy_ns, 50 * S);
	EXPECT_INT(t.starved_ns, 25 * S);
	EXPECT(t.now.known);
	EXPECT_INT(t.now.window_ns, 30 * S);
	EXPECT_INT(t.now.busy_ppm, 500000);
	EXPECT_INT(t.now.starved_ppm, 250000);
	EXPECT(!t.priced);
	EXPECT_INT(t.nano_usd, 0);
	run.gpu[0].nano_usd_per_hour = 36 * S; /* 1 cent a second */
	t = totals(100 * S);
	EXPECT(t.priced);
	EXPECT_INT(t.nano_usd, S);
	EXPECT_INT(t.starved_nano_usd, S / 4);
	EXPECT_INT(t.nano_usd_per_hour, 36 * S);
	EXPECT_INT(t.starved_nano_usd_per_hour, 9 * S);
	EXPECT_INT(live_stream_gap(run.stream[0], 100 * S), LIVE_GAP_INPUT);
	EXPECT_STR(run.gpu[0].uuid, "07000000-0000-0000-0000-000000000000");
	/* Silence: the GPU is still held by nobody that we know alive. */
	t = totals(100 * S + LIVE_SILENT_NS);
	EXPECT_INT(t.alive, 0);
	EXPECT_INT(t.quiet_ns, LIVE_SILENT_NS);
	EXPECT_INT(t.idle_ns, -1);
	EXPECT_INT(t.nano_usd, S);
	EXPECT_INT(t.nano_usd_per_hour, 0);
	EXPECT_INT(live_stream_gap(run.stream[0], 100 * S + LIVE_SILENT_NS), LIVE_GAP_SILENT);
	live_run_fini(&run);
}

/* Shares are of the training time: what was held and waited before the first operation is not. */
static void test_training(void)
{
	struct live_totals t;

	live_run_init(&run);
	hello(1, 1, 7);
	for (int64_t i = 1; i <= 20;
	     i++) /* ten seconds of start-up, a wait for the first batch in it */
		pulse(1, (uint64_t)i + 1,
		      (struct pulse){ i * S, 0, i <= 10 ? 0 : (uint64_t)(i - 10) * S / 2,
				      i <= 10 ? (uint64_t)i * S / 2
					      : (uint64_t)(5 * S + (i - 10) * S / 4),
				      (uint64_t)i, NULL });
	t = totals(20 * S);
	EXPECT_INT(t.held_ns, 20 * S);
	EXPECT_INT(t.training_ns, 10 * S);
	EXPECT_INT(t.training_starved_ns, 10 * S / 4);
	EXPECT_INT(live_totals_busy_ppm(&t), 500000);
	EXPECT_INT(live_totals_starved_ppm(&t), 250000);
	EXPECT_INT(t.now.window_ns, 10 * S);
	EXPECT_INT(t.now.busy_ppm, 500000);
	EXPECT_INT(t.now.starved_ppm, 250000);
	live_run_fini(&run);
}

/*
 * The first pulse that tells of work may be the process's first: what it lived before is start-up,
 * too.
 */
static void test_first_pulse(void)
{
	struct live_totals t;

	live_run_init(&run);
	hello(1, 1, 7);
	for (int64_t i = 0; i < 10; i++)
		pulse(1, (uint64_t)i + 2,
		      (struct pulse){ (i + 5) * S, 0, (uint64_t)(i + 1) * S / 2,
				      (uint64_t)(3 * S + i * S / 4), (uint64_t)i, NULL });
	t = totals(14 * S);
	EXPECT_INT(t.held_ns, 14 * S);
	EXPECT_INT(t.training_ns, 10 * S);
	EXPECT_INT(live_totals_busy_ppm(&t), 500000);
	EXPECT_INT(t.training_starved_ns, S + 9 * S / 4);
	live_run_fini(&run);

	live_run_init(&run); /* heard of late */
	hello(1, 1, 7);
	pulse(1, 2, (struct pulse){ 100 * S, 0, 50 * S, 25 * S, 1, NULL });
	t = totals(100 * S);
	EXPECT_INT(t.training_ns, 100 * S);
	EXPECT_INT(live_totals_busy_ppm(&t), 500000);
	live_run_fini(&run);
}

/* A wait counts as far as the GPU was idle, and no share is above the whole. */
static void test_bounds(void)
{
	live_run_init(&run);
	hello(1, 1, 7);
	pulse(1, 2, (struct pulse){ 1 * S, 0, 0, 0, 0, NULL });
	pulse(1, 3, (struct pulse){ 11 * S, 0, 9 * S, 10 * S, 5, NULL });
	EXPECT_INT(totals(11 * S).now.busy_ppm, 900000);
	EXPECT_INT(totals(11 * S).now.starved_ppm, 100000);
	EXPECT_INT(totals(11 * S).starved_ns, 2 * S);
	pulse(1, 4, (struct pulse){ 12 * S, 0, 90 * S, 11 * S, 5, NULL });
	EXPECT_INT(totals(12 * S).now.busy_ppm, 1000000);
	EXPECT_INT(totals(12 * S).now.starved_ppm, 0);
	EXPECT_INT(totals(12 * S).busy_ns, 12 * S);
	EXPECT_INT(totals(12 * S).starved_ns, 0);
	EXPECT_INT(live_stream_gap(run.stream[0], 12 * S), LIVE_GAP_BUSY);
	/* Sums that go back begin anew; what is far too large stays where sums end. */
	pulse(1, 5, (struct pulse){ 13 * S, 0, 1 * S, 0, 5, NULL });
	EXPECT_INT(totals(13 * S).held_ns, 13 * S);
	pulse(1, 6, (struct pulse){ 14 * S, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, NULL });
	EXPECT_INT(totals(14 * S).busy_ns, 14 * S);
	EXPECT(totals(14 * S).now.busy_ppm + totals(14 * S).now.starved_ppm <= 1000000);
	live_run_fini(&run);
}

/* The same frame again, older frames, and frames after the goodbye change nothing. */
static void test_order(void)
{
	Wire__Bye bye = WIRE__BYE__INIT;
	Wire__Pulse last = WIRE__PULSE__INIT;
	Wire__PulseDevice d = WIRE__PULSE_DEVICE__INIT, *list[] = { &d };
	struct live_when when = { .now_ns = 5 * S, .wall_ns = START + 5 * S };

	live_run_init(&run);
	hello(1, 1, 7);
	pulse(1, 2, (struct pulse){ 1 * S, 0, 1, 0, 0, NULL });
	pulse(1, 4, (struct pulse){ 3 * S, 0, 2 * S, 0, 0, NULL });
	pulse(1, 4, (struct pulse){ 9 * S, 0, 9 * S, 0, 0, NULL });
	pulse(1, 3, (struct pulse){ 2 * S, 0, 1 * S, 0, 0, NULL });
	EXPECT_INT(totals(4 * S).held_ns, 3 * S);
	EXPECT_INT(totals(4 * S).busy_ns, 2 * S);
	last.t_ns = last.complete_ns = START + 5 * S;
	d.busy_ns = 3 * S;
	d.ops = 3;
	last.devices = list;
	last.n_devices = 1;
	bye.last = &last;
	EXPECT_INT(live_run_bye(&run, (uint8_t[16]){ 1 }, 5, START + 5 * S, &bye, &when), 0);
	EXPECT_INT(totals(5 * S).held_ns, 5 * S);
	EXPECT_INT(totals(5 * S).busy_ns, 3 * S);
	EXPECT_INT(totals(5 * S).alive, 0);
	EXPECT_INT(totals(500 * S).quiet_ns, -1);
	EXPECT_INT(live_stream_gap(run.stream[0], 5 * S), LIVE_GAP_ENDED);
	pulse(1, 6, (struct pulse){ 9 * S, 0, 9 * S, 0, 0, NULL });
	EXPECT_INT(totals(9 * S).held_ns, 5 * S);
	live_run_fini(&run);
}

/* Two processes on one GPU hold it once; one after the other adds up. */
static void test_shared(void)
{
	live_run_init(&run);
	hello(1, 1, 7);
	hello(2, 1, 7);
	for (int64_t i = 1; i <= 10; i++) {
		struct pulse p = {
			i * S, 0, (uint64_t)(i * S / 4), (uint64_t)(i * S / 10), 0, NULL
		};
		pulse(1, (uint64_t)i + 1, p);
		pulse(2, (uint64_t)i + 1, p);
	}
	EXPECT_INT(run.gpus, 1);
	EXPECT_INT(totals(10 * S).held_ns, 10 * S);
	EXPECT_INT(totals(10 * S).busy_ns, 5 * S);
	EXPECT_INT(totals(10 * S).starved_ns, 1 * S);
	EXPECT_INT(totals(10 * S).now.busy_ppm, 500000);
	EXPECT_INT(totals(10 * S).now.starved_ppm, 100000);
	/* Restarted: a new stream of the same GPU goes on from there. */
	hello(3, 1, 7);
	struct live_when when = { .now_ns = 20 * S, .wall_ns = START + 20 * S };
	struct pulse p = { 20 * S, 0, 2 * S, 0, 0, NULL };
	EXPECT_INT(pulse_of(3, 2, 1, p, &when), 0);
	EXPECT_INT(run.gpus, 1);
	EXPECT_INT(totals(20 * S).held_ns, 20 * S);
	EXPECT_INT(totals(20 * S).busy_ns, 7 * S);
	/* And one process with two GPUs. */
	hello(4, 2, 20);
	when = (struct live_when){ .now_ns = 21 * S, .wall_ns = START + 21 * S };
	EXPECT_INT(pulse_of(4, 2, 2, (struct pulse){ 21 * S, 0, S, 0, 0, NULL }, &when), 0);
	EXPECT_INT(run.gpus, 3);
	EXPECT_INT(totals(21 * S).held_ns, 62 * S);
	live_run_fini(&run);
}

/* Idle as far as is known to be complete, and not what is only not known yet. */
static void metered(uint64_t seq, int64_t t, uint32_t known, uint32_t busy, uint32_t tensor)
{
	const struct live_when when = { .now_ns = t, .wall_ns = START + t };
	Wire__Pulse m = WIRE__PULSE__INIT;
	Wire__PulseDevice d = WIRE__PULSE_DEVICE__INIT, *list[] = { &d };
	Wire__PulseMeter meter = WIRE__PULSE_METER__INIT;
	char level[] = "1";

	meter.known = known;
	meter.age_us = 100000;
	meter.span_us = 1000000;
	meter.busy = busy;
	meter.tensor = tensor;
	d.meter = known ? &meter : NULL;
	d.ops = seq;
	m.devices = list;
	m.n_devices = 1;
	m.t_ns = m.complete_ns = START + t;
	m.level = level;
	EXPECT_INT(live_run_pulse(&run, (uint8_t[16]){ 1 }, seq, START + t, &m, &when), 0);
}

static struct live_meter meter_now(int64_t now)
{
	struct live_use use;

	REQUIRE(live_run_uses(&run, now, &use, 1) == 1);
	return use.meter;
}

/* The last that NVML said counts, as far as it is known, and for as long as it is new. */
static void test_meters(void)
{
	live_run_init(&run);
	hello(1, 1, 7);
	metered(2, 1 * S, 0, 0, 0);
	EXPECT_INT(meter_now(1 * S).busy_ppm, -1);
	metered(3, 2 * S, 1 | 8, 9050, 1234);
	EXPECT_INT(meter_now(2 * S).busy_ppm, 905000);
	EXPECT_INT(meter_now(2 * S).tensor_ppm, 123400);
	EXPECT_INT(meter_now(2 * S).dram_ppm, -1);
	metered(4, 3 * S, 1 | 8, 10001, 10000); /* more than all of it */
	EXPECT_INT(meter_now(3 * S).busy_ppm, -1);
	EXPECT_INT(meter_now(3 * S).tensor_ppm, 1000000);
	metered(5, 32 * S, 0, 0, 0);
	EXPECT_INT(meter_now(32 * S).tensor_ppm, 1000000);
	metered(6, 33 * S, 0, 0, 0); /* half a minute ago */
	EXPECT_INT(meter_now(33 * S).tensor_ppm, -1);
	live_run_fini(&run);
}

static void test_idle(void)
{
	live_run_init(&run);
	hello(1, 1, 7);
	hello(2, 1, 8);
	pulse(1, 2, (struct pulse){ 10 * S, 10 * S, 5 * S, 0, 3, NULL });
	pulse(2, 2, (struct pulse){ 10 * S, 10 * S, 5 * S, 0, 3, NULL });
	EXPECT_INT(totals(10 * S).idle_ns, 0);
	pulse(1, 3, (struct pulse){ 70 * S, 69 * S, 5 * S, 0, 3, NULL });
	pulse(2, 3, (struct pulse){ 70 * S, 12 * S, 5 * S, 0, 3, NULL }); /* a kernel runs on */
	EXPECT_INT(totals(70 * S).idle_ns, 2 * S);
	EXPECT_INT(totals(70 * S).gpu_idle_ns, 59 * S);
	EXPECT_INT(totals(70 * S).lag_ns, 58 * S);
	EXPECT_INT(live_stream_gap(run.stream[0], 70 * S), LIVE_GAP_HOST);
	/* What is not recorded is not idle. */
	pulse(1, 4, (struct pulse){ 80 * S, 80 * S, 5 * S, 0, 3, "off" });
	EXPECT_INT(totals(80 * S).gpu_idle_ns, 2 * S);
	EXPECT_INT(live_stream_gap(run.stream[0], 80 * S), LIVE_GAP_UNSEEN);
	pulse(1, 5, (struct pulse){ 81 * S, 81 * S, 6 * S, 0, 4, NULL });
	EXPECT_INT(totals(81 * S).gpu_idle_ns, 2 * S);
	EXPECT_INT(live_stream_gap(run.stream[0], 81 * S), LIVE_GAP_BUSY);
	pulse(1, 6, (struct pulse){ 82 * S, 82 * S, 6 * S, 0, 5, NULL });
	EXPECT_INT(live_stream_gap(run.stream[0], 82 * S), LIVE_GAP_UNKNOWN);
	live_run_fini(&run);
}

/* A clock that is set is no time that a GPU was held. */
static void test_clock_steps(void)
{
	struct live_when when = { .now_ns = 3 * S, .wall_ns = START + 3 * S };

	live_run_init(&run);
	run.nano_usd_per_hour = 36 * S;
	hello(1, 1, 7);
	pulse(1, 2, (struct pulse){ 1 * S, 0, S / 2, 0, 0, NULL });
	pulse(1, 3, (struct pulse){ 2 * S, 0, S, 0, 0, NULL });
	/* Forward by a day; it came a second later. */
	EXPECT_INT(pulse_of(1, 4, 1, (struct pulse){ 86400 * S, 0, 3 * S / 2, 0, 0, NULL }, &when),
		   0);
	EXPECT_INT(totals(3 * S).held_ns, 3 * S);
	when.now_ns = 4 * S;
	EXPECT_INT(pulse_of(1, 5, 1, (struct pulse){ 86401 * S, 0, 2 * S, 0, 0, NULL }, &when), 0);
	EXPECT_INT(totals(4 * S).held_ns, 4 * S);
	EXPECT_INT(totals(4 * S).busy_ns, 2 * S);
	EXPECT_INT(totals(4 * S).now.busy_ppm, 500000);
	EXPECT_INT(totals(4 * S).lag_ns, 0);
	EXPECT_INT(totals(4 * S).nano_usd, S / 25);
	/* Back by two. */
	when.now_ns = 5 * S;
	EXPECT_INT(pulse_of(1, 6, 1, (struct pulse){ -86400 * S, 0, 5 * S / 2, 0, 0, NULL }, &when),
		   0);
	EXPECT_INT(totals(5 * S).held_ns, 5 * S);
	EXPECT_INT(totals(5 * S).idle_ns, 0);
	/* Of what lay there already nobody knows when it came: far apart is fine, back is not. */
	when = (struct live_when){ .now_ns = 9000 * S,
				   .wall_ns = START + 9000 * S,
				   .history = true };
	EXPECT_INT(pulse_of(1, 7, 1, (struct pulse){ 0, 0, 3 * S, 0, 0, NULL }, &when), 0);
	EXPECT(totals(9000 * S).held_ns >= 5 * S);
	live_run_fini(&run);
}

static void test_history(void)
{
	struct live_when when = { .now_ns = 50 * S, .wall_ns = START + 10000 * S, .history = true };

	live_run_init(&run);
	hello(1, 1, 7);
	EXPECT_INT(pulse_of(1, 2, 1, (struct pulse){ 1 * S, 0, S, 0, 0, NULL }, &when), 0);
	EXPECT_INT(pulse_of(1, 3, 1, (struct pulse){ 7200 * S, 0, 3600 * S, 0, 0, NULL }, &when),
		   0);
	struct live_totals t = totals(50 * S);
	EXPECT_INT(t.held_ns, 7200 * S);
	EXPECT_INT(t.busy_ns, 3600 * S);
	EXPECT_INT(t.quiet_ns, 2800 * S); /* by the frames' own times */
	EXPECT_INT(t.alive, 0);
	live_run_fini(&run);
}

/* A device that the first Hello did not name is waited for, its time counts all the same. */
static void test_late_name(void)
{
	live_run_init(&run);
	hello(1, 0, 0);
	for (int64_t i = 1; i <= 3; i++)
		pulse(1, (uint64_t)i + 1, (struct pulse){ i * S, 0, S / 2, 0, 0, NULL });
	EXPECT_INT(run.gpus, 0);
	Wire__Hello m = WIRE__HELLO__INIT;
	Wire__Device d = WIRE__DEVICE__INIT, *list[] = { &d };
	char name[] = "GPU";
	d.name = name;
	m.process_start_ns = START;
	m.devices = list;
	m.n_devices = 1;
	EXPECT_INT(live_run_hello(&run, (uint8_t[16]){ 1 }, 5, &m), 0);
	pulse(1, 6, (struct pulse){ 4 * S, 0, S, 0, 0, NULL });
	EXPECT_INT(run.gpus, 1);
	EXPECT_STR(run.gpu[0].name, "GPU");
	EXPECT_INT(totals(4 * S).held_ns, 4 * S);
	EXPECT_INT(totals(4 * S).busy_ns, S);
	live_run_fini(&run);
}

/* What is told of all GPUs is what each of them says, whoever shares which. */
static void test_all_at_once(void)
{
	int64_t alive = 0, least = -1, most = -1, busy = 0, starved = 0, known = 0;
	struct live_totals t;

	live_run_init(&run);
	for (uint8_t id = 1; id <= 60; id++)
		hello(id, 1 + id % 4, (uint8_t)(id * 7 % 50)); /* neighbours share some */
	for (int64_t i = 1; i <= 40; i++)
		for (uint8_t id = 1; id <= 60; id++) {
			struct pulse p = { i * S,
					   0,
					   (uint64_t)(i < id ? i * S / (1 + id % 5) : S),
					   (uint64_t)(i * S / (2 + id % 3)),
					   (uint64_t)i,
					   id % 11 ? "1" : "off" };
			struct live_when when = { .now_ns = p.t, .wall_ns = START + p.t };

			EXPECT_INT(pulse_of(id, (uint64_t)i + 1, 1 + id % 4, p, &when), 0);
		}
	t = totals(40 * S);
	for (size_t i = 0; i < run.gpus; i++) {
		int64_t idle = live_gpu_idle_ns(&run, i, 40 * S);
		struct live_share share = live_gpu_share(&run, i, 40 * S);

		if (idle < 0)
			continue;
		alive++;
		least = least < 0 || idle < least ? idle : least;
		most = idle > most ? idle : most;
		busy += share.known ? share.busy_ppm : 0;
		starved += share.known ? share.starved_ppm : 0;
		known += share.known;
	}
	EXPECT(alive > 40 && most > least);
	EXPECT_INT(t.alive, alive);
	EXPECT_INT(t.idle_ns, least);
	EXPECT_INT(t.gpu_idle_ns, most);
	EXPECT_INT(t.now.busy_ppm, busy / known);
	EXPECT_INT(t.now.starved_ppm, starved / known);
	EXPECT_INT(totals(400 * S).alive, 0);
	live_run_fini(&run);
}

static void test_limits(void)
{
	struct live_when when = { .now_ns = S, .wall_ns = START + S };

	live_run_init(&run);
	for (uint32_t i = 0; i < LIVE_STREAMS_MAX; i++) {
		uint8_t id[16] = { (uint8_t)i, (uint8_t)(i >> 8), 1 };
		Wire__Pulse m = WIRE__PULSE__INIT;
		m.t_ns = S;
		EXPECT_INT(live_run_pulse(&run, id, 1, S, &m, &when), 0);
	}
	EXPECT_INT(pulse_of(9, 1, 1, (struct pulse){ S, 0, 0, 0, 0, NULL }, &when), -ENOSPC);
	EXPECT_UINT(run.refused, 1);
	EXPECT_INT(totals(S).gpus, 0);
	live_run_fini(&run);
}

/* Through frames as they stand in a file; broken ones are refused. */
static void test_frames(void)
{
	struct live_reader *reader = live_reader_new();
	struct live_when when = { .now_ns = S, .wall_ns = START + S };
	Wire__Pulse m = WIRE__PULSE__INIT;
	Wire__PulseDevice d = WIRE__PULSE_DEVICE__INIT, *list[] = { &d };
	uint8_t body[256];

	live_run_init(&run);
	hello(1, 1, 7);
	m.t_ns = START + S;
	d.busy_ns = S / 2;
	d.ops = 1;
	m.devices = list;
	m.n_devices = 1;
	size_t len = wire__pulse__pack(&m, body);
	struct wire_frame f = { .type = WIRE_FRAME_PULSE,
				.stream = { 1 },
				.seq = 2,
				.time_ns = START + S,
				.body_len = (uint32_t)len,
				.raw_len = (uint32_t)len };
	EXPECT(live_frame_wanted(&f));
	EXPECT_INT(live_run_frame(&run, reader, &f, body, &when), 0);
	EXPECT_INT(totals(S).held_ns, S);
	f.seq = 3;
	f.raw_len++;
	EXPECT_INT(live_run_frame(&run, reader, &f, body, &when), -EBADMSG);
	f.raw_len = UINT32_MAX;
	EXPECT_INT(live_run_frame(&run, reader, &f, body, &when), -EBADMSG);
	f.raw_len = (uint32_t)len;
	f.flags = WIRE_FRAME_FL_ZSTD;
	EXPECT_INT(live_run_frame(&run, reader, &f, body, &when), -EBADMSG);
	f.flags = 0;
	body[0] = 0xff;
	EXPECT_INT(live_run_frame(&run, reader, &f, body, &when), -EBADMSG);
	f.type = WIRE_FRAME_BLOCK;
	EXPECT(!live_frame_wanted(&f));
	EXPECT_INT(live_run_frame(&run, reader, &f, body, &when), 0);
	live_reader_free(reader);
	live_run_fini(&run);
}

static uint64_t facts_told; /* of the next: see Checkpoint.told */

struct told { /* of a save: seconds of the life of process @id */
	uint8_t id;
	uint32_t number;
	Wire__SaveState state;
	int64_t t;
	uint64_t before, inode;
};

static uint64_t facts_seq;
static int64_t began[4][LIVE_SAVES_MAX * 4];

static void facts(struct told f, const char *path)
{
	Wire__Facts m = WIRE__FACTS__INIT;
	Wire__Checkpoint c = WIRE__CHECKPOINT__INIT, *list[1] = { &c };
	bool begun = f.state == WIRE__SAVE_STATE__SAVE_BEGUN;

	if (begun)
		began[f.id][f.number] = START + f.t;
	c.start_ns = began[f.id][f.number];
	c.end_ns = begun ? 0 : START + f.t;
	c.state = f.state;
	c.number = f.number;
	c.path = (char *)(uintptr_t)path;
	c.before_inode = f.before;
	c.inode = f.inode;
	c.told = facts_told;
	m.t_ns = START + f.t;
	m.checkpoints = list;
	m.n_checkpoints = 1;
	EXPECT_INT(live_run_facts(&run, (uint8_t[16]){ f.id }, ++facts_seq, &m), 0);
}

/* Both processes, which share no GPU, have lived until then. */
static void live_until(int64_t t)
{
	for (uint8_t id = 1; id <= 2; id++)
		pulse(id, ++facts_seq, (struct pulse){ t, 0, (uint64_t)t, 0, 1, NULL });
}

static void tell(uint64_t told, uint32_t number, Wire__SaveState state, int64_t t)
{
	facts_told = told;
	facts((struct told){ 1, number, state, t, number > 1 ? 5 : 0, 5 }, "/a");
	facts_told = 0;
}

static void counted_pulse(int64_t t, uint64_t told, const struct live_when *when)
{
	pulse_told = told + 1;
	EXPECT_INT(pulse_of(1, ++facts_seq, 1, (struct pulse){ t, 0, (uint64_t)t, 0, 1, NULL },
			    when),
		   0);
	pulse_told = 0;
}

#define BEGUN WIRE__SAVE_STATE__SAVE_BEGUN
#define WHOLE WIRE__SAVE_STATE__SAVE_WHOLE
#define HANDED WIRE__SAVE_STATE__SAVE_HANDED
#define FAILED WIRE__SAVE_STATE__SAVE_FAILED
#define MOVED WIRE__SAVE_STATE__SAVE_MOVED

static void begin_two(void)
{
	live_run_init(&run);
	facts_seq = 1;
	hello(1, 1, 7);
	hello(2, 1, 9);
	for (int64_t t = 1; t <= 10; t++)
		live_until(t * S);
}

/* What a kill would lose: from the newest whole checkpoint on, on both GPUs. */
static void test_unsaved(void)
{
	struct live_totals t;

	begin_two();
	run.gpu[0].nano_usd_per_hour = run.gpu[1].nano_usd_per_hour = 36 * S;
	t = totals(10 * S);
	EXPECT_INT(t.unsaved_ns, 20 * S);
	EXPECT_INT(t.unsaved_for_ns, 10 * S);
	EXPECT_INT(t.unsaved_nano_usd, S / 5);
	EXPECT(!t.saved && !t.saving);
	facts((struct told){ 1, 1, BEGUN, 10 * S, 0, 0 }, "/a");
	facts((struct told){ 2, 1, BEGUN, 10 * S + S / 20, 0, 0 }, "/b");
	live_until(12 * S);
	facts((struct told){ 1, 1, WHOLE, 12 * S, 0, 5 }, "/a");
	t = totals(12 * S); /* the other one's part of it is not whole */
	EXPECT(!t.saved && t.saving);
	EXPECT_INT(t.unsaved_ns, 24 * S);
	facts((struct told){ 2, 1, WHOLE, 13 * S, 0, 6 }, "/b");
	live_until(15 * S);
	t = totals(15 * S);
	EXPECT(t.saved && !t.saving);
	EXPECT_INT(t.unsaved_ns, 10 * S);
	EXPECT_INT(t.unsaved_for_ns, 5 * S);
	/* One that fails leaves the one before; one that finds its file destroys it. */
	facts((struct told){ 1, 2, BEGUN, 16 * S, 0, 0 }, "/c");
	facts((struct told){ 1, 2, FAILED, 17 * S, 0, 0 }, "/c");
	live_until(18 * S);
	EXPECT_INT(totals(18 * S).unsaved_ns, 16 * S);
	facts((struct told){ 1, 3, BEGUN, 18 * S, 5, 0 }, "/a");
	t = totals(18 * S);
	EXPECT(!t.saved && t.saving);
	EXPECT_INT(t.unsaved_ns, 36 * S);
	facts((struct told){ 1, 3, WHOLE, 19 * S, 0, 5 }, "/a");
	live_until(20 * S);
	EXPECT_INT(totals(20 * S).unsaved_ns, 4 * S);
	EXPECT_INT(totals(20 * S + LIVE_SILENT_NS).unsaved_ns, -1);
	live_run_fini(&run);
}

/* However many a process makes, what is not kept makes it look no safer. */
static void test_many_saves(void)
{
	struct live_totals t;
	char path[32];

	begin_two();
	/* One checkpoint of many files, each of which begins when the one before has ended. */
	for (uint32_t i = 1; i <= LIVE_SAVES_MAX * 2; i++) {
		snprintf(path, sizeof(path), "/part%u", i);
		facts((struct told){ 1, i, BEGUN, 10 * S + i * (S / 20), 0, 0 }, path);
		facts((struct told){ 1, i, WHOLE, 10 * S + i * (S / 20), 0, i }, path);
	}
	live_until(20 * S);
	t = totals(20 * S);
	EXPECT(t.saved);
	EXPECT_INT(t.unsaved_ns, 20 * S - 2 * (S / 20));
	/* The first of as many more is never whole, and falls out: the rest is no checkpoint. */
	for (uint32_t i = 1; i <= LIVE_SAVES_MAX + 4; i++) {
		uint32_t n = LIVE_SAVES_MAX * 2 + i;

		snprintf(path, sizeof(path), "/more%u", i);
		facts((struct told){ 1, n, BEGUN, 30 * S + i * (S / 20), 0, 0 }, path);
		facts((struct told){ 1, n, i > 1 ? WHOLE : HANDED, 30 * S + i * (S / 20), 0,
				     99 + i },
		      path);
	}
	live_until(40 * S);
	t = totals(40 * S);
	EXPECT(!t.saved);
	EXPECT_INT(t.unsaved_ns, 80 * S);
	live_run_fini(&run);
}

/* A state of @bytes, saved at @t by the first process; @used of its GPU's memory are told, too. */
static enum live_small small_of(uint32_t number, int64_t t, uint64_t bytes, uint64_t used)
{
	Wire__Facts m = WIRE__FACTS__INIT;
	Wire__Checkpoint c = WIRE__CHECKPOINT__INIT, *list[1] = { &c };
	Wire__DeviceFacts d = WIRE__DEVICE_FACTS__INIT, *device[1] = { &d };
	char path[32];

	snprintf(path, sizeof(path), "/state%u", number);
	d.memory_used_bytes = used;
	c = (Wire__Checkpoint){ .base = c.base,
				.start_ns = START + t,
				.end_ns = START + t + S / 10,
				.state = WHOLE,
				.number = number,
				.path = path,
				.saver = (char *)(uintptr_t) "torch.save",
				.inode = number,
				.size = bytes,
				.content = WIRE__SAVE_CONTENT__CONTENT_STATE };
	m.checkpoints = list;
	m.devices = device;
	m.n_checkpoints = m.n_devices = 1;
	EXPECT_INT(live_run_facts(&run, (uint8_t[16]){ 1 }, ++facts_seq, &m), 0);
	live_until(t + S);
	return totals(t + S).small;
}

/* A state is small below a bound, and the one before it is what is sure. */
static void test_small_states(void)
{
	struct live_totals t;

	begin_two();
	EXPECT_INT(small_of(1, 20 * S, LIVE_STATE_LEAST - 1, 0), LIVE_SMALL_LITTLE);
	t = totals(21 * S);
	EXPECT_INT(t.unsaved_ns, 2 * S);
	EXPECT_INT(t.sure_ns, 42 * S);
	EXPECT_INT(t.sure_for_ns, 21 * S);
	EXPECT_INT((int64_t)t.saved_bytes, LIVE_STATE_LEAST - 1);
	EXPECT_INT(small_of(2, 30 * S, LIVE_STATE_LEAST, 0), LIVE_SMALL_NOT);
	EXPECT_INT(totals(31 * S).sure_ns, 2 * S);
	EXPECT_INT(small_of(3, 40 * S, 10000000, 0), LIVE_SMALL_NOT);
	EXPECT_INT(small_of(4, 50 * S, 1000000, 0), LIVE_SMALL_NOT);
	EXPECT_INT(small_of(5, 60 * S, 999999, 0), LIVE_SMALL_OTHERS);
	EXPECT_INT(totals(61 * S).sure_ns, 2 * 11 * S);
	EXPECT_INT(small_of(6, 70 * S, 1000000, 1000000000), LIVE_SMALL_NOT);
	EXPECT_INT(small_of(7, 80 * S, 1000000, 1000001000), LIVE_SMALL_MEMORY);
	EXPECT_INT(small_of(8, 90 * S, 0, 0), LIVE_SMALL_NOT); /* nobody knows how large */
	EXPECT_INT((int64_t)totals(91 * S).saved_bytes, 0);
	live_run_fini(&run);
}

/* Whatever is told: what a kill would lose is never more than what was held, nor less than none. */
static void test_hostile_saves(void)
{
	static const int64_t edge[] = { INT64_MIN, -1, 0, 1, START, START + 10 * S, INT64_MAX };
	static char path[][8] = { "", "/a", "/a/b", "s3://x", "/a.tmp" };
	uint64_t random = 5;

	begin_two();
	for (int i = 0; i < 20000; i++) {
		Wire__Facts m = WIRE__FACTS__INIT;
		Wire__Checkpoint c = WIRE__CHECKPOINT__INIT, *list[2] = { &c, &c };
		uint64_t r = t_random(&random);

		c.start_ns = r & 1 ? edge[(r >> 1) % 7] : START + (int64_t)((r >> 4) % (20 * S));
		r = t_random(&random);
		c.end_ns = r & 1 ? edge[(r >> 1) % 7] : START + (int64_t)((r >> 4) % (20 * S));
		r = t_random(&random);
		c.state = (Wire__SaveState)(r % 11);
		c.number = r & 64 ? (uint32_t)(r >> 32) % 100 : (uint32_t)i / 4;
		c.path = path[(r >> 8) % 5];
		c.inode = (r >> 16) % 3;
		c.before_inode = (r >> 20) % 3;
		c.content = (Wire__SaveContent)((r >> 40) % 4);
		c.size = (r >> 42) % 3 ? UINT64_C(1) << ((r >> 44) % 64) : UINT64_MAX;
		m.checkpoints = list;
		m.n_checkpoints = (r >> 24) % 3;
		EXPECT_INT(live_run_facts(&run, (uint8_t[16]){ 1 + (r >> 28) % 3 },
					  (r >> 30) % 16 ? ++facts_seq : 1, &m),
			   0);
		if (i % 50)
			continue;
		struct live_totals t = totals(10 * S);
		EXPECT(t.unsaved_ns >= 0 && t.unsaved_ns <= t.held_ns);
		EXPECT(t.unsaved_for_ns >= 0 && t.unsaved_for_ns <= t.unsaved_ns);
		EXPECT(t.sure_ns >= t.unsaved_ns && t.sure_ns <= t.held_ns);
	}
	live_run_fini(&run);
}

static void test_names(void)
{
	static const char *const temporary[] = {
		"/a.pt.tmp",	   "/a.tmp.12",	    "/a.pt.tmp7/",  "/tmp_a.pt",
		"/a.PARTIAL",	   "/a.incomplete", "/.a.pt.x81Kd", "/tmpx8_k2a9q",
		"/tmpx8_k2a9q.pt", "/a.pt~",	    "a.part",	    "/d/tmp-checkpoint-5",
		"/a.new",	   "s3://b/a.temp", "/a.inprogress"
	};
	static const char *const place[] = { "",
					     "/",
					     "/tmp/a.pt",
					     "/a.part0",
					     "/template.pt",
					     "/tmpx8_k2.pt",
					     "/tmpx8_k2a9qb.pt",
					     "/temp_0.7.pt",
					     "/new.pt",
					     "/.a/b.pt",
					     "/atmp.pt" };

	for (size_t i = 0; i < sizeof(temporary) / sizeof(*temporary); i++)
		EXPECT_INT(live_place_temporary(temporary[i]) ? -1 : (int)i, -1);
	for (size_t i = 0; i < sizeof(place) / sizeof(*place); i++)
		EXPECT_INT(live_place_temporary(place[i]) ? (int)i : -1, -1);
	EXPECT(live_place_hash("/step_10.pt") == live_place_hash("/step_9.pt"));
	EXPECT(live_place_hash("/step_.pt") != live_place_hash("/step_9.pt"));
	EXPECT(live_place_hash("/step_1/2.pt") != live_place_hash("/step_12.pt"));
}

static void test_folders(void)
{
	static const char *const temporary[] = { "/o/x.tmp|/a.pt",    "/o/tmp-checkpoint-5|/a/b.pt",
						 "/o/tmp_x.1|/a.pt",  "/o/.tmp|/x/a.pt",
						 "/o/x.part|/a",      "/o/x.NEW|/y.tmp/a.pt",
						 "/o/x~|/a",	      "/o/staging|//a.pt",
						 "/o/tmpx8_k2a9q|/a", "/tmp/o/tmpx8_k2a9q|/",
						 "rel.tmp|/a",	      "/tmp/x.tmp|/a.pt",
						 "/tmp/tmp-x|/a.pt" };
	static const char *const place[] = { "",
					     "/",
					     "/a.tmp",
					     "/a.tmp/",
					     "/tmp/a.pt",
					     "/tmp2/x/a.pt",
					     "/scratch/tmp/x/a.pt",
					     "/tmp/tmpx8_k2a9q/a.pt",
					     "/var/tmp/tmp.Xy12345678/a.pt",
					     "/home/u/.cache/a.pt",
					     "/staging/u/a.pt",
					     "s3://b.tmp/x.tmp/a.pt",
					     "/template/new/part/a.pt" };
	char path[64];

	for (size_t i = 0; i < sizeof(temporary) / sizeof(*temporary); i++) {
		size_t n = strcspn(temporary[i], "|");

		snprintf(path, sizeof(path), "%.*s%s", (int)n, temporary[i], temporary[i] + n + 1);
		if (path[strlen(path) - 1] == '/')
			strcat(path, "a.pt");
		EXPECT_INT(live_place_folder(path) == n ? -1 : (int)i, -1);
	}
	for (size_t i = 0; i < sizeof(place) / sizeof(*place); i++)
		EXPECT_INT(live_place_folder(place[i]) ? (int)i : -1, -1);
}

static void save(uint32_t number, int64_t t, const char *path)
{
	facts((struct told){ 1, number, BEGUN, t, 0, 0 }, path);
	facts((struct told){ 1, number, WHOLE, t + 1, 0, 10 + number }, path);
}

/* One that is saved beside its place counts once it is there, and until then nobody knows. */
static void test_renamed(void)
{
	struct live_totals t;

	begin_two();
	save(1, 10 * S, "/a.tmp");
	live_until(12 * S);
	t = totals(12 * S);
	EXPECT(t.unsure && t.unmoved && !t.deleted && !t.saved);
	EXPECT_INT(t.unsaved_ns, 24 * S);
	facts((struct told){ 1, 1, MOVED, 11 * S, 0, 11 }, "/a.tmp");
	t = totals(12 * S);
	EXPECT(!t.unsure && !t.unmoved && t.saved);
	EXPECT_INT(t.unsaved_ns, 4 * S);
	/* By what was renamed before: whatever it is called, and also where digits differ. */
	save(2, 12 * S, "/b_1");
	live_until(14 * S);
	t = totals(14 * S);
	EXPECT(!t.unsure && !t.unmoved);
	EXPECT_INT(t.unsaved_ns, 4 * S);
	facts((struct told){ 1, 2, MOVED, 13 * S, 0, 12 }, "/b_1");
	save(3, 14 * S, "/b_2");
	live_until(15 * S);
	t = totals(15 * S);
	EXPECT(t.unsure && t.unmoved);
	EXPECT_INT(t.unsaved_ns, 6 * S);
	/* Where nothing lies any more it was renamed by whomever. */
	save(4, 16 * S, "/b_2");
	live_until(17 * S);
	t = totals(17 * S);
	EXPECT(t.unsure && t.unmoved);
	EXPECT_INT(t.unsaved_ns, 6 * S);
	/* Deleted it is not there. */
	facts((struct told){ 1, 4, WIRE__SAVE_STATE__SAVE_DELETED, 17 * S, 0, 14 }, "/b_2");
	t = totals(17 * S);
	EXPECT(t.unsure && t.deleted);
	live_run_fini(&run);
}

/* In a folder that is to be renamed it is not enough that the file is, nor a folder in that one. */
static void test_folder_renamed(void)
{
	static const char path[] = "/o/x_1.tmp/y.tmp/a.pt.part", other[] = "/o/x_1.tmp/b.pt";
	static const char *const not_enough[] = { path, "/o/x_1.tmp/y.tmp", "/o/x_1.tm", "/o/x_2",
						  "" };
	struct live_totals t;

	begin_two();
	save(1, 10 * S, path);
	facts((struct told){ 1, 2, BEGUN, 10 * S + 1, 0, 0 }, other);
	facts((struct told){ 1, 2, WHOLE, 10 * S + 2, 0, 12 }, other);
	live_until(15 * S);
	facts((struct told){ 1, 2, MOVED, 11 * S, 0, 12 }, "/o/x_1.tmp");
	for (size_t i = 0; i < sizeof(not_enough) / sizeof(*not_enough); i++) {
		facts((struct told){ 1, 1, MOVED, 11 * S, 0, 11 }, not_enough[i]);
		t = totals(15 * S);
		EXPECT(t.unsure && t.unmoved && !t.saved);
	}
	facts((struct told){ 1, 1, MOVED, 12 * S, 0, 11 }, "/o/x_1.tmp/");
	t = totals(15 * S);
	EXPECT(!t.unsure && t.saved);
	EXPECT_INT(t.unsaved_ns, 10 * S);
	/* Of any name, once the one before was renamed with its folder; "file" comes to its place. */
	save(3, 16 * S, "/o/stage/c.pt");
	facts((struct told){ 1, 3, MOVED, 17 * S, 0, 13 }, "/o/stage");
	save(4, 18 * S, "/o/stage/c.pt");
	live_until(20 * S);
	t = totals(20 * S);
	EXPECT(t.unsure && t.unmoved);
	EXPECT_INT(t.unsaved_ns, 8 * S);
	facts((struct told){ 1, 4, MOVED, 19 * S, 0, 14 }, "/o");
	t = totals(20 * S);
	EXPECT(!t.unsure && t.saved);
	EXPECT_INT(t.unsaved_ns, 4 * S);
	live_run_fini(&run);
}

/* What is put away when a later one is there is no way to save; what is overwritten stayed. */
static void test_put_away(void)
{
	struct live_totals t;

	begin_two();
	save(1, 10 * S, "/step_1");
	save(2, 12 * S, "/step_2");
	facts((struct told){ 1, 1, MOVED, 13 * S, 0, 11 }, "/step_1");
	save(3, 14 * S, "/step_3");
	live_until(15 * S);
	t = totals(15 * S);
	EXPECT(!t.unsure && t.saved);
	EXPECT_INT(t.unsaved_ns, 2 * S);
	facts((struct told){ 1, 4, BEGUN, 16 * S, 13, 0 }, "/step_3");
	facts((struct told){ 1, 4, WHOLE, 17 * S, 0, 13 }, "/step_3");
	live_until(18 * S);
	t = totals(18 * S);
	EXPECT(!t.unsure && t.saved);
	EXPECT_INT(t.unsaved_ns, 4 * S);
	/* What was deleted was not renamed either, though nothing lies there any more. */
	facts((struct told){ 1, 4, WIRE__SAVE_STATE__SAVE_DELETED, 18 * S, 0, 13 }, "/step_3");
	save(5, 19 * S, "/step_3");
	live_until(20 * S);
	t = totals(20 * S);
	EXPECT(!t.unsure && t.saved);
	EXPECT_INT(t.unsaved_ns, 2 * S);
	live_run_fini(&run);
}

/* That a place is renamed from outlasts what is kept; so does that a part was not renamed. */
static void test_renamed_long_ago(void)
{
	struct live_totals t;
	char path[32];

	begin_two();
	save(1, 10 * S, "/a_0");
	facts((struct told){ 1, 1, MOVED, 11 * S, 0, 11 }, "/a_0");
	for (uint32_t i = 2; i <= LIVE_SAVES_MAX + 4; i++)
		save(i, (10 + i) * S, "/other");
	save(LIVE_SAVES_MAX + 5, 60 * S, "/a_1");
	live_until(61 * S);
	t = totals(61 * S);
	EXPECT(t.unsure && t.unmoved);
	live_run_fini(&run);
	begin_two();
	for (uint32_t i = 1; i <= LIVE_SAVES_MAX + 4; i++) {
		snprintf(path, sizeof(path), "/part%u.tmp", i);
		save(i, 10 * S + i * (S / 20), path);
	}
	for (uint32_t i = 1; i <= LIVE_SAVES_MAX + 4; i++)
		facts((struct told){ 1, i, MOVED, 20 * S, 0, 10 + i }, "/");
	live_until(30 * S);
	t = totals(30 * S);
	EXPECT(!t.saved && t.unsure && t.unmoved);
	EXPECT_INT(t.unsaved_ns, 60 * S);
	live_run_fini(&run);
}

/* However many places there were, none of them looks safer for it. */
static void test_many_places(void)
{
	char path[32];

	begin_two();
	for (uint32_t i = 1; i <= 120; i++) {
		snprintf(path, sizeof(path), "/%c/%c", 'a' + (int)i % 26, 'a' + (int)i / 26);
		save(i, (10 + i) * S, path);
		facts((struct told){ 1, i, MOVED, (10 + i) * S + 2, 0, 10 + i }, path);
	}
	save(121, 140 * S, "/b/a");
	live_until(150 * S);
	EXPECT(totals(150 * S).unmoved);
	live_run_fini(&run);
}

/* A restart counts from its own beginning; what was not read is not known. */
static void test_unsaved_restart(void)
{
	struct live_when thin = {
		.now_ns = 30 * S, .wall_ns = START + 30 * S, .history = true, .thinned = true
	};
	struct live_totals t;

	live_run_init(&run);
	facts_seq = 1;
	hello(1, 1, 7);
	pulse(1, ++facts_seq, (struct pulse){ 10 * S, 0, S, 0, 1, NULL });
	facts((struct told){ 1, 1, BEGUN, 5 * S, 0, 0 }, "/a");
	facts((struct told){ 1, 1, WHOLE, 6 * S, 0, 5 }, "/a");
	EXPECT_INT(totals(10 * S).unsaved_ns, 5 * S);
	hello(2, 1, 7); /* its stamps say that it began at START: it began when it first spoke */
	run.stream[1]->start_unix_ns = START + 20 * S;
	pulse(2, ++facts_seq, (struct pulse){ 21 * S, 0, S / 2, 0, 1, NULL });
	pulse(2, ++facts_seq, (struct pulse){ 28 * S, 0, S, 0, 1, NULL });
	t = totals(28 * S);
	EXPECT(!t.saved);
	EXPECT_INT(t.unsaved_ns, 8 * S);
	EXPECT_INT(pulse_of(2, ++facts_seq, 1, (struct pulse){ 29 * S, 0, 2 * S, 0, 1, NULL },
			    &thin),
		   0);
	EXPECT_INT(totals(30 * S).unsaved_ns, -1);
	facts((struct told){ 2, 1, BEGUN, 30 * S, 5, 0 }, "/a");
	facts((struct told){ 2, 1, WHOLE, 31 * S, 0, 5 }, "/a");
	pulse(2, ++facts_seq, (struct pulse){ 32 * S, 0, 3 * S, 0, 1, NULL });
	EXPECT_INT(totals(32 * S).unsaved_ns, 2 * S);
	live_run_fini(&run);
}

/* Of rows only some are kept: whoever counts what he told of saves is known to be known whole. */
static void test_counted_saves(void)
{
	struct live_when thin = {
		.now_ns = 30 * S, .wall_ns = START + 30 * S, .history = true, .thinned = true
	};

	live_run_init(&run);
	facts_seq = 1;
	hello(1, 1, 7);
	counted_pulse(5 * S, 0, &thin);
	counted_pulse(10 * S, 0, &thin);
	EXPECT_INT(totals(30 * S).unsaved_ns, 10 * S); /* there was none */
	tell(1, 1, BEGUN, 10 * S);
	tell(2, 1, WHOLE, 11 * S);
	counted_pulse(12 * S, 2, &thin);
	EXPECT_INT(totals(30 * S).unsaved_ns, 2 * S);
	counted_pulse(14 * S, 3, &thin); /* one is missing: a save, or that this one is gone */
	EXPECT_INT(totals(30 * S).unsaved_ns, -1);
	began[1][3] = START + 13 * S;
	tell(6, 3, WHOLE, 15 * S); /* it began before what is missing came */
	counted_pulse(16 * S, 6, &thin);
	EXPECT_INT(totals(30 * S).unsaved_ns, -1);
	tell(7, 4, BEGUN, 16 * S);
	tell(8, 4, WHOLE, 17 * S);
	counted_pulse(18 * S, 8, &thin);
	EXPECT_INT(totals(30 * S).unsaved_ns, 2 * S);
	counted_pulse(19 * S, 7, &thin); /* nonsense takes nothing away */
	EXPECT_INT(totals(30 * S).unsaved_ns, 3 * S);
	live_run_fini(&run);
}

int main(void)
{
	int failed = RUN(test_sums, test_training, test_first_pulse, test_bounds, test_order,
			 test_shared, test_idle, test_meters, test_clock_steps, test_history,
			 test_late_name, test_limits, test_frames, test_all_at_once);

	return failed | RUN(test_unsaved, test_many_saves, test_small_states, test_unsaved_restart,
			    test_counted_saves, test_hostile_saves, test_names, test_folders,
			    test_renamed, test_folder_renamed, test_put_away, test_renamed_long_ago,
			    test_many_places);
}
