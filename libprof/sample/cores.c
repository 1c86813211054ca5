/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores by affinity, and by cpu.max (cgroup 2) or cpu.cfs_quota_us (1) of each level: a container
 * may see 64 cores and have the time of two.
 */
#include "cores.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/procfile.h"

#define CPUS_MAX 8192 /* the kernel's NR_CPUS at most; cpu_set_t holds 1024 */

static uint32_t by_affinity(void)
{
	unsigned long mask[CPUS_MAX / (8 * sizeof(unsigned long))] = { 0 };
	uint32_t cores = 0;
	size_t i;

	if (sched_getaffinity(getpid(), sizeof(mask), (cpu_set_t *)mask))
		return 0;
	for (i = 0; i < sizeof(mask) / sizeof(mask[0]); i++)
		cores += (uint32_t)__builtin_popcountl(mask[i]);
	return cores;
}

/* The text of @file in the folder of the cpu.stat file @beside. */
static bool read_beside(const char *beside, const char *file, char *text, size_t room)
{
	size_t folder = strlen(beside) - strlen("cpu.stat");
	char path[600];
	int n = snprintf(path, sizeof(path), "%.*s%s", (int)folder, beside, file);

	return n > 0 && n < (int)sizeof(path) && prof_proc_read(path, text, room) > 0;
}

/* Cores whose time a level grants; 0: no quota ("max", or -1), or none to be read. */
static uint64_t by_quota(const char *stat)
{
	char text[64], period_text[64];
	const char *p = text, *q = period_text;
	uint64_t quota, period;

	if (read_beside(stat, "cpu.max", text, sizeof(text))) {
		if (!prof_proc_number(&p, &quota) || *p++ != ' ' || !prof_proc_number(&p, &period))
			return 0;
	} else if (!read_beside(stat, "cpu.cfs_quota_us", text, sizeof(text)) ||
		   !read_beside(stat, "cpu.cfs_period_us", period_text, sizeof(period_text)) ||
		   !prof_proc_number(&p, &quota) || !prof_proc_number(&q, &period)) {
		return 0;
	}
	if ((int64_t)quota <= 0 || (int64_t)period <= 0)
		return 0;
	return (quota - 1) / period + 1;
}

uint32_t prof_cores_within(uint32_t cores, const struct prof_throttle *t)
{
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		uint64_t granted = by_quota(t->path[i]);

		if (granted && granted < cores)
			cores = (uint32_t)granted;
	}
	return cores;
}

uint32_t prof_cores(void)
{
	static struct prof_throttle levels; /* large */
	struct prof_mounts mounts = { 0 };

	levels.count = 0;
	if (!prof_mounts_read(&mounts, "/proc/self/mountinfo"))
		prof_throttle_find(&levels, &mounts);
	prof_mounts_free(&mounts);
	return prof_cores_within(by_affinity(), &levels);
}
