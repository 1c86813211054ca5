/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Unix socket in the server's loop: accepts, pauses, is put back.
 */
#include "accept.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"
#include "client.h"
#include "server.h"

static void set_paused(struct coll_server *sv, bool pause)
{
	if (!sv->listening || sv->accept_paused == pause)
		return;
	sv->accept_paused = pause;
	if (coll_loop_change(&sv->loop, &sv->listener.source, pause ? 0 : EPOLLIN))
		coll_log("cannot watch the socket: %s", strerror(errno));
}

static void serve(struct coll_server *sv, int fd, const struct ucred *peer)
{
	uint64_t limit = sv->limits.value[COLL_LIMIT_CLIENTS];

	if (sv->client_count >= sv->client_max || (limit && sv->client_count >= limit)) {
		sv->count.clients_refused++;
		close(fd);
		return;
	}
	if (coll_client_new(sv, fd, peer))
		sv->count.clients_refused++;
}

static void on_listener(struct coll_source *s, uint32_t events)
{
	struct coll_server *sv = COLL_SERVER_OF(s, listener.source);
	struct ucred peer;
	int fd, i;

	(void)events;
	for (i = 0; i < COLL_LOOP_BATCH; i++) {
		fd = coll_listener_accept(&sv->listener, &peer);
		if (fd >= 0) {
			serve(sv, fd, &peer);
		} else if (fd == -EPERM) {
			sv->count.clients_refused++;
			coll_note("uid %d, pid %d: not this user; turned away", (int)peer.uid,
				  (int)peer.pid);
		} else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS) {
			set_paused(sv, true);
			return;
		} else if (fd != -ECONNABORTED && fd != -EINTR) {
			return;
		}
	}
}

static int listen_now(struct coll_server *sv)
{
	int err;

	if (!sv->opts->unix_path)
		return 0;
	sv->listener.base = sv->store.base;
	err = coll_listener_open(&sv->listener, sv->opts->unix_path);
	if (err)
		return err;
	sv->listener.source.ready = on_listener;
	err = coll_loop_add(&sv->loop, &sv->listener.source, EPOLLIN);
	sv->listening = !err;
	sv->accept_paused = false;
	if (err)
		coll_listener_close(&sv->listener);
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
		return "something that is no socket is there; remove it or give another --unix path";
	case -ENAMETOOLONG:
		return "a socket's path has at most 107 bytes; give a shorter --unix path";
	default:
		return "give a --unix path in a directory that you may write to";
	}
}

void coll_accept_close(struct coll_server *sv)
{
	if (sv->listening)
		coll_loop_remove(&sv->loop, &sv->listener.source);
	sv->listening = false;
	coll_listener_close(&sv->listener);
}

/* Somebody cleaned the socket away: put it back, for later clients. */
static void relisten(struct coll_server *sv)
{
	if (!sv->opts->unix_path || (sv->listening && !coll_listener_gone(&sv->listener)))
		return;
	coll_accept_close(sv);
	if (!listen_now(sv))
		coll_log("%s: it was removed; listening there again", sv->opts->unix_path);
}

int coll_accept_open(struct coll_server *sv)
{
	int err = listen_now(sv);

	if (err)
		coll_log("cannot listen on %s: %s; %s", sv->opts->unix_path, strerror(-err),
			 advice(err));
	return err;
}

void coll_accept_tick(struct coll_server *sv)
{
	set_paused(sv, false);
	relisten(sv);
}

void coll_accept_last(struct coll_server *sv)
{
	if (sv->listening)
		on_listener(&sv->listener.source, EPOLLIN);
}
