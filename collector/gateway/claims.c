/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "claim_object.h"
#include "core/clock.h"
#include "core/log.h"

#define LOG_EVERY_NS (60 * COLL_SECOND_NS)

struct claim {
	struct coll_job job; /* first */
	struct coll_claims *claims;
	struct coll_run *run; /* stays as long as it is out */
	size_t entry;
	struct live_fired fired;
	struct coll_claim_object object;
};

/* "TEAM/RUN" of where the runs have "TEAM/RUN.gst", without a slash where there is no team. */
static int place_of(char *out, size_t room, const struct coll_run *run)
{
	const char *at = run->dir[0] == '/' ? run->dir + 1 : run->dir;

	return snprintf(out, room, "%.*s", (int)(strlen(at) - strlen(COLL_RUN_SUFFIX)), at);
}

static bool fill(struct claim *k)
{
	char place[LIVE_ROW_TEAM_BYTES + LIVE_ROW_RUN_BYTES + 8];
	char folder[sizeof(place) + sizeof(COLL_ALERTS_FOLDER) + 1];

	place_of(place, sizeof(place), k->run);
	snprintf(folder, sizeof(folder), COLL_ALERTS_FOLDER "/%s", place);
	return coll_claim_object_fill(&k->object, folder, &k->fired);
}

/* In a thread. */
static void put(struct coll_job *job)
{
	struct claim *k = (struct claim *)job;

	coll_claim_object_put(&k->object, k->claims->objects);
}

/* For all who read the store: whoever fired it may be dead before he has told. */
static void tell(struct claim *k, const char *body, size_t len)
{
	const char *end = memchr(body, '\n', len);
	size_t line = end ? (size_t)(end - body) : len;
	struct live_fired f;

	if (!live_fired_get(&f, body, line))
		coll_exchange_alert(k->claims->exchange, k->run, &f, body, line);
}

static void is_put(struct coll_job *job)
{
	struct claim *k = (struct claim *)job;
	char where[1024], place[LIVE_ROW_TEAM_BYTES + LIVE_ROW_RUN_BYTES + 8];
	static int64_t logged_ns;

	place_of(place, sizeof(place), k->run);
	snprintf(where, sizeof(where), "%s/%s", k->claims->url, place);
	if (k->object.err && k->object.err != -EEXIST && coll_log_due(&logged_ns, LOG_EVERY_NS))
		coll_log("alert: %s: %s; it is tried again", k->run->id,
			 k->object.trouble.why[0] ? k->object.trouble.why
						  : strerror(-k->object.err));
	coll_runs_claimed(k->run, k->entry, &k->fired, where, k->object.err);
	if (!k->object.err)
		tell(k, k->object.body, k->object.len);
	else if (k->object.err == -EEXIST)
		tell(k, k->object.there, k->object.there_len);
	free(k);
}

static void fires(void *arg, struct coll_run *run, size_t entry, const struct live_fired *f)
{
	struct coll_claims *c = arg;
	struct claim *k = calloc(1, sizeof(*k));

	if (k)
		*k = (struct claim){ .job = { .work = put, .done = is_put },
				     .claims = c,
				     .run = run,
				     .entry = entry,
				     .fired = *f };
	if (k && fill(k)) {
		coll_hands_give(c->hands, &k->job);
		return;
	}
	free(k);
	coll_runs_claimed(run, entry, f, "", -ENOMEM);
}

void coll_claims_init(struct coll_claims *c, struct objects *objects, struct coll_hands *hands,
		      struct coll_exchange *exchange, const char *url)
{
	*c = (struct coll_claims){ objects, hands, exchange, url };
	exchange->runs.fires = fires;
	exchange->runs.fires_arg = c;
}
