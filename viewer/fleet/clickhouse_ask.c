/* SPDX-License-Identifier: Apache-2.0 */
/* Statements over HTTP, to the first host that answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "clickhouse_priv.h"

#define TIMEOUT_S 300L
#define NO_SUCH_COLUMN 8
#define NOT_FOUND_COLUMN 10
#define DUPLICATE_COLUMN 15
#define NO_COLUMN_IN_TABLE 16
#define COLUMN_IS_THERE 44
#define UNKNOWN_NAME 47
#define UNKNOWN_TABLE 60
#define UNKNOWN_DATABASE 81
#define UNKNOWN_FIELD 117

/*
 * However much is grouped or sorted, the server keeps no more of it in memory, and puts the rest on
 * its disk meanwhile: seven times as slowly (docs/MEASUREMENTS.md, 10), so that what the groups of
 * a large site take, 325 MB, is below it.
 */
#define SPILL \
	"&max_bytes_before_external_group_by=402653184&max_bytes_before_external_sort=268435456"

static struct fleet_http_options http_options(const struct click *c)
{
	return (struct fleet_http_options){ .user = c->at.user,
					    .password = c->at.password,
					    .ca = c->at.ca,
					    .timeout_s = TIMEOUT_S };
}

/*
 * Waiting for the whole answer makes the status tell of errors that come late. Of replicas the same
 * one is asked and written to while it is there, so that what was written is told.
 */
static char *url_of(const struct click *c, size_t host, bool database, bool partial)
{
	char *url;

	if (asprintf(&url, "%s/?wait_end_of_query=1&insert_distributed_sync=1" SPILL "%s%s%s%s%s",
		     c->at.host[host], database ? "&database=" : "", database ? c->at.database : "",
		     partial ? "&skip_unavailable_shards=1" : "",
		     c->forgets ? "&" CLICK_FORGET "=0" : "",
		     c->has_replicas ? "&load_balancing=in_order"
				       "&max_replica_delay_for_distributed_queries=2"
				     : "") < 0)
		return NULL;
	return url;
}

int click_code(const struct fleet_request *r)
{
	const char *at =
		r->status != 200 && r->answer.text ? strstr(r->answer.text, "Code: ") : NULL;

	return at ? atoi(at + 6) : 0;
}

static int meaning(const struct fleet_request *r)
{
	if (r->failed)
		return r->failed;
	if (!r->status)
		return -EHOSTUNREACH;
	if (r->status == 200)
		return 0;
	return r->status == 401 || r->status == 403 ? -EACCES : -EREMOTEIO;
}

bool click_is_new(const struct fleet_request *r)
{
	int code = click_code(r);

	return code == UNKNOWN_TABLE || code == UNKNOWN_DATABASE;
}

/* It lacks a column: a version before this one made the table, or a shard's. */
static bool is_old(const struct fleet_request *r)
{
	static const int codes[] = { NO_SUCH_COLUMN, NOT_FOUND_COLUMN, NO_COLUMN_IN_TABLE,
				     UNKNOWN_NAME, UNKNOWN_FIELD };
	int code = click_code(r);

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (code == codes[i])
			return true;
	return false;
}

void click_say(const struct click *c, const struct fleet_request *r)
{
	char line[300] = "";

	if (!r->status) {
		view_error("%s: %s%s", c->at.host[c->alive], r->why[0] ? r->why : "no answer",
			   r->failed ? "" : "; start it, or see gpustarve-fleet(1)");
		return;
	}
	if (r->answer.text)
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(r->answer.text, "\n"),
			 r->answer.text);
	view_error("%s: HTTP %d: %s; %s", c->at.host[c->alive], r->status, line,
		   click_is_new(r) ? "nothing is stored there yet" : "see gpustarve-fleet(1)");
}

static void forget(struct fleet_request *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		view_answer_free(&r[i].answer);
}

static int ask_host(struct click *c, size_t host, struct fleet_request *r, size_t n,
		    char *const *sql, bool database, bool partial)
{
	const struct fleet_http_options o = http_options(c);
	char *url = url_of(c, host, database, partial);

	if (!url)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		r[i] = (struct fleet_request){ .url = url,
					       .body = sql[i],
					       .body_len = strlen(sql[i]) };
	int err = fleet_http_post(&o, r, n);
	free(url);
	for (size_t i = 0; i < n; i++)
		r[i].url = NULL;
	return err;
}

/* The first that is not well. */
static int judge(const struct fleet_request *r, size_t n, size_t *bad)
{
	for (*bad = 0; *bad < n; (*bad)++)
		if (meaning(&r[*bad]))
			return meaning(&r[*bad]);
	return 0;
}

static int ask(struct click *c, struct fleet_request *r, size_t n, char *const *sql, bool database,
	       bool partial, enum click_way way)
{
	int err = -EHOSTUNREACH;
	size_t bad = 0;

	for (size_t i = 0; i < c->at.hosts && err == -EHOSTUNREACH; i++) {
		size_t host = (c->alive + i) % c->at.hosts;

		if (i)
			forget(r, n);
		err = ask_host(c, host, r, n, sql, database, partial);
		if (err)
			break;
		err = judge(r, n, &bad);
		if (err != -EHOSTUNREACH)
			c->alive = host;
	}
	if (err && way == CLICK_LOUD)
		click_say(c, &r[bad < n ? bad : 0]);
	return err;
}

