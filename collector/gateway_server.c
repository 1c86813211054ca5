/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of a gateway's loop, and its end.
 */
#include "gateway_server.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/context.h"
#include "core/log.h"
#include "core/sdnotify.h"
#include "core/wakeups.h"
#include "gateway/gateway.h"
#include "serve/http.h"

#define SMALLEST_MMAP (128 << 10)
#define END_S 20 /* for what is under way */
#define TURN_MS 100

struct server {
	const struct coll_options *opts;
	struct coll_context context;
	struct coll_wakeups wakeups;
	struct coll_sdnotify notify;
	struct coll_gateway gateway;
	struct coll_http_parts parts;
	struct coll_http *http;
};

static void each_second(void *owner)
{
	struct server *sv = owner;

	coll_sdnotify_tick(&sv->notify, coll_now_ns());
	coll_children_tick(&sv->context.children, coll_now_ns());
	coll_store_watch_tick(&sv->gateway.watch);
	coll_exchange_tick(&sv->gateway.exchange);
	coll_team_budgets_tick(&sv->gateway.budgets);
	coll_http_tick(sv->http);
}

static void report(void *owner)
{
	const struct server *sv = owner;

	coll_counters_log(&sv->context.count, 0, 0);
}

static void reload(struct server *sv)
{
	sv->wakeups.reload = false;
	coll_sdnotify_reloading(&sv->notify);
	sv->context.count.reloads++;
	coll_http_reload(sv->http);
	coll_sdnotify_ready(&sv->notify);
}

static void write_ready(struct server *sv)
{
	char line[1024];
	int len = snprintf(line, sizeof(line), "ready %s\n", coll_http_url(sv->http));

	coll_log("listening on %s for %s", coll_http_url(sv->http), sv->opts->gateway.url);
	coll_sdnotify_ready(&sv->notify);
	if (sv->opts->ready_fd < 0)
		return;
	if (write(sv->opts->ready_fd, line, (size_t)len) < 0)
		coll_log("--ready-fd: %s; nobody waits for it?", strerror(errno));
	close(sv->opts->ready_fd);
}

static int start(struct server *sv, const struct coll_options *o)
{
	int err;

	sv->opts = o;
	sv->notify.fd = -1;
	sv->parts = (struct coll_http_parts){ .gateway = &sv->gateway,
					      .silence_s = o->silence_s,
					      .runs = &sv->gateway.exchange.runs,
					      .context = &sv->context };
	coll_wakeups_init(&sv->wakeups, &sv->context.loop);
	sv->wakeups.each_second = each_second;
	sv->wakeups.report = report;
	sv->wakeups.owner = sv;
	mallopt(M_MMAP_THRESHOLD, SMALLEST_MMAP); /* bodies go back to the system */
	err = coll_context_init(&sv->context);
	if (err)
		return err;
	coll_sdnotify_init(&sv->notify);
	err = coll_wakeups_open(&sv->wakeups, o->until_eof);
	if (!err)
		err = coll_gateway_open(&sv->gateway, &o->gateway, &sv->context);
	return err ? err : coll_http_open(&sv->http, &o->http, &sv->parts);
}

static int turn(struct server *sv, int most_ms)
{
	int ms = coll_http_timeout(sv->http);
	int err = coll_loop_turn(&sv->context.loop, ms < 0 || ms > most_ms ? most_ms : ms);

	coll_http_turn(sv->http);
	return err;
}

static bool time_to_end(const struct server *sv)
{
	return sv->wakeups.terminate || sv->wakeups.eof_seen;
}

/*
 * What is under way is put and answered, and pulses are handed over, as far as the time goes. A
 * store that does not answer keeps threads that nobody can end; nothing of theirs is acknowledged,
 * so the process may end as if it were killed.
 */
static void finish(struct server *sv)
{
	int64_t until = coll_now_ns() + END_S * COLL_SECOND_NS;

	coll_sdnotify_stopping(&sv->notify);
	sv->gateway.ending = true;
	while ((coll_hands_out(&sv->gateway.hands) ||
		coll_exchange_ending(&sv->gateway.exchange)) &&
	       coll_now_ns() < until && !turn(sv, TURN_MS))
		;
	if (sv->opts->verbose)
		report(sv);
	if (!coll_hands_out(&sv->gateway.hands))
		return;
	coll_log("%s has not answered for %d s; what was not acknowledged is sent again to others",
		 sv->opts->gateway.url, END_S);
	_exit(COLL_EXIT_OK);
}

static void fini(struct server *sv)
{
	coll_http_close(sv->http);
	coll_gateway_close(&sv->gateway);
	coll_sdnotify_fini(&sv->notify);
	coll_wakeups_close(&sv->wakeups);
	coll_context_fini(&sv->context);
}

int coll_gateway_serve(const struct coll_options *o)
{
	static struct server sv;
	int err = start(&sv, o);

	if (!err) {
		write_ready(&sv);
		while (!err && !time_to_end(&sv)) {
			err = turn(&sv, 1000);
			if (sv.wakeups.reload)
				reload(&sv);
		}
		if (err)
			coll_log("cannot wait for events: %s", strerror(-err));
		finish(&sv);
	}
	fini(&sv);
	return err ? COLL_EXIT_ERROR : COLL_EXIT_OK;
}
