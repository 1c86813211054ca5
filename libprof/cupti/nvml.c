/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that asks NVML, and its last answers.
 */
#include "nvml.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/clockpoll.h"
#include "core/thread.h"
#include "nvmlcall.h"
#include "stream/stream.h"

struct answer {
	struct prof_device_facts facts;
	int64_t asked_ns; /* 0: there is none */
};

static struct {
	pthread_mutex_t lock; /* answer, meter, metered; held around no call */
	struct answer answer[PROF_DEVICES_MAX];
	struct prof_meter meter[PROF_DEVICES_MAX];
	uint64_t metered; /* devices whose meter's word nobody has taken, a bit each */
	atomic_uint asked, answered;
	/* for the question under way: devices, a bit each, and whether it is the last */
	_Atomic uint64_t wanted, meters;
	atomic_bool ending;
	_Atomic int64_t cpu_ns;
	bool started; /* before the sender */
} nvml = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void ask_device(uint32_t ordinal)
{
	struct answer a = { .asked_ns = prof_mono_ns() };

	if (!prof_devices_facts(ordinal, &a.facts))
		a.asked_ns = 0;
	pthread_mutex_lock(&nvml.lock);
	nvml.answer[ordinal] = a;
	pthread_mutex_unlock(&nvml.lock);
}

static void look_at_meter(uint32_t ordinal)
{
	struct prof_meter m;

	if (!prof_meter_take(ordinal, &m))
		return;
	pthread_mutex_lock(&nvml.lock);
	nvml.meter[ordinal] = m;
	nvml.metered |= UINT64_C(1) << ordinal;
	pthread_mutex_unlock(&nvml.lock);
}

static void answer_all(void)
{
	uint64_t wanted = atomic_load(&nvml.wanted), meters = atomic_load(&nvml.meters);
	uint32_t i;

	prof_devices_identify();
	for (i = 0; i < PROF_DEVICES_MAX; i++) {
		if (wanted >> i & 1)
			ask_device(i);
		if (meters >> i & 1)
			look_at_meter(i);
	}
}

static void *run(void *unused)
{
	unsigned int seen = 0;

	prof_thread_begin("gpustarve-nvml");
	for (;;) {
		prof_word_reach(&nvml.asked, seen + 1, INT64_MAX);
		seen++;
		if (atomic_load(&nvml.ending))
			prof_meter_free();
		else
			answer_all();
		atomic_store(&nvml.cpu_ns, prof_cpu_ns());
		prof_word_bump(&nvml.answered);
	}
	return unused;
}

int prof_nvml_start(void)
{
	int err = prof_thread_start(run);

	nvml.started = !err;
	return err;
}

bool prof_nvml_answered(void)
{
	return atomic_load(&nvml.asked) == atomic_load(&nvml.answered);
}

/* A call that hangs is waited for once, elsewhere. */
bool prof_nvml_ask_some(uint64_t wanted, uint64_t meters)
{
	if (!nvml.started || !prof_nvml_answered())
		return false;
	atomic_store(&nvml.wanted, wanted);
	atomic_store(&nvml.meters, meters);
	prof_word_bump(&nvml.asked);
	return true;
}

void prof_nvml_identify(int64_t deadline_ns)
{
	prof_nvml_ask_some(0, 0);
	if (nvml.started)
		prof_word_reach(&nvml.answered, atomic_load(&nvml.asked), deadline_ns);
}

uint64_t prof_nvml_worked(void)
{
	uint64_t devices = 0;
	uint32_t i;

	for (i = 0; i < prof_stream_device_count() && i < PROF_DEVICES_MAX; i++)
		if (prof_stream_device(i)->ops)
			devices |= UINT64_C(1) << i;
	return devices;
}

bool prof_nvml_ask(void)
{
	return prof_nvml_ask_some(prof_nvml_worked(), 0);
}

bool prof_nvml_stop(int64_t deadline_ns)
{
	bool idle;

	if (nvml.started && prof_nvml_answered()) {
		atomic_store(&nvml.ending, true);
		prof_word_bump(&nvml.asked);
	} else {
		prof_nvmlcall_off();
	}
	idle = !nvml.started ||
	       prof_word_reach(&nvml.answered, atomic_load(&nvml.asked), deadline_ns);
	prof_nvmlcall_off();
	return idle;
}

bool prof_nvml_get(uint32_t ordinal, int64_t since_ns, struct prof_device_facts *f)
{
	struct answer a;

	if (ordinal >= PROF_DEVICES_MAX)
		return false;
	pthread_mutex_lock(&nvml.lock);
	a = nvml.answer[ordinal];
	pthread_mutex_unlock(&nvml.lock);
	*f = a.facts;
	return a.asked_ns && a.asked_ns >= since_ns;
}

bool prof_nvml_meter(uint32_t ordinal, struct prof_meter *m)
{
	uint64_t bit = ordinal < PROF_DEVICES_MAX ? UINT64_C(1) << ordinal : 0;
	bool told;

	pthread_mutex_lock(&nvml.lock);
	told = nvml.metered & bit;
	nvml.metered &= ~bit;
	if (told)
		*m = nvml.meter[ordinal];
	pthread_mutex_unlock(&nvml.lock);
	return told;
}

int64_t prof_nvml_cpu_ns(void)
{
	return atomic_load(&nvml.cpu_ns);
}
