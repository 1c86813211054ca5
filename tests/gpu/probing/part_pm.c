/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_pm.c - step 3: PM sampling, as what takes the place of kernel records where these are too
 * dear: rights, samples and their loss, stamps, clocks, cost, beside our kinds, with other
 * processes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti.h"
#include "drv.h"
#include "load.h"
#include "nvml.h"
#include "pm.h"
#include "probe.h"
#include "row.h"
#include "samples.h"

#define HARDWARE_BYTES (64u << 20)
#define IMAGE_SAMPLES 2048
#define DRAIN_EACH (50 * MS)
#define ROOM 40000
#define KERNEL_NS (200 * (int64_t)1000)
#define PERIOD_NS MS

static struct pm_sample *samples;
static size_t n_samples;

/* The driver, a context and libcupti in this process; false: said why under these ids. */
static bool begin(const char *const *which, size_t n)
{
	int rc = cupti_load();
	size_t i;

	if (!rc)
		rc = drv_begin();
	samples = calloc(ROOM, sizeof *samples);
	if (!rc && samples)
		return true;
	for (i = 0; i < n; i++)
		row_skip(which[i], "%s", *drv_why() ? drv_why() : cupti_why());
	return false;
}

static void refuse(const char *id, const struct pm *pm, int rc)
{
	row_skip(id, "%s gives %d (%s)", pm->failed ? pm->failed : "memory", rc, cupti_words(rc));
}

/* Drains for a while; the samples are appended. */
static int drain_for(struct pm *pm, int64_t ns)
{
	int64_t end = mono_ns() + ns, next = mono_ns();
	int rc = 0;

	while (!rc && mono_ns() < end) {
		next += DRAIN_EACH;
		sleep_until(next < end ? next : end);
		rc = pm_drain(pm, samples, &n_samples, ROOM);
	}
	return rc;
}

/* What is left after the stop; an image that is full is not the end. */
static int drain_rest(struct pm *pm)
{
	size_t before;
	int rc, turns = 0;

	do {
		before = n_samples;
		rc = pm_drain(pm, samples, &n_samples, ROOM);
	} while (!rc && n_samples > before && ++turns < 200);
	return rc;
}

/* ---- rights ---- */

/* In a child: how far a session comes. */
static void try_session(int fd, void *arg)
{
	struct pm pm = { 0 };
	int rc = cupti_load();

	(void)arg;
	if (!rc)
		rc = drv_init();
	if (rc) {
		dprintf(fd, "-1 %s", *drv_why() ? drv_why() : cupti_why());
		return;
	}
	rc = pm_open(&pm, MS, HARDWARE_BYTES, 16);
	if (!rc)
		rc = pm_start(&pm);
	if (!rc)
		pm_stop(&pm);
	pm_close(&pm);
	if (rc)
		dprintf(fd, "%d (%s) from %s", rc, cupti_words(rc), pm.failed ? pm.failed : "?");
	else
		dprintf(fd, "0 (it works)");
}

static void ask_rights(void)
{
	char own[600], other[600];
	struct row r;
	bool good;

	if (child_text(try_session, NULL, false, 6 * SECOND, own, sizeof own) || !*own) {
		row_skip("pm.rights", "the session hung or died");
		return;
	}
	good = !child_text(try_session, NULL, true, 6 * SECOND, other, sizeof other) && *other;
	row_begin(&r, "pm.rights", "CUPTI result");
	row_answer(&r, "as uid %d: %s", (int)geteuid(), own);
	row_figure(&r, "own", strtol(own, NULL, 10));
	if (good) {
		row_answer(&r, "; as uid 65534: %s", other);
		row_figure(&r, "other", strtol(other, NULL, 10));
	} else {
		row_answer(&r, "; as another: %s",
			   errno == EPERM ? "only root can ask" : "it hung or died");
	}
	row_send(&r);
}

