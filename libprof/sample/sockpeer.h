/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of a unix socket, which /proc does not tell: asked of the kernel through a netlink
 * socket (sock_diag(7)) that is open for this one question. Any thread; allocates nothing.
 */
#ifndef PROF_SOCKPEER_H
#define PROF_SOCKPEER_H

#include <stddef.h>
#include <stdint.h>

/* Its inode; 0: it has none, the kernel does not tell (no unix_diag, a filter), or not at once. */
uint64_t prof_unix_peer(uint64_t inode);

/* Sends a request to sock_diag. The answer's bytes; -1: none came at once, or the kernel refuses. */
long prof_diag_ask(const void *request, size_t len, void *answer, size_t room);

/* For tests: out of an answer. */
uint64_t prof_unix_peer_of(const void *answer, size_t len);

#endif
