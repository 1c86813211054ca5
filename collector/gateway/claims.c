/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "core/clock.h"
#include "core/log.h"

#define KEY_BYTES 512
#define BODY_BYTES (LIVE_FIRED_LINE + 64)
#define LOG_EVERY_NS (60 * COLL_SECOND_NS)

struct claim {
	struct coll_job job; /* first */
	struct coll_claims *claims;
	struct coll_run *run; /* stays as long as it is out */
	size_t entry;
	struct live_fired fired;
	char key[KEY_BYTES];
	char body[BODY_BYTES]; /* its line, and one that is ours alone */
	size_t len;
	char there[BODY_BYTES]; /* what lies there */
	size_t there_len;
	int err; /* 0: ours; -EEXIST: another's */
	struct objects_trouble trouble;
};

/* "TEAM/RUN" of where the runs have "TEAM/RUN.gst", without a slash where there is no team. */
static int place_of(char *out, size_t room, const struct coll_run *run)
{
	const char *at = run->dir[0] == '/' ? run->dir + 1 : run->dir;

	return snprintf(out, room, "%.*s", (int)(strlen(at) - strlen(COLL_RUN_SUFFIX)), at);
}

static bool fill(struct claim *k)
{
	struct live_row r;
	char place[LIVE_ROW_TEAM_BYTES + LIVE_ROW_RUN_BYTES + 8];
	uint64_t chance;
	int len = live_fired_put(&k->fired, k->body);

	if (len < 0 || getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return false;
	live_row_of_alert(&r, &k->fired);
	place_of(place, sizeof(place), k->run);
	k->len = (size_t)len;
	k->len += (size_t)snprintf(k->body + len, sizeof(k->body) - k->len,
				   "{\"claim\":\"%016" PRIx64 "\"}\n", chance);
	return snprintf(k->key, sizeof(k->key), COLL_ALERTS_FOLDER "/%s/%s", place, r.stream) <
	       (int)sizeof(k->key);
}

/* In a thread. A put that was tried again may find what it had put itself. */
static void put(struct coll_job *job)
{
	struct claim *k = (struct claim *)job;
	struct objects *o = k->claims->objects;
	ssize_t got;

	k->err = objects_put(o, k->key, k->body, k->len, true, &k->trouble);
	if (k->err != -EEXIST)
		return;
	got = objects_get(o, k->key, 0, k->there, sizeof(k->there), &k->trouble);
	if (got < 0) {
		k->err = (int)got;
		return;
	}
	k->there_len = (size_t)got;
	if (k->there_len == k->len && !memcmp(k->there, k->body, k->len))
		k->err = 0;
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
	if (k->err && k->err != -EEXIST && coll_log_due(&logged_ns, LOG_EVERY_NS))
		coll_log("alert: %s: %s; it is tried again", k->run->id,
			 k->trouble.why[0] ? k->trouble.why : strerror(-k->err));
	coll_runs_claimed(k->run, k->entry, &k->fired, where, k->err);
	if (!k->err)
		tell(k, k->body, k->len);
	else if (k->err == -EEXIST)
		tell(k, k->there, k->there_len);
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
