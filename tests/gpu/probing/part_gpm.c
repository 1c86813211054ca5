/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_gpm.c - step 4: what NVML knows of how busy a device is, held against a process that keeps
 * it busy for a known share of the time. GPM's values come as doubles in percent; here they are
 * thousandths of a percent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "nvml.h"
#include "probe.h"
#include "row.h"

#define WINDOWS 6
#define DUTY_PERIOD (10 * MS)
#define DUTIES 6
#define GROWTH 100000000 /* cycles */

enum {
	GRAPHICS,
	SMS,
	OCCUPANCY,
	TENSOR,
	SWITCHES,
	ELAPSED,
	ACTIVE,
	IDS
};

static const struct {
	unsigned id;
	const char *name;
} wanted[IDS] = {
	[GRAPHICS] = { 1, "id1" },   [SMS] = { 2, "id2" },	    [OCCUPANCY] = { 3, "id3" },
	[TENSOR] = { 5, "id5" },     [SWITCHES] = { 174, "id174" }, [ELAPSED] = { 248, "id248" },
	[ACTIVE] = { 249, "id249" },
};

/* What a window of a duty cycle gave. */
struct reading {
	int64_t value[IDS]; /* FIG_UNKNOWN: not to be had; of 248 and 249 the raw number */
	int result[IDS];
};

static struct gpm_metrics *get;
static void *gpm[2];

static int blocks(void)
{
	const char *v = getenv("PROBE_BLOCKS");
	int n = v ? (int)strtol(v, NULL, 10) : 0;

	return n > 0 ? n : 1;
}

static int gpm_begin(struct gpm_support *support)
{
	int rc = nvml_begin(), i;

	support->version = 1;
	if (!rc && (!nvml.GpmQueryDeviceSupport || !nvml.GpmSampleAlloc || !nvml.GpmSampleGet ||
		    !nvml.GpmMetricsGet))
		rc = NVML_NO_FUNCTION;
	if (!rc)
		rc = nvml.GpmQueryDeviceSupport(nvml_device, support);
	get = calloc(1, sizeof *get);
	for (i = 0; !rc && i < 2; i++)
		rc = nvml.GpmSampleAlloc(&gpm[i]);
	return get ? rc : -1;
}

/* The values of ids [first, first + n) between gpm[0] and gpm[1]. */
static int evaluate_some(struct reading *r, int first, int n)
{
	int rc, i;

	memset(get, 0, sizeof *get);
	get->version = 1;
	get->count = (uint32_t)n;
	get->sample1 = gpm[0];
	get->sample2 = gpm[1];
	for (i = 0; i < n; i++)
		get->metric[i].id = wanted[first + i].id;
	rc = nvml.GpmMetricsGet(get);
	for (i = 0; i < n; i++) {
		bool raw = first + i == ELAPSED || first + i == ACTIVE;
		int result = rc ? rc : get->metric[i].result;

		r->result[first + i] = result;
		r->value[first + i] =
			result ? FIG_UNKNOWN : (int64_t)(get->metric[i].value * (raw ? 1 : 1000));
	}
	return rc;
}

/* All of them; one by one where a library refuses the lot for an id that it does not know. */
static int evaluate(struct reading *r)
{
	int rc = evaluate_some(r, 0, IDS), good = 0, i;

	for (i = 0; rc && i < IDS; i++)
		good += !evaluate_some(r, i, 1);
	return good ? 0 : rc;
}

/* Two samples, `ns` apart. */
static int window(int64_t ns, struct reading *r)
{
	int rc = nvml.GpmSampleGet(nvml_device, gpm[0]);

	sleep_ns(ns);
	if (!rc)
		rc = nvml.GpmSampleGet(nvml_device, gpm[1]);
	return rc ? rc : evaluate(r);
}

/* GPM wants more than 100 ms between samples. */
static int64_t window_ns(void)
{
	return probe.quick ? 120 * MS : 200 * MS;
}

/* ---- a duty cycle ---- */

struct point {
	int64_t truth, value[IDS], ratio; /* 249 over 248 */
	int result[IDS];
	size_t n;
};

/*
 * 249 over 248 of one window. Both count since the start, or within the window where a library
 * takes the difference itself: then one window's value is about the last one's, and else it has
 * grown by a window's cycles, which are some hundred millions.
 */
