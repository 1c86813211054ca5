/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon in the collector's loop: its epoll descriptor is a source like any other.
 */
#include "daemon.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"
#include "ingest/intake.h"
#include "store/store.h"

#define DRAIN_MS 3000
#define NS_PER_MS 1000000LL
#define MHD_RUNS_PER_TURN 64 /* so that one busy connection cannot keep the loop */
#define MHD_TURN_MS 200 /* nor many that take long */
/* the clock of streams stands still while this loop is stuck */
#define AWAY_NS (5 * COLL_SECOND_NS)

static void on_ready(struct coll_source *s, uint32_t events)
{
	(void)events;
	MHD_run(((struct coll_http *)s)->daemon);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list args)
{
	char line[256];

	(void)cls;
	if (vsnprintf(line, sizeof(line), fmt, args) < 0)
		return;
	line[strcspn(line, "\r\n")] = '\0';
	coll_note("HTTP: %s", line);
}

/* Paths and parameters stay as they came. */
static size_t leave_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
	(void)cls;
	(void)connection;
	return strlen(text);
}

const struct coll_route *const *coll_http_routes(const struct coll_http *h)
{
	if (h->opts->inject)
		return coll_routes_admission;
	return h->parts->gateway ? coll_routes_gateway : coll_routes;
}

static int start(struct coll_http *h, int fd)
{
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[3] = { { MHD_OPTION_END, 0, NULL } };
	const union MHD_DaemonInfo *info;

	if (h->address.https) {
		flags |= MHD_USE_TLS;
		tls[0] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_CERT_CALLBACK2, 0,
						  coll_tls_none() };
		tls[1] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
						  (void *)(uintptr_t)COLL_TLS_PRIORITIES };
		tls[2] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	}
	h->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, coll_http_on_access, h, MHD_OPTION_EXTERNAL_LOGGER, on_log,
		NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_CONNECTION,
		coll_http_on_connection, h, MHD_OPTION_NOTIFY_COMPLETED, coll_http_on_completed, h,
		MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)COLL_HTTP_MEMORY,
		MHD_OPTION_CONNECTION_LIMIT, COLL_HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		COLL_HTTP_IDLE * (unsigned int)h->parts->silence_s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!h->daemon) {
		close(fd);
		return -EINVAL;
	}
	info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info || info->epoll_fd < 0)
		return -ENOSYS;
	h->source = (struct coll_source){ .fd = info->epoll_fd, .ready = on_ready };
	return coll_loop_add(&h->context->loop, &h->source, EPOLLIN);
}

/* What the options allow, said before anything is opened to the world. */
static int check(const struct coll_http *h, const struct coll_http_options *o)
{
	const char *why = NULL;

	if (h->address.https && (!o->cert || !o->key))
		why = "https needs a certificate; give --cert FILE and --key FILE";
	else if (!h->address.https && (o->cert || o->key || o->client_ca))
		why = "certificates are for https; give --listen https://HOST:PORT";
	else if (!h->address.https && !h->address.loopback && !o->insecure_http)
		why = "http beyond this machine shows tokens and traces to the network; use https, "
		      "or say --insecure-http";
	else if (!o->inject && !o->token_file && !o->no_token)
		why = "who may come in? give --token-file FILE, or --no-token on loopback";
	else if (o->no_token && (o->token_file || !h->address.loopback))
		why = "--no-token is for loopback addresses, without --token-file";
	if (why)
		coll_log("--%s %s: %s", o->inject ? "admission" : "listen", o->listen, why);
	return why ? -EINVAL : 0;
}

static int prepare(struct coll_http *h, const struct coll_http_options *o)
{
	int err = check(h, o);

	if (!err && h->address.https)
		err = coll_tls_load(&h->tls, o->cert, o->key, o->client_ca);
	if (!err && o->token_file)
		err = coll_tokens_load(&h->tokens, o->token_file);
	if (err || o->token_file || o->inject)
		return err;
	h->open_team = coll_team_sharing(&h->teams, h->parts->store);
	return h->open_team ? 0 : -ENOMEM;
}

