/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the ClickHouse store share. Private to them. */
#ifndef FLEET_CLICKHOUSE_PRIV_H
#define FLEET_CLICKHOUSE_PRIV_H

#include <sqlite3.h>
#include "fleet_http.h"
#include "job_rest.h"
#include "lines.h"
#include "store_priv.h"

#define CLICK_HOSTS_MAX 16

/* clickhouse://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/DATABASE[?cluster=...&...] */
struct click_address {
	char *host[CLICK_HOSTS_MAX]; /* "http://127.0.0.1:8123" */
	size_t hosts;
	char *user, *password, *database, *cluster, *outbox, *ca;
	int64_t rollup; /* rows that a part has which is summed up; 0: none is */
	char *target; /* what the outbox knows it by: hosts and database, no secret */
	bool tls;
};

/* All in @mem. 0, or -EINVAL said on stderr, without the password. */
int click_address_parse(struct click_address *a, struct base_arena *mem, const char *url);

/*
 * Parts of the table of runs whose sums are stored (clickhouse_rolled.c). They are what they were
 * when they were summed up: a part never changes.
 */
struct click_rolled {
	uint64_t gen; /* 0: there is none that holds */
	char *parts; /* their names as literals */
	uint64_t rows_since; /* of all other parts */
	/* of click_table.twice those that no job's digest holds: in all rows, in these parts */
	char *latest, *was;
};

/* What is known of the table when it is asked. */
struct click_table {
	/*
	 * Runs that have several rows, as tuples of (tenant, run); "": none has, NULL: any may.
	 * Where there are stored sums, all that these may be wrong of.
	 */
	char *twice;
	size_t twice_runs; /* where there are stored sums: how many at most */
	uint64_t lacks; /* a bit for each column that came later and is not there */
	bool has_jobs; /* digests of schedulers' jobs, which hold those of their runs */
	bool many; /* it stands for several shards */
	struct click_rolled rolled;
};

/* All parts of the table with their rows, which no insert and no merge leaves alone. */
struct click_seen {
	char parts[24], rows[24];
};

struct click {
	struct fleet_store base;
	struct base_arena mem;
	struct click_address at;
	size_t alive; /* the host that answered last */
	sqlite3 *outbox; /* NULL: opened for reading */
	bool cluster_fits; /* it was looked at, and our tables are as it needs them */
	bool has_replicas; /* its shards do */
	bool has_sent; /* whatever waited is there */
	bool is_looked_at, is_upgraded; /* its table: to be read, to be written to */
	bool forgets; /* it knows the setting that CLICK_FORGET is of */
	uint64_t lacks; /* see struct click_table */
	struct click_table table; /* of the parts @table_of */
	struct click_seen table_of;
	bool knows_table;
	struct fleet_request ready[FLEET_VIEWS]; /* fetched, not yet read */
	bool has_ready[FLEET_VIEWS];
};

/* Rows that are asked for: of @from, with the condition @among or "". */
struct click_asked {
	const struct fleet_query *q;
	const char *from, *among;
};

/* clickhouse_sql.c. Texts are allocated; NULL without memory. */
char *click_sql_view(enum fleet_view view, const struct fleet_query *q,
		     const struct click_table *t);
/*
 * Hashes of at most @most runs that may have several rows @among all, one each; and of those with
 * the hashes @of, as a list of SQL's, the tuples that do.
 */
char *click_sql_twice(const char *among, size_t most);
char *click_sql_twice_of(const char *of, const char *among);
/* All columns of the latest row of each of the runs @twice, of rows with @more; a FROM. */
char *click_sql_latest(const char *twice, const char *more, uint64_t lacks);
char *click_sql_insert(void);
void click_put_row(FILE *f, const struct fleet_digest *d); /* of JSONEachRow */
void click_put_text(FILE *f, const char *text); /* a literal of SQL, whatever it holds */

/* The rest of a job is no run, and ended in no way of a run's. */
#define CLICK_IS_RUN "(verdict != '" FLEET_NO_PROCESS "')"
#define CLICK_ENDED "if(" CLICK_IS_RUN ", ended, '" FLEET_REST_END "')"