void part_rights(void)
{
	static const char *const id[] = { "pm.passes" };
	struct pm pm;
	struct row r;
	int rc;

	ask_rights();
	if (!begin(id, 1))
		return;
	rc = pm_open(&pm, MS, HARDWARE_BYTES, IMAGE_SAMPLES);
	if (rc) {
		refuse("pm.passes", &pm, rc);
	} else {
		row_begin(&r, "pm.passes", "");
		row_answer(&r,
			   "%zu pass%s; configuration %zu bytes, %zu bytes for each sample of "
			   "the image",
			   pm.passes, pm.passes == 1 ? "" : "es", pm.config_bytes,
			   pm.data_bytes / IMAGE_SAMPLES);
		row_figure(&r, "passes", (int64_t)pm.passes);
		row_figure(&r, "config_bytes", (int64_t)pm.config_bytes);
		row_figure(&r, "image_bytes", (int64_t)pm.data_bytes);
		row_figure(&r, "sample_bytes", (int64_t)(pm.data_bytes / IMAGE_SAMPLES));
		row_send(&r);
	}
	pm_close(&pm);
}

/* ---- samples and their truth ---- */

static void tell_lengths(struct row *r, int64_t interval)
{
	struct samples_odd odd = samples_odd(samples, n_samples, interval);

	if (odd.n)
		row_answer(r, "; %zu not as long as the interval, %lld us together", odd.n,
			   (long long)(odd.ns / 1000));
	row_figure(r, "odd", (int64_t)odd.n);
	row_figure(r, "odd_us", odd.ns / 1000);
	row_figure(r, "first_us", odd.first_ns / 1000);
	row_figure(r, "dark", (int64_t)odd.dark);
}

static void tell_samples(const char *id, const struct pm *pm, int64_t interval, int64_t took,
			 int64_t launched, int64_t busy)
{
	int64_t expected = took / interval, truth = fig_per(busy * 100000, took);
	int64_t seen = samples_mean(samples, n_samples, interval, PM_BUSY);
	int64_t launches = samples_total(samples, n_samples, PM_LAUNCHES);
	int64_t decode = fig_per(pm->decode_cpu_ns, (int64_t)n_samples);
	int64_t evaluate = fig_per(pm->evaluate_cpu_ns, (int64_t)n_samples);
	struct row r;

	row_begin(&r, id, "");
	row_answer(&r,
		   "%zu samples of %lld; busy %lld of %lld (thousandths of a percent), %lld of "
		   "%lld launches; %lld ns to decode one, %lld to evaluate it",
		   n_samples, (long long)expected, (long long)seen, (long long)truth,
		   (long long)launches, (long long)launched, (long long)decode,
		   (long long)evaluate);
	tell_lengths(&r, interval);
	row_figure(&r, "samples", (int64_t)n_samples);
	row_figure(&r, "expected", expected);
	row_figure(&r, "overflows", (int64_t)pm->overflows);
	row_figure(&r, "busy", seen);
	row_figure(&r, "busy_of_all", samples_mean_of_all(samples, n_samples, PM_BUSY));
	row_figure(&r, "sms", samples_mean(samples, n_samples, interval, PM_SMS));
	row_figure(&r, "truth", truth);
	row_figure(&r, "launches_seen", launches);
	row_figure(&r, "launches", launched);
	row_figure(&r, "decode_ns", decode);
	row_figure(&r, "evaluate_ns", evaluate);
	row_figure(&r, "gpc_mhz",
		   samples_mean(samples, n_samples, interval, PM_HERTZ) / 1000000000);
	row_figure(&r, "start_us", pm->start_ns / 1000);
	row_figure(&r, "stop_us", pm->stop_ns / 1000);
	row_figure(&r, "reason", pm->reason);
	row_send(&r);
}

static int sample_load(struct pm *pm, struct load *load, int64_t ns, int64_t *took)
{
	int64_t begin_ns;
	int rc = pm_start(pm), stop;

	if (rc)
		return rc;
	begin_ns = mono_ns();
	load_run(load, KERNEL_NS, PERIOD_NS, (int)drv_blocks());
	rc = drain_for(pm, ns);
	load_rest(load);
	sleep_ns(5 * MS);
	stop = pm_stop(pm);
	*took = mono_ns() - begin_ns;
	return rc ? rc : stop ? stop : drain_rest(pm);
}

