/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI, the CUDA driver and NVML as found at run time: one struct of pointers each. Nothing of
 * NVIDIA is needed to build, and a library that is not there leaves its pointers NULL.
 *
 * All of it runs once, on the arming thread, which keeps forks away meanwhile (core/fork_lock.h).
 * Libraries are never closed.
 */
#ifndef PROF_CUDA_API_H
#define PROF_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUPTI's numbers; append-only over all versions. */
enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_NOT_COMPATIBLE = 14, /* the process is its second interface's */
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_CONFIDENTIAL_COMPUTING = 41,
	CUPTI_MIG_DEVICE = 43,
};

enum cupti_kind {
#define KIND(symbol, number, ...) CUPTI_KIND_##symbol = number,
#define PASSED(symbol, number) CUPTI_KIND_##symbol = number,
#include "facts/cupti_kinds.def"
	CUPTI_KIND_PROBED = 96, /* kinds below are probed for their record's size */
};

enum cupti_attribute {
	CUPTI_ATTR_ZEROED_OUT = 5,
	CUPTI_ATTR_PER_THREAD = 9,
};

enum cupti_thread_id {
	CUPTI_THREAD_ID_DEFAULT = 0, /* half of a pthread_t */
	CUPTI_THREAD_ID_SYSTEM = 1, /* gettid() */
};

typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				  size_t valid);

struct cupti_subscriber { /* CUpti_SubscriberParams of 13.2 and later */
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
	uint8_t allow_others;
	uint8_t padding[7];
};

struct prof_cupti {
	int (*GetVersion)(uint32_t *version);
	int (*GetTimestamp)(uint64_t *stamp);
	int (*RegisterCallbacks)(cupti_request_fn request, cupti_complete_fn complete);
	int (*Enable)(int kind);
	int (*Disable)(int kind);
	int (*FlushAll)(uint32_t flag);
	int (*GetNextRecord)(uint8_t *buffer, size_t valid, void **record);
	int (*GetNumDroppedRecords)(void *context, uint32_t stream, size_t *dropped);
	int (*SetAttribute)(int attribute, size_t *size, void *value);
	int (*EnableRuntimeApi)(uint32_t cbid, uint8_t enable); /* from here on: may be NULL */
	int (*EnableDriverApi)(uint32_t cbid, uint8_t enable);
	int (*EnableAllSyncRecords)(uint8_t enable);
	int (*SetThreadIdType)(int type);
	int (*Subscribe2)(void **handle, void (*callback)(void *, int, uint32_t, const void *),
			  void *data, struct cupti_subscriber *params);
	int (*Unsubscribe)(void *handle);
	uint32_t version;
	uint32_t facts; /* of this version (facts/cupti.h) */
	char path[512];
	uint32_t record_bytes[CUPTI_KIND_PROBED]; /* 0: this CUPTI does not know the kind */
};

/*
 * Finds libcupti: one that is already in the process; else @wanted and no other, if it is not "";
 * beside the loaded libcudart; in LD_LIBRARY_PATH; in the toolkit; by its name alone. Never a
 * second one. 0, -ENOENT (none), -ENOSYS (symbols are missing), -ENOTSUP (of no use here, or of a
 * version that is not to be used, facts/cupti.h) or -EPROTO (records are shorter than what we
 * read); why gets a sentence.
 */
int prof_cupti_open(struct prof_cupti *c, const char *wanted, char *why, size_t size);

/* Records that CUPTI dropped since the last call, whosever they were; 0 where it cannot tell. */
uint64_t prof_cupti_dropped(const struct prof_cupti *c);

/*
 * From 13.2 on a process belongs to CUPTI's first interface, which is ours, or to its second one,
 * and calls of the other are refused. Is it the second one's now? Asks for nothing but the count of
 * dropped records, which is added to *dropped.
 */
bool prof_cupti_refuses(const struct prof_cupti *c, uint64_t *dropped);

