/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler while the program forks: looks that it had to leave out are counted, in this process
 * and, through the memory that they share, in a loader's worker; without forks there are none.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "core/clockpoll.h"
#include "core/config.h"
#include "core/fork_lock.h"
#include "harness.h"
#include "loader/worker.h"
#include "sample/evidence.h"
#include "sample/shared.h"

#define MS 1000000ll

static const uint8_t stream[16] = { 7 };

static uint64_t lost(void)
{
	struct prof_evidence_stats s;

	prof_evidence_stats(&s);
	return s.dropped;
}

static uint64_t taken(void)
{
	struct prof_evidence_stats s;

	prof_evidence_stats(&s);
	return s.samples;
}

/* The device runs dry: until it has looked @looks times, or given up on some. */
static void starve(uint64_t looks)
{
	uint64_t before = taken() + lost();
	int i;

	for (i = 0; i < 5000 && taken() + lost() < before + looks; i++) {
		prof_sampler_drained(prof_mono_ns() - 100 * MS);
		usleep(1000);
	}
	EXPECT(taken() + lost() >= before + looks);
}

static void test_own(void)
{
	setenv("GPUSTARVE_SAMPLER", "1", 1);
	prof_config_read();
	prof_sampler_start();
	starve(20);
	EXPECT_UINT(lost(), 0);
	prof_fork_lock_prepare();
	usleep(500000);
	prof_fork_lock_parent();
	EXPECT(lost() >= 5); /* 100 ms each, and as many turns as they would have taken */
	printf("%llu looks lost\n", (unsigned long long)lost());
	prof_sampler_stop(prof_mono_ns() + 5000 * MS);
}

/* A worker, asked to look twenty times a second, that forks all the time. */
static void be_worker(void)
{
	prof_fork_lock_child();
	prof_shared_forked();
	prof_worker_forked();
	prof_fork_lock_prepare();
	prof_worker_fetches();
	pause();
}

static bool take_batch(void *ctx, const struct wire_batch *row)
{
	return ctx || row;
}

static void take_look(void *ctx, struct prof_thread_sample *look)
{
	(void)look;
	++*(unsigned int *)ctx;
}

static void test_worker(void)
{
	unsigned int looks = 0;
	struct prof_shared_sink sink = { take_batch, take_look, &looks };
	struct prof_shared_stats s = { 0 };
	int i, status;
	pid_t child;

	REQUIRE(!prof_shared_create(stream));
	child = fork();
	if (!child) {
		be_worker();
		_exit(0);
	}
	prof_shared_idle(true, 20);
	for (i = 0; i < 100 && s.missed < 5; i++) {
		usleep(50000);
		prof_shared_drain(&sink);
		prof_shared_stats(&s);
	}
	EXPECT(s.missed >= 5);
	EXPECT_UINT(looks, 0);
	EXPECT_UINT(s.dropped, 0);
	kill(child, SIGKILL);
	REQUIRE(waitpid(child, &status, 0) == child);
}

int main(void)
{
	return RUN(test_own, test_worker);
}
