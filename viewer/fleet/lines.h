/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of runs one by one: what a store's sums cannot tell, as when a run crosses the end of a
 * month. Texts are the store's, valid during the call.
 */
#ifndef FLEET_LINES_H
#define FLEET_LINES_H

#include "job_rest.h"
#include "rollup.h"

struct fleet_line_row {
	const char *run, *tenant, *name[FLEET_RUN_DIMS], *job, *end, *week, *exit;
	const char *label; /* the value of the query's */
	const char *units; /* with the first line: see units.h */
	bool first; /* of its run's lines */
	int64_t start_ns, wall_ns;
	bool run_priced;
	int64_t run_usd, run_held_ns;
	const char *gpu, *model, *price, *source, *date; /* price: what is priced */
	bool priced;
	int64_t per_hour, gpus;
	struct fleet_sums sums;
	const struct fleet_rest_span *span; /* of the rest of a job: when that was */
	size_t spans;
	bool astray; /* not all spans of its run lie within its time */
};

#define FLEET_MONTHS_TO 4102444800000000000 /* 2100 */

typedef void fleet_on_line(void *arg, const struct fleet_line_row *l);

/* Of runs within the query, in no order. 0 or negative errno, said. */
int fleet_each_line(struct fleet_store *s, const struct fleet_query *q, fleet_on_line *on_line,
		    void *arg);

/* The same of runs that cross a bound of it (FLEET_VIEW_CROSSING). */
int fleet_each_crossing(struct fleet_store *s, const struct fleet_query *q, fleet_on_line *on_line,
			void *arg);

/*
 * Of those that lie in several months, whose runs began before the query's until
 * (FLEET_VIEW_OVER_MONTH): what is cut of them, and no names.
 */
int fleet_each_over(struct fleet_store *s, const struct fleet_query *q, fleet_on_line *on_line,
		    void *arg);
/* Is it one of these? Lines beyond all calendars and spans are: whoever cuts them is as right. */
bool fleet_line_is_over(const struct fleet_line_row *l);

/* The value of one of the dims. */
const char *fleet_line_name(const struct fleet_line_row *l, enum fleet_dim d);

/*
 * The part of @whole that lies in [@from, @to) of a run that took [@start, @start + @wall), as if
 * it were spread evenly: parts of adjoining stretches sum to the whole. A run of no length lies
 * where it began.
 */
base_wide fleet_part(base_wide whole, int64_t start, int64_t wall, int64_t from, int64_t to);

/* What of a line lies in [@from, @to); runs count in each stretch that they lie in. */
void fleet_line_cut(struct fleet_sums *part, const struct fleet_line_row *l, int64_t from,
		    int64_t to);
/* Sets what does not count by time. */
void fleet_line_count(struct fleet_sums *part, const struct fleet_line_row *l);
/* When a span of its began. */
int64_t fleet_line_span_start(const struct fleet_line_row *l, size_t span);
/* When it ends, @until at the latest. */
int64_t fleet_line_end(const struct fleet_line_row *l, int64_t until);

/* The month (UTC) of a moment: "2026-11", and when the next one begins. */
void fleet_month(char out[16], int64_t unix_ns, int64_t *next_ns);

/* The name of one that is so many after January 1970. */
void fleet_month_name(char out[16], int64_t months);

/* When the month begins that is so many months after that of the moment. */
int64_t fleet_month_begin(int64_t unix_ns, int months);

/* Calls for each month that the line touches within [@since, @until), with the sums of its part. */
typedef void fleet_on_month(void *arg, const struct fleet_line_row *l, const char *month,
			    const struct fleet_sums *part, int64_t from_ns, int64_t to_ns);
void fleet_each_month(const struct fleet_line_row *l, int64_t since, int64_t until,
		      fleet_on_month *on_month, void *arg);

#endif
