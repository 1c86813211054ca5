/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that `gpustarve` or a child of ours makes: reports, summaries, the fleet's page, lists of
 * runs. Each is made by a child at low priority (core/child.h); requests for the same wait for the
 * same child, three children run at a time, of a team two at most, and the team with the fewest is
 * next. Beyond the limit `reports` of those that wait, or three quarters of it of one team,
 * requests are told to come back: nobody's reports wait for all of another's. What is made of a run
 * stays in its directory, and is given again until the run's trace grows; of a run that goes on it
 * is made anew after half a minute at the earliest.
 *
 * One thread, the loop's.
 */
#ifndef COLL_RENDER_JOBS_H
#define COLL_RENDER_JOBS_H

#include <stdint.h>
#include "core/context.h"
#include "http.h"
#include "retain/limits.h"

#define COLL_RENDER_ARGS 16
#define COLL_RENDER_OUTPUT_MAX (8u << 20)
#define COLL_RENDER_FILE_MAX (64u << 20)
#define COLL_RENDER_TIMEOUT_S 300

struct coll_render_job;

struct coll_render_jobs {
	const struct coll_limits *limits; /* borrowed, as the next */
	struct coll_context *context;
	struct coll_render_job *jobs; /* in the order of asking */
	size_t waiting, running;
	bool available; /* the program is there */
	char program[COLL_CHILD_PATH_BYTES];
};

/* What is asked for. All is copied. */
struct coll_render {
	const char *type; /* media type */
	bool page; /* HTML: its own policy for scripts becomes a header */
	const char *argv[COLL_RENDER_ARGS]; /* arguments of `gpustarve`, NULL at the end; ... */
	int (*work)(void *arg); /* ... or work of ours, whose words are the answer */
	const void *arg; /* of @arg_bytes, copied */
	size_t arg_bytes;
	/* argv: where it writes: DIR/.NAME, by way of DIR/.NAME.tmp, which is put in as `-o`. */
	const char *dir, *name;
	int64_t as_of_ns; /* realtime: what it is made of is so old; 0: not known */
	int64_t good_for_ns; /* it is given again for so long, whatever happens */
	const char *key; /* work: what makes it the same */
};

void coll_render_jobs_init(struct coll_render_jobs *m, const struct coll_limits *limits,
			   struct coll_context *context);

/* Forgets all that wait, without an answer. */
void coll_render_jobs_fini(struct coll_render_jobs *m);

/* Answers @r, now or later; to be called at its end. */
void coll_render_jobs_ask(struct coll_render_jobs *m, struct coll_http_request *r,
			  const struct coll_render *what);

/* gone() of all routes whose end() asks: @r must not be answered any more. */
void coll_render_jobs_gone(struct coll_http_request *r);

/* The Content-Security-Policy that a page names itself, for a header; false: none that is fit. */
bool coll_page_policy(const char *page, size_t len, char *out, size_t room);

#endif
