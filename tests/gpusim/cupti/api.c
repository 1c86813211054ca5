/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.c - what the stand-in exports: CUPTI's first-version activity API, as far as a tracer of
 * ours or a neighbour of it calls it. The driver is looked for when it is first needed; without
 * one the calls that need it return 999, as the real library's do.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "../trace.h"
#include "buffers.h"
#include "callnames.h"
#include "calls.h"
#include "cost.h"
#include "cupti.h"
#include "external.h"
#include "faults.h"
#include "layout.h"
#include "records.h"
#include "second.h"
#include "subscriber.h"
#include "timebase.h"

static const struct sim_export *driver;
static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t attribute[16];

/* ---- the driver ---- */

static const struct sim_export *find_driver(void)
{
	static const uint8_t id[16] = SIM_EXPORT_ID;
	void *handle = dlopen("libcuda.so.1", RTLD_NOW);
	int (*get)(const void **, const uint8_t *);
	const void *table = NULL;

	if (!handle)
		return NULL;
	*(void **)&get = dlsym(handle, "cuGetExportTable");
	if (!get || get(&table, id))
		return NULL;
	return table;
}

/* Attached at the first call that needs the driver. */
static int need_driver(void)
{
	pthread_mutex_lock(&driver_lock);
	if (!driver) {
		driver = find_driver();
		rec_driver = driver;
		if (driver) {
			driver->attach(&rec_tracer);
			call_tell_at_exit(driver);
			cost_tell(driver);
		}
	}
	pthread_mutex_unlock(&driver_lock);
	return driver ? CUPTI_OK : CUPTI_UNKNOWN;
}

int api_need_driver(void)
{
	return need_driver();
}

/* Of calls of the first interface: the driver, and that the process is not the second one's. */
static int may_first(void)
{
	int rc = need_driver();

	return rc ? rc : second_refuses();
}

/* ---- general ---- */

int cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_INVALID_PARAMETER;
	*version = SIM_CUPTI_API;
	return CUPTI_OK;
}

int cuptiGetTimestamp(uint64_t *t)
{
	if (!t)
		return CUPTI_INVALID_PARAMETER;
	if (second_refuses())
		return CUPTI_NOT_COMPATIBLE;
	*t = timebase_stamp(sim_now());
	return CUPTI_OK;
}

int cuptiGetResultString(int result, const char **text)
{
	static const struct {
		int code;
		const char *name;
	} known[] = {
		{ 0, "CUPTI_SUCCESS" },
		{ 1, "CUPTI_ERROR_INVALID_PARAMETER" },
		{ 2, "CUPTI_ERROR_INVALID_DEVICE" },
		{ 3, "CUPTI_ERROR_INVALID_CONTEXT" },
		{ 7, "CUPTI_ERROR_INVALID_OPERATION" },
		{ 8, "CUPTI_ERROR_OUT_OF_MEMORY" },
		{ 12, "CUPTI_ERROR_MAX_LIMIT_REACHED" },
		{ 14, "CUPTI_ERROR_NOT_COMPATIBLE" },
		{ 15, "CUPTI_ERROR_NOT_INITIALIZED" },
		{ 18, "CUPTI_ERROR_QUEUE_EMPTY" },
		{ 21, "CUPTI_ERROR_INVALID_KIND" },
		{ 27, "CUPTI_ERROR_NOT_SUPPORTED" },
		{ 35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" },
		{ 39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" },
		{ 41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED" },
		{ 43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED" },
		{ 999, "CUPTI_ERROR_UNKNOWN" },
	};
	size_t i;

	if (!text)
		return CUPTI_INVALID_PARAMETER;
	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].code == result) {
			*text = known[i].name;
			return CUPTI_OK;
		}
	*text = "<unknown>";
	return CUPTI_INVALID_PARAMETER;
}

int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
	if (!name)
		return CUPTI_INVALID_PARAMETER;
	*name = callname(domain, cbid);
	return *name ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

int cuptiGetDeviceId(void *context, uint32_t *device)
{
	int rc = need_driver(), found;

	if (rc)
		return rc;
	found = driver->context_device(context);
	if (found < 0)
		return CUPTI_INVALID_CONTEXT;
	*device = (uint32_t)found;
	return CUPTI_OK;
}

int cuptiGetContextId(void *context, uint32_t *id)
{
	int rc = need_driver();

	if (rc)
		return rc;
	if (!id)
		return CUPTI_INVALID_PARAMETER;
	*id = driver->context_id(context);
	return *id ? CUPTI_OK : CUPTI_INVALID_CONTEXT;
}

/* ---- subscribing: there is one place ---- */

int cuptiSupportedDomains(size_t *count, const int **table)
{
	static const int domains[SUB_DOMAINS] = { 1, 2, 3, 4, 5, 6 };
	int rc = need_driver();

	if (rc)
		return rc;
	if (!count || !table)
		return CUPTI_INVALID_PARAMETER;
	*count = SUB_DOMAINS;
	*table = domains;
	return CUPTI_OK;
}

int cuptiSubscribe(void **handle, sub_fn callback, void *data)
{
	int rc = need_driver();
	uintptr_t place;

	if (rc)
		return rc;
	if (!handle)
		return CUPTI_INVALID_PARAMETER;
	place = second_refuses() ? 0 : sub_take(callback, data);
	if (!place)
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	second_first_used(true);
	rec_config.subscribed = true;
	*handle = (void *)place;
	return CUPTI_OK;
}

int cuptiUnsubscribe(void *handle)
{
#if SIM_CUPTI_API >= 130300
	if (second_leave(handle))
		return CUPTI_OK;
#endif
	if (!sub_leave((uintptr_t)handle))
		return CUPTI_INVALID_PARAMETER;
	rec_config.subscribed = sub_held();
	return CUPTI_OK;
}

int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid)
{
	if (!domain || !cbid)
		return CUPTI_INVALID_PARAMETER;
	return sub_enable((uintptr_t)handle, enable, domain, cbid);
}

int cuptiEnableDomain(uint32_t enable, void *handle, int domain)
{
	if (!domain)
		return CUPTI_INVALID_PARAMETER;
	return sub_enable((uintptr_t)handle, enable, domain, 0);
}

int cuptiEnableAllDomains(uint32_t enable, void *handle)
{
	return sub_enable((uintptr_t)handle, enable, 0, 0);
}

int cuptiGetCallbackState(uint32_t *enable, void *handle, int domain, uint32_t cbid)
{
	bool on;
	int rc;

	if (!enable)
		return CUPTI_INVALID_PARAMETER;
	rc = sub_enabled((uintptr_t)handle, &on, domain, cbid);
	if (!rc)
		*enable = on;
	return rc;
}

/* ---- activity ---- */

int cuptiActivityRegisterCallbacks(buf_request_fn request, buf_complete_fn complete)
{
	call_pause(__func__);
	if (!request || !complete)
		return CUPTI_INVALID_PARAMETER;
	if (second_refuses())
		return CUPTI_NOT_COMPATIBLE;
	second_first_used(false);
	buf_callbacks(request, complete);
	if (!need_driver())
		fault_armed(driver);
	return CUPTI_OK;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*fn)(void))
{
	if (second_refuses())
		return CUPTI_NOT_COMPATIBLE;
	timebase_register(fn);
	return CUPTI_OK;
}

