/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All connections of the Unix socket (client.h): what is due for them after a turn of the loop,
 * each second, and at the end. One thread.
 */
#ifndef COLL_CLIENTS_H
#define COLL_CLIENTS_H

#include "client.h"

/* The borrowed members are set. 0 or -ENOMEM; fini is right in both cases. */
int coll_clients_init(struct coll_clients *all);

/* Closes all and ends all watches. No round is on its way. */
void coll_clients_fini(struct coll_clients *all);

/* Each second: who is silent amid a frame is closed, who sent too much is read from again. */
void coll_clients_tick(struct coll_clients *all, int64_t now_ns);

/*
 * After each turn: acknowledges what is durable, closes who is to be closed and owes nothing any
 * more, and begins to make durable what is due, or @everything.
 */
void coll_clients_settle(struct coll_clients *all, bool everything);

/* The same, and waits until all of that has come to pass. */
void coll_clients_finish(struct coll_clients *all);

/* What they have sent already is taken, then they are to be closed. */
void coll_clients_drain(struct coll_clients *all);

/* Nobody is connected; with @grace_over who has said Bye, or nothing at all, does not count. */
bool coll_clients_done(const struct coll_clients *all, bool grace_over);

#endif