static void ask_interval(const char *id, struct load *load, int64_t interval)
{
	int64_t launched = atomic_load(&load->launches), busy = load_busy(load);
	int64_t took = 0;
	struct pm pm;
	int rc = pm_open(&pm, (uint64_t)interval, HARDWARE_BYTES, IMAGE_SAMPLES);

	n_samples = 0;
	if (!rc)
		rc = sample_load(&pm, load, scaled(2 * SECOND), &took);
	if (rc)
		refuse(id, &pm, rc);
	else
		tell_samples(id, &pm, interval, took, atomic_load(&load->launches) - launched,
			     load_busy(load) - busy);
	pm_close(&pm);
}

/*
 * Where a kernel of 20 ms begins and ends by the samples, less the host's clock around it. The
 * share of the first and the last busy sample says where in it the edge lies.
 */
static bool edges(int64_t before, int64_t after, int64_t *begin_off, int64_t *end_off)
{
	const struct pm_sample *first = NULL, *last = NULL;
	size_t i;

	for (i = 0; i < n_samples; i++)
		if (samples[i].value[PM_BUSY] > 5) {
			first = first ? first : &samples[i];
			last = &samples[i];
		}
	if (!first || first == last)
		return false;
	*begin_off = (int64_t)first->end - before -
		     (int64_t)((double)(first->end - first->start) * first->value[PM_BUSY] / 100);
	*end_off = (int64_t)last->start - after +
		   (int64_t)((double)(last->end - last->start) * last->value[PM_BUSY] / 100);
	return true;
}

static bool one_edge(struct pm *pm, int64_t *begin_off, int64_t *end_off)
{
	int64_t before, after;

	n_samples = 0;
	sleep_ns(10 * MS);
	pm_drain(pm, samples, &n_samples, ROOM);
	n_samples = 0;
	before = real_ns();
	drv_spin(20 * MS, drv_blocks());
	drv_wait();
	after = real_ns();
	sleep_ns(20 * MS);
	return !pm_drain(pm, samples, &n_samples, ROOM) && edges(before, after, begin_off, end_off);
}

static void ask_stamps(void)
{
	int64_t begins[20], ends[20];
	size_t n = 0, turns = probe.quick ? 4 : 20, i;
	struct spread b, e;
	struct pm pm;
	struct row r;
	int rc = pm_open(&pm, 100000, HARDWARE_BYTES, IMAGE_SAMPLES);

	if (!rc)
		rc = pm_start(&pm);
	for (i = 0; !rc && i < turns; i++)
		n += one_edge(&pm, &begins[n], &ends[n]);
	if (rc) {
		refuse("pm.stamps", &pm, rc);
	} else if (!n) {
		row_skip("pm.stamps", "no kernel was found in the samples");
	} else {
		b = fig_spread(begins, n);
		e = fig_spread(ends, n);
		row_begin(&r, "pm.stamps", "ns");
		row_answer(&r, "a kernel begins %+lld after the call and ends %+lld after the wait",
			   (long long)b.median, (long long)e.median);
		row_figures(&r, "end", &e);
		row_figures(&r, "begin", &b);
		row_figure(&r, "interval", 100000);
		row_send(&r);
	}
	if (!rc)
		pm_stop(&pm);
	pm_close(&pm);
}

void part_samples(void)
{
	static const char *const id[] = { "pm.10ms", "pm.1ms", "pm.100us", "pm.stamps" };
	struct load *load;

	if (!begin(id, LENGTH(id)))
		return;
	load = load_thread();
	if (!load || !load_ready(load, 5 * SECOND)) {
		row_skip("pm.1ms", "no thread for the load");
		return;
	}
	ask_interval("pm.1ms", load, MS);
	ask_interval("pm.10ms", load, 10 * MS);
	ask_interval("pm.100us", load, MS / 10);
	ask_stamps();
}

/* ---- clocks and cost ---- */

/* As the SM clock is, median of some readings while the load goes on. */
static int64_t clock_now(void)
{
	int64_t mhz[9];
	size_t i;

	for (i = 0; i < LENGTH(mhz); i++) {
		mhz[i] = nvml_sm_mhz();
		sleep_ns(scaled(20 * MS));
	}
	return fig_quantile(mhz, LENGTH(mhz), 500);
}

enum {
	BEFORE,
	ENABLED,
	DURING,
	STOPPED,
	AFTER,
	MOMENTS
};

