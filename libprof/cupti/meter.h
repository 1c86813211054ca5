/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy a device was between two looks, as NVML says, whoever worked on it: by GPM (Hopper and
 * newer, and its MIG instances), else by the driver's utilisation samples. It costs the program
 * nothing and needs no record of CUPTI. What a device does not have is not asked for again. On the
 * thread that asks NVML alone (nvml.h).
 */
#ifndef PROF_METER_H
#define PROF_METER_H

#include <stdbool.h>
#include <stdint.h>

enum prof_meter_value { /* bits of Wire__PulseMeter.known, in this order */
	PROF_METER_BUSY, /* hundredths of a percent, as far as PCIe */
	PROF_METER_SM,
	PROF_METER_OCCUPANCY,
	PROF_METER_TENSOR,
	PROF_METER_DRAM,
	PROF_METER_PCIE_TX, /* MiB/s */
	PROF_METER_PCIE_RX,
	PROF_METERS
};

enum prof_meter_source { /* numbers of Wire__PulseMeter.source */
	PROF_METER_UNKNOWN, /* it was not asked yet */
	PROF_METER_GPM,
	PROF_METER_SAMPLES,
	PROF_METER_NONE, /* there is none */
};

struct prof_meter {
	enum prof_meter_source source;
	uint32_t known; /* a bit for each value */
	int64_t end_ns; /* of the time it is about, on the trace's clock ... */
	int64_t span_ns; /* ... and its length */
	uint32_t value[PROF_METERS];
};

/*
 * Looks. True if there is something to say: a first look has none, nor has one within 200 ms of
 * the last.
 */
bool prof_meter_take(uint32_t ordinal, struct prof_meter *m);

/* Gives back what NVML has allocated. */
void prof_meter_free(void);

#endif
