/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of which communicator a collective is, by the call of NCCL's that launched it: NCCL puts an NVTX
 * range around each, which since 2.25.1 carries the communicator (docs/FORMAT.md, bytes of a
 * RANGE). A kernel is launched within its call's range or, where calls are grouped, within
 * "ncclGroupEnd", and then all calls of the group must be of one for it to be known.
 *
 * It reads the process's ranges once more for itself, and only where some name is that of such a
 * call: the walk reads them by gaps, which may be long after a collective. One thread.
 */
#ifndef ANALYSIS_COMMUNICATORS_H
#define ANALYSIS_COMMUNICATORS_H

#include "analysis/map.h"
#include "analysis/read/event_feed.h"
#include "analysis/read/name_flags.h"

#define ANA_COMM_CALLS_MAX 4096u /* of a thread: older ones are forgotten */
#define ANA_COMM_CALLS_ALL (1u << 18) /* of all threads: no more are kept */

struct ana_comm_call {
	int64_t start, end;
	uint64_t comm;
};

struct ana_comm_thread {
	struct ana_comm_call *call; /* a ring, the oldest first, by start */
	uint32_t first, calls, room;
	uint32_t depth; /* groups that it is in */
	bool mixed; /* the group has calls of several communicators */
	uint64_t group; /* the communicator of the group's calls, 0: none yet */
	uint64_t ended; /* that of the last group */
};

struct ana_communicators {
	struct ana_feed feed;
	struct ana_names *names; /* borrowed */
	struct ana_comm_thread *thread;
	uint32_t threads, thread_room;
	struct ana_map thread_of; /* by tid */
	uint32_t held; /* calls of all threads, as rings have room for them */
	int err;
};

/*
 * *out: NULL where no name is that of a call of NCCL's. @names, @trace and @scratch outlive it.
 * 0 or -ENOMEM.
 */
int ana_communicators_new(struct ana_communicators **out, struct view_trace *trace,
			  const struct view_stream *s, struct ana_names *names,
			  struct wire_scratch *scratch);
void ana_communicators_free(struct ana_communicators *c);

/* That of what thread @tid launched at @at; 0: not known, also where @c is NULL. */
uint64_t ana_communicator_of(struct ana_communicators *c, uint32_t tid, int64_t at);

#endif
