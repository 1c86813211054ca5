/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPM's values are differences between two samples, which are kept: the later one is the next
 * one's earlier. The driver's are a ring of percentages, of which the new ones are averaged.
 */
#include "meter.h"

#include <stddef.h>
#include <string.h>

#include "core/clockpoll.h"
#include "devices.h"
#include "nvmlcall.h"

#define APART_NS 200000000 /* GPM's values are as of some 100 ms */
#define FAILURES 3 /* in a row, then it is asked no more */
#define INVALID_ARGUMENT 2 /* NVML's results */
#define NOT_SUPPORTED 3
#define NO_PERMISSION 4
#define NOT_FOUND 6
#define NO_FUNCTION 13
#define UTILIZATION_SAMPLES 1
#define VALUE_DOUBLE 0
#define VALUE_UNSIGNED 1
#define RING 256 /* samples of it; 71 were seen at most */
#define LATE_NS 5000000000 /* a stamp of the ring that is older is on a clock that we do not know */

struct device {
	enum prof_meter_source source;
	unsigned int failures;
	/* GPM */
	void *earlier, *later;
	int64_t taken_ns; /* when the earlier one was, monotonic; 0: not */
	uint32_t wanted; /* values that are not known to be missing */
	/* the ring */
	uint64_t newest_us;
};

static struct device devices[PROF_DEVICES_MAX];
static struct nvml_gpm_metrics
	metrics; /* large; of pages that are not there before they are used */
static struct nvml_sample ring[RING];

/* ---- what a device has ---- */

static bool gpm_is_there(const struct prof_device *d)
{
	const struct prof_nvml *n = prof_nvmlcall();

	return n && n->GpmQueryDeviceSupport && n->GpmSampleAlloc && n->GpmSampleFree &&
	       n->GpmMetricsGet &&
	       (d->nvml_gpu ? n->GpmMigSampleGet != NULL : n->GpmSampleGet != NULL) &&
	       (!d->nvml_gpu || d->whole_instance);
}

static bool ring_is_there(const struct prof_device *d)
{
	return prof_nvmlcall() && prof_nvmlcall()->DeviceGetSamples && !d->nvml_gpu;
}

/* Not GPM, or no more of it. */
static void use_ring(struct device *m, const struct prof_device *d)
{
	m->source = ring_is_there(d) ? PROF_METER_SAMPLES : PROF_METER_NONE;
	m->failures = 0;
}

/* Is it over with what was asked? -1: it was not. */
static bool failed(struct device *m, int rc)
{
	if (rc < 0)
		return false;
	m->failures++;
	return rc == NOT_SUPPORTED || rc == NO_PERMISSION || rc == NO_FUNCTION ||
	       rc == INVALID_ARGUMENT || m->failures >= FAILURES;
}

static int gpm_begin(struct device *m, const struct prof_device *d)
{
	struct nvml_gpm_support support = { .version = 1 };
	int rc = PROF_NVML(GpmQueryDeviceSupport, d->nvml_gpu ? d->nvml_gpu : d->nvml, &support);

	if (!rc && !support.supported)
		rc = NOT_SUPPORTED;
	if (!rc && !m->earlier)
		rc = PROF_NVML(GpmSampleAlloc, &m->earlier);
	if (!rc && !m->later)
		rc = PROF_NVML(GpmSampleAlloc, &m->later);
	return rc;
}

static void find_source(struct device *m, const struct prof_device *d)
{
	int rc = gpm_is_there(d) ? gpm_begin(m, d) : NO_FUNCTION;

	if (!rc) {
		m->source = PROF_METER_GPM;
		m->wanted = (1u << PROF_METERS) - 1;
		m->failures = 0;
	} else if (failed(m, rc)) {
		use_ring(m, d);
	}
}

/* ---- GPM ---- */

static int sample(const struct prof_device *d, void *into)
{
	return d->nvml_gpu ? PROF_NVML(GpmMigSampleGet, d->nvml_gpu, d->gpu_instance, into)
			   : PROF_NVML(GpmSampleGet, d->nvml, into);
}

/* False: no number that a meter shows. */
static bool convert(double v, unsigned int which, uint32_t *out)
{
	bool share = which < PROF_METER_PCIE_TX;

	if (!(v >= 0 && v < 1e9))
		return false;
	if (share)
		v = v < 100 ? v * 100 : 10000;
	*out = (uint32_t)(v + 0.5);
	return true;
}

static int ask_metrics(const struct device *m)
{
	static const uint32_t id[PROF_METERS] = { 1, 2, 3, 5, 10, 20, 21 };
	uint32_t i;

	memset(&metrics, 0, offsetof(struct nvml_gpm_metrics, metric[PROF_METERS]));
	metrics.version = 1;
	metrics.earlier = m->earlier;
	metrics.later = m->later;
	for (i = 0; i < PROF_METERS; i++)
		if (m->wanted >> i & 1)
			metrics.metric[metrics.count++].id = id[i];
	return PROF_NVML(GpmMetricsGet, &metrics);
}

