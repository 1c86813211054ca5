/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that a process may use: those of its affinity, fewer where a cgroup has a quota. */
#include "sample/cores.h"

#include <sched.h>
#include <sys/stat.h>

#include "harness.h"

static char dir[256];
static struct prof_throttle levels;

static void put(const char *name, const char *text)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (text)
		t_put_text(dir, name, text);
	else
		unlink(path);
}

/* One level, with what cgroup 2 says, or cgroup 1. */
static uint32_t within(const char *max, const char *quota, const char *period)
{
	put("cpu.max", max);
	put("cpu.cfs_quota_us", quota);
	put("cpu.cfs_period_us", period);
	return prof_cores_within(64, &levels);
}

static void test_quotas(void)
{
	t_tempdir(dir, sizeof(dir));
	levels.count = 1;
	snprintf(levels.path[0], sizeof(levels.path[0]), "%s/cpu.stat", dir);
	EXPECT_UINT(within(NULL, NULL, NULL), 64);
	EXPECT_UINT(within("max 100000\n", NULL, NULL), 64);
	EXPECT_UINT(within("200000 100000\n", NULL, NULL), 2);
	EXPECT_UINT(within("250000 100000\n", NULL, NULL), 3);
	EXPECT_UINT(within("1000 100000\n", NULL, NULL), 1);
	EXPECT_UINT(within("9900000 100000\n", NULL, NULL), 64);
	EXPECT_UINT(within("200000\n", NULL, NULL), 64);
	EXPECT_UINT(within("200000 0\n", NULL, NULL), 64);
	EXPECT_UINT(within("", NULL, NULL), 64);
	EXPECT_UINT(within(NULL, "-1\n", "100000\n"), 64);
	EXPECT_UINT(within(NULL, "150000\n", "50000\n"), 3);
	EXPECT_UINT(within(NULL, "150000\n", NULL), 64);
	within(NULL, NULL, NULL);
	EXPECT(!rmdir(dir));
}

/* The tightest of several levels holds. */
static void test_levels(void)
{
	char inner[300];

	t_tempdir(dir, sizeof(dir));
	snprintf(inner, sizeof(inner), "%s/inner", dir);
	REQUIRE(!mkdir(inner, 0755));
	levels.count = 2;
	snprintf(levels.path[0], sizeof(levels.path[0]), "%s/inner/cpu.stat", dir);
	snprintf(levels.path[1], sizeof(levels.path[1]), "%s/cpu.stat", dir);
	put("cpu.max", "400000 100000\n");
	put("inner/cpu.max", "700000 100000\n");
	EXPECT_UINT(prof_cores_within(64, &levels), 4);
	EXPECT_UINT(prof_cores_within(3, &levels), 3);
	EXPECT_UINT(prof_cores_within(0, &levels), 0);
	put("inner/cpu.max", NULL);
	put("cpu.max", NULL);
	EXPECT(!rmdir(inner) && !rmdir(dir));
}

static void test_affinity(void)
{
	cpu_set_t all, one;
	uint32_t cores;
	int cpu = 0;

	REQUIRE(!sched_getaffinity(0, sizeof(all), &all));
	cores = prof_cores();
	EXPECT(cores >= 1 && cores <= (uint32_t)CPU_COUNT(&all));
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	REQUIRE(!sched_setaffinity(0, sizeof(one), &one));
	EXPECT_UINT(prof_cores(), 1);
}

int main(void)
{
	return RUN(test_quotas, test_levels, test_affinity);
}
