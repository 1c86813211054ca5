/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that the collector reads: the token file, the limits file, run.json, what a sweep says, a
 * page's policy, routes, and untrusted text on its way into JSON, HTML and metrics. The first byte
 * says which.
 */
#include "fuzz.h"

#include <fcntl.h>
#include "base/escape.h"
#include "harness.h"
#include "retain/retention.h"
#include "retain/run_json.h"
#include "retain/run_dirs.h"
#include "serve/render_jobs.h"
#include "serve/route.h"
#include "serve/tokens.h"
#include "store/run_name.h"

#define INPUT_MAX 65536u

static void quiet(void)
{
	static bool done;
	int null = done ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0)
		return;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* libFuzzer speaks on it */
	dup2(null, STDERR_FILENO);
#endif
	close(null);
	done = true;
}

static void tokens(const char *text, size_t len)
{
	struct coll_tokens t = { .count = 0 };

	if (!coll_tokens_parse(&t, text, len, "fuzzed"))
		for (size_t i = 0; i < t.count; i++)
			if (!coll_team_name_ok(t.list[i].team) || !t.list[i].scopes)
				abort();
	coll_tokens_find(&t, text);
	coll_tokens_fini(&t);
}

static void limits(const char *text, size_t len)
{
	struct coll_limits l;
	unsigned int line;
	const char *why;

	coll_limits_init(&l);
	coll_limits_parse(&l, text, len, &line, &why);
	if (l.keep.count > COLL_KEEP_RULES_MAX || l.keep.keep_ns < 0)
		abort();
	for (unsigned int i = 0; i < l.keep.count; i++)
		if (!l.keep.rule[i].key[0] || l.keep.rule[i].keep_ns < 0)
			abort();
	coll_limits_set_pair(&l, text, &why);
}

/* Nothing that comes out may be able to end what it stands in. */
static void put(const char *text)
{
	char *json = NULL, *html = NULL, *label = NULL;
	size_t len;
	FILE *f = open_memstream(&json, &len);

	REQUIRE(f);
	base_put_quoted(f, BASE_AS_JSON_ANYWHERE, text);
	fclose(f);
	if (len < 2 || strpbrk(json, "<>&'\n") || strchr(json + 1, '"') != json + len - 1)
		abort();
	f = open_memstream(&html, &len);
	base_put(f, BASE_AS_HTML, text);
	fclose(f);
	if (strpbrk(html, "<>\"'\n"))
		abort();
	f = open_memstream(&label, &len);
	base_put_quoted(f, BASE_AS_LABEL, text);
	fclose(f);
	if (strchr(label, '\n'))
		abort();
	free(json);
	free(html);
	free(label);
}

static void labels(const char *text)
{
	struct coll_run_json l;
	int64_t status;
	const char *key, *value;

	coll_run_json_parse(&l, text);
	for (size_t i = 0; i < coll_run_json_labels(&l); i++)
		if (coll_run_json_label(&l, i, &key, &value)) {
			put(key);
			put(value);
			if (!coll_run_json_has_label(&l, key, value))
				abort();
		}
	coll_run_json_number(&l, "exit_status", &status);
	coll_run_json_fini(&l);
}

static void sweep(char *text)
{
	static struct coll_limits l;
	static struct coll_context context;
	struct coll_retention k;

	coll_retention_init(&k, "/nowhere", &l, &context);
	for (char *line; (line = strsep(&text, "\n"));)
		coll_retention_read_line(&k, line);
	coll_retention_fini(&k);
}

/* What a route takes from a path is the name of a directory entry, and of no other directory. */
static void route(const char *text)
{
	static const char *const methods[] = { "GET", "POST", "PUT", "HEAD" };
	char job[COLL_RUN_BYTES];
	struct coll_route_match m;

	for (size_t i = 0; i < 4; i++) {
		coll_route_find(&m, i & 1 ? coll_routes : coll_routes_admission, methods[i], text);
		for (size_t p = 0; m.route && p < COLL_ROUTE_PARAMS; p++)
			if (strchr(m.param[p], '/') || m.param[p][0] == '.')
				abort();
	}
	if (coll_run_dir_name_ok(text) && (strchr(text, '/') || text[0] == '.'))
		abort();
	if (coll_job_of_run(job, text) && (strchr(job, '/') || !coll_run_dir_name_ok(job)))
		abort();
}

static void policy(const char *text, size_t len)
{
	char out[1024];

	if (coll_page_policy(text, len, out, sizeof(out)) && strpbrk(out, "\r\n\"<>"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text;

	if (!len || len > INPUT_MAX)
		return 0;
	quiet();
	text = malloc(len);
	memcpy(text, data + 1, len - 1);
	text[--len] = '\0';
	switch (data[0] % 7) {
	case 0:
		tokens(text, len);
		break;
	case 1:
		limits(text, len);
		break;
	case 2:
		labels(text);
		break;
	case 3:
		sweep(text);
		break;
	case 4:
		route(text);
		break;
	case 5:
		policy(text, len);
		break;
	default:
		put(text);
		break;
	}
	free(text);
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const char *const seeds[] = {
		"\7# who\nabcdefghijklmnop1234 team read,write\n"
		"sha256:3608bca1e44ea6c4d268eb6db02260269892c0b42b86bbf1e77a6fa16c3c9282 b write\n",
		"\1# what\nquota 500G\nkeep 30d\nkeep-label team=x:90d\nkeep-label a=b:forever\nruns 7\n",
		"\2{\"labels\":{\"team\":\"x\",\"a\":1,\"b\":\"<\\u00e9\"},\"cluster\":\"c\"}",
		"\3removed - a.gst 12: why\nkept t b.gst: why\ndigest - c.gst\nteam t 5 1\ntotal 5 1 12 1\n",
		"\4/v1/runs/run-1/files/run.json",
		"\4/runs/20261122T081756Z-train-0aa6bf",
		"\5<!doctype html><meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
		"'none'; style-src 'sha256-abc='; script-src 'sha256-def+/='\">",
		"\6<b>\"'&\xc3\xa9\xe2\x80\xae\xff\\\n",
	};

	if (number >= sizeof(seeds) / sizeof(seeds[0]))
		return 0;
	*data = (uint8_t *)strdup(seeds[number]);
	return strlen(seeds[number]);
}
