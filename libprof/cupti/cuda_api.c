/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the libraries, loads the pointers, learns the size of each record.
 */
#include "cuda_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "core/log.h"
#include "facts/cupti.h"
#include "record.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define CUPTI_SECOND 130200u /* its struct of parameters is as long as ours since then */

struct cupti_name {
	const char *name;
	int driver; /* needed at least, as cuDriverGetVersion counts */
};

static const struct cupti_name cupti_names[] = {
	{ "libcupti.so.13", 13000 },
	{ "libcupti.so.12", 12000 },
	{ "libcupti.so.11.8", 11000 },
};

/* A CUPTI newer than the driver does not work. INT_MAX: not known. */
static int driver_version(void)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *address;
	int (*get)(int *) = NULL, version = INT_MAX;

	address = handle ? dlsym(handle, "cuDriverGetVersion") : NULL;
	memcpy(&get, &address, sizeof(address));
	if (!get || get(&version))
		return INT_MAX;
	return version;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct search {
	const char *prefix; /* of the file's name */
	char *path;
	size_t size;
};

static int match_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;

	(void)size;
	if (!info->dlpi_name || strncmp(file_name(info->dlpi_name), s->prefix, strlen(s->prefix)))
		return 0;
	return snprintf(s->path, s->size, "%s", info->dlpi_name) < (int)s->size;
}

/* Path of a library in this process whose file name begins so; false if there is none. */
static bool loaded_library(const char *prefix, char *path, size_t size)
{
	struct search s = { prefix, path, size };

	return dl_iterate_phdr(match_library, &s) == 1;
}

static void *cupti_in_process(void)
{
	char path[512];
	void *handle = NULL;
	size_t i;

	for (i = 0; i < COUNT(cupti_names) && !handle; i++)
		handle = dlopen(cupti_names[i].name, RTLD_NOW | RTLD_NOLOAD);
	if (!handle && loaded_library("libcupti.so", path, sizeof(path)))
		handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	return handle;
}

/* The first name that the folder has ("": the loader finds) and the driver can carry. */
static void *cupti_in(const char *folder, const char *below)
{
	int driver = driver_version();
	char path[1200];
	void *handle = NULL;
	size_t i;

	for (i = 0; i < COUNT(cupti_names) && !handle; i++) {
		if (cupti_names[i].driver > driver)
			continue;
		snprintf(path, sizeof(path), "%s%s%s%s", folder, below, *folder ? "/" : "",
			 cupti_names[i].name);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

/* Python wheels keep each CUDA library in a folder of its own; a toolkit keeps all in one. */
static void *cupti_beside_cudart(void)
{
	static const char *const below[] = { "", "/../../cuda_cupti/lib",
					     "/../extras/CUPTI/lib64" };
	char path[512];
	void *handle = NULL;
	size_t i;

	if (!loaded_library("libcudart.so", path, sizeof(path)) || !strchr(path, '/'))
		return NULL;
	*strrchr(path, '/') = 0;
	for (i = 0; i < COUNT(below) && !handle; i++)
		handle = cupti_in(path, below[i]);
	return handle;
}

/* Who sets LD_LIBRARY_PATH has chosen. */
static void *cupti_in_search_path(void)
{
	const char *at = prof_env("LD_LIBRARY_PATH"), *end;
	char folder[1024];
	void *handle = NULL;

	for (; at && *at && !handle; at = *end ? end + 1 : end) {
		end = strchrnul(at, ':');
		if (end == at || (size_t)(end - at) >= sizeof(folder))
			continue;
		memcpy(folder, at, (size_t)(end - at));
		folder[end - at] = 0;
		handle = cupti_in(folder, "");
	}
	return handle;
}

static void *cupti_in_toolkit(void)
{
	static const char *const below[] = { "/extras/CUPTI/lib64", "/lib64", "/lib" };
	const char *homes[] = { prof_env("CUDA_HOME"), prof_env("CUDA_PATH"), "/usr/local/cuda" };
	void *handle = NULL;
	size_t i, j;

	for (i = 0; i < COUNT(homes) && !handle; i++)
		for (j = 0; homes[i] && *homes[i] && j < COUNT(below) && !handle; j++)
			handle = cupti_in(homes[i], below[j]);
	return handle;
}

/* Two CUPTIs in one process would fight for the driver's one slot: the loaded one comes first. */
static void *find_cupti(const char *wanted)
{
	void *handle = cupti_in_process();

	if (!handle && *wanted)
		return dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		handle = cupti_beside_cudart();
	if (!handle)
		handle = cupti_in_search_path();
	if (!handle)
		handle = cupti_in_toolkit();
	if (!handle)
		handle = cupti_in("", "");
	return handle;
}

static void path_of(void *handle, char *path, size_t size)
{
	struct link_map *map = NULL;

	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map && map->l_name)
		snprintf(path, size, "%s", map->l_name);
}

struct symbol {
	const char *name;
	size_t offset; /* of the pointer in its struct */
	bool needed;
};

/* Fills the pointers; returns the first needed name that is missing, or NULL. */
static const char *load_symbols(void *handle, void *into, const struct symbol *s, size_t n)
{
	const char *missing = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		void *address = dlsym(handle, s[i].name);

		memcpy((char *)into + s[i].offset, &address, sizeof(address));
		if (!address && s[i].needed && !missing)
			missing = s[i].name;
	}
	return missing;
}

