/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One datagram per word.
 */
#include "sdnotify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"

/* Abstract names begin with @, others with /. */
static void set_address(struct coll_sdnotify *n, const char *path)
{
	size_t len = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || !path[1] || len >= sizeof(n->to.sun_path))
		return;
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, path, len);
	if (path[0] == '@')
		n->to.sun_path[0] = '\0';
	n->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The watchdog is ours if it names no process, or this one. */
static int64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	long long us = usec ? strtoll(usec, NULL, 10) : 0;

	if (us <= 0 || us > INT64_MAX / 1000 || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return us * 1000;
}

void coll_sdnotify_init(struct coll_sdnotify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");

	memset(n, 0, sizeof(*n));
	n->fd = -1;
	if (path)
		set_address(n, path);
	if (n->fd >= 0)
		n->every_ns = watchdog_ns() / 2;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void coll_sdnotify_fini(struct coll_sdnotify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

/* A manager that does not listen loses the word; it may not hold us up. */
static void send_words(struct coll_sdnotify *n, const char *words)
{
	if (n->fd >= 0 && sendto(n->fd, words, strlen(words), MSG_DONTWAIT | MSG_NOSIGNAL,
				 (const struct sockaddr *)&n->to, n->to_len) < 0)
		return;
}

void coll_sdnotify_ready(struct coll_sdnotify *n)
{
	send_words(n, "READY=1\nSTATUS=Serving.\n");
}

void coll_sdnotify_reloading(struct coll_sdnotify *n)
{
	char words[80];

	snprintf(words, sizeof(words), "RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\n",
		 coll_now_ns() / 1000);
	send_words(n, words);
}

void coll_sdnotify_stopping(struct coll_sdnotify *n)
{
	send_words(n, "STOPPING=1\nSTATUS=Making everything durable.\n");
}

void coll_sdnotify_tick(struct coll_sdnotify *n, int64_t now_ns)
{
	if (!n->every_ns || now_ns - n->fed_ns < n->every_ns)
		return;
	n->fed_ns = now_ns;
	send_words(n, "WATCHDOG=1\n");
}