/*
 * Who has subscribed to the second interface, as it calls itself; "": nobody tells. Only after
 * CUPTI has refused us: it is asked for what cannot be had beside another, and says to whom it is
 * given.
 */
void prof_cupti_holder(const struct prof_cupti *c, char *name, size_t size);

struct prof_cuda {
	int (*DriverGetVersion)(int *version);
	int (*DeviceGetCount)(int *count);
	int (*DeviceGet)(int *device, int ordinal);
	int (*DeviceGetName)(char *name, int size, int device);
	int (*DeviceGetUuid)(uint8_t uuid[16], int device);
	int (*DeviceTotalMem)(size_t *bytes, int device);
	int (*DeviceGetPCIBusId)(char *id, int size, int device); /* may be NULL */
};

/* The driver that is already loaded. 0 or -ENOENT. */
int prof_cuda_open(struct prof_cuda *c);

struct nvml_memory {
	uint64_t total, free, used;
};

struct nvml_utilization {
	uint32_t gpu, memory;
};

struct nvml_process { /* nvmlProcessInfo_t of _v2 and _v3 */
	uint32_t pid;
	uint64_t memory;
	uint32_t gpu_instance, compute_instance;
};

struct nvml_device_attributes {
	uint32_t multiprocessors, shared_copy_engines, shared_decoders, shared_encoders,
		shared_jpeg, shared_ofa, gpu_instance_slices, compute_instance_slices;
	uint64_t memory_mb;
};

struct nvml_sample { /* nvmlSample_t */
	uint64_t us;
	union {
		double number;
		uint32_t count;
		uint64_t wide;
	} value;
};

struct nvml_gpm_support { /* nvmlGpmSupport_t, version 1 */
	uint32_t version, supported;
};

struct nvml_gpm_metric { /* nvmlGpmMetric_t */
	uint32_t id;
	int result;
	double value;
	const char *text[3];
};

/* The greatest array seen is 333 long; a library may write all that its own release has. */
#define NVML_GPM_ROOM 512

struct nvml_gpm_metrics { /* nvmlGpmMetricsGet_t, version 1 */
	uint32_t version, count;
	void *earlier, *later;
	struct nvml_gpm_metric metric[NVML_GPM_ROOM];
};

struct prof_nvml {
	int (*Init)(void);
	int (*DeviceGetHandleByUUID)(const char *uuid, void **device);
	int (*DeviceGetIndex)(void *device, unsigned int *index);
	int (*DeviceGetMemoryInfo)(void *device, struct nvml_memory *memory);
	int (*DeviceGetUtilizationRates)(void *device, struct nvml_utilization *u);
	int (*DeviceGetComputeRunningProcesses)(void *device, unsigned int *count,
						struct nvml_process *p);
	int (*DeviceGetMPSComputeRunningProcesses)(void *device, unsigned int *count,
						   struct nvml_process *p);
	int (*DeviceGetName)(void *device, char *name, unsigned int size);
	int (*DeviceGetUUID)(void *device, char *uuid, unsigned int size);
	int (*DeviceGetDeviceHandleFromMigDeviceHandle)(void *mig, void **device);
	int (*DeviceGetAttributes)(void *device, struct nvml_device_attributes *a);
	int (*DeviceGetGpuInstanceId)(void *mig, unsigned int *id);
	int (*DeviceGetSamples)(void *device, int type, unsigned long long since_us,
				int *value_type, unsigned int *count, struct nvml_sample *list);
	int (*GpmQueryDeviceSupport)(void *device, struct nvml_gpm_support *s);
	int (*GpmSampleAlloc)(void **sample);
	int (*GpmSampleFree)(void *sample);
	int (*GpmSampleGet)(void *device, void *sample);
	int (*GpmMigSampleGet)(void *device, unsigned int gpu_instance, void *sample);
	int (*GpmMetricsGet)(struct nvml_gpm_metrics *m);
};

/* Loads NVML and calls nothing of it. 0 or -ENOENT. */
int prof_nvml_load(struct prof_nvml *n);

#endif
