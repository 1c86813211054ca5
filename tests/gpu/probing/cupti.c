/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.c - finds libcupti, keeps its buffers, counts what is in them.
 */
#include "cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFERS 128
#define BUFFER_BYTES (256u << 10)
#define NAMES_LAUNCH_DRIVER 307 /* cuLaunchKernel among CUPTI_CB_DOMAIN_DRIVER_API (1) */
#define NAMES_LAUNCH_RUNTIME 211 /* cudaLaunchKernel_v7000 among ..._RUNTIME_API (2) */

struct cupti cupti;
void *cupti_library;

const int cupti_all[] = {
	KIND_KERNEL, KIND_MEMCPY, KIND_MEMCPY2, KIND_MEMSET, KIND_SYNC, KIND_GRAPH, 0
};
const int cupti_light[] = { KIND_MEMCPY, KIND_MEMCPY2, KIND_MEMSET, KIND_SYNC, KIND_GRAPH, 0 };
const int cupti_kernel[] = { KIND_KERNEL, 0 };

static char why[400];
static uint32_t version;
static bool counting;
static struct seen seen;
static uint8_t *spare[BUFFERS];
static unsigned spares;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t flusher;
static atomic_bool flushing;

/* ---- the library ---- */

static void load(void *lib)
{
#define GET(field, name)                              \
	do {                                          \
		void *fn = dlsym(lib, "cupti" name);  \
		memcpy(&cupti.field, &fn, sizeof fn); \
	} while (0)
	GET(GetVersion, "GetVersion");
	GET(GetTimestamp, "GetTimestamp");
	GET(GetResultString, "GetResultString");
	GET(RegisterCallbacks, "ActivityRegisterCallbacks");
	GET(Enable, "ActivityEnable");
	GET(Disable, "ActivityDisable");
	GET(FlushAll, "ActivityFlushAll");
	GET(GetNextRecord, "ActivityGetNextRecord");
	GET(GetNumDroppedRecords, "ActivityGetNumDroppedRecords");
	GET(EnableCudaEventDeviceTimestamps, "ActivityEnableCudaEventDeviceTimestamps");
	GET(EnableHWTrace, "ActivityEnableHWTrace");
	GET(Subscribe, "Subscribe");
	GET(Unsubscribe, "Unsubscribe");
	GET(EnableCallback, "EnableCallback");
	GET(Finalize, "Finalize");
#undef GET
}

static void *open_any(void)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
					     "libcupti.so" };
	const char *path = getenv("PROBE_CUPTI");
	void *lib = NULL;
	size_t i;

	if (path && *path)
		return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	for (i = 0; !lib && i < sizeof names / sizeof names[0]; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
	return lib;
}

int cupti_load(void)
{
	cupti_library = open_any();
	if (!cupti_library) {
		snprintf(why, sizeof why, "%s", dlerror());
		return -1;
	}
	load(cupti_library);
	if (!cupti.GetVersion || !cupti.RegisterCallbacks || !cupti.Enable || !cupti.Disable ||
	    !cupti.FlushAll || !cupti.GetNextRecord || cupti.GetVersion(&version)) {
		snprintf(why, sizeof why, "libcupti lacks the activity interface");
		return -1;
	}
	return 0;
}

const char *cupti_why(void)
{
	return why;
}

uint32_t cupti_version(void)
{
	return version;
}

const char *cupti_words(int rc)
{
	const char *text = NULL;

	if (!cupti.GetResultString || cupti.GetResultString(rc, &text) || !text)
		return "no words";
	return strncmp(text, "CUPTI_", 6) ? text : text + 6;
}

/* ---- buffers ---- */

static void on_request(uint8_t **buffer, size_t *size, size_t *most)
{
	pthread_mutex_lock(&lock);
	*buffer = spares ? spare[--spares] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer)
		*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most = 0;
}

