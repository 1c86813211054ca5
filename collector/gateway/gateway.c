/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What its parts share.
 */
#include "gateway.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/clock.h"
#include "core/log.h"

#define LOG_EVERY_NS (60 * COLL_SECOND_NS)
#define COPIES 2 /* of a body: as it came, and as segments */

/* One object is enough to know that we may. */
static int seen(void *arg, const char *key, uint64_t bytes)
{
	(void)arg;
	(void)key;
	(void)bytes;
	return 1;
}

/* Counted and logged as what could not be put; for how long it is so is the watch's to know. */
static void is_away(void *arg, int err, const struct objects_trouble *t)
{
	struct coll_gateway *g = arg;

	g->context->count.gateway_errors++;
	if (coll_log_due(&g->logged_ns, LOG_EVERY_NS))
		coll_log("cannot put into %s: %s; nodes keep what is not there, and send it again",
			 g->opts->url, t->why[0] ? t->why : strerror(-err));
}

int coll_gateway_open(struct coll_gateway *g, const struct coll_gateway_options *o,
		      struct coll_context *context)
{
	struct objects_trouble t = { "" };
	int err;

	*g = (struct coll_gateway){ .opts = o, .context = context };
	g->watch.told = is_away;
	g->watch.arg = g;
	if (o->store) {
		err = coll_exchange_init(&g->exchange, o->store, o->conditions, context);
		if (err)
			return err;
	}
	err = coll_hands_init(&g->hands, &context->loop);
	if (!err)
		err = objects_open(&g->objects, o->url, &t);
	if (!err && o->store)
		coll_claims_init(&g->claims, g->objects, &g->hands, &g->exchange, o->url);
	if (!err)
		err = coll_team_budgets_init(&g->budgets, o, g->objects, &g->hands, context);
	if (!err)
		err = objects_list(g->objects, COLL_STREAMS_FOLDER "/", seen, NULL, &t);
	coll_store_watch_init(&g->watch, g->objects, &g->hands, err);
	if (err == -ETIMEDOUT) /* it may be back soon; until then nothing is taken */
		is_away(g, err, &t);
	if (err >= 0 || err == -ETIMEDOUT)
		return 0;
	coll_log("--gateway %s: %s", o->url, t.why[0] ? t.why : strerror(-err));
	coll_gateway_close(g);
	return err;
}

void coll_gateway_close(struct coll_gateway *g)
{
	coll_team_budgets_fini(&g->budgets);
	coll_exchange_fini(&g->exchange);
	coll_hands_fini(&g->hands);
	coll_stream_runs_fini(&g->runs);
	objects_close(g->objects);
	g->objects = NULL;
}

bool coll_gateway_hold(struct coll_gateway *g, size_t *team_held, uint64_t len)
{
	uint64_t want = COPIES * len, most = g->opts->memory;

	if (g->ending)
		return false;
	if (g->held && (want > most || g->held > most - want || *team_held + want > most / 4 * 3)) {
		g->context->count.gateway_full++;
		return false;
	}
	g->held += want;
	*team_held += want;
	return true;
}

void coll_gateway_let(struct coll_gateway *g, size_t *team_held, uint64_t len)
{
	g->held -= COPIES * len;
	*team_held -= COPIES * len;
}

void coll_gateway_trouble(struct coll_gateway *g, int err, const struct objects_trouble *t)
{
	g->trouble_ns = coll_now_ns();
	is_away(g, err, t);
}

bool coll_gateway_in_trouble(const struct coll_gateway *g)
{
	return g->trouble_ns && coll_now_ns() - g->trouble_ns < LOG_EVERY_NS;
}

bool coll_gateway_below(char *to, size_t room, const char *team, const char *name)
{
	return (size_t)snprintf(to, room, "%s%s%s", team, *team ? "/" : "", name) < room;
}
