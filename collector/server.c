/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of the loop, and when to end.
 */
#include "server.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "ingest/accept.h"
#include "core/clock.h"
#include "core/log.h"
#include "ingest/client.h"
#include "serve/http.h"
#include "relay/upstream.h"
#include "ingest/wakes.h"
#include "ingest/process_watch.h"

#define FDS_PER_CLIENT 4 /* socket, pidfd, stream, index */
#define FDS_OWN 64
#define FDS_WANTED 65536
#define SMALLEST_MMAP (128 << 10)

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

/* Limits, and who watches over them. */
static void open_keep(struct coll_server *sv)
{
	const struct coll_options *o = sv->opts;

	sv->limits = o->limits;
	coll_children_init(&sv->children, &sv->loop);
	coll_keeper_init(&sv->keeper, sv->store.base, &sv->limits, &sv->children, &sv->count);
	coll_keeper_attach(&sv->keeper, &sv->store, "");
	if (o->listen)
		coll_render_jobs_init(&sv->maker, &sv->children, &sv->limits, &sv->count);
	if (!o->digest.store)
		return;
	coll_digests_init(&sv->digests, sv->store.base, &o->digest, &sv->limits, &sv->children,
			  &sv->count);
	sv->keeper.digests = &sv->digests;
}

static void on_recovered(void *arg, const struct coll_stream *s, const struct wire_frame *f,
			 const uint8_t *payload)
{
	struct coll_server *sv = arg;

	coll_runs_frame(&sv->runs, s, f, payload, true);
}

void coll_server_watch(struct coll_server *sv, struct coll_store *st)
{
	if (!sv->watching)
		return;
	st->recovered = on_recovered;
	st->recovered_arg = sv;
}

/* Who has neither alerts nor anybody to tell need not read pulses. */
static int watch_runs(struct coll_server *sv)
{
	int err;

	if (!sv->opts->conditions.watch.entries && !sv->opts->listen)
		return 0;
	err = coll_runs_init(&sv->runs, &sv->opts->conditions);
	sv->watching = !err;
	coll_server_watch(sv, &sv->store);
	return err;
}

int coll_server_init(struct coll_server *sv, const struct coll_options *opts)
{
	int err;

	memset(sv, 0, sizeof(*sv));
	sv->opts = opts;
	sv->loop.fd = sv->listener.source.fd = sv->listener.lock_fd = -1;
	sv->signals.fd = sv->timer.fd = sv->eof.fd = sv->notify.fd = -1;
	sv->client_max = raise_descriptors();
	sv->idle_since_ns = coll_now_ns();
	/* Freed frames go back to the system: the C library would raise this bound by itself. */
	mallopt(M_MMAP_THRESHOLD, SMALLEST_MMAP);
	err = coll_store_init(&sv->store, opts->dir, &sv->count);
	if (err)
		goto fini;
	err = coll_loop_init(&sv->loop);
	if (err)
		goto fini;
	open_keep(sv);
	err = watch_runs(sv);
	if (err)
		goto fini;
	sv->scratch = malloc(COLL_SCRATCH_BYTES);
	err = -ENOMEM;
	if (sv->scratch)
		return 0;
fini:
	coll_server_fini(sv);
	return err;
}

void coll_server_fini(struct coll_server *sv)
{
	while (sv->clients)
		coll_client_free(sv->clients);
	coll_process_watch_fini(sv);
	coll_http_close(sv->http);
	sv->http = NULL;
	coll_upstream_close(sv->upstream);
	sv->upstream = NULL;
	coll_listener_close(&sv->listener);
	coll_store_fini(&sv->store);
	coll_render_jobs_fini(&sv->maker);
	coll_keeper_fini(&sv->keeper);
	coll_digests_fini(&sv->digests);
	coll_children_fini(&sv->children);
	coll_sdnotify_fini(&sv->notify);
	coll_runs_fini(&sv->runs);
	coll_wakes_close(sv);
	coll_loop_fini(&sv->loop);
	free(sv->scratch);
	sv->scratch = NULL;
}

void coll_server_trouble(struct coll_server *sv, const char *path, int err)
{
	int64_t now = coll_now_ns();

	sv->count.store_errors++;
	if (sv->trouble == err && now - sv->trouble_said_ns < 60 * COLL_SECOND_NS)
		return;
	sv->trouble = err;
	sv->trouble_said_ns = now;
	coll_log("cannot store %s: %s; clients write spool files of their own until it can", path,
		 strerror(-err));
}

/* Each file by itself: a mistake in one leaves what it said before, and is logged. */
static void reload(struct coll_server *sv)
{
	const struct coll_options *o = sv->opts;

	sv->reload = false;
	coll_sdnotify_reloading(&sv->notify);
	sv->count.reloads++;
	if (o->limits_file && !coll_limits_load(&sv->limits, &o->limits, o->limits_file))
		coll_log("limits: read again");
	coll_http_reload(sv->http);
	coll_keeper_reloaded(&sv->keeper);
	coll_sdnotify_ready(&sv->notify);
}

static void resume_paced(struct coll_server *sv, int64_t now)
{
	struct coll_client *c;

	for (c = sv->clients; c; c = c->next)
		coll_client_resume(c, now);
}

