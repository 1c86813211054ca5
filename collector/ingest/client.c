/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection's sockets and its life. What the bytes mean is intake's.
 */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/context.h"
#include "core/log.h"
#include "intake.h"
#include "retain/admit.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define READS_PER_TURN 4 /* so that one client cannot starve the others */
#define READS_PER_DRAIN 4096 /* more than a socket's buffer holds; bounds who goes on sending */
#define BYTES_PER_DRAIN (64u << 20)

static struct coll_client *of_socket(struct coll_source *s)
{
	return (struct coll_client *)((char *)s - offsetof(struct coll_client, socket));
}

static struct coll_client *of_process(struct coll_source *s)
{
	return (struct coll_client *)((char *)s - offsetof(struct coll_client, process));
}

static void set_events(struct coll_client *c)
{
	coll_loop_change(&c->all->context->loop, &c->socket,
			 (c->paused ? 0 : EPOLLIN) | (c->blocked ? EPOLLOUT : 0));
}

/* Its own buffers fill, and what does not fit there it writes to its spool: nothing is lost. */
static void throttle(struct coll_client *c, size_t bytes)
{
	if (c->closing || !coll_admit_throttle(c->all->retention, &c->rate, bytes, c->heard_ns))
		return;
	c->paused = true;
	set_events(c);
}

void coll_client_resume(struct coll_client *c, int64_t now_ns)
{
	if (!c->paused || c->closing || coll_admit_wait(c->all->retention, &c->rate, now_ns))
		return;
	c->paused = false;
	c->heard_ns = now_ns; /* it was not silent: nobody listened */
	set_events(c);
}

/* One read to where the bytes are to go: how many; 0: none now; -errno, -ENODATA at the end. */
static ssize_t receive(struct coll_client *c)
{
	uint8_t *at = c->all->scratch;
	size_t direct = coll_intake_room(&c->in, &at);
	ssize_t n = recv(c->socket.fd, at, direct ? direct : COLL_SCRATCH_BYTES, MSG_DONTWAIT);
	int err;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ENODATA;
	c->heard_ns = coll_now_ns();
	err = direct ? coll_intake_direct(&c->in, (size_t)n) : coll_intake(&c->in, at, (size_t)n);
	return err ? err : n;
}

static void read_some(struct coll_client *c, int rounds, size_t bytes, bool drain)
{
	size_t sum = 0;
	ssize_t got = 1;

	while (got > 0 && rounds-- && sum < bytes && !c->closing && (!c->paused || drain)) {
		got = receive(c);
		sum += got > 0 ? (size_t)got : 0;
		if (got > 0)
			throttle(c, (size_t)got);
	}
	if (got >= 0)
		return;
	if (got != -ENODATA && got != -ECONNRESET)
		coll_note("pid %d: connection closed: %s", (int)c->peer.pid, strerror((int)-got));
	coll_client_close(c);
}

static void on_socket(struct coll_source *s, uint32_t events)
{
	struct coll_client *c = of_socket(s);

	if (events & EPOLLOUT)
		coll_client_acknowledge(c);
	if (events & ~(uint32_t)EPOLLOUT)
		read_some(c, READS_PER_TURN, SIZE_MAX, false);
}

void coll_client_drain(struct coll_client *c)
{
	read_some(c, READS_PER_DRAIN, BYTES_PER_DRAIN, true);
}

/*
 * Its children may hold the socket open for long, and they do not use it: the process that
 * connected decides.
 */
static void on_process(struct coll_source *s, uint32_t events)
{
	struct coll_client *c = of_process(s);

	(void)events;
	c->end_ns = coll_clock_ns(CLOCK_REALTIME);
	coll_client_drain(c);
	coll_client_close(c);
}

/* The process at the other end, safe against reuse of its number where the kernel can. */
static int peer_pidfd(int fd, const struct ucred *peer)
{
	socklen_t len = sizeof(int);
	int pidfd = -1;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len))
		return pidfd;
	if (peer->pid > 0)
		pidfd = (int)syscall(SYS_pidfd_open, peer->pid, 0);
	if (pidfd >= 0)
		fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	return pidfd;
}

static void watch_process(struct coll_client *c)
{
	c->process.fd = peer_pidfd(c->socket.fd, &c->peer);
	if (c->process.fd >= 0 && coll_loop_add(&c->all->context->loop, &c->process, EPOLLIN)) {
		close(c->process.fd);
		c->process.fd = -1;
	}
}

void coll_client_close(struct coll_client *c)
{
	struct coll_fed_stream *fed;

	if (c->closing)
		return;
	c->closing = true;
	coll_loop_remove(&c->all->context->loop, &c->socket);
	for (fed = c->feeder.first; fed; fed = fed->next)
		fed->urgent = true;
}