/* Who waits for the disk waits for streams that may have been idle as long: not amid a round. */
static void close_idle(struct coll_http *h)
{
	int64_t now = coll_now_ns();
	struct coll_team *team;

	h->idle_due = h->round.busy;
	for (team = h->teams.list; team && !h->idle_due; team = team->next)
		coll_team_close_idle(team, now - COLL_HTTP_STREAM_IDLE_S * COLL_SECOND_NS,
				     now - COLL_HTTP_STREAM_BYE_S * COLL_SECOND_NS);
}

/* All of the teams' streams, unless another round has some of them. */
static bool add_all(struct coll_http *h)
{
	struct coll_team *team;
	bool all = true;

	for (team = h->teams.list; team; team = team->next)
		all &= coll_feeder_add(&team->feeder, &h->round, true);
	return all;
}

/* Makes all that came by HTTP durable; round_over answers who waits for that. */
static void commit(struct coll_http *h)
{
	struct coll_http_request *r;
	bool all;

	if (h->round.busy)
		return;
	all = add_all(h);
	h->commit_ns = all ? 0 : coll_now_ns() + COLL_HTTP_COMMIT_MS * NS_PER_MS;
	for (r = h->requests; all && r; r = r->next)
		r->in_round = r->committed != NULL;
	coll_sync_round_begin(&h->round, &h->context->worker);
}

static void synced(struct coll_sync_round *round, struct coll_stream *s, int err)
{
	struct coll_http *h =
		(struct coll_http *)((char *)round - offsetof(struct coll_http, round));

	coll_feeder_synced(s, h->context, err);
}

static void round_over(struct coll_sync_round *round)
{
	struct coll_http *h =
		(struct coll_http *)((char *)round - offsetof(struct coll_http, round));
	struct coll_http_request *r;

	for (r = h->requests; r; r = r->next) {
		void (*then)(struct coll_http_request * r) = r->committed;

		if (!r->in_round)
			continue;
		r->in_round = false;
		r->committed = NULL;
		then(r);
	}
	if (h->idle_due)
		close_idle(h);
}

/* Waits until everything is. */
static void commit_all(struct coll_http *h)
{
	coll_worker_drain(&h->context->worker);
	commit(h);
	coll_worker_drain(&h->context->worker);
}

int coll_http_open(struct coll_http **out, const struct coll_http_options *o,
		   const struct coll_http_parts *parts)
{
	struct coll_http *h;
	int fd, err = -ENOMEM;

	*out = NULL;
	if (!o->listen)
		return 0;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->opts = o;
	h->parts = parts;
	h->context = parts->context;
	h->source.fd = -1;
	h->round.synced = synced;
	h->round.over = round_over;
	h->teams.base = parts->store ? parts->store->base : NULL;
	h->teams.count = &h->context->count;
	h->teams.retention = parts->retention;
	h->teams.runs = parts->intake ? parts->intake->runs : NULL;
	fd = coll_tcp_listen(&h->address, o->listen);
	if (fd < 0) {
		err = fd;
		coll_log("cannot listen on %s: %s; give --%s https://HOST:PORT", o->listen,
			 strerror(-err), o->inject ? "admission" : "listen");
		goto close_http;
	}
	err = prepare(h, o);
	if (err) {
		close(fd);
		goto close_http;
	}
	err = start(h, fd);
	if (err) {
		coll_log("cannot serve %s: %s", h->address.url, strerror(-err));
		goto close_http;
	}
	*out = h;
	return 0;
close_http:
	coll_http_close(h);
	return err;
}

const char *coll_http_url(const struct coll_http *h)
{
	return h->address.url;
}