static void both_clocks(struct load *load, int64_t idle[], int64_t busy[], int moment)
{
	load_rest(load);
	sleep_ns(scaled(300 * MS));
	idle[moment] = clock_now();
	load_run(load, 5 * MS, 0, (int)drv_blocks());
	sleep_ns(scaled(300 * MS));
	busy[moment] = clock_now();
	load_rest(load);
}

static unsigned long long reasons_now(void)
{
	unsigned long long reasons = 0;

	if (nvml.DeviceGetCurrentClocksEventReasons)
		nvml.DeviceGetCurrentClocksEventReasons(nvml_device, &reasons);
	return reasons;
}

static void tell_clocks(const int64_t idle[], const int64_t busy[], unsigned long long reasons)
{
	static const char *const names[MOMENTS] = { "before", "enabled", "during", "stopped",
						    "after" };
	char figure[40];
	struct row r;
	int i;

	row_begin(&r, "pm.clocks", "MHz, at rest and under load");
	for (i = 0; i < MOMENTS; i++) {
		row_answer(&r, "%s%s %lld and %lld", i ? ", " : "", names[i], (long long)idle[i],
			   (long long)busy[i]);
		snprintf(figure, sizeof figure, "%s_idle", names[i]);
		row_figure(&r, figure, idle[i]);
		snprintf(figure, sizeof figure, "%s_busy", names[i]);
		row_figure(&r, figure, busy[i]);
	}
	row_answer(&r, "; reasons during 0x%llx", reasons);
	row_figure(&r, "reasons", (int64_t)reasons);
	row_send(&r);
}

static void ask_clocks(struct load *load)
{
	int64_t idle[MOMENTS], busy[MOMENTS];
	unsigned long long reasons;
	struct pm pm;
	int rc = nvml_begin();

	if (rc) {
		row_skip("pm.clocks", "NVML: %s (%d)", nvml_words(rc), rc);
		return;
	}
	both_clocks(load, idle, busy, BEFORE);
	rc = pm_open(&pm, MS, HARDWARE_BYTES, IMAGE_SAMPLES);
	if (!rc) {
		both_clocks(load, idle, busy, ENABLED);
		rc = pm_start(&pm);
	}
	if (rc) {
		refuse("pm.clocks", &pm, rc);
		pm_close(&pm);
		return;
	}
	both_clocks(load, idle, busy, DURING);
	reasons = reasons_now();
	pm_stop(&pm);
	both_clocks(load, idle, busy, STOPPED);
	pm_close(&pm);
	both_clocks(load, idle, busy, AFTER);
	tell_clocks(idle, busy, reasons);
}

static int64_t turns_of_a_kernel;

/* Turns that take about half a millisecond at the clock of now. */
static void calibrate(void)
{
	int64_t best = INT64_MAX, i;

	for (i = 0; i < 8; i++) {
		int64_t begin_ns = mono_ns();

		drv_turns(20000, drv_blocks());
		drv_wait();
		best = mono_ns() - begin_ns < best ? mono_ns() - begin_ns : best;
	}
	turns_of_a_kernel = best > 0 ? (int64_t)20000 * 500000 / best : 20000;
}

/* A step of 20 kernels whose length follows the clock. */
static int64_t bound_step(void)
{
	int64_t begin_ns = mono_ns();
	int i;

	for (i = 0; i < 20; i++)
		drv_turns(turns_of_a_kernel, drv_blocks());
	drv_wait();
	return mono_ns() - begin_ns;
}

static int64_t launch_step(void)
{
	int64_t begin_ns = mono_ns(), took;
	int i;

	for (i = 0; i < 256; i++)
		drv_spin(0, 1);
	took = mono_ns() - begin_ns;
	drv_wait();
	return took / 256;
}

static int64_t median_of(int64_t (*step)(void), int64_t ns)
{
	int64_t times[256], end = mono_ns() + ns;
	size_t n = 0;

	step();
	while (n < LENGTH(times) && (n < 3 || mono_ns() < end))
		times[n++] = step();
	return fig_quantile(times, n, 500);
}

