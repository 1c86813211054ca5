/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of the loop, and when to end.
 */
#include "server.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"
#include "relay/gone.h"
#include "relay/upstream.h"
#include "retain/admit.h"
#include "retain/run_walk.h"
#include "serve/http.h"

#define SMALLEST_MMAP (128 << 10)

static void each_second(void *owner);
static void report(void *owner);

/* A folder of which nobody asks needs none. */
static int init_index(struct coll_server *sv)
{
	const struct coll_options *o = sv->opts;
	int err;

	if (!o->http.listen && !o->limits_file && !coll_retention_wanted(&sv->retention))
		return 0;
	err = coll_run_index_init(&sv->index, sv->store.base);
	sv->retention.index = sv->digests.index = sv->parts.index = &sv->index;
	return err;
}

/* Limits, and who watches over them. */
static void init_retention(struct coll_server *sv)
{
	const struct coll_options *o = sv->opts;
	sv->limits = o->limits;
	coll_retention_init(&sv->retention, sv->store.base, &sv->limits, &sv->context);
	sv->retention.dispensable = coll_gone_lets_go;
	coll_admit_attach(&sv->retention, &sv->store, "");
	if (!o->digest.store || o->work.url) /* then it is for the runs there */
		return;
	coll_digests_init(&sv->digests, sv->store.base, &o->digest, &sv->limits, &sv->context);
	sv->retention.digests = &sv->digests;
}

/* Who has neither alerts nor anybody to tell need not read pulses. */
static int init_runs(struct coll_server *sv)
{
	int err;

	if (!sv->opts->conditions.watch.entries && !sv->opts->http.listen)
		return 0;
	err = coll_runs_init(&sv->runs, &sv->opts->conditions);
	if (err)
		return err;
	coll_runs_watch(&sv->runs, &sv->store);
	if (coll_conditions_want(&sv->opts->conditions, LIVE_STEP_SLOWER_PCT))
		coll_steps_init(&sv->steps, &sv->runs, &sv->limits, &sv->context);
	sv->intake.runs = &sv->runs;
	return 0;
}

static int init_ingest(struct coll_server *sv)
{
	int err;

	sv->intake.context = &sv->context;
	sv->intake.retention = &sv->retention;
	sv->intake.own = &sv->store;
	sv->clients.context = &sv->context;
	sv->clients.intake = &sv->intake;
	sv->clients.store = &sv->store;
	sv->clients.retention = &sv->retention;
	sv->clients.silence_s = sv->opts->silence_s;
	err = coll_clients_init(&sv->clients);
	sv->clients.watches.index = sv->retention.index;
	return err;
}

static void init_http(struct coll_server *sv)
{
	sv->parts = (struct coll_http_parts){
		.context = &sv->context,
		.intake = &sv->intake,
		.clients = &sv->clients,
		.store = &sv->store,
		.retention = &sv->retention,
		.limits = &sv->limits,
		.digests = &sv->digests,
		.runs = &sv->runs,
		.render = &sv->render,
		.digest_store = sv->opts->digest.store,
		.silence_s = sv->opts->silence_s,
	};
	if (sv->opts->http.listen)
		coll_render_jobs_init(&sv->render, &sv->limits, &sv->context);
}

int coll_server_init(struct coll_server *sv, const struct coll_options *opts)
{
	int err;

	memset(sv, 0, sizeof(*sv));
	sv->opts = opts;
	sv->notify.fd = -1;
	coll_wakeups_init(&sv->wakeups, &sv->context.loop);
	sv->wakeups.each_second = each_second;
	sv->wakeups.report = report;
	sv->wakeups.owner = sv;
	coll_accept_init(&sv->accept, &sv->clients, &sv->limits, opts->unix_path);
	sv->accept.listener.any_user = opts->any_user;
	/* Freed frames go back to the system: the C library would raise this bound by itself. */
	mallopt(M_MMAP_THRESHOLD, SMALLEST_MMAP);
	err = coll_context_init(&sv->context);
	if (!err)
		err = coll_store_init(&sv->store, opts->dir, &sv->context.count);
	if (err)
		goto fini;
	init_retention(sv);
	init_http(sv);
	err = init_index(sv);
	if (!err)
		err = init_runs(sv);
	if (!err)
		err = init_ingest(sv);
	if (!err)
		return 0;
fini:
	coll_server_fini(sv);
	return err;
}

static void close_http(struct coll_server *sv)
{
	coll_http_close(sv->http);
	coll_http_close(sv->admission);
	sv->http = sv->admission = NULL;
}

void coll_server_fini(struct coll_server *sv)
{
	coll_worker_drain(&sv->context.worker);
	coll_clients_fini(&sv->clients);
	close_http(sv);
	coll_upstream_close(sv->upstream);
	sv->upstream = NULL;
	coll_work_close(sv->work);
	sv->work = NULL;
	coll_accept_close(&sv->accept);
	coll_store_fini(&sv->store);
	coll_render_jobs_fini(&sv->render);
	coll_retention_fini(&sv->retention);
	coll_digests_fini(&sv->digests);
	coll_run_index_fini(&sv->index);
	coll_sdnotify_fini(&sv->notify);
	coll_steps_fini(&sv->steps);
	coll_runs_fini(&sv->runs);
	coll_wakeups_close(&sv->wakeups);
	coll_context_fini(&sv->context);
}

static void report(void *owner)
{
	const struct coll_server *sv = owner;

	coll_counters_log(&sv->context.count, sv->clients.count, sv->retention.open_streams);
}

