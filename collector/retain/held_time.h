/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a run held its GPUs, as far as that can be told without analysis: from the first and the
 * last COLL_HELD_EDGE bytes of each stream and spool file, in which its Hello and its last pulses
 * are. A GPU is held from the start of a process that used it to that process's last pulse; what
 * several processes hold at the same time counts once. Reads the run's directory, whose bytes are
 * hostile, and changes nothing. Any thread.
 */
#ifndef COLL_HELD_TIME_H
#define COLL_HELD_TIME_H

#include <stddef.h>
#include <stdint.h>

#define COLL_HELD_EDGE (1u << 20)
#define COLL_HELD_FILES_MAX 1024 /* of a run; the others are not read */

struct coll_held_time {
	int64_t held_ns; /* summed over GPUs; meaningless without any */
	size_t gpus; /* that a pulse tells of; 0: nothing is known */
	size_t files, files_read;
};

void coll_held_time_read(struct coll_held_time *t, int run_fd);

#endif
