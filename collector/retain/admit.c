/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: whether a client may open a stream or a run, append bytes, send more bytes a second.
 */
#include "admit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "core/clock.h"
#include "core/log.h"
#include "store/store.h"

#define LOG_EVERY_NS (60 * COLL_SECOND_NS)

struct coll_open_run {
	char *dir;
	size_t streams;
	struct coll_open_run *next;
};

void coll_admit_log(struct coll_retention *k, enum coll_limit which)
{
	uint64_t value = which == COLL_LIMIT_FREE_FLOOR ? k->free_floor : k->limits->value[which];

	if (!coll_log_due(&k->logged_ns[which], LOG_EVERY_NS))
		return;
	coll_log("limit %s is reached (%llu): %s; raise it with --limit, or see who uses it up",
		 coll_limit_name(which), (unsigned long long)value, coll_limit_what(which));
}

static struct coll_open_run **bucket_of(struct coll_retention *k, const char *dir)
{
	return &k->open[base_hash_text(BASE_HASH, dir) % COLL_RETENTION_BUCKETS];
}

static struct coll_open_run **find(struct coll_retention *k, const char *dir)
{
	struct coll_open_run **p = bucket_of(k, dir);

	while (*p && strcmp((*p)->dir, dir))
		p = &(*p)->next;
	return p;
}

static bool too_many(struct coll_retention *k, enum coll_limit which, size_t now)
{
	if (!k->limits->value[which] || now < k->limits->value[which])
		return false;
	coll_admit_log(k, which);
	return true;
}

static struct coll_open_run *open_run(struct coll_retention *k, const char *dir)
{
	struct coll_open_run **p = bucket_of(k, dir), *r = calloc(1, sizeof(*r));

	if (r)
		r->dir = strdup(dir);
	if (!r || !r->dir) {
		free(r);
		return NULL;
	}
	r->next = *p;
	*p = r;
	k->open_runs++;
	return r;
}

int coll_admit_open(struct coll_retention *k, const char *dir)
{
	struct coll_open_run *r;

	if (!k)
		return 0;
	if (too_many(k, COLL_LIMIT_STREAMS, k->open_streams)) {
		k->context->count.limit_streams++;
		return -EUSERS;
	}
	r = *find(k, dir);
	if (!r && too_many(k, COLL_LIMIT_RUNS, k->open_runs)) {
		k->context->count.limit_runs++;
		return -EUSERS;
	}
	if (!r)
		r = open_run(k, dir);
	if (!r)
		return -ENOMEM;
	r->streams++;
	k->open_streams++;
	coll_run_index_opened(k->index, dir);
	return 0;
}

void coll_admit_closed(struct coll_retention *k, const char *dir)
{
	struct coll_open_run **p, *r;

	if (!k)
		return;
	p = find(k, dir);
	r = *p;
	k->open_streams--;
	coll_run_index_closed(k->index, dir);
	if (!r || --r->streams)
		return;
	*p = r->next;
	k->open_runs--;
	if (k->digests)
		coll_digests_closed(k->digests, dir);
	free(r->dir);
	free(r);
}

int coll_admit_feed(struct coll_retention *k, size_t streams, bool team)
{
	if (!k || !too_many(k, team ? COLL_LIMIT_TEAM_STREAMS : COLL_LIMIT_CLIENT_STREAMS, streams))
		return 0;
	k->context->count.limit_streams++;
	return -EUSERS;
}

static bool exceeds(struct coll_retention *k, enum coll_limit which, uint64_t used, uint64_t len)
{
	uint64_t limit = k->limits->value[which];

	if (!limit || (used <= limit && len <= limit - used))
		return false;
	coll_admit_log(k, which);
	return true;
}

static int no_room(struct coll_retention *k, uint64_t *need, uint64_t len)
{
	k->context->count.limit_quota++;
	*need = len > *need ? len : *need;
	coll_retention_make_room(k);
	return -EDQUOT;
}

int coll_admit_size(struct coll_retention *k, uint64_t size, uint64_t len)
{
	if (!k || !exceeds(k, COLL_LIMIT_STREAM_SIZE, size, len))
		return 0;
	k->context->count.limit_size++;
	return -EFBIG;
}

/* Before the disk is full: the collector and its store of digests have to write there, too. */
static int no_disk(struct coll_retention *k)
{
	k->context->count.limit_free++;
	coll_admit_log(k, COLL_LIMIT_FREE_FLOOR);
	return -ENOSPC;
}

int coll_admit_append(struct coll_retention *k, struct coll_use *use, uint64_t size, uint64_t len)
{
	int err = coll_admit_size(k, size, len);

	if (err || !k)
		return err;
	if (exceeds(k, COLL_LIMIT_QUOTA, k->bytes, len))
		return no_room(k, &k->need, len);
	if (use && exceeds(k, COLL_LIMIT_TEAM_QUOTA, use->bytes, len))
		return no_room(k, &use->need, len);
	if (k->free_known && len > k->free_bytes)
		return no_disk(k);
	if (k->free_known)
		k->free_bytes -= len;
	k->bytes += len;
	k->appended += len;
	if (use) {
		use->bytes += len;
		use->appended += len;
	}
	return 0;
}

int64_t coll_admit_wait(const struct coll_retention *k, const struct coll_bucket *client,
			int64_t now_ns)
{
	int64_t mine, all;

	if (!k)
		return 0;
	mine = coll_bucket_wait_ns(client, k->limits->value[COLL_LIMIT_CLIENT_RATE], now_ns);
	all = coll_bucket_wait_ns(&k->rate, k->limits->value[COLL_LIMIT_RATE], now_ns);
	return mine > all ? mine : all;
}

int64_t coll_admit_throttle(struct coll_retention *k, struct coll_bucket *client, uint64_t len,
			    int64_t now_ns)
{
	const uint64_t *limit = k ? k->limits->value : NULL;
	int64_t wait;

	if (!k || (!limit[COLL_LIMIT_CLIENT_RATE] && !limit[COLL_LIMIT_RATE]))
		return 0;
	coll_bucket_take(client, limit[COLL_LIMIT_CLIENT_RATE], len, now_ns);
	coll_bucket_take(&k->rate, limit[COLL_LIMIT_RATE], len, now_ns);
	wait = coll_admit_wait(k, client, now_ns);
	if (!wait)
		return 0;
	k->context->count.limit_rate++;
	coll_admit_log(k, coll_bucket_wait_ns(client, limit[COLL_LIMIT_CLIENT_RATE], now_ns)
				  ? COLL_LIMIT_CLIENT_RATE
				  : COLL_LIMIT_RATE);
	return wait;
}

static int admit_open(void *by, const char *dir)
{
	return coll_admit_open(by, dir);
}

static void note_closed(void *by, const char *dir)
{
	coll_admit_closed(by, dir);
}

static int admit_append(void *by, void *account, uint64_t size, uint64_t len)
{
	return coll_admit_append(by, account, size, len);
}

void coll_admit_attach(struct coll_retention *k, struct coll_store *st, const char *team)
{
	st->admission = (struct coll_admission){ .by = k,
						 .account = coll_retention_use(k, team),
						 .open = admit_open,
						 .closed = note_closed,
						 .append = admit_append };
}

const struct coll_use *coll_admit_use_of(const struct coll_store *st)
{
	return st->admission.account;
}
