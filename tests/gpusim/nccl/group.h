/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - calls between ncclGroupStart and ncclGroupEnd are done at the end, together. Per
 * thread. A call outside is a group of its own.
 */
#ifndef SIM_NCCL_GROUP_H
#define SIM_NCCL_GROUP_H

#include "comm.h"

void nccl_group_begin(void);

/* At the outermost end: waits for communicators, launches. An enum nccl_result. */
int nccl_group_end(void);

/* Into the group that is open. */
int nccl_group_op(const struct nccl_op *op);
int nccl_group_comm(struct ncclComm *comm); /* new: is to be ready at the end */

/* A call of the group failed: the end says so, and does nothing. Returns result. */
int nccl_group_error(int result);

#endif
