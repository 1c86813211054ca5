/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - finds the management library.
 */
#include "nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct nvml nvml;
void *nvml_device;

_Static_assert(sizeof(struct nvml_sample) == 16, "nvmlSample_t");
_Static_assert(sizeof(struct nvml_process) == 40, "nvmlProcessUtilizationInfo_v1_t");
_Static_assert(sizeof(struct nvml_processes) == 24, "nvmlProcessesUtilizationInfo_v1_t");
_Static_assert(sizeof(struct gpm_metric) == 40, "nvmlGpmMetric_t");
_Static_assert(offsetof(struct gpm_metrics, metric) == 24, "nvmlGpmMetricsGet_t");

static void load(void *lib)
{
#define GET(field, name)                             \
	do {                                         \
		void *fn = dlsym(lib, name);         \
		memcpy(&nvml.field, &fn, sizeof fn); \
	} while (0)
	GET(Init, "nvmlInit_v2");
	GET(ErrorString, "nvmlErrorString");
	GET(SystemGetDriverVersion, "nvmlSystemGetDriverVersion");
	GET(DeviceGetHandleByIndex, "nvmlDeviceGetHandleByIndex_v2");
	GET(DeviceGetHandleByPciBusId, "nvmlDeviceGetHandleByPciBusId_v2");
	GET(DeviceGetClockInfo, "nvmlDeviceGetClockInfo");
	GET(DeviceGetMaxClockInfo, "nvmlDeviceGetMaxClockInfo");
	GET(DeviceGetCurrentClocksEventReasons, "nvmlDeviceGetCurrentClocksEventReasons");
	GET(DeviceGetMigMode, "nvmlDeviceGetMigMode");
	GET(DeviceGetUtilizationRates, "nvmlDeviceGetUtilizationRates");
	GET(DeviceGetSamples, "nvmlDeviceGetSamples");
	GET(DeviceGetProcessesUtilizationInfo, "nvmlDeviceGetProcessesUtilizationInfo");
	GET(GpmQueryDeviceSupport, "nvmlGpmQueryDeviceSupport");
	GET(GpmSampleAlloc, "nvmlGpmSampleAlloc");
	GET(GpmSampleFree, "nvmlGpmSampleFree");
	GET(GpmSampleGet, "nvmlGpmSampleGet");
	GET(GpmMetricsGet, "nvmlGpmMetricsGet");
#undef GET
}

int nvml_begin(void)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	const char *bus = getenv("PROBE_BUS");
	int rc;

	if (!lib)
		return -1;
	load(lib);
	if (!nvml.Init || !nvml.DeviceGetHandleByIndex)
		return NVML_NO_FUNCTION;
	rc = nvml.Init();
	if (rc)
		return rc;
	if (bus && nvml.DeviceGetHandleByPciBusId &&
	    !nvml.DeviceGetHandleByPciBusId(bus, &nvml_device))
		return 0;
	return nvml.DeviceGetHandleByIndex(0, &nvml_device);
}

int nvml_processes(struct nvml_processes *use, unsigned *room)
{
	int rc, turns = 0;

	*use = (struct nvml_processes){ NVML_PROCESSES_VERSION, 0, 0, NULL };
	if (!nvml.DeviceGetProcessesUtilizationInfo)
		return NVML_NO_FUNCTION;
	rc = nvml.DeviceGetProcessesUtilizationInfo(nvml_device, use);
	*room = use->count;
	/* More may have come since. */
	while (rc == NVML_INSUFFICIENT_SIZE && turns++ < 3) {
		*room = use->count;
		free(use->list);
		use->list = calloc(*room + 1, sizeof *use->list);
		if (!use->list)
			return rc;
		rc = nvml.DeviceGetProcessesUtilizationInfo(nvml_device, use);
	}
	if (!use->list)
		use->count = 0;
	return rc;
}

const char *nvml_words(int rc)
{
	if (rc == -1)
		return "no libnvidia-ml.so.1";
	return nvml.ErrorString ? nvml.ErrorString(rc) : "?";
}

unsigned nvml_sm_mhz(void)
{
	unsigned mhz = 0;

	if (!nvml_device || !nvml.DeviceGetClockInfo ||
	    nvml.DeviceGetClockInfo(nvml_device, NVML_SM_CLOCK, &mhz))
		return 0;
	return mhz;
}
