/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's numbers of API calls are those of NVIDIA's headers.
 */
#include <cuda.h>
#include <cupti.h>

#include "../cbid.h"
#include "harness.h"

static void test_driver(void)
{
#define CHECK(name, id) EXPECT_INT(CUPTI_DRIVER_TRACE_CBID_##name, id);
	SIM_DRIVER_CALLS(CHECK)
#undef CHECK
}

static void test_runtime(void)
{
#define JOIN(a, b, c) a##b##c
#define CHECK(name, id, suffix) EXPECT_INT(JOIN(CUPTI_RUNTIME_TRACE_CBID_, name, suffix), id);
	SIM_RUNTIME_CALLS(CHECK)
}

int main(void)
{
	return RUN(test_driver, test_runtime);
}