static void tell_cost(const char *id, const char *unit, const int64_t *on, const int64_t *off,
		      size_t n)
{
	struct spread base = fig_spread(off, n), ratio = fig_ratio(on, off, n);
	struct row r;

	if (!n) {
		row_skip(id, "no round was played");
		return;
	}
	row_begin(&r, id, unit);
	row_answer(&r, "%lld without, %+lld thousandths of a percent while sampling",
		   (long long)base.median, (long long)ratio.median);
	row_figures(&r, "without", &base);
	row_figures(&r, "millipercent", &ratio);
	row_figure(&r, "over", fig_over(on, off, n).median);
	row_send(&r);
}

/* Rounds with and without, the session drained meanwhile as a tool would. */
static void ask_cost(void)
{
	int64_t bound[2][10], launch[2][10], block = scaled(300 * MS);
	size_t n, rounds = probe.quick ? 3 : 8;
	struct pm pm;
	int rc = 0;

	calibrate();
	for (n = 0; n < rounds && left_ns() > 4 * SECOND; n++) {
		bound[0][n] = median_of(bound_step, block);
		launch[0][n] = median_of(launch_step, block);
		rc = pm_open(&pm, MS, HARDWARE_BYTES, IMAGE_SAMPLES);
		if (!rc)
			rc = pm_start(&pm);
		if (rc) {
			refuse("pm.bound", &pm, rc);
			refuse("pm.launch", &pm, rc);
			pm_close(&pm);
			return;
		}
		bound[1][n] = median_of(bound_step, block);
		launch[1][n] = median_of(launch_step, block);
		n_samples = 0;
		pm_drain(&pm, samples, &n_samples, ROOM);
		pm_stop(&pm);
		pm_close(&pm);
	}
	tell_cost("pm.bound", "ns per step of 20 kernels", bound[1], bound[0], n);
	tell_cost("pm.launch", "ns per launch", launch[1], launch[0], n);
}

void part_clocks(void)
{
	static const char *const id[] = { "pm.clocks", "pm.bound", "pm.launch" };
	struct load *load;

	if (!begin(id, LENGTH(id)))
		return;
	load = load_thread();
	if (load && load_ready(load, 5 * SECOND))
		ask_clocks(load);
	ask_cost();
}

/* ---- beside our kinds ---- */

/* What one run gave. */
struct beside {
	int rc;
	int64_t samples, busy, truth, odd_us, records, launches;
};

/* order: 0 kinds first, 1 sampling first. */
static void run_beside(struct load *load, int order, struct beside *b)
{
	uint64_t records = cupti_seen().records[KIND_KERNEL];
	int64_t launches = atomic_load(&load->launches), busy = load_busy(load), took = 0;
	struct pm pm = { 0 };
	int rc = 0;

	n_samples = 0;
	if (!order)
		rc = cupti_switch(cupti_all, true);
	if (!rc)
		rc = pm_open(&pm, MS, HARDWARE_BYTES, IMAGE_SAMPLES);
	if (!rc && order)
		rc = cupti_switch(cupti_all, true);
	if (!rc)
		rc = sample_load(&pm, load, scaled(SECOND), &took);
	pm_close(&pm);
	cupti_fetch();
	cupti_switch(cupti_all, false);
	b->rc = rc;
	b->samples = (int64_t)n_samples;
	b->busy = samples_mean(samples, n_samples, MS, PM_BUSY);
	b->truth = fig_per((load_busy(load) - busy) * 100000, took);
	b->odd_us = samples_odd(samples, n_samples, MS).ns / 1000;
	b->records = (int64_t)(cupti_seen().records[KIND_KERNEL] - records);
	b->launches = atomic_load(&load->launches) - launches;
}

static int64_t or_none(int64_t value)
{
	return value == FIG_UNKNOWN ? -1 : value;
}

static void tell_beside(struct row *r, const char *order, const struct beside *b)
{
	const struct {
		const char *name;
		int64_t value;
	} figures[] = {
		{ "rc", b->rc },
		{ "samples", b->samples },
		{ "busy", b->busy },
		{ "truth", b->truth },
		{ "odd_us", b->odd_us },
		{ "records", b->records },
		{ "launches", b->launches },
	};
	char name[40];
	size_t i;

	row_answer(
		r,
		"%s first: result %d, %lld samples, busy %lld of %lld, %lld records of %lld launches",
		order, b->rc, (long long)b->samples, (long long)or_none(b->busy),
		(long long)or_none(b->truth), (long long)b->records, (long long)b->launches);
	for (i = 0; i < LENGTH(figures); i++) {
		snprintf(name, sizeof name, "%s_first_%s", order, figures[i].name);
		row_figure(r, name, figures[i].value);
	}
}

