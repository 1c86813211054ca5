/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an organisation asks of its runs, as one model that text, JSON, CSV and HTML show. Made of a
 * store's rows; the same rows give the same model whatever the store.
 *
 * Of a run counts what it held within [since, until), as if that were spread evenly over it; in
 * whole, and where it began, in classes, lines, fixes, lists of runs and what runs brought forth,
 * of which a digest tells no time. Its week is that in which it began. Amounts are nano-dollars and
 * are rounded when they are shown. Runs without a price count as time and in no amount.
 */
#ifndef FLEET_FLEET_H
#define FLEET_FLEET_H

#include <stdio.h>
#include "capacity.h"
#include "currency.h"
#include "lost.h"
#include "report/text/text.h"
#include "review.h"
#include "rollup.h"
#include "savings.h"
#include "vacant.h"
#include "whole.h"

#define FLEET_SCHEMA "gpustarve.fleet/1"
#define FLEET_UNTAGGED "untagged" /* what a missing name is shown as */

/* What a table may be by, besides the dims. */
enum fleet_by {
	FLEET_BY_CLASS = FLEET_DIMS,
	FLEET_BY_LINE,
	FLEET_BY_FIX,
	FLEET_BY_COMPUTE,
	FLEET_BY_FAILED,
	FLEET_BY_BILL,
	FLEET_BY_MONTH, /* by held time, whenever the runs began */
	FLEET_BY_RUN,
	FLEET_BY_LOST,
	FLEET_BY_UNUSED, /* vacant.h */
	FLEET_BY_HOURS, /* interactive runs, by held time, hours.h */
	FLEET_BY_OFF_HOURS, /* the same overnight and at weekends, by user */
	FLEET_BY_PLAN, /* capacity.h */
	FLEET_BY_SAVINGS, /* savings.h */
	FLEET_BY_REVIEW, /* review.h */
	FLEET_BY_NOTHING, /* the overview */
	FLEET_BYS = FLEET_BY_NOTHING
};
const char *fleet_by_name(int by);

struct fleet_run {
	const char *id, *tenant, *team, *user, *project, *end, *exit;
	int64_t start_ns, held_ns, usd;
	bool priced;
};

struct fleet_runs { /* most dollars first, then most time */
	struct fleet_run *run;
	size_t runs, room; /* runs: those that are kept */
	size_t count; /* all there were */
	base_wide held_ns, usd;
};

/* A line of the bill: team, project, user, GPU, price model. Cents close; see bill.h. */
struct fleet_bill_line {
	const struct fleet_group *group;
	int64_t cents;
	int64_t quanta; /* of fleet_money_scale, closed like the cents */
};

struct fleet_bill {
	struct fleet_bill_line *line; /* by team, then most dollars first */
	size_t lines;
	base_wide total_usd, unpriced_ns;
	int64_t total_cents, untagged_cents; /* untagged: of no team */
	int64_t total_quanta, untagged_quanta; /* the same of fleet_money_scale */
};

/* A week far above what was usual; see spike.h. */
struct fleet_spike {
	const char *team; /* NULL: all of it */
	const char *week;
	base_wide usd, median_usd, mad_usd, limit_usd;
	size_t history; /* weeks before it that were looked at */
};

struct fleet_budget_state { /* see budget.h */
	const char *condition; /* as it was asked for */
	const char *team, *run, *tenant; /* run: NULL, it is a team's */
	const char *period; /* "2026-11", "2026-11-09": its Monday; "" of runs */
	bool week, running; /* it is one; it goes on now */
	base_wide usd;
	int64_t limit_usd;
	int level; /* 0, 80, 100 */
	bool told; /* now, for the first time */
};

#define FLEET_RULES_MAX 8

struct fleet_rules { /* runs whose classes the ledger's rules of one number gave */
	int64_t number;
	base_wide runs, held_ns, failed;
};

struct fleet_options {
	struct fleet_query query;
	int by;
	size_t top; /* rows of a list */
	const char *sacct, *invoice; /* files of the whole bill, whole.h; NULL: not asked for */
	const struct fleet_currency *currency; /* currency.h; NULL: dollars alone */
	const struct fleet_plan_given *plan; /* NULL: nothing is given */
	bool links; /* of the page, from runs to runs/ID beside it */
};

