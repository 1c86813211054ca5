/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.h - the management library by dlopen: what the probe asks of it. Numbers and layouts are
 * those of nvml.h 13 and of NVIDIA's Python bindings (nvidia-ml-py 13.615), which agree. Functions
 * that an older library lacks are NULL.
 */
#ifndef PROBE_NVML_H
#define PROBE_NVML_H

#include <stdint.h>

#define NVML_INSUFFICIENT_SIZE 7
#define NVML_NO_FUNCTION 13
#define NVML_SM_CLOCK 1
#define NVML_MEMORY_CLOCK 2
#define NVML_GPU_UTILIZATION_SAMPLES 1
#define NVML_PROCESSES_VERSION (24u | 1u << 24) /* the struct's size, and version 1 */
/* The greatest length of the metrics' array seen is 333; a library may write all of its own. */
#define NVML_GPM_ROOM 512

struct nvml_sample { /* nvmlSample_t */
	uint64_t us;
	union {
		double number;
		uint32_t count;
		uint64_t wide;
	} value;
};

struct nvml_process { /* nvmlProcessUtilizationInfo_v1_t */
	uint64_t us;
	uint32_t pid, sm, memory, encoder, decoder, jpeg, ofa;
};

struct nvml_processes { /* nvmlProcessesUtilizationInfo_v1_t */
	uint32_t version, count;
	uint64_t last_seen;
	struct nvml_process *list;
};

struct gpm_metric { /* nvmlGpmMetric_t */
	uint32_t id;
	int result;
	double value;
	const char *text[3];
};

struct gpm_metrics { /* nvmlGpmMetricsGet_t */
	uint32_t version, count;
	void *sample1, *sample2;
	struct gpm_metric metric[NVML_GPM_ROOM];
};

struct gpm_support { /* nvmlGpmSupport_t */
	uint32_t version, supported;
};

struct nvml {
	int (*Init)(void);
	const char *(*ErrorString)(int);
	int (*SystemGetDriverVersion)(char *, unsigned);
	int (*DeviceGetHandleByIndex)(unsigned, void **);
	int (*DeviceGetHandleByPciBusId)(const char *, void **);
	int (*DeviceGetClockInfo)(void *, int, unsigned *);
	int (*DeviceGetMaxClockInfo)(void *, int, unsigned *);
	int (*DeviceGetCurrentClocksEventReasons)(void *, unsigned long long *);
	int (*DeviceGetMigMode)(void *, unsigned *, unsigned *);
	int (*DeviceGetUtilizationRates)(void *, unsigned[2]);
	int (*DeviceGetSamples)(void *, int, unsigned long long, int *, unsigned *,
				struct nvml_sample *);
	int (*DeviceGetProcessesUtilizationInfo)(void *, struct nvml_processes *);
	int (*GpmQueryDeviceSupport)(void *, struct gpm_support *);
	int (*GpmSampleAlloc)(void **);
	int (*GpmSampleFree)(void *);
	int (*GpmSampleGet)(void *, void *);
	int (*GpmMetricsGet)(struct gpm_metrics *);
};
extern struct nvml nvml;
extern void *nvml_device; /* CUDA's device 0, by PROBE_BUS; else NVML's */

/* Loads and initialises. 0, NVML's result, or -1: no library. */
int nvml_begin(void);

/*
 * The rows by process of all samples that the driver keeps; use->list is to be freed, whatever
 * comes back. NVML says first for how many there must be room, which is *room, then fills them in.
 */
int nvml_processes(struct nvml_processes *use, unsigned *room);

/* Words for a result, or for -1. */
const char *nvml_words(int rc);

/* SM clock in MHz; 0: not to be had. */
unsigned nvml_sm_mhz(void);

#endif
