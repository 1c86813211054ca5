/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the clock may be believed when a sweep is about to remove what is old. BASE/.sweep-clock
 * has the time of day of the last sweep, the time since boot (CLOCK_BOOTTIME, which nobody sets),
 * and which boot it was. The clock has jumped
 *
 *   in the same boot, when the time of day has gone on by a day more than the time since boot;
 *   after another boot, when it has gone on by more than COLL_CLOCK_AWAY_S since the last sweep.
 *
 * Then nothing is removed, and the file stays as it is, so that this holds until the clock is set
 * right or somebody removes the file. A clock that went back makes nothing old; then the file
 * stays, too. Steps below these are believed. Without the file there is nothing to compare with.
 * Pure but for the file.
 */
#ifndef COLL_SWEEP_CLOCK_H
#define COLL_SWEEP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define COLL_SWEEP_CLOCK ".sweep-clock"
#define COLL_CLOCK_STEP_S 86400
#define COLL_CLOCK_AWAY_S (7 * 86400)
#define COLL_BOOT_ID_BYTES 40

struct coll_sweep_clock {
	int64_t real_ns, boot_ns; /* real_ns 0: not known */
	char boot_id[COLL_BOOT_ID_BYTES]; /* "": not known, which is no boot's */
};

void coll_sweep_clock_now(struct coll_sweep_clock *c);
void coll_sweep_clock_read(struct coll_sweep_clock *c, const char *base);

/* 0 or -errno. */
int coll_sweep_clock_write(const struct coll_sweep_clock *c, const char *base);

/* How far it has jumped from @last to @now, in ns; 0: it has not. */
int64_t coll_sweep_clock_jump(const struct coll_sweep_clock *last,
			      const struct coll_sweep_clock *now);

#endif
