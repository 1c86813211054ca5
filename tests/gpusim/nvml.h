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

SIM_NVML int nvmlInit_v2(void);
SIM_NVML int nvmlInit(void);
SIM_NVML int nvmlInitWithFlags(unsigned flags);
SIM_NVML int nvmlShutdown(void);
SIM_NVML const char *nvmlErrorString(int result);
SIM_NVML int nvmlSystemGetDriverVersion(char *text, unsigned size);
SIM_NVML int nvmlSystemGetCudaDriverVersion_v2(int *version);
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

#endif
