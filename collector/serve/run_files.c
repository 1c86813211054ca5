/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PUT /v1/runs/ID/files/NAME: the small files beside a run's streams, or in a job's folder. Kept
 * whole in memory, replaced as a whole. Names come from a short list; nothing else can be written.
 *
 * Who sends says what it is to take the place of (If-Match, If-None-Match: *), so that what was
 * late or comes again never takes that of what is newer; and the sum of all of it (store/side.h),
 * so that nothing that was damaged is stored. Who says neither is believed. A gateway keeps them in
 * the object store.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "auth.h"
#include "core/context.h"
#include "core/files.h"
#include "core/paths.h"
#include "epoch_header.h"
#include "gateway/put_side.h"
#include "http.h"
#include "refusal.h"
#include "retain/run_index.h"
#include "routes.h"
#include "stored_as.h"
#include "store/side.h"
#include "wire/buf.h"

struct file {
	struct wire_buf bytes;
	struct coll_put_side *put; /* at a gateway, once all of it came */
};

static void refuse_name(struct coll_http_request *r)
{
	r->count->http_bad++;
	coll_auth_log(r, "no file of a run has that name");
	coll_http_text(r, 404, COLL_SIDE_NO_NAME);
}

static void files_begin(struct coll_http_request *r)
{
	if (!coll_http_say_epoch(r))
		return;
	/* With a digest the name may have been damaged on its way: that shows at the end. */
	if (!coll_side_name_ok(r->param[1]) && !coll_http_asked(r, COLL_SIDE_DIGEST)) {
		refuse_name(r);
		return;
	}
	r->own = calloc(1, sizeof(struct file));
	if (!r->own)
		coll_http_text(r, 503, "out of memory\n");
}

static void files_body(struct coll_http_request *r, const uint8_t *bytes, size_t len)
{
	struct file *x = r->own;

	if (wire_buf_append(&x->bytes, bytes, len))
		coll_http_text(r, 503, "out of memory\n");
}

/* What it is to take the place of: a tag, COLL_SIDE_NOTHING, or "": whatever is there. */
static const char *condition_of(const struct coll_http_request *r)
{
	const char *tag = coll_http_asked(r, "If-Match");

	if (!tag && coll_http_asked(r, "If-None-Match"))
		tag = COLL_SIDE_NOTHING;
	return tag ? tag : "";
}

static struct coll_side side_of(const struct coll_http_request *r, const struct wire_buf *b)
{
	const char *node = coll_http_asked(r, "Gpustarve-Node");

	return (struct coll_side){ .run = r->param[0],
				   .name = r->param[1],
				   .node = node ? node : "",
				   .condition = condition_of(r),
				   .bytes = b->data,
				   .len = b->len };
}

/* As it was sent, as far as its sender says how that was. */
static bool is_intact(const struct coll_http_request *r, const struct wire_buf *b)
{
	const char *digest = coll_http_asked(r, COLL_SIDE_DIGEST);
	struct coll_side s = side_of(r, b);
	char hex[COLL_SIDE_DIGEST_BYTES];

	return !digest || (coll_side_digest(hex, &s) && !strcasecmp(hex, digest));
}

static void refuse_damage(struct coll_http_request *r)
{
	r->count->http_bad++;
	coll_auth_log(r, "a file of a run came damaged");
	coll_http_header(r, "Gpustarve-Damaged", "1");
	coll_http_text(r, 400, "the file is not what " COLL_SIDE_DIGEST " says\n");
}

/* "": there is none. */
static void tag_of(const char *dir, const char *name, char tag[COLL_SIDE_TAG_BYTES])
{
	char path[PATH_MAX];
	struct stat st;

	tag[0] = '\0';
	if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) &&
	    !lstat(path, &st))
		coll_side_tag(tag, &st);
}

static bool is_same(const char *dir, const char *name, const struct wire_buf *b)
{
	char path[PATH_MAX];
	uint8_t *bytes;
	size_t len;
	bool same;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
	    coll_file_read(path, COLL_SIDE_MAX, &bytes, &len))
		return false;
	same = len == b->len && (!len || !memcmp(bytes, b->data, len));
	free(bytes);
	return same;
}

/*
 * -EEXIST: something else is there than what it is to take the place of. @tag: of what is there
 * then.
 */
static int replace(const struct coll_http_request *r, const char *dir, const char *name,
		   const struct wire_buf *b, char tag[COLL_SIDE_TAG_BYTES])
{
	const char *condition = condition_of(r);
	int err;

	tag_of(dir, name, tag);
	if (is_same(dir, name, b)) /* it came again: durable, maybe, but for its name */
		return coll_folder_sync(dir);
	if (*condition && strcmp(condition, *tag ? tag : COLL_SIDE_NOTHING) != 0)
		return -EEXIST;
	err = coll_file_replace(dir, name, b->data ? b->data : (uint8_t *)"", b->len);
	tag_of(dir, name, tag);
	return err;
}

static int store(struct coll_http_request *r, const struct wire_buf *b,
		 char tag[COLL_SIDE_TAG_BYTES])
{
	const struct coll_store *st = r->team->store;
	char dir[PATH_MAX], name[COLL_ROUTE_PARAM_BYTES];
	char run[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)];
	int err;

	coll_side_directory(run, r->param[0], r->param[1]);
	if (snprintf(dir, sizeof(dir), "%s/%s", st->base, run) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	err = coll_admission_append(&st->admission, 0, b->len);
	if (!err)
		err = coll_mkdirs_kept(dir, 0777);
	if (err)
		return err;
	err = coll_stored_as(r, dir, r->param[1], true, name, sizeof(name));
	if (!err)
		err = replace(r, dir, name, b, tag);
	coll_run_index_touch(r->parts->index, dir);
	return err;
}

/* @tag: of what is there now. */
static void answer(struct coll_http_request *r, const char *tag, int err)
{
	if (*tag && (!err || err == -EEXIST))
		coll_http_header(r, "ETag", tag);
	if (!err) {
		r->count->files++;
		coll_http_text(r, 200, COLL_SIDE_STORED);
	} else if (err == -EEXIST) {
		coll_http_text(r, 412, COLL_SIDE_OTHER);
	} else {
		coll_cannot_store(r, err);
	}
}

static void is_put(struct coll_put_side *p, int err)
{
	answer(p->owner, p->tag, err);
}

static void put_far(struct coll_http_request *r, struct file *x)
{
	struct coll_side s = side_of(r, &x->bytes);

	x->put = coll_put_side_new(r->parts->gateway, r->team->name, &s, &x->bytes);
	if (x->put)
		coll_put_side_start(x->put, is_put, r);
	else
		coll_http_text(r, 503, "out of memory\n");
}

static void files_end(struct coll_http_request *r)
{
	char tag[COLL_SIDE_TAG_BYTES] = "";
	struct file *x = r->own;
	int err;

	if (!is_intact(r, &x->bytes)) {
		refuse_damage(r);
	} else if (!coll_side_name_ok(r->param[1])) {
		refuse_name(r);
	} else if (r->parts->gateway) {
		put_far(r, x);
	} else {
		err = store(r, &x->bytes, tag);
		if (err && err != -EEXIST)
			coll_context_trouble(r->parts->context, r->param[0], err);
		answer(r, tag, err);
	}
}

static void files_gone(struct coll_http_request *r)
{
	struct file *x = r->own;

	if (!x)
		return;
	coll_put_side_free(x->put);
	wire_buf_fini(&x->bytes);
	free(x);
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
