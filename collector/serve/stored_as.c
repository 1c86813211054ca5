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
#include "store/side.h"

/* Whether @dir's run.json is that of @node; with @claim it becomes so where it is nobody's. */
static int owns(const char *dir, const char *node, bool claim, bool *own)
{
	char path[PATH_MAX];
	uint8_t *owner;
	size_t len;
	int err;

	*own = true;
	if (snprintf(path, sizeof(path), "%s/" COLL_SIDE_OWNER, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = coll_file_read(path, COLL_SIDE_NODE_BYTES, &owner, &len);
	if (err == -ENOENT)
		return claim ? coll_file_replace(dir, COLL_SIDE_OWNER, node, strlen(node)) : 0;
	if (err)
		return err;
	*own = !strcmp((char *)owner, node);
	free(owner);
	return 0;
}

int coll_stored_as(const struct coll_http_request *r, const char *dir, const char *name, bool claim,
		   char *out, size_t room)
{
	char node[COLL_SIDE_NODE_BYTES];
	bool own = true;
	int err = 0;

	coll_side_node(node, coll_http_asked(r, "Gpustarve-Node"));
	if (!strcmp(name, "run.json"))
		err = owns(dir, node, claim, &own);
	coll_side_name(out, room, name, node, own);
	return err;
}
