/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm.c - the calls of PM sampling.
 */
#include "pm.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cupti.h"
#include "probe.h"

#define NO_FUNCTION 27 /* as CUPTI says NOT_SUPPORTED */
#define TYPE_PM_SAMPLING 1 /* CUPTI_PROFILER_TYPE_PM_SAMPLING */
#define TRIGGER_TIME 1 /* CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL */
#define KEEP_OLDEST 0 /* CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST */

/* The structs' last field decides their size, which is not always that of the C struct. */
#define UP_TO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct plain { /* CUpti_Profiler_Initialize_Params */
	size_t size;
	void *none;
};

struct chip { /* CUpti_Device_GetChipName_Params */
	size_t size;
	void *none;
	size_t device;
	const char *name;
};

struct host_begin { /* CUpti_Profiler_Host_Initialize_Params */
	size_t size;
	void *none;
	int type;
	const char *chip;
	const uint8_t *available;
	void *host;
};

struct host_end { /* CUpti_Profiler_Host_Deinitialize_Params */
	size_t size;
	void *none, *host;
};

struct host_metrics { /* CUpti_Profiler_Host_ConfigAddMetrics_Params */
	size_t size;
	void *none, *host;
	const char **names;
	size_t count;
};

struct host_size { /* CUpti_Profiler_Host_GetConfigImageSize_Params */
	size_t size;
	void *none, *host;
	size_t bytes;
};

struct host_image { /* CUpti_Profiler_Host_GetConfigImage_Params */
	size_t size;
	void *none, *host;
	size_t bytes;
	uint8_t *image;
};

struct host_passes { /* CUpti_Profiler_Host_GetNumOfPasses_Params */
	size_t size;
	void *none;
	size_t bytes;
	uint8_t *image;
	size_t passes;
};

struct host_values { /* CUpti_Profiler_Host_EvaluateToGpuValues_Params */
	size_t size;
	void *none, *host;
	const uint8_t *image;
	size_t bytes, index;
	const char **names;
	size_t count;
	double *values;
};

struct available { /* CUpti_PmSampling_GetCounterAvailability_Params */
	size_t size;
	void *none;
	size_t device, bytes;
	uint8_t *image;
};

struct enable { /* CUpti_PmSampling_Enable_Params */
	size_t size;
	void *none;
	size_t device;
	void *object;
};

struct object { /* CUpti_PmSampling_Start_Params, _Stop_, _Disable_ */
	size_t size;
	void *none, *object;
};

struct config { /* CUpti_PmSampling_SetConfig_Params */
	size_t size;
	void *none, *object;
	size_t bytes;
	const uint8_t *image;
	size_t hardware_bytes;
	uint64_t interval;
	int trigger, append;
};

struct data_size { /* CUpti_PmSampling_GetCounterDataSize_Params */
	size_t size;
	void *none, *object;
	const char **names;
	size_t count;
	uint32_t samples;
	size_t bytes;
};

struct data_begin { /* CUpti_PmSampling_CounterDataImage_Initialize_Params */
	size_t size;
	void *none, *object;
	size_t bytes;
	uint8_t *image;
};

struct decode { /* CUpti_PmSampling_DecodeData_Params */
	size_t size;
	void *none, *object;
	uint8_t *image;
	size_t bytes;
	int reason;
	uint8_t overflow;
};

struct data_info { /* CUpti_PmSampling_GetCounterDataInfo_Params */
	size_t size;
	void *none;
	const uint8_t *image;
	size_t bytes, total, populated, completed;
};

struct sample_info { /* CUpti_PmSampling_CounterData_GetSampleInfo_Params */
	size_t size;
	void *none, *object;
	const uint8_t *image;
	size_t bytes, index;
	uint64_t start, end;
};

_Static_assert(UP_TO(struct host_begin, host) == 48, "CUpti_Profiler_Host_Initialize_Params");
_Static_assert(UP_TO(struct host_values, values) == 72, "..._EvaluateToGpuValues_Params");
_Static_assert(UP_TO(struct config, append) == 64, "CUpti_PmSampling_SetConfig_Params");
_Static_assert(UP_TO(struct data_size, bytes) == 56, "..._GetCounterDataSize_Params");
_Static_assert(UP_TO(struct decode, overflow) == 45, "CUpti_PmSampling_DecodeData_Params");