/* The difference of the two samples. */
static int evaluate(struct device *m, struct prof_meter *out)
{
	uint32_t i, k = 0, had = m->wanted;
	int rc = ask_metrics(m);

	for (i = 0; !rc && i < PROF_METERS; i++) {
		const struct nvml_gpm_metric *v = &metrics.metric[k];

		if (!(had >> i & 1))
			continue;
		k++;
		if (v->result)
			m->wanted &= ~(1u << i);
		else if (convert(v->value, i, &out->value[i]))
			out->known |= 1u << i;
	}
	return rc;
}

static void swap_samples(struct device *m, int64_t taken_ns)
{
	void *was = m->earlier;

	m->earlier = m->later;
	m->later = was;
	m->taken_ns = taken_ns;
}

static bool take_gpm(struct device *m, const struct prof_device *d, struct prof_meter *out)
{
	int64_t now = prof_mono_ns();
	int rc;

	if (m->taken_ns && now - m->taken_ns < APART_NS)
		return false;
	rc = sample(d, m->later);
	now = prof_mono_ns();
	out->end_ns = prof_now_ns();
	out->span_ns = now - m->taken_ns;
	if (!rc && m->taken_ns)
		rc = evaluate(m, out);
	if (!rc) {
		swap_samples(m, now);
		m->failures = 0;
	}
	if ((rc && failed(m, rc)) || !m->wanted)
		use_ring(m, d);
	return !rc && out->known;
}

/* ---- the driver's ring ---- */

static bool percent_of(const struct nvml_sample *s, int type, uint32_t *percent)
{
	uint64_t v = type == VALUE_UNSIGNED ? s->value.count : s->value.wide;

	if (type == VALUE_DOUBLE)
		v = s->value.number >= 0 && s->value.number <= 100 ? (uint64_t)s->value.number
								   : UINT64_MAX;
	*percent = (uint32_t)v;
	return v <= 100;
}

/* What is newer than the last look; the look that finds some has the next one begin behind them. */
static bool average(struct device *m, unsigned int n, int type, struct prof_meter *out)
{
	uint64_t sum = 0, count = 0, from = m->newest_us, to = from;
	uint32_t percent;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (ring[i].us <= from)
			continue;
		if (ring[i].us > to)
			to = ring[i].us;
		if (!percent_of(&ring[i], type, &percent))
			continue;
		sum += percent;
		count++;
	}
	m->newest_us = to;
	if (!from || !count || to - from > INT64_MAX / 1000)
		return false;
	out->known = 1u << PROF_METER_BUSY;
	out->value[PROF_METER_BUSY] = (uint32_t)(sum * 100 / count);
	out->span_ns = (int64_t)(to - from) * 1000;
	return true;
}

static bool take_ring(struct device *m, const struct prof_device *d, struct prof_meter *out)
{
	unsigned int n = RING;
	int64_t late;
	int type = VALUE_UNSIGNED;
	int rc = PROF_NVML(DeviceGetSamples, d->nvml, UTILIZATION_SAMPLES, m->newest_us, &type, &n,
			   ring);

	if (!rc)
		m->failures = 0;
	else if (rc != NOT_FOUND && failed(m, rc)) /* nothing new is no failure */
		m->source = PROF_METER_NONE;
	if (rc || !average(m, n < RING ? n : RING, type, out))
		return false;
	late = (int64_t)((uint64_t)prof_realtime_ns() - m->newest_us * 1000);
	out->end_ns = prof_now_ns() - (late >= 0 && late < LATE_NS ? late : 0);
	return true;
}

bool prof_meter_take(uint32_t ordinal, struct prof_meter *out)
{
	const struct prof_device *d = prof_devices_asked(ordinal);
	struct device *m = &devices[ordinal];

	memset(out, 0, sizeof(*out));
	if (!d)
		return false;
	if (m->source == PROF_METER_UNKNOWN)
		find_source(m, d);
	out->source = m->source;
	switch (m->source) {
	case PROF_METER_GPM:
		return take_gpm(m, d, out);
	case PROF_METER_SAMPLES:
		return take_ring(m, d, out);
	default:
		return false;
	}
}

void prof_meter_free(void)
{
	uint32_t i;

	for (i = 0; i < PROF_DEVICES_MAX; i++) {
		if (devices[i].earlier)
			PROF_NVML(GpmSampleFree, devices[i].earlier);
		if (devices[i].later)
			PROF_NVML(GpmSampleFree, devices[i].later);
		devices[i] = (struct device){ .source = PROF_METER_NONE };
	}
}
