/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm.c - sampling counters at a fixed interval, out of the model's own busy time. A sample is made
 * when it is decoded. One session per device and process; the hardware buffer holds so many samples
 * as its bytes allow, and what is not fetched by then is lost.
 */
#include "pm.h"

#if SIM_CUPTI_API >= 24

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../busy.h"
#include "../clock.h"
#include "records.h"
#include "timebase.h"

#define SAMPLE_BYTES 128 /* of the hardware buffer that a sample takes */
#define PM_TYPE 1
#define PM_MAGIC 0x6d70u
#define GPC_HZ 1980e6
#define HISTORY_NS (SIM_PAST_NS - 1000000000u) /* that the model surely remembers */

enum {
	REASON_OTHER,
	REASON_FULL,
	REASON_END
};

struct session {
	struct sim_device *device;
	bool open, started, begun; /* begun: a sample has been made */
	uint64_t interval, capacity, stopped;
	uint64_t next; /* start of the next sample */
};

struct sample {
	uint64_t start, end; /* as stamped */
	uint64_t said_ns, counted_ns; /* between the stamps; for which it has counted */
	struct sim_busy busy;
};

/* The counter data image of the client. */
struct image {
	uint32_t magic, room, n, pad;
	struct sample sample[];
};

/* The config image: nothing in it but that it is ours. */
struct config_image {
	uint32_t magic, metrics;
};

static struct session sessions[SIM_MAX_DEVICES];
static uint32_t host_metrics; /* added to the one host object there is */
static uint64_t profiling_since; /* when the profiler was first initialised; 0: not yet */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *script(void)
{
	const char *v = getenv("GPUSIM_PM");

	return v ? v : "";
}

/* "NAME=NS" of the script, that many times, of the calling thread's own time. */
static void cost_of(const char *name, uint64_t times)
{
	const char *at = strstr(script(), name);
	uint64_t end = at ? cpu_ns() + times * strtoull(at + strlen(name), NULL, 10) : 0;

	while (at && cpu_ns() < end)
		;
}

static int permitted(void)
{
	if (!strcmp(script(), "denied") || (!strcmp(script(), "root") && geteuid()))
		return CUPTI_INSUFFICIENT_PRIVILEGES;
	return CUPTI_OK;
}

/* ---- the host's half: names, and images of them ---- */

int cuptiProfilerInitialize(struct pm_plain *p)
{
	if (!p || p->size < sizeof *p)
		return CUPTI_INVALID_PARAMETER;
	if (!profiling_since)
		profiling_since = sim_now();
	return api_need_driver();
}

