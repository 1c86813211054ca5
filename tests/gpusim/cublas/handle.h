/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.h - cuBLAS's handle: a stream and modes. As with the original, one thread uses a handle
 * at a time.
 */
#ifndef SIM_BLAS_HANDLE_H
#define SIM_BLAS_HANDLE_H

#include "blas.h"

enum blas_pointer {
	BLAS_POINTER_HOST,
	BLAS_POINTER_DEVICE
};

struct blas_handle {
	uint32_t magic;
	void *stream;
	int pointer, atomics, math, processors;
	uint64_t results; /* on the device, RESULT_BYTES; 0 until a call wants it */
};

/* The handle, or NULL where it is none of ours. */
struct blas_handle *blas_handle_get(void *handle);

/* The compute type of calls without one: single precision by the math mode. */
int blas_handle_compute(const struct blas_handle *handle, int data);

/*
 * What a kernel would have left for the host: where results go to the host, zeros into `result`,
 * by a copy from the device for which the calling thread waits; else nothing. A status.
 */
int blas_handle_result(struct blas_handle *handle, void *result, unsigned bytes);

#endif
