/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h - NCCL's public interface (2.30) as far as libnccl.so.2 here has it, in our own words:
 * names, numbers and layouts are the original's. What torch wants beyond it is generated and
 * refuses (absent/absent.h).
 */
#ifndef SIM_NCCL_H
#define SIM_NCCL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "standin.h"

#define NCCL_VERSION 23007
#define NCCL_UNDEFINED INT_MIN /* of a configuration's numbers */
#define NCCL_NO_COLOR (-1)

enum nccl_result {
	NCCL_SUCCESS,
	NCCL_UNHANDLED_CUDA_ERROR,
	NCCL_SYSTEM_ERROR,
	NCCL_INTERNAL_ERROR,
	NCCL_INVALID_ARGUMENT,
	NCCL_INVALID_USAGE,
	NCCL_REMOTE_ERROR,
	NCCL_IN_PROGRESS,
	NCCL_TIMEOUT,
	NCCL_RESULTS
};

enum nccl_type {
	NCCL_INT8,
	NCCL_UINT8,
	NCCL_INT32,
	NCCL_UINT32,
	NCCL_INT64,
	NCCL_UINT64,
	NCCL_FLOAT16,
	NCCL_FLOAT32,
	NCCL_FLOAT64,
	NCCL_BFLOAT16,
	NCCL_FLOAT8_E4M3,
	NCCL_FLOAT8_E5M2,
	NCCL_TYPES
};

enum nccl_redop {
	NCCL_SUM,
	NCCL_PROD,
	NCCL_MAX,
	NCCL_MIN,
	NCCL_AVG,
	NCCL_REDOPS /* those made by ncclRedOpCreatePreMulSum follow */
};

enum nccl_residence {
	NCCL_SCALAR_DEVICE,
	NCCL_SCALAR_HOST
};

struct nccl_unique_id {
	char bytes[128];
};

/* What every ncclConfig_t begins with; later versions grew at the end. */
struct nccl_config {
	size_t size;
	unsigned magic, version;
	int blocking;
};
#define NCCL_MAGIC 0xcafebeefu

struct nccl_sim_info {
	size_t size;
	unsigned magic, version;
	float estimated_time;
};

struct ncclComm; /* the original's tags: programs are compiled with pointers to these */
struct ncclWindow;

SIM_API int ncclGetVersion(int *version);
SIM_API int ncclGetUniqueId(struct nccl_unique_id *id);
SIM_API const char *ncclGetErrorString(int result);
SIM_API const char *ncclGetLastError(struct ncclComm *comm);

SIM_API int ncclCommInitRank(struct ncclComm **comm, int ranks, struct nccl_unique_id id, int rank);
SIM_API int ncclCommInitRankConfig(struct ncclComm **comm, int ranks, struct nccl_unique_id id,
				   int rank, const struct nccl_config *config);
SIM_API int ncclCommInitRankScalable(struct ncclComm **comm, int ranks, int rank, int n_ids,
				     const struct nccl_unique_id *ids,
				     const struct nccl_config *config);
SIM_API int ncclCommInitAll(struct ncclComm **comms, int n, const int *devices);
SIM_API int ncclCommSplit(struct ncclComm *comm, int color, int key, struct ncclComm **out,
			  const struct nccl_config *config);
SIM_API int ncclCommShrink(struct ncclComm *comm, const int *excluded, int n, struct ncclComm **out,
			   const struct nccl_config *config, int flags);
SIM_API int ncclCommFinalize(struct ncclComm *comm);
SIM_API int ncclCommDestroy(struct ncclComm *comm);
SIM_API int ncclCommAbort(struct ncclComm *comm);
SIM_API int ncclCommRevoke(struct ncclComm *comm, int flags);
SIM_API int ncclCommGetAsyncError(struct ncclComm *comm, int *result);
SIM_API int ncclCommCount(struct ncclComm *comm, int *count);
SIM_API int ncclCommCuDevice(struct ncclComm *comm, int *device);
SIM_API int ncclCommUserRank(struct ncclComm *comm, int *rank);
SIM_API int ncclCommMemStats(struct ncclComm *comm, int which, uint64_t *value);

SIM_API int ncclMemAlloc(void **address, size_t bytes);
SIM_API int ncclMemFree(void *address);
SIM_API int ncclCommRegister(struct ncclComm *comm, void *buffer, size_t bytes, void **handle);
SIM_API int ncclCommDeregister(struct ncclComm *comm, void *handle);
SIM_API int ncclCommWindowRegister(struct ncclComm *comm, void *buffer, size_t bytes,
				   struct ncclWindow **window, int flags);
SIM_API int ncclCommWindowDeregister(struct ncclComm *comm, struct ncclWindow *window);
SIM_API int ncclWinGetUserPtr(struct ncclComm *comm, struct ncclWindow *window, void **address);

SIM_API int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence,
				     struct ncclComm *comm);
SIM_API int ncclRedOpDestroy(int op, struct ncclComm *comm);

SIM_API int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op,
			  struct ncclComm *comm, void *stream);
SIM_API int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root,
		       struct ncclComm *comm, void *stream);
SIM_API int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op,
			      struct ncclComm *comm, void *stream);
SIM_API int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root,
			  struct ncclComm *comm, void *stream);
SIM_API int ncclBcast(void *buffer, size_t count, int type, int root, struct ncclComm *comm,
		      void *stream);
SIM_API int ncclAllGather(const void *send, void *recv, size_t count, int type,
			  struct ncclComm *comm, void *stream);
SIM_API int ncclAlltoAll(const void *send, void *recv, size_t count, int type,
			 struct ncclComm *comm, void *stream);
SIM_API int ncclGather(const void *send, void *recv, size_t count, int type, int root,
		       struct ncclComm *comm, void *stream);
SIM_API int ncclScatter(const void *send, void *recv, size_t count, int type, int root,
			struct ncclComm *comm, void *stream);
SIM_API int ncclSend(const void *send, size_t count, int type, int peer, struct ncclComm *comm,
		     void *stream);
SIM_API int ncclRecv(void *recv, size_t count, int type, int peer, struct ncclComm *comm,
		     void *stream);

SIM_API int ncclGroupStart(void);
SIM_API int ncclGroupEnd(void);
SIM_API int ncclGroupSimulateEnd(struct nccl_sim_info *info);

#endif
