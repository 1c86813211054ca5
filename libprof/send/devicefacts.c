/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each device was asked about last.
 */
#include "devicefacts.h"

#include <stdbool.h>
#include <stdint.h>

#include "core/clockpoll.h"
#include "core/fork_lock.h"
#include "cupti/claim.h"
#include "cupti/nvml.h"
#include "report.h"

#define FACTS_TICKS 20
/* Meters are looked at as often, between two pulses: a second look takes the first one's place. */
#define CLAIM_TICKS 2
#define CLAIM_TICK 1 /* of so many */
#define FRESH_NS 5000000000ll

static struct {
	unsigned int since; /* tick of the last question */
	bool asked; /* about facts, and not reported yet */
	uint64_t asked_once; /* devices that NVML was asked about, a bit each, ... */
	unsigned int looked_tick[PROF_DEVICES_MAX]; /* ... and when */
} df;

/* Those of @devices that NVML has answered about. */
static uint64_t known(uint64_t devices)
{
	struct prof_device_facts f;
	uint64_t found = 0;
	uint32_t i;

	for (i = 0; i < PROF_DEVICES_MAX; i++)
		if (devices >> i & 1 && prof_nvml_get(i, 1, &f))
			found |= UINT64_C(1) << i;
	return found;
}

/* Those of @devices that were not asked about for ten seconds. */
static uint64_t due(uint64_t devices, unsigned int tick)
{
	uint32_t i;

	for (i = 0; i < PROF_DEVICES_MAX; i++)
		if (tick - df.looked_tick[i] < FACTS_TICKS)
			devices &= ~(UINT64_C(1) << i);
	return devices;
}

/*
 * Who asks about them from now on: one process of the run each. One whose NVML does not answer
 * leaves them to the others.
 */
static uint64_t claim_devices(uint64_t worked, unsigned int tick, const char *run_id)
{
	if (prof_fork_lock_nvml_shut() ||
	    (!prof_nvml_answered() && tick - df.since >= FACTS_TICKS)) {
		prof_claim_release();
		return 0;
	}
	return prof_claim_devices(run_id, known(worked));
}

static void ask(uint64_t devices, uint64_t meters, unsigned int tick)
{
	uint32_t i;

	if ((!devices && !meters) || !prof_nvml_ask_some(devices, meters))
		return;
	df.asked = devices != 0;
	df.since = tick;
	df.asked_once |= devices;
	for (i = 0; i < PROF_DEVICES_MAX; i++)
		if (devices >> i & 1)
			df.looked_tick[i] = tick;
}

/*
 * A device is first asked about after its first operation: few short jobs would have any, else. It
 * is every process's own, for it tells who else is there by then.
 */
void prof_devicefacts_tick(unsigned int tick, const char *run_id)
{
	uint64_t worked, wanted, meters = 0;

	if (df.asked && prof_nvml_answered()) {
		df.asked = false;
		prof_report_facts(prof_mono_ns() - FRESH_NS);
	}
	worked = prof_nvml_worked();
	wanted = worked & ~df.asked_once;
	if (tick % CLAIM_TICKS == CLAIM_TICK) {
		meters = claim_devices(worked, tick, run_id);
		wanted |= due(meters, tick); /* of one that has ended, at once */
	}
	ask(wanted, meters, tick);
}
