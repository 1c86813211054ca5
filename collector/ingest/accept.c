/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Unix socket in the server's loop: accepts, pauses, is put back.
 */
#include "accept.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/context.h"
#include "core/log.h"
#include "retain/admit.h"
#include "retain/limits.h"

#define FDS_PER_CLIENT 4 /* socket, pidfd, stream, index */
#define FDS_OWN 64
#define FDS_WANTED 65536
#define LOG_EVERY_NS (60 * COLL_SECOND_NS)

/* As many descriptors as we may have, within reason. */
static size_t raise_descriptors(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return FDS_PER_CLIENT;
	if (r.rlim_cur < FDS_WANTED && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max < FDS_WANTED ? r.rlim_max : FDS_WANTED;
		setrlimit(RLIMIT_NOFILE, &r);
		getrlimit(RLIMIT_NOFILE, &r);
	}
	if (r.rlim_cur < FDS_OWN + FDS_PER_CLIENT)
		return 1;
	return (size_t)(r.rlim_cur - FDS_OWN) / FDS_PER_CLIENT;
}

void coll_accept_init(struct coll_accept *a, struct coll_clients *clients,
		      const struct coll_limits *limits, const char *path)
{
	*a = (struct coll_accept){ .clients = clients, .limits = limits, .path = path };
	a->client_max = raise_descriptors();
	a->listener.source.fd = a->listener.lock_fd = -1;
}

static void set_paused(struct coll_accept *a, bool pause)
{
	if (!a->listening || a->paused == pause)
		return;
	a->paused = pause;
	if (coll_loop_change(&a->clients->context->loop, &a->listener.source, pause ? 0 : EPOLLIN))
		coll_log("cannot watch the socket: %s", strerror(errno));
}

/* At most once a minute, as of the other limits. */
static void log_descriptors(struct coll_accept *a)
{
	if (coll_log_due(&a->full_ns, LOG_EVERY_NS))
		coll_log("%zu clients are connected, as many as there are descriptors for; more "
			 "write spool files; raise the limit of open files (ulimit -n, "
			 "LimitNOFILE)",
			 a->client_max);
}

static bool is_full(struct coll_accept *a)
{
	uint64_t limit = a->limits->value[COLL_LIMIT_CLIENTS];

	if (limit && a->clients->count >= limit)
		coll_admit_log(a->clients->retention, COLL_LIMIT_CLIENTS);
	else if (a->clients->count >= a->client_max)
		log_descriptors(a);
	else
		return false;
	return true;
}

static void serve(struct coll_accept *a, int fd, const struct ucred *peer)
{
	if (is_full(a)) {
		a->clients->context->count.clients_refused++;
		coll_note("pid %d: too many clients; turned away", (int)peer->pid);
		close(fd);
		return;
	}
	if (coll_client_new(a->clients, fd, peer))
		a->clients->context->count.clients_refused++;
}

static void on_listener(struct coll_source *s, uint32_t events)
{
	struct coll_accept *a =
		(struct coll_accept *)((char *)s - offsetof(struct coll_accept, listener.source));
	struct ucred peer;
	int fd, i;

	(void)events;
	for (i = 0; i < COLL_LOOP_BATCH; i++) {
		fd = coll_listener_accept(&a->listener, &peer);
		if (fd >= 0) {
			serve(a, fd, &peer);
		} else if (fd == -EPERM) {
			a->clients->context->count.clients_refused++;
			coll_note("uid %d, pid %d: not this user; turned away", (int)peer.uid,
				  (int)peer.pid);
		} else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS) {
			set_paused(a, true);
			return;
		} else if (fd != -ECONNABORTED && fd != -EINTR) {
			return;
		}
	}
}

static int listen_now(struct coll_accept *a)
{
	int err;

	if (!a->path)
		return 0;
	a->listener.base = a->clients->store->base;
	err = coll_listener_open(&a->listener, a->path);
	if (err)
		return err;
	a->listener.source.ready = on_listener;
	err = coll_loop_add(&a->clients->context->loop, &a->listener.source, EPOLLIN);
	a->listening = !err;
	a->paused = false;
	if (err)
		coll_listener_close(&a->listener);
	return err;
}

static const char *advice(int err)
{
	switch (err) {
	case -EBUSY:
		return "another collector serves it; use that one, or give another --unix path";
	case -EADDRINUSE:
		return "another program listens there; give another --unix path";
	case -EEXIST:
		return "something that is not a socket is there; remove it or give another --unix "
		       "path";
	case -ENAMETOOLONG:
		return "a socket's path has at most 107 bytes; give a shorter --unix path";
	default:
		return "give a --unix path in a directory that you may write to";
	}
}

void coll_accept_close(struct coll_accept *a)
{
	if (a->listening)
		coll_loop_remove(&a->clients->context->loop, &a->listener.source);
	a->listening = false;
	coll_listener_close(&a->listener);
}

/* Somebody cleaned the socket away: put it back, for later clients. */
static void relisten(struct coll_accept *a)
{
	if (!a->path || (a->listening && !coll_listener_gone(&a->listener)))
		return;
	coll_accept_close(a);
	if (!listen_now(a))
		coll_log("%s: it was removed; listening there again", a->path);
}

int coll_accept_open(struct coll_accept *a)
{
	int err = listen_now(a);

	if (err)
		coll_log("cannot listen on %s: %s; %s", a->path, strerror(-err), advice(err));
	return err;
}

void coll_accept_tick(struct coll_accept *a)
{
	set_paused(a, false);
	relisten(a);
}

void coll_accept_last(struct coll_accept *a)
{
	if (a->listening)
		on_listener(&a->listener.source, EPOLLIN);
}
