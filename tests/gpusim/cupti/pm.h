/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm.h - PM sampling as far as a client that asks how busy a device was needs it, from CUPTI 12.6
 * on. Every call takes one struct that begins with its own size; layouts are cupti_pmsampling.h's
 * and cupti_profiler_host.h's of 13.0. Samples come from the kernels that were placed.
 * GPUSIM_PM scripts it: "denied" (35, as without the right to read counters), "root" (35 for
 * everybody else), "hang" (the call that starts it does not return), or, separated by commas,
 * "clocks=MHZ" (what the SM clock is set to while sampling goes on), "call=NS", "decode=NS" and
 * "evaluate=NS" (CPU that a decoding takes, and each sample in it, and its evaluation).
 */
#ifndef SIM_CUPTI_PM_H
#define SIM_CUPTI_PM_H

#include <stddef.h>
#include <stdint.h>

#include "cupti.h"

struct pm_plain {
	size_t size;
	void *private;
};

struct pm_chip {
	size_t size;
	void *private;
	size_t device;
	const char *name;
};

struct pm_host_begin {
	size_t size;
	void *private;
	int type;
	const char *chip;
	const uint8_t *available;
	void *host;
};

struct pm_host {
	size_t size;
	void *private;
	void *host;
};

struct pm_host_metrics {
	size_t size;
	void *private;
	void *host;
	const char **names;
	size_t count;
};

struct pm_host_image_size {
	size_t size;
	void *private;
	void *host;
	size_t bytes;
};

struct pm_host_image {
	size_t size;
	void *private;
	void *host;
	size_t bytes;
	uint8_t *image;
};

struct pm_host_passes {
	size_t size;
	void *private;
	size_t bytes;
	uint8_t *image;
	size_t passes;
};

struct pm_host_evaluate {
	size_t size;
	void *private;
	void *host;
	const uint8_t *image;
	size_t bytes, index;
	const char **names;
	size_t count;
	double *values;
};

struct pm_available {
	size_t size;
	void *private;
	size_t device, bytes;
	uint8_t *image;
};

struct pm_enable {
	size_t size;
	void *private;
	size_t device;
	void *object;
};

struct pm_object {
	size_t size;
	void *private;
	void *object;
};

struct pm_config {
	size_t size;
	void *private;
	void *object;
	size_t bytes;
	const uint8_t *image;
	size_t hardware_bytes;
	uint64_t interval;
	int trigger, append;
};

struct pm_data_size {
	size_t size;
	void *private;
	void *object;
	const char **names;
	size_t count;
	uint32_t samples;
	size_t bytes;
};

struct pm_data_begin {
	size_t size;
	void *private;
	void *object;
	size_t bytes;
	uint8_t *image;
};

struct pm_decode {
	size_t size;
	void *private;
	void *object;
	uint8_t *image;
	size_t bytes;
	int reason;
	uint8_t overflow;
};

struct pm_data_info {
	size_t size;
	void *private;
	const uint8_t *image;
	size_t bytes, total, populated, completed;
};

struct pm_sample_info {
	size_t size;
	void *private;
	void *object;
	const uint8_t *image;
	size_t bytes, index;
	uint64_t start, end;
};

SIM_CUPTI int cuptiProfilerInitialize(struct pm_plain *p);
SIM_CUPTI int cuptiProfilerDeInitialize(struct pm_plain *p);
SIM_CUPTI int cuptiDeviceGetChipName(struct pm_chip *p);
SIM_CUPTI int cuptiProfilerHostInitialize(struct pm_host_begin *p);
SIM_CUPTI int cuptiProfilerHostDeinitialize(struct pm_host *p);
SIM_CUPTI int cuptiProfilerHostConfigAddMetrics(struct pm_host_metrics *p);
SIM_CUPTI int cuptiProfilerHostGetConfigImageSize(struct pm_host_image_size *p);
SIM_CUPTI int cuptiProfilerHostGetConfigImage(struct pm_host_image *p);
SIM_CUPTI int cuptiProfilerHostGetNumOfPasses(struct pm_host_passes *p);
SIM_CUPTI int cuptiProfilerHostEvaluateToGpuValues(struct pm_host_evaluate *p);
SIM_CUPTI int cuptiPmSamplingGetCounterAvailability(struct pm_available *p);
SIM_CUPTI int cuptiPmSamplingEnable(struct pm_enable *p);
SIM_CUPTI int cuptiPmSamplingDisable(struct pm_object *p);
SIM_CUPTI int cuptiPmSamplingSetConfig(struct pm_config *p);
SIM_CUPTI int cuptiPmSamplingGetCounterDataSize(struct pm_data_size *p);
SIM_CUPTI int cuptiPmSamplingCounterDataImageInitialize(struct pm_data_begin *p);
SIM_CUPTI int cuptiPmSamplingStart(struct pm_object *p);
SIM_CUPTI int cuptiPmSamplingStop(struct pm_object *p);
SIM_CUPTI int cuptiPmSamplingDecodeData(struct pm_decode *p);
SIM_CUPTI int cuptiPmSamplingGetCounterDataInfo(struct pm_data_info *p);
SIM_CUPTI int cuptiPmSamplingCounterDataGetSampleInfo(struct pm_sample_info *p);

#endif
