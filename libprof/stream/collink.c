/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One socket, watched.
 */
#include "collink.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "spool.h"

void prof_link_init(struct prof_link *l, const char *path)
{
	memset(l, 0, sizeof(*l));
	l->fd = -1;
	snprintf(l->path, sizeof(l->path), "%s", path ? path : "");
}

bool prof_link_up(const struct prof_link *l)
{
	return l->fd >= 0;
}

uint64_t prof_link_acked(const struct prof_link *l)
{
	return l->acked;
}

static bool ours(const struct prof_link *l)
{
	struct stat st;

	return l->fd >= 0 && !fstat(l->fd, &st) && st.st_dev == l->device && st.st_ino == l->inode;
}

int prof_link_open(struct prof_link *l)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, err;

	memcpy(address.sun_path, l->path, sizeof(address.sun_path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	fd = prof_fd_high(fd);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || fstat(fd, &st)) {
		err = -errno;
		close(fd);
		return err;
	}
	l->fd = fd;
	l->device = st.st_dev;
	l->inode = st.st_ino;
	l->have = 0;
	return 0;
}

void prof_link_close(struct prof_link *l)
{
	if (ours(l))
		close(l->fd);
	l->fd = -1;
}

static int wait_for(int fd, short events, int64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left = deadline_ns - prof_mono_ns();

	if (left <= 0)
		return -EAGAIN;
	return poll(&p, 1, (int)(left / 1000000) + 1) > 0 ? 0 : -EAGAIN;
}

ssize_t prof_link_send(struct prof_link *l, const uint8_t *bytes, size_t len, int64_t deadline_ns)
{
	ssize_t n;

	for (;;) {
		if (!ours(l)) {
			l->fd = -1;
			return -EBADF;
		}
		n = send(l->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0)
			return n;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		if (wait_for(l->fd, POLLOUT, deadline_ns))
			return -EAGAIN;
	}
}

int prof_link_send_whole(struct prof_link *l, const uint8_t *bytes, size_t len, int64_t deadline_ns)
{
	ssize_t n;

	for (; len; bytes += n, len -= (size_t)n) {
		n = prof_link_send(l, bytes, len, deadline_ns);
		if (n < 0)
			return (int)n;
	}
	return 0;
}

static void read_ack(struct prof_link *l)
{
	struct wire_frame f;

	l->have = 0;
	if (!wire_frame_header_get(&f, l->in) && f.type == WIRE_FRAME_ACK && f.seq > l->acked)
		l->acked = f.seq;
}

int prof_link_listen(struct prof_link *l)
{
	ssize_t n;

	for (;;) {
		if (!ours(l)) {
			l->fd = -1;
			return -EBADF;
		}
		n = recv(l->fd, l->in + l->have, sizeof(l->in) - l->have, MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		if (!n)
			return -EPIPE;
		l->have += (size_t)n;
		if (l->have == sizeof(l->in))
			read_ack(l);
	}
}

int prof_link_wait(struct prof_link *l, int64_t deadline_ns)
{
	return ours(l) ? wait_for(l->fd, POLLIN, deadline_ns) : -EBADF;
}