#define CUPTI_SYMBOL(name, field, needed)                                \
	{                                                                \
		"cupti" name, offsetof(struct prof_cupti, field), needed \
	}

static const struct symbol cupti_symbols[] = {
	CUPTI_SYMBOL("GetVersion", GetVersion, true),
	CUPTI_SYMBOL("GetTimestamp", GetTimestamp, true),
	CUPTI_SYMBOL("ActivityRegisterCallbacks", RegisterCallbacks, true),
	CUPTI_SYMBOL("ActivityEnable", Enable, true),
	CUPTI_SYMBOL("ActivityDisable", Disable, true),
	CUPTI_SYMBOL("ActivityFlushAll", FlushAll, true),
	CUPTI_SYMBOL("ActivityGetNextRecord", GetNextRecord, true),
	CUPTI_SYMBOL("ActivityGetNumDroppedRecords", GetNumDroppedRecords, false),
	CUPTI_SYMBOL("ActivitySetAttribute", SetAttribute, false),
	CUPTI_SYMBOL("ActivityEnableRuntimeApi", EnableRuntimeApi, false),
	CUPTI_SYMBOL("ActivityEnableDriverApi", EnableDriverApi, false),
	CUPTI_SYMBOL("ActivityEnableAllSyncRecords", EnableAllSyncRecords, false),
	CUPTI_SYMBOL("SetThreadIdType", SetThreadIdType, false),
	CUPTI_SYMBOL("Subscribe_v2", Subscribe2, false),
	CUPTI_SYMBOL("Unsubscribe", Unsubscribe, false),
};

/*
 * A buffer full of one kind's number makes the walk step by the size of that record in this very
 * CUPTI; the call is a pure function of the buffer and needs no GPU.
 */
static uint32_t record_size(const struct prof_cupti *c, uint32_t kind)
{
	static _Alignas(8) uint8_t buffer[4096];
	void *record = NULL;
	uint8_t *first;
	size_t i;

	for (i = 0; i < sizeof(buffer); i += 8) {
		memset(buffer + i, 0, 8);
		memcpy(buffer + i, &kind, sizeof(kind));
	}
	if (c->GetNextRecord(buffer, sizeof(buffer), &record))
		return 0;
	first = record;
	if (c->GetNextRecord(buffer, sizeof(buffer), &record))
		return 0;
	return (uint32_t)((uint8_t *)record - first);
}

static int probe_records(struct prof_cupti *c, char *why, size_t size)
{
	uint32_t kind;

	for (kind = 1; kind < CUPTI_KIND_PROBED; kind++) {
		uint32_t least = prof_record_least(kind);

		c->record_bytes[kind] = record_size(c, kind);
		if (!least || !c->record_bytes[kind] || c->record_bytes[kind] >= least)
			continue;
		snprintf(why, size, "CUPTI's record of kind %u has %u bytes where %u are read",
			 kind, c->record_bytes[kind], least);
		return -EPROTO;
	}
	return 0;
}

static bool exports(void *handle, const char *name)
{
	return dlsym(handle, name) != NULL;
}

