/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meeting.h - collectives. Kernels named nccl* of all ranks of a communicator meet: each begins
 * when its own stream lets it, all end when the last to begin has run its duration. Those of a
 * stand-in library (standin.h) say themselves whom they meet, perhaps several parties at once, and
 * what they show them. Process lock held in all calls.
 */
#ifndef SIM_MEETING_H
#define SIM_MEETING_H

#include "state.h"

/* Gives a collective about to wait its number among its kind; NULL meetings: by name. */
void sim_meeting_open(struct sim_pending *p, const struct sim_work *work);

/*
 * Lets the op begin, then looks whether all ranks have; true when op.end is known and all is taken.
 */
bool sim_meeting_advance(struct sim_pending *p);

/* Takes it out of its meetings, if need be, and frees what it needed for them. */
void sim_meeting_close(struct sim_pending *p);

#endif
