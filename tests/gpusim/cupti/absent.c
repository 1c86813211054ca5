/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.c - the profiling of ranges and what lists metrics, which clients import and the model
 * does not have: each call is counted in the truth file and answers that it is not supported.
 */
#include "cupti.h"
#include "layout.h"
#include "records.h"

#if SIM_CUPTI_API >= 24

#define LIBRARY "libcupti"

static int absent(const char *function)
{
	int rc = api_need_driver();

	if (rc)
		return rc;
	rec_driver->missing(LIBRARY, function);
	return CUPTI_NOT_SUPPORTED;
}

#define ABSENT(name)                      \
	SIM_CUPTI int name(void *params); \
	int name(void *params)            \
	{                                 \
		(void)params;             \
		return absent(#name);     \
	}

ABSENT(cuptiProfilerBeginPass)
ABSENT(cuptiProfilerBeginSession)
ABSENT(cuptiProfilerCounterDataImageCalculateScratchBufferSize)
ABSENT(cuptiProfilerCounterDataImageCalculateSize)
ABSENT(cuptiProfilerCounterDataImageInitialize)
ABSENT(cuptiProfilerCounterDataImageInitializeScratchBuffer)
ABSENT(cuptiProfilerDeviceSupported)
ABSENT(cuptiProfilerDisableProfiling)
ABSENT(cuptiProfilerEnableProfiling)
ABSENT(cuptiProfilerEndPass)
ABSENT(cuptiProfilerEndSession)
ABSENT(cuptiProfilerFlushCounterData)
ABSENT(cuptiProfilerGetCounterAvailability)
ABSENT(cuptiProfilerHostGetBaseMetrics)
ABSENT(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass)
ABSENT(cuptiProfilerHostGetMetricProperties)
ABSENT(cuptiProfilerHostGetRangeName)
ABSENT(cuptiProfilerHostGetSubMetrics)
ABSENT(cuptiProfilerHostGetSupportedChips)
ABSENT(cuptiProfilerIsPassCollected)
ABSENT(cuptiProfilerPopRange)
ABSENT(cuptiProfilerPushRange)
ABSENT(cuptiProfilerSetConfig)
ABSENT(cuptiProfilerUnsetConfig)

#endif