/* Where begin and end of a record's time stand; 0: it has none that we know. */
static unsigned stamps_at(uint32_t kind)
{
	switch (kind) {
	case KIND_MEMCPY:
	case KIND_MEMSET:
	case KIND_KERNEL:
	case KIND_MEMCPY2:
		return 16;
	case KIND_SYNC:
	case KIND_GRAPH:
		return 8;
	}
	return 0;
}

static void look_at(const uint8_t *record)
{
	uint64_t begin = 0, end = 0;
	uint32_t kind;
	unsigned at;

	memcpy(&kind, record, sizeof kind);
	if (kind >= KINDS)
		return;
	seen.records[kind]++;
	at = stamps_at(kind);
	if (!at)
		return;
	memcpy(&begin, record + at, sizeof begin);
	memcpy(&end, record + at + 8, sizeof end);
	seen.no_start[kind] += !begin || end < begin;
	if (kind != KIND_KERNEL || !begin || end < begin)
		return;
	seen.kernel_ns += end - begin;
	seen.first_ns = !seen.first_ns || begin < seen.first_ns ? begin : seen.first_ns;
	seen.last_ns = end > seen.last_ns ? end : seen.last_ns;
}

static void read_records(uint8_t *buffer, size_t valid)
{
	void *record = NULL;
	int rc;

	while (!(rc = cupti.GetNextRecord(buffer, valid, &record)))
		look_at(record);
	seen.unknown += rc != 12; /* CUPTI_ERROR_MAX_LIMIT_REACHED is the end */
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&lock);
	seen.bytes += valid;
	if (counting && valid)
		read_records(buffer, valid);
	if (spares < BUFFERS)
		spare[spares++] = buffer;
	else
		free(buffer);
	pthread_mutex_unlock(&lock);
}

static void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void *flush_on(void *arg)
{
	while (atomic_load(&flushing)) {
		nap(100);
		if (atomic_load(&flushing))
			cupti.FlushAll(0);
	}
	return arg;
}

int cupti_begin(bool count)
{
	int rc;

	counting = count;
	rc = cupti.RegisterCallbacks(on_request, on_complete);
	if (rc)
		return rc;
	atomic_store(&flushing, true);
	if (pthread_create(&flusher, NULL, flush_on, NULL))
		atomic_store(&flushing, false);
	return 0;
}

void cupti_stop_flushing(void)
{
	if (atomic_exchange(&flushing, false))
		pthread_join(flusher, NULL);
}

int cupti_switch(const int *kinds, bool on)
{
	int first = 0;

	for (; *kinds; kinds++) {
		int rc = on ? cupti.Enable(*kinds) : cupti.Disable(*kinds);

		first = first ? first : rc;
	}
	return first;
}

void cupti_fetch(void)
{
	cupti.FlushAll(1);
	nap(50);
}

struct seen cupti_seen(void)
{
	struct seen copy;

	pthread_mutex_lock(&lock);
	copy = seen;
	pthread_mutex_unlock(&lock);
	return copy;
}

size_t cupti_dropped(void)
{
	size_t n = 0;

	if (cupti.GetNumDroppedRecords)
		cupti.GetNumDroppedRecords(NULL, 0, &n);
	return n;
}

/* ---- a subscriber ---- */

static atomic_ulong calls;

static void on_call(void *data, int domain, uint32_t id, const void *info)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)info;
	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

int cupti_subscribe(void **subscriber)
{
	void (*callback)(void *, int, uint32_t, const void *) = on_call;
	void *pointer;
	int rc;

	if (!cupti.Subscribe || !cupti.EnableCallback)
		return 27;
	memcpy(&pointer, &callback, sizeof pointer);
	rc = cupti.Subscribe(subscriber, pointer, NULL);
	if (!rc)
		rc = cupti.EnableCallback(1, *subscriber, 1, NAMES_LAUNCH_DRIVER);
	if (!rc)
		rc = cupti.EnableCallback(1, *subscriber, 2, NAMES_LAUNCH_RUNTIME);
	return rc;
}
