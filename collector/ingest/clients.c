/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the list for each duty.
 */
#include "clients.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include "core/clock.h"
#include "core/context.h"
#include "core/log.h"

void coll_clients_fini(struct coll_clients *all)
{
	while (all->first)
		coll_client_free(all->first);
	coll_process_watch_fini(&all->watches);
	coll_sync_round_fini(&all->round);
	free(all->scratch);
	all->scratch = NULL;
}

static void close_stalled(struct coll_clients *all, int64_t now_ns)
{
	struct coll_client *c;

	for (c = all->first; c; c = c->next) {
		if (c->closing || !coll_client_stalled(c, now_ns))
			continue;
		all->context->count.clients_stalled++;
		coll_note("pid %d: silent for too long; closed", (int)c->peer.pid);
		coll_client_close(c);
	}
}

void coll_clients_tick(struct coll_clients *all, int64_t now_ns)
{
	struct coll_client *c;

	close_stalled(all, now_ns);
	for (c = all->first; c; c = c->next)
		coll_client_resume(c, now_ns);
}

/* Group commit. What comes while a round is on its way waits for the next one. */
static void begin_round(struct coll_clients *all, bool everything)
{
	struct coll_client *c;

	all->everything |= everything;
	if (all->round.busy)
		return;
	for (c = all->first; c; c = c->next)
		coll_feeder_add(&c->feeder, &all->round, all->everything);
	all->everything = false;
	if (all->round.count)
		coll_sync_round_begin(&all->round, &all->context->worker);
}

static void synced(struct coll_sync_round *round, struct coll_stream *s, int err)
{
	struct coll_clients *all =
		(struct coll_clients *)((char *)round - offsetof(struct coll_clients, round));

	coll_feeder_synced(s, all->context, err);
}

int coll_clients_init(struct coll_clients *all)
{
	all->first = NULL;
	all->count = 0;
	all->watches = (struct coll_process_watches){ .context = all->context };
	all->idle_since_ns = coll_now_ns();
	all->round.synced = synced;
	all->scratch = malloc(COLL_SCRATCH_BYTES);
	return all->scratch ? 0 : -ENOMEM;
}

void coll_clients_settle(struct coll_clients *all, bool everything)
{
	struct coll_client *c, *next;

	for (c = all->first; c; c = next) {
		next = c->next;
		if (!c->blocked || c->closing)
			coll_client_acknowledge(c);
		if (!c->closing || coll_feeder_unsynced(&c->feeder))
			continue;
		coll_client_free(c);
		all->idle_since_ns = coll_now_ns();
	}
	begin_round(all, everything);
}

void coll_clients_finish(struct coll_clients *all)
{
	coll_worker_drain(&all->context->worker);
	do {
		coll_clients_settle(all, true);
		coll_worker_drain(&all->context->worker);
		coll_clients_settle(all, false);
	} while (all->round.busy);
}

void coll_clients_drain(struct coll_clients *all)
{
	struct coll_client *c;

	for (c = all->first; c; c = c->next) {
		coll_client_drain(c);
		coll_client_close(c);
	}
}

bool coll_clients_done(const struct coll_clients *all, bool grace_over)
{
	const struct coll_client *c;

	for (c = all->first; c; c = c->next)
		if (!grace_over || (c->in.any_frame && !coll_client_done(c)))
			return false;
	return true;
}
