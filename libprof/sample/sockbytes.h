/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much came through a TCP connection so far: the kernel is asked over netlink (sock_diag(7), as ss -i
 * does), for no file of /proc tells it and recv() is in no count of a thread's. Since Linux 4.1; some 15 us.
 * Any thread; allocates nothing.
 */
#ifndef PROF_SOCKBYTES_H
#define PROF_SOCKBYTES_H

#include <stddef.h>
#include <stdint.h>

/* @near, @far: ADDRESS:PORT as /proc/net/tcp prints them. -1: not known. */
int64_t prof_tcp_received(const char *near, const char *far);

/* For tests: the same out of an answer of @len bytes. */
int64_t prof_tcp_received_of(const void *answer, size_t len);

#endif