/* A kind that came later gives another answer than one that the model lacks. */
static int look_at_kind(int kind)
{
	if (kind <= 0 || kind > rec_last_kind())
		return CUPTI_NOT_COMPATIBLE;
	return rec_size((uint32_t)kind) ? CUPTI_OK : CUPTI_INVALID_KIND;
}

int cuptiActivityEnable(int kind)
{
	int rc = may_first();

	if (rc)
		return rc;
	call_pause(__func__);
	rc = look_at_kind(kind);
	if (!rc)
		rc = call_refused(kind);
	if (rc)
		return rc;
	second_first_used(false);
	rec_config.kind[kind] = true;
	if (kind == REC_DEVICE && buf_has_callbacks())
		rec_devices(driver);
	return CUPTI_OK;
}

int cuptiActivityDisable(int kind)
{
	int rc = may_first();

	if (!rc)
		rc = look_at_kind(kind);
	if (!rc)
		rec_config.kind[kind] = false;
	return rc;
}

#if SIM_CUPTI_API >= 23
static int enable_api(enum sim_domain domain, uint32_t cbid, uint8_t enable)
{
	int rc = may_first();

	if (rc)
		return rc;
	if (!cbid || cbid >= 2048)
		return CUPTI_INVALID_PARAMETER;
	rec_config.api[domain][cbid] = enable ? 1 : 2;
	if (enable)
		rec_config.any_cbid = true;
	return CUPTI_OK;
}

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	return enable_api(SIM_RUNTIME, cbid, enable);
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return enable_api(SIM_DRIVER, cbid, enable);
}
#endif

#if SIM_CUPTI_API >= 26
int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	int rc = may_first();

	if (!rc)
		rec_config.all_sync = enable;
	return rc;
}
#endif

#if SIM_CUPTI_API >= 130000
int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
	int rc = may_first();

	if (!rc)
		rec_config.event_stamps = enable;
	return rc;
}
#endif

static bool external_kind(int kind)
{
	return kind > 0 && kind < EXT_KINDS;
}

/* The kind is looked at before the driver is, as CUPTI 13.0 does. */
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
	int rc = external_kind(kind) ? may_first() : CUPTI_INVALID_PARAMETER;

	if (!rc && !ext_push(kind, id))
		rc = CUPTI_OUT_OF_MEMORY;
	return rc;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last)
{
	int rc = external_kind(kind) ? may_first() : CUPTI_INVALID_PARAMETER;
	uint64_t id;

	if (rc)
		return rc;
	if (!ext_pop(kind, &id))
		return CUPTI_QUEUE_EMPTY;
	if (last)
		*last = id;
	return CUPTI_OK;
}

/* Tracing by hardware is Blackwell's; nothing of it is modelled. Which GPU it is shows cuInit. */
#if SIM_CUPTI_API >= 26
int cuptiActivityEnableHWTrace(uint8_t enable)
{
	int rc = may_first();

	if (!rc && !driver->alive())
		rc = CUPTI_NOT_INITIALIZED;
	if (!rc && enable)
		rc = CUPTI_NOT_SUPPORTED;
	return rc;
}
#endif

int cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	int rc = may_first();

	if (!rc)
		rec_config.latency = enable;
	return rc;
}

/* What a flush has kept back, where GPUSIM_TRUTH_FLUSHES asks for it. */
static void tell_flush(uint64_t begin)
{
	const char *wanted = getenv("GPUSIM_TRUTH_FLUSHES");
	char line[160];

	if (!wanted || *wanted != '1')
		return;
	snprintf(line, sizeof line,
		 "{\"flush\":%llu,\"end_ns\":%llu,\"held_since_ns\":%llu,\"pid\":%d}",
		 (unsigned long long)begin, (unsigned long long)sim_now(),
		 (unsigned long long)buf_oldest(), getpid());
	driver->truth(line, strlen(line));
}

int cuptiActivityFlushAll(uint32_t flag)
{
	uint64_t begin = sim_now();
	int rc = need_driver();

	if (rc)
		return rc;
	fault_hang();
	if (second_holds())
		second_flush(flag & 1);
	else if (!second_poisoned())
		buf_flush(flag & 1);
	tell_flush(begin);
	return CUPTI_OK;
}

int cuptiActivityFlushPeriod(uint32_t ms)
{
	int rc = may_first();

	if (!rc)
		buf_set_period(ms);
	return rc;
}

/* A pure function of the buffer; where there is no next record the pointer stays as it is. */
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	int rc = second_refuses();

	return rc ? rc : rec_next(buffer, valid, record);
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	if (!dropped)
		return CUPTI_INVALID_PARAMETER;
	if (second_refuses())
		return CUPTI_NOT_COMPATIBLE;
	*dropped = buf_dropped();
	return CUPTI_OK;
}

/* ---- attributes ---- */

enum {
	ATTR_ZEROED = 5,
	ATTR_PER_THREAD = 9,
	ATTR_COUNT = 11
};

static bool known_attribute(int a)
{
	return a >= 0 && a < ATTR_COUNT && (a < ATTR_PER_THREAD || SIM_CUPTI_API >= 21);
}

int cuptiActivitySetAttribute(int a, size_t *size, void *value)
{
	int rc = may_first();

	call_pause(__func__);
	if (rc)
		return rc;
	if (!known_attribute(a) || !size || !value || !*size || *size > sizeof attribute[0])
		return CUPTI_INVALID_PARAMETER;
	attribute[a] = 0;
	memcpy(&attribute[a], value, *size);
	if (a == ATTR_ZEROED)
		buf_set_zeroed(attribute[a] & 0xff);
	if (a == ATTR_PER_THREAD)
		buf_set_per_thread(attribute[a] & 0xff);
	return CUPTI_OK;
}

int cuptiActivityGetAttribute(int a, size_t *size, void *value)
{
	int rc = may_first();

	if (rc)
		return rc;
	if (!known_attribute(a) || !size || !value || !*size || *size > sizeof attribute[0])
		return CUPTI_INVALID_PARAMETER;
	if (a == ATTR_ZEROED)
		attribute[a] = buf_zeroed();
	if (a == ATTR_PER_THREAD)
		attribute[a] = buf_per_thread();
	memcpy(value, &attribute[a], *size);
	return CUPTI_OK;
}

#define THREAD_ID_SYSTEM 1 /* 0: what pthread_self() gives */

int cuptiSetThreadIdType(int type)
{
	if (type < 0 || type > THREAD_ID_SYSTEM)
		return CUPTI_INVALID_PARAMETER;
	if (second_refuses())
		return CUPTI_NOT_COMPATIBLE;
	rec_config.system_tids = type == THREAD_ID_SYSTEM;
	return CUPTI_OK;
}

int cuptiGetThreadIdType(int *type)
{
	if (!type)
		return CUPTI_INVALID_PARAMETER;
	*type = rec_config.system_tids ? THREAD_ID_SYSTEM : 0;
	return CUPTI_OK;
}

/* Everything off; a client may begin again. */
int cuptiFinalize(void)
{
	if (!second_finalize())
		return CUPTI_OK;
	memset(rec_config.kind, 0, sizeof rec_config.kind);
	memset(rec_config.api, 0, sizeof rec_config.api);
	rec_config.any_cbid = rec_config.system_tids = false;
	sub_drop();
	rec_config.subscribed = false;
	ext_forget();
	buf_callbacks(NULL, NULL);
	cost_forget();
	return CUPTI_OK;
}

__attribute__((constructor)) static void loaded(void)
{
	static const size_t defaults[] = {
		[0] = 3200000, [1] = 16384, [2] = 250, [3] = 8, [4] = 250, [6] = 3, [7] = 3
	};
	const char *v = getenv("CUPTI_PER_THREAD_ACTIVITY_BUFFER");

	memcpy(attribute, defaults, sizeof defaults);
	rec_config.all_sync = true;
	if (v && *v && SIM_CUPTI_API >= 21)
		buf_set_per_thread(*v != '0');
}
