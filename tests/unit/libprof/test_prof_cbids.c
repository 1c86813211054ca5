/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of API calls: sorted, found by id, named as the ledger's rules need them, and equal to
 * CUPTI's headers where they are installed (scripts/cbids does that comparison).
 */
#include "cupti/cbids.h"

#include <sys/wait.h>
#include "harness.h"
#include "wire/event.h"

struct expected {
	uint8_t domain;
	uint32_t cbid;
	const char *name; /* NULL: not wanted */
};

static void test_known(void)
{
	static const struct expected known[] = {
		{ WIRE_DOMAIN_RUNTIME, 31, "cudaMemcpy" },
		{ WIRE_DOMAIN_RUNTIME, 41, "cudaMemcpyAsync" },
		{ WIRE_DOMAIN_RUNTIME, 131, "cudaStreamSynchronize" },
		{ WIRE_DOMAIN_RUNTIME, 137, "cudaEventSynchronize" },
		{ WIRE_DOMAIN_RUNTIME, 147, "cudaStreamWaitEvent" },
		{ WIRE_DOMAIN_RUNTIME, 165, "cudaDeviceSynchronize" },
		{ WIRE_DOMAIN_RUNTIME, 211, "cudaLaunchKernel" },
		{ WIRE_DOMAIN_RUNTIME, 225, "cudaMemcpyAsync_ptsz" },
		{ WIRE_DOMAIN_RUNTIME, 311, "cudaGraphLaunch" },
		{ WIRE_DOMAIN_RUNTIME, 373, "cudaMallocAsync" },
		{ WIRE_DOMAIN_RUNTIME, 430, "cudaLaunchKernelExC" },
		{ WIRE_DOMAIN_RUNTIME, 482, "cudaMemcpyBatchAsync" },
		{ WIRE_DOMAIN_RUNTIME, 505, "__cudaLaunchKernel" },
		{ WIRE_DOMAIN_RUNTIME, 506, "__cudaLaunchKernel_ptsz" },
		{ WIRE_DOMAIN_RUNTIME, 509, "cudaMemcpyBatchAsync" },
		{ WIRE_DOMAIN_RUNTIME, 17, NULL }, /* cudaGetDevice */
		{ WIRE_DOMAIN_RUNTIME, 132, NULL }, /* cudaStreamQuery */
		{ WIRE_DOMAIN_RUNTIME, 289, NULL }, /* cudaGraphAddKernelNode */
		{ WIRE_DOMAIN_DRIVER, 17, "cuCtxSynchronize" },
		{ WIRE_DOMAIN_DRIVER, 126, "cuStreamSynchronize" },
		{ WIRE_DOMAIN_DRIVER, 277, "cuMemcpyHtoDAsync_v2" },
		{ WIRE_DOMAIN_DRIVER, 307, "cuLaunchKernel" },
		{ WIRE_DOMAIN_DRIVER, 442, "cuLaunchKernel_ptsz" },
		{ WIRE_DOMAIN_DRIVER, 514, "cuGraphLaunch" },
		{ WIRE_DOMAIN_DRIVER, 652, "cuLaunchKernelEx" },
		{ WIRE_DOMAIN_DRIVER, 683, "cuKernelGetFunction" },
		{ WIRE_DOMAIN_DRIVER, 800, "cuCtxSynchronize_v2" },
		{ WIRE_DOMAIN_RUNTIME, 534, "cudaExecutionCtxSynchronize" }, /* 13.1 */
		{ WIRE_DOMAIN_RUNTIME, 554, "cudaMemcpyWithAttributesAsync" }, /* 13.2 */
		{ WIRE_DOMAIN_DRIVER, 30, "cu64MemAlloc" }, /* given up in 13.1 */
		{ WIRE_DOMAIN_DRIVER, 304, NULL }, /* cuCtxGetCurrent */
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *name = prof_cbid_name(known[i].domain, known[i].cbid);

		EXPECT(prof_cbid_wanted(known[i].domain, known[i].cbid) == !!known[i].name);
		if (known[i].name)
			EXPECT_STR(name, known[i].name);
	}
	EXPECT(!prof_cbid_name(WIRE_DOMAIN_RUNTIME, 0));
	EXPECT(!prof_cbid_name(WIRE_DOMAIN_RUNTIME, UINT32_MAX));
	EXPECT(!prof_cbid_name(0, 211));
	EXPECT(!prof_cbid_name(3, 211));
}

static void expect_table(uint8_t domain, size_t least)
{
	size_t n, i;
	const struct prof_cbid *rows = prof_cbids(domain, &n);

	EXPECT(n >= least);
	for (i = 0; i < n; i++) {
		EXPECT_STR(prof_cbid_name(domain, rows[i].cbid), rows[i].name);
		if (i)
			EXPECT(rows[i].cbid > rows[i - 1].cbid);
	}
}

static void test_tables(void)
{
	size_t n;

	expect_table(WIRE_DOMAIN_DRIVER, 200);
	expect_table(WIRE_DOMAIN_RUNTIME, 100);
	EXPECT(!prof_cbids(0, &n));
	EXPECT_UINT(n, 0);
}

static void test_headers(void)
{
	int status = system("/usr/bin/python3 '" TESTS_DIR "/../scripts/cbids' check");

	if (WIFEXITED(status) && WEXITSTATUS(status) == T_SKIPPED)
		return;
	EXPECT_INT(status, 0);
}

int main(void)
{
	return RUN(test_known, test_tables, test_headers);
}
