/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.h - what the stand-in libnvidia-ml.so.1 exports, with plain C types. Handles are opaque.
 */
#ifndef SIM_NVML_H
#define SIM_NVML_H

#include <stdint.h>

#define SIM_NVML __attribute__((visibility("default")))

enum nvml_result {
	NVML_OK = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct nvml_utilization {
	unsigned gpu, memory;
};

struct nvml_process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

/* nvmlProcessInfo_v1_t */
struct nvml_process_v1 {
	unsigned pid;
	unsigned long long memory;
};

struct nvml_attributes {
	unsigned multiprocessors, copy, decoder, encoder, jpeg, ofa;
	unsigned gpu_slices, compute_slices;
	unsigned long long memory_mb;
};

struct nvml_pci {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char text[32];
};

struct nvml_device;

/* nvmlSample_t; the value of a utilisation is the unsigned int of its union. */
struct nvml_sample {
	unsigned long long us; /* since the epoch */
	union {
		double number;
		unsigned count;
		unsigned long long wide;
	} value;
};

/* nvmlProcessUtilizationInfo_v1_t and nvmlProcessesUtilizationInfo_v1_t */
struct nvml_process_use {
	unsigned long long us;
	unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};

struct nvml_processes_use {
	unsigned version, count;
	unsigned long long last_seen;
	struct nvml_process_use *list;
};

/* nvmlGpmSupport_t, nvmlGpmMetric_t, nvmlGpmMetricsGet_t, whose array is as long as the caller's */
struct nvml_gpm_support {
	unsigned version, supported;
};

struct nvml_gpm_sample;

struct nvml_gpm_metric {
	unsigned id;
	int result;
	double value;
	const char *text[3]; /* short and long name, unit */
};

struct nvml_gpm_metrics {
	unsigned version, count;
	struct nvml_gpm_sample *sample1, *sample2;
	struct nvml_gpm_metric metric[];
};

SIM_NVML int nvmlInit_v2(void);
SIM_NVML int nvmlInit(void);
SIM_NVML int nvmlInitWithFlags(unsigned flags);
SIM_NVML int nvmlShutdown(void);
SIM_NVML const char *nvmlErrorString(int result);
SIM_NVML int nvmlSystemGetDriverVersion(char *text, unsigned size);
SIM_NVML int nvmlSystemGetCudaDriverVersion_v2(int *version);
SIM_NVML int nvmlSystemGetCudaDriverVersion(int *version);
SIM_NVML int nvmlDeviceGetCount_v2(unsigned *count);
SIM_NVML int nvmlDeviceGetCount(unsigned *count);
SIM_NVML int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device);
SIM_NVML int nvmlDeviceGetHandleByIndex(unsigned index, struct nvml_device **device);
SIM_NVML int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **device);
SIM_NVML int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct nvml_device **device);
SIM_NVML int nvmlDeviceGetIndex(struct nvml_device *device, unsigned *index);
SIM_NVML int nvmlDeviceGetName(struct nvml_device *device, char *text, unsigned size);
SIM_NVML int nvmlDeviceGetUUID(struct nvml_device *device, char *text, unsigned size);
SIM_NVML int nvmlDeviceGetPciInfo_v3(struct nvml_device *device, struct nvml_pci *pci);
SIM_NVML int nvmlDeviceGetMemoryInfo(struct nvml_device *device, struct nvml_memory *m);
SIM_NVML int nvmlDeviceGetMemoryInfo_v2(struct nvml_device *device, struct nvml_memory_v2 *m);
SIM_NVML int nvmlDeviceGetUtilizationRates(struct nvml_device *device, struct nvml_utilization *u);
SIM_NVML int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count,
						     struct nvml_process *list);
SIM_NVML int nvmlDeviceGetComputeRunningProcesses_v2(struct nvml_device *device, unsigned *count,
						     struct nvml_process *list);
SIM_NVML int nvmlDeviceGetComputeRunningProcesses(struct nvml_device *device, unsigned *count,
						  struct nvml_process_v1 *list);
SIM_NVML int nvmlDeviceGetNvLinkState(struct nvml_device *device, unsigned link, unsigned *active);
SIM_NVML int nvmlDeviceGetNvLinkRemoteDeviceType(struct nvml_device *device, unsigned link,
						 unsigned *type);
SIM_NVML int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvml_device *device, unsigned link,
						 struct nvml_pci *pci);
SIM_NVML int nvmlDeviceGetP2PStatus(struct nvml_device *device, struct nvml_device *other, int what,
				    int *status);
SIM_NVML int nvmlDeviceGetMPSComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count,
							struct nvml_process *list);
SIM_NVML int nvmlDeviceGetGraphicsRunningProcesses_v3(struct nvml_device *device, unsigned *count,
						      struct nvml_process *list);
SIM_NVML int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned *current, unsigned *pending);
SIM_NVML int nvmlDeviceIsMigDeviceHandle(struct nvml_device *device, unsigned *is);
SIM_NVML int nvmlDeviceGetMaxMigDeviceCount(struct nvml_device *device, unsigned *count);
SIM_NVML int nvmlDeviceGetMigDeviceHandleByIndex(struct nvml_device *device, unsigned index,
						 struct nvml_device **slice);
SIM_NVML int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvml_device *slice,
							  struct nvml_device **device);
SIM_NVML int nvmlDeviceGetGpuInstanceId(struct nvml_device *slice, unsigned *id);
SIM_NVML int nvmlDeviceGetComputeInstanceId(struct nvml_device *slice, unsigned *id);
SIM_NVML int nvmlDeviceGetAttributes_v2(struct nvml_device *slice, struct nvml_attributes *a);
SIM_NVML int nvmlDeviceGetClockInfo(struct nvml_device *device, int type, unsigned *mhz);
SIM_NVML int nvmlDeviceGetMaxClockInfo(struct nvml_device *device, int type, unsigned *mhz);
SIM_NVML int nvmlDeviceGetCurrentClocksEventReasons(struct nvml_device *device,
						    unsigned long long *reasons);
SIM_NVML int nvmlDeviceGetSamples(struct nvml_device *device, int type, unsigned long long since_us,
				  int *value_type, unsigned *count, struct nvml_sample *list);
SIM_NVML int nvmlDeviceGetProcessesUtilizationInfo(struct nvml_device *device,
						   struct nvml_processes_use *use);
SIM_NVML int nvmlGpmQueryDeviceSupport(struct nvml_device *device, struct nvml_gpm_support *s);
SIM_NVML int nvmlGpmSampleAlloc(struct nvml_gpm_sample **sample);
SIM_NVML int nvmlGpmSampleFree(struct nvml_gpm_sample *sample);
SIM_NVML int nvmlGpmSampleGet(struct nvml_device *device, struct nvml_gpm_sample *sample);
SIM_NVML int nvmlGpmMigSampleGet(struct nvml_device *device, unsigned gpu_instance,
				 struct nvml_gpm_sample *sample);
SIM_NVML int nvmlGpmMetricsGet(struct nvml_gpm_metrics *metrics);

#endif
