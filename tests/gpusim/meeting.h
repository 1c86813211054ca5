/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meeting.h - collectives. Kernels named nccl* of all ranks of a communicator meet: each begins
 * when its own stream lets it, all end when the last to begin has run its duration.
 */
#ifndef SIM_MEETING_H
#define SIM_MEETING_H

#include "state.h"

/* Makes op a collective of `ranks` ranks of communicator `comm`. Process lock held. */
void sim_meeting_join(struct sim_op *op, uint64_t comm, uint32_t ranks);

/* Lets the op begin, then looks whether all ranks have; true when op.end is known. */
bool sim_meeting_advance(struct sim_pending *p);

#endif
