/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices that the process sees, by the driver's count (events name these ordinals), and what
 * NVML tells about them: index, MIG, memory, utilisation, other processes. The driver is asked by
 * the sender thread, NVML by a thread that may wait (nvml.h, nvmlcall.h). Every call may take
 * milliseconds.
 */
#ifndef PROF_DEVICES_H
#define PROF_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_DEVICES_MAX 64

struct prof_device {
	uint8_t uuid[16];
	char name[96];
	uint64_t memory_total;
	char bus_id[20];
	int nvml_index; /* -1: not known */
	bool mps;
	char mig_profile[24]; /* "" without MIG */
	uint8_t mig_parent[16];
	uint32_t mig_slices, mig_slices_total;
	/* for the thread that asks NVML */
	void *nvml; /* handle, NULL: none */
	void *nvml_gpu; /* the GPU that this MIG device is part of; NULL: it is one itself */
	uint32_t gpu_instance; /* of a MIG device ... */
	bool whole_instance; /* ... that is all of it, as far as NVML tells */
};

struct prof_device_facts {
	uint64_t memory_used, memory_total;
	uint32_t utilization;
	bool has_utilization;
	uint32_t other_processes;
};

/*
 * At arm, on the thread that does: finds the driver and loads NVML. Takes the loader's lock:
 * between prof_fork_lock_load_enter and _leave.
 */
void prof_devices_load(void);

/*
 * Sender: asks the driver. 0 or -errno (no driver in the process, cuInit has not returned yet); ask
 * again later.
 */
int prof_devices_read(void);

/* Sender: takes what NVML has answered since, or that it never will. True if that is news. */
bool prof_devices_learn(void);

/* Sender. */
size_t prof_devices(const struct prof_device **list);
uint32_t prof_devices_driver_version(void);

/* ---- the thread that asks NVML; all of these may block ---- */

/* What does not change. Once; does nothing at later calls. After prof_devices_read. */
void prof_devices_identify(void);

/* The device as NVML knows it; NULL: it does not. */
const struct prof_device *prof_devices_asked(uint32_t ordinal);

/* False if NVML tells nothing about this device. */
bool prof_devices_facts(uint32_t ordinal, struct prof_device_facts *f);

/* ---- any thread ---- */

/* One harmless driver call: the watchdog's canary. Once the devices were read. */
void prof_devices_canary(void);

#endif
