/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the ClickHouse store share. Private to them. */
#ifndef FLEET_CLICKHOUSE_PRIV_H
#define FLEET_CLICKHOUSE_PRIV_H

#include <sqlite3.h>
#include "fleet_http.h"
#include "store_priv.h"

#define CLICK_HOSTS_MAX 16

/* clickhouse://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/DATABASE[?cluster=...&...] */
struct click_address {
	char *host[CLICK_HOSTS_MAX]; /* "http://127.0.0.1:8123" */
	size_t hosts;
	char *user, *password, *database, *cluster, *outbox, *ca;
	char *target; /* what the outbox knows it by: hosts and database, no secret */
	bool tls;
};

/* All in @mem. 0, or -EINVAL said on stderr, without the password. */
int click_address_parse(struct click_address *a, struct base_arena *mem, const char *url);

struct click {
	struct fleet_store base;
	struct base_arena mem;
	struct click_address at;
	size_t alive; /* the host that answered last */
	sqlite3 *outbox; /* NULL: opened for reading */
	bool cluster_fits; /* it was looked at, and our tables are as it needs them */
	bool has_replicas; /* its shards do */
	bool is_looked_at, is_upgraded; /* its table: to be read, to be written to */
	uint64_t lacks; /* see struct click_table */
	struct fleet_request ready[FLEET_VIEWS]; /* fetched, not yet read */
	bool has_ready[FLEET_VIEWS];
};

/* What is known of the table when it is asked. */
struct click_table {
	/* runs that have several rows, as tuples of (tenant, run); "": none has, NULL: any may */
	char *twice;
	uint64_t lacks; /* a bit for each column that came later and is not there */
	bool has_jobs; /* digests of schedulers' jobs, which hold those of their runs */
	bool many; /* it stands for several shards */
};

/* clickhouse_sql.c. Texts are allocated; NULL without memory. */
char *click_sql_view(enum fleet_view view, const struct fleet_query *q,
		     const struct click_table *t);
/* One number: how many rows has_jobs is of. */
char *click_sql_jobs(uint64_t lacks);
/*
 * Hashes of at most @most runs that may have several rows, one each; and of those with the hashes
 * @of, as a list of SQL's, the tuples that do.
 */
char *click_sql_twice(size_t most);
char *click_sql_twice_of(const char *of);
char *click_sql_insert(void);
void click_put_row(FILE *f, const struct fleet_digest *d); /* of JSONEachRow */
void click_put_text(FILE *f, const char *text); /* a literal of SQL, whatever it holds */

/*
 * clickhouse_schema.c: which statements make the tables, and bring them up to date: NULL after the
 * last, errno 0.
 */
char *click_sql_schema(const struct click *c, size_t statement);
char *click_sql_upgrade(const struct click *c, size_t statement);
/* One number: how many of our tables a server has that it does not copy. */
char *click_sql_alone(const struct click *c);
char *click_sql_macros(void); /* one number: 2, it says which replica of which shard it is */
/* One number: what @table lacks, as struct click_table has it; 0 also where it is not there. */
char *click_sql_lacks(const struct click *c, const char *table);
/* All columns of now, to be selected from a table that lacks some. */
char *click_sql_columns(uint64_t lacks);

/* The text that went into @f, of open_memstream(text, ...), closed; NULL: there was no memory. */
char *click_sql_end(FILE *f, char *const *text);

/* clickhouse_ask.c: statements to the first host that answers. 0; negative errno said on stderr. */
enum click_way {
	CLICK_LOUD,
	CLICK_QUIET /* errors are the caller's to say: r->why or r->answer */
};
int click_ask(struct click *c, struct fleet_request *r, size_t n, char *const *sql, bool partial,
	      enum click_way way);
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

/* clickhouse_outbox.c */
int click_outbox_put(struct click *c, const struct fleet_digest *d, size_t n);
int click_outbox_find(struct click *c, const char *run, const char *tenant, bool found,
		      struct fleet_stored *stored);
int click_outbox_flush(struct click *c, size_t *waiting);

#endif
