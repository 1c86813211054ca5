/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /runs/ID, /v1/runs/ID/summary and /: what `gpustarve report` and `gpustarve fleet` make. A
 * team sees its own runs alone: everything is looked up in its own store's folder.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "core/clock.h"
#include "http.h"
#include "render_jobs.h"
#include "retain/run_dirs.h"
#include "routes.h"
#include "run_list.h"

#define HTML "text/html; charset=utf-8"
#define JSON "application/json"
#define FLEET_GOOD_FOR_NS (60 * COLL_SECOND_NS)

/* Names with the version, so that another one makes its own. */
static const char *const report_name = "report-" GPUSTARVE_VERSION ".html";
static const char *const summary_name = "summary-" GPUSTARVE_VERSION ".json";
static const char *const fleet_name = "fleet-" GPUSTARVE_VERSION ".html";

/* The run's directory, and how old its trace is. False: there is none, which is answered. */
static bool find_run(struct coll_http_request *r, char dir[PATH_MAX], int64_t *as_of_ns)
{
	const char *base = r->team->store->base;
	char name[COLL_ROUTE_PARAM_BYTES + 8];
	struct coll_run_dir run;
	int err;

	snprintf(name, sizeof(name), "%s.gst", r->param[0]);
	err = coll_run_dir_read(&run, base, r->team->name, name);
	if (!err && !run.trace_bytes)
		err = -ENOENT;
	*as_of_ns = run.newest_ns;
	coll_run_dir_fini(&run);
	if (!err && snprintf(dir, PATH_MAX, "%s/%s", base, name) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (err)
		coll_http_text(r, err == -ENOENT ? 404 : 503,
			       err == -ENOENT ? "there is no such run\n" : "cannot read it now\n");
	return !err;
}

static void make(struct coll_http_request *r, const char *format, const char *name,
		 const char *type)
{
	struct coll_render what = { .type = type, .page = type[0] == 't', .name = name };
	char dir[PATH_MAX];

	if (!find_run(r, dir, &what.as_of_ns))
		return;
	what.dir = dir;
	what.argv[0] = "report";
	what.argv[1] = dir;
	what.argv[2] = "--format";
	what.argv[3] = format;
	coll_render_jobs_ask(r->parts->render, r, &what);
}

static void report_end(struct coll_http_request *r)
{
	make(r, "html", report_name, HTML);
}

static void summary_end(struct coll_http_request *r)
{
	make(r, "json", summary_name, JSON);
}

static void fleet_end(struct coll_http_request *r)
{
	const char *team = r->team->name, *store = r->parts->digest_store;
	struct coll_render what = {
		.type = HTML,
		.page = true,
		.dir = r->team->store->base,
		.name = fleet_name,
		.good_for_ns = FLEET_GOOD_FOR_NS,
		.argv = { "fleet", "--store", store, "--format", "html", "--links",
			  *team ? "--team" : NULL, team },
	};

	if (!store) {
		coll_run_list_page(r);
		return;
	}
	coll_render_jobs_ask(r->parts->render, r, &what);
}

const struct coll_route coll_route_report = {
	.method = "GET",
	.pattern = "/runs/*",
	.scope = COLL_SCOPE_READ,
	.end = report_end,
	.gone = coll_render_jobs_gone,
};

const struct coll_route coll_route_summary = {
	.method = "GET",
	.pattern = "/v1/runs/*/summary",
	.scope = COLL_SCOPE_READ,
	.end = summary_end,
	.gone = coll_render_jobs_gone,
};

const struct coll_route coll_route_fleet = {
	.method = "GET",
	.pattern = "/",
	.scope = COLL_SCOPE_READ,
	.end = fleet_end,
	.gone = coll_render_jobs_gone,
};
