/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients may use up, and how long runs are kept: from options, and from a file that is read
 * again on SIGHUP. Lines of that file are `NAME VALUE`; `#` begins a comment.
 *
 * Plain data, copied by assignment. One thread.
 */
#ifndef COLL_LIMITS_H
#define COLL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/clock.h"
#include "keep_rules.h"

#define COLL_LIMITS_FILE_MAX (256u << 10)

/* X(constant, name, kind, default, what it bounds). 0: no limit. */
#define COLL_LIMITS(X)                                                                             \
	X(CLIENTS, "clients", COUNT, 0, "connections to the Unix socket at a time")                \
	X(CLIENT_STREAMS, "client-streams", COUNT, 4096, "streams that a client may feed")         \
	X(TEAM_STREAMS, "team-streams", COUNT, 12288, "streams that a team may feed")              \
	X(STREAMS, "streams", COUNT, 16384, "streams open at a time")                              \
	X(RUNS, "runs", COUNT, 4096, "runs open at a time")                                        \
	X(CLIENT_RATE, "client-rate", SIZE, 0, "bytes a second from a client")                     \
	X(RATE, "rate", SIZE, 0, "bytes a second from all clients")                                \
	X(STREAM_SIZE, "stream-size", SIZE, 0, "bytes of a stream")                                \
	X(QUOTA, "quota", SIZE, 0, "bytes on disk of all runs")                                    \
	X(TEAM_QUOTA, "team-quota", SIZE, 0, "bytes on disk of a team's runs")                     \
	X(FREE_FLOOR, "free-floor", SIZE, 64u << 20, "bytes that stay free on the disk")           \
	X(REPORTS, "reports", COUNT, 16, "pages and summaries that wait to be made")               \
	X(DIGEST_AFTER, "digest-after", SPAN, 60 * COLL_SECOND_NS, "since a run's last write")     \
	X(LOST_AFTER, "lost-after", SPAN, 3600 * COLL_SECOND_NS, "since its last, without an end") \
	X(WORK_LEASE, "work-lease", SPAN, 120 * COLL_SECOND_NS, "of a worker that is silent")      \
	X(WORK_PAUSE, "work-pause", SPAN, 15 * COLL_SECOND_NS, "after an analysis that failed")    \
	X(WORK_TRIES, "work-tries", COUNT, 5, "analyses that fail until a run is put aside")       \
	X(STEPS_AFTER, "steps-after", SPAN, 120 * COLL_SECOND_NS,                                  \
	  "held before steps are looked at")                                                       \
	X(STEPS_SIZE, "steps-size", SIZE, 256u << 20, "of a trace whose steps are looked at")

enum coll_limit {
#define COLL_LIMIT_CONSTANT(constant, name, kind, value, what) COLL_LIMIT_##constant,
	COLL_LIMITS(COLL_LIMIT_CONSTANT)
#undef COLL_LIMIT_CONSTANT
	COLL_LIMIT_COUNT
};

struct coll_limits {
	uint64_t value[COLL_LIMIT_COUNT];
	struct coll_keep_rules keep;
};

void coll_limits_init(struct coll_limits *l);

/*
 * Sets one: NAME is a limit's, `keep` or `keep-label`. 0, or -EINVAL with the reason in @why (a
 * text of this file's).
 */
int coll_limits_set(struct coll_limits *l, const char *name, const char *value, const char **why);

/* "NAME=VALUE", as --limit takes it. */
int coll_limits_set_pair(struct coll_limits *l, const char *pair, const char **why);

/*
 * Sets all that the text says. 0, or -EINVAL with the number of the bad line in *line and *why;
 * @l may be half changed then.
 */
int coll_limits_parse(struct coll_limits *l, const char *text, size_t len, unsigned int *line,
		      const char **why);

/* The file @path over what @base says. *l is changed only if all of it is good; else logs. */
int coll_limits_load(struct coll_limits *l, const struct coll_limits *base, const char *path);

const char *coll_limit_name(enum coll_limit which);
const char *coll_limit_what(enum coll_limit which);

#endif
