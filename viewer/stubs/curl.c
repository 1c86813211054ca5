/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In place of top/fetch.c, fleet/fleet_http.c and base/http.c where there is no libcurl to build
 * with.
 */
#include <stdio.h>
#include "core/log.h"
#include "fleet/fleet_http.h"
#include "top/fetch.h"

struct top_fetch *top_fetch_new(const char *token_file, const char *ca_file)
{
	(void)token_file;
	(void)ca_file;
	view_error("top: this gpustarve was built without libcurl and asks nobody over HTTP; "
		   "build it with libcurl4-openssl-dev");
	return NULL;
}

void top_fetch_free(struct top_fetch *f)
{
	(void)f;
}

bool top_fetch_get(struct top_fetch *f, const char *url, const char **text, size_t *len,
		   char why[256])
{
	(void)f;
	(void)url;
	(void)text;
	(void)len;
	snprintf(why, 256, "no libcurl");
	return false;
}

long top_fetch_status(const struct top_fetch *f)
{
	(void)f;
	return 0;
}

int fleet_http_post(const struct fleet_http_options *o, struct fleet_request *r, size_t n)
{
	(void)o;
	for (size_t i = 0; i < n; i++) {
		r[i].answer = (struct view_answer){ 0 };
		r[i].status = r[i].failed = 0;
		snprintf(r[i].why, sizeof(r[i].why),
			 "this gpustarve was built without libcurl; build it with "
			 "libcurl4-openssl-dev");
	}
	return 0;
}
