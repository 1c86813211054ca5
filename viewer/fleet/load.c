/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "apart.h"
#include "core/local.h"
#include "core/log.h"
#include "base/files.h"
#include "job_age.h"
#include "summary/analyse.h"
#include "trace/runjson.h"

#define BATCH 500

static bool younger(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), e = strlen(end);

	return n >= e && !strcmp(name + n - e, end);
}

/* Has the trace grown since its summary was made, or what is known of the job? */
static bool is_stale(const char *dir, const struct timespec *made)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool stale =
		fleet_job_folder_written(dir) >= made->tv_sec * INT64_C(1000000000) + made->tv_nsec;

	while (d && !stale && (e = readdir(d)) != NULL) {
		struct stat st;
		if (!ends_in(e->d_name, ".gst") && !ends_in(e->d_name, ".spool"))
			continue;
		stale = !fstatat(dirfd(d), e->d_name, &st, 0) && younger(&st.st_mtim, made);
	}
	if (d)
		closedir(d);
	return stale;
}

static int read_summary(const char *path, struct view_summary **s)
{
	const char *why;
	int err = view_summary_read(s, path, &why);

	if (err)
		view_error("%s: %s; make one with gpustarve report RUN --format json", path, why);
	return err;
}

static int analyse(const char *path, const struct fleet_digest_source *o, struct view_summary **s)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB,
				   .rates = o->rates,
				   .held_only = o->provisional,
				   .keep = o->resume && !o->provisional };

	return view_analyse(path, &a, s);
}

/* Summaries of before do not tell which price was asked for where none was known. */
static void take_model(struct view_summary *s, const char *dir)
{
	struct view_run_price given;

	if (s->cost.known)
		return;
	view_run_price_read(dir, &given);
	for (size_t g = 0; g < s->cost.gpus; g++) {
		struct view_rate *r = &s->cost.rate[g];

		if (!r->known && !r->price_model[0])
			snprintf(r->price_model, sizeof(r->price_model), "%s", given.model);
	}
}

/* A file that begins with a brace is a summary: no trace does. */
static bool is_json(const char *path)
{
	FILE *f = fopen(path, "re");
	int c = EOF;

	while (f && (c = getc(f)) != EOF && strchr(" \t\r\n", c))
		;
	if (f)
		fclose(f);
	return c == '{';
}

static int summary_of(const char *path, const struct fleet_digest_source *o,
		      struct view_summary **s)
{
	bool priced_anew = o->rates.price || o->rates.model;
	struct stat st;
	char *stored;

	if (!stat(path, &st) && S_ISREG(st.st_mode) && is_json(path)) {
		if (!priced_anew)
			return read_summary(path, s);
		view_error("%s: a summary keeps its prices; name the run's directory", path);
		return -EINVAL;
	}
	if (asprintf(&stored, "%s/summary.json", path) < 0)
		return -ENOMEM;
	const char *why;
	bool fresh = !priced_anew && !stat(stored, &st) && !is_stale(path, &st.st_mtim);
	int err = fresh ? view_summary_read(s, stored, &why) : -ENOENT;
	free(stored);
	if (!err && (*s)->rules != ANA_RULES) { /* the trace is at hand */
		view_summary_free(*s);
		*s = NULL;
		err = -ENOENT;
	}
	if (err)
		return analyse(path, o, s);
	take_model(*s, path);
	return 0;
}

static int make(struct fleet_digest *d, const char *path, const struct fleet_digest_source *o)
{
	struct view_summary *s = NULL;
	int err = o->provisional ? analyse(path, o, &s) : summary_of(path, o, &s);

	if (err)
		return err;
	if (o->provisional)
		err = fleet_digest_make_provisional(d, s, o->team);
	else
		err = fleet_digest_make(d, s, o->team, o->revision);
	view_summary_free(s);
	if (err) {
		view_error("%s: %s", path, strerror(-err));
		return err;
	}
	if (d->run[0])
		return 0;
	view_error("%s: the run has no id; give it one with GPUSTARVE_RUN_ID", path);
	return -EBADMSG;
}

struct job {
	const char *path;
	const struct fleet_digest_source *source;
};

static int make_apart(struct fleet_digest *d, const void *arg)
{
	const struct job *job = arg;

	return make(d, job->path, job->source);
}

int fleet_digest_of(struct fleet_digest *d, const char *path, const struct fleet_digest_source *o)
{
	const struct job job = { .path = path, .source = o };
	const struct fleet_apart how = {
		.run = path, .writes = o->resume && !o->provisional, .make = make_apart, .arg = &job
	};
	int ended_by = 0, err;

	err = view_local_files() ? make(d, path, o) : fleet_apart(d, &how, &ended_by);
	if (o->ended_by)
		*o->ended_by = ended_by;
	return err;
}

struct loader {
	struct fleet_store *store;
	struct fleet_digest *digest; /* [BATCH] */
	size_t n, *waiting;
	const char *file;
	unsigned long line, bad;
};

static int flush(struct loader *l)
{
	int err = l->n ? fleet_store_put(l->store, l->digest, l->n, l->waiting) : 0;

	l->n = 0;
	return err;
}

static int take_line(struct loader *l, const char *text, size_t len)
{
	const char *why;

	l->line++;
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	if (!len)
		return 0;
	if (fleet_digest_read(&l->digest[l->n], text, len, &why)) {
		view_error("%s:%lu: %s; left out", l->file, l->line, why);
		l->bad++;
		return 0;
	}
	return ++l->n == BATCH ? flush(l) : 0;
}

static int load_lines(struct loader *l, FILE *f)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	int err = 0;

	while (!err && (len = getline(&text, &room, f)) >= 0)
		err = take_line(l, text, (size_t)len);
	if (!err && ferror(f))
		err = -EIO;
	free(text);
	return err ? err : flush(l);
}

int fleet_load(const char *store, const char *file, size_t *waiting)
{
	struct loader l = { .file = file, .waiting = waiting };
	FILE *f = strcmp(file, "-") != 0 ? fopen(file, "re") : stdin;

	if (!f) {
		view_error("%s: %s; name a file of digests", file, strerror(errno));
		return -ENOENT;
	}
	l.digest = calloc(BATCH, sizeof(*l.digest));
	int err = l.digest ? fleet_store_open(&l.store, store, true) : -ENOMEM;
	if (!err)
		err = load_lines(&l, f);
	fleet_store_close(l.store);
	free(l.digest);
	if (f != stdin)
		fclose(f);
	return err ? err : l.bad ? -EBADMSG : 0;
}

int fleet_print(const char *text, size_t len, const char *out)
{
	int err;

	if (!out || !strcmp(out, "-")) {
		bool whole = fwrite(text, 1, len, stdout) == len && !fflush(stdout);
		if (!whole)
			view_error("stdout: %s; make room", strerror(errno));
		return whole ? 0 : -EIO;
	}
	err = base_file_write(out, text, len);
	if (err)
		view_error("%s: %s; name a file that can be written", out, strerror(-err));
	return err;
}