static int64_t ratio_of(const struct reading *now, const struct reading *last)
{
	int64_t elapsed = now->value[ELAPSED], active = now->value[ACTIVE];

	if (now->result[ELAPSED] || now->result[ACTIVE])
		return FIG_UNKNOWN;
	if (elapsed - last->value[ELAPSED] > GROWTH) {
		elapsed -= last->value[ELAPSED];
		active -= last->value[ACTIVE];
	}
	return elapsed < 1000 ? FIG_UNKNOWN : fig_per(active * 100, elapsed / 1000);
}

/* Each window is held against what the load did in it. */
static int ask_point(struct load *load, struct point *p)
{
	int64_t values[IDS][WINDOWS], ratios[WINDOWS], truths[WINDOWS];
	struct reading r, last;
	size_t n, i, known = 0, turns = probe.quick ? 2 : WINDOWS;
	int rc = window(window_ns(), &last);

	for (n = 0; n < turns && !rc; n++) {
		int64_t busy = load_busy(load), begin = mono_ns();

		rc = window(window_ns(), &r);
		truths[n] = fig_per((load_busy(load) - busy) * 100000, mono_ns() - begin);
		for (i = 0; i < IDS; i++)
			values[i][n] = r.value[i];
		ratios[known] = rc ? FIG_UNKNOWN : ratio_of(&r, &last);
		known += ratios[known] != FIG_UNKNOWN;
		last = r;
	}
	p->truth = fig_quantile(truths, n, 500);
	p->n = n;
	for (i = 0; i < IDS; i++) {
		p->result[i] = rc ? rc : r.result[i];
		p->value[i] = p->result[i] ? FIG_UNKNOWN : fig_quantile(values[i], n, 500);
	}
	p->ratio = fig_quantile(ratios, known, 500);
	return rc;
}

static void tell_point(const char *id, const struct point *p, int rc)
{
	char name[24];
	struct row r;
	int i;

	if (rc) {
		row_skip(id, "%s (%d)", nvml_words(rc), rc);
		return;
	}
	row_begin(&r, id, "thousandths of a percent");
	row_answer(&r, "truth %lld:", (long long)p->truth);
	row_figure(&r, "truth", p->truth);
	for (i = 0; i < IDS; i++) {
		if (p->result[i])
			row_answer(&r, " %s error %d;", wanted[i].name, p->result[i]);
		else if (i != ELAPSED && i != ACTIVE)
			row_answer(&r, " %s %lld;", wanted[i].name, (long long)p->value[i]);
		row_figure(&r, wanted[i].name, p->value[i]);
		snprintf(name, sizeof name, "%s_rc", wanted[i].name);
		row_figure(&r, name, p->result[i]);
	}
	if (p->ratio != FIG_UNKNOWN)
		row_answer(&r, " 249/248 %lld", (long long)p->ratio);
	row_figure(&r, "ratio", p->ratio);
	row_figure(&r, "windows", (int64_t)p->n);
	row_spread(&r, "median of %zu windows of %lld ms", p->n, (long long)(window_ns() / MS));
	row_send(&r);
}

/* At `percent`, of so many blocks. */
static int play_duty(struct load *load, int percent, int n_blocks, struct point *p)
{
	if (!percent)
		load_rest(load);
	else if (percent == 100)
		load_run(load, DUTY_PERIOD, 0, n_blocks);
	else
		load_run(load, DUTY_PERIOD * percent / 100, DUTY_PERIOD, n_blocks);
	sleep_ns(probe.quick ? 100 * MS : 300 * MS);
	return ask_point(load, p);
}

static void tell_meaning(const char *id, const char *what, const int64_t *truth,
			 const int64_t *meter, size_t n)
{
	struct duty d = fig_duty(truth, meter, n);
	struct row r;

	if (n < 2) {
		row_skip(id, "too few values");
		return;
	}
	row_begin(&r, id, "thousandths of a percent");
	row_answer(&r, "%s tells %s: at most %lld off", what, fig_meaning(&d), (long long)d.worst);
	row_figure(&r, "worst", d.worst);
	row_figure(&r, "slope_permille", d.slope);
	row_figure(&r, "base", d.base);
	row_figure(&r, "points", (int64_t)n);
	row_send(&r);
}

