/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve put: a run into an object store, as segments with tables of contents (docs/FORMAT.md).
 * What is there already is left as it is, so a second call goes on where the first was ended.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/options.h"
#include "base/vec.h"
#include "cmd.h"
#include "core/log.h"
#include "put_store.h"
#include "put_stream.h"
#include "segments/piece.h"
#include "trace/newest.h"
#include "wire/keys.h"

static const char usage[] =
	"usage: gpustarve put RUN s3://BUCKET[/PREFIX] [--segment-bytes N]\n"
	"\n"
	"Copies a run directory, or each one in a folder of runs, into an object store that\n"
	"speaks S3's API, below PREFIX and the run's id; `gpustarve report s3://BUCKET/PREFIX/ID`\n"
	"and the other commands read it there. What is there already stays: a call that was\n"
	"ended is made again. Who may write, and where, comes from the AWS_* variables and\n"
	"~/.aws, as other programs have it.\n"
	"\n";

struct opts {
	uint64_t segment;
};

static bool set_segment(void *into, char *text)
{
	struct opts *o = into;
	char *end;

	errno = 0;
	o->segment = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && o->segment >= SEGMENTS_BYTES_MIN &&
	    o->segment <= SEGMENTS_BYTES_MAX)
		return true;
	view_error("put: --segment-bytes %s: not a whole number from %u to %u", text,
		   SEGMENTS_BYTES_MIN, SEGMENTS_BYTES_MAX);
	return false;
}

static const struct base_opt opt[] = {
	{ "segment-bytes", 0, "N", "size of the objects (33554432), at most 67108864",
	  .take = set_segment },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_put_options = {
	.command = "put",
	.usage = usage,
	.column = 21,
	.opt = opt,
	.tail = "\n"
		"  gpustarve put gpustarve-runs/20261109-140211-train-4f2a.gst s3://traces/vision\n",
	.error = view_error,
};

struct put {
	struct put_store store;
	const char *dir;
	uint64_t segment; /* bytes */
	char **name; /* of the files that are put, in their order */
	size_t names, room;
};

static bool is_stream(const char *name)
{
	size_t n = strlen(name);

	return (n > 4 && !strcmp(name + n - 4, ".gst")) ||
	       (n > 6 && !strcmp(name + n - 6, ".spool"));
}

static int name_order(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int last = !strcmp(x, "run.json") - !strcmp(y, "run.json");

	return last ? last : strcmp(x, y);
}

/* Streams and small files by name, and run.json last: where it is, all is. */
static int list(struct put *p)
{
	DIR *d = opendir(p->dir);
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		if (!is_stream(e->d_name) && !wire_key_is_small(e->d_name))
			continue;
		if (!base_vec_more(p->name, p->names, p->room))
			err = -ENOMEM;
		else
			p->name[p->names++] = base_arena_text(&p->store.mem, e->d_name);
	}
	closedir(d);
	if (p->names)
		qsort(p->name, p->names, sizeof(*p->name), name_order);
	return err;
}

/* A stream's files begin with its id; a spool's has a number behind it. */
static bool is_ours(const struct put *p, const char *segment)
{
	size_t len = strcspn(segment, "./");

	for (size_t i = 0; i < p->names; i++)
		if (is_stream(p->name[i]) && strcspn(p->name[i], ".") == len &&
		    !memcmp(p->name[i], segment, len))
			return true;
	return false;
}

/* Segments of streams that this run has not: the name is another one's. */
static int nobody_else_is_there(struct put *p)
{
	struct put_store *s = &p->store;
	size_t skip = strlen(s->run) + 1;
	int err = view_put_look(s);

	for (size_t i = 0; i < s->theres && !err; i++) {
		const char *key = s->there[i].key + skip;

		if (!wire_key_is_segment(key) || is_ours(p, key))
			continue;
		snprintf(s->trouble.why, sizeof(s->trouble.why),
			 "another run of that name lies there");
		err = view_put_trouble(s, s->there[i].key, -EEXIST);
	}
	return err;
}

static const char *path_of(struct put *p, const char *name)
{
	return base_arena_printf(&p->store.mem, "%s/%s", p->dir, name);
}