/* clickhouse_jobs.c. One number: how many rows has_jobs is of. */
char *click_sql_jobs(uint64_t lacks);
/*
 * The runs that jobs' digests hold, (tenant, run), as rows with @more tell it: all rows of a job or
 * none. @few: these are of few jobs.
 */
char *click_sql_held(const struct click_table *t, const char *more, bool few);
char *click_sql_held_of_twice(const struct click_table *t); /* of t->twice, and of their jobs */

/* clickhouse_sums.c: views that are sums by names. A shape is one SELECT of them. */
#define CLICK_SHAPES 11
#define CLICK_FAILED CLICK_SHAPES /* of the list of runs that failed, which is none */
#define CLICK_HELD (CLICK_SHAPES + 1) /* of the runs that jobs' digests hold: no sums have them */
#define CLICK_OVER (CLICK_SHAPES + 2) /* of the lines that lie in several months */
#define CLICK_DEAREST 500 /* of these, that are kept of a team and a block of days */
#define CLICK_KEYS 10
#define CLICK_DAY_OF(ns) "intDiv(" ns ", 86400000000000)"
#define CLICK_DAY CLICK_DAY_OF("start_ns")
#define CLICK_BLOCK "32" /* days that are summed up together, too */
#define CLICK_FIRST "if(day < 0, day, intDiv(day, " CLICK_BLOCK ") * " CLICK_BLOCK ")"
#define CLICK_BEHIND "if(day < 0, day + 1, (intDiv(day, " CLICK_BLOCK ") + 1) * " CLICK_BLOCK ")"

/* What is stored and what came since, which makes the whole. A part without from is empty. */
enum click_part {
	CLICK_SINCE, /* runs with one row, which came since */
	CLICK_LATEST, /* the latest rows of runs with several */
	CLICK_WAS, /* of these what is in the stored sums: to be taken off */
	CLICK_PARTS
};
struct click_parts {
	const struct fleet_query *q;
	const struct click_table *t;
	struct click_asked of[CLICK_PARTS];
};

bool click_is_sums(enum fleet_view view);
void click_put_sums(FILE *f, enum fleet_view view, const struct click_asked *a);
void click_put_rolled_sums(FILE *f, enum fleet_view view, const struct click_parts *p);
/* A statement that stores the sums of a shape: of @a[0] and, with a from, @a[1]; and by blocks. */
void click_put_roll_sums(FILE *f, int shape, uint64_t gen, const struct click_asked a[2]);
void click_put_roll_blocks(FILE *f, int shape, uint64_t gen);
void click_put_filter(FILE *f, const struct click_asked *a, bool since);
void click_put_label(FILE *f, const char *label);
/* ARRAY JOIN of what measures are of; and all of them, each with @before and @behind. */
void click_put_line_arrays(FILE *f);
void click_put_measures(FILE *f, const char *before, const char *behind);
/* A measure of a line of a run, which has its own g_held_ns, ...; n counts the lines. */
const char *click_measure(enum fleet_measure m, char column[32]);

/*
 * clickhouse_months.c: lines that lie in one month are a view that is sums, of CLICK_MONTH;
 * FLEET_VIEW_OVER_MONTH has the others (CLICK_IS_OVER), one by one.
 */
/*
 * Months since January 1970 of a day since then. Years begin with March 1968, so that leap days are
 * last; every fourth has one up to FLEET_MONTHS_TO.
 */
#define CLICK_YEAR(day) "intDiv(4 * " day " + 2687, 1461)"
#define CLICK_DAY_OF_YEAR(day) "(" day " + 671 - intDiv(1461 * " CLICK_YEAR(day) ", 4))"
#define CLICK_MONTH_OF(day) \
	"(" CLICK_YEAR(day) " * 12 + intDiv(5 * " CLICK_DAY_OF_YEAR(day) " + 2, 153) - 22)"