static void ask_duties(struct load *load)
{
	static const struct {
		int percent;
		const char *id;
	} duties[DUTIES] = { { 0, "gpm.0" },   { 5, "gpm.5" },	 { 20, "gpm.20" },
			     { 50, "gpm.50" }, { 90, "gpm.90" }, { 100, "gpm.100" } };
	int64_t truth[3][DUTIES], meter[3][DUTIES];
	size_t n[3] = { 0 }, i, k;
	struct point p;

	for (i = 0; i < DUTIES; i++) {
		int rc = play_duty(load, duties[i].percent, blocks(), &p);
		const int64_t seen[3] = { p.value[GRAPHICS], p.value[SMS], p.ratio };

		tell_point(duties[i].id, &p, rc);
		for (k = 0; k < 3 && !rc; k++)
			if (seen[k] != FIG_UNKNOWN) {
				truth[k][n[k]] = p.truth;
				meter[k][n[k]++] = seen[k];
			}
	}
	tell_meaning("gpm.id1", "id 1", truth[0], meter[0], n[0]);
	tell_meaning("gpm.id2", "id 2", truth[1], meter[1], n[1]);
	tell_meaning("gpm.cycles", "249 over 248", truth[2], meter[2], n[2]);
}

/* ---- calls, refresh, intervals ---- */

static void ask_cost(void)
{
	int64_t sample[200], metrics[200];
	size_t n, turns = probe.quick ? 20 : 200;
	struct reading reading;
	struct spread s, m;
	struct row r;

	for (n = 0; n < turns; n++) {
		int64_t begin = mono_ns();

		nvml.GpmSampleGet(nvml_device, gpm[n % 2]);
		sample[n] = mono_ns() - begin;
		begin = mono_ns();
		evaluate(&reading);
		metrics[n] = mono_ns() - begin;
	}
	s = fig_spread(sample, n);
	m = fig_spread(metrics, n);
	row_begin(&r, "gpm.cost", "ns per call");
	row_answer(&r, "SampleGet %lld, MetricsGet of %d values %lld", (long long)s.median, IDS,
		   (long long)m.median);
	row_figures(&r, "metrics", &m);
	row_figures(&r, "sample", &s);
	row_figure(&r, "sample_most", s.most);
	row_send(&r);
}

/*
 * A sample each 10 ms: when does what it says since the start change? The work is over by then: its
 * share of the time falls from refresh to refresh, where one that goes on would stay the same.
 */
static void ask_refresh(struct load *load)
{
	static int64_t times[400], values[400];
	size_t n, turns = (size_t)scaled(300), equal = 0;
	struct reading reading;
	struct spread s;
	struct row r;

	turns = turns < 60 ? 60 : turns;
	nvml.GpmSampleGet(nvml_device, gpm[0]);
	sleep_ns(scaled(SECOND));
	load_rest(load);
	for (n = 0; n < turns; n++) {
		sleep_ns(10 * MS);
		nvml.GpmSampleGet(nvml_device, gpm[1]);
		times[n] = mono_ns();
		evaluate(&reading);
		values[n] = reading.value[GRAPHICS];
		equal += n && values[n] == values[n - 1];
	}
	s = fig_refresh(times, values, n);
	if (!s.n) {
		row_skip("gpm.refresh", "the value did not change in %zu samples", n);
		return;
	}
	row_begin(&r, "gpm.refresh", "ns between changes");
	row_answer(&r, "%lld; %zu of %zu samples said what the one before had said",
		   (long long)s.median, equal, n - 1);
	row_figures(&r, "refresh", &s);
	row_figure(&r, "equal", (int64_t)equal);
	row_figure(&r, "samples", (int64_t)n);
	row_send(&r);
}

static void ask_intervals(struct load *load)
{
	static const int64_t intervals[] = { 100, 200, 1000 };
	int64_t values[10], busy = load_busy(load), begin = mono_ns();
	struct reading reading;
	char name[24];
	struct row r;
	size_t i, n, turns;

	row_begin(&r, "gpm.intervals", "thousandths of a percent");
	for (i = 0; i < LENGTH(intervals); i++) {
		struct spread s;

		turns = probe.quick ? 1 : intervals[i] == 1000 ? 3 : 10;
		for (n = 0; n < turns; n++)
			values[n] = window(intervals[i] * MS, &reading) ? FIG_UNKNOWN
									: reading.value[GRAPHICS];
		s = fig_spread(values, n);
		if (s.least == FIG_UNKNOWN)
			continue;
		row_answer(&r, "%s%lld ms: %lld (%lld .. %lld)", i ? ", " : "",
			   (long long)intervals[i], (long long)s.median, (long long)s.least,
			   (long long)s.most);
		snprintf(name, sizeof name, "ms%lld", (long long)intervals[i]);
		row_figures(&r, name, &s);
	}
	row_figure(&r, "truth", fig_per((load_busy(load) - busy) * 100000, mono_ns() - begin));
	row_spread(&r, "least .. most of each");
	row_send(&r);
}