static int put_all(struct put *p)
{
	int err = list(p);
	size_t streams = 0;

	if (err)
		return view_put_trouble(&p->store, p->dir, err);
	for (size_t i = 0; i < p->names; i++)
		streams += is_stream(p->name[i]);
	if (!streams) {
		view_error("put: %s: the directory holds no trace (no .gst or .spool file)",
			   p->dir);
		return -ENODATA;
	}
	err = nobody_else_is_there(p);
	for (size_t i = 0; i < p->names && !err; i++)
		if (is_stream(p->name[i]))
			err = view_put_stream(&p->store, path_of(p, p->name[i]), p->name[i],
					      p->segment);
	if (!err)
		err = view_put_check(&p->store);
	for (size_t i = 0; i < p->names && !err; i++)
		if (!is_stream(p->name[i]))
			err = view_put_small(&p->store, path_of(p, p->name[i]), p->name[i]);
	return err;
}

/* The folder's name, as it was given, without ".gst". */
static const char *run_of(struct put *p, const char *dir)
{
	char whole[PATH_MAX], *name;
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	snprintf(whole, sizeof(whole), "/%.*s", (int)len, dir);
	name = strrchr(whole, '/') + 1;
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) {
		if (!realpath(dir, whole))
			return NULL;
		name = strrchr(whole, '/') + 1;
	}
	len = strlen(name);
	if (len > 4 && !strcmp(name + len - 4, ".gst"))
		name[len - 4] = '\0';
	return *name ? base_arena_text(&p->store.mem, name) : NULL;
}

static void tell(const struct put_store *s)
{
	size_t len = strlen(s->url);

	while (len && s->url[len - 1] == '/')
		len--;
	printf("%llu segment%s, %llu of them there already; %llu bytes sent\n"
	       "gpustarve report %.*s/%s\n",
	       (unsigned long long)s->segments, s->segments == 1 ? "" : "s",
	       (unsigned long long)s->old, (unsigned long long)s->bytes, (int)len, s->url, s->run);
}

static int put_one(const char *dir, const char *url, uint64_t segment)
{
	struct put p = { .dir = dir, .segment = segment };
	const char *run = run_of(&p, dir);
	int err =
		run ? view_put_open(&p.store, url, run) : view_put_trouble(&p.store, dir, -ENOENT);

	if (!err)
		err = put_all(&p);
	if (!err)
		tell(&p.store);
	view_put_close(&p.store);
	free(p.name);
	return err;
}

/* What holds for the next run, too. */
static bool is_of_the_store(int err)
{
	return err == -EACCES || err == -ETIMEDOUT || err == -ENOKEY || err == -EINVAL ||
	       err == -EILSEQ || err == -ENOSYS || err == -ENOENT;
}

/* Each for itself, the oldest first: one that cannot be put keeps no other. */
static int put_each(const char *base, const struct view_run_entry *run, size_t runs,
		    const char *url, uint64_t segment)
{
	size_t good = 0;
	int err = 0;

	for (size_t i = runs; i > 0 && !is_of_the_store(err); i--) {
		err = put_one(run[i - 1].path, url, segment);
		good += !err;
	}
	if (good < runs)
		view_error("put: %s: %zu of %zu runs are there; call it again for the others", base,
			   good, runs);
	return good < runs ? -EIO : 0;
}

/* A run's folder has a trace in it; one without may be a folder of runs. */
static int put(const char *dir, const char *url, uint64_t segment)
{
	struct view_run_entry *run = NULL;
	size_t runs = 0, len = strlen(dir);
	char *base = strndup(dir, len > 1 && dir[len - 1] == '/' ? len - 1 : len);
	int err;

	if (!base)
		return -ENOMEM;
	if (view_last_written(base) >= 0 || view_runs_list(base, &run, &runs))
		runs = 0;
	err = runs ? put_each(base, run, runs, url, segment) : put_one(dir, url, segment);
	view_runs_free(run, runs);
	free(base);
	return err;
}

int view_cmd_put(int argc, char **argv)
{
	struct opts o = { .segment = SEGMENTS_BYTES };
	int go = base_options_parse(&view_put_options, argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (argc - optind != 2) {
		view_error("put: a run directory and s3://BUCKET/PREFIX were expected; see "
			   "gpustarve put --help");
		return VIEW_EXIT_ERROR;
	}
	return put(argv[optind], argv[optind + 1], o.segment) ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
