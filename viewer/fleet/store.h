/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where digests are kept: one interface, two engines behind it.
 *
 *     sqlite:FILE
 *         One file in WAL mode. Writers of several processes wait for each other.
 *     clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?cluster=NAME&outbox=FILE&rollup=ROWS]
 *         Over HTTP. Every digest goes into the outbox first, an SQLite file, and leaves it once
 *         the server has taken it: a dead server or shard loses no run.
 *
 * Both answer the same views with the same columns, as rows of text and integers; all sums, orders
 * and roundings that are shown are made of these in one place (fleet.h). Rows come in any order
 * and may be summed up already or not.
 *
 * Errors are said on stderr. One thread at a time.
 */
#ifndef FLEET_STORE_H
#define FLEET_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/units.h"
#include "digest.h"
#include "pulse_table.h"

#define FLEET_STORE_MEMORY "sqlite::memory:" /* gone when it is closed */
#define FLEET_STORE_DEFAULT "sqlite:gpustarve-runs/fleet.sqlite"

/* What runs are told apart by: whose they are, then X(symbol, column, what it is called, title). */
#define FLEET_MORE_DIM_LIST(X)                       \
	X(GPU, "gpu", "gpu", "By GPU")               \
	X(MODEL, "model", "model", "By price model") \
	X(WEEK, "week", "week", "By week")           \
	X(END, "ended", "end", "By how runs ended")  \
	X(LABEL, "label", "label", "By label")

enum fleet_dim {
#define NAME(symbol, name, column, title, told) FLEET_DIM_##symbol,
#include "facts/fleet_names.def"
#define X(symbol, column, name, title) FLEET_DIM_##symbol,
	FLEET_MORE_DIM_LIST(X)
#undef X
	FLEET_DIMS
};
#define FLEET_BILL_DIMS 5
extern const enum fleet_dim fleet_bill_dims[FLEET_BILL_DIMS]; /* what a line of the bill is by */
#define FLEET_RUN_DIMS FLEET_DIM_GPU /* so many of them are columns of the run */
extern const char *const fleet_dim_columns[FLEET_DIMS];
extern const char *const fleet_dim_names[FLEET_DIMS];
extern const char *const fleet_dim_titles[FLEET_DIMS];

/* What is summed. */
enum fleet_measure {
#define MEASURE(symbol, column) FLEET_##symbol,
#include "facts/fleet_lines.def"
	FLEET_MEASURES
};
/* "" where it follows from others */
extern const char *const fleet_measure_columns[FLEET_MEASURES];

/*
 * Columns of each view: t a text, n a text or none, i an integer, s an integer that may be a sum.
 */
enum fleet_view {
	/*
	 * The dims, then the measures. A row counts by those dims that have a text, and every line
	 * of every run in one row by each dim. FLEET_BILL_DIMS come together: all or none.
	 */
	FLEET_VIEW_FACTS,
	FLEET_VIEW_CLASSES, /* class; runs, ns, usd */
	FLEET_VIEW_HOTSPOTS, /* class, place; runs, ns, usd */
	FLEET_VIEW_FIXES, /* id, title, class, place, brief; runs, ns, usd */
	FLEET_VIEW_RATES, /* gpu, model, label, source, date, nano-dollars an hour; ns, usd */
	FLEET_VIEW_WEEKS, /* team, week; usd, ns: of all weeks before until, whatever since says */
	FLEET_VIEW_FAILED, /* runs that did not end well; columns of a run, see below, and top */
	FLEET_VIEW_UNLABELLED, /* runs without fleet_query.required */
	FLEET_VIEW_COSTLY, /* runs of at least fleet_query.least_usd */
	FLEET_VIEW_RULES, /* the ledger's rules' number; runs, ns held, how many failed */
	FLEET_VIEW_DIGESTS, /* the digest as it was stored */
	FLEET_VIEW_LINES, /* each line of each run by itself: lines.h */
	/*
	 * The same of runs that cross a bound: of those that began before since and reach into the
	 * stretch, and of those that began in it and reach beyond until.
	 */
	FLEET_VIEW_CROSSING,
	/*
	 * Of the dim units_of: its name, a unit's or ""; usd of the runs with a price, and of those
	 * that told the unit their count of it, how many they are, and how many of these said at
	 * least and at most so much; of "" how many told any unit. A run is of its first line's GPU.
	 * A store may have them in lines alone: -ENOTSUP.
	 */
	FLEET_VIEW_UNITS,
	/*
	 * A month, as so many since January 1970, and the measures of all lines of runs that began
	 * within the query and that lie in that month alone; the others, FLEET_VIEW_OVER_MONTH has
	 * one by one, of all runs that began before until: the spans of the rest of a job, the
	 * line's number of 0, when its run began, for how long it went on, and its measures. Which
	 * are which says fleet_line_is_over (lines.h). A store may have them in FLEET_VIEW_LINES
	 * alone: -ENOTSUP.
	 */
	FLEET_VIEW_MONTHS,
	FLEET_VIEW_OVER_MONTH,
	FLEET_VIEWS
};
extern const char *const fleet_view_columns[FLEET_VIEWS];