static const char *const names[PM_METRICS] = {
	[PM_BUSY] = "gr__cycles_active.sum.pct_of_peak_sustained_elapsed",
	[PM_LAUNCHES] = "gr__dispatch_count.sum",
	[PM_SMS] = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
	[PM_HERTZ] = "gpc__cycles_elapsed.avg.per_second",
};

/* Calls cuptiNAME(params), and notes it if it fails. */
static int call(struct pm *pm, const char *name, void *params)
{
	void *found = dlsym(cupti_library, name);
	int (*fn)(void *), rc;

	if (!found) {
		pm->failed = name;
		return NO_FUNCTION;
	}
	memcpy(&fn, &found, sizeof fn);
	rc = fn(params);
	if (rc)
		pm->failed = name;
	return rc;
}

/* ---- what the host computes: which counters the metrics need ---- */

static int ask_available(struct pm *pm)
{
	struct available a = { UP_TO(struct available, image), NULL, 0, 0, NULL };
	int rc = call(pm, "cuptiPmSamplingGetCounterAvailability", &a);

	if (rc)
		return rc;
	pm->available_bytes = a.bytes;
	a.image = pm->available = calloc(1, a.bytes + 1);
	return a.image ? call(pm, "cuptiPmSamplingGetCounterAvailability", &a) : -1;
}

static int make_config(struct pm *pm)
{
	struct host_metrics add = { UP_TO(struct host_metrics, count), NULL, pm->host, pm->metrics,
				    PM_METRICS };
	struct host_size size = { UP_TO(struct host_size, bytes), NULL, pm->host, 0 };
	struct host_image image = { UP_TO(struct host_image, image), NULL, pm->host, 0, NULL };
	struct host_passes passes = { UP_TO(struct host_passes, passes), NULL, 0, NULL, 0 };
	int rc = call(pm, "cuptiProfilerHostConfigAddMetrics", &add);

	if (!rc)
		rc = call(pm, "cuptiProfilerHostGetConfigImageSize", &size);
	if (rc)
		return rc;
	/* CUPTI keeps the pointer: it lives as long as the session. */
	pm->config = calloc(1, size.bytes + 1);
	pm->config_bytes = size.bytes;
	if (!pm->config)
		return -1;
	image.bytes = passes.bytes = size.bytes;
	image.image = passes.image = pm->config;
	rc = call(pm, "cuptiProfilerHostGetConfigImage", &image);
	if (!rc)
		rc = call(pm, "cuptiProfilerHostGetNumOfPasses", &passes);
	pm->passes = passes.passes;
	return rc;
}

static int begin_host(struct pm *pm)
{
	struct plain begin = { sizeof begin, NULL };
	struct chip chip = { UP_TO(struct chip, name), NULL, 0, NULL };
	struct host_begin host = { .size = UP_TO(struct host_begin, host) };
	int rc = call(pm, "cuptiProfilerInitialize", &begin);

	if (!rc)
		rc = call(pm, "cuptiDeviceGetChipName", &chip);
	if (!rc)
		rc = ask_available(pm);
	if (rc)
		return rc;
	host.type = TYPE_PM_SAMPLING;
	host.chip = chip.name;
	host.available = pm->available;
	rc = call(pm, "cuptiProfilerHostInitialize", &host);
	pm->host = host.host;
	return rc ? rc : make_config(pm);
}

/* ---- the session ---- */

static int begin_image(struct pm *pm)
{
	struct data_begin d = { UP_TO(struct data_begin, image), NULL, pm->object, pm->data_bytes,
				pm->data };

	return call(pm, "cuptiPmSamplingCounterDataImageInitialize", &d);
}