/* ---- rights ---- */

static void try_gpm(int fd, void *arg)
{
	struct gpm_support support;
	struct reading reading = { .result = { 0 } };
	int rc = gpm_begin(&support);

	(void)arg;
	if (!rc)
		rc = window(150 * MS, &reading);
	dprintf(fd, "%d %s, id 1 result %d", rc, rc ? nvml_words(rc) : "Success",
		reading.result[GRAPHICS]);
}

static void ask_user(void)
{
	char own[300], other[300];
	struct row r;

	if (child_text(try_gpm, NULL, true, 5 * SECOND, other, sizeof other)) {
		row_skip("gpm.user", "%s",
			 errno == EPERM ? "only root can ask" : "it hung or died");
		return;
	}
	if (child_text(try_gpm, NULL, false, 5 * SECOND, own, sizeof own))
		snprintf(own, sizeof own, "hung or died");
	row_begin(&r, "gpm.user", "NVML result");
	row_answer(&r, "as uid 65534: %s; as root: %s", other, own);
	row_figure(&r, "other", strtol(other, NULL, 10));
	row_figure(&r, "root", strtol(own, NULL, 10));
	row_send(&r);
}

/* ---- the part ---- */

static const char *const gpm_ids[] = {
	"gpm.nothing", "gpm.0",	   "gpm.5",	    "gpm.20",	  "gpm.50",	"gpm.90",
	"gpm.100",     "gpm.one",  "gpm.id1",	    "gpm.id2",	  "gpm.cycles", "gpm.cost",
	"gpm.refresh", "gpm.user", "gpm.intervals", "gpm.traced",
};

static bool supported(void)
{
	struct gpm_support support = { 0, 0 };
	int rc = gpm_begin(&support);
	struct row r;
	size_t i;

	if (!rc && support.supported) {
		row_begin(&r, "gpm.support", "");
		row_answer(&r, "yes");
		row_figure(&r, "supported", 1);
		row_send(&r);
		return true;
	}
	if (rc)
		row_skip("gpm.support", "NVML: %s (%d)", nvml_words(rc), rc);
	else {
		row_begin(&r, "gpm.support", "");
		row_answer(&r, "no: NVML says that this device has none");
		row_figure(&r, "supported", 0);
		row_send(&r);
	}
	for (i = 0; i < LENGTH(gpm_ids); i++)
		row_skip(gpm_ids[i], "GPM is not supported here");
	return false;
}

void part_gpm(void)
{
	pid_t pid, traced_pid;
	struct load *load = load_process(&pid), *traced = load_process(&traced_pid);
	struct point p;
	int rc;

	ask_user(); /* its children load NVML anew: this process must not have it yet */
	if (!load || !traced || !supported())
		return;
	rc = ask_point(load, &p);
	tell_point("gpm.nothing", &p, rc);
	atomic_store(&load->order, LOAD_BEGIN);
	if (!load_ready(load, 10 * SECOND))
		return;
	ask_duties(load);
	rc = play_duty(load, 50, 1, &p);
	tell_point("gpm.one", &p, rc);
	load_run(load, DUTY_PERIOD / 2, DUTY_PERIOD, blocks());
	sleep_ns(200 * MS);
	ask_cost();
	ask_refresh(load);
	load_run(load, DUTY_PERIOD / 2, DUTY_PERIOD, blocks());
	sleep_ns(200 * MS);
	ask_intervals(load);
	atomic_store(&load->order, LOAD_END);
	child_end(pid, 2 * SECOND);

	atomic_store(&traced->traced, 1);
	atomic_store(&traced->order, LOAD_BEGIN);
	if (!load_ready(traced, 10 * SECOND)) {
		row_skip("gpm.traced", "the traced process did not begin");
		return;
	}
	rc = play_duty(traced, 50, blocks(), &p);
	tell_point("gpm.traced", &p, rc);
}

/* ---- the driver's own meters ---- */

