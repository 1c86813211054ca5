/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests wait in a file until the server has taken them. A server takes a row twice as well as
 * once, so what was sent and not struck off is sent again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "clickhouse_priv.h"
#include "sqlite_priv.h"

#define BATCH 1000
#define FAILURES_MAX 40 /* then it is not one shard or one digest */

struct putting {
	struct click *c;
	const struct fleet_digest *digest;
	size_t n;
};

static int put_one(sqlite3 *db, const char *target, const struct fleet_digest *d)
{
	char *text = fleet_digest_write(d);
	int err = text ? fleet_db_run(db,
				      "INSERT INTO outbox VALUES(?1,?2,?3,?4,?5)"
				      " ON CONFLICT(target, tenant, run) DO UPDATE SET"
				      " revision=excluded.revision, text=excluded.text"
				      " WHERE excluded.revision>=outbox.revision",
				      "tttit", target, d->tenant, d->run, d->revision, text)
		       : -ENOMEM;

	free(text);
	return err;
}

static int put_all(sqlite3 *db, void *arg)
{
	const struct putting *p = arg;
	int err = 0;

	for (size_t i = 0; i < p->n && !err; i++)
		err = put_one(db, p->c->at.target, &p->digest[i]);
	return err;
}

int click_outbox_put(struct click *c, const struct fleet_digest *d, size_t n)
{
	struct putting p = { c, d, n };

	return fleet_db_within(c->outbox, put_all, &p);
}

int click_outbox_find(struct click *c, const char *run, const char *tenant, bool found,
		      struct fleet_stored *stored)
{
	const char *const text[] = { c->at.target, run, tenant, NULL };

	return fleet_db_find(
		c->outbox,
		tenant ? "SELECT tenant, revision FROM outbox WHERE target=? AND run=?"
			 " AND tenant=?"
		       : "SELECT tenant, revision FROM outbox WHERE target=? AND run=?",
		text, found, stored);
}

/* --- sending --- */

struct sending {
	struct click *c;
	struct fleet_digest *digest; /* [BATCH] */
	size_t n;
	char tenant[64], run[256]; /* the last that was read: the next batch begins behind it */
	unsigned int failures;
	bool gone; /* no host answers: all else would wait for nothing */
};

static int strike(sqlite3 *db, void *arg)
{
	const struct putting *p = arg;
	int err = 0;

	for (size_t i = 0; i < p->n && !err; i++)
		err = fleet_db_run(db,
				   "DELETE FROM outbox WHERE target=? AND tenant=? AND run=?"
				   " AND revision=?",
				   "ttti", p->c->at.target, p->digest[i].tenant, p->digest[i].run,
				   p->digest[i].revision);
	return err;
}

static int post(struct sending *s, const struct fleet_digest *d, size_t n)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		click_put_row(f, &d[i]);
	int err = fclose(f) ? -ENOMEM : click_insert(s->c, text, len);
	free(text);
	return err;
}

/* What fails as one is sent in halves: the digests of shards that live must not wait for others. */
static int send_some(struct sending *s, const struct fleet_digest *d, size_t n)
{
	struct putting p = { s->c, d, n };
	int err;

	if (!n || s->gone || s->failures >= FAILURES_MAX)
		return 0;
	err = post(s, d, n);
	if (!err)
		return fleet_db_within(s->c->outbox, strike, &p);
	s->failures++;
	s->gone = err == -EHOSTUNREACH || err == -EACCES || err == -ENOMEM;
	if (n == 1 || s->gone)
		return 0;
	err = send_some(s, d, n / 2);
	return err ? err : send_some(s, d + n / 2, n - n / 2);
}

static int read_batch(struct sending *s)
{
	sqlite3_stmt *st;
	const char *why;
	int err = fleet_db_prepare(s->c->outbox, &st,
				   "SELECT text, tenant, run FROM outbox WHERE target=?1"
				   " AND (tenant, run) > (?2, ?3) ORDER BY tenant, run LIMIT ?4");
	int code;

	s->n = 0;
	if (err)
		return err;
	sqlite3_bind_text(st, 1, s->c->at.target, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, s->tenant, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(st, 3, s->run, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(st, 4, BATCH);
	while ((code = sqlite3_step(st)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);

		fleet_tame(s->tenant, sizeof(s->tenant), (const char *)sqlite3_column_text(st, 1));
		fleet_tame(s->run, sizeof(s->run), (const char *)sqlite3_column_text(st, 2));
		if (text && !fleet_digest_read(&s->digest[s->n], text, strlen(text), &why))
			s->n++;
	}
	err = code == SQLITE_DONE ? 0 : fleet_db_error(s->c->outbox, code);
	sqlite3_finalize(st);
	return err;
}

static int count(struct click *c, size_t *waiting)
{
	sqlite3_stmt *st;
	int err = fleet_db_prepare(c->outbox, &st, "SELECT count(*) FROM outbox WHERE target=?");

	if (err)
		return err;
	sqlite3_bind_text(st, 1, c->at.target, -1, SQLITE_STATIC);
	if (sqlite3_step(st) == SQLITE_ROW)
		*waiting = (size_t)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return 0;
}

int click_outbox_flush(struct click *c, size_t *waiting)
{
	struct sending s = { .c = c, .digest = calloc(BATCH, sizeof(*s.digest)) };
	int err = s.digest ? 0 : -ENOMEM;

	do {
		if (!err)
			err = read_batch(&s);
		if (!err)
			err = send_some(&s, s.digest, s.n);
	} while (!err && s.n && !s.gone && s.failures < FAILURES_MAX);
	if (s.gone)
		view_note("%s: it does not answer; digests wait in %s", c->at.target, c->at.outbox);
	free(s.digest);
	return err ? err : count(c, waiting);
}
