/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of a team's runs, newest first: GET /v1/runs as JSON, GET /runs as a plain page, which is
 * also what / shows where there is no store of digests. Made in a process of its own; the files of
 * those alone are read that it names (retain/run_view.h).
 */
#ifndef COLL_RUN_LIST_H
#define COLL_RUN_LIST_H

#include "http.h"
#include "retain/run_index.h"

#define COLL_RUN_LIST_DEFAULT 100
#define COLL_RUN_LIST_MAX 1000
#define COLL_RUN_LIST_AFTER_BYTES 300

/* What is asked for; copied by assignment. */
struct coll_run_list {
	char base[4096], team[COLL_TEAM_BYTES];
	struct coll_run_index *index; /* as it is when it is written; NULL: none */
	unsigned int limit;
	char after
		/* "NANOSECONDS:NAME" of the last one seen; "": from the top */
		[COLL_RUN_LIST_AFTER_BYTES];
	bool page; /* HTML */
};

/* Writes it to descriptor 1. @list: struct coll_run_list. The exit status. */
int coll_run_list_write(void *list);

/* Answers with the page. */
void coll_run_list_page(struct coll_http_request *r);

#endif
