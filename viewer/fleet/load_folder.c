/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a folder, and what is kept of them there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/local.h"
#include "core/log.h"
#include "job_age.h"
#include "live/run.h"
#include "load.h"
#include "store_priv.h"
#include "trace/newest.h"

#define PRICE_ENV "GPUSTARVE_USD_PER_GPU_HOUR"
#define STRUCK INT64_MIN /* a run that its job's digest holds */

struct loading {
	struct fleet_store *to;
	struct fleet_store *kept; /* of the folder; NULL: nothing is kept */
	struct fleet_digest *d;
	size_t taken, left_out;
};

/* --- what is kept --- */

static bool may_keep(const char *folder, const char *file)
{
	const char *price = getenv(PRICE_ENV);
	struct stat st;

	if (!view_local_files() || (price && price[0]))
		return false;
	if (!lstat(file, &st))
		return S_ISREG(st.st_mode) && st.st_uid == geteuid() && !access(file, W_OK);
	return errno == ENOENT && !access(folder, W_OK);
}

/* It is not made where there is no run. */
static void open_kept(struct loading *l, const char *folder, size_t runs)
{
	char *file, *url;

	if (!runs || asprintf(&file, "%s/" FLEET_FOLDER_STORE, folder) < 0)
		return;
	if (may_keep(folder, file) && asprintf(&url, "sqlite:%s", file) >= 0) {
		if (fleet_store_open(&l->kept, url, true))
			l->kept = NULL; /* which was said; without it all is read */
		free(url);
	}
	free(file);
}

/* One of a version that made no other: its runs stand beside it now. */
static bool is_old_job(const struct fleet_digest *d)
{
	int64_t runs = fleet_digest_held_ns(d);

	for (size_t i = 0; i < d->shares; i++)
		if (!strcmp(d->share[i].class, ana_class_names[ANA_EXCLUDED_NO_PROCESS]))
			runs -= d->share[i].ns;
	return d->whole_job && !d->runs_overlap && runs > 0;
}

/* One of a version that told killed ones as failed, and as ok those of which nothing was known. */
static bool is_old_end(const struct fleet_digest *d)
{
	return (d->end == FLEET_END_OK && !d->has_exit_status) ||
	       (d->end == FLEET_END_FAILED && d->exit_status > FLEET_SIGNALS);
}

/*
 * Made after the last write, of analysis, by these rules, and priced. One that nobody saw end may
 * have been taken for one that goes on.
 */
static bool holds(const struct fleet_digest *d, int64_t written_ns)
{
	int64_t since = d->end == FLEET_END_LOST ? LIVE_SILENT_NS : 0;

	return written_ns >= 0 && d->revision - since > written_ns && d->rules == ANA_RULES &&
	       !is_old_job(d) && !is_old_end(d) && strcmp(d->verdict, FLEET_PROVISIONAL) != 0 &&
	       fleet_digest_priced(d);
}

/* Whose it is there stays so: else a collector's row and this one would be two runs. */
static void take_place(struct fleet_store *s, struct fleet_digest *d)
{
	struct fleet_stored stored;

	if (fleet_store_find(s, d->run, NULL, &stored) <= 0)
		return;
	if (stored.tenant[0])
		fleet_digest_own(d, stored.tenant);
	if (d->revision <= stored.revision)
		d->revision = stored.revision + 1;
}

/* --- one run --- */

/* What a run is called whose directory bears @path, after @lead. */
static void name_of(char out[256], const char *lead, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	snprintf(out, 256, "%s%.*s", lead, dot ? (int)(dot - name) : (int)strlen(name), name);
}

/* @written_ns: of its trace; -1: it is to be read in any case. */
static int put_run(struct loading *l, const char *lead, const char *path, int64_t written_ns)
{
	static const struct fleet_digest_source as_recorded;
	char name[256];
	size_t waiting = 0;
	int err = 0;

	l->taken++;
	name_of(name, lead, path);
	bool known =
		l->kept && fleet_sqlite_digest(l->kept, name, l->d) > 0 && holds(l->d, written_ns);
	if (!known && fleet_digest_of(l->d, path, &as_recorded)) {
		l->left_out++;
		return 0;
	}
	if (!known && l->kept && written_ns >= 0) {
		take_place(l->kept, l->d);
		err = fleet_store_put(l->kept, l->d, 1, &waiting);
	}
	return err ? err : fleet_store_put(l->to, l->d, 1, &waiting);
}

static int put_one(struct loading *l, const char *path)
{
	return put_run(l, "", path, -1);
}

/* --- jobs --- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct view_run_entry *)a)->path,
		      ((const struct view_run_entry *)b)->path);
}

/*
 * What a job was given beyond its runs. Where its digest is of all of it, of these it takes the
 * place, and they are struck off the list, which is sorted.
 */
static int put_job(struct loading *l, const struct view_job *job, struct view_run_entry *list,
		   size_t count)
{
	size_t before = l->left_out;
	int err = put_run(l, "slurm-", job->folder, fleet_job_written(job));

	if (l->d->rest.job_ns)
		return err;
	for (size_t i = 0; count && i < job->runs && !err && l->left_out == before; i++) {
		const struct view_run_entry like = { .path = (char *)job->run[i] };
		struct view_run_entry *e = bsearch(&like, list, count, sizeof(*list), by_path);

		if (e)
			e->written_ns = STRUCK;
	}
	return err;
}

static int put_jobs(struct loading *l, const char *folder, struct view_run_entry *list,
		    size_t count)
{
	struct view_jobs jobs = { 0 };
	int err = view_jobs_find(&jobs, folder, -1, VIEW_JOB_THOROUGH);

	if (count)
		qsort(list, count, sizeof(*list), by_path);
	for (size_t i = 0; i < jobs.jobs && !err; i++)
		if (jobs.job[i].folder && fleet_job_written(&jobs.job[i]) >= 0)
			err = put_job(l, &jobs.job[i], list, count);
	view_jobs_fini(&jobs);
	return err;
}

/* --- folders --- */

/* A run has streams, a folder has runs; a summary is a file. */
static bool is_folder(const char *path)
{
	struct stat st;
	char *stored = NULL;
	bool run;

	if (stat(path, &st) || !S_ISDIR(st.st_mode) || view_last_written(path) >= 0)
		return false;
	run = asprintf(&stored, "%s/summary.json", path) >= 0 && !stat(stored, &st);
	free(stored);
	return !run;
}

static int put_folder(struct loading *l, const char *folder)
{
	struct view_run_entry *list;
	size_t count, i, taken = l->taken;
	int err = view_runs_list(folder, &list, &count);

	if (err) {
		view_error("%s: %s; name a folder of runs", folder, strerror(-err));
		return err;
	}
	open_kept(l, folder, count);
	err = put_jobs(l, folder, list, count);
	if (!err && !count && l->taken == taken) {
		view_error("%s: no run is there; record one with gpustarve run -- COMMAND", folder);
		err = -ENOENT;
	}
	for (i = 0; i < count && !err; i++)
		if (list[i].written_ns != STRUCK)
			err = put_run(l, "", list[i].path, list[i].written_ns);
	fleet_store_close(l->kept);
	l->kept = NULL;
	view_runs_free(list, count);
	return err;
}

int fleet_load_runs(struct fleet_store *s, char *const *path, size_t n, size_t *left_out)
{
	struct loading l = { .to = s, .d = malloc(sizeof(*l.d)) };
	int err = l.d ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = (is_folder(path[i]) ? put_folder : put_one)(&l, path[i]);
	*left_out = l.left_out;
	free(l.d);
	return err;
}
