/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --upstream-exec: a command for who is to know that the upstream's store went back in time,
 * restored from a
 * backup or failed over to an older copy: it had less than it had acknowledged. Once a minute at
 * most, one at a time, with what has come since the last. As the command of an alert
 * (live/command.h) it finds in its environment GPUSTARVE_ALERT_CONDITION (upstream_behind;
 * upstream_lost where a file of it is gone here, too), _VALUE (how many files), _TEXT, _BY
 * (collector) and _TIME_NS. One thread.
 */
#ifndef COLL_BEHIND_H
#define COLL_BEHIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct coll_behind { /* zero but for exec at first */
	const char *exec; /* the command line's; NULL: none */
	uint64_t files, lost; /* since the command was started last */
	int64_t started_ns; /* monotonic, 0: never */
	pid_t pid; /* while it runs */
};

/* Of a file the upstream had less; @lost: and it is not here any more. */
void coll_behind_note(struct coll_behind *b, bool lost);

/* To be called about once a second. @to: the upstream. */
void coll_behind_tick(struct coll_behind *b, const char *to);

#endif
