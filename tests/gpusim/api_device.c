/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_device.c - initialisation (with the injected library), devices, and finding entry points.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "config.h"
#include "driver.h"
#include "shm.h"
#include "state.h"

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static bool injected, initialising;
static __thread bool initialising_here;

/* ---- CUDA_VISIBLE_DEVICES ---- */

/* A UUID, or enough of its beginning. */
static int device_of_uuid(const char *want, size_t n)
{
	char text[41];
	uint32_t i;

	for (i = 0; i < sim_config()->devices; i++) {
		sim_device_uuid_text(i, text);
		if (n >= 4 && n <= 40 && !strncmp(text, want, n))
			return (int)i;
	}
	return -1;
}

/* The GPU of this number; where it is partitioned, its first slice. */
static int device_of_gpu(long gpu)
{
	uint32_t i;

	for (i = 0; i < sim_config()->devices; i++)
		if (sim_config()->unit[i].gpu == gpu)
			return (int)i;
	return -1;
}

/* The device that one entry of the list names; -1 ends the list, as with the driver. */
static int visible_entry(const char *v, size_t n)
{
	char *end;
	long x;

	if (!strncmp(v, "GPU-", 4) || !strncmp(v, "MIG-", 4))
		return device_of_uuid(v, n);
	x = strtol(v, &end, 10);
	return end == v || x < 0 ? -1 : device_of_gpu(x);
}

static void make_visible(int device)
{
	sim_state.physical[sim_state.devices++] = (uint32_t)device;
}

/* With a slice among them a process sees that slice and nothing else. */
static void keep_one_slice(void)
{
	uint32_t i;

	for (i = 0; i < sim_state.devices; i++)
		if (*sim_config()->unit[sim_state.physical[i]].profile) {
			sim_state.physical[0] = sim_state.physical[i];
			sim_state.devices = 1;
		}
}

static void read_visible(const char *v)
{
	while (*v && sim_state.devices < SIM_MAX_DEVICES) {
		size_t n = strcspn(v, ",");
		int device = visible_entry(v, n);

		if (device < 0)
			return;
		make_visible(device);
		v += n + (v[n] == ',');
	}
}

static void find_devices(void)
{
	const char *v = getenv("CUDA_VISIBLE_DEVICES");
	uint32_t i;

	sim_state.devices = 0;
	if (v)
		read_visible(v);
	else
		for (i = 0; i < sim_config()->gpus; i++)
			make_visible(device_of_gpu(i));
	keep_one_slice();
}

/* ---- initialisation ---- */

/*
 * As the driver does: one library, one call, and no complaint if it is not there. Until it has
 * returned the device calls say "not initialised", in all threads.
 */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*start)(void);
	void *handle;

	if (injected || !path || !*path)
		return;
	injected = true;
	handle = dlopen(path, RTLD_NOW);
	if (!handle)
		return;
	*(void **)&start = dlsym(handle, "InitializeInjection");
	if (start && !start())
		raise(SIGSEGV); /* what a real driver does to whom returns 0 */
}

static int init(void)
{
	if (sim_state.forked)
		return SIM_NOT_INITIALIZED;
	if (sim_state.initialised)
		return SIM_OK;
	if (initialising)
		return SIM_NOT_INITIALIZED; /* called by the injected library */
	initialising = true;
	find_devices();
	if (!sim_state.devices) {
		initialising = false;
		return SIM_NO_DEVICE;
	}
	if (!sim_shm() || sim_proc_slot() < 0)
		return SIM_UNKNOWN;
	sim_sleep_until(sim_now() + sim_config()->init_ns);
	inject();
	sim_state.initialised = true;
	return SIM_OK;
}

int cuInit(unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin_early(&call, SIM_DRIVER, SIM_CBID_cuInit);
	bool nested = initialising_here; /* called by the injected library */

	if (!rc && flags)
		rc = SIM_INVALID_VALUE;
	if (!nested)
		pthread_mutex_lock(&init_lock);
	initialising_here = true;
	if (!rc)
		rc = init();
	initialising_here = nested;
	if (!nested)
		pthread_mutex_unlock(&init_lock);
	return sim_call_end(&call, rc);
}

int cuDriverGetVersion(int *version)
{
	struct sim_call call;
	int rc = sim_call_begin_early(&call, SIM_DRIVER, SIM_CBID_cuDriverGetVersion);

	if (!rc && !version)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*version = sim_config()->driver_version;
	return sim_call_end(&call, rc);
}

/*
 * NVIDIA's runtime, where it is linked statically (CuPy, what nvcc builds by default), asks for
 * tables that no document describes, and does nothing without them. So do its compilers, which go
 * on without, and its CUPTI, whose answer says enough.
 */
static bool goes_on_without(const char *library)
{
	const char *slash = strrchr(library, '/'), *name = slash ? slash + 1 : library;

	return !strncmp(name, "libnvrtc", 8) || !strncmp(name, "libnvJitLink", 12) ||
	       !strncmp(name, "libcupti", 8);
}