static void close_stalled(struct coll_server *sv, int64_t now)
{
	struct coll_client *c;

	for (c = sv->clients; c; c = c->next) {
		if (c->closing || !coll_client_stalled(c, now))
			continue;
		sv->count.clients_stalled++;
		coll_note("pid %d: silent for too long; closed", (int)c->peer.pid);
		coll_client_close(c);
	}
}

void coll_server_tick(struct coll_server *sv)
{
	int64_t now = coll_now_ns();

	if (sv->ending) /* only forwarding goes on */
		return;
	coll_accept_tick(sv);
	close_stalled(sv, now);
	resume_paced(sv, now);
	coll_children_tick(&sv->children, now);
	coll_keeper_tick(&sv->keeper, now);
	if (sv->keeper.digests)
		coll_digests_tick(&sv->digests, now);
	coll_sdnotify_tick(&sv->notify, now);
	coll_http_tick(sv->http);
	if (sv->watching)
		coll_runs_tick(&sv->runs);
	coll_server_settle(sv, true);
	coll_upstream_tick(sv->upstream);
}

/* Group commit: all files start to be written out before the first is waited for. */
static void commit_due(struct coll_server *sv, bool everything)
{
	struct coll_client *c;

	for (c = sv->clients; c; c = c->next)
		coll_feeder_push(&c->feeder, everything);
	for (c = sv->clients; c; c = c->next)
		coll_feeder_commit(&c->feeder, sv, everything);
}

void coll_server_settle(struct coll_server *sv, bool everything)
{
	struct coll_client *c, *next;

	commit_due(sv, everything);
	for (c = sv->clients; c; c = next) {
		next = c->next;
		if (!c->blocked || c->closing)
			coll_client_acknowledge(c);
		if (!c->closing)
			continue;
		coll_client_free(c);
		sv->idle_since_ns = coll_now_ns();
	}
}

static int tell_ready(struct coll_server *sv)
{
	int fd = sv->opts->ready_fd;
	char line[512];
	int len;

	if (fd < 0)
		return 0;
	len = snprintf(line, sizeof(line), "ready%s%s\n", sv->http ? " " : "",
		       sv->http ? coll_http_url(sv->http) : "");
	if (write(fd, line, (size_t)len) < 0)
		coll_log("--ready-fd: %s; nobody waits for it?", strerror(errno));
	close(fd);
	return 0;
}

int coll_server_listen(struct coll_server *sv)
{
	const struct coll_options *o = sv->opts;
	int err;

	if (o->limits_file && (err = coll_limits_load(&sv->limits, &o->limits, o->limits_file)))
		return err;
	coll_sdnotify_init(&sv->notify);
	err = coll_wakes_open(sv);
	if (!err)
		err = coll_accept_open(sv);
	if (!err)
		err = coll_http_open(&sv->http, sv);
	if (!err)
		err = coll_upstream_open(&sv->upstream, sv);
	if (err)
		return err;
	if (sv->http)
		coll_log("listening on %s", coll_http_url(sv->http));
	coll_sdnotify_ready(&sv->notify);
	return tell_ready(sv);
}

/*
 * After the end of --until-eof: whoever is connected and alive is served to its end. Who has said
 * Bye, or nothing at all, gets the grace time (its children may hold the socket open for ever).
 */
static bool all_done(struct coll_server *sv)
{
	bool grace_over = coll_now_ns() - sv->eof_ns > sv->opts->grace_s * COLL_SECOND_NS;
	struct coll_client *c;

	for (c = sv->clients; c; c = c->next)
		if (!grace_over || (c->in.greeted && !coll_client_done(c)))
			return false;
	return true;
}

static bool time_to_end(struct coll_server *sv)
{
	int64_t idle = coll_now_ns() - sv->idle_since_ns;

	if (sv->terminate)
		return true;
	if (sv->eof_seen && all_done(sv)) {
		coll_accept_last(sv);
		return all_done(sv);
	}
	return sv->opts->idle_exit_s >= 0 && !sv->client_count && coll_http_idle(sv->http) &&
	       idle >= sv->opts->idle_exit_s * COLL_SECOND_NS;
}

/* What clients have sent already is taken; then all is synced and acknowledged. */
static void finish(struct coll_server *sv)
{
	struct coll_client *c;

	coll_sdnotify_stopping(&sv->notify);
	sv->ending = true;
	coll_accept_close(sv);
	coll_http_close(sv->http);
	sv->http = NULL;
	for (c = sv->clients; c; c = c->next) {
		coll_client_drain(c);
		coll_client_close(c);
	}
	coll_server_settle(sv, true);
	coll_process_watch_fini(sv); /* ends of processes are forwarded, too */
	coll_upstream_linger(sv->upstream, sv->opts->linger_s);
}

/* Milliseconds, -1: for ever. */
static int timeout(struct coll_server *sv)
{
	int http = coll_http_timeout(sv->http), up = coll_upstream_timeout(sv->upstream);

	if (http < 0 || up < 0)
		return http < 0 ? up : http;
	return http < up ? http : up;
}

int coll_server_run(struct coll_server *sv)
{
	int err = 0;

	while (!err && !time_to_end(sv)) {
		err = coll_loop_turn(&sv->loop, timeout(sv));
		coll_server_settle(sv, false);
		coll_http_turn(sv->http);
		coll_upstream_turn(sv->upstream);
		if (sv->reload)
			reload(sv);
	}
	finish(sv);
	if (sv->opts->verbose)
		coll_counters_log(&sv->count, sv->client_count, sv->keeper.open_streams);
	return err;
}
