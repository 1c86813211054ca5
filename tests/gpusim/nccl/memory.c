/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - memory for NCCL's use: allocations, and buffers that programs register. Registering
 * speeds up the original and changes nothing here.
 */
#include <stdlib.h>

#include "comm.h"
#include "driver.h"

struct ncclWindow {
	void *buffer;
	size_t bytes;
};

int ncclMemAlloc(void **address, size_t bytes)
{
	uint64_t at = 0;
	int rc = gpusim_ready();

	if (!rc)
		rc = cuMemAlloc_v2(&at, bytes);
	if (rc)
		return nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "%s: CUDA error %d", __func__, rc);
	*address = (void *)(uintptr_t)at;
	return NCCL_SUCCESS;
}

int ncclMemFree(void *address)
{
	int rc = address ? cuMemFree_v2((uintptr_t)address) : 0;

	return rc ? nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "%s: CUDA error %d", __func__, rc)
		  : NCCL_SUCCESS;
}

static int window_new(struct ncclComm *comm, void *buffer, size_t bytes, struct ncclWindow **out,
		      const char *what)
{
	int rc = nccl_comm_check(comm, what);

	if (rc)
		return rc;
	if (!out)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: nowhere to put the handle", what);
	*out = malloc(sizeof **out);
	if (!*out)
		return NCCL_SYSTEM_ERROR;
	**out = (struct ncclWindow){ buffer, bytes };
	return NCCL_SUCCESS;
}

int ncclCommRegister(struct ncclComm *comm, void *buffer, size_t bytes, void **handle)
{
	return window_new(comm, buffer, bytes, (struct ncclWindow **)handle, __func__);
}

int ncclCommDeregister(struct ncclComm *comm, void *handle)
{
	(void)comm;
	free(handle);
	return NCCL_SUCCESS;
}

int ncclCommWindowRegister(struct ncclComm *comm, void *buffer, size_t bytes,
			   struct ncclWindow **window, int flags)
{
	(void)flags;
	return window_new(comm, buffer, bytes, window, __func__);
}

int ncclCommWindowDeregister(struct ncclComm *comm, struct ncclWindow *window)
{
	(void)comm;
	free(window);
	return NCCL_SUCCESS;
}

int ncclWinGetUserPtr(struct ncclComm *comm, struct ncclWindow *window, void **address)
{
	(void)comm;
	if (!window || !address)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no window", __func__);
	*address = window->buffer;
	return NCCL_SUCCESS;
}

/* It has allocated nothing. */
int ncclCommMemStats(struct ncclComm *comm, int which, uint64_t *value)
{
	int rc = nccl_comm_check(comm, __func__);

	if (rc)
		return rc;
	if (which < 0 || which > 3 || !value)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no statistic %d", __func__, which);
	*value = 0;
	return NCCL_SUCCESS;
}
