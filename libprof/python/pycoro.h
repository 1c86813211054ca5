/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the coroutines of an event loop are suspended while its thread sleeps in the selector: from
 * a task down its chain of awaits to the function that waits for something outside of the loop.
 */
#ifndef PROF_PYCORO_H
#define PROF_PYCORO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pywalk.h"

#define PROF_PYCORO_TASKS 24u /* looked at, at most */
#define PROF_PYCORO_DEPTH 12u /* functions of each, outermost first */
#define PROF_PYCORO_NOTED 4u
#define PROF_PYCORO_KEPT 4u
#define PROF_PYCORO_ALL 6u

enum prof_pycoro_end { /* what its innermost function waits for */
	PROF_PYCORO_NOTHING = 0, /* it runs, is done, or cannot be followed */
	PROF_PYCORO_LOOP, /* what other tasks of the loop do */
	PROF_PYCORO_TIME, /* asyncio.sleep */
	PROF_PYCORO_OUTSIDE, /* something else that wakes the loop */
};

struct prof_pytask { /* of one loop */
	uint64_t task;
	uint64_t object; /* where following it has come to; 0: at its end */
	uint64_t last; /* the task at the end of its chain */
	uint64_t code; /* of the function to be told */
	struct prof_pyframe frame[PROF_PYCORO_DEPTH]; /* outermost first */
	uint8_t frames;
	uint8_t own; /* up to the innermost function of the program's; 0: there is none */
	uint8_t end; /* enum prof_pycoro_end */
	bool gives; /* a variable of it is a queue or the like, for which another task waits */
};

/* which task was told of a loop: it is told again as long as it stays where it is */
struct prof_pykept {
	uint64_t loop;
	struct prof_pytask task;
	uint8_t left; /* so many times, before all are looked at again */
};

struct prof_pycoros { /* room to work in */
	uint64_t set; /* asyncio's of all tasks; 0: not known */
	uint8_t tries; /* at finding it */
	uint64_t noted[PROF_PYCORO_NOTED]; /* tasks that other threads wait for, as seen last */
	uint8_t next, next_kept;
	struct prof_pykept kept[PROF_PYCORO_KEPT];
	struct prof_pytask task[PROF_PYCORO_TASKS];
	size_t tasks;
};

struct prof_py;

/*
 * If the thread of @w, whose codes are in py->raw, sleeps in asyncio's selector, puts frames of the
 * task that is waited for into @w, behind those of the loop's functions, from the program's
 * innermost outwards; marks them as suspended. Of several tasks: the one the loop is run for, if it
 * waits for anything outside; else one that another thread waits for; else one of the most that
 * wait at the same line. Without such a one @w stays as it is.
 */
void prof_pycoro_add(struct prof_py *py, struct prof_pywalk *w);

/*
 * The same for who looks through a thread's variables: the innermost function of the program's own
 * of each task of the loop, each function once, PROF_PYCORO_ALL at most.
 */
void prof_pycoro_add_all(struct prof_py *py, struct prof_pywalk *w);

/* Another thread waits for this task. */
void prof_pycoro_note(struct prof_pycoros *c, uint64_t task);

/*
 * The tasks of @loop, whose functions have @globals, into py->coros, behind those that are there.
 */
void prof_pytasks_find(struct prof_py *py, uint64_t loop, uint64_t globals);

#endif
