/* SPDX-License-Identifier: Apache-2.0 */
#include "newest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/vec.h"
#include "core/log.h"

#define BACK_MAX 999 /* -999: so far back a run can be named */

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

int64_t view_last_written(const char *dir)
{
	DIR *d = opendir(dir);
	int64_t last = -1;
	struct stat st;

	for (struct dirent *e; d && (e = readdir(d));) {
		if (!ends_with(e->d_name, ".gst") && !ends_with(e->d_name, ".spool"))
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		int64_t t = st.st_mtim.tv_sec * (int64_t)1000000000 + st.st_mtim.tv_nsec;
		last = t > last ? t : last;
	}
	if (d)
		closedir(d);
	return last;
}

static int by_time(const void *a, const void *b)
{
	const struct view_run_entry *x = a, *y = b;

	if (x->written_ns != y->written_ns)
		return x->written_ns > y->written_ns ? -1 : 1;
	return strcmp(y->path, x->path); /* ids begin with the time of the start */
}

void view_runs_free(struct view_run_entry *list, size_t count)
{
	while (count)
		free(list[--count].path);
	free(list);
}

int view_runs_list(const char *base, struct view_run_entry **list, size_t *count)
{
	DIR *d = opendir(base);
	struct view_run_entry *run = NULL;
	size_t runs = 0, room = 0;
	int err = d ? 0 : -errno;

	for (struct dirent *e; d && !err && (e = readdir(d));) {
		char *path;

		if (!ends_with(e->d_name, ".gst") || e->d_name[0] == '.')
			continue;
		if (!base_vec_more(run, runs, room) ||
		    asprintf(&path, "%s/%s", base, e->d_name) < 0) {
			err = -ENOMEM;
			continue;
		}
		run[runs] = (struct view_run_entry){ path, view_last_written(path) };
		if (run[runs].written_ns >= 0)
			runs++;
		else
			free(path);
	}
	if (d)
		closedir(d);
	if (err) {
		view_runs_free(run, runs);
		return err;
	}
	if (runs)
		qsort(run, runs, sizeof(*run), by_time);
	*list = run;
	*count = runs;
	return 0;
}

bool view_newest_run(const char *base, char *out, size_t room)
{
	struct view_run_entry *list;
	size_t count;
	bool found;

	if (view_runs_list(base, &list, &count))
		return false;
	found = count && (size_t)snprintf(out, room, "%s", list[0].path) < room;
	view_runs_free(list, count);
	return found;
}

const char *view_runs_folder(void)
{
	const char *env = getenv("GPUSTARVE_OUT");

	return env && env[0] ? env : "gpustarve-runs";
}

void view_say_no_run(const char *command)
{
	char newest[PATH_MAX];

	if (view_newest_run(view_runs_folder(), newest, sizeof(newest)))
		view_error("%s: no run named; the newest one is %s", command, newest);
	else
		view_error("%s: no run named; give a run directory, such as "
			   "gpustarve-runs/<run id>.gst",
			   command);
}

/* "-3": 3; 0: it is no such word. */
static size_t how_far_back(const char *word)
{
	char *end;
	long n;

	if (word[0] != '-' || word[1] < '1' || word[1] > '9')
		return 0;
	n = strtol(word + 1, &end, 10);
	return *end || n > BACK_MAX ? 0 : (size_t)n;
}

/* Whether the next word is the value of this one. */
static bool takes_value(const struct base_options *command, const char *word)
{
	for (const struct base_opt *o = command->opt; o->name; o++)
		if (o->argument &&
		    ((!strncmp(word, "--", 2) && !strcmp(word + 2, o->name)) ||
		     (o->letter && word[0] == '-' && word[1] == o->letter && !word[2])))
			return true;
	return false;
}

bool view_name_runs(const struct base_options *command, int argc, char **argv)
{
	struct view_run_entry *list = NULL;
	size_t count = 0;
	bool looked = false, good = true;

	for (int i = 1; i < argc && good && strcmp(argv[i], "--") != 0; i++) {
		size_t back = how_far_back(argv[i]);

		if (!back || takes_value(command, argv[i - 1]))
			continue;
		if (!looked && view_runs_list(view_runs_folder(), &list, &count))
			count = 0;
		looked = true;
		good = back <= count;
		if (good) {
			argv[i] = list[back - 1].path;
			list[back - 1].path = strdup(argv[i]); /* NULL: a second -N is refused */
			good = list[back - 1].path != NULL;
		} else {
			view_error("%s: %s: %s has %zu run%s; see gpustarve runs", command->command,
				   argv[i], view_runs_folder(), count, count == 1 ? "" : "s");
		}
	}
	view_runs_free(list, count);
	return good;
}

char *view_newest_or_say(const char *command)
{
	char newest[PATH_MAX], *path = NULL;

	if (view_newest_run(view_runs_folder(), newest, sizeof(newest)))
		path = strdup(newest);
	if (!path)
		view_say_no_run(command);
	return path;
}
