/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.c - libgpusimrt.so: the calls of the CUDA runtime for workloads that have no host stubs,
 * which name a kernel by its driver handle. Beside that it is the stand-in for libcudart.so.13
 * (cudart/); memory has content only where it was asked for. As seen on an H100 a runtime call
 * leaves no driver record; with GPUSIM_RUNTIME_NESTED=1 it leaves both, under one correlation id,
 * as older versions do.
 */
#include "cudart/cudart.h"

void *rt_unregistered(const void *handle)
{
	return (void *)(uintptr_t)handle;
}
