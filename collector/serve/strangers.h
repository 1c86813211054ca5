/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that nobody has authenticated on yet: COLL_STRANGERS_MAX at a time, so that the rest
 * stay for those that have. One more, and the oldest of the address that has the most of them is
 * closed: who opens thousands takes their place from himself, and a handshake of somebody else's
 * goes on. Addresses are counted together by a hash that nobody can choose, those of IPv6 by their
 * first 64 bits. One thread.
 */
#ifndef COLL_STRANGERS_H
#define COLL_STRANGERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define COLL_STRANGERS_MAX 1024
#define COLL_STRANGERS_BUCKETS 512

struct coll_stranger { /* in a connection */
	struct coll_stranger *older, *newer;
	unsigned int bucket;
	int here; /* in the list */
};

struct coll_strangers { /* zero at first */
	struct coll_stranger *oldest, *newest;
	size_t count;
	unsigned int of[COLL_STRANGERS_BUCKETS];
	uint64_t seed; /* 0: not chosen yet */
};

/*
 * From @from (NULL: not known). The one that has to go for it, which is none any more; NULL: nobody
 * has to.
 */
struct coll_stranger *coll_strangers_add(struct coll_strangers *all, struct coll_stranger *s,
					 const struct sockaddr *from);

/* It has authenticated, or is gone. Of one that is none: nothing. */
void coll_strangers_remove(struct coll_strangers *all, struct coll_stranger *s);

#endif
