/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices that the process sees, by the driver's count (events name these ordinals), and what
 * NVML tells about them: index, MIG, memory, utilisation, other processes. Sender thread; every call
 * here may take milliseconds.
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
	void *nvml; /* handle, NULL: none */
};

struct prof_device_facts {
	uint64_t memory_used, memory_total;
	uint32_t utilization;
	bool has_utilization;
	uint32_t other_processes;
};

/*
 * Asks the driver and NVML. 0 or -errno (no driver in the process, cuInit has not returned yet);
 * ask again later.
 */
int prof_devices_read(void);

size_t prof_devices(const struct prof_device **list);
uint32_t prof_devices_driver_version(void);

/* Asks NVML, which may block. False if it tells nothing about this device. See facts.h. */
bool prof_devices_facts(uint32_t ordinal, struct prof_device_facts *f);

/* One harmless driver call: the watchdog's canary. Any thread, once the devices were read. */
void prof_devices_canary(void);

#endif