/* Notes when the process ended, now or once it does. */
static void note_process_end(struct coll_client *c, struct coll_stream *s)
{
	struct pollfd p = { .fd = c->process.fd, .events = POLLIN };
	int fd;

	if (!c->end_ns && (p.fd < 0 || poll(&p, 1, 0) == 1))
		c->end_ns = coll_clock_ns(CLOCK_REALTIME);
	if (p.fd < 0 && s->bye) /* it said so itself; nobody can tell more */
		return;
	if (c->end_ns) {
		coll_process_watch_write_end(&c->all->watches, s, c->end_ns);
		return;
	}
	fd = fcntl(p.fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		coll_process_watch_add(&c->all->watches, fd, s);
}

static void give_back(struct coll_client *c, struct coll_stream *s)
{
	coll_feeder_release(s);
	note_process_end(c, s);
	coll_store_close(c->all->store, s);
}

static void on_failed(struct coll_feeder *f, struct coll_stream *s)
{
	struct coll_client *c =
		(struct coll_client *)((char *)f - offsetof(struct coll_client, feeder));

	coll_client_close(c);
	give_back(c, s);
}

int coll_client_new(struct coll_clients *all, int fd, const struct ucred *peer)
{
	struct coll_client *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		goto close_fd;
	c->all = all;
	c->peer = *peer;
	c->socket = (struct coll_source){ .fd = fd, .ready = on_socket };
	c->process = (struct coll_source){ .fd = -1, .ready = on_process };
	c->feeder = (struct coll_feeder){ .store = all->store, .failed = on_failed };
	c->in = (struct coll_feed){ .intake = all->intake, .feeder = &c->feeder };
	snprintf(c->in.who, sizeof(c->in.who), "pid %d", (int)peer->pid);
	c->heard_ns = coll_now_ns();
	err = coll_loop_add(&all->context->loop, &c->socket, EPOLLIN);
	if (err)
		goto free_client;
	watch_process(c);
	c->next = all->first;
	all->first = c;
	all->count++;
	all->context->count.clients++;
	return 0;
free_client:
	free(c);
close_fd:
	close(fd);
	return err;
}

/* Puts the next acknowledgement that is due into c->ack. */
static bool next_ack(struct coll_client *c)
{
	struct wire_frame f = { .version = WIRE_FRAME_VERSION, .type = WIRE_FRAME_ACK };
	struct coll_fed_stream *fed = c->feeder.first;
	struct coll_stream *s;

	while (fed && !fed->ack_due)
		fed = fed->next;
	if (!fed)
		return false;
	fed->ack_due = false;
	s = fed->stream;
	coll_stream_acknowledge(s);
	memcpy(f.stream, s->id, sizeof(f.stream));
	f.seq = s->acked;
	f.time_ns = coll_clock_ns(CLOCK_REALTIME);
	wire_frame_header_put(&f, c->ack);
	c->ack_at = 0;
	c->ack_len = sizeof(c->ack);
	return true;
}

/* Who does not read acknowledgements does not hear them; only the newest ones wait. */
static void set_blocked(struct coll_client *c, bool blocked)
{
	if (c->blocked == blocked || c->closing)
		return;
	c->blocked = blocked;
	set_events(c);
}

void coll_client_acknowledge(struct coll_client *c)
{
	while (c->ack_at < c->ack_len || next_ack(c)) {
		ssize_t n = send(c->socket.fd, c->ack + c->ack_at, c->ack_len - c->ack_at,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			set_blocked(c, true);
			return;
		}
		if (n < 0) { /* reading will tell that it is gone */
			c->ack_at = c->ack_len;
			return;
		}
		c->ack_at += (size_t)n;
		c->all->context->count.acks += c->ack_at == c->ack_len;
	}
	set_blocked(c, false);
}

void coll_client_free(struct coll_client *c)
{
	struct coll_client **p = &c->all->first;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	c->all->count--;
	while (c->feeder.first)
		give_back(c, c->feeder.first->stream);
	coll_intake_fini(&c->in);
	coll_loop_remove(&c->all->context->loop, &c->socket);
	close(c->socket.fd);
	if (c->process.fd >= 0) {
		coll_loop_remove(&c->all->context->loop, &c->process);
		close(c->process.fd);
	}
	free(c);
}

bool coll_client_done(const struct coll_client *c)
{
	const struct coll_fed_stream *fed;

	for (fed = c->feeder.first; fed; fed = fed->next)
		if (!fed->stream->bye)
			return false;
	return c->feeder.first != NULL;
}

/* Whoever has bytes waiting is not silent: this loop was away, at a slow disk or without a CPU. */
static bool unread(const struct coll_client *c)
{
	int bytes = 0;

	return !ioctl(c->socket.fd, FIONREAD, &bytes) && bytes > 0;
}

bool coll_client_stalled(const struct coll_client *c, int64_t now_ns)
{
	return !c->paused && (!c->in.any_frame || c->in.carry.len) &&
	       now_ns - c->heard_ns > c->all->silence_s * COLL_SECOND_NS && !unread(c);
}
