/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP address to listen on: parsed from a URL, bound, and written as a URL again. One thread. */
#ifndef COLL_TCP_LISTEN_H
#define COLL_TCP_LISTEN_H

#include <stdbool.h>

#define COLL_URL_BYTES 320

struct coll_address {
	bool https;
	bool loopback; /* nobody from another machine can come */
	char url[COLL_URL_BYTES]; /* scheme, numeric address and port as bound */
};

/*
 * @url: http://HOST:PORT or https://HOST:PORT; HOST may be [an IPv6 address], PORT 0 takes any free
 * one. Binds and listens. The descriptor, or -errno; -EINVAL: no such URL.
 */
int coll_tcp_listen(struct coll_address *a, const char *url);

#endif
