/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of a unix socket, which /proc does not tell: asked of the kernel through a netlink
 * socket (sock_diag(7)) that is open for this one question. Any thread; allocates nothing.
 */
#ifndef PROF_SOCKPEER_H
#define PROF_SOCKPEER_H

#include <stddef.h>
#include <stdint.h>

#define PROF_DIAG_BY_FAMILY 20 /* SOCK_DIAG_BY_FAMILY: the type of requests and answers */

/* Its inode; 0: it has none, the kernel does not tell (no unix_diag, a filter), or not at once. */
uint64_t prof_unix_peer(uint64_t inode);

/* A socket to ask through, of the caller's; below 0: the kernel refuses. */
int prof_diag_open(void);

/*
 * Sends a request to sock_diag. The answer's bytes; -1: none came at once, or the kernel refuses.
 */
long prof_diag_ask(const void *request, size_t len, void *answer, size_t room);

/*
 * What stands in attribute @type of an answer, behind its header and the @message bytes of its
 * family, and how many bytes that has. NULL: there is none, or it is no such answer. Borrows.
 */
const void *prof_diag_attribute(const void *answer, size_t len, size_t message, uint16_t type,
				size_t *bytes);

/* For tests: out of an answer. */
uint64_t prof_unix_peer_of(const void *answer, size_t len);

#endif