static int configure(struct pm *pm, uint64_t interval, size_t hw_bytes, uint32_t room)
{
	struct config c = { UP_TO(struct config, append),
			    NULL,
			    pm->object,
			    pm->config_bytes,
			    pm->config,
			    hw_bytes,
			    interval,
			    TRIGGER_TIME,
			    KEEP_OLDEST };
	struct data_size d = {
		UP_TO(struct data_size, bytes), NULL, pm->object, pm->metrics, PM_METRICS, room, 0
	};
	int rc = call(pm, "cuptiPmSamplingSetConfig", &c);

	if (!rc)
		rc = call(pm, "cuptiPmSamplingGetCounterDataSize", &d);
	if (rc)
		return rc;
	pm->data_bytes = d.bytes;
	pm->data = calloc(1, d.bytes + 1);
	return pm->data ? begin_image(pm) : -1;
}

int pm_open(struct pm *pm, uint64_t interval, size_t hw_bytes, uint32_t room)
{
	struct enable e = { UP_TO(struct enable, object), NULL, 0, NULL };
	int rc;

	memset(pm, 0, sizeof *pm);
	memcpy(pm->metrics, names, sizeof names);
	rc = begin_host(pm);
	if (!rc)
		rc = call(pm, "cuptiPmSamplingEnable", &e);
	if (rc)
		return rc;
	pm->object = e.object;
	return configure(pm, interval, hw_bytes, room);
}

static int on_object(struct pm *pm, const char *name)
{
	struct object o = { UP_TO(struct object, object), NULL, pm->object };

	return call(pm, name, &o);
}

int pm_start(struct pm *pm)
{
	int64_t begin = mono_ns();
	int rc = on_object(pm, "cuptiPmSamplingStart");

	pm->start_ns = mono_ns() - begin;
	return rc;
}

int pm_stop(struct pm *pm)
{
	int64_t begin = mono_ns();
	int rc = on_object(pm, "cuptiPmSamplingStop");

	pm->stop_ns = mono_ns() - begin;
	return rc;
}

static int take_sample(struct pm *pm, size_t index, struct pm_sample *s)
{
	struct sample_info info = { .size = UP_TO(struct sample_info, end) };
	struct host_values values = { .size = UP_TO(struct host_values, values) };
	int rc;

	info.object = pm->object;
	values.host = pm->host;
	info.image = values.image = pm->data;
	info.bytes = values.bytes = pm->data_bytes;
	info.index = values.index = index;
	values.names = pm->metrics;
	values.count = PM_METRICS;
	values.values = s->value;
	rc = call(pm, "cuptiPmSamplingCounterDataGetSampleInfo", &info);
	s->start = info.start;
	s->end = info.end;
	return rc ? rc : call(pm, "cuptiProfilerHostEvaluateToGpuValues", &values);
}

int pm_drain(struct pm *pm, struct pm_sample *list, size_t *n, size_t room)
{
	struct decode d = {
		UP_TO(struct decode, overflow), NULL, pm->object, pm->data, pm->data_bytes, 0, 0
	};
	struct data_info info = { .size = UP_TO(struct data_info, completed) };
	int64_t begin = cpu_ns();
	int rc = call(pm, "cuptiPmSamplingDecodeData", &d);
	size_t i;

	pm->decode_cpu_ns += cpu_ns() - begin;
	pm->overflows += d.overflow != 0;
	pm->reason = d.reason;
	if (rc)
		return rc;
	info.image = pm->data;
	info.bytes = pm->data_bytes;
	rc = call(pm, "cuptiPmSamplingGetCounterDataInfo", &info);
	begin = cpu_ns();
	for (i = 0; !rc && i < info.completed && *n < room; i++, ++*n)
		rc = take_sample(pm, i, &list[*n]);
	pm->evaluate_cpu_ns += cpu_ns() - begin;
	return rc ? rc : begin_image(pm);
}

void pm_close(struct pm *pm)
{
	struct host_end end = { UP_TO(struct host_end, host), NULL, pm->host };
	const char *failed = pm->failed;

	if (pm->object)
		on_object(pm, "cuptiPmSamplingDisable");
	if (pm->host)
		call(pm, "cuptiProfilerHostDeinitialize", &end);
	pm->failed = failed;
	free(pm->available);
	free(pm->config);
	free(pm->data);
}
