/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.c - what other clients of CUPTI do with buffers. CUPTI has one pair of callbacks: the
 * last to register gets every buffer from then on, also those that another client was asked for.
 */
#include "clients.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "cupti.h"
#include "faults.h"
#include "layout.h"
#include "partners.h"
#include "timebase.h"

#define KEPT 512
#define LARGEST ((size_t)64 << 20)
#define LATE_MS 500 /* from a session's end until what it kept is freed, where no ms= is given */

/* What a kind of client does with a buffer that it is handed. */
struct manners {
	const char *kind;
	size_t bytes; /* of the buffers that it hands out itself */
	bool foreign_stay; /* those that it never handed out are left alone, for good */
	bool free_all, free_empty; /* at once */
	bool reuse, reuse_empty; /* handed out again, at its own size; the rest is freed late */
};

static const struct manners known[] = {
	{ .kind = "keep", .bytes = 4u << 20, .foreign_stay = true }, /* as Kineto does */
	{ .kind = "free", .bytes = 64u << 20, .free_all = true }, /* as Proton does */
	{ .kind = "recycle", .bytes = 2u << 20, .reuse = true, .reuse_empty = true },
	{ .kind = "cache", .bytes = 32u << 10, .reuse_empty = true }, /* as XLA does */
	{ .kind = "empty", .bytes = 32u << 10, .free_empty = true },
};

struct client {
	const struct sim_spec *spec;
	const struct manners *manners;
	bool partner; /* it comes by the second interface */
	struct partner_told told;
	uint64_t begin, owned, strangers, freed, reused;
	void *own[KEPT], *kept[KEPT];
	bool again[KEPT]; /* the kept one may be handed out */
	size_t bytes, n_own, n_kept;
};

/* The callbacks carry no word of ours: the last session to begin is meant. */
static struct client *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct sim_export *driver;

/* ---- buffers ---- */

/* Forgets it, if it is among them. */
static bool drop(void **list, size_t *n, const void *buffer)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (list[i] == buffer) {
			list[i] = list[--*n];
			return true;
		}
	return false;
}

static void *take_kept(struct client *c)
{
	size_t i;
	void *found;

	for (i = 0; i < c->n_kept; i++)
		if (c->again[i]) {
			found = c->kept[i];
			c->kept[i] = c->kept[--c->n_kept];
			c->again[i] = c->again[c->n_kept];
			c->reused++;
			return found;
		}
	return NULL;
}

static void request(uint8_t **buffer, size_t *size, size_t *max)
{
	struct client *c;

	pthread_mutex_lock(&lock);
	c = current;
	*buffer = take_kept(c);
	if (!*buffer)
		*buffer = malloc(LARGEST); /* one that recycles it must not hit its own like */
	if (*buffer && c->n_own < KEPT)
		c->own[c->n_own++] = *buffer;
	*size = *buffer ? c->bytes : 0;
	*max = 0;
	pthread_mutex_unlock(&lock);
}

static void keep(struct client *c, void *buffer, bool again)
{
	if (c->n_kept == KEPT)
		return;
	c->again[c->n_kept] = again;
	c->kept[c->n_kept++] = buffer;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const struct manners *m;
	struct client *c;
	bool mine;

	(void)context;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&lock);
	c = current;
	m = c->manners;
	mine = drop(c->own, &c->n_own, buffer);
	c->owned += mine;
	c->strangers += !mine;
	if (m->free_all || (m->free_empty && !valid)) {
		free(buffer);
		c->freed++;
	} else if (mine || !m->foreign_stay) {
		keep(c, buffer, m->reuse || (m->reuse_empty && !valid));
	}
	pthread_mutex_unlock(&lock);
}

