/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. Read once, before anything starts. */
#ifndef COLL_OPTIONS_H
#define COLL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "alert/conditions.h"
#include "base/options.h"
#include "gateway/gateway_options.h"
#include "kube/inject.h"
#include "relay/upstream_options.h"
#include "retain/digests.h"
#include "retain/limits.h"
#include "serve/http.h"
#include "work/work.h"

struct coll_options {
	const char *dir;
	const char *unix_path; /* NULL: none */
	bool any_user; /* may connect to it */
	int until_eof; /* descriptor, -1: none */
	int ready_fd; /* descriptor, -1: none */
	int idle_exit_s; /* -1: never */
	int grace_s;
	int silence_s; /* before the first frame, or amid one */
	bool verbose;

	struct coll_http_options http;
	struct coll_http_options admission; /* listen NULL: none */
	struct coll_inject inject;
	bool inject_given;

	/* What is kept, see retain/. */
	struct coll_limits limits; /* of the command line */
	const char *limits_file; /* over those; read again on SIGHUP. NULL: none */
	struct coll_digest_to digest;
	bool sweep, dry_run; /* one sweep instead of serving */
	struct coll_work_options work;

	struct coll_upstream_options upstream;
	struct coll_gateway_options gateway;

	struct coll_conditions conditions;
	const char *of_runs; /* the last option given that is of runs on disk; NULL: none */
	bool exec_of_budgets; /* a --budget was given after the last --alert */
};

enum coll_exit {
	COLL_EXIT_OK = 0,
	COLL_EXIT_ERROR = 1, /* usage, or it could not start */
	COLL_EXIT_TAKEN = 3, /* another collector serves that socket */
};

extern const struct base_options coll_options_table;

/* True: go on. False: end with *status (help or version was shown, or usage was wrong). */
bool coll_options_parse(struct coll_options *o, int argc, char **argv, int *status);

#endif
