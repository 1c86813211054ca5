/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that asks NVML, and its last answers.
 */
#include "nvml.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/clockpoll.h"
#include "core/thread.h"
#include "stream/stream.h"

struct answer {
	struct prof_device_facts facts;
	int64_t asked_ns; /* 0: there is none */
};

static struct {
	pthread_mutex_t lock; /* answer; held around no call */
	struct answer answer[PROF_DEVICES_MAX];
	atomic_uint asked, answered;
	_Atomic uint64_t wanted; /* devices, a bit each; for the question under way */
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

static void *run(void *unused)
{
	unsigned int seen = 0;
	uint64_t wanted;
	uint32_t i;

	prof_thread_begin("gpustarve-nvml");
	for (;;) {
		prof_word_reach(&nvml.asked, seen + 1, INT64_MAX);
		seen++;
		prof_devices_identify();
		wanted = atomic_load(&nvml.wanted);
		for (i = 0; i < PROF_DEVICES_MAX; i++)
			if (wanted >> i & 1)
				ask_device(i);
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
bool prof_nvml_ask_some(uint64_t wanted)
{
	if (!nvml.started || !prof_nvml_answered())
		return false;
	atomic_store(&nvml.wanted, wanted);
	prof_word_bump(&nvml.asked);
	return true;
}

void prof_nvml_identify(int64_t deadline_ns)
{
	prof_nvml_ask_some(0);
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
	return prof_nvml_ask_some(prof_nvml_worked());
}

bool prof_nvml_stop(int64_t deadline_ns)
{
	prof_devices_nvml_off();
	return !nvml.started ||
	       prof_word_reach(&nvml.answered, atomic_load(&nvml.asked), deadline_ns);
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

int64_t prof_nvml_cpu_ns(void)
{
	return atomic_load(&nvml.cpu_ns);
}
