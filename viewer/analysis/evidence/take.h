/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread that calls a function of the standard library waits for: does it take what another
 * makes, give what it made, or settle something? Never the name of a package or of a user's
 * function tells that. Pure.
 */
#ifndef ANALYSIS_TAKE_H
#define ANALYSIS_TAKE_H

#include "modules.h"

enum ana_take {
	ANA_TAKE_NOT_TOLD = 0,
	ANA_TAKE_ITEM, /* get of a queue, result of a future, recv, read, the next of an iterator */
	/* an event, a condition, an event loop, C code that waits for its threads */
	ANA_TAKE_EVENT,
	ANA_TAKE_LOCK, /* a plain lock */
	ANA_TAKE_GIVES, /* put, send, write, flush */
	ANA_TAKE_SETTLES, /* join, shutdown, a barrier, a child's end */
	ANA_TAKE_SERVES, /* accept, a server's loop, a console: for requests, or for a person */
};

/*
 * What one frame of the standard library says: @file is its path there. NULL words: nothing. The
 * words name the function for people: "queue.get".
 */
const char *ana_take_function(struct ana_text file, struct ana_text function, enum ana_take *take);

/* Of those words. */
enum ana_take ana_take_of_words(const char *words);

/* Whether that file of the standard library talks with other processes. */
bool ana_take_between(struct ana_text file);

/* Whether a function of this name is a part of the iterator protocol. */
bool ana_take_iterates(struct ana_text function);

#endif
