/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of TCP connections over netlink (sock_diag(7), as ss -i asks). Of one: how
 * much came through it so far, for no file of /proc tells that and recv() is in no count of a
 * thread's (since Linux
 * 4.1); and its inode. Some 15 us. All of them, in a third of the time that /proc takes to print
 * and we to
 * read them, and without those that were closed within the last minute: a program that fetches each
 * file over a connection of its own leaves thousands. Any thread; allocates nothing.
 */
#ifndef PROF_SOCKBYTES_H
#define PROF_SOCKBYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @near, @far: ADDRESS:PORT as /proc/net/tcp prints them. -1: not known. */
int64_t prof_tcp_received(const char *near, const char *far);

/*
 * The inode of the socket with that near end; 0: there is none here, nobody has accepted it, or not
 * known.
 */
uint64_t prof_tcp_inode(const char *near, const char *far);

struct prof_tcp_socket {
	uint64_t inode;
	bool listens;
	char near[48], far[48]; /* ADDRESS:PORT as above; far "": none */
};

enum prof_tcp_listed {
	PROF_TCP_MORE, /* not all: its time is over */
	PROF_TCP_ALL,
	PROF_TCP_REFUSED /* the kernel does not tell: no tcp_diag, a filter */
};

/*
 * Gives every socket of this network namespace to @take, of IPv4 or of IPv6, for @cpu_ns of CPU
 * time at most.
 */
enum prof_tcp_listed prof_tcp_list(bool six, int64_t cpu_ns,
				   void (*take)(const struct prof_tcp_socket *s));

/* For tests: the same out of an answer of @len bytes. */
enum prof_tcp_listed prof_tcp_list_of(const void *answer, size_t len, bool six,
				      void (*take)(const struct prof_tcp_socket *s));
int64_t prof_tcp_received_of(const void *answer, size_t len);
uint64_t prof_tcp_inode_of(const void *answer, size_t len);

#endif
