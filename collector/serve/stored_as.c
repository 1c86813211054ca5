/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RUN.gst/.run-node says whose run.json the run's is.
 */
#include "stored_as.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/files.h"
#include "live/fired.h"

#define OWNER_FILE ".run-node"
#define NODE_BYTES 128

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
static int run_json(const char *dir, const char *node, bool claim, char *out, size_t room)
{
	char path[PATH_MAX];
	uint8_t *owner;
	size_t len;
	int err;

	snprintf(out, room, "run.json");
	if (snprintf(path, sizeof(path), "%s/" OWNER_FILE, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = coll_file_read(path, NODE_BYTES, &owner, &len);
	if (err == -ENOENT)
		return claim ? coll_file_replace(dir, OWNER_FILE, node, strlen(node)) : 0;
	if (err)
		return err;
	if (strcmp((char *)owner, node))
		snprintf(out, room, "exit-node-%s.json", node);
	free(owner);
	return 0;
}

int coll_stored_as(const struct coll_http_request *r, const char *dir, const char *name, bool claim,
		   char *out, size_t room)
{
	char node[NODE_BYTES];

	node_of(r, node);
	if (!strcmp(name, "run.json"))
		return run_json(dir, node, claim, out, room);
	if (!strcmp(name, LIVE_FIRED_FILE))
		snprintf(out, room, LIVE_FIRED_OTHERS "-%s.jsonl", *node ? node : "unknown");
	else
		snprintf(out, room, "%s", name);
	return 0;
}
