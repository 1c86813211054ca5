/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_busy.c - what the management library says of how busy a device was: GPM metrics (Hopper and
 * newer), the driver's ring of utilisation samples, utilisation by process, and clocks. All of it
 * follows from the kernels that were placed; a kernel counts as if it filled the device, and cycles
 * go at one rate.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"
#include "clock.h"
#include "config.h"
#include "nvml_device.h"

#define SM_MHZ 1980 /* boost clock of an H100 */
#define IDLE_MHZ 345
#define MEMORY_MHZ 2619
#define PERIOD_US 166667 /* between the driver's utilisation samples: a sixth of a second */
#define HISTORY_US 900000 /* of them; the real ring is longer */
#define GPU_UTILIZATION_SAMPLES 1
#define VALUE_UNSIGNED 1

/* ---- clocks ---- */

static bool in_use(const struct nvml_device *d)
{
	uint32_t device;
	int i;

	for (i = 0; i < SIM_MAX_PROCS; i++)
		if (nvml_uses(&sim_shm()->proc[i], d, &device) &&
		    sim_proc_alive(&sim_shm()->proc[i]))
			return true;
	return false;
}

static unsigned sm_mhz(const struct nvml_device *d)
{
	int unit = nvml_unit(d);
	uint32_t sampled = unit < 0 ? 0 : sim_shm()->device[unit].sampled_mhz;

	return sampled ? sampled : in_use(d) ? SM_MHZ : IDLE_MHZ;
}

int nvmlDeviceGetClockInfo(struct nvml_device *d, int type, unsigned *mhz)
{
	int rc = nvml_check(d);
	CALL(d);

	if (rc || !sim_shm())
		return rc ? rc : NVML_NOT_SUPPORTED;
	if (type < 0 || type > 3 || !mhz)
		return NVML_INVALID_ARGUMENT;
	*mhz = type == 2 ? MEMORY_MHZ : sm_mhz(d);
	return NVML_OK;
}

int nvmlDeviceGetMaxClockInfo(struct nvml_device *d, int type, unsigned *mhz)
{
	int rc = nvml_check(d);
	CALL(d);

	if (!rc && (type < 0 || type > 3 || !mhz))
		rc = NVML_INVALID_ARGUMENT;
	if (!rc)
		*mhz = type == 2 ? MEMORY_MHZ : SM_MHZ;
	return rc;
}

/* Bit 0: nothing runs; bit 1: somebody set the clocks. */
int nvmlDeviceGetCurrentClocksEventReasons(struct nvml_device *d, unsigned long long *reasons)
{
	int rc = nvml_check(d), unit;
	CALL(d);

	if (rc || !sim_shm())
		return rc ? rc : NVML_NOT_SUPPORTED;
	unit = nvml_unit(d);
	*reasons = unit >= 0 && sim_shm()->device[unit].sampled_mhz ? 2 : in_use(d) ? 0 : 1;
	return NVML_OK;
}

/* ---- the driver's ring ---- */

/* Of the period that ends at `us`. */
static unsigned percent_of(int unit, uint64_t us, int32_t owner)
{
	uint64_t from = (us - PERIOD_US) * 1000, to = us * 1000;

	return (unsigned)(100 * sim_busy_between(&sim_shm()->device[unit], from, to, owner, NULL) /
			  (to - from));
}

/* The end of the first period after this moment, and of the last before now. */
static uint64_t first_after(uint64_t us, uint64_t now_us)
{
	uint64_t oldest = now_us - HISTORY_US;

	return ((us > oldest ? us : oldest) / PERIOD_US + 1) * PERIOD_US;
}

int nvmlDeviceGetSamples(struct nvml_device *d, int type, unsigned long long since_us,
			 int *value_type, unsigned *count, struct nvml_sample *list)
{
	int rc = nvml_check(d), unit;
	uint64_t now_us, us;
	unsigned n = 0;
	CALL(d);

	if (rc)
		return rc;
	unit = d->slice ? -1 : nvml_unit(d);
	if (unit < 0 || !sim_shm() || type != GPU_UTILIZATION_SAMPLES)
		return NVML_NOT_SUPPORTED;
	if (!count || !value_type)
		return NVML_INVALID_ARGUMENT;
	now_us = sim_now() / 1000;
	*value_type = VALUE_UNSIGNED;
	for (us = first_after(since_us, now_us); us <= now_us; us += PERIOD_US, n++)
		if (list && n < *count)
			list[n] = (struct nvml_sample){
				us, { .count = percent_of(unit, us, SIM_ANYBODY) }
			};
	if (!n)
		return NVML_NOT_FOUND;
	if (list && n > *count)
		return NVML_INSUFFICIENT_SIZE;
	*count = n;
	return NVML_OK;
}

int nvmlDeviceGetProcessesUtilizationInfo(struct nvml_device *d, struct nvml_processes_use *use)
{
	int rc = nvml_check(d), unit, i;
	uint64_t us = sim_now() / 1000 / PERIOD_US * PERIOD_US;
	unsigned n = 0, room;
	CALL(d);

	if (rc)
		return rc;
	unit = d->slice ? -1 : nvml_unit(d);
	if (unit < 0 || !sim_shm())
		return NVML_NOT_SUPPORTED;
	if (!use || use->version != (sizeof *use | 1u << 24))
		return NVML_INVALID_ARGUMENT;
	room = use->list ? use->count : 0;
	for (i = 0; i < SIM_MAX_PROCS && us > use->last_seen; i++) {
		const struct sim_proc *p = &sim_shm()->proc[i];
		uint32_t device;

		if (!nvml_uses(p, d, &device) || !sim_proc_alive(p))
			continue;
		if (n < room)
			use->list[n] = (struct nvml_process_use){
				us, nvml_pid(p), percent_of(unit, us, i), 0, 0, 0, 0, 0
			};
		n++;
	}
	use->count = n;
	return !n ? NVML_NOT_FOUND : n > room ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}

