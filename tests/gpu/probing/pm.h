/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm.h - a session of PM sampling on device 0. Layouts and the order of calls are those of
 * cupti_pmsampling.h, cupti_profiler_host.h and cupti_target.h of CUPTI 13.0; each struct begins
 * with its own size. libcupti is loaded (cupti.h) and the driver initialised before. No setting of
 * the card is asked for; whether sampling changes one by itself is among the questions.
 */
#ifndef PROBE_PM_H
#define PROBE_PM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The metrics of a sample, in this order. */
enum {
	PM_BUSY, /* percent of the interval in which the compute engine had work */
	PM_LAUNCHES, /* grids that began */
	PM_SMS, /* percent of SM cycles with a warp */
	PM_HERTZ, /* of the GPCs' clock */
	PM_METRICS
};

struct pm_sample {
	uint64_t start, end;
	double value[PM_METRICS];
};

struct pm {
	void *host, *object;
	const char *metrics[PM_METRICS];
	uint8_t *available, *config, *data;
	size_t available_bytes, config_bytes, data_bytes, passes;
	const char *failed; /* the call that failed */
	int64_t decode_cpu_ns, evaluate_cpu_ns; /* of this thread, since pm_open */
	int64_t start_ns, stop_ns; /* what these calls took */
	uint64_t overflows;
	int reason; /* why the last decoding stopped: 0 other, 1 image full, 2 nothing left */
};

/*
 * Everything up to and without Start: a sample each `interval` ns, a hardware buffer of hw_bytes,
 * an image for `room` samples. 0 or CUPTI's result, with pm->failed. pm_close in either case.
 */
int pm_open(struct pm *pm, uint64_t interval, size_t hw_bytes, uint32_t room);
int pm_start(struct pm *pm);

/* Decodes what is there and appends it to list; returns CUPTI's result. */
int pm_drain(struct pm *pm, struct pm_sample *list, size_t *n, size_t room);
int pm_stop(struct pm *pm);
void pm_close(struct pm *pm);

#endif
