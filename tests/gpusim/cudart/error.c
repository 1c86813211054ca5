/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - the thread's last error, what errors are called, and versions.
 */
#include "cudart.h"

#define VERSION 13000 /* of the runtime that is stood in for */

static __thread int last;

int rt_note(int rc)
{
	if (rc)
		last = rc;
	return rc;
}

/* Not through rt_note: it would remember what it forgets. */
int cudaGetLastError(void)
{
	struct sim_call call;
	int rc = gpusim_runtime_begin(&call, SIM_CBID_cudaGetLastError);

	if (!rc)
		rc = last;
	last = 0;
	return gpusim_runtime_end(&call, rc);
}

int cudaPeekAtLastError(void)
{
	struct sim_call call;
	int rc = gpusim_runtime_begin(&call, SIM_CBID_cudaPeekAtLastError);

	return gpusim_runtime_end(&call, rc ? rc : last);
}

/* What this library and the simulated driver answer. */
static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{ 0, "cudaSuccess", "no error" },
	{ 1, "cudaErrorInvalidValue", "invalid argument" },
	{ 2, "cudaErrorMemoryAllocation", "out of memory" },
	{ 3, "cudaErrorInitializationError", "initialization error" },
	{ 4, "cudaErrorCudartUnloading", "driver shutting down" },
	{ 9, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
	{ 13, "cudaErrorInvalidSymbol", "invalid device symbol" },
	{ 21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy" },
	{ 35, "cudaErrorInsufficientDriver",
	  "CUDA driver version is insufficient for CUDA runtime version" },
	{ 52, "cudaErrorMissingConfiguration", "__global__ function call is not configured" },
	{ 98, "cudaErrorInvalidDeviceFunction", "invalid device function" },
	{ 100, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
	{ 101, "cudaErrorInvalidDevice", "invalid device ordinal" },
	{ 200, "cudaErrorInvalidKernelImage", "device kernel image is invalid" },
	{ 201, "cudaErrorDeviceUninitialized", "invalid device context" },
	{ 209, "cudaErrorNoKernelImageForDevice",
	  "no kernel image is available for execution on the device" },
	{ 215, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture" },
	{ 217, "cudaErrorPeerAccessUnsupported",
	  "peer access is not supported between these two devices" },
	{ 219, "cudaErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context" },
	{ 221, "cudaErrorJitCompilerNotFound", "PTX JIT compiler library not found" },
	{ 301, "cudaErrorFileNotFound", "file not found" },
	{ 304, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS" },
	{ 400, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
	{ 401, "cudaErrorIllegalState", "the operation cannot be performed in the present state" },
	{ 500, "cudaErrorSymbolNotFound", "named symbol not found" },
	{ 600, "cudaErrorNotReady", "device not ready" },
	{ 700, "cudaErrorIllegalAddress", "an illegal memory access was encountered" },
	{ 704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled" },
	{ 705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled" },
	{ 709, "cudaErrorContextIsDestroyed", "context is destroyed" },
	{ 712, "cudaErrorHostMemoryAlreadyRegistered",
	  "part or all of the requested memory range is already mapped" },
	{ 713, "cudaErrorHostMemoryNotRegistered",
	  "pointer does not correspond to a registered memory region" },
	{ 719, "cudaErrorLaunchFailure", "unspecified launch failure" },
	{ 800, "cudaErrorNotPermitted", "operation not permitted" },
	{ 801, "cudaErrorNotSupported", "operation not supported" },
	{ 900, "cudaErrorStreamCaptureUnsupported",
	  "operation not permitted when stream is capturing" },
	{ 901, "cudaErrorStreamCaptureInvalidated",
	  "operation failed due to a previous error during capture" },
	{ 902, "cudaErrorStreamCaptureMerge",
	  "operation would result in a merge of separate capture sequences" },
	{ 903, "cudaErrorStreamCaptureUnmatched",
	  "capture was not ended in the same stream as it began" },
	{ 904, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work" },
	{ 905, "cudaErrorStreamCaptureIsolation",
	  "dependency created on uncaptured work in another stream" },
	{ 906, "cudaErrorStreamCaptureImplicit",
	  "operation would make the legacy stream depend on a capturing blocking stream" },
	{ 907, "cudaErrorCapturedEvent",
	  "operation not permitted on an event last recorded in a capturing stream" },
	{ 908, "cudaErrorStreamCaptureWrongThread",
	  "attempt to terminate a thread-local capture sequence from another thread" },
	{ 999, "cudaErrorUnknown", "unknown error" },
};

static int error_index(int error)
{
	int i;

	for (i = 0; i < (int)(sizeof errors / sizeof errors[0]); i++)
		if (errors[i].code == error)
			return i;
	return -1;
}

const char *cudaGetErrorName(int error)
{
	int i = error_index(error);

	return i < 0 ? "unrecognized error code" : errors[i].name;
}

const char *cudaGetErrorString(int error)
{
	int i = error_index(error);

	return i < 0 ? "unrecognized error code" : errors[i].text;
}

/* ---- versions, the driver's calls by name ---- */

RUNTIME_EARLY(cudaDriverGetVersion, (int *version), cuDriverGetVersion(version))
RUNTIME_EARLY(cudaRuntimeGetVersion, (int *version),
	      version ? (*version = VERSION, SIM_OK) : SIM_INVALID_VALUE)

int rt_init(void)
{
	int version, rc = cuDriverGetVersion(&version);

	if (!rc && version < VERSION)
		rc = RT_INSUFFICIENT_DRIVER;
	return rc ? rc : cuInit(0);
}

int rt_ready(void)
{
	void *ctx;
	int rc = SIM_OK;

	if (cuCtxGetCurrent(&ctx) || !ctx)
		rc = rt_init();
	return rc ? rc : gpusim_ready();
}

/* A name that the driver does not know is told by the status, where the caller wants one. */
static int entry_point(const char *symbol, void **fn, unsigned version, uint64_t flags, int *status)
{
	int rc;

	if (!symbol || !fn)
		return SIM_INVALID_VALUE;
	rc = cuGetProcAddress_v2(symbol, fn, (int)version, flags, status);
	return rc == SIM_NOT_FOUND && status ? SIM_OK : rc;
}

RUNTIME_EARLY(cudaGetDriverEntryPoint,
	      (const char *symbol, void **fn, unsigned long long flags, int *status),
	      entry_point(symbol, fn, VERSION, flags, status))
RUNTIME_EARLY(cudaGetDriverEntryPointByVersion,
	      (const char *symbol, void **fn, unsigned version, unsigned long long flags,
	       int *status),
	      entry_point(symbol, fn, version, flags, status))

/* There is no profiler that they would start: as on a device without one. */
RUNTIME(cudaProfilerStart, (void), SIM_OK)
RUNTIME(cudaProfilerStop, (void), SIM_OK)
