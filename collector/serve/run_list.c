/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs are asked for.
 */
#include "run_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/counters.h"
#include "render_jobs.h"
#include "routes.h"
#include "store/run_name.h"

#define PAGE_LIMIT 500 /* rows of a page */

static void request_list(struct coll_http_request *r, struct coll_run_list *list)
{
	char key[5200];
	struct coll_render what = {
		.type = list->page ? "text/html; charset=utf-8" : "application/json",
		.page = list->page,
		.work = coll_run_list_write,
		.arg = list,
		.arg_bytes = sizeof(*list),
		.key = key,
	};

	snprintf(list->base, sizeof(list->base), "%s", r->team->store->base);
	snprintf(list->team, sizeof(list->team), "%s", r->team->name);
	list->index = r->parts->index;
	snprintf(key, sizeof(key), "list %d %u %s %s", list->page, list->limit, list->after,
		 list->base);
	coll_render_jobs_ask(r->parts->render, r, &what);
}

/* 1 to COLL_RUN_LIST_MAX. */
static bool parse_limit(struct coll_run_list *list, const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;
	unsigned long v;

	if (!text)
		return true;
	if (!digits || digits > 6 || text[digits])
		return false;
	v = strtoul(text, NULL, 10);
	list->limit = (unsigned int)v;
	return v >= 1 && v <= COLL_RUN_LIST_MAX;
}

/* As `next` of an answer gave it. */
static bool parse_after(struct coll_run_list *list, const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!text)
		return true;
	if (!digits || digits > 19 || text[digits] != ':' || strlen(text) >= sizeof(list->after) ||
	    strspn(text, COLL_NAME_CHARACTERS ":") != strlen(text))
		return false;
	snprintf(list->after, sizeof(list->after), "%s", text);
	return true;
}

static void answer(struct coll_http_request *r, struct coll_run_list *list)
{
	if (parse_limit(list, coll_http_query(r, "limit")) &&
	    parse_after(list, coll_http_query(r, "after"))) {
		request_list(r, list);
		return;
	}
	r->count->http_bad++;
	coll_http_text(r, 400, "limit is from 1 to %d; after is what `next` said\n",
		       COLL_RUN_LIST_MAX);
}

void coll_run_list_page(struct coll_http_request *r)
{
	struct coll_run_list list = { .page = true, .limit = PAGE_LIMIT };

	answer(r, &list);
}

static void runs_end(struct coll_http_request *r)
{
	struct coll_run_list list = { .limit = COLL_RUN_LIST_DEFAULT };

	answer(r, &list);
}

const struct coll_route coll_route_list = {
	.method = "GET",
	.pattern = "/runs",
	.scope = COLL_SCOPE_READ,
	.end = coll_run_list_page,
	.gone = coll_render_jobs_gone,
};

const struct coll_route coll_route_runs = {
	.method = "GET",
	.pattern = "/v1/runs",
	.scope = COLL_SCOPE_READ,
	.end = runs_end,
	.gone = coll_render_jobs_gone,
};