int click_ask(struct click *c, struct fleet_request *r, size_t n, char *const *sql, bool partial,
	      enum click_way way)
{
	return ask(c, r, n, sql, true, partial, way);
}

int click_ask_server(struct click *c, struct fleet_request *r, char *sql)
{
	return ask(c, r, 1, &sql, false, false, CLICK_LOUD);
}

static void say_of(struct click *c, size_t host, const struct fleet_request *r)
{
	size_t alive = c->alive;

	c->alive = host;
	click_say(c, r);
	c->alive = alive;
}

static bool is_there_already(const struct fleet_request *r)
{
	return click_code(r) == COLUMN_IS_THERE || click_code(r) == DUPLICATE_COLUMN;
}

/* The statements of one host, up to the first that fails. 0 or negative errno, said. */
static int tell_host(struct click *c, size_t host,
		     char *(*sql_of)(const struct click *c, size_t statement))
{
	int err = 0;
	char *sql;

	for (size_t i = 0; !err && (sql = sql_of(c, i)) != NULL; i++) {
		struct fleet_request r = { 0 };

		err = ask_host(c, host, &r, 1, &sql, false, false);
		err = err ? err : meaning(&r);
		if (is_there_already(&r))
			err = 0;
		if (err && err != -EHOSTUNREACH)
			say_of(c, host, &r);
		view_answer_free(&r.answer);
		free(sql);
	}
	return err;
}

int click_tell_all(struct click *c, char *(*sql_of)(const struct click *c, size_t statement))
{
	int err = 0;

	for (size_t h = 0; h < c->at.hosts; h++) {
		int failed = tell_host(c, h, sql_of);

		if (failed != -EHOSTUNREACH && !err)
			err = failed;
	}
	return err;
}

/* Whether a table of this host lacks what was added. A host that does not say is none that does. */
static bool lacks(struct click *c, size_t host, const char *table)
{
	struct fleet_request r = { 0 };
	char *sql = click_sql_lacks(c, table);
	bool it_does = sql && !ask_host(c, host, &r, 1, &sql, false, false) && !meaning(&r) &&
		       r.answer.text && strtoull(r.answer.text, NULL, 10) != 0;

	view_answer_free(&r.answer);
	free(sql);
	return it_does;
}

/*
 * Rows go into tables of before, which is how they would stay: each host is asked, once. What fails
 * was said, and is tried by whoever writes next.
 */
static void upgrade_hosts(struct click *c)
{
	if (c->is_upgraded)
		return;
	c->is_upgraded = true;
	for (size_t h = 0; h < c->at.hosts; h++)
		if (lacks(c, h, "gpustarve_runs") ||
		    (c->at.cluster && lacks(c, h, "gpustarve_runs_local")))
			tell_host(c, h, click_sql_upgrade);
}

int click_insert(struct click *c, const char *rows, size_t len)
{
	char *insert = click_sql_insert(), *sql = NULL;
	struct fleet_request r = { 0 };
	int err = insert && asprintf(&sql, "%s%.*s", insert, (int)len, rows) >= 0 ? 0 : -ENOMEM;

	for (int tries = 0; tries < 2 && !err; tries++) {
		view_answer_free(&r.answer);
		r = (struct fleet_request){ 0 };
		err = click_ask(c, &r, 1, &sql, false, CLICK_QUIET);
		bool old = is_old(&r);
		if (!err || (!click_is_new(&r) && !old) || tries)
			break;
		if (c->at.cluster && !c->cluster_fits)
			break; /* which tables it needs is not known */
		err = click_tell_all(c, old ? click_sql_upgrade : click_sql_schema);
	}
	if (err && err != -EHOSTUNREACH)
		click_say(c, &r);
	if (!err)
		upgrade_hosts(c);
	view_answer_free(&r.answer);
	free(insert);
	free(sql);
	return err;
}

static int ask_rows(struct click *c, char *sql, bool partial, enum click_way way,
		    const char *columns, void (*on_row)(void *arg, const struct fleet_cell *cell),
		    void *arg)
{
	struct fleet_request r = { 0 };
	int err = sql ? click_ask(c, &r, 1, &sql, partial, way) : -ENOMEM;

	if (!err && r.answer.text)
		err = click_rows(r.answer.text, columns, on_row, arg);
	view_answer_free(&r.answer);
	free(sql);
	return err;
}

int click_ask_rows(struct click *c, const char *sql, bool partial, const char *columns,
		   void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg)
{
	return ask_rows(c, strdup(sql), partial, CLICK_LOUD, columns, on_row, arg);
}

int click_ask_quiet(struct click *c, char *sql, const char *columns,
		    void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg)
{
	return ask_rows(c, sql, false, CLICK_QUIET, columns, on_row, arg);
}

int click_ask_number(struct click *c, char *sql, bool partial, int64_t *number)
{
	*number = 0;
	return ask_rows(c, sql, partial, CLICK_LOUD, "i", click_on_number, number);
}