#define CLICK_MONTH CLICK_MONTH_OF(CLICK_DAY)
#define CLICK_LAST_MONTH CLICK_MONTH_OF(CLICK_DAY_OF("(start_ns + greatest(wall_ns, 1) - 1)"))
/* Some span of the rest of a job does not lie within its time. One match has both numbers. */
#define CLICK_SPAN(from, wall) "extractAll(rest_spans, '\\\\[[0-9]+, " from ", " wall ", ')"
#define CLICK_IS_ASTRAY                                                                     \
	"arrayExists((f, w) -> toInt64OrZero(f) < 0 OR toInt64OrZero(f) + toInt64OrZero(w)" \
	" > wall_ns, " CLICK_SPAN("(-?[0-9]+)", "[0-9]+") ", " CLICK_SPAN("-?[0-9]+",       \
									  "([0-9]+)") ")"
/* As fleet_line_is_over. */
#define CLICK_STR(x) #x
#define CLICK_VALUE(x) CLICK_STR(x)
#define CLICK_IS_OVER                                                                               \
	"(start_ns < 0 OR start_ns >= " CLICK_VALUE(FLEET_MONTHS_TO) " OR wall_ns >= " CLICK_VALUE( \
		FLEET_MONTHS_TO) " - start_ns OR " CLICK_MONTH " != " CLICK_LAST_MONTH              \
				 " OR verdict = '" FLEET_NO_PROCESS "' AND " CLICK_IS_ASTRAY ")"
#define CLICK_SPANS "if(verdict = '" FLEET_NO_PROCESS "', rest_spans, '')"
void click_put_over(FILE *f, const struct click_asked *a);
void click_put_rolled_over(FILE *f, const struct click_parts *p);
/* A statement that stores these lines of @a[0] and, with a from, @a[1]. */
void click_put_roll_over(FILE *f, uint64_t gen, const struct click_asked a[2]);

/* Of system.parts: those of our table; and what tells one, or the table itself, from another. */
#define CLICK_OURS "active AND database = '%1$s' AND table = 'gpustarve_runs'"
#define CLICK_WHAT                                                             \
	"concat(name, ' ', toString(rows), ' ', toString(bytes_on_disk), ' '," \
	" toString(data_uncompressed_bytes))"
#define CLICK_SUMS "sums 2" /* as they are made now: another program's may be others */
#define CLICK_WHAT_TABLE "concat('table ', toString(toUInt32(metadata_modification_time)))"

/*
 * clickhouse_rolled.c: what a writer has summed up, and whoever reads takes with what came since.
 */
bool click_is_rolled(enum fleet_view view, const struct fleet_query *q,
		     const struct click_table *t);
void click_put_rolled(FILE *f, enum fleet_view view, const struct fleet_query *q,
		      const struct click_table *t);
void click_put_stored(FILE *f, int shape, const struct click_parts *p, bool since);
/* Which sums hold: gen, names of parts with blanks between, rows of all others. One row or none. */
char *click_sql_rolled(const struct click *c);
/* Takes the row. False: these are no parts' names. */
bool click_rolled_take(struct click_rolled *r, const struct fleet_cell *cell);
void click_rolled_free(struct click_rolled *r);
/* click_table.twice of @t, and of these click_rolled.latest and .was. */
char *click_sql_rolled_twice(const struct click_table *t, size_t most);
char *click_sql_rolled_latest(const struct click_table *t);
char *click_sql_rolled_was(const struct click_table *t);
/* Conditions: all runs that count, but for click_table.twice; @all, or of rows that came since. */
char *click_sql_rolled_once(const struct click_table *t, bool all);
/* Runs that count in sums of @gen; @runs: of these, "" of all. */
char *click_sql_rolled_free(uint64_t gen, const char *runs);
char *click_sql_rolled_is_there(const struct click_rolled *r); /* one number: 1, it is */

/*
 * A current server (26.9) remembers in which rows of a part a condition found nothing, and takes
 * one for another: asked with a bound that is no day, it had no latest row of a run for whoever
 * asked next. Nothing of ours is asked so often that it needs that.
 */
#define CLICK_FORGET "use_query_condition_cache"
char *click_sql_forgets(void); /* one number: 1, the server has that setting */

/* clickhouse.c: does it know CLICK_FORGET? 0 or negative errno. */
int click_check_forgets(struct click *c, bool partial);

/*
 * clickhouse_table.c. 0 or negative errno.
 *
 * c->table, of the parts that there are now: what was found of the same parts stays. @of_sums:
 * -ENOTSUP where there are none. It holds for what was read since if @holds says so; else it is
 * forgotten, for sums may be gone though the parts are the same.
 */
