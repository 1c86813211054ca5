/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side files on their way to the centre, one at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/log.h"
#include "forward.h"
#include "store/side.h"

static bool says(const struct coll_answer *a, long status, const char *text)
{
	return !a->trouble && a->status == status && a->len == strlen(text) &&
	       !memcmp(a->bytes, text, a->len);
}

static void done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;
	bool stored = says(a, 200, COLL_SIDE_STORED);

	if (stored || says(a, 404, COLL_SIDE_NO_NAME)) {
		coll_release(&u->side.run->sides);
		u->side.file->sent_mtime_ns = u->side.mtime_ns;
		u->side.file->sent_size = u->side.size;
		coll_out_file_sent(u->side.run, u->side.file, 0);
		coll_pace_succeeded(&u->pace);
		if (!stored)
			coll_log("%s/%s: %s does not take it (%ld)", u->side.run->dir,
				 u->side.file->name, u->box.to, a->status);
	} else {
		if (!a->trouble && a->status != 401 && a->status != 403 && a->status != 429)
			coll_hold(&u->side.run->sides);
		if (!a->trouble && a->status == 200)
			coll_pace_failed_strangely(&u->pace, a);
		else
			coll_pace_failed(&u->pace, a);
	}
	free(u->side.bytes);
	u->side.bytes = NULL;
	if (!u->pace.failing)
		coll_forward_go(u);
}

/* The file is sent as it was read, whatever happens to it meanwhile. */
static bool send_side(struct coll_upstream *u, struct coll_out_run *run, struct coll_out_file *f)
{
	struct coll_request r = { .method = "PUT", .path = u->side.path, .done = done };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", run->dir, f->name);
	snprintf(u->side.path, sizeof(u->side.path), "/v1/runs/%s/files/%s", run->name, f->name);
	if (coll_file_read(path, COLL_SIDE_MAX, &u->side.bytes, &u->side.len)) {
		f->sent_mtime_ns = f->mtime_ns; /* gone, or too long: as it is, it cannot go */
		f->sent_size = f->size;
		return false;
	}
	u->side.run = run;
	u->side.file = f;
	u->side.mtime_ns = f->mtime_ns;
	u->side.size = f->size;
	r.body = u->side.bytes;
	r.len = u->side.len;
	if (coll_forward_start(u, &r))
		return true;
	free(u->side.bytes);
	u->side.bytes = NULL;
	return true;
}

bool coll_forward_a_side(struct coll_upstream *u)
{
	struct coll_out_run *run;
	struct coll_out_file *f;

	for (run = u->box.runs; run; run = run->next)
		for (f = coll_forward_may(u, &run->sides) ? run->files : NULL; f; f = f->next)
			if (f->kind == COLL_OUT_SIDE && coll_out_file_pending(f) &&
			    send_side(u, run, f))
				return true;
	return false;
}
