/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that the process may use: as many as its affinity allows, and one when it is bound. */
#include "host/cores.h"

#include <sched.h>

#include "harness.h"

static void test_affinity(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	REQUIRE(!sched_getaffinity(0, sizeof(all), &all));
	EXPECT_UINT(prof_cores(), CPU_COUNT(&all));
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	REQUIRE(!sched_setaffinity(0, sizeof(one), &one));
	EXPECT_UINT(prof_cores(), 1);
}

int main(void)
{
	return RUN(test_affinity);
}
