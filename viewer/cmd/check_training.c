/* SPDX-License-Identifier: Apache-2.0 */
/* --baselines: a run that goes on against the last ones of its fingerprint. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check_base.h"
#include "core/confine.h"
#include "core/log.h"
#include "fleet/digest.h"

#define RUNS_LEAST 3 /* fewer do not tell by how much runs alike differ */
#define TRAININGS_MAX 1000 /* files of a folder; for one more the oldest goes */

/* The file of its training; NULL: by nothing could it be told from others. */
static const char *file_of(const struct check_opts *o, const struct view_summary *s,
			   struct base_arena *mem)
{
	struct fleet_digest *d = calloc(1, sizeof(*d));
	const char *file = NULL;

	if (!d)
		return NULL;
	if (!fleet_digest_make(d, s, NULL, 1) && d->program.fingerprint[0])
		file = base_arena_printf(mem, "%s/%s.json", o->baselines, d->program.fingerprint);
	free(d);
	return file;
}

static bool is_ours(const char *name)
{
	return strspn(name, "0123456789abcdef") == 16 && !strcmp(name + 16, ".json");
}

/* For a training that is new: the one that nobody has run for longest is forgotten. */
static void make_room(const char *folder)
{
	char oldest[32] = "";
	struct timespec then = { 0 };
	const struct dirent *e;
	DIR *d = opendir(folder);
	size_t files = 0;

	while (d && (e = readdir(d))) {
		struct stat st;

		if (!is_ours(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!files++ || st.st_mtim.tv_sec < then.tv_sec) {
			then = st.st_mtim;
			snprintf(oldest, sizeof(oldest), "%.21s", e->d_name);
		}
	}
	if (files >= TRAININGS_MAX)
		unlinkat(dirfd(d), oldest, 0);
	if (d)
		closedir(d);
}

/* The run itself, where it was looked at before, and what is not to be compared with it, goes. */
static void keep_alike(struct check_base *b, const struct check_run *run, struct base_arena *mem)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->runs; i++) {
		if (!strcmp(b->run[i].id, run->id) || check_run_differ(mem, &b->run[i], run))
			check_run_fini(&b->run[i]);
		else
			b->run[kept++] = b->run[i];
	}
	b->runs = kept;
}

/* A file that cannot be read begins anew: nobody is there to repair it. */
static int judge(struct check_opts *o, struct check_run *run, const struct view_summary *s,
		 struct check_base *b, struct check_result *r)
{
	check_series_cut(&run->series, o->at_step);
	o->baseline = file_of(o, s, r->mem);
	if (!o->baseline) {
		check_result_add(r, CHECK_NOT_COMPARABLE, "baseline", run->id,
				 "not comparable: it does not say what training it is");
		return 0;
	}
	if (check_base_load(o, o->baseline, r->mem, b))
		b->runs = 0;
	if (b->missing)
		make_room(o->baselines);
	keep_alike(b, run, r->mem);
	if (b->runs < RUNS_LEAST)
		check_result_add(r, CHECK_WARN, "baseline", run->id,
				 base_arena_printf(r->mem,
						   "%zu runs of this training are known yet; it is "
						   "judged by %d or more",
						   b->runs, RUNS_LEAST));
	else
		check_judge_change(r, b->run, b->runs, run, 1, &o->limits);
	o->update = o->add = true;
	return check_base_update(o, b, run, 1, r);
}

/* From here on this process reads the run and writes into the folder, and does no more. */
static int confine(const struct check_opts *o, const char *path)
{
	char *folder;
	const char *read[1];
	struct view_confine c = { .read = read, .reads = 1, .write = o->baselines };

	if (mkdir(o->baselines, 0777) && errno != EEXIST) {
		view_error("%s: %s; name a folder you may write to", o->baselines, strerror(errno));
		return -EACCES;
	}
	folder = view_confine_folder(path, false);
	if (!folder)
		return -ENOMEM;
	read[0] = folder;
	view_confine(&c);
	free(folder);
	return 0;
}

static int look(struct check_opts *o, const char *path, struct check_base *b,
		struct check_result *r)
{
	struct check_run run = { 0 };
	struct view_summary *s = NULL;
	int err = check_load_run(o, path, r->mem, &run, &s), status = CHECK_EXIT_NOT_YET;

	if (err)
		return err == -ENODATA ? CHECK_EXIT_NOT_YET : CHECK_EXIT_ERROR;
	if (run.series.steps >= o->at_step) {
		err = judge(o, &run, s, b, r);
		if (!err)
			err = check_out_write(r, o->format, o->out);
		status = err ? CHECK_EXIT_ERROR : check_result_exit(r, o->fail_on_warn);
	}
	check_run_fini(&run);
	view_summary_free(s);
	return status;
}

int check_training(const struct check_opts *given, const char *path)
{
	struct check_opts o = *given;
	struct check_base *b = calloc(1, sizeof(*b));
	struct base_arena mem = { 0 };
	struct check_result r;
	int status = CHECK_EXIT_ERROR;

	o.analysis.quiet_when_empty = true;
	check_result_init(&r, &mem);
	if (b && !confine(&o, path))
		status = look(&o, path, b, &r);
	if (b)
		check_base_fini(b);
	free(b);
	base_arena_fini(&mem);
	return status;
}
