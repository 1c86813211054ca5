/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rest of a scheduler's job: what it was given and no run of it held. Where no two of its runs
 * had a GPU at once, the job's digest is of that alone and stands beside those of its runs, each of
 * which keeps its own name, end, labels and samples: together they are what the job held. Else, and
 * where none of its runs was recorded, a job's digest is of all of it and takes the place of its
 * runs' (digest.whole_job; sqlite_jobs.c).
 *
 * The rest tells when it was, so that months, nights and counts of GPUs held at once are right: in
 * spans, in each of which so many GPUs of a line were unused all the time. What there is no room
 * for is one with the span before it, and spread over both.
 */
#ifndef FLEET_JOB_REST_H
#define FLEET_JOB_REST_H

#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "digest.h"

/* Its verdict and its class; it is no run, and counts as none. */
#define FLEET_NO_PROCESS "no_process"
#define FLEET_REST_END "unused" /* how it ended, where runs are listed */

/* Whether the job's digest is to be of its rest. */
bool fleet_rest_is(const struct view_summary *s);

/* Fills in what is summed, and d->rest. 0 or -ENOMEM. */
int fleet_rest_make(struct fleet_digest *d, const struct view_summary *s);

/* Two spans of a line become one; how much of them does not lie as it was told then, at most. */
void fleet_rest_join(struct fleet_rest_span *to, const struct fleet_rest_span *next);
int64_t fleet_rest_blurred(const struct fleet_rest_span *a, const struct fleet_rest_span *b);

/* Members `rest_of_job_ns` and `rest_spans`. Reading: NULL, or what is wrong (static). */
void fleet_rest_put(struct base_jsonout *j, const struct fleet_digest *d);
const char *fleet_rest_read(struct fleet_digest *d, const struct base_json *root);

/* Two spans become one, and sums stay; false: there are no two of a line. */
bool fleet_rest_fold(struct fleet_digest *d);
/* Spans of line @from are of line @to, and those of later lines move up by one. */
void fleet_rest_fold_line(struct fleet_digest *d, size_t to, size_t from);

/* --- out of a stored text, from FLEET_REST_HEAD on --- */

#define FLEET_REST_HEAD "\"rest_spans\": ["
#define FLEET_REST_ROOM "2560" /* bytes that hold all spans */
/* How many it tells of line @line. */
size_t fleet_rest_spans_of(const char *text, size_t line,
			   struct fleet_rest_span span[FLEET_REST_SPANS_MAX]);
/* Does one of any line not lie within [0, @wall_ns)? */
bool fleet_rest_is_astray(const char *text, int64_t wall_ns);

#endif
