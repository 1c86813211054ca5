/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may end a wait in native code: a thread that is blocked on a futex which is no lock of
 * Python's waits for another thread of the process, and the address of the futex joins the two. It
 * lies in an object that both use, so whoever ends the wait keeps a pointer to that object: on its
 * stack, or as what it was started with. Found are, the first kind that there is:
 *
 *   gives    threads with a pointer into the object that the futex lies in: the block of malloc's if
 *            its bounds can be told (heapblock.h), else as far as the waiting function's own pointers
 *            reach, at most 512 bytes before and behind: a queue with its locks is smaller
 *   holds    threads with a pointer to another object that the waiting function points to: of these
 *            the one that fewest have, for who makes for others, too, has what all share. So are
 *            joined those whose locks wait on a word of the waiting thread itself (abseil, nsync)
 *   holds    threads that were started in the library that waits; where a maker waits, only if it was
 *            found waiting in the same turns as who waits for it: else it may wait for room
 *
 * A thread that waits itself for the one that waits is not among them but by the first kind.
 * Only the first of these kinds counts of one wait: a thread that has a pointer is no reason to
 * believe in its neighbours. No thread without Python that has none of the three gets a link,
 * however busy it is while somebody waits.
 *
 * What waits inside of the GPU's driver waits for the GPU. x86-64 and aarch64 with glibc only;
 * elsewhere nothing is found. Sampler thread; allocates nothing; under the fork lock.
 */
#ifndef PROF_NATIVELINK_H
#define PROF_NATIVELINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "nativewait.h"
#include "python/pythread.h"
#include "stacktop.h"

#define PROF_NATIVELINK_WAITS 12u
#define PROF_NATIVELINK_THREADS 512u /* a power of two */
#define PROF_NATIVELINK_PLAIN 32u
#define PROF_NATIVELINK_NAME 16u
#define PROF_NATIVELINK_PAGES 4096u

enum prof_nativelink_kind { /* what joins a thread to a wait; the best is the last */
	PROF_NATIVELINK_NONE,
	PROF_NATIVELINK_LIBRARY,
	PROF_NATIVELINK_OTHER, /* another object */
	PROF_NATIVELINK_OBJECT,
};

struct prof_nativelink_wait { /* somebody's, within the last seconds */
	uint64_t id; /* the futex; 0: free. The same one elsewhere in a library is another wait */
	uint64_t sp; /* of who waits there, when its stack was read last */
	uint32_t serial; /* no two have the same */
	pid_t tid; /* who waits */
	uint8_t depth; /* 0: a submitter; 1: who makes something for one, and so on */
	bool feeds; /* a submitter without Python */
	uint8_t best; /* enum prof_nativelink_kind: of all threads */
	uint32_t rarest; /* of its other objects, a bit each: those that fewest have */
	uint32_t rounds; /* all threads were looked at so often since */
	uint32_t pressed; /* turns in which somebody waited for who waits here, up to a few */
	int64_t seen_ns;
	struct prof_nativewait of;
};

struct prof_nativelink_thread { /* not started by Python; may be overwritten by another's */
	pid_t tid;
	bool ours; /* or Python's: not looked at */
	char name[PROF_NATIVELINK_NAME];
	int64_t looked_ns;
	uint32_t serial; /* the newest wait when it was looked at */
	/* code: what it was started with, and the first of a library below */
	uint64_t entry, inner;
	struct {
		uint32_t serial; /* of the wait */
		uint8_t kind;
		uint32_t others; /* a bit each */
		int64_t found_ns;
	} hold[PROF_NATIVELINK_WAITS];
};

struct prof_nativelink {
	struct prof_nativelink_wait wait[PROF_NATIVELINK_WAITS];
	struct prof_nativelink_thread thread[PROF_NATIVELINK_THREADS]; /* by thread id */
	struct { /* waits that are none of these */
		pid_t tid;
		uint64_t id, sp;
		int64_t seen_ns;
	} plain[PROF_NATIVELINK_PLAIN];
	uint32_t serial, plain_at;
	uint32_t asked; /* the newest wait of a submitter, and ... */
	uint32_t answered; /* ... that at the last scan */
	uint32_t scan_at; /* threads that this round has got to */
	unsigned int looks, asks; /* that this scan may still take; of them by the kernel's word */
	/* whose turn it is: of those at the ends of chains, and between */
	size_t maker_at, middle_at;
	/* a Python thread that uses the object that a submitter without Python waits on */
	pid_t feeder;
	size_t python_at;
	struct prof_stacktop top; /* to work with, */
	/* and where objects lie: a bit for some pages each */
	uint64_t page[PROF_NATIVELINK_PAGES / 64];
};

/* a thread that is blocked on a futex, not the global lock, or an event */
struct prof_nativelink_look {
	pid_t tid;
	bool python; /* it runs Python */
	uint8_t depth;
	bool submits;
	uint64_t futex, arg, sp, pc; /* as struct prof_thread_sample has them */
	int64_t now_ns;
};

/*
 * Tells of a wait that may be a native one. Its id, 0: it is none. What was told is forgotten some
 * seconds after it was told last.
 */
uint64_t prof_nativelink_await(struct prof_nativelink *l, const struct prof_nativelink_look *look);

/* The thread waits on as it did. */
void prof_nativelink_await_on(struct prof_nativelink *l, pid_t tid, int64_t now_ns);

/*
 * Looks at the process's threads that Python did not start, at most 64 of them and others the next
 * time, and of each once a second: who of them is joined to a wait? Nothing is done while nobody
 * waits. @python: the threads that have Python.
 */
void prof_nativelink_scan(struct prof_nativelink *l, const struct prof_py_thread *python, size_t n,
			  int64_t now_ns);

/* Is there a submitter's wait that no thread was looked at for? */
bool prof_nativelink_asks(const struct prof_nativelink *l);

/*
 * Those that are joined to a wait, at most @room, others the next time; half of it at most are
 * those who wait for one another themselves. How many.
 */
size_t prof_nativelink_makers(struct prof_nativelink *l, pid_t *tid, size_t room);

/*
 * While a submitter without Python waits: who feeds it. @main: the main thread, if it has Python;
 * what else is known to use the same object goes before it. 0: nobody.
 */
pid_t prof_nativelink_feeder(const struct prof_nativelink *l, pid_t main);

/* What joins this thread to a wait of another one, *id; @i: below PROF_NATIVELINK_WAITS. */
enum prof_nativelink_kind prof_nativelink_of(const struct prof_nativelink *l, pid_t tid, size_t i,
					     uint64_t *id);

/* The name of a thread that is a maker; "": not known. */
const char *prof_nativelink_name(const struct prof_nativelink *l, pid_t tid);

/*
 * The outermost frames of a maker that runs, as wire/evidence.h has native stacks: the function
 * that it was started with and, if that is one of the C++ library, the first one below. Length.
 */
size_t prof_nativelink_stack(const struct prof_nativelink *l, pid_t tid, char *text, size_t room);

#endif