void coll_http_reload(struct coll_http *h)
{
	const struct coll_http_options *o;

	if (!h)
		return;
	o = h->opts;
	if (o->token_file && !coll_tokens_load(&h->tokens, o->token_file))
		coll_log("tokens: read again");
	if (h->address.https && !coll_tls_load(&h->tls, o->cert, o->key, o->client_ca))
		coll_log("certificates: read again");
}

/* What the daemon itself waits for. */
static int daemon_timeout(struct coll_http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(h->daemon, &ms) != MHD_YES)
		return -1;
	return ms > 1000 ? 1000 : (int)ms;
}

int coll_http_timeout(struct coll_http *h)
{
	int ms = h ? daemon_timeout(h) : -1;
	int64_t left;

	if (h && h->resumed)
		return 0;
	if (!h || !h->commit_ns || h->round.busy)
		return ms;
	left = (h->commit_ns - coll_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
	if (left < 0)
		left = 0;
	return ms >= 0 && ms < left ? ms : (int)left;
}

void coll_http_turn(struct coll_http *h)
{
	int64_t until = coll_now_ns() + MHD_TURN_MS * NS_PER_MS;
	int runs = 0;

	if (!h)
		return;
	if (h->commit_ns && coll_now_ns() >= h->commit_ns)
		commit(h);
	while (runs++ < MHD_RUNS_PER_TURN && coll_now_ns() < until &&
	       (h->resumed || daemon_timeout(h) == 0)) {
		h->resumed = false;
		MHD_run(h->daemon);
	}
}

void coll_http_tick(struct coll_http *h)
{
	int64_t now = coll_now_ns(), away = h && h->ticked_ns ? now - h->ticked_ns : 0;
	struct coll_team *team;

	if (!h)
		return;
	h->ticked_ns = now;
	for (team = h->teams.list; team && away > AWAY_NS; team = team->next)
		coll_team_was_away(team, away);
	coll_http_close_slow(h, now);
	close_idle(h);
	commit(h);
	MHD_run(h->daemon);
}

void coll_http_when_durable(struct coll_http_request *r, void (*then)(struct coll_http_request *r))
{
	r->committed = then;
	if (!r->http->commit_ns)
		r->http->commit_ns = coll_now_ns() + COLL_HTTP_COMMIT_MS * NS_PER_MS;
}

bool coll_http_idle(const struct coll_http *h)
{
	return !h || !h->conn_count;
}

static bool unsent(const struct coll_http *h)
{
	const struct coll_http_request *r = h->requests;

	while (r && !(r->answered && r->ended))
		r = r->next;
	return r != NULL;
}

void coll_http_drain(struct coll_http *h)
{
	int64_t until = coll_now_ns() + DRAIN_MS * NS_PER_MS;
	int fd;

	if (!h)
		return;
	if (!h->draining) {
		fd = MHD_quiesce_daemon(h->daemon);
		if (fd >= 0)
			close(fd);
	}
	h->draining = true;
	coll_http_turn(h);
	while (unsent(h) && coll_now_ns() < until) {
		struct pollfd p = { .fd = h->source.fd, .events = POLLIN };

		poll(&p, 1, 20);
		MHD_run(h->daemon);
		coll_http_turn(h);
	}
}

/* What came is durable and answered; who waits for something else is told. */
static void end_requests(struct coll_http *h)
{
	struct coll_http_request *r, *next;

	commit_all(h);
	for (r = h->requests; r; r = next) {
		next = r->next;
		if (r->suspended)
			coll_http_text(r, 503, "the collector ends\n");
	}
}

void coll_http_close(struct coll_http *h)
{
	if (!h)
		return;
	if (h->daemon) {
		end_requests(h);
		coll_http_drain(h);
		end_requests(h); /* that ended meanwhile */
		if (h->source.fd >= 0)
			coll_loop_remove(&h->context->loop, &h->source);
		MHD_stop_daemon(h->daemon);
	}
	coll_teams_fini(&h->teams);
	coll_tokens_fini(&h->tokens);
	coll_tls_fini(&h->tls);
	coll_sync_round_fini(&h->round);
	free(h);
}