/* Each file by itself: a mistake in one leaves what it said before, and is logged. */
static void reload(struct coll_server *sv)
{
	const struct coll_options *o = sv->opts;

	sv->wakeups.reload = false;
	coll_sdnotify_reloading(&sv->notify);
	sv->context.count.reloads++;
	if (o->limits_file && !coll_limits_load(&sv->limits, &o->limits, o->limits_file))
		coll_log("limits: read again");
	coll_http_reload(sv->http);
	coll_http_reload(sv->admission);
	coll_retention_reloaded(&sv->retention);
	coll_sdnotify_ready(&sv->notify);
}

/* Everything that follows the clock. */
static void each_second(void *owner)
{
	struct coll_server *sv = owner;
	int64_t now = coll_now_ns();

	if (sv->ending) /* only forwarding goes on */
		return;
	coll_accept_tick(&sv->accept);
	coll_clients_tick(&sv->clients, now);
	coll_children_tick(&sv->context.children, now);
	coll_context_tick(&sv->context, now);
	coll_run_walk_tick(&sv->index, now);
	coll_retention_tick(&sv->retention, now);
	if (sv->retention.digests)
		coll_digests_tick(&sv->digests, now);
	coll_sdnotify_tick(&sv->notify, now);
	coll_http_tick(sv->http);
	coll_http_tick(sv->admission);
	if (sv->intake.runs)
		coll_runs_tick(&sv->runs);
	sv->context.count.live_unwatched = sv->runs.unwatched;
	coll_steps_tick(&sv->steps);
	coll_server_settle(sv, true);
	coll_upstream_tick(sv->upstream);
	coll_work_tick(sv->work, now);
}

void coll_server_settle(struct coll_server *sv, bool everything)
{
	coll_clients_settle(&sv->clients, everything);
}

static int write_ready(struct coll_server *sv)
{
	int fd = sv->opts->ready_fd;
	char line[1024];
	int len;

	if (fd < 0)
		return 0;
	len = snprintf(line, sizeof(line), "ready%s%s%s%s\n", sv->http ? " " : "",
		       sv->http ? coll_http_url(sv->http) : "", sv->admission ? " " : "",
		       sv->admission ? coll_http_url(sv->admission) : "");
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
	err = coll_wakeups_open(&sv->wakeups, o->until_eof);
	if (!err)
		err = coll_accept_open(&sv->accept);
	if (!err)
		err = coll_http_open(&sv->http, &o->http, &sv->parts);
	if (!err)
		err = coll_http_open(&sv->admission, &o->admission, &sv->parts);
	if (!err)
		err = coll_upstream_open(&sv->upstream, &o->upstream, &sv->context, &sv->store);
	if (!err)
		err = coll_work_open(&sv->work, &o->work, &o->digest, sv->store.base, &sv->limits,
				     &sv->context);
	if (err)
		return err;
	sv->parts.work = sv->work;
	sv->intake.upstream = sv->upstream;
	if (sv->http)
		coll_log("listening on %s", coll_http_url(sv->http));
	if (sv->admission)
		coll_log("asked about pods on %s/admission", coll_http_url(sv->admission));
	coll_sdnotify_ready(&sv->notify);
	return write_ready(sv);
}

/*
 * After the end of --until-eof: whoever is connected and alive is served to its end. Who has said
 * Bye, or nothing at all, gets the grace time (its children may hold the socket open for ever).
 */
static bool all_done(struct coll_server *sv)
{
	int64_t since_ns = coll_now_ns() - sv->wakeups.eof_ns;

	return coll_clients_done(&sv->clients, since_ns > sv->opts->grace_s * COLL_SECOND_NS);
}

static bool time_to_end(struct coll_server *sv)
{
	int64_t idle = coll_now_ns() - sv->clients.idle_since_ns;

	if (sv->wakeups.terminate || coll_work_over(sv->work, &sv->failed))
		return true;
	if (sv->wakeups.eof_seen && all_done(sv)) {
		coll_accept_last(&sv->accept);
		return all_done(sv);
	}
	return sv->opts->idle_exit_s >= 0 && !sv->clients.count && coll_http_idle(sv->http) &&
	       coll_http_idle(sv->admission) && idle >= sv->opts->idle_exit_s * COLL_SECOND_NS;
}

/* What clients have sent already is taken; then all is synced and acknowledged. */
static void finish(struct coll_server *sv)
{
	coll_sdnotify_stopping(&sv->notify);
	sv->ending = true;
	coll_accept_close(&sv->accept);
	close_http(sv);
	coll_clients_drain(&sv->clients);
	coll_clients_finish(&sv->clients);
	coll_process_watch_fini(&sv->clients.watches); /* ends of processes are forwarded, too */
	coll_upstream_linger(sv->upstream);
}

/* Of two times, each in milliseconds, -1: for ever. */
static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static int timeout(struct coll_server *sv)
{
	return sooner(sooner(coll_http_timeout(sv->http), coll_http_timeout(sv->admission)),
		      coll_upstream_timeout(sv->upstream));
}

int coll_server_run(struct coll_server *sv)
{
	int err = 0;

	while (!err && !time_to_end(sv)) {
		err = coll_loop_turn(&sv->context.loop, timeout(sv));
		coll_server_settle(sv, false);
		coll_http_turn(sv->http);
		coll_http_turn(sv->admission);
		coll_upstream_turn(sv->upstream);
		coll_sdnotify_tick(&sv->notify, coll_now_ns());
		if (sv->wakeups.reload)
			reload(sv);
	}
	finish(sv);
	if (sv->opts->verbose)
		report(sv);
	return err;
}