/* Before the first call, by what it exports. */
static int may_be_asked(void *handle, const char *path, char *why, size_t size)
{
	uint32_t version = facts_cupti_by_symbols(exports, handle);
	const struct facts_cupti *row = facts_cupti(version, 0);
	int driver = driver_version();

	if (!row || !(row->facts & FACTS_CUPTI_ENDLESS))
		return 0;
	if (driver != INT_MAX && driver >= FACTS_CUPTI_ENDLESS_DRIVER)
		return 0;
	snprintf(why, size, "%s is of CUDA %s: %s", path, row->release,
		 facts_cupti_trouble(FACTS_CUPTI_ENDLESS)->what);
	return -ENOTSUP;
}

static int ask_version(struct prof_cupti *c, char *why, size_t size)
{
	int rc = c->GetVersion(&c->version);

	if (rc) { /* CUDA 13.3 and newer ask the driver first */
		snprintf(why, size,
			 "%s answers with error %d when asked for its version: it cannot "
			 "use this driver",
			 c->path, rc);
		return -ENOTSUP;
	}
	if (c->version < FACTS_CUPTI_OLDEST) {
		snprintf(why, size, "%s is older than CUDA 11.8", c->path);
		return -ENOSYS;
	}
	prof_debug("cupti %s, version %u", c->path, c->version);
	return 0;
}

/* Where the process is the second interface's, the probe is refused, too. */
static void take_known_sizes(struct prof_cupti *c, const struct facts_cupti_bytes *b)
{
	c->record_bytes[CUPTI_KIND_CONCURRENT_KERNEL] = b->kernel;
	c->record_bytes[CUPTI_KIND_MEMCPY] = b->memcpy;
	c->record_bytes[CUPTI_KIND_MEMCPY2] = b->peer;
	c->record_bytes[CUPTI_KIND_MEMSET] = b->memset;
	c->record_bytes[CUPTI_KIND_SYNCHRONIZATION] = b->sync;
	c->record_bytes[CUPTI_KIND_RUNTIME] = c->record_bytes[CUPTI_KIND_DRIVER] = b->api;
	c->record_bytes[CUPTI_KIND_GRAPH_TRACE] = b->graph;
}

/* What its version says, once the size of its records tells versions apart that share a number. */
static int learn_facts(struct prof_cupti *c, char *why, size_t size)
{
	const struct facts_cupti *row =
		facts_cupti(c->version, c->record_bytes[CUPTI_KIND_CONCURRENT_KERNEL]);
	const struct facts_cupti_trouble *t = facts_cupti_trouble(FACTS_CUPTI_PASSIVE);

	if (!c->record_bytes[CUPTI_KIND_CONCURRENT_KERNEL])
		take_known_sizes(c, &row->bytes);
	c->facts = row->facts;
	if (!(c->facts & FACTS_CUPTI_PASSIVE))
		return 0;
	snprintf(why, size, "%s is of CUDA %s: %s; %s", c->path, row->release, t->what, t->remedy);
	return -ENOTSUP;
}

int prof_cupti_open(struct prof_cupti *c, const char *wanted, char *why, size_t size)
{
	void *handle = find_cupti(wanted);
	const char *missing;
	int rc;

	if (!handle) {
		snprintf(why, size, "no libcupti was found (CUDA 11.8 or newer brings one)");
		return -ENOENT;
	}
	path_of(handle, c->path, sizeof(c->path));
	missing = load_symbols(handle, c, cupti_symbols, COUNT(cupti_symbols));
	if (missing) {
		snprintf(why, size, "%s lacks %s", c->path, missing);
		return -ENOSYS;
	}
	rc = may_be_asked(handle, c->path, why, size);
	if (!rc)
		rc = ask_version(c, why, size);
	if (!rc)
		rc = probe_records(c, why, size);
	return rc ? rc : learn_facts(c, why, size);
}

#define CUDA_SYMBOL(name, field, needed)                             \
	{                                                            \
		"cu" name, offsetof(struct prof_cuda, field), needed \
	}

static const struct symbol cuda_symbols[] = {
	CUDA_SYMBOL("DriverGetVersion", DriverGetVersion, true),
	CUDA_SYMBOL("DeviceGetCount", DeviceGetCount, true),
	CUDA_SYMBOL("DeviceGet", DeviceGet, true),
	CUDA_SYMBOL("DeviceGetName", DeviceGetName, true),
	CUDA_SYMBOL("DeviceGetUuid_v2", DeviceGetUuid, false), /* names MIG instances too */
	CUDA_SYMBOL("DeviceTotalMem_v2", DeviceTotalMem, true),
	CUDA_SYMBOL("DeviceGetPCIBusId", DeviceGetPCIBusId, false),
};

