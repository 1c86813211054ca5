/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a thread waits for work that nobody gave yet: for a request, or for a person. By what it
 * does as far as a sample shows that (a terminal, a listening socket); for loops that show nothing
 * of it (ZeroMQ's sockets live in another thread, engines spin in shared memory) by a table of
 * whose loops they are. Pure; any thread.
 *
 * What it cannot see: a program's own loop around a pipe or a connected socket, which may as well
 * be its input; a listener beside other descriptors of one poll counts, whatever the others are
 * for.
 */
#ifndef ANALYSIS_NO_WORK_H
#define ANALYSIS_NO_WORK_H

#include "frames.h"
#include "wire/evidence.h"

enum ana_no_work {
	ANA_NO_WORK_NOT = 0, /* as far as this tells */
	ANA_NO_WORK_REQUESTS,
	ANA_NO_WORK_PERSON,
};

/*
 * By frames alone: within the standard library and messaging packages the innermost frame of the
 * table, with nothing else further in. Any frame of the user's own says no.
 */
enum ana_no_work ana_no_work_frames(const char *stack, uint32_t len);

/*
 * A sample, what its frames alone tell, and the texts of its target and its links. A thread that
 * waits for the interpreter's lock or the GPU's driver waits for no work.
 */
enum ana_no_work ana_no_work_of(const struct wire_sample *s, enum ana_no_work frames,
				struct ana_text target, struct ana_text links);

/* A device at which somebody sits; /dev/ttyUSB0 and its like are instruments. */
bool ana_no_work_terminal(struct ana_text target);

#endif