/* Once, and with one write: who asked, and what that means. */
static void tell_foreign_table(const void *caller)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *library = "a library";
	char text[512];
	Dl_info info;
	int n;

	if (dladdr(caller, &info) && info.dli_fname)
		library = info.dli_fname;
	if (goes_on_without(library) || atomic_flag_test_and_set(&said))
		return;
	n = snprintf(
		text, sizeof text,
		"gpusim: %.200s asks for NVIDIA's private tables, as a CUDA runtime does that is linked "
		"statically (CuPy, cuda.bindings.runtime, nvcc's default): programs that need it do not "
		"run on the simulated GPU\n",
		library);
	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		return; /* nobody to tell */
}

int cuGetExportTable(const void **table, const struct sim_uuid *id)
{
	static const uint8_t ours[16] = SIM_EXPORT_ID;

	if (!table || !id)
		return SIM_INVALID_VALUE;
	if (!memcmp(id->bytes, ours, 16)) {
		*table = &sim_export;
		return SIM_OK;
	}
	*table = NULL;
	tell_foreign_table(__builtin_return_address(0));
	return SIM_NOT_FOUND;
}

/* ---- entry points by name ---- */

/*
 * Which of a name's functions a program gets that was built for `version` of CUDA: the last of
 * these that is not newer, where they differ in what they are called with. By cudaTypedefs.h of
 * CUDA 13.0.
 */
static const struct {
	const char *name;
	int since;
	const char *function;
} versions[] = {
	{ "cuCtxCreate", 12050, "cuCtxCreate_v4" },
	{ "cuCtxCreate", 0, "cuCtxCreate_v2" },
	{ "cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags" },
	{ "cuGraphInstantiate", 0, "cuGraphInstantiate_v2" },
	{ "cuMemAdvise", 12020, "cuMemAdvise_v2" },
	{ "cuMemAdvise", 0, "cuMemAdvise" },
	{ "cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2" },
	{ "cuMemPrefetchAsync", 0, "cuMemPrefetchAsync" },
	{ "cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3" },
	{ "cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2" },
	{ "cuStreamGetCaptureInfo", 0, "cuStreamGetCaptureInfo" },
	{ "cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies_v2" },
	{ "cuStreamUpdateCaptureDependencies", 0, "cuStreamUpdateCaptureDependencies" },
};

static const char *versioned(const char *symbol, int version)
{
	size_t i;

	for (i = 0; i < sizeof versions / sizeof versions[0]; i++)
		if (!strcmp(versions[i].name, symbol) && version >= versions[i].since)
			return versions[i].function;
	return NULL;
}

/* Of names whose functions are called alike, the one with the highest suffix. */
static void *entry_point(void *library, const char *symbol, int version)
{
	const char *function = versioned(symbol, version);
	char newer[128];
	void *fn;

	if (function)
		return dlsym(library, function);
	snprintf(newer, sizeof newer, "%s_v2", symbol);
	fn = dlsym(library, newer);
	return fn ? fn : dlsym(library, symbol);
}

int cuGetProcAddress_v2(const char *symbol, void **fn, int version, uint64_t flags, int *status)
{
	struct sim_call call;
	Dl_info self;
	void *library;

	sim_call_begin_early(&call, SIM_DRIVER, SIM_CBID_cuGetProcAddress_v2);
	(void)flags;
	*fn = NULL;
	library = dladdr((void *)&cuGetProcAddress_v2, &self)
			  ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD)
			  : NULL;
	if (library) {
		*fn = entry_point(library, symbol, version);
		dlclose(library);
	}
	if (status)
		*status = *fn ? 0 : 1;
	return sim_call_end(&call, *fn ? SIM_OK : SIM_NOT_FOUND);
}

int cuGetProcAddress(const char *symbol, void **fn, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(symbol, fn, version, flags, NULL);
}

/* ---- devices ---- */

/* Of an H100, whatever its name is. */
#define MAJOR 9
#define MINOR 0

#define PCI_BUS 33 /* the attribute */

/* The frame of a call about a device, which must be one. */
static int begin(struct sim_call *call, uint32_t cbid, int device)
{
	int rc = sim_call_begin(call, cbid);

	if (!rc && (device < 0 || (uint32_t)device >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	return rc;
}

int cuDeviceGet(int *device, int ordinal)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceGet, ordinal);

	if (!rc)
		*device = ordinal;
	return sim_call_end(&call, rc);
}

int cuDeviceGetCount(int *count)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDeviceGetCount);

	if (!rc)
		*count = (int)sim_state.devices;
	return sim_call_end(&call, rc);
}

int cuDeviceGetName(char *name, int size, int device)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceGetName, device);

	if (!rc)
		snprintf(name, (size_t)size, "%s",
			 sim_config()->unit[sim_state.physical[device]].name);
	return sim_call_end(&call, rc);
}

int cuDeviceGetUuid_v2(struct sim_uuid *uuid, int device)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceGetUuid_v2, device);

	if (!rc)
		sim_device_uuid(sim_state.physical[device], uuid->bytes);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceTotalMem_v2, device);

	if (!rc)
		*bytes = sim_config()->unit[sim_state.physical[device]].memory;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuDeviceTotalMem, cuDeviceTotalMem_v2);

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceComputeCapability, device);

	if (!rc) {
		*major = MAJOR;
		*minor = MINOR;
	}
	return sim_call_end(&call, rc);
}

