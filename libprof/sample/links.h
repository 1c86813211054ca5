/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for what, and who holds that: the ids that threads were last seen to wait for, those of
 * submitters first, then those of whoever was found to hold such a one and waits himself; and of
 * each thread looked through, which of them it holds. What is awaited is forgotten a second after
 * it was. Pure but for what it is told; one thread; allocates nothing.
 */
#ifndef PROF_LINKS_H
#define PROF_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kindred.h"
#include "thread_sample.h"

#define PROF_LINKS_WANTED 32u /* ids; a bit each */
#define PROF_LINKS_DEPTH 4u /* from a submitter: it, who makes for it, who makes for him, ... */
#define PROF_LINKS_HOLDERS 1024u /* threads; a power of two */
#define PROF_LINKS_OLD_NS 1000000000ll
/*
 * Of descriptors: a loop with more than a sample has room for tells them in turn, and of a process
 * with many threads looks are seldom.
 */
#define PROF_LINKS_OLD_END_NS 5000000000ll
#define PROF_LINKS_MADE_NS 10000000000ll
#define PROF_LINKS_TRIAL 16u
#define PROF_LINKS_TRIAL_FAR 4u /* in other processes, which are looked at in turn */

struct prof_link_wanted {
	char id[PROF_LINK_ID]; /* "": free */
	int64_t seen_ns; /* somebody waited for it then */
	uint8_t depth; /* how far who waits is from a submitter, who is at 0 */
	uint32_t with; /* what was awaited in the same wait; a bit each */
	uint64_t object; /* its address; 0: it is none */
	uint32_t pid; /* whose thread waits for it, the last one that did */
	bool shared; /* it is the same object in other processes */
	bool judged; /* whether it is was found out */
	uint64_t end; /* inode of the descriptor by which it is awaited; 0: by none */
	/* inodes of the descriptors of who can give; of memory its own; 0: none known */
	uint64_t other[2];
	uint64_t path; /* hash of a FIFO's name; 0: it is none */
};

struct prof_link_holder { /* may be overwritten by another thread's */
	uint32_t pid, tid;
	uint32_t gives, holds; /* bits of wanted; what it gives it holds */
	uint32_t inherits; /* of holds: a copy of ours has both ends, as all copies have */
	uint32_t alone; /* of holds: of memory that it inherited no other process has any */
	uint16_t looks; /* at it, up to PROF_LINKS_TRIAL */
	uint64_t kind; /* kindred.h, of its last stack; 0: none */
	uint32_t sure; /* of gives: nobody else could */
	bool gave; /* it was found to give something, be that awaited any more or not */
	uint32_t awaits; /* it waited for these when it was seen last */
	uint32_t takes; /* it was seen to wait for it as one who takes from a queue */
	uint32_t objects; /* the count of objects when it was looked through last */
	uint64_t cpu_ns; /* its CPU time then */
	int64_t looked_ns; /* 0: never */
	int64_t made_ns; /* it was last found to hold something for somebody else; 0: not lately */
	uint32_t told; /* its last sample tells that it gives or holds these */
	uint32_t firsts; /* the count of firsts when it was asked for those last, ... */
	int64_t asked_ns; /* ... and when that was */
};

struct prof_links {
	struct prof_link_wanted wanted[PROF_LINKS_WANTED];
	uint32_t objects, ends; /* count ids of objects and of descriptors that came new */
	uint32_t firsts; /* the same of the first objects, see prof_links_of_firsts */
	struct prof_link_holder holder[PROF_LINKS_HOLDERS];
	struct prof_kindred kind[PROF_KINDRED_MAX];
};

/* A thread was seen: takes in what it waits for, if it is one whose waits are followed. */
void prof_links_await(struct prof_links *l, const struct prof_thread_sample *s, int64_t now_ns);

/* The thread waits on as it did. */
void prof_links_await_on(struct prof_links *l, uint32_t pid, uint32_t tid, int64_t now_ns);

/* Forgets what nobody has waited for lately. */
void prof_links_age(struct prof_links *l, int64_t now_ns);

/*
 * Bits of the objects for which a submitter waits that was seen at @now_ns or since; where none
 * awaits an object, of those for which the threads do that make for it.
 */
uint32_t prof_links_of_firsts(const struct prof_links *l, int64_t now_ns);

/* Does anybody hold one of these? */
bool prof_links_held(const struct prof_links *l, uint32_t bits);

/* Bits of those that are objects, and of those that descriptors lead to. */
uint32_t prof_links_of_objects(const struct prof_links *l);
uint32_t prof_links_of_ends(const struct prof_links *l);

/* Its place, cleared if it was another's. */
struct prof_link_holder *prof_links_holder(struct prof_links *l, uint32_t pid, uint32_t tid);

/*
 * What was found in it: replaces the bits of @of. A descriptor that it @inherits is told only if an
 * object that is awaited with it is held as well, or nobody else has it. What a thread holds is
 * told when it was looked at PROF_LINKS_TRIAL times (of another process, _FAR): one that takes from
 * it has then been seen to. Or threads that run the same function were, before it, so often, and
 * none of them was seen to take from that: a server's thread for each connection may be gone by
 * then.
 */
void prof_links_found(struct prof_link_holder *h, uint32_t of, uint32_t gives, uint32_t holds,
		      uint32_t inherits);

/*
 * Of the ends those that one process alone was found to hold, and of which it is not known to give.
 */
uint32_t prof_links_lone(const struct prof_links *l);

/* Of these the process gives what it holds; memory it holds, inherited or not. */
void prof_links_sure(struct prof_links *l, uint32_t pid, uint32_t bits);

/* Does it hold something for somebody else? 2: gives; 1: holds; 0: neither. */
int prof_links_makes(struct prof_links *l, uint32_t pid, uint32_t tid);

/*
 * It was looked through. Who held what others waited for is asked first of all for some time: where
 * each step has an object of its own, a future, it is over before all threads were asked.
 */
void prof_links_looked(struct prof_links *l, struct prof_link_holder *h, int64_t now_ns);

/* Does it hold what its last sample does not tell? One that sleeps on has a new sample then. */
bool prof_links_news(struct prof_links *l, uint32_t pid, uint32_t tid);

/* Adds to a sample what its thread can give. */
void prof_links_tell(struct prof_links *l, struct prof_thread_sample *s);

#endif
