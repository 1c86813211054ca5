/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one loop: descriptors and what to call when they are ready. A source is embedded in its
 * owner and may be removed, and its owner freed, from any callback of the same loop.
 * Level-triggered. One thread.
 */
#ifndef COLL_LOOP_H
#define COLL_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#define COLL_LOOP_BATCH 64

struct coll_source {
	int fd; /* the owner's; -1: not in use */
	void (*ready)(struct coll_source *s, uint32_t events);
};

struct coll_loop {
	int fd;
	int got; /* events of the batch being handled */
	struct epoll_event event[COLL_LOOP_BATCH];
};

/* 0 or -errno. */
int coll_loop_init(struct coll_loop *l);
void coll_loop_fini(struct coll_loop *l);

/* @events: EPOLLIN, EPOLLOUT. 0 or -errno. */
int coll_loop_add(struct coll_loop *l, struct coll_source *s, uint32_t events);
int coll_loop_change(struct coll_loop *l, struct coll_source *s, uint32_t events);

/* Forgets @s; events of this batch that are still to come are dropped. Does not close. */
void coll_loop_remove(struct coll_loop *l, struct coll_source *s);

/* Waits for one batch and handles it. 0 or -errno (never -EINTR). */
int coll_loop_turn(struct coll_loop *l, int timeout_ms);

#endif
