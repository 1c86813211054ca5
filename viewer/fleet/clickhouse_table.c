/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the table of runs: which have several rows, and which sums hold. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "clickhouse_priv.h"
#include "sqlite_priv.h"

#define TWICE_MOST 1000
#define TWICE_BYTES 32768 /* of such runs' names: a statement must stay below 256 KiB */

static void on_parts(void *arg, const struct fleet_cell *cell)
{
	struct click_seen *p = arg;

	fleet_tame(p->parts, sizeof(p->parts), cell[0].text);
	fleet_tame(p->rows, sizeof(p->rows), cell[1].text);
}

static char *look_sql(const struct click *c)
{
	char *sql = NULL;

	return asprintf(&sql,
			"SELECT toString(sum(cityHash64(hostName(), " CLICK_WHAT "))),"
			" toString(sum(rows)) FROM system.parts WHERE " CLICK_OURS
			" FORMAT TabSeparated",
			c->at.database) < 0
		       ? NULL
		       : sql;
}

/* The server's list of them, but for a table that stands for others' or is empty. */
static int look(struct click *c, struct click_seen *p, bool partial)
{
	char *sql = c->at.cluster ? NULL : look_sql(c);

	*p = (struct click_seen){ 0 };
	int err = sql ? click_ask_rows(c, sql, partial, "tt", on_parts, p) : 0;
	free(sql);
	if (err || (p->rows[0] && strcmp(p->rows, "0") != 0))
		return err;
	return click_ask_rows(
		c,
		"SELECT toString(sum(cityHash64(hostName(), _part))), toString(count())"
		" FROM gpustarve_runs FORMAT TabSeparated",
		partial, "tt", on_parts, p);
}

/* What a statement of SQL's literals is made of, row by row. */
struct list {
	FILE *f;
	size_t rows;
};

static void on_hash(void *arg, const struct fleet_cell *cell)
{
	struct list *l = arg;

	fputs(l->rows++ ? ", " : "", l->f);
	for (const char *p = cell[0].text; *p >= '0' && *p <= '9'; p++)
		fputc(*p, l->f);
}

static void on_twice(void *arg, const struct fleet_cell *cell)
{
	struct list *l = arg;

	fputs(l->rows++ ? ", (" : "(", l->f);
	click_put_text(l->f, cell[0].text);
	fputs(", ", l->f);
	click_put_text(l->f, cell[1].text);
	fputc(')', l->f);
}

/* The rows of @sql, which it frees, as a list of literals. *list is allocated, whatever comes. */
static int ask_list(struct click *c, char *sql, bool partial, const char *columns,
		    void (*on_row)(void *arg, const struct fleet_cell *cell), char **list,
		    size_t *rows)
{
	size_t len;
	struct list l = { .f = sql ? open_memstream(list, &len) : NULL };
	int err = l.f ? click_ask_rows(c, sql, partial, columns, on_row, &l) : -ENOMEM;

	if (l.f && fclose(l.f))
		err = -ENOMEM;
	free(sql);
	*rows = l.rows;
	return err;
}

int click_find_jobs(struct click *c, bool partial, bool *has_jobs)
{
	int64_t count;
	int err = click_ask_number(c, click_sql_jobs(c->lacks), partial, &count);

	*has_jobs = count > 0;
	return err;
}

/*
 * *twice is as click_sql_view wants it, and NULL where there are many of them. By hashes first:
 * runs that have one row, which are nearly all, come to no more than their hash at the server.
 */
int click_find_twice(struct click *c, const char *among, bool partial, char **twice)
{
	char *hashes = NULL, *runs = NULL;
	size_t n, known;
	int err =
		ask_list(c, click_sql_twice(among, TWICE_MOST), partial, "t", on_hash, &hashes, &n);

	*twice = NULL;
	if (!err && n && n < TWICE_MOST)
		err = ask_list(c, click_sql_twice_of(hashes, among), partial, "tt", on_twice, &runs,
			       &known);
	if (!err && !n)
		runs = strdup("");
	if (!err && runs && strlen(runs) < TWICE_BYTES) {
		*twice = runs;
		runs = NULL;
	}
	free(hashes);
	free(runs);
	return err;
}

