/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of pulses in ClickHouse: the newer row of a key takes the place of the older one whenever
 * the server merges them. The server says when each came. What is not to be kept any longer lies
 * in parts of its own, by the day on which it goes, which are dropped as a whole: servers of these
 * years know no other way that costs nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "clickhouse_priv.h"

#define STR(x) #x
#define VALUE(x) STR(x)
#define SWEEP_S 3600 /* old parts are looked for by whoever reads in the first seconds of such */
#define SWEEP_FOR_S 20
/* the slots that do not stay, as SQL has them */
#define GOES 2
#define GOES_FROM 16
#define GOES_TO 31
_Static_assert(GOES == LIVE_ROW_BYE && GOES_FROM == LIVE_ROW_PULSE && GOES_TO + 1 == LIVE_ROW_SAVE,
	       "as live_row_stays has them");

#define HEARD "toInt64(toUInt32(heard))"
#define NOW "toInt64(toUInt32(now()))"

static const char columns[] =
	"tenant String, run String, stream String, slot UInt8, rank Int64, frame String,"
	" heard DateTime DEFAULT now(), keep Date DEFAULT toDate(now() + 86400 *"
	" if(slot = " VALUE(GOES) " OR slot BETWEEN " VALUE(GOES_FROM) " AND " VALUE(
		GOES_TO) ", " VALUE(FLEET_PULSES_DAYS) ", " VALUE(FLEET_PULSES_BEGUN_DAYS) "))";

#define KEPT_BY " PARTITION BY keep ORDER BY (tenant, run, stream, slot)"

static char *sql_own(const struct click *c)
{
	char *sql = NULL;

	return asprintf(&sql,
			c->has_replicas
				? "CREATE TABLE IF NOT EXISTS %1$s.gpustarve_%2$s (%3$s) ENGINE="
				  "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/%1$s/"
				  "gpustarve_pulses', '{replica}', rank)" KEPT_BY
				: "CREATE TABLE IF NOT EXISTS %1$s.gpustarve_%2$s (%3$s) ENGINE="
				  "ReplacingMergeTree(rank)" KEPT_BY,
			c->at.database, c->at.cluster ? "pulses_local" : "pulses", columns) < 0
		       ? NULL
		       : sql;
}

static char *sql_all_shards(const struct click *c)
{
	char *sql = NULL;

	return asprintf(&sql,
			"CREATE TABLE IF NOT EXISTS %1$s.gpustarve_pulses (%2$s) ENGINE="
			"Distributed(%3$s, %1$s, gpustarve_pulses_local, cityHash64(tenant, run))",
			c->at.database, columns, c->at.cluster) < 0
		       ? NULL
		       : sql;
}

static char *sql_schema(const struct click *c, size_t statement)
{
	errno = 0;
	switch (statement) {
	case 0:
		return click_sql_database(c);
	case 1:
		return sql_own(c);
	case 2:
		return c->at.cluster ? sql_all_shards(c) : NULL;
	default:
		return NULL;
	}
}

/* A statement's answer, to be freed by view_answer_free(&r->answer). Frees @sql. Says nothing. */
static int ask(struct click *c, struct fleet_request *r, char *sql)
{
	int err = sql ? click_ask(c, r, 1, &sql, false, CLICK_QUIET) : -ENOMEM;

	free(sql);
	return err;
}

static char *sql_insert(const struct fleet_pulses *p)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	fputs("INSERT INTO gpustarve_pulses (tenant, run, stream, slot, rank, frame)"
	      " FORMAT TabSeparated\n",
	      f);
	for (size_t i = 0; i < p->rows; i++) {
		const struct live_row *r = &p->row[i];

		fprintf(f, "%s\t%s\t%s\t%" PRIu32 "\t%" PRId64 "\t%s\n", r->team, r->run, r->stream,
			r->slot, r->rank, r->hex);
	}
	return click_sql_end(f, &sql);
}

int click_put_pulses(struct fleet_store *s, const struct fleet_pulses *p)
{
	struct click *c = (struct click *)s;
	struct fleet_request r = { 0 };
	int err = click_check_cluster(c);

	if (err)
		return err;
	err = ask(c, &r, sql_insert(p));
	if (err && click_is_new(&r) && !click_tell_all(c, sql_schema)) {
		view_answer_free(&r.answer);
		r = (struct fleet_request){ 0 };
		err = ask(c, &r, sql_insert(p));
	}
	if (err)
		click_say(c, &r);
	view_answer_free(&r.answer);
	return err;
}

struct old_days {
	char day[64][16];
	size_t n;
};

static void on_day(void *arg, const struct fleet_cell *cell)
{
	struct old_days *d = arg;

	if (d->n < 64 && strlen(cell[0].text) == 10 && strspn(cell[0].text, "0123456789-") == 10)
		memcpy(d->day[d->n++], cell[0].text, 11);
}

/* What is over goes, on the host that answered: each is asked by somebody. */
static void drop_old(struct click *c)
{
	const char *table = c->at.cluster ? "pulses_local" : "pulses";
	struct old_days old = { .n = 0 };
	struct fleet_request r = { 0 };
	char *sql = NULL;

	if (asprintf(&sql,
		     "SELECT DISTINCT toString(keep) FROM gpustarve_%s WHERE keep < today()"
		     " FORMAT TabSeparated",
		     table) < 0)
		return;
	if (!ask(c, &r, sql) && r.answer.text)
		click_rows(r.answer.text, "t", on_day, &old);
	view_answer_free(&r.answer);
	for (size_t i = 0; i < old.n; i++) {
		struct fleet_request dropped = { 0 };

		if (asprintf(&sql, "ALTER TABLE gpustarve_%s DROP PARTITION '%s'", table,
			     old.day[i]) < 0)
			return;
		ask(c, &dropped, sql);
		view_answer_free(&dropped.answer);
	}
}

