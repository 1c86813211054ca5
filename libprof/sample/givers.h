/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for those who hold what is awaited (links.h): among the threads of this process that
 * run Python, idle ones too, among those of children, and among the descriptors of all processes
 * below. A hundredth of a core at most, whatever there is to look through: the rest the next time.
 * Sampler thread only; allocates nothing; under the fork lock.
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
	size_t next; /* in the list of this process's threads */
	size_t next_target;
	uint32_t asked; /* the count of objects when this process's threads were last asked at once */
};

/* Begins a turn: forgets what is old, and has some more time to spend. */
void prof_givers_turn(struct prof_givers *g, int64_t now_ns);

/*
 * Looks through a thread if that may tell something new: it has run, or something else is awaited.
 * @pid: as samples name its process.
 */
void prof_givers_thread(struct prof_givers *g, struct prof_target *t, uint32_t pid, pid_t tid,
			int64_t now_ns);

/* Looks through threads of @self, this process: some each time, the newest ones always. */
void prof_givers_own(struct prof_givers *g, struct prof_target *self, int64_t now_ns);

/*
 * The same at once, behind a look at one that waits: for an object that is made for one step the next scan
 * comes too late. Nothing once somebody is known who makes.
 */
void prof_givers_first(struct prof_givers *g, struct prof_target *self, int64_t now_ns);

/* The same for a child. */
void prof_givers_child(struct prof_givers *g, struct prof_target *t, uint32_t pid, int64_t now_ns);

/* Of objects that a child waits for: are they the same ones in this process and other children? */
void prof_givers_judge(struct prof_givers *g, struct prof_target *self, struct prof_target *t,
		       uint32_t pid);

/* Looks at the descriptors of processes below. @tid: threads that may have made children. */
void prof_givers_family(struct prof_givers *g, const uint32_t *tid, size_t tids, int64_t now_ns);

/* Is anything of that kind awaited? */
bool prof_givers_want(const struct prof_givers *g);

#endif
