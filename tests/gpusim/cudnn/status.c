/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - statuses and their words.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

#include "../standin.h"

static __thread char last[256];

enum dnn_status dnn_fail(enum dnn_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof last, format, args);
	va_end(args);
	return status;
}

enum dnn_status dnn_missing(const char *what)
{
	gpusim_missing(DNN_LIBRARY, what);
	return dnn_fail(DNN_NOT_SUPPORTED, "%s: not in the simulated cuDNN", what);
}

enum dnn_status dnn_driver(int result)
{
	if (result)
		return dnn_fail(DNN_EXECUTION_FAILED_CUDART, "the simulated driver answered %d",
				result);
	return DNN_SUCCESS;
}

const char *cudnnGetErrorString(enum dnn_status status)
{
	switch (status) {
#define TEXT(name, value) \
	case DNN_##name:  \
		return "CUDNN_STATUS_" #name;
		DNN_STATUSES(TEXT)
#undef TEXT
	}
	return "CUDNN_UNKNOWN_STATUS";
}

void cudnnGetLastErrorString(char *message, size_t size)
{
	if (!message || !size)
		return;
	snprintf(message, size, "%s", last);
	last[0] = 0;
}
