/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of one TCP connection over netlink (sock_diag(7), as ss -i asks): how much came
 * through it so far, for no file of /proc tells that and recv() is in no count of a thread's (since Linux
 * 4.1); and its inode. Some 15 us. Any thread; allocates nothing.
 */
#ifndef PROF_SOCKBYTES_H
#define PROF_SOCKBYTES_H

#include <stddef.h>
#include <stdint.h>

/* @near, @far: ADDRESS:PORT as /proc/net/tcp prints them. -1: not known. */
int64_t prof_tcp_received(const char *near, const char *far);

/* The inode of the socket with that near end; 0: there is none here, nobody has accepted it, or not known. */
uint64_t prof_tcp_inode(const char *near, const char *far);

/* For tests: the same out of an answer of @len bytes. */
int64_t prof_tcp_received_of(const void *answer, size_t len);
uint64_t prof_tcp_inode_of(const void *answer, size_t len);

#endif