/* ---- GPM ---- */

struct nvml_gpm_sample {
	uint64_t at; /* ns since the epoch, of the last refresh; 0: nothing in it */
	uint64_t up; /* ns since the node's start */
	uint64_t busy; /* ns of kernels */
};

static uint64_t refresh_ns(void)
{
	const char *v = getenv("GPUSIM_GPM_REFRESH_MS");
	uint64_t ms = v && *v ? strtoull(v, NULL, 10) : 100;

	return (ms ? ms : 1) * 1000000;
}

/* Hopper and what came after it. */
static bool has_gpm(const struct nvml_device *d)
{
	static const char *const names[] = { "H100", "H200", "H800", "H20",   "GH200",
					     "B100", "B200", "B300", "GB200", "GB300" };
	uint32_t gpu = d->slice ? sim_config()->unit[d->index].gpu : d->index;
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strstr(sim_config()->name[gpu], names[i]))
			return true;
	return false;
}

int nvmlGpmQueryDeviceSupport(struct nvml_device *d, struct nvml_gpm_support *s)
{
	int rc = nvml_check(d);
	CALL(d);

	if (!rc && (!s || s->version != 1))
		rc = NVML_INVALID_ARGUMENT;
	if (!rc)
		s->supported = has_gpm(d);
	return rc;
}

int nvmlGpmSampleAlloc(struct nvml_gpm_sample **sample)
{
	*sample = calloc(1, sizeof **sample);
	return *sample ? NVML_OK : NVML_INVALID_ARGUMENT;
}

int nvmlGpmSampleFree(struct nvml_gpm_sample *sample)
{
	free(sample);
	return NVML_OK;
}

static uint64_t up_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* GPUSIM_GPM: "off", "hang", or "root" for nobody else. */
static int permitted(void)
{
	const char *who = getenv("GPUSIM_GPM");

	while (who && !strcmp(who, "hang"))
		pause();
	if (who && !strcmp(who, "off"))
		return NVML_NOT_SUPPORTED;
	return who && !strcmp(who, "root") && geteuid() ? NVML_NO_PERMISSION : NVML_OK;
}

static int take_sample(const struct nvml_device *d, int unit, struct nvml_gpm_sample *sample)
{
	uint64_t now = sim_now(), old;
	int rc = permitted();

	if (rc || unit < 0 || !has_gpm(d) || !sim_shm())
		return rc ? rc : NVML_NOT_SUPPORTED;
	old = now % refresh_ns();
	sample->at = now - old;
	sample->up = up_ns() - old;
	sample->busy = sim_busy_total(&sim_shm()->device[unit], sample->at);
	return NVML_OK;
}

int nvmlGpmSampleGet(struct nvml_device *d, struct nvml_gpm_sample *sample)
{
	int rc = nvml_check(d);
	CALL(d);

	return rc ? rc : take_sample(d, d->slice ? -1 : nvml_unit(d), sample);
}

int nvmlGpmMigSampleGet(struct nvml_device *d, unsigned instance, struct nvml_gpm_sample *sample)
{
	const struct sim_config *c = sim_config();
	int rc = nvml_check(d);
	uint32_t i;
	CALL(d);

	if (rc)
		return rc;
	for (i = 0; i < c->devices && !d->slice; i++)
		if (nvml_covers(d, i) && *c->unit[i].profile && c->unit[i].instance == instance)
			return take_sample(d, (int)i, sample);
	return NVML_INVALID_ARGUMENT;
}

static int evaluate(const struct nvml_gpm_sample *a, const struct nvml_gpm_sample *b, unsigned id,
		    double *value)
{
	switch (id) {
	case 1: /* a compute or graphics engine was busy, percent of the time */
	case 2: /* SMs that were busy */
		*value = b->up > a->up
				 ? 100.0 * (double)(b->busy - a->busy) / (double)(b->up - a->up)
				 : 0;
		return NVML_OK;
	case 3: /* occupancy, tensor units: nothing in the model uses them */
	case 5:
		*value = 0;
		return NVML_OK;
	case 248: /* cycles since the start: of the later sample alone */
		*value = (double)b->up * SM_MHZ / 1000;
		return NVML_OK;
	case 249:
		*value = (double)b->busy * SM_MHZ / 1000;
		return NVML_OK;
	}
	return NVML_NOT_SUPPORTED;
}

int nvmlGpmMetricsGet(struct nvml_gpm_metrics *m)
{
	unsigned i;

	if (!m || m->version != 1 || !m->sample1 || !m->sample2 || !m->sample1->at ||
	    !m->sample2->at)
		return NVML_INVALID_ARGUMENT;
	for (i = 0; i < m->count; i++) {
		m->metric[i].value = 0;
		m->metric[i].result =
			evaluate(m->sample1, m->sample2, m->metric[i].id, &m->metric[i].value);
	}
	return NVML_OK;
}
