/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gates between our threads and the program's forks: who waits for whom, and that nobody waits
 * for ever.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/fork_lock.h"
#include "harness.h"

#define MS INT64_C(1000000)

static atomic_bool inside, passed, entered;

static void nap(int ms)
{
	usleep((useconds_t)ms * 1000);
}

static void *load(void *ms)
{
	EXPECT(prof_fork_lock_load_enter());
	atomic_store(&inside, true);
	nap(*(int *)ms);
	EXPECT(!atomic_load(&passed));
	atomic_store(&inside, false);
	prof_fork_lock_load_leave();
	return NULL;
}

static void test_fork_waits_for_load(void)
{
	int ms = 100;
	pthread_t t;

	atomic_store(&passed, false);
	REQUIRE(!pthread_create(&t, NULL, load, &ms));
	while (!atomic_load(&inside))
		nap(1);
	prof_fork_lock_prepare();
	atomic_store(&passed, true);
	EXPECT(!atomic_load(&inside));
	prof_fork_lock_parent();
	pthread_join(t, NULL);
}

static void *enter_load(void *unused)
{
	EXPECT(prof_fork_lock_load_enter());
	atomic_store(&entered, true);
	prof_fork_lock_load_leave();
	return unused;
}

/* A load waits for forks that have begun. */
static void test_load_waits_for_fork(void)
{
	pthread_t t;

	prof_fork_lock_prepare();
	REQUIRE(!pthread_create(&t, NULL, enter_load, NULL));
	nap(50);
	EXPECT(!atomic_load(&entered));
	prof_fork_lock_parent();
	pthread_join(t, NULL);
	EXPECT(atomic_load(&entered));
}

/* A constructor of what is loaded may fork: nobody waits for itself. */
static void test_fork_inside(void)
{
	int64_t began = prof_mono_ns();

	REQUIRE(prof_fork_lock_load_enter());
	prof_fork_lock_prepare();
	prof_fork_lock_parent();
	EXPECT(prof_mono_ns() - began < 1900 * MS);
	prof_fork_lock_prepare();
	prof_fork_lock_child();
	prof_fork_lock_load_leave(); /* as the child does, too */
	prof_fork_lock_prepare();
	EXPECT(prof_mono_ns() - began < 1900 * MS);
	prof_fork_lock_parent();
}

static atomic_bool go_on;

static void *hang_in_nvml(void *unused)
{
	EXPECT(prof_fork_lock_nvml_enter());
	atomic_store(&inside, true);
	while (!atomic_load(&go_on))
		nap(1);
	prof_fork_lock_nvml_leave();
	return unused;
}

/* It costs the first fork its patience, the second none, and NVML is left alone for good. */
static void test_nvml_hangs(void)
{
	int64_t began, took;
	pthread_t t;

	atomic_store(&inside, false);
	REQUIRE(!pthread_create(&t, NULL, hang_in_nvml, NULL));
	while (!atomic_load(&inside))
		nap(1);
	EXPECT(!prof_fork_lock_nvml_shut());
	began = prof_mono_ns();
	prof_fork_lock_prepare();
	prof_fork_lock_parent();
	took = prof_mono_ns() - began;
	EXPECT(took >= 1000 * MS);
	EXPECT(prof_fork_lock_nvml_shut());
	began = prof_mono_ns();
	prof_fork_lock_prepare();
	prof_fork_lock_parent();
	EXPECT(prof_mono_ns() - began < took / 2);
	EXPECT(!prof_fork_lock_nvml_enter());
	atomic_store(&go_on, true);
	pthread_join(t, NULL);
	EXPECT(!prof_fork_lock_nvml_enter());
	EXPECT(prof_fork_lock_load_enter()); /* another gate */
	prof_fork_lock_load_leave();
}

/*
 * Threads that fork all the time do not keep a load out, and a load after the other lets them pass.
 */
static atomic_bool stop;
static atomic_uint forks;

static void *fork_on(void *unused)
{
	while (!atomic_load(&stop)) {
		prof_fork_lock_prepare();
		usleep(200);
		prof_fork_lock_parent();
		atomic_fetch_add(&forks, 1);
	}
	return unused;
}

static void test_storm(void)
{
	unsigned int i, before;
	pthread_t t[8];

	for (i = 0; i < 8; i++)
		REQUIRE(!pthread_create(&t[i], NULL, fork_on, NULL));
	nap(20);
	before = atomic_load(&forks);
	for (i = 0; i < 50; i++) {
		EXPECT(prof_fork_lock_load_enter());
		usleep(2000);
		prof_fork_lock_load_leave();
	}
	EXPECT(atomic_load(&forks) - before >= 8);
	atomic_store(&stop, true);
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	int failed = 0;

	failed |= RUN(test_fork_waits_for_load);
	failed |= RUN(test_load_waits_for_fork);
	failed |= RUN(test_fork_inside);
	failed |= RUN(test_storm);
	failed |= RUN(test_nvml_hangs);
	return failed;
}