struct fleet {
	struct base_arena mem;
	struct fleet_options options;
	struct fleet_sums total; /* of what lies within the query */
	struct fleet_sums begun; /* of the runs that began there, whole */
	struct fleet_table dim[FLEET_DIMS]; /* FLEET_DIM_LABEL is empty unless it was asked for */
	struct fleet_table classes, hotspots, fixes, rates, bill_groups;
	/* Of the digests themselves, where it is asked for: by kind and precision. */
	struct fleet_table compute;
	struct fleet_used {
		base_wide known_ns, busy_ns, tensor_ns; /* ana_units, summed */
		base_wide dram_known_ns, dram_busy_ns, dram_ns; /* of runs that tell it */
	} used;
	/* of classes: what is provisional; NULL: nothing is */
	const struct fleet_group *not_analysed;
	struct fleet_bill bill;
	struct fleet_runs failed, unlabelled, costly;
	struct fleet_runs all; /* of --by run */
	struct fleet_table cut; /* of those by held time, with what lies within the query */
	struct fleet_sums cut_total;
	bool has_months; /* it has what the store sums up, and those that lie in several */
	struct fleet_lost_tables lost; /* of --by lost */
	struct fleet_vacant_tables vacant; /* of --by unused */
	struct fleet_plan plan; /* of --plan */
	struct fleet_savings savings; /* of --by savings, of --plan and of --by review */
	struct fleet_review review; /* of --by review */
	struct fleet_whole whole; /* of --sacct and --invoice */
	bool converted; /* amounts are of options.currency */
	bool has_units; /* some group of the table has */
	struct fleet_spike *spike;
	size_t spikes;
	struct fleet_budget_state *budget;
	size_t budgets;
	struct fleet_rules rules[FLEET_RULES_MAX]; /* the newest first */
	size_t numbers; /* of rules; what does not fit is in the last */
};

/*
 * Reads what the options ask for. 0 or negative errno, said on stderr: -EOVERFLOW where a sum is
 * above BASE_WIDE_MAX, for no bill is better than a wrong one. Free with _fini.
 */
int fleet_collect(struct fleet *f, struct fleet_store *s, const struct fleet_options *o);
void fleet_fini(struct fleet *f);

/*
 * Whether what is asked for sums classes, starved or wasted time of runs that other rules judged:
 * such sums compare nothing.
 */
bool fleet_is_mixed(const struct fleet *f);

/* Does that table count by held time, whenever runs began? */
bool fleet_is_cut(int by);
/* Is it asked for a stretch of time? */
bool fleet_is_bounded(const struct fleet *f);
/* Does what it shows count runs whole, where they began, and is that not what the head says? */
bool fleet_is_whole_runs(const struct fleet *f);
/* Does it tell what became of advice? */
bool fleet_has_savings(int by);
/* What the rows of a table by name sum to. */
const struct fleet_sums *fleet_total_of(const struct fleet *f, int by);
/* The table that --by names; rows of a group each. */
const struct fleet_table *fleet_table_of(const struct fleet *f, int by);

/* "untagged" for a name that is missing. */
const char *fleet_shown(const char *name);
/* Is it seen, not tagged? */
bool fleet_is_seen(int by);
/* By that dim: what is missing and is seen, is "unknown". */
const char *fleet_shown_by(const char *name, int by);

/* lost_out.c: of --by lost. */
struct base_jsonout;
const char *fleet_lost_words(const struct fleet *f, struct base_arena *mem);
void fleet_lost_text(const struct fleet *f, FILE *out);
void fleet_lost_json(const struct fleet *f, struct base_jsonout *j);
void fleet_lost_csv(const struct fleet *f, FILE *out);

/* vacant_out.c: of --by unused. */
const char *fleet_vacant_words(const struct fleet *f, struct base_arena *mem);
void fleet_vacant_text(const struct fleet *f, FILE *out);
void fleet_vacant_json(const struct fleet *f, struct base_jsonout *j);
void fleet_vacant_csv(const struct fleet *f, FILE *out);

void fleet_write_text(const struct fleet *f, FILE *out, const struct view_text_style *style);
/* @converted: the same in its currency; NULL: dollars alone. */
void fleet_write_json(const struct fleet *f, const struct fleet *converted, FILE *out);
void fleet_write_csv(const struct fleet *f, FILE *out);
/* Is what that writes in its currency? */
bool fleet_csv_is_converted(const struct fleet *f);
void fleet_write_html(const struct fleet *f, FILE *out);

#endif
