/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for those who hold what is awaited (links.h): among the threads of this process that
 * run Python, idle ones too, among those of children, and among the descriptors of all processes
 * below. A hundredth of a core at most, and 40 ms more at first, whatever there is to look through:
 * the rest the next time. Sampler thread only; allocates nothing; under the fork lock.
 */
#ifndef PROF_GIVERS_H
#define PROF_GIVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "family.h"
#include "links.h"
#include "target.h"

struct prof_givers {
	struct prof_links links;
	struct prof_family family;
	int64_t fed_ns, budget_ns; /* CPU time that may be spent; below 0: too much was */
	int64_t first_fed_ns, first_ns; /* the same, of asking who made before */
	int64_t spent_ns; /* of what the first of these may have beyond its share, once */
	size_t next; /* in the list of this process's threads */
	size_t next_target;
	size_t next_first; /* the same, of who is asked at once */
};

/* Begins a turn: forgets what is old, and has some more time to spend. */
void prof_givers_turn(struct prof_givers *g, int64_t now_ns);

/*
 * Looks through a thread if that may tell something new: it has run, or something else is awaited.
 * @pid: as samples name its process.
 */
void prof_givers_thread(struct prof_givers *g, struct prof_target *t, uint32_t pid, pid_t tid,
			int64_t now_ns);

/*
 * The same, of one of this process that was found to make: while there is time for those who were
 * not asked yet, too. They come by turns, and of two threads of a pool the second is missed else.
 */
void prof_givers_again(struct prof_givers *g, struct prof_target *self, pid_t tid, int64_t now_ns);

/*
 * Does this thread of this process hold that for which a submitter has begun to wait in this turn?
 * Of one that made lately, before it is sampled; and, where nobody does, of some others. For an
 * object that is made for one step the next scan comes too late.
 */
void prof_givers_first(struct prof_givers *g, struct prof_target *self, pid_t tid, int64_t now_ns);
void prof_givers_others(struct prof_givers *g, struct prof_target *self, int64_t now_ns);

/* Looks through threads of @self, this process: some each time, the newest ones always. */
void prof_givers_own(struct prof_givers *g, struct prof_target *self, int64_t now_ns);

/* The same for a child. */
void prof_givers_child(struct prof_givers *g, struct prof_target *t, uint32_t pid, int64_t now_ns);

/* Of objects that a child waits for: are they the same ones in this process and other children? */
void prof_givers_judge(struct prof_givers *g, struct prof_target *self, struct prof_target *t,
		       uint32_t pid);

/* Looks at the descriptors of processes below. @tid: threads that may have made children. */
void prof_givers_family(struct prof_givers *g, const uint32_t *tid, size_t tids, int64_t now_ns);

/* May more be spent than its share? Not for ever. */
bool prof_givers_has_saved(const struct prof_givers *g);

/* Is anything of that kind awaited? */
bool prof_givers_want(const struct prof_givers *g);

#endif
