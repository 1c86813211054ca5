/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti that can use no driver, as CUDA 13.2's (ENDLESS) and 13.3's are seen to be: all that
 * it is asked for ends in the same way.
 */
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/* The real one calls itself until the stack is used up. */
static int answer(void)
{
#ifdef ENDLESS
	abort();
#endif
	return 999;
}

#define CALL(name)               \
	EXPORT int name(void);   \
	int name(void)           \
	{                        \
		return answer(); \
	}

CALL(cuptiGetVersion)
CALL(cuptiGetTimestamp)
CALL(cuptiActivityRegisterCallbacks)
CALL(cuptiActivityEnable)
CALL(cuptiActivityDisable)
CALL(cuptiActivityFlushAll)
CALL(cuptiActivityGetNextRecord)
CALL(cuptiActivityEnable_v2)
#ifndef ENDLESS
CALL(cuptiGetTimestamp_v2)
#endif
