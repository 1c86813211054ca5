/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wakes the loop besides sockets: signals, a timer each second, and end-of-file on the
 * descriptor of --until-eof. One thread.
 */
#ifndef COLL_WAKEUPS_H
#define COLL_WAKEUPS_H

#include <stdbool.h>
#include <stdint.h>
#include "loop.h"

struct coll_wakeups {
	struct coll_loop *loop; /* borrowed */
	struct coll_source signals, timer, eof;
	void (*each_second)(void *owner);
	void (*report)(void *owner); /* USR1 */
	void *owner;
	bool terminate; /* TERM or INT asked for the end */
	bool reload; /* HUP asked for files of settings to be read again */
	bool eof_seen; /* the other end of --until-eof is gone */
	int64_t eof_ns; /* monotonic: when that was seen */
};

/* Nothing is open; each_second, report and owner are the caller's to set. */
void coll_wakeups_init(struct coll_wakeups *w, struct coll_loop *loop);

/*
 * From now on the signals are blocked but for this loop. @until_eof: descriptor, -1: none. 0 or
 * -errno, which is logged.
 */
int coll_wakeups_open(struct coll_wakeups *w, int until_eof);
void coll_wakeups_close(struct coll_wakeups *w);

#endif
