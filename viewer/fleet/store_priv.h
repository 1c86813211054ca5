/* SPDX-License-Identifier: Apache-2.0 */
/* What stores share. Private to the files of the stores. */
#ifndef FLEET_STORE_PRIV_H
#define FLEET_STORE_PRIV_H

#include "base/arena.h"
#include "store.h"

/* SQL: whether a run ended so is one of those that failed. */
#define FLEET_BROKE(ended) ended " NOT IN ('ok', 'unknown')"
#define FLEET_COLUMNS_MAX 64 /* of a view */

struct fleet_store_ops {
	int (*put)(struct fleet_store *s, const struct fleet_digest *d, size_t n, size_t *waiting);
	int (*find)(struct fleet_store *s, const char *run, const char *tenant,
		    struct fleet_stored *stored);
	int (*flush)(struct fleet_store *s, size_t *waiting); /* NULL: there is no outbox */
	int (*prepare)(struct fleet_store *s, const enum fleet_view *view, size_t n,
		       const struct fleet_query *q); /* NULL: nothing to gain */
	int (*read)(struct fleet_store *s, enum fleet_view view, const struct fleet_query *q,
		    void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg);
	int (*note)(struct fleet_store *s, const char *name, int64_t at_ns);
	/* fleet_store_put_pulses, and fleet_store_read_pulses without its order */
	int (*put_pulses)(struct fleet_store *s, const struct fleet_pulses *p);
	int (*read_pulses)(struct fleet_store *s, const struct fleet_pulses_query *q,
			   struct fleet_pulses *p);
	void (*close)(struct fleet_store *s);
};

struct fleet_store { /* first member of each engine's own */
	const struct fleet_store_ops *ops;
};

int fleet_sqlite_open(struct fleet_store **s, const char *file, bool write);
/*
 * The digest of a run in a store of fleet_sqlite_open. 1; 0: there is none, or of several tenants;
 * negative errno.
 */
int fleet_sqlite_digest(struct fleet_store *s, const char *run, struct fleet_digest *d);
int fleet_clickhouse_open(struct fleet_store **s, const char *url, bool write);

/* The column that @name is one of, such as "user"; NULL: it is a label. */
const char *fleet_column_of(const char *name);

#endif
