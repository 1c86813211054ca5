/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects a blocked thread waits for, and which threads can hand something to who waits for
 * them: objects are told by their addresses, read from the memory of this process or of a child as
 * stacks are (pystack.h, whose rules for threads, locks and forks hold here too). Nothing is called
 * in Python and nothing is allocated; what is looked through is bounded, and what does not look as
 * Python's ends a search quietly. All CPythons of facts/pythons.def; where one's structures are
 * other than its version's all functions give -ENOTSUP.
 *
 * An address names an object only within one process, and only while somebody waits for it. In a
 * child the same address may be another object: there only objects of multiprocessing are found,
 * which a fork shares. A child that has another program than ours (spawned, not forked) shares no
 * addresses: do not ask it (prof_py_shares).
 *
 * A search of one thread costs some tens of microseconds (tests/bench/bench_pystack.py prints it).
 */
#ifndef PROF_REACH_H
#define PROF_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pythread.h"

#define PROF_PY_WANTED 16u /* objects looked for at once */

struct prof_py;

struct prof_py_hold {
	bool held; /* the stack of the thread reaches the object */
	bool gives; /* and its code, there or further in, has what gives to who waits for it */
};

/*
 * The objects that a thread waits for which is blocked now: those of C types that its innermost
 * function calls (a SimpleQueue, a lock), then the first arguments (self) of the standard library's
 * functions that its stack ends with, innermost first. Both end at the first function that is not
 * the standard library's. Their number, at most @room, 0: it waits for none that is known. -EAGAIN:
 * it moved meanwhile;
 * -ENOENT: it is gone.
 */
int prof_py_awaited(struct prof_py *py, const struct prof_py_thread *t, uint64_t *object,
		    size_t room);

/*
 * The same right behind prof_py_walk of that thread, from the stack that it found: half the cost.
 * It holds if the thread has not run since, which who asks is to find out behind it.
 */
int prof_py_awaited_there(struct prof_py *py, const struct prof_py_thread *t, uint64_t *object,
			  size_t room);

/*
 * The objects that a thread asks which sleeps before it asks again, as it comes to an iterator's
 * next item: the first arguments of its functions, from the innermost one to the first that is a
 * generator or of the iterator protocol, a few frames far, then the futures and results of pools
 * that these objects have, a few steps off. As prof_py_awaited it returns; 0: no iterator.
 */
int prof_py_asked(struct prof_py *py, const struct prof_py_thread *t, uint64_t *object,
		  size_t room);

/*
 * Is the object a SimpleQueue, whose get() is C, or a semaphore of multiprocessing that counts:
 * things are taken from both. Behind prof_py_awaited, which had it from @py: of the last one's that
 * is known.
 */
bool prof_py_is_queue(struct prof_py *py, uint64_t object);

/*
 * Which of @wanted[@n], at most PROF_PY_WANTED, the stack of a thread reaches: by variables, cells,
 * free variables and the evaluation stack of its functions and by globals that their code names,
 * through attributes, lists, tuples, dictionaries, sets, deques, bound methods and closures, a few
 * steps far; of a thread that sleeps in asyncio's selector by those of its loop's tasks, too. Not
 * through classes, modules or other threads. A thread that waits for an object
 * itself reaches it too. It gives if its code names what gives to who waits for an object of that
 * type (put, set_result, notify, ...), and the attributes by which it is reached; or a method of
 * such an object's class whose code does so; or if it has a bound method that gives, or is in a
 * with statement of a lock. What a thread gave long ago and what it will give look the same, and so
 * does another object of the same name. Into out[n]; the number that are held. -EAGAIN: its stack
 * cannot be read now; -ENOENT: it is gone.
 */
int prof_py_holds(struct prof_py *py, const struct prof_py_thread *t, const uint64_t *wanted,
		  size_t n, struct prof_py_hold *out);

/* The same of objects that threads of this very process wait for: of any class in a child, too. */
int prof_py_holds_own(struct prof_py *py, const struct prof_py_thread *t, const uint64_t *wanted,
		      size_t n, struct prof_py_hold *out);

/*
 * The same, of what is near: some hundred and fifty objects, and no globals. For a thread that held
 * the like before; what is not found may be farther off.
 */
int prof_py_holds_near(struct prof_py *py, const struct prof_py_thread *t, const uint64_t *wanted,
		       size_t n, struct prof_py_hold *out);

/*
 * Is the object of the one process (@a) one of the same class in the other, and shared by a fork?
 * For a child of which it is not known whether it was forked, and of objects that may be younger
 * than it.
 */
bool prof_py_shares(struct prof_py *a, struct prof_py *b, uint64_t object);

#endif
