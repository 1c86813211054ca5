/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is at the other end of a socket, by its inode, from /proc/self/net/{tcp,tcp6,unix}. The socket
 * itself is not asked: a thread with a table of its own has no descriptor of it, and calls that would
 * borrow one are not on every service's list of what a program may do.
 *
 * The tables are read at most once a second, each 256 KiB and 5 ms at most, and the answers kept for
 * a minute: a new socket may be without a name for that second. Of one thread; allocates nothing.
 */
#ifndef PROF_SOCKNAME_H
#define PROF_SOCKNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * @name gets "socket:1.2.3.4:443", "socket:[2001:db8::1]:443", "socket:/path" and "socket:unix", or
 * "socket" where that is not known: other families, one that listens, another network namespace.
 */
void prof_socket_name(uint64_t inode, char *name, size_t room);

/* The number in "socket:[123]"; 0: there is none. */
uint64_t prof_socket_inode(const char *link);

/* For tests: one line of the three files. False: it is none, or of a socket without a peer. */
bool prof_socket_line_tcp(const char *line, bool six, uint64_t *inode, char *name, size_t room);
bool prof_socket_line_unix(const char *line, uint64_t *inode, char *name, size_t room);

#endif
