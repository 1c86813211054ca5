/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.h - communicators. Their ranks find each other by unique id in the simulator's shared
 * segment (gpusim_gather): without threads, each call looks whether the others have come.
 */
#ifndef SIM_NCCL_COMM_H
#define SIM_NCCL_COMM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "nccl.h"
#include "op.h"

struct nccl_member {
	int32_t pid;
	uint64_t began; /* of the process, see gpusim_process_began */
};

struct ncclComm {
	uint32_t magic;
	pthread_mutex_t lock; /* of what follows, where it is not atomic */
	atomic_int state; /* an enum nccl_result */
	atomic_bool aborted;
	bool blocking, finalizing;
	void *context;
	int device; /* ordinal */

	/* How it finds its ranks. */
	uint64_t key;
	uint32_t seat, seats;
	uint64_t words[GPUSIM_WORDS];
	uint64_t watched_ns; /* when it was last looked whether they live */

	/* Known when state is no longer NCCL_IN_PROGRESS. */
	uint64_t id;
	int rank, ranks;
	struct nccl_member member[GPUSIM_RANKS];

	unsigned splits;
	struct nccl_reduction *made; /* by ncclRedOpCreatePreMulSum */
	int n_made;
};

/* What the call says: NULL, destroyed, or still looking for its ranks. 0 or an enum nccl_result. */
int nccl_comm_check(struct ncclComm *comm, const char *what);

/* Looks how it is now; an enum nccl_result. */
int nccl_comm_look(struct ncclComm *comm);

/* Waits until it is no longer in progress. */
int nccl_comm_wait(struct ncclComm *comm);

/* Notes what went wrong, for ncclGetLastError; returns result. */
int nccl_fail(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