/* Columns of the views of runs. */
enum fleet_run_column {
	FLEET_RUN_ID,
	FLEET_RUN_TENANT,
	FLEET_RUN_TEAM,
	FLEET_RUN_USER,
	FLEET_RUN_PROJECT,
	FLEET_RUN_END,
	FLEET_RUN_EXIT, /* decimal; "" without */
	FLEET_RUN_START,
	FLEET_RUN_HELD,
	FLEET_RUN_USD,
	FLEET_RUN_PRICED,
	FLEET_RUN_COLUMNS
};

struct fleet_cell {
	const char *text; /* NULL: none, or it is a number. Valid during the call */
	base_wide i; /* of a column 'i' within int64; of 's' from 0 to BASE_WIDE_MAX */
};

struct fleet_query {
	int64_t since_ns, until_ns; /* of a run's start; until is exclusive */
	const char *team; /* NULL: all */
	const char *kind; /* of FLEET_VIEW_LINES: of runs of that kind alone; NULL: all */
	enum fleet_dim units_of;
	const char *label; /* what FLEET_DIM_LABEL shall be; NULL: nothing */
	const char *required; /* a dim's name or a label */
	int64_t least_usd;
	size_t top; /* so many of the dearest runs that failed are enough; 0: all are wanted */
	bool partial; /* do without shards that do not answer */
};

struct fleet_store;

struct fleet_stored { /* of a run */
	char tenant[64];
	int64_t revision;
};

/*
 * Opens it for reading, or for writing as well, which makes what is missing. 0 or negative errno.
 */
int fleet_store_open(struct fleet_store **s, const char *url, bool write);
void fleet_store_close(struct fleet_store *s);

/*
 * Takes digests over. 0: they are safe. With an outbox that may mean that they wait there: how many
 * do is added to *waiting. A digest of a lower revision than the stored one changes nothing.
 */
int fleet_store_put(struct fleet_store *s, const struct fleet_digest *d, size_t n, size_t *waiting);

/*
 * What is stored of @run, or waits in the outbox: of @tenant, of whoever it is if NULL. 1: *stored
 * tells; 0: nothing is; -ENOTUNIQ: of several tenants; another negative errno: it cannot be asked
 * just now. Of a server nothing is said: what is put meets the same, and waits in the outbox.
 */
int fleet_store_find(struct fleet_store *s, const char *run, const char *tenant,
		     struct fleet_stored *stored);

/* Sends what waits in the outbox. 0 or negative errno; *waiting: what is left. */
int fleet_store_flush(struct fleet_store *s, size_t *waiting);

/* Says that these views will be asked next: what can be fetched at once is. 0 or negative errno. */
int fleet_store_prepare(struct fleet_store *s, const enum fleet_view *view, size_t n,
			const struct fleet_query *q);

int fleet_store_read(struct fleet_store *s, enum fleet_view view, const struct fleet_query *q,
		     void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg);

/* Rows of pulses, all or none of them. 0 or negative errno, said on stderr. */
int fleet_store_put_pulses(struct fleet_store *s, const struct fleet_pulses *p);

/* 0 or negative errno, said on stderr. Where nobody has put any, there are none. */
int fleet_store_read_pulses(struct fleet_store *s, const struct fleet_pulses_query *q,
			    struct fleet_pulses *p);

/* 1: @name is noted now, 0: it was before; negative errno. */
int fleet_store_note(struct fleet_store *s, const char *name, int64_t at_ns);

#endif
