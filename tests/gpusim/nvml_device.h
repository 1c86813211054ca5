/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_device.h - what the files of the stand-in libnvidia-ml.so.1 share: its handles and whom they
 * stand for.
 */
#ifndef SIM_NVML_DEVICE_H
#define SIM_NVML_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml.h"
#include "shm.h"

/* A GPU, or a slice of one. */
struct nvml_device {
	uint32_t index; /* of the GPU, or of the device in sim_config()->unit */
	bool slice;
};

/* Around each exported call: one lock of the process, a line in a file, hangs by script. */
bool nvml_call_begin(const char *what, const struct nvml_device *d);
void nvml_call_end(const bool *unused);
#define CALL(device)                                                   \
	bool in_call __attribute__((cleanup(nvml_call_end), unused)) = \
		nvml_call_begin(__func__, device)

/* NVML_OK, or why nothing can be asked of this handle. */
int nvml_check(const struct nvml_device *d);

/* Does the device (in the driver's count) belong to this handle? */
bool nvml_covers(const struct nvml_device *d, uint32_t device);

/* The device (in the driver's count) of a GPU that is not partitioned, or of a slice; -1: none. */
int nvml_unit(const struct nvml_device *d);

/* Has this process a context on a device of the handle? *device: on which. */
bool nvml_uses(const struct sim_proc *p, const struct nvml_device *d, uint32_t *device);

/* The pid as NVML counts: in a container (GPUSIM_NVML=outside) in the namespace around it. */
unsigned nvml_pid(const struct sim_proc *p);

#endif