static void ask_samples(int64_t truth)
{
	static struct nvml_sample list[512];
	int64_t times[512], values[512], begin = mono_ns(), took;
	unsigned n = LENGTH(list), i;
	struct spread gaps, v;
	struct row r;
	int type = -1, rc;

	if (!nvml.DeviceGetSamples) {
		row_skip("nvml.samples", "this library has no nvmlDeviceGetSamples");
		return;
	}
	rc = nvml.DeviceGetSamples(nvml_device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &n, list);
	took = mono_ns() - begin;
	if (rc || n < 3) {
		row_skip("nvml.samples", "%s (%d), %u samples", nvml_words(rc), rc, rc ? 0 : n);
		return;
	}
	n = n < LENGTH(list) ? n : LENGTH(list);
	for (i = 0; i < n; i++) {
		times[i] = (int64_t)list[i].us;
		values[i] = type == 1 ? list[i].value.count : (int64_t)list[i].value.wide;
	}
	gaps = fig_gaps(times, n);
	v = fig_spread(values + (n > 4 ? n - 4 : 0), n > 4 ? 4 : n);
	row_begin(&r, "nvml.samples", "us between samples");
	row_answer(&r, "%lld, %u samples of %lld ms; the last say %lld %%, truth %lld thousandths",
		   (long long)gaps.median, n, (long long)((times[n - 1] - times[0]) / 1000),
		   (long long)v.median, (long long)truth);
	row_figures(&r, "gap", &gaps);
	row_figure(&r, "samples", n);
	row_figure(&r, "value_type", type);
	row_figure(&r, "value", v.median);
	row_figure(&r, "truth", truth);
	row_figure(&r, "call_ns", took);
	row_figure(&r, "newest_to_clock_us", real_ns() / 1000 - times[n - 1]);
	row_send(&r);
}

static void tell_processes(const struct nvml_processes *use, unsigned room, pid_t pid,
			   int64_t truth)
{
	int64_t ours = FIG_UNKNOWN;
	struct row r;
	unsigned i;

	for (i = 0; i < use->count && i < room; i++)
		if (use->list[i].pid == (uint32_t)pid)
			ours = use->list[i].sm;
	row_begin(&r, "nvml.processes", "percent");
	row_answer(&r, "%u rows of %u that there must be room for", use->count, room);
	if (ours == FIG_UNKNOWN)
		row_answer(&r, ", none of them by our pid %d", (int)pid);
	else
		row_answer(&r, "; our process %lld, truth %lld thousandths", (long long)ours,
			   (long long)truth);
	row_figure(&r, "rows", use->count);
	row_figure(&r, "room", room);
	row_figure(&r, "ours", ours);
	row_figure(&r, "truth", truth);
	row_send(&r);
}

static void ask_processes(pid_t pid, int64_t truth)
{
	struct nvml_processes use;
	unsigned room = 0;
	int rc = nvml_processes(&use, &room);

	if (rc)
		row_skip("nvml.processes", "%s (%d), room for %u", nvml_words(rc), rc, room);
	else
		tell_processes(&use, room, pid, truth);
	free(use.list);
}

static void ask_rates(int64_t truth)
{
	unsigned rates[2] = { 0, 0 };
	struct row r;
	int rc = nvml.DeviceGetUtilizationRates ? nvml.DeviceGetUtilizationRates(nvml_device, rates)
						: NVML_NO_FUNCTION;

	if (rc) {
		row_skip("nvml.rates", "%s (%d)", nvml_words(rc), rc);
		return;
	}
	row_begin(&r, "nvml.rates", "percent");
	row_answer(&r, "%u, truth %lld thousandths", rates[0], (long long)truth);
	row_figure(&r, "gpu", rates[0]);
	row_figure(&r, "truth", truth);
	row_send(&r);
}

void part_meters(void)
{
	static const char *const ids[] = { "nvml.samples", "nvml.processes", "nvml.rates" };
	int64_t busy, begin, truth;
	pid_t pid;
	struct load *load = load_process(&pid);
	size_t i;
	int rc = nvml_begin();

	for (i = 0; rc && i < LENGTH(ids); i++)
		row_skip(ids[i], "NVML: %s (%d)", nvml_words(rc), rc);
	if (rc || !load)
		return;
	atomic_store(&load->order, LOAD_BEGIN);
	if (!load_ready(load, 8 * SECOND))
		return;
	load_run(load, 3 * MS, DUTY_PERIOD, blocks());
	busy = load_busy(load);
	begin = mono_ns();
	sleep_ns(probe.quick ? 1300 * MS : 3 * SECOND);
	truth = fig_per((load_busy(load) - busy) * 100000, mono_ns() - begin);
	ask_samples(truth);
	ask_processes(pid, truth);
	ask_rates(truth);
}
