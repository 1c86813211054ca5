/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side files on their way to the centre, one at a time.
 */
#include "side_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "forward.h"

static bool is_answer(const struct coll_answer *a, long status, const char *text)
{
	return !a->trouble && a->status == status && a->len == strlen(text) &&
	       !memcmp(a->bytes, text, a->len);
}

/* The centre has it as it was read, or will never take it. */
static void settled(struct coll_upstream *u)
{
	coll_out_hold_end(&u->side.run->sides);
	u->side.file->sent_mtime_ns = u->side.mtime_ns;
	u->side.file->sent_size = u->side.size;
	coll_out_file_sent(u->side.run, u->side.file, 0);
	coll_backoff_succeeded(&u->backoff);
}

/*
 * What is there is not what ours was to take the place of: after a start of ours its tag is not
 * known, or a copy that was late came before. Each sends what it has from the file as it is now, so
 * ours is the newer one.
 */
static void other_is_there(struct coll_upstream *u, const struct coll_answer *a)
{
	snprintf(u->side.file->tag, sizeof(u->side.file->tag), "%s", a->tag);
	if (u->side.file->conflicts++)
		coll_out_hold_longer(&u->side.run->sides); /* others send the same file, too */
	coll_backoff_succeeded(&u->backoff);
}

static void damaged(struct coll_upstream *u, const struct coll_answer *a)
{
	coll_note("%s/%s: %s answers 400: %.*s", u->side.run->dir, u->side.file->name, u->box.to,
		  (int)strcspn((const char *)a->bytes, "\r\n"), (const char *)a->bytes);
	coll_out_hold_longer(&u->side.run->sides);
	coll_backoff_succeeded(&u->backoff);
}

static void not_stored(struct coll_upstream *u, const struct coll_answer *a)
{
	if (!a->trouble && a->status != 401 && a->status != 403 && a->status != 429)
		coll_out_hold_longer(&u->side.run->sides);
	if (!a->trouble && a->status == 200)
		coll_backoff_failed_strangely(&u->backoff, a);
	else
		coll_backoff_failed(&u->backoff, a);
}

void coll_side_files_unsent(struct coll_upstream *u)
{
	free(u->side.bytes);
	u->side.bytes = NULL;
}

void coll_side_files_answer(struct coll_upstream *u, const struct coll_answer *a)
{
	if (is_answer(a, 200, COLL_SIDE_STORED)) {
		snprintf(u->side.file->tag, sizeof(u->side.file->tag), "%s", a->tag);
		u->side.file->conflicts = 0;
		settled(u);
	} else if (is_answer(a, 404, COLL_SIDE_NO_NAME)) {
		settled(u);
		coll_log("%s/%s: %s does not take it (%ld)", u->side.run->dir, u->side.file->name,
			 u->box.to, a->status);
	} else if (is_answer(a, 412, COLL_SIDE_OTHER)) {
		other_is_there(u, a);
	} else if (!a->trouble && a->status == 400 && a->damaged) {
		damaged(u, a);
	} else {
		not_stored(u, a);
	}
	coll_side_files_unsent(u);
}

/* What the centre is to compare, and the sum of it all. */
static bool set_headers(struct coll_upstream *u, struct coll_request *r)
{
	const char *tag = u->side.file->tag;
	struct coll_side s = { .run = u->side.run->name,
			       .name = u->side.file->name,
			       .node = u->node,
			       .condition = *tag ? tag : COLL_SIDE_NOTHING,
			       .bytes = u->side.bytes,
			       .len = u->side.len };
	char hex[COLL_SIDE_DIGEST_BYTES];

	if (!coll_side_digest(hex, &s))
		return false;
	snprintf(u->side.digest, sizeof(u->side.digest), COLL_SIDE_DIGEST ": %s", hex);
	snprintf(u->side.condition, sizeof(u->side.condition), "%s: %s",
		 *tag ? "If-Match" : "If-None-Match", s.condition);
	u->side.headers[0] = u->side.digest;
	u->side.headers[1] = u->side.condition;
	u->side.headers[2] = NULL;
	r->headers = u->side.headers;
	return true;
}

/* The file is sent as it was read, whatever happens to it meanwhile. */
static bool read_file(struct coll_upstream *u, struct coll_out_run *run, struct coll_out_file *f)
{
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
	return true;
}

/* What was read just now may be younger than the last look at the run, and its frames, too. */
static bool is_as_seen(const struct coll_out_run *run, const struct coll_out_file *f)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", run->dir, f->name);
	return !lstat(path, &st) && coll_timespec_ns(st.st_mtim) == f->mtime_ns &&
	       (uint64_t)st.st_size == f->size;
}

static bool is_end_of_job(const struct coll_upstream *u, const struct coll_out_run *run,
			  const struct coll_out_file *f)
{
	return coll_job_dir_is(run->name) && coll_side_is_allocation(f->name) &&
	       coll_side_alloc_has_end(u->side.bytes, u->side.len);
}

/* Of a job, frames of its runs here. */
static bool frames_left(const struct coll_upstream *u, const struct coll_out_run *run,
			const struct coll_out_file *f)
{
	const struct coll_out_run *of;

	if (!coll_job_dir_is(run->name))
		return coll_outbox_frames_left(&u->box, run, f);
	for (of = u->box.runs; of; of = of->next)
		if (coll_job_has_run(run->name, of->name) &&
		    coll_outbox_frames_left(&u->box, of, f))
			return true;
	return false;
}

/*
 * Where others read runs as they lie there, what says that a process, the run or its job has ended
 * comes behind the frames: who asks for them in long pieces is such a centre (gather.h).
 */
static bool is_early(struct coll_upstream *u, const struct coll_out_run *run,
		     const struct coll_out_file *f)
{
	bool ends = coll_side_tells_end(f->name, u->side.bytes, u->side.len) ||
		    is_end_of_job(u, run, f);

	if (!u->gather.bytes || !ends || (is_as_seen(run, f) && !frames_left(u, run, f)))
		return false;
	coll_side_files_unsent(u);
	u->gather.urgent = true;
	return true;
}

static bool may_send(struct coll_upstream *u, struct coll_out_run *run)
{
	return coll_forward_may(u, &run->sides) && coll_out_run_is_sure(run, &u->box.centre);
}

static bool read_next(struct coll_upstream *u)
{
	struct coll_out_run *run;
	struct coll_out_file *f;

	u->gather.urgent = false;
	for (run = u->box.runs; run; run = run->next)
		for (f = may_send(u, run) ? run->files : NULL; f; f = f->next)
			if (f->kind == COLL_OUT_SIDE && coll_out_file_pending(f) &&
			    read_file(u, run, f) && !is_early(u, run, f))
				return true;
	return false;
}

int coll_side_files_next(struct coll_upstream *u, struct coll_request *r)
{
	if (!read_next(u))
		return 0;
	r->method = "PUT";
	r->path = u->side.path;
	r->body = u->side.bytes;
	r->len = u->side.len;
	return set_headers(u, r) ? 1 : -ENOMEM;
}
