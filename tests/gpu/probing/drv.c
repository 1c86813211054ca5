/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv.c - finds the driver and launches.
 */
#include "drv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct drv drv;
void *drv_stream;

static void *context, *spin, *turns;
static char why[300];

/*
 * probe_spin reads the device's timer until the wanted time is over; each thread does. probe_turns
 * computes for a number of turns, so that its length follows the SM clock; its store never happens,
 * but the compiler cannot know that.
 */
static const char ptx[] = ".version 6.0\n"
			  ".target sm_50\n"
			  ".address_size 64\n"
			  ".visible .entry probe_spin(.param .u64 length, .param .u64 unused)\n"
			  "{\n"
			  "	.reg .pred %more;\n"
			  "	.reg .u64 %length, %begin, %now, %gone;\n"
			  "	ld.param.u64 %length, [length];\n"
			  "	mov.u64 %begin, %globaltimer;\n"
			  "turn:\n"
			  "	mov.u64 %now, %globaltimer;\n"
			  "	sub.u64 %gone, %now, %begin;\n"
			  "	setp.lt.u64 %more, %gone, %length;\n"
			  "	@%more bra turn;\n"
			  "	ret;\n"
			  "}\n"
			  ".visible .entry probe_turns(.param .u64 count, .param .u64 place)\n"
			  "{\n"
			  "	.reg .pred %more, %never;\n"
			  "	.reg .u64 %count, %i, %x, %place;\n"
			  "	ld.param.u64 %count, [count];\n"
			  "	ld.param.u64 %place, [place];\n"
			  "	mov.u64 %i, 0;\n"
			  "	mov.u64 %x, %count;\n"
			  "turn:\n"
			  "	mad.lo.u64 %x, %x, %x, %i;\n"
			  "	add.u64 %i, %i, 1;\n"
			  "	setp.lt.u64 %more, %i, %count;\n"
			  "	@%more bra turn;\n"
			  "	setp.eq.u64 %never, %x, %place;\n"
			  "	setp.ne.and.u64 %never, %place, 0, %never;\n"
			  "	@%never st.global.u64 [%place], %x;\n"
			  "	ret;\n"
			  "}\n";

const char *drv_why(void)
{
	return why;
}

static int load(void)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
		{ "cuInit", offsetof(struct drv, Init) },
		{ "cuDriverGetVersion", offsetof(struct drv, DriverGetVersion) },
		{ "cuDeviceGetCount", offsetof(struct drv, DeviceGetCount) },
		{ "cuDeviceGetName", offsetof(struct drv, DeviceGetName) },
		{ "cuDeviceGetAttribute", offsetof(struct drv, DeviceGetAttribute) },
		{ "cuDeviceGetPCIBusId", offsetof(struct drv, DeviceGetPCIBusId) },
		{ "cuDevicePrimaryCtxRetain", offsetof(struct drv, PrimaryCtxRetain) },
		{ "cuCtxSetCurrent", offsetof(struct drv, CtxSetCurrent) },
		{ "cuCtxSynchronize", offsetof(struct drv, CtxSynchronize) },
		{ "cuModuleLoadData", offsetof(struct drv, ModuleLoadData) },
		{ "cuModuleGetFunction", offsetof(struct drv, ModuleGetFunction) },
		{ "cuLaunchKernel", offsetof(struct drv, LaunchKernel) },
		{ "cuLaunchHostFunc", offsetof(struct drv, LaunchHostFunc) },
		{ "cuStreamCreate", offsetof(struct drv, StreamCreate) },
		{ "cuStreamSynchronize", offsetof(struct drv, StreamSynchronize) },
		{ "cuEventCreate", offsetof(struct drv, EventCreate) },
		{ "cuEventRecord", offsetof(struct drv, EventRecord) },
		{ "cuEventSynchronize", offsetof(struct drv, EventSynchronize) },
	};
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	size_t i;

	if (!lib) {
		snprintf(why, sizeof why, "%s", dlerror());
		return -1;
	}
	for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		void *fn = dlsym(lib, calls[i].name);

		if (!fn) {
			snprintf(why, sizeof why, "libcuda has no %s", calls[i].name);
			return -1;
		}
		memcpy((char *)&drv + calls[i].at, &fn, sizeof fn);
	}
	return 0;
}

/* Notes what failed. */
static int noted(int rc, const char *call)
{
	if (rc)
		snprintf(why, sizeof why, "%s: error %d", call, rc);
	return rc;
}

int drv_init(void)
{
	int rc = drv.Init ? 0 : load();

	return rc ? rc : noted(drv.Init(0), "cuInit");
}

int drv_use(void)
{
	return noted(drv.CtxSetCurrent(context), "cuCtxSetCurrent");
}

int drv_begin(void)
{
	void *module;
	int rc = drv_init();

	if (!rc)
		rc = noted(drv.PrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
	if (!rc)
		rc = drv_use();
	if (!rc)
		rc = noted(drv.ModuleLoadData(&module, ptx), "cuModuleLoadData");
	if (!rc)
		rc = noted(drv.ModuleGetFunction(&spin, module, "probe_spin"), "probe_spin");
	if (!rc)
		rc = noted(drv.ModuleGetFunction(&turns, module, "probe_turns"), "probe_turns");
	if (!rc)
		rc = noted(drv.StreamCreate(&drv_stream, 1 /* non-blocking */), "cuStreamCreate");
	/* Loading may happen at the first launch. */
	if (!rc)
		rc = drv_spin(0, 1);
	if (!rc)
		rc = drv_turns(1, 1);
	return rc ? rc : drv_wait();
}

static int launch(void *kernel, int64_t n, unsigned blocks)
{
	uint64_t value = (uint64_t)n, nothing = 0;
	void *params[] = { &value, &nothing, NULL };

	return noted(drv.LaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, 0, drv_stream, params, NULL),
		     "cuLaunchKernel");
}

int drv_spin(int64_t ns, unsigned blocks)
{
	return launch(spin, ns, blocks);
}

int drv_turns(int64_t n, unsigned blocks)
{
	return launch(turns, n, blocks);
}

int drv_wait(void)
{
	return noted(drv.StreamSynchronize(drv_stream), "cuStreamSynchronize");
}

unsigned drv_blocks(void)
{
	int n = 0;

	if (drv.DeviceGetAttribute(&n, DRV_MULTIPROCESSORS, 0) || n < 1)
		return 1;
	return (unsigned)n;
}
