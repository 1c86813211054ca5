/* SPDX-License-Identifier: Apache-2.0 */
#include "check_base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/log.h"

int check_load_run(const struct check_opts *o, const char *path, struct base_arena *mem,
		   struct check_run *run, struct view_summary **keep_summary)
{
	struct check_collect *collect = check_collect_new(o->warmup);
	struct view_analysis a = o->analysis;
	struct check_series series = { 0 };
	struct view_summary *s = NULL;
	int err = collect ? 0 : -ENOMEM;

	a.waste = o->has_waste ? o->waste : NULL;
	a.on_step = check_collect_step;
	a.arg = collect;
	if (err)
		view_error("%s: out of memory; use a machine with more", path);
	else
		err = view_analyse(path, &a, &s);
	if (!err) {
		int no_steps = check_collect_end(collect, s->result, &series);
		if (no_steps && no_steps != -ENODATA)
			err = no_steps;
		check_run_make(run, mem, s, &series);
	}
	if (keep_summary && !err)
		*keep_summary = s;
	else if (s)
		view_summary_free(s);
	check_collect_free(collect);
	return err;
}

static bool is_file_of_ours(const char *path)
{
	struct stat st;
	size_t len = strlen(path);

	return !stat(path, &st) && S_ISREG(st.st_mode) && len > 5 &&
	       !strcmp(path + len - 5, ".json");
}

static int load(const struct check_opts *o, const char *path, struct base_arena *mem,
		struct check_base *b)
{
	struct stat st;
	const char *why;
	int err;

	if (stat(path, &st) && errno == ENOENT) {
		b->missing = true;
		return 0;
	}
	if (!is_file_of_ours(path)) {
		err = check_load_run(o, path, mem, &b->run[0], NULL);
		b->runs = !err;
		return err;
	}
	err = check_baseline_read(path, mem, b->run, &b->runs, &why);
	if (err)
		view_error("%s: %s; make a new one with --update-baseline", path, why);
	return err;
}

int check_base_load(const struct check_opts *o, const char *path, struct base_arena *mem,
		    struct check_base *b)
{
	int err = load(o, path, mem, b);

	for (size_t i = 0; !err && o->at_step && i < b->runs; i++)
		check_series_cut(&b->run[i].series, o->at_step);
	return err;
}

void check_base_fini(struct check_base *b)
{
	while (b->runs)
		check_run_fini(&b->run[--b->runs]);
}

static bool among(const struct check_run *one, const struct check_run *run, size_t runs)
{
	for (size_t i = 0; i < runs; i++)
		if (!strcmp(one->id, run[i].id))
			return true;
	return false;
}

/*
 * What the baseline is to hold: with --add-to-baseline the runs that are there, then the new ones.
 */
static int merge(const struct check_opts *o, const struct check_base *b,
		 const struct check_run *run, size_t runs, struct base_arena *mem,
		 struct check_run *all, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < b->runs && o->add; i++) {
		const char *why = check_run_differ(mem, &b->run[i], &run[0]);
		if (why) {
			view_error("%s: %s; make a new one with --update-baseline", o->baseline,
				   why);
			return -EINVAL;
		}
		if (!among(&b->run[i], run, runs))
			all[(*count)++] = b->run[i];
	}
	size_t most = runs > CHECK_RUNS_ADDED ? runs : CHECK_RUNS_ADDED;
	size_t gone = *count + runs > most ? *count + runs - most : 0;
	memmove(all, all + gone, (*count - gone) * sizeof(*all));
	*count -= gone;
	memcpy(all + *count, run, runs * sizeof(*all));
	*count += runs;
	return 0;
}

int check_base_update(const struct check_opts *o, const struct check_base *b,
		      const struct check_run *run, size_t runs, struct check_result *r)
{
	struct check_run all[2 * CHECK_RUNS_MAX] = { 0 };
	size_t count;
	int err;

	if (!o->update)
		return 0;
	for (size_t i = 0; i < runs; i++) {
		if (run[i].complete || o->baselines) /* so many steps are all that is asked */
			continue;
		view_error("%s: the run did not end normally; a baseline needs complete runs",
			   run[i].id);
		return -EINVAL;
	}
	err = merge(o, b, run, runs, r->mem, all, &count);
	if (err)
		return err;
	err = check_baseline_write(o->baseline, all, count);
	if (err)
		view_error("%s: %s; name a file in a folder you may write to", o->baseline,
			   strerror(-err));
	else
		check_result_add(r, CHECK_PASS, "baseline", run[runs - 1].id,
				 base_arena_printf(r->mem, "%s holds %zu run%s now", o->baseline,
						   count, count == 1 ? "" : "s"));
	return err;
}
