/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_busy.c - what the management library says of how busy a device was: GPM metrics (Hopper and
 * newer), the driver's ring of utilisation samples, utilisation by process, and clocks. All of it
 * follows from the kernels that were placed, in the way in which an H100 said it (README.md, "What
 * an H100 said"); cycles go at one rate.
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
#define PERIOD_US 200000 /* between the driver's utilisation samples */
#define RING 71 /* samples that it keeps */
#define PROCESS_ROWS 100 /* for which nvmlDeviceGetProcessesUtilizationInfo wants room */
#define RESIDENT_PERCENT 0.005 /* that GPM's id 1 shows while contexts are idle */
#define GPM_IDS 210 /* that the library of a driver 580 knows */
#define GPU_UTILIZATION_SAMPLES 1
#define VALUE_UNSIGNED 1

enum {
	GPM_GRAPHICS = 1,
	GPM_SMS = 2,
	GPM_OCCUPANCY = 3,
	GPM_TENSOR = 5,
	GPM_DRAM = 10,
	GPM_SWITCHES = 174,
	GPM_ELAPSED = 248,
	GPM_ACTIVE = 249
};

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

_Static_assert((RING + 1) * (uint64_t)PERIOD_US * 1000 < SIM_PAST_NS, "busy.h remembers the ring");

/* Of the period that ends at `us`. */
static unsigned percent_of(int unit, uint64_t us, int32_t owner)
{
	uint64_t from = (us - PERIOD_US) * 1000, to = us * 1000;
	struct sim_busy busy = sim_busy_between(&sim_shm()->device[unit], from, to, owner);

	return (unsigned)((100 * busy.kernel_ns + (to - from) / 2) / (to - from));
}

/* The end of the first period after this moment, and of the last before now. */
static uint64_t first_after(uint64_t us, uint64_t now_us)
{
	uint64_t oldest = now_us - RING * (uint64_t)PERIOD_US;

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

/* By nvml.h a list that is too small gives 7, and the count what there must be room for. */
int nvmlDeviceGetProcessesUtilizationInfo(struct nvml_device *d, struct nvml_processes_use *use)
{
	int rc = nvml_check(d), unit, i;
	uint64_t us = sim_now() / 1000 / PERIOD_US * PERIOD_US;
	unsigned n = 0;
	CALL(d);

	if (rc)
		return rc;
	unit = d->slice ? -1 : nvml_unit(d);
	if (unit < 0 || !sim_shm())
		return NVML_NOT_SUPPORTED;
	if (!use || use->version != (sizeof *use | 1u << 24))
		return NVML_INVALID_ARGUMENT;
	if (!use->list || use->count < PROCESS_ROWS) {
		use->count = PROCESS_ROWS;
		return NVML_INSUFFICIENT_SIZE;
	}
	for (i = 0; i < SIM_MAX_PROCS && n < PROCESS_ROWS && us > use->last_seen; i++) {
		const struct sim_proc *p = &sim_shm()->proc[i];
		uint32_t device;

		if (!nvml_uses(p, d, &device) || !sim_proc_alive(p))
			continue;
		use->list[n++] = (struct nvml_process_use){
			us, nvml_pid(p), percent_of(unit, us, i), 0, 0, 0, 0, 0
		};
	}
	use->count = n;
	return n ? NVML_OK : NVML_NOT_FOUND;
}

/* ---- GPM ---- */

struct nvml_gpm_sample {
	uint64_t at; /* ns since the epoch, of the last refresh; 0: nothing in it */
	uint64_t up; /* the same since the machine's start */
	struct sim_busy busy; /* since the segment was made */
	bool resident; /* somebody has a context */
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

/* When the machine started; found once, so that two samples are as far apart by either clock. */
static uint64_t boot_ns(void)
{
	static uint64_t boot;
	struct timespec t;

	if (!boot) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		boot = sim_now() - (uint64_t)t.tv_sec * 1000000000u - (uint64_t)t.tv_nsec;
	}
	return boot;
}

/* GPUSIM_GPM: "off", "hang", "root" for nobody else, or "cycles" for ids 248 and 249. */
static bool scripted(const char *what)
{
	const char *script = getenv("GPUSIM_GPM");

	return script && !strcmp(script, what);
}

static int permitted(void)
{
	while (scripted("hang"))
		pause();
	if (scripted("off"))
		return NVML_NOT_SUPPORTED;
	return scripted("root") && geteuid() ? NVML_NO_PERMISSION : NVML_OK;
}

static int take_sample(const struct nvml_device *d, int unit, struct nvml_gpm_sample *sample)
{
	uint64_t now = sim_now();
	int rc = permitted();

	if (rc || unit < 0 || !has_gpm(d) || !sim_shm())
		return rc ? rc : NVML_NOT_SUPPORTED;
	sample->at = now - now % refresh_ns();
	sample->up = sample->at - boot_ns();
	sample->busy = sim_busy_total(&sim_shm()->device[unit], sample->at);
	sample->resident = in_use(d);
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

/* Percent of the time between two samples, of which `ns` count. */
static double percent(const struct nvml_gpm_sample *a, const struct nvml_gpm_sample *b, double ns)
{
	double value = b->up > a->up ? 100 * ns / (double)(b->up - a->up) : 0;

	return value < 100 ? value : 100;
}

/* The engine is busy a little around each kernel, and now and then for a context alone. */
static double graphics(const struct nvml_gpm_sample *a, const struct nvml_gpm_sample *b)
{
	double value = percent(a, b, (double)(b->busy.engine_ns - a->busy.engine_ns));

	if (a->resident && b->resident && b->up > a->up)
		value += RESIDENT_PERCENT;
	return value < 100 ? value : 100;
}

/* Cycles since the machine's start are of the later sample alone. */
static int evaluate(const struct nvml_gpm_sample *a, const struct nvml_gpm_sample *b, unsigned id,
		    double *value)
{
	switch (id) {
	case GPM_GRAPHICS:
		*value = graphics(a, b);
		return NVML_OK;
	case GPM_SMS:
		*value = percent(a, b, (double)(b->busy.sm_ns - a->busy.sm_ns));
		return NVML_OK;
	case GPM_OCCUPANCY:
		*value = percent(a, b, (double)(b->busy.warp_ns - a->busy.warp_ns));
		return NVML_OK;
	case GPM_TENSOR: /* nothing in the model uses them but by script */
		*value = percent(a, b, (double)(b->busy.tensor_ns - a->busy.tensor_ns));
		return NVML_OK;
	case GPM_DRAM:
		*value = percent(a, b, (double)(b->busy.dram_ns - a->busy.dram_ns));
		return getenv("GPUSIM_UNITS") ? NVML_OK : NVML_NOT_SUPPORTED;
	case GPM_SWITCHES: /* nothing in the model switches contexts */
		*value = 0;
		return NVML_OK;
	case GPM_ELAPSED:
		*value = (double)b->up * SM_MHZ / 1000;
		return scripted("cycles") ? NVML_OK : NVML_INVALID_ARGUMENT;
	case GPM_ACTIVE:
		*value = (double)b->busy.sm_ns * SM_MHZ / 1000;
		return scripted("cycles") ? NVML_OK : NVML_INVALID_ARGUMENT;
	}
	return id < GPM_IDS ? NVML_NOT_SUPPORTED : NVML_INVALID_ARGUMENT;
}

int nvmlGpmMetricsGet(struct nvml_gpm_metrics *m)
{
	unsigned i;

	if (!m || m->version != 1 || !m->sample1 || !m->sample2 || !m->sample1->at ||
	    !m->sample2->at)
		return NVML_INVALID_ARGUMENT;
	for (i = 0; i < m->count; i++) {
		double value = 0;

		m->metric[i].result = evaluate(m->sample1, m->sample2, m->metric[i].id, &value);
		m->metric[i].value = m->metric[i].result ? 0 : value;
	}
	return NVML_OK;
}
