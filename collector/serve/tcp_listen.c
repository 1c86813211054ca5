/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listening TCP socket. The first address that the name has is taken.
 */
#include "tcp_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024
#define HOST_BYTES 256
#define PORT_BYTES 8

struct place {
	char host[HOST_BYTES], port[PORT_BYTES];
};

static bool copy(char *out, size_t room, const char *at, size_t len)
{
	if (!len || len >= room)
		return false;
	memcpy(out, at, len);
	out[len] = '\0';
	return true;
}

static bool read_place(struct place *p, const char *at)
{
	const char *end, *colon;
	size_t len = strlen(at);

	if (len && at[len - 1] == '/')
		len--;
	if (*at == '[') {
		end = strchr(at, ']');
		if (!end || end[1] != ':' ||
		    !copy(p->host, HOST_BYTES, at + 1, (size_t)(end - at) - 1))
			return false;
		colon = end + 1;
	} else {
		colon = strchr(at, ':');
		if (!colon || !copy(p->host, HOST_BYTES, at, (size_t)(colon - at)))
			return false;
	}
	len -= (size_t)(colon + 1 - at);
	return copy(p->port, PORT_BYTES, colon + 1, len) &&
	       strspn(p->port, "0123456789") == strlen(p->port);
}

static bool is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)sa)->sin6_addr);
	return sa->sa_family == AF_INET &&
	       ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24 == 127;
}

/* The URL with the address that it became. */
static int fill_url(struct coll_address *a, int fd)
{
	struct sockaddr_storage sa = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(sa);
	char host[HOST_BYTES], port[PORT_BYTES];

	if (getsockname(fd, (struct sockaddr *)&sa, &len))
		return -errno;
	if (getnameinfo((struct sockaddr *)&sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return -EINVAL;
	a->loopback = is_loopback((struct sockaddr *)&sa);
	snprintf(a->url, sizeof(a->url), "%s://%s%s%s:%s", a->https ? "https" : "http",
		 sa.ss_family == AF_INET6 ? "[" : "", host, sa.ss_family == AF_INET6 ? "]" : "",
		 port);
	return 0;
}

static int bind_to(const struct addrinfo *ai)
{
	int on = 1, err;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int coll_tcp_listen(struct coll_address *a, const char *url)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *ai;
	struct place p;
	const char *at;
	int fd, err;

	memset(a, 0, sizeof(*a));
	a->https = !strncmp(url, "https://", 8);
	at = a->https ? url + 8 : url + 7;
	if ((!a->https && strncmp(url, "http://", 7)) || !read_place(&p, at))
		return -EINVAL;
	if (getaddrinfo(p.host, p.port, &hints, &ai))
		return -EADDRNOTAVAIL;
	fd = bind_to(ai);
	freeaddrinfo(ai);
	if (fd < 0)
		return fd;
	err = fill_url(a, fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}
