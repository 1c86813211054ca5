/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PUT /v1/runs/ID/files/NAME: the small files beside a run's streams. Kept whole in memory, replaced
 * as a whole. Names come from a short list; nothing else can be written.
 *
 * Each node of a run has a run.json of its own. The first one to come is the run's; from other nodes
 * (Gpustarve-Node) it becomes exit-node-NODE.json, of which readers take the ends of processes.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "auth.h"
#include "base/files.h"
#include "base/paths.h"
#include "http.h"
#include "node/server.h"
#include "routes.h"
#include "store/side.h"
#include "wire/buf.h"

#define OWNER_FILE ".run-node"
#define NODE_BYTES 128

static void files_begin(struct coll_http_request *r)
{
	if (!coll_side_name_ok(r->param[1])) {
		r->server->count.http_bad++;
		coll_auth_log(r, "no file of a run has that name");
		coll_http_text(r, 404, COLL_SIDE_NO_NAME);
		return;
	}
	r->own = calloc(1, sizeof(struct wire_buf));
	if (!r->own)
		coll_http_text(r, 503, "out of memory\n");
}

static void files_body(struct coll_http_request *r, const uint8_t *bytes, size_t len)
{
	if (wire_buf_append(r->own, bytes, len))
		coll_http_text(r, 503, "out of memory\n");
}

/* The node that sends, as part of a file's name; "" where it does not say. */
static void node_of(const struct coll_http_request *r, char out[NODE_BYTES])
{
	const char *node = coll_http_asked(r, "Gpustarve-Node");
	size_t i;

	for (i = 0; node && node[i] && i < NODE_BYTES - 1; i++) {
		char c = node[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '-' || (c == '.' && i);

		out[i] = good ? c : '_';
	}
	out[i] = '\0';
}

/* Under which name @node's run.json is kept. */
static int claim(const char *dir, const char *node, char *name, size_t room)
{
	char path[PATH_MAX];
	uint8_t *owner;
	size_t len;
	int err;

	snprintf(name, room, "run.json");
	if (snprintf(path, sizeof(path), "%s/" OWNER_FILE, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = coll_file_read(path, NODE_BYTES, &owner, &len);
	if (err == -ENOENT)
		return coll_file_replace(dir, OWNER_FILE, node, strlen(node));
	if (err)
		return err;
	if (strcmp((char *)owner, node))
		snprintf(name, room, "exit-node-%s.json", node);
	free(owner);
	return 0;
}

static int store(struct coll_http_request *r, const struct wire_buf *b)
{
	const struct coll_store *st = r->team->store;
	char dir[PATH_MAX], node[NODE_BYTES], name[COLL_ROUTE_PARAM_BYTES];
	int err;

	if (snprintf(dir, sizeof(dir), "%s/%s.gst", st->base, r->param[0]) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	err = coll_keeper_append(st->keeper, st->use, 0, b->len);
	if (!err)
		err = coll_mkdirs_kept(dir, 0777);
	if (err)
		return err;
	node_of(r, node);
	snprintf(name, sizeof(name), "%s", r->param[1]);
	if (!strcmp(name, "run.json"))
		err = claim(dir, node, name, sizeof(name));
	return err ? err : coll_file_replace(dir, name, b->data ? b->data : (uint8_t *)"", b->len);
}

static void files_end(struct coll_http_request *r)
{
	int err = store(r, r->own);
	bool full = err == -ENOSPC || err == -EDQUOT;

	if (!err) {
		r->server->count.files++;
		coll_http_text(r, 200, COLL_SIDE_STORED);
		return;
	}
	coll_server_trouble(r->server, r->param[0], err);
	coll_http_header(r, "Retry-After", full ? "10" : "1");
	coll_http_text(r, full ? 507 : 503, "cannot store now: %s\n", strerror(-err));
}

static void files_gone(struct coll_http_request *r)
{
	if (r->own)
		wire_buf_fini(r->own);
	free(r->own);
}

const struct coll_route coll_route_file = {
	.method = "PUT",
	.pattern = "/v1/runs/*/files/*",
	.scope = COLL_SCOPE_WRITE,
	.body_max = COLL_SIDE_MAX,
	.begin = files_begin,
	.body = files_body,
	.end = files_end,
	.gone = files_gone,
};
