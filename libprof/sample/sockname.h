/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is at the other end of a socket, by its inode, from the kernel's lists of TCP's
 * (sockbytes.h), from /proc/self/net/{tcp,tcp6} where it tells none, from /proc/self/net/unix, and
 * of a unix socket from the kernel (sockpeer.h). The socket itself is not asked: a thread with a
 * table of its own has no descriptor of it, and calls that would borrow one are not on every
 * service's list of what a program may do.
 *
 * The tables are read at most five times a second, that of unix sockets ten times, each 5 ms of CPU
 * time and a file 256 KiB at most, and in the long run for no more than 0.25 % of a core, of which
 * 80 ms may be spent at once: where the kernel has many hash buckets one of TCP takes 4 ms, however
 * few lines it has; so each is read only if a socket may stand in it. Answers are kept for a
 * minute. A new socket may be without a name for some seconds. Of one thread; allocates nothing.
 */
#ifndef PROF_SOCKNAME_H
#define PROF_SOCKNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "linktext.h"

/*
 * A descriptor of a socket: its protocol, which tells the table that it stands in. @path: in /proc.
 * Else it may be in any of them.
 */
void prof_socket_met(uint64_t inode, const char *path);

/*
 * @name gets "socket:1.2.3.4:443", "socket:[2001:db8::1]:443", "socket:/path" and "socket:unix", or
 * "socket" where that is not known: other families, one that listens, another network namespace.
 */
void prof_socket_name(uint64_t inode, char *name, size_t room);

/*
 * Its link's id: a pair, a connection, or an address at which it listens; "" while that is not
 * known. *peer: the inode of the other end; 0: of another host or namespace, there is none, or not
 * known.
 */
void prof_socket_link(uint64_t inode, char id[PROF_LINK_ID], uint64_t *peer);

/*
 * Was the connection accepted, not made, here: a socket that listens has its address? Then "a" and
 * that address, else "". Of one whose listening socket is closed this is not known.
 */
void prof_socket_accepted(uint64_t inode, char id[PROF_LINK_ID]);

/*
 * Does a TCP connection bring data: since it was asked about first, 64 KiB or more and 4 KiB or
 * more each time that somebody was seen waiting there, which is when to ask? Then "d" and the far
 * address, else "".
 */
void prof_socket_data(uint64_t inode, char id[PROF_LINK_ID]);

/* Both ends of a connection by the id that was told lately; 0 where one is not known. */
void prof_socket_ends(const char *id, uint64_t inode[2]);

/* The number in "socket:[123]"; 0: there is none. */
uint64_t prof_socket_inode(const char *link);

/* One line of the three files. Addresses are kept as they are printed there. */
struct prof_socket_line {
	uint64_t inode;
	bool listens;
	/* TCP's: address and port, an IPv4 one in IPv6 as IPv4; far "": none */
	char near[48], far[48];
	char path[108]; /* a unix socket's, "" if it has none */
};

/* For tests. False: it is no such line, or of a socket that nobody has any more. */
bool prof_socket_line_tcp(const char *line, bool six, struct prof_socket_line *out);
bool prof_socket_line_unix(const char *line, struct prof_socket_line *out);

/* "127.0.0.1:443" or "[2001:db8::1]:443" of a near or far; "" if it is none. */
void prof_socket_address(const char *printed, char *out, size_t room);

#endif