void part_beside(void)
{
	static const char *const id[] = { "pm.beside" };
	static const char *const orders[] = { "kinds", "sampling" };
	struct beside b;
	struct load *load;
	struct row r;
	int i;

	if (!begin(id, 1))
		return;
	load = load_thread();
	if (!load || !load_ready(load, 5 * SECOND) || cupti_begin(true)) {
		row_skip("pm.beside", "no load or no buffers");
		return;
	}
	row_begin(&r, "pm.beside", "");
	for (i = 0; i < 2; i++) {
		run_beside(load, i, &b);
		row_answer(&r, "%s", i ? "; " : "");
		tell_beside(&r, orders[i], &b);
	}
	row_figure(&r, "dropped", (int64_t)cupti_dropped());
	row_send(&r);
}

/* ---- other processes ---- */

static void ask_process(struct load *load)
{
	int64_t began = atomic_load(&load->launches), busy = load_busy(load), took = 0;
	struct pm pm;
	int rc = pm_open(&pm, MS, HARDWARE_BYTES, IMAGE_SAMPLES);

	n_samples = 0;
	if (!rc)
		rc = sample_load(&pm, load, scaled(SECOND), &took);
	if (rc)
		refuse("pm.process", &pm, rc);
	else
		tell_samples("pm.process", &pm, MS, took, atomic_load(&load->launches) - began,
			     load_busy(load) - busy);
	pm_close(&pm);
}

/* Another process that opens a session when it is told to. */
struct second {
	atomic_int order, done;
	char said[600];
};

static pid_t begin_second(struct second *s)
{
	pid_t pid = child_begin();
	int fds[2];

	if (pid)
		return pid;
	while (!atomic_load(&s->order))
		sleep_ns(MS);
	if (!pipe(fds)) {
		try_session(fds[1], NULL);
		close(fds[1]);
		if (read(fds[0], s->said, sizeof s->said - 1) > 0)
			atomic_store(&s->done, 1);
	}
	_exit(0);
}

static void ask_twice(struct second *s, pid_t pid)
{
	struct pm pm;
	struct row r;
	int rc = pm_open(&pm, MS, HARDWARE_BYTES, IMAGE_SAMPLES);

	if (!rc)
		rc = pm_start(&pm);
	if (rc) {
		refuse("pm.twice", &pm, rc);
		pm_close(&pm);
		return;
	}
	atomic_store(&s->order, 1);
	child_end(pid, 5 * SECOND);
	n_samples = 0;
	sleep_ns(20 * MS);
	rc = pm_drain(&pm, samples, &n_samples, ROOM);
	row_begin(&r, "pm.twice", "CUPTI result");
	row_answer(&r, "the second: %s; the first goes on with %zu samples (%d)",
		   atomic_load(&s->done) ? s->said : "it hung or died", n_samples, rc);
	if (atomic_load(&s->done))
		row_figure(&r, "second", strtol(s->said, NULL, 10));
	row_figure(&r, "first", rc);
	row_figure(&r, "first_samples", (int64_t)n_samples);
	row_send(&r);
	pm_stop(&pm);
	pm_close(&pm);
}

void part_shared(void)
{
	static const char *const id[] = { "pm.process", "pm.twice" };
	/* Before a library of NVIDIA's is in this process: both are forked from it. */
	struct second *second = shared_memory(sizeof *second);
	pid_t pid, other = second ? begin_second(second) : -1;
	struct load *load = load_process(&pid);

	if (!begin(id, LENGTH(id)))
		return;
	if (load) {
		atomic_store(&load->order, LOAD_BEGIN);
		if (load_ready(load, 8 * SECOND))
			ask_process(load);
		else
			row_skip("pm.process", "the other process did not begin");
		atomic_store(&load->order, LOAD_END);
		child_end(pid, 2 * SECOND);
	}
	if (other > 0)
		ask_twice(second, other);
}
