/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_error.c - what errors are called: those that the model answers, and those that a script has
 * it answer (GPUSIM_FAULT). Names and numbers are CUDA 13.0's.
 */
#include "driver.h"

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{ 0, "CUDA_SUCCESS", "no error" },
	{ 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
	{ 4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down" },
	{ 5, "CUDA_ERROR_PROFILER_DISABLED",
	  "profiler disabled while using external profiling tool" },
	{ 6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", "no profiler here" },
	{ 7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", "profiler started already" },
	{ 8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", "profiler stopped already" },
	{ 34, "CUDA_ERROR_STUB_LIBRARY", "a stub in place of the driver" },
	{ 36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the call wants a newer driver" },
	{ 46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the device is busy or unavailable" },
	{ 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
	{ 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
	{ 102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "the device has no licence" },
	{ 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid" },
	{ 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
	{ 202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "the context is current already" },
	{ 205, "CUDA_ERROR_MAP_FAILED", "mapping failed" },
	{ 206, "CUDA_ERROR_UNMAP_FAILED", "unmapping failed" },
	{ 207, "CUDA_ERROR_ARRAY_IS_MAPPED", "the array is mapped" },
	{ 208, "CUDA_ERROR_ALREADY_MAPPED", "mapped already" },
	{ 209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
	  "no kernel image is available for execution on the device" },
	{ 210, "CUDA_ERROR_ALREADY_ACQUIRED", "acquired already" },
	{ 211, "CUDA_ERROR_NOT_MAPPED", "not mapped" },
	{ 212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "not mapped as an array" },
	{ 213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "not mapped as a pointer" },
	{ 214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered" },
	{ 215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture" },
	{ 216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", "the context is in use by another thread" },
	{ 217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "no peer access between these devices" },
	{ 218, "CUDA_ERROR_INVALID_PTX", "invalid PTX" },
	{ 219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "invalid OpenGL or DirectX context" },
	{ 220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error encountered" },
	{ 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found" },
	{ 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	  "PTX of a version that this driver does not know" },
	{ 223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX is not compiled: disabled" },
	{ 224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "affinity is not supported" },
	{ 225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
	  "synchronisation on the device is not supported" },
	{ 226, "CUDA_ERROR_CONTAINED", "contained error" },
	{ 300, "CUDA_ERROR_INVALID_SOURCE", "invalid source" },
	{ 301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found" },
	{ 302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
	  "a symbol of a shared object was not found" },
	{ 303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "a shared object could not be initialised" },
	{ 304, "CUDA_ERROR_OPERATING_SYSTEM",
	  "OS call failed or operation not supported on this OS" },
	{ 400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
	{ 401, "CUDA_ERROR_ILLEGAL_STATE",
	  "the operation cannot be performed in the present state" },
	{ 402, "CUDA_ERROR_LOSSY_QUERY", "the answer would lose something" },
	{ 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
	{ 600, "CUDA_ERROR_NOT_READY", "device not ready" },
	{ 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered" },
	{ 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch" },
	{ 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated" },
	{ 703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "launch with incompatible textures" },
	{ 704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled" },
	{ 705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled" },
	{ 708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the primary context is active" },
	{ 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed" },
	{ 710, "CUDA_ERROR_ASSERT", "device-side assert triggered" },
	{ 711, "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted" },
	{ 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "the memory is registered already" },
	{ 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "the memory is not registered" },
	{ 714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error" },
	{ 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered" },
	{ 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address" },
	{ 717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
	  "operation on an address space that does not have it" },
	{ 718, "CUDA_ERROR_INVALID_PC", "invalid program counter" },
	{ 719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
	{ 720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch" },
	{ 721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory was not freed" },
	{ 800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted" },
	{ 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported" },
	{ 802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready" },
	{ 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "driver and kernel module differ in version" },
	{ 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
	  "no forward compatibility on this device" },
	{ 805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "no connection to MPS" },
	{ 806, "CUDA_ERROR_MPS_RPC_FAILURE", "a call of MPS failed" },
	{ 807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "MPS is not ready" },
	{ 808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "MPS has no room for a client" },
	{ 809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "MPS has no room for a connection" },
	{ 810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "MPS ended the client" },
	{ 811, "CUDA_ERROR_CDP_NOT_SUPPORTED", "no launches from the device" },
	{ 812, "CUDA_ERROR_CDP_VERSION_MISMATCH", "launches from the device differ in version" },
	{ 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	  "operation not permitted when stream is capturing" },
	{ 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	  "operation failed due to a previous error during capture" },
	{ 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "two captures would become one" },
	{ 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture did not begin on this stream" },
	{ 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "a stream of the capture was not joined" },
	{ 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
	  "dependency of a capture on work outside of it" },
	{ 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
	  "implicit use of the legacy stream in a capture" },
	{ 907, "CUDA_ERROR_CAPTURED_EVENT", "the event was recorded in a capture" },
	{ 908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "another thread began the capture" },
	{ 909, "CUDA_ERROR_TIMEOUT", "timed out" },
	{ 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
	  "the graph does not fit the executable one" },
	{ 911, "CUDA_ERROR_EXTERNAL_DEVICE", "error of an external device" },
	{ 912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "invalid cluster size" },
	{ 913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "the function is not loaded" },
	{ 914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", "resource of another type" },
	{ 915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "resources that do not go together" },
	{ 916, "CUDA_ERROR_KEY_ROTATION", "keys are being changed" },
	{ 999, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

static int error_index(int error)
{
	int i;

	for (i = 0; i < (int)(sizeof errors / sizeof errors[0]); i++)
		if (errors[i].code == error)
			return i;
	return -1;
}

int cuGetErrorName(int error, const char **text)
{
	int i = error_index(error);

	*text = i < 0 ? NULL : errors[i].name;
	return i < 0 ? SIM_INVALID_VALUE : SIM_OK;
}

int cuGetErrorString(int error, const char **text)
{
	int i = error_index(error);

	*text = i < 0 ? NULL : errors[i].text;
	return i < 0 ? SIM_INVALID_VALUE : SIM_OK;
}