int click_table_find(struct click *c, bool partial, bool of_sums);
int click_table_holds(struct click *c, bool partial, bool *holds);
void click_table_forget(struct click *c); /* then any run may have several rows */
int click_find_jobs(struct click *c, bool partial, bool *has_jobs);
/* Runs with several rows @among all (a condition), as struct click_table has them. */
int click_find_twice(struct click *c, const char *among, bool partial, char **twice);
/* Which sums hold now. Quiet. */
int click_find_rolled(struct click *c, struct click_rolled *r);

/* clickhouse_roll.c: sums large parts up that are not. Quiet: without it all is as right. */
void click_roll(struct click *c);

/*
 * clickhouse_schema.c: which statements make the tables, and bring them up to date: NULL after the
 * last, errno 0.
 */
char *click_sql_schema(const struct click *c, size_t statement);
char *click_sql_database(const struct click *c); /* the first of them, and of other schemas */
char *click_sql_upgrade(const struct click *c, size_t statement);
/* One number: how many of our tables a server has that it does not copy. */
char *click_sql_alone(const struct click *c);
char *click_sql_macros(void); /* one number: 2, it says which replica of which shard it is */
/* One number: what @table lacks, as struct click_table has it; 0 also where it is not there. */
char *click_sql_lacks(const struct click *c, const char *table);
/* All columns of now, to be selected from a table that lacks some; and such rows, for a FROM. */
char *click_sql_columns(uint64_t lacks);
char *click_sql_rows(const char *table, uint64_t lacks);

/* The text that went into @f, of open_memstream(text, ...), closed; NULL: there was no memory. */
char *click_sql_end(FILE *f, char *const *text);

/* clickhouse_ask.c: statements to the first host that answers. 0; negative errno said on stderr. */
enum click_way {
	CLICK_LOUD,
	CLICK_QUIET /* errors are the caller's to say: r->why or r->answer */
};
int click_ask(struct click *c, struct fleet_request *r, size_t n, char *const *sql, bool partial,
	      enum click_way way);
/* Loud: the rows of one statement; and the number that @sql, which it frees, asks for. */
int click_ask_rows(struct click *c, const char *sql, bool partial, const char *columns,
		   void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg);
int click_ask_number(struct click *c, char *sql, bool partial, int64_t *number);
/* Quiet: the rows of @sql, which it frees. */
int click_ask_quiet(struct click *c, char *sql, const char *columns,
		    void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg);
/* of no database; loud */
int click_ask_server(struct click *c, struct fleet_request *r, char *sql);
int click_insert(struct click *c, const char *rows, size_t len); /* quiet; makes what is missing */
bool click_is_new(const struct fleet_request *r); /* it says that there is no table yet */
int click_code(const struct fleet_request *r); /* of ClickHouse's error; 0: none was told */
/*
 * The statements of sql_of, NULL after the last, on every host that is there; those that are not
 * get it when they are asked next. 0 or negative errno, said.
 */
int click_tell_all(struct click *c, char *(*sql_of)(const struct click *c, size_t statement));
void click_say(const struct click *c, const struct fleet_request *r);

/* clickhouse.c: whether our tables are as the cluster needs them. 0 or negative errno, said. */
int click_check_cluster(struct click *c);

/* clickhouse_pulses.c: as fleet_store_put_pulses and fleet_store_read_pulses. */
int click_put_pulses(struct fleet_store *s, const struct fleet_pulses *p);
int click_read_pulses(struct fleet_store *s, const struct fleet_pulses_query *q,
		      struct fleet_pulses *p);

/* clickhouse_rows.c: TabSeparated to rows of cells. 0 or -EBADMSG. Changes @text. */
int click_rows(char *text, const char *columns,
	       void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg);
/* For it: of a row of one number, into the int64_t at @arg. */
void click_on_number(void *arg, const struct fleet_cell *cell);

/* clickhouse_outbox.c */
int click_outbox_put(struct click *c, const struct fleet_digest *d, size_t n);
int click_outbox_find(struct click *c, const char *run, const char *tenant, bool found,
		      struct fleet_stored *stored);
int click_outbox_flush(struct click *c, size_t *waiting);

#endif