/* What has come back; what CUPTI still holds stays with it. */
static void free_kept(struct client *c)
{
	pthread_mutex_lock(&lock);
	while (c->n_kept) {
		free(c->kept[--c->n_kept]);
		c->freed++;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- sessions ---- */

static const int kinds[] = { REC_MEMCPY, REC_MEMSET,   REC_CONCURRENT_KERNEL, REC_RUNTIME,
			     REC_DRIVER, REC_OVERHEAD, REC_MEMCPY2,	      REC_SYNCHRONIZATION };
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static uint64_t end_of(const struct client *c)
{
	return c->spec->duration == SIM_SPEC_FOREVER ? SIM_NEVER : c->begin + c->spec->duration;
}

static void tell(const struct client *c)
{
	char line[400];

	snprintf(line, sizeof line,
		 "{\"fault\":\"foreign\",\"kind\":\"%s\",\"pid\":%d,\"start_ns\":%llu,"
		 "\"end_ns\":%llu,\"clock\":%g,\"own\":%llu,\"strangers\":%llu,\"freed\":%llu,"
		 "\"reused\":%llu,\"refused\":%d,\"records\":%llu,\"wrong\":%llu}",
		 c->partner   ? c->spec->client
		 : c->manners ? c->manners->kind
			      : "subscribe",
		 getpid(), (unsigned long long)c->begin, (unsigned long long)sim_now(),
		 c->spec->clock, (unsigned long long)c->owned, (unsigned long long)c->strangers,
		 (unsigned long long)c->freed, (unsigned long long)c->reused, c->told.rc,
		 (unsigned long long)c->told.records, (unsigned long long)c->told.wrong);
	driver->truth(line, strlen(line));
}

/* Holds the one place for subscribers, and records nothing. */
static void subscribe(struct client *c)
{
	void *handle = NULL;
	int rc = cuptiSubscribe(&handle, NULL, NULL);

	c->owned = !rc;
	sim_sleep_until(end_of(c));
	if (!rc)
		cuptiUnsubscribe(handle);
}

static void record(struct client *c)
{
	size_t i;

	pthread_mutex_lock(&lock);
	current = c;
	pthread_mutex_unlock(&lock);
	cuptiActivityRegisterCallbacks(request, complete);
	if (c->spec->clock > 0)
		timebase_script(c->spec->clock);
	for (i = 0; i < N_KINDS; i++)
		cuptiActivityEnable(kinds[i]);
	sim_sleep_until(end_of(c));
	if (!c->spec->no_flush)
		cuptiActivityFlushAll(1);
	for (i = 0; i < N_KINDS; i++)
		cuptiActivityDisable(kinds[i]);
}

static void *session(void *arg)
{
	struct client *c = arg;

	sim_sleep_until(c->begin);
	c->begin = sim_now();
	if (c->partner)
		partner_session(c->spec->client, end_of(c), &c->told);
	if (c->partner && (!c->told.rc || !partner_falls_back(c->spec->client)))
		;
	else if (c->manners)
		record(c);
	else
		subscribe(c);
	if (c->spec->finalize)
		cuptiFinalize();
	tell(c);
	sim_sleep_until(sim_now() + (c->spec->ms ? c->spec->ms : LATE_MS) * 1000000u);
	free_kept(c);
	return NULL;
}

/* NULL: one that only subscribes. */
static const struct manners *manners_of(const char *kind)
{
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(known[i].kind, kind))
			return &known[i];
	return strcmp(kind, "subscribe") ? &known[0] : NULL;
}

/* Never freed: a callback may come at any time. */
void client_start(const struct sim_spec *spec, uint64_t begin, const struct sim_export *d)
{
	struct client *c = calloc(1, sizeof *c);
	sigset_t all, old;
	pthread_t t;

	if (!c)
		return;
	driver = d;
	c->spec = spec;
	c->partner = partner_is(spec->client);
	c->manners = manners_of(c->partner ? "cache" : spec->client);
	c->bytes = spec->kb ? spec->kb << 10 : c->manners ? c->manners->bytes : 0;
	c->begin = begin;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&t, NULL, session, c)) {
		pthread_setname_np(t, "gpusim-foreign");
		pthread_detach(t);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