/* --- sums that are stored --- */

#define SINCE_MOST 2000000 /* rows whose names are grouped in memory */

static void on_rolled(void *arg, const struct fleet_cell *cell)
{
	struct click_rolled *r = arg;

	click_rolled_free(r);
	if (!click_rolled_take(r, cell))
		click_rolled_free(r);
}

int click_find_rolled(struct click *c, struct click_rolled *r)
{
	*r = (struct click_rolled){ 0 };
	int err = click_ask_quiet(c, click_sql_rolled(c), "ttt", on_rolled, r);
	if (err)
		click_rolled_free(r);
	return err;
}

/* Which of t->twice no job's digest holds, and held when sums were stored. */
static int find_free(struct click *c, bool partial, struct click_table *t)
{
	struct click_rolled *r = &t->rolled;
	size_t n;
	int err = 0;

	if (*t->twice && t->has_jobs) {
		err = ask_list(c, click_sql_rolled_latest(t), partial, "tt", on_twice, &r->latest,
			       &n);
		return err ? err
			   : ask_list(c, click_sql_rolled_was(t), partial, "tt", on_twice, &r->was,
				      &n);
	}
	r->latest = strdup(t->twice);
	r->was = strdup(t->twice);
	return r->latest && r->was ? 0 : -ENOMEM;
}

/*
 * As find_twice, of fewer rows. No error is one: a server that has no sums, or nothing that it
 * tells of them, is asked without.
 */
static int find_rolled(struct click *c, bool partial, struct click_table *t)
{
	t->rolled = (struct click_rolled){ 0 };
	if (c->at.cluster || t->lacks || click_find_rolled(c, &t->rolled) || !t->rolled.gen)
		return 0;
	int err = t->rolled.rows_since > SINCE_MOST
			  ? 0
			  : ask_list(c, click_sql_rolled_twice(t, TWICE_MOST), partial, "tt",
				     on_twice, &t->twice, &t->twice_runs);
	if (!err && t->twice && t->twice_runs < TWICE_MOST && strlen(t->twice) < TWICE_BYTES)
		err = find_free(c, partial, t);
	else
		click_rolled_free(&t->rolled);
	if (err || !t->rolled.gen) {
		click_rolled_free(&t->rolled);
		free(t->twice);
		t->twice = NULL;
	}
	return err;
}

void click_table_forget(struct click *c)
{
	click_rolled_free(&c->table.rolled);
	free(c->table.twice);
	c->table = (struct click_table){ .lacks = c->lacks, .many = c->at.cluster != NULL };
	c->knows_table = false;
}

int click_table_find(struct click *c, bool partial, bool of_sums)
{
	struct click_seen now;
	int err = look(c, &now, partial);

	if (!err && c->knows_table && !memcmp(&now, &c->table_of, sizeof(now)))
		return of_sums && !c->table.rolled.gen ? -ENOTSUP : 0;
	click_table_forget(c);
	c->table_of = now;
	if (!err)
		err = click_find_jobs(c, partial, &c->table.has_jobs);
	if (!err)
		err = find_rolled(c, partial, &c->table);
	if (!err && !c->table.rolled.gen)
		err = of_sums ? -ENOTSUP : click_find_twice(c, "", partial, &c->table.twice);
	c->knows_table = !err;
	return err;
}

/* Old sums are taken away after their generation: what was read while that is there is whole. */
static int still_there(struct click *c, bool *holds)
{
	int64_t count = 1;
	int err = c->table.rolled.gen
			  ? click_ask_number(c, click_sql_rolled_is_there(&c->table.rolled), false,
					     &count)
			  : 0;

	*holds = !err && count > 0;
	return err;
}

int click_table_holds(struct click *c, bool partial, bool *holds)
{
	struct click_seen after = c->table_of;
	int err = c->table.twice ? look(c, &after, partial) : 0;

	*holds = !err && !memcmp(&after, &c->table_of, sizeof(after));
	if (*holds)
		err = still_there(c, holds);
	if (!*holds)
		click_table_forget(c);
	return err;
}
