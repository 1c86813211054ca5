/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.h - the exported functions, with plain C types in place of CUPTI's. Semantics are those
 * of CUPTI's manual for the version being built; README.md lists the manners that are copied.
 */
#ifndef SIM_CUPTI_CUPTI_H
#define SIM_CUPTI_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#include "buffers.h"
#include "subscriber.h"

#define SIM_CUPTI __attribute__((visibility("default")))

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_INVALID_CONTEXT = 3,
	CUPTI_OUT_OF_MEMORY = 8,
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_QUEUE_EMPTY = 18,
	CUPTI_INVALID_KIND = 21,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_UNKNOWN = 999
};

SIM_CUPTI int cuptiGetVersion(uint32_t *version);
SIM_CUPTI int cuptiGetTimestamp(uint64_t *t);
SIM_CUPTI int cuptiGetResultString(int result, const char **text);
SIM_CUPTI int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name);
SIM_CUPTI int cuptiGetDeviceId(void *context, uint32_t *device);
SIM_CUPTI int cuptiGetContextId(void *context, uint32_t *id);
SIM_CUPTI int cuptiSupportedDomains(size_t *count, const int **table);
SIM_CUPTI int cuptiSubscribe(void **handle, sub_fn callback, void *data);
SIM_CUPTI int cuptiUnsubscribe(void *handle);
SIM_CUPTI int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid);
SIM_CUPTI int cuptiEnableDomain(uint32_t enable, void *handle, int domain);
SIM_CUPTI int cuptiEnableAllDomains(uint32_t enable, void *handle);
SIM_CUPTI int cuptiGetCallbackState(uint32_t *enable, void *handle, int domain, uint32_t cbid);
SIM_CUPTI int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
SIM_CUPTI int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last);
SIM_CUPTI int cuptiActivityRegisterCallbacks(buf_request_fn request, buf_complete_fn complete);
SIM_CUPTI int cuptiActivityRegisterTimestampCallback(uint64_t (*fn)(void));
SIM_CUPTI int cuptiActivityEnable(int kind);
SIM_CUPTI int cuptiActivityDisable(int kind);
SIM_CUPTI int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
SIM_CUPTI int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
SIM_CUPTI int cuptiActivityEnableAllSyncRecords(uint8_t enable);
SIM_CUPTI int cuptiActivityEnableLatencyTimestamps(uint8_t enable);
SIM_CUPTI int cuptiActivityFlushAll(uint32_t flag);
SIM_CUPTI int cuptiActivityFlushPeriod(uint32_t ms);
SIM_CUPTI int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
SIM_CUPTI int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
SIM_CUPTI int cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
SIM_CUPTI int cuptiActivityGetAttribute(int attribute, size_t *size, void *value);
SIM_CUPTI int cuptiSetThreadIdType(int type);
SIM_CUPTI int cuptiGetThreadIdType(int *type);
SIM_CUPTI int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable);
SIM_CUPTI int cuptiActivityEnableHWTrace(uint8_t enable);
SIM_CUPTI int cuptiFinalize(void);

/* CUPTI_OK once the driver is attached (rec_driver), CUPTI_UNKNOWN without one. */
int api_need_driver(void);

#endif