static void put_of_team(FILE *f, const struct fleet_pulses_query *q)
{
	if (!q->team)
		return;
	fputs(" AND tenant = ", f);
	click_put_text(f, q->team);
}

static void put_which(FILE *f, const struct fleet_pulses_query *q)
{
	if (q->since) {
		fprintf(f, " AND heard >= toDateTime(%" PRId64 ")",
			q->since > FLEET_PULSES_AGAIN_S ? q->since - FLEET_PULSES_AGAIN_S : 0);
	} else if (q->unbilled) {
		/* Of runs alone that go on: of all runs there may be millions. */
		fputs(" AND slot != 3 AND (tenant, run) GLOBAL IN (SELECT tenant, run FROM"
		      " gpustarve_pulses WHERE slot BETWEEN 16 AND 31 AND heard >= now() -"
		      " 86400 * " VALUE(
			      FLEET_PULSES_DAYS) ") AND (tenant, run) GLOBAL NOT IN"
						 " (SELECT tenant, run FROM gpustarve_runs WHERE (tenant, run) GLOBAL IN"
						 " (SELECT tenant, run FROM gpustarve_pulses WHERE slot BETWEEN 16 AND 31"
						 " AND heard >= now() - 86400 * " VALUE(
							 FLEET_PULSES_DAYS) "))",
		      f);
	} else if (q->run) {
		fputs(" AND run = ", f);
		click_put_text(f, q->run);
	} else {
		fputs(" AND (tenant, run) GLOBAL IN (SELECT tenant, run FROM gpustarve_pulses"
		      " WHERE ",
		      f);
		fputs(q->newest ? "slot != 3" : "heard >= now() - " VALUE(FLEET_PULSES_BACK_S), f);
		put_of_team(f, q);
		fputs(q->newest ? " ORDER BY heard DESC LIMIT 1)" : ")", f);
	}
}

static char *sql_read(const struct fleet_pulses_query *q)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	fputs("SELECT tenant, run, stream, toInt64(slot), rank, greatest(" NOW " - " HEARD
	      ", 0), frame FROM gpustarve_pulses WHERE 1",
	      f);
	put_of_team(f, q);
	put_which(f, q);
	fputs(" FORMAT TabSeparated", f);
	return click_sql_end(f, &sql);
}

struct reading {
	struct fleet_pulses *p;
	int err;
};

static void on_row(void *arg, const struct fleet_cell *cell)
{
	struct reading *to = arg;
	struct live_row r = { .slot = (uint32_t)cell[3].i,
			      .rank = (int64_t)cell[4].i,
			      .age_s = (int64_t)cell[5].i,
			      .hex = cell[6].text,
			      .digits = strlen(cell[6].text) };

	if (to->err || strlen(cell[0].text) >= sizeof(r.team) ||
	    strlen(cell[1].text) >= sizeof(r.run) || strlen(cell[2].text) >= sizeof(r.stream))
		return;
	memcpy(r.team, cell[0].text, strlen(cell[0].text));
	memcpy(r.run, cell[1].text, strlen(cell[1].text));
	memcpy(r.stream, cell[2].text, strlen(cell[2].text));
	to->err = fleet_pulses_add(to->p, &r);
}

static void on_mark(void *arg, const struct fleet_cell *cell)
{
	*(int64_t *)arg = (int64_t)cell[0].i;
}

/* A table that nobody has made yet is an empty one. */
static int read_rows(struct click *c, char *sql, const char *kinds,
		     void (*on)(void *arg, const struct fleet_cell *cell), void *arg)
{
	struct fleet_request r = { 0 };
	int err = ask(c, &r, sql);

	if (!err && r.answer.text)
		err = click_rows(r.answer.text, kinds, on, arg);
	else if (err && click_is_new(&r))
		err = 0;
	else if (err)
		click_say(c, &r);
	view_answer_free(&r.answer);
	return err;
}

/* The server's clock, which it has before there is any database of ours. */
static int read_clock(struct click *c, int64_t *mark)
{
	struct fleet_request r = { 0 };
	char sql[] = "SELECT " NOW " FORMAT TabSeparated";
	int err = click_ask_server(c, &r, sql);

	if (!err && r.answer.text)
		err = click_rows(r.answer.text, "i", on_mark, mark);
	view_answer_free(&r.answer);
	return err;
}

int click_read_pulses(struct fleet_store *s, const struct fleet_pulses_query *q,
		      struct fleet_pulses *p)
{
	struct click *c = (struct click *)s;
	struct reading to = { .p = p };
	int err = click_check_cluster(c);

	p->mark = 0;
	if (!err)
		err = read_clock(c, &p->mark);
	if (!err)
		err = read_rows(c, sql_read(q), "tttiiit", on_row, &to);
	if (!err && !to.err && p->mark % SWEEP_S < SWEEP_FOR_S && !q->run && !q->newest &&
	    !q->unbilled)
		drop_old(c);
	return err ? err : to.err;
}