int prof_cuda_open(struct prof_cuda *c)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *address;

	if (!handle || load_symbols(handle, c, cuda_symbols, COUNT(cuda_symbols)))
		return -ENOENT;
	if (!c->DeviceGetUuid) {
		address = dlsym(handle, "cuDeviceGetUuid");
		memcpy(&c->DeviceGetUuid, &address, sizeof(address));
	}
	return c->DeviceGetUuid ? 0 : -ENOENT;
}

uint64_t prof_cupti_dropped(const struct prof_cupti *c)
{
	size_t dropped = 0;

	if (!c->GetNumDroppedRecords || c->GetNumDroppedRecords(NULL, 0, &dropped))
		return 0;
	return dropped;
}

bool prof_cupti_refuses(const struct prof_cupti *c, uint64_t *dropped)
{
	size_t n = 0;
	int rc;

	if (!c->GetNumDroppedRecords)
		return false;
	rc = c->GetNumDroppedRecords(NULL, 0, &n);
	if (!rc)
		*dropped += n;
	return rc == CUPTI_NOT_COMPATIBLE;
}

static void nobody_calls(void *data, int domain, uint32_t cbid, const void *call)
{
	(void)data;
	(void)domain;
	(void)cbid;
	(void)call;
}

void prof_cupti_holder(const struct prof_cupti *c, char *name, size_t size)
{
	struct cupti_subscriber p = {
		.size = sizeof(p), .name = "gpustarve", .old_name = name, .old_size = size
	};
	void *handle = NULL;

	*name = 0;
	if (c->version < CUPTI_SECOND || !c->Subscribe2 || !c->Unsubscribe)
		return;
	if (c->Subscribe2(&handle, nobody_calls, NULL, &p))
		name[size - 1] = 0;
	else if (!c->Unsubscribe(handle)) /* it has gone meanwhile */
		*name = 0;
}

#define NVML_SYMBOL(name, field, needed)                               \
	{                                                              \
		"nvml" name, offsetof(struct prof_nvml, field), needed \
	}

static const struct symbol nvml_symbols[] = {
	NVML_SYMBOL("DeviceGetHandleByUUID", DeviceGetHandleByUUID, true),
	NVML_SYMBOL("DeviceGetIndex", DeviceGetIndex, false),
	NVML_SYMBOL("DeviceGetMemoryInfo", DeviceGetMemoryInfo, false),
	NVML_SYMBOL("DeviceGetUtilizationRates", DeviceGetUtilizationRates, false),
	NVML_SYMBOL("DeviceGetComputeRunningProcesses_v3", DeviceGetComputeRunningProcesses, false),
	NVML_SYMBOL("DeviceGetMPSComputeRunningProcesses_v3", DeviceGetMPSComputeRunningProcesses,
		    false),
	NVML_SYMBOL("DeviceGetName", DeviceGetName, false),
	NVML_SYMBOL("DeviceGetUUID", DeviceGetUUID, false),
	NVML_SYMBOL("DeviceGetDeviceHandleFromMigDeviceHandle",
		    DeviceGetDeviceHandleFromMigDeviceHandle, false),
	NVML_SYMBOL("DeviceGetAttributes_v2", DeviceGetAttributes, false),
	NVML_SYMBOL("DeviceGetGpuInstanceId", DeviceGetGpuInstanceId, false),
	NVML_SYMBOL("DeviceGetSamples", DeviceGetSamples, false),
	NVML_SYMBOL("GpmQueryDeviceSupport", GpmQueryDeviceSupport, false),
	NVML_SYMBOL("GpmSampleAlloc", GpmSampleAlloc, false),
	NVML_SYMBOL("GpmSampleFree", GpmSampleFree, false),
	NVML_SYMBOL("GpmSampleGet", GpmSampleGet, false),
	NVML_SYMBOL("GpmMigSampleGet", GpmMigSampleGet, false),
	NVML_SYMBOL("GpmMetricsGet", GpmMetricsGet, false),
};

int prof_nvml_load(struct prof_nvml *n)
{
	void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *address;

	if (!handle)
		return -ENOENT;
	address = dlsym(handle, "nvmlInit_v2");
	memcpy(&n->Init, &address, sizeof(address));
	if (!n->Init || load_symbols(handle, n, nvml_symbols, COUNT(nvml_symbols)))
		return -ENOENT;
	return 0;
}
