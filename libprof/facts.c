/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that asks NVML, and its last answers.
 */
#include "facts.h"

#include <pthread.h>
#include <stdatomic.h>

#include "clockpoll.h"
#include "thread.h"

struct answer {
	struct prof_device_facts facts;
	int64_t asked_ns; /* 0: there is none */
};

static struct {
	pthread_mutex_t lock; /* answer; held around no call */
	struct answer answer[PROF_DEVICES_MAX];
	atomic_uint asked, answered;
	_Atomic int64_t cpu_ns;
	bool started;
} facts = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void ask_device(uint32_t ordinal)
{
	struct answer a = { .asked_ns = prof_mono_ns() };

	if (!prof_devices_facts(ordinal, &a.facts))
		a.asked_ns = 0;
	pthread_mutex_lock(&facts.lock);
	facts.answer[ordinal] = a;
	pthread_mutex_unlock(&facts.lock);
}

static void *run(void *unused)
{
	const struct prof_device *list;
	unsigned int seen = 0;
	uint32_t i;

	prof_thread_begin("gpustarve-nvml");
	for (;;) {
		prof_word_reach(&facts.asked, seen + 1, INT64_MAX);
		seen++;
		for (i = 0; i < prof_devices(&list); i++)
			ask_device(i);
		atomic_store(&facts.cpu_ns, prof_cpu_ns());
		prof_word_bump(&facts.answered);
	}
	return unused;
}

void prof_facts_ask(void)
{
	if (!facts.started)
		facts.started = !prof_thread_start(run);
	if (facts.started && atomic_load(&facts.asked) == atomic_load(&facts.answered))
		prof_word_bump(&facts.asked);
}

bool prof_facts_get(uint32_t ordinal, int64_t since_ns, struct prof_device_facts *f)
{
	struct answer a;

	if (ordinal >= PROF_DEVICES_MAX)
		return false;
	pthread_mutex_lock(&facts.lock);
	a = facts.answer[ordinal];
	pthread_mutex_unlock(&facts.lock);
	*f = a.facts;
	return a.asked_ns && a.asked_ns >= since_ns;
}

int64_t prof_facts_cpu_ns(void)
{
	return atomic_load(&facts.cpu_ns);
}
