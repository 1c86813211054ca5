/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector as one object: its loop, its socket, its clients and its store. One thread.
 *
 * Each turn of the loop reads from the sockets that have something, appends what came, and ends
 * with coll_server_settle: sync what is due, acknowledge it, and close who is to be closed.
 */
#ifndef COLL_SERVER_H
#define COLL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "alert/runs.h"
#include "core/child.h"
#include "core/loop.h"
#include "options.h"
#include "core/sdnotify.h"
#include "core/counters.h"
#include "serve/render_jobs.h"
#include "retain/keeper.h"
#include "ingest/listener.h"
#include "store/store.h"

#define COLL_SCRATCH_BYTES (1u << 20) /* one read */
#define COLL_HELD_MAX (40u << 20) /* half frames, all clients together, ... */
#define COLL_HELD_KEPT (8u << 20) /* ... of which so much is for feeders that hold ... */
#define COLL_HELD_LITTLE (4u << 20) /* ... no more than this */
#define COLL_UNSYNCED_MAX (32u << 20) /* bytes of a stream that wait for the clock */

struct coll_client;
struct coll_http;
struct coll_upstream;
struct coll_process_watch;

struct coll_server {
	const struct coll_options *opts;
	struct coll_loop loop;
	struct coll_listener listener; /* not open without --unix */
	struct coll_http *http; /* NULL without --listen */
	struct coll_upstream *upstream; /* NULL without --upstream */
	struct coll_store store;
	struct coll_runs runs; /* if watching */
	bool watching; /* what pulses tell is of interest: alerts, or HTTP */
	struct coll_counters count;
	struct coll_children children;
	struct coll_limits limits; /* as they hold now */
	struct coll_keeper keeper;
	struct coll_digests digests; /* unused without --store */
	struct coll_render_jobs maker; /* unused without --listen */
	struct coll_sdnotify notify;
	struct coll_client *clients; /* all, also those about to close */
	struct coll_process_watch *watches; /* processes whose connection ended before them */
	size_t client_count, watch_count, client_max;
	uint8_t *scratch;
	size_t held; /* room of all half frames */

	struct coll_source signals, timer, eof;
	bool ending; /* nothing is taken any more */
	bool terminate; /* a signal asked for the end */
	bool reload; /* a signal asked for files of settings to be read again */
	bool eof_seen; /* --until-eof: the other end is gone */
	bool listening;
	bool accept_paused; /* out of descriptors: again at the next tick */
	int64_t eof_ns, idle_since_ns;
	int64_t trouble_said_ns; /* when the last line on storing was logged, 0: none */
	int trouble;
};

/* The server that @source is the member @member of. */
#define COLL_SERVER_OF(source, member) \
	((struct coll_server *)((char *)(source)-offsetof(struct coll_server, member)))

/* Everything but the socket: enough to serve connected clients. 0 or -errno. */
int coll_server_init(struct coll_server *sv, const struct coll_options *opts);

/* What a store reads back from its files is of interest, too. */
void coll_server_watch(struct coll_server *sv, struct coll_store *st);

/* The socket, signals, timer. 0 or -errno; what went wrong is logged. */
int coll_server_listen(struct coll_server *sv);

/* Serves until it is time to end; syncs everything. 0 or -errno. */
int coll_server_run(struct coll_server *sv);

/* Each second: everything that follows the clock. */
void coll_server_tick(struct coll_server *sv);

void coll_server_settle(struct coll_server *sv, bool everything);

/* A stream could not be stored: says so once in a while. */
void coll_server_trouble(struct coll_server *sv, const char *path, int err);

void coll_server_fini(struct coll_server *sv);

#endif
