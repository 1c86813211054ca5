/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By what NVML can tell how busy a GPU is while its kernels are not recorded, tried out as libprof
 * does (cupti/meter.h there). In the process that probes (probe_cuda.h): the calls may hang.
 */
#ifndef VIEW_PROBE_METER_H
#define VIEW_PROBE_METER_H

#define VIEW_PROBED_METERS 8

enum view_probed_meter {
	VIEW_METER_UNASKED,
	VIEW_METER_ASKED, /* and it did not answer */
	VIEW_METER_GPM,
	VIEW_METER_GPM_MIG, /* of its instances; it is not tried */
	VIEW_METER_SAMPLES,
	VIEW_METER_NONE,
};

/* One for each of the first GPUs, in NVML's order. @nvml: the library, initialised. */
void view_probe_meters(void *nvml, enum view_probed_meter meter[VIEW_PROBED_METERS]);

#endif