int cuptiProfilerDeInitialize(struct pm_plain *p)
{
	return p ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

int cuptiDeviceGetChipName(struct pm_chip *p)
{
	int rc = api_need_driver();

	if (rc)
		return rc;
	if (p->device >= rec_driver->device_count())
		return CUPTI_INVALID_PARAMETER;
	p->name = "GH100";
	return CUPTI_OK;
}

int cuptiProfilerHostInitialize(struct pm_host_begin *p)
{
	if (p->type != PM_TYPE || !p->chip)
		return CUPTI_INVALID_PARAMETER;
	host_metrics = 0;
	p->host = &host_metrics;
	return CUPTI_OK;
}

int cuptiProfilerHostDeinitialize(struct pm_host *p)
{
	return p->host == &host_metrics ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

static double percent(const struct sample *s, uint64_t ns)
{
	double value = s ? 100 * (double)ns / (double)s->counted_ns : 0;

	return value < 100 ? value : 100;
}

/* The value of one metric; false: the model does not know it. */
static bool evaluate(const char *name, const struct sample *s, double *value)
{
	struct sim_busy busy = s ? s->busy : (struct sim_busy){ 0 };

	if (strstr(name, "gr__cycles_active"))
		*value = percent(s, busy.engine_ns);
	else if (strstr(name, "sm__cycles_active"))
		*value = percent(s, busy.sm_ns);
	else if (strstr(name, "gr__dispatch_count"))
		*value = (double)busy.launches;
	else if (strstr(name, "gpc__cycles_elapsed.avg.per_second"))
		*value = s ? GPC_HZ * (double)s->counted_ns / (double)s->said_ns : 0;
	else
		return false;
	return true;
}

int cuptiProfilerHostConfigAddMetrics(struct pm_host_metrics *p)
{
	double value;
	size_t i;

	if (p->host != &host_metrics || !p->count)
		return CUPTI_INVALID_PARAMETER;
	for (i = 0; i < p->count; i++)
		if (!evaluate(p->names[i], NULL, &value))
			return CUPTI_INVALID_PARAMETER;
	host_metrics += (uint32_t)p->count;
	return CUPTI_OK;
}

int cuptiProfilerHostGetConfigImageSize(struct pm_host_image_size *p)
{
	p->bytes = sizeof(struct config_image);
	return p->host == &host_metrics ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

int cuptiProfilerHostGetConfigImage(struct pm_host_image *p)
{
	struct config_image image = { PM_MAGIC, host_metrics };

	if (p->host != &host_metrics || p->bytes < sizeof image)
		return CUPTI_INVALID_PARAMETER;
	memcpy(p->image, &image, sizeof image);
	return CUPTI_OK;
}

int cuptiProfilerHostGetNumOfPasses(struct pm_host_passes *p)
{
	p->passes = 1;
	return CUPTI_OK;
}

int cuptiProfilerHostEvaluateToGpuValues(struct pm_host_evaluate *p)
{
	const struct image *image = (const void *)p->image;
	size_t i;

	if (p->host != &host_metrics || image->magic != PM_MAGIC || p->index >= image->n)
		return CUPTI_INVALID_PARAMETER;
	for (i = 0; i < p->count; i++)
		if (!evaluate(p->names[i], &image->sample[p->index], &p->values[i]))
			return CUPTI_INVALID_PARAMETER;
	cost_of("evaluate=", 1);
	return CUPTI_OK;
}

/* ---- the device's half ---- */

int cuptiPmSamplingGetCounterAvailability(struct pm_available *p)
{
	int rc = api_need_driver();

	if (!rc)
		rc = permitted();
	if (!rc && p->device >= rec_driver->device_count())
		rc = CUPTI_INVALID_PARAMETER;
	if (!rc)
		p->bytes = 64;
	if (!rc && p->image)
		memset(p->image, 1, p->bytes);
	return rc;
}

int cuptiPmSamplingEnable(struct pm_enable *p)
{
	struct session *s;
	int rc = api_need_driver();

	if (!rc)
		rc = permitted();
	if (rc)
		return rc;
	if (p->device >= rec_driver->device_count() || !sim_shm())
		return CUPTI_INVALID_PARAMETER;
	s = &sessions[p->device];
	if (s->open)
		return CUPTI_INVALID_PARAMETER;
	*s = (struct session){ .open = true };
	s->device = &sim_shm()->device[rec_driver->device_physical((uint32_t)p->device)];
	p->object = s;
	return CUPTI_OK;
}

static struct session *session_of(void *object)
{
	struct session *s = object;

	return s >= sessions && s < sessions + SIM_MAX_DEVICES && s->open ? s : NULL;
}

int cuptiPmSamplingSetConfig(struct pm_config *p)
{
	const struct config_image *image = (const void *)p->image;
	struct session *s = session_of(p->object);

	if (!s || s->started || !image || image->magic != PM_MAGIC || p->trigger != 1 ||
	    !p->interval || p->hardware_bytes < SAMPLE_BYTES)
		return CUPTI_INVALID_PARAMETER;
	s->interval = p->interval;
	s->capacity = p->hardware_bytes / SAMPLE_BYTES;
	return CUPTI_OK;
}

int cuptiPmSamplingGetCounterDataSize(struct pm_data_size *p)
{
	if (!session_of(p->object) || !p->samples)
		return CUPTI_INVALID_PARAMETER;
	p->bytes = sizeof(struct image) + p->samples * sizeof(struct sample);
	return CUPTI_OK;
}

int cuptiPmSamplingCounterDataImageInitialize(struct pm_data_begin *p)
{
	struct image *image = (void *)p->image;

	if (!session_of(p->object) || p->bytes < sizeof *image)
		return CUPTI_INVALID_PARAMETER;
	*image = (struct image){ PM_MAGIC,
				 (uint32_t)((p->bytes - sizeof *image) / sizeof(struct sample)), 0,
				 0 };
	return CUPTI_OK;
}

static void set_clocks(struct session *s, bool sampling)
{
	const char *mhz = strstr(script(), "clocks=");

	if (mhz)
		s->device->sampled_mhz =
			sampling ? (uint32_t)strtoul(mhz + strlen("clocks="), NULL, 10) : 0;
}

int cuptiPmSamplingStart(struct pm_object *p)
{
	struct session *s = session_of(p->object);

	if (!s || !s->interval || s->started)
		return CUPTI_INVALID_PARAMETER;
	while (!strcmp(script(), "hang"))
		pause();
	s->started = true;
	s->begun = false;
	s->next = sim_now();
	set_clocks(s, true);
	return CUPTI_OK;
}

int cuptiPmSamplingStop(struct pm_object *p)
{
	struct session *s = session_of(p->object);

	if (!s || !s->started)
		return CUPTI_INVALID_PARAMETER;
	s->started = false;
	s->stopped = sim_now();
	set_clocks(s, false);
	return CUPTI_OK;
}

int cuptiPmSamplingDisable(struct pm_object *p)
{
	struct session *s = session_of(p->object);

	if (!s)
		return CUPTI_INVALID_PARAMETER;
	if (s->started)
		set_clocks(s, false);
	s->open = s->started = false;
	return CUPTI_OK;
}

/* What the ring has overwritten, or the model forgotten, is gone. */
static bool skip_lost(struct session *s, uint64_t now)
{
	uint64_t kept = s->capacity * s->interval, lost;

	if (kept > HISTORY_NS)
		kept = HISTORY_NS;
	if (s->next + kept >= now)
		return false;
	lost = (now - kept - s->next + s->interval - 1) / s->interval;
	s->next += lost * s->interval;
	return true;
}

/*
 * The session's next. Its first is stamped to begin when the profiler was first initialised in the
 * process, while its counters have counted for the interval.
 */
static void make_sample(struct session *s, struct sample *one)
{
	uint64_t end = s->next + s->interval, start = s->begun ? s->next : profiling_since;

	one->start = timebase_stamp(start);
	one->end = timebase_stamp(end);
	one->said_ns = end - start;
	one->counted_ns = s->interval;
	one->busy = sim_busy_between(s->device, s->next, end, SIM_ANYBODY);
	s->begun = true;
	s->next = end;
}

int cuptiPmSamplingDecodeData(struct pm_decode *p)
{
	struct session *s = session_of(p->object);
	struct image *image = (void *)p->image;
	uint64_t now = s && !s->started ? s->stopped : sim_now();
	uint32_t before;

	if (!s || !image || image->magic != PM_MAGIC)
		return CUPTI_INVALID_PARAMETER;
	p->overflow = skip_lost(s, now);
	before = image->n;
	for (; s->next + s->interval <= now && image->n < image->room; image->n++)
		make_sample(s, &image->sample[image->n]);
	cost_of("call=", 1);
	cost_of("decode=", image->n - before);
	p->reason = image->n == image->room ? REASON_FULL : REASON_END;
	return CUPTI_OK;
}

int cuptiPmSamplingGetCounterDataInfo(struct pm_data_info *p)
{
	const struct image *image = (const void *)p->image;

	if (!image || image->magic != PM_MAGIC)
		return CUPTI_INVALID_PARAMETER;
	p->total = image->room;
	p->populated = p->completed = image->n;
	return CUPTI_OK;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct pm_sample_info *p)
{
	const struct image *image = (const void *)p->image;

	if (!image || image->magic != PM_MAGIC || p->index >= image->n)
		return CUPTI_INVALID_PARAMETER;
	p->start = image->sample[p->index].start;
	p->end = image->sample[p->index].end;
	return CUPTI_OK;
}

#endif