static int pci_bus(int device)
{
	return (int)(sim_config()->unit[sim_state.physical[device]].gpu + 1) * 16;
}

/* By CUdevice_attribute. Those of an H100 SXM5 80GB where the model has the thing, else 0. */
static const int attributes[] = {
	[1] = 1024, /* threads per block */
	[2] = 1024, /* block, by dimension */
	[3] = 1024,	   [4] = 64,	  [5] = 2147483647, /* grid, by dimension */
	[6] = 65535,	   [7] = 65535,	  [8] = 49152, /* shared memory per block */
	[9] = 65536, /* constant memory */
	[10] = 32, /* warp size */
	[11] = 2147483647, /* pitch of a copy, at most */
	[12] = 65536, /* registers per block */
	[13] = 1980000, /* clock, kHz */
	[14] = 512, /* alignment of a texture */
	[15] = 1, /* copies beside kernels */
	[16] = 132, /* multiprocessors */
	[19] = 1, /* pinned memory is the device's too */
	[21] = 131072, /* textures, by kind and dimension */
	[22] = 131072,	   [23] = 65536,  [24] = 16384,
	[25] = 16384,	   [26] = 16384,  [30] = 512, /* alignment of a surface */
	[31] = 1, /* concurrent kernels */
	[32] = 1, /* ECC */
	[36] = 2619000, /* memory clock, kHz */
	[37] = 5120, /* bits of its bus */
	[38] = 52428800, /* L2 */
	[39] = 2048, /* threads per multiprocessor */
	[40] = 3, /* copy engines */
	[41] = 1, /* unified addressing */
	[51] = 32, /* pitch of a texture */
	[75] = MAJOR,	   [76] = MINOR,  [78] = 1, /* stream priorities */
	[79] = 1, /* caching in L1, global and local */
	[80] = 1,	   [81] = 233472, /* shared memory per multiprocessor */
	[82] = 65536, /* registers per multiprocessor */
	[83] = 1, /* managed memory */
	[87] = 2, /* single to double performance */
	[89] = 1, /* concurrent managed access */
	[90] = 1, /* preemption */
	[91] = 1, /* registered memory has one address */
	[95] = 1, /* cooperative launch */
	[97] = 232448, /* shared memory per block that asks for it */
	[99] = 1, /* host memory can be registered */
	[102] = 1, /* virtual memory by hand */
	[106] = 32, /* blocks per multiprocessor */
	[108] = 32768000, /* of L2, persisting */
	[109] = 134213632, /* of an access policy */
	[111] = 1024, /* shared memory that each block has for the system */
	[115] = 1, /* memory pools */
	[120] = 1, /* clusters */
	[126] = 4, /* memory synchronisation domains */
	[127] = 1, /* tensor maps */
};

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceGetAttribute, device);
	int n = (int)(sizeof attributes / sizeof attributes[0]);

	if (!rc && !value)
		rc = SIM_INVALID_VALUE;
	if (!rc && attribute == PCI_BUS)
		*value = pci_bus(device);
	else if (!rc)
		*value = attribute > 0 && attribute < n ? attributes[attribute] : 0;
	return sim_call_end(&call, rc);
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceCanAccessPeer, device);

	if (!rc && (peer < 0 || (uint32_t)peer >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	if (!rc)
		*can = device != peer;
	return sim_call_end(&call, rc);
}

int cuDeviceGetPCIBusId(char *id, int size, int device)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceGetPCIBusId, device);

	if (!rc)
		snprintf(id, (size_t)size, "0000:%02X:00.0", (unsigned)pci_bus(device));
	return sim_call_end(&call, rc);
}

int cuDeviceGetByPCIBusId(int *device, const char *id)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDeviceGetByPCIBusId);
	unsigned domain, bus, slot, function = 0;
	int i;

	if (!rc && (!device || !id ||
		    (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3 &&
		     (domain = 0, sscanf(id, "%x:%x.%x", &bus, &slot, &function)) < 2)))
		rc = SIM_INVALID_VALUE;
	for (i = 0; !rc && i < (int)sim_state.devices; i++)
		if (!domain && (unsigned)pci_bus(i) == bus && !slot && !function) {
			*device = i;
			return sim_call_end(&call, SIM_OK);
		}
	return sim_call_end(&call, rc ? rc : SIM_INVALID_DEVICE);
}

/* CUdevice_P2PAttribute: performance rank, access, native atomics, arrays. */
int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer)
{
	struct sim_call call;
	int rc = begin(&call, SIM_CBID_cuDeviceGetP2PAttribute, device);

	if (!rc && (peer < 0 || (uint32_t)peer >= sim_state.devices || peer == device))
		rc = SIM_INVALID_DEVICE;
	if (!rc && (!value || attribute < 1 || attribute > 5))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*value = attribute == 2 || attribute == 3;
	return sim_call_end(&call, rc);
}
