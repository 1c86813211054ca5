/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector as a whole: owns its parts, hands each what it needs of the others, and turns the
 * loop. Nobody below knows it. One thread.
 *
 * Each turn of the loop reads from the sockets that have something, appends what came, and ends
 * with coll_server_settle: sync what is due, acknowledge it, and close who is to be closed.
 */
#ifndef COLL_SERVER_H
#define COLL_SERVER_H

#include <stdbool.h>
#include "alert/runs.h"
#include "alert/steps.h"
#include "core/context.h"
#include "core/sdnotify.h"
#include "core/wakeups.h"
#include "ingest/accept.h"
#include "ingest/clients.h"
#include "ingest/intake.h"
#include "options.h"
#include "retain/retention.h"
#include "serve/render_jobs.h"
#include "store/store.h"

struct coll_upstream;
struct coll_work;

struct coll_server {
	const struct coll_options *opts;
	struct coll_context context;
	struct coll_wakeups wakeups;
	struct coll_sdnotify notify;
	struct coll_store store;
	struct coll_runs runs; /* if anybody wants to know what pulses tell: alerts, or HTTP */
	struct coll_steps steps; /* unused unless an alert asks for it */
	struct coll_limits limits; /* as they hold now */
	struct coll_run_index index; /* where runs are listed or removed; else not begun */
	struct coll_retention retention;
	struct coll_digests digests; /* unused without --store */
	struct coll_upstream *upstream; /* NULL without --upstream */
	struct coll_work *work; /* NULL without --work */
	struct coll_intake intake;
	struct coll_clients clients;
	struct coll_accept accept; /* not open without --unix */
	struct coll_render_jobs render; /* unused without --listen */
	struct coll_http_parts parts;
	struct coll_http *http; /* NULL without --listen */
	struct coll_http *admission; /* NULL without --admission */
	bool ending; /* nothing is taken any more */
	bool failed; /* --work --once could not do what it was to */
};

/* Everything but the sockets: enough to serve connected clients. 0 or -errno. */
int coll_server_init(struct coll_server *sv, const struct coll_options *opts);

/* The sockets, signals, timer. 0 or -errno; what went wrong is logged. */
int coll_server_listen(struct coll_server *sv);

/* Serves until it is time to end; syncs everything. 0 or -errno. */
int coll_server_run(struct coll_server *sv);

void coll_server_settle(struct coll_server *sv, bool everything);

void coll_server_fini(struct coll_server *sv);

#endif
