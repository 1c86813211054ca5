/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Below the place runs may lie, of which the last by name is the newest as a rule; else the place
 * has other things; else nothing, and the next one above it that has something tells which part of
 * the name is wrong.
 */
#include "remote_there.h"

#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "wire/keys.h"

#define SHOWN 5u
#define RUNS_MAX 100000u /* of which the last is looked for */
#define SEGMENT_WITHIN 1000u /* keys: streams' files come soon among those of a run */

struct names {
	struct base_arena *mem;
	char *shown; /* "a/, b, c" */
	char *last; /* folder */
	size_t count;
};

static const char *fit(struct base_arena *mem, const char *name)
{
	char text[2 * OBJECTS_KEY_MAX];

	base_escape_text(text, sizeof(text), BASE_AS_TERMINAL, name);
	return base_arena_text(mem, text);
}

static int one_name(void *arg, const struct objects_seen *s)
{
	struct names *n = arg;
	size_t len = strlen(s->key);

	if (n->count++ < SHOWN)
		n->shown = base_arena_printf(n->mem, "%s%s%s", n->shown ? n->shown : "",
					     n->shown ? ", " : "", fit(n->mem, s->key));
	if (len > 1 && s->key[len - 1] == '/' && *s->key != '.')
		n->last = base_arena_copy(n->mem, s->key, len - 1);
	return 0;
}

static int one_key(void *arg, const struct objects_seen *s)
{
	*(bool *)arg |= wire_key_is_segment(s->key);
	return 0;
}

static bool is_run(struct base_arena *mem, struct objects *o, const char *name)
{
	struct objects_trouble t;
	bool run = false;
	int64_t now_s;

	objects_browse(o, base_arena_printf(mem, "%s/", name), false, SEGMENT_WITHIN, one_key, &run,
		       &now_s, &t);
	return run;
}

/* "a/b" of "a/b/c" and of "a/b/c/"; "s3://bucket" has none above it. */
static char *above(struct base_arena *mem, const char *url)
{
	size_t len = strlen(url), bucket = strlen("s3://");

	while (len > bucket && url[len - 1] == '/')
		len--;
	while (len > bucket && url[len - 1] != '/')
		len--;
	while (len > bucket && url[len - 1] == '/')
		len--;
	return len > bucket ? base_arena_copy(mem, url, len) : NULL;
}

/* Of the runs beside the one that was seen the last by name, or that one. */
static const char *last_run(struct base_arena *mem, struct objects *o, const char *below)
{
	const char *slash = strrchr(below, '/'), *last;
	int len = slash ? (int)(slash + 1 - below) : 0;
	struct names n = { .mem = mem };
	struct objects_trouble t;
	int64_t now_s;

	objects_browse(o, base_arena_printf(mem, "%.*s", len, below), true, RUNS_MAX, one_name, &n,
		       &now_s, &t);
	last = base_arena_printf(mem, "%.*s%s", len, below, n.last ? n.last : "");
	return n.last && is_run(mem, o, last) ? last : below;
}

static const char *with_runs(struct base_arena *mem, struct objects *o, const char *url,
			     const char *below)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	return base_arena_printf(
		mem, "it is not a run, but has runs below it; name one, such as %.*s/%s", (int)len,
		url, fit(mem, last_run(mem, o, below)));
}

static int look(struct objects *o, struct names *n, struct objects_trouble *t)
{
	int64_t now_s;

	return objects_browse(o, "", true, SHOWN + 1, one_name, n, &now_s, t);
}

/* "RUN.gst" is a folder's name; `gpustarve put` takes the end away. NULL: that is not it. */
static const char *without_end(struct base_arena *mem, struct objects *o, const char *url)
{
	size_t len = strlen(url), from;

	while (len && url[len - 1] == '/')
		len--;
	for (from = len; from && url[from - 1] != '/';)
		from--;
	if (len < from + 5 || strncmp(url + len - 4, ".gst", 4) != 0 ||
	    !is_run(mem, o, base_arena_copy(mem, url + from, len - 4 - from)))
		return NULL;
	return base_arena_printf(mem, "nothing lies there, but %.*s does", (int)len - 4, url);
}

/* What the place @up has, in place of what was looked for. NULL: nothing, either. */
static const char *instead(struct base_arena *mem, const char *url, const char *up, bool nearest)
{
	struct names n = { .mem = mem };
	const char *told = NULL;
	struct objects_trouble t;
	struct objects *o;

	if (objects_open(&o, up, &t))
		return NULL;
	if (look(o, &n, &t))
		told = base_arena_printf(mem, "nothing lies there; %s may not be listed: %s", up,
					 t.why);
	else if (n.count && nearest)
		told = without_end(mem, o, url);
	if (!told && n.count)
		told = base_arena_printf(mem, "nothing lies there; %s has %s%s", up, n.shown,
					 n.count > SHOWN ? " and more" : "");
	objects_close(o);
	return told;
}

static const char *without(struct base_arena *mem, const char *url)
{
	const char *told = NULL, *bucket = url + strlen("s3://");
	char *up;

	for (up = above(mem, url); up && !told; up = above(mem, up))
		told = instead(mem, url, up, strlen(up) == strlen(above(mem, url)));
	if (told)
		return told;
	return base_arena_printf(
		mem,
		"no run lies there, and nothing else in the bucket %.*s; is it the "
		"right one, in the store of AWS_ENDPOINT_URL?",
		(int)strcspn(bucket, "/"), bucket);
}

const char *view_remote_there(struct base_arena *mem, struct objects *o, const char *url,
			      const char *below)
{
	struct names n = { .mem = mem };
	struct objects_trouble t;

	if (below)
		return with_runs(mem, o, url, below);
	if (look(o, &n, &t))
		return "no run lies there";
	if (!n.count)
		return without(mem, url);
	return base_arena_printf(mem, "no run lies there, but %s%s; name s3://BUCKET/PREFIX/RUN",
				 n.shown, n.count > SHOWN ? " and more" : "");
}
