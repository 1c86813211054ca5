/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/files.h"
#include "core/embedded.h"
#include "core/log.h"
#include "base/units.h"
#include "change.h"
#include "run/child.h"
#include "seen.h"

#define STEP_MAX_NS 3600000000000 /* an hour: what a process writes is not trusted */

struct took { /* of one process */
	struct check_item *item;
	size_t count, room;
	char pid[32]; /* as its file names it */
};

/*
 * -- the folder ---------------------------------------------------------------------------------
 */

static int write_file(struct base_arena *mem, const char *dir, const char *name, const void *data,
		      size_t len)
{
	FILE *f = fopen(base_arena_printf(mem, "%s/%s", dir, name), "w");

	if (!f)
		return -errno;
	bool ok = fwrite(data, 1, len, f) == len;
	return fclose(f) || !ok ? -EIO : 0;
}

/* A step of an item that holds several is their mean. */
static int write_plan(struct base_arena *mem, const char *dir, const struct check_series *s)
{
	FILE *f = fopen(base_arena_printf(mem, "%s/plan", dir), "w");

	if (!f)
		return -errno;
	for (size_t i = 0; i < s->count; i++)
		fprintf(f, "%" PRId64 "\n",
			(s->item[i].ns - s->item[i].exposed_ns) / (int64_t)s->width);
	return fclose(f) ? -EIO : 0;
}

static int make_folder(struct base_arena *mem, char **made, const struct check_series *s)
{
	const char *tmp = getenv("TMPDIR");
	char *dir =
		base_arena_printf(mem, "%s/gpustarve-replay-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	int err;

	*made = dir;
	if (!mkdtemp(dir))
		return -errno;
	err = write_file(mem, dir, "sitecustomize.py", view_embedded_replay_py,
			 view_embedded_replay_py_len);
	if (!err)
		err = write_file(mem, dir, "gpustarve_look.py", view_embedded_look_py,
				 view_embedded_look_py_len);
	if (!err) /* where Python would make a folder, which we should have to empty */
		err = write_file(mem, dir, "__pycache__", "", 0);
	if (!err)
		err = write_plan(mem, dir, s);
	if (err)
		base_folder_remove(dir);
	return err;
}

/*
 * -- the command --------------------------------------------------------------------------------
 */

static int run_command(const char *dir, char *const *command, struct base_arena *mem)
{
	const char *before = getenv("PYTHONPATH");
	struct view_env env = { "PYTHONPATH",
				base_arena_printf(mem, "%s%s%s", dir, before ? ":" : "",
						  before ? before : "") };
	struct view_child c;
	int err = view_child_prepare(&c);

	if (!err)
		err = view_child_start(&c, command, &env, 1);
	if (err)
		return err;
	view_child_wait(&c, NULL);
	if (c.exec_errno)
		view_error("%s: %s; name a command that can be run", command[0],
			   strerror(c.exec_errno));
	else if (view_child_status(&c))
		view_error("%s: it ended with status %d; a replay needs the whole loop", command[0],
			   view_child_status(&c));
	return c.exec_errno || view_child_status(&c) ? -ECHILD : 0;
}

/*
 * -- what it took -------------------------------------------------------------------------------
 */

static int add(struct took *t, int64_t held, int64_t waited)
{
	if (held < 0 || waited < 0 || held > STEP_MAX_NS || waited > STEP_MAX_NS ||
	    held + waited == 0)
		return 0;
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 1024;
		struct check_item *item = realloc(t->item, room * sizeof(*item));
		if (!item)
			return -ENOMEM;
		t->item = item;
		t->room = room;
	}
	t->item[t->count++] = (struct check_item){ held + waited, waited };
	return 0;
}

static int read_took(int dir, const char *name, struct took *t)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), err = 0;
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[128];

	if (!f)
		return -errno;
	while (!err && t->count < CHECK_ITEMS_RAW && fgets(line, sizeof(line), f)) {
		char *end;
		int64_t held = strtoll(line, &end, 10);
		if (*end == ' ')
			err = add(t, held, strtoll(end, NULL, 10));
	}
	fclose(f);
	return err;
}

/* Of several processes (ranks) the one that waited most per step is what the others wait for. */
static bool slower(const struct took *a, const struct took *b)
{
	__int128 x = 0, y = 0;

	for (size_t i = 0; i < a->count; i++)
		x += a->item[i].exposed_ns;
	for (size_t i = 0; i < b->count; i++)
		y += b->item[i].exposed_ns;
	return x * (__int128)b->count > y * (__int128)a->count;
}

static int read_folder(const char *dir, struct took *best, uint64_t *processes)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int err = d ? 0 : -errno;

	while (!err && d && (e = readdir(d))) {
		struct took t = { 0 };
		if (strncmp(e->d_name, "took.", 5))
			continue;
		snprintf(t.pid, sizeof(t.pid), "%.31s", e->d_name + strlen("took."));
		err = read_took(dirfd(d), e->d_name, &t);
		*processes += t.count > 0;
		if (!err && t.count && (!best->count || slower(&t, best))) {
			struct took old = *best;
			*best = t;
			/* -fanalyzer: no leak, the caller frees what is best */
			t = old;
		}
		free(t.item);
	}
	if (d)
		closedir(d);
	return err;
}

/*
 * -- the run that follows -----------------------------------------------------------------------
 */

static int64_t cores_here(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

static void set_series(struct check_series *s, struct took *t)
{
	size_t warm = check_warmup(t->item, t->count);

	memmove(t->item, t->item + warm, (t->count - warm) * sizeof(*t->item));
	*s = (struct check_series){ .item = t->item,
				    .count = t->count - warm,
				    .width = 1,
				    .steps = t->count,
				    .warmup = warm };
	for (int i = 0; i < CHECK_QUANTILES; i++)
		s->quantile_ns[i] = -1;
	/* A baseline keeps so many; the first ones are as good as the others. */
	if (s->count > CHECK_ITEMS_KEPT)
		s->count = CHECK_ITEMS_KEPT;
	t->item = NULL;
}

struct total { /* of the steps of a run */
	int64_t ns, exposed_ns; /* exposed: of it, waits for the loader */
};

static struct total total_of(const struct check_series *s)
{
	struct total t = { 0, 0 };
	__int128 all = 0, wait = 0;

	for (size_t i = 0; i < s->count; i++) {
		all += s->item[i].ns;
		wait += s->item[i].exposed_ns;
	}
	t.ns = all > INT64_MAX / 1024 ? INT64_MAX / 1024 : (int64_t)all;
	t.exposed_ns = wait > t.ns ? t.ns : (int64_t)wait;
	return t;
}

/* Time in which something ran on one of the GPUs, per step of the recorded run. */
static int64_t busy_per_step(const struct check_run *base)
{
	__int128 busy = ana_class_sum(base->classes, ana_class_is_busy);
	__int128 den = (__int128)base->steps * (base->gpus > 0 ? base->gpus : 1);

	return den > 0 ? base_div_even(busy, den) : 0;
}

static int64_t capped_ppm(int64_t part, int64_t whole)
{
	int64_t ppm = base_ppm(part, whole);

	return ppm > 1000000 ? 1000000 : ppm;
}

static int64_t waited(const struct took *t)
{
	__int128 sum = 0;

	for (size_t i = 0; i < t->count; i++)
		sum += t->item[i].exposed_ns;
	return sum > INT64_MAX / 1024 ? INT64_MAX / 1024 : (int64_t)sum;
}

static int read_seen(const char *dir, const struct took *t, struct base_arena *mem,
		     struct check_seen *seen)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 ? -errno : check_seen_read(fd, t->pid, mem, seen);

	if (fd >= 0)
		close(fd);
	return err;
}

/* A baseline keeps runs apart by their ids. */
static const char *when(char text[32])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(text, 32, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	return text;
}

/* How much of a GPU the replay would use, beside what the recorded run used. */
static void set_utilization(struct check_replay *out, const struct check_run *base,
			    const struct total *now)
{
	const struct check_series *s = &base->series;
	struct total then = total_of(s);
	int64_t busy = busy_per_step(base);

	out->utilization_ppm = capped_ppm(busy, now->ns / (int64_t)out->run.series.count);
	out->recorded_utilization_ppm = capped_ppm(busy, then.ns / (int64_t)(s->count * s->width));
	out->recorded_starved_ppm = capped_ppm(then.exposed_ns, then.ns);
}

/* Whose replay it is; what a replay cannot know is -1. */
static void set_identity(struct check_run *run, const struct check_run *base, int64_t cores,
			 struct base_arena *mem)
{
	char now[32];

	run->id = base_arena_printf(mem, "replay %s of %s", when(now), base->id);
	run->hardware =
		base_arena_printf(mem, "replay of %s by %" PRId64 " cores", base->hardware, cores);
	run->dataset = base->dataset;
	run->price = base->price;
	run->nano_usd_per_hour = base->nano_usd_per_hour;
	run->gpus = base->gpus;
	run->ranks = base->ranks;
	run->workers = run->batch_size = -1;
	run->cores = cores;
	run->window = ANA_WINDOW_DEVICE;
	run->simulated = run->complete = true;
	run->rules = ANA_RULES;
	run->steps = run->series.count;
	run->step_median_ns = run->step_p95_ns = run->step_fed_median_ns = -1;
}

/* The time of one GPU: waits are the loader's; of the rest the GPU computes as it did. */
static void set_classes(struct check_run *run, const struct check_run *base,
			const struct total *now)
{
	int64_t steps = (int64_t)run->series.count, fed = now->ns - now->exposed_ns;
	int64_t compute = base_div_even((__int128)busy_per_step(base) * steps, 1);

	run->gpu_ns = now->ns;
	run->starved_ns = run->wasted_ns = now->exposed_ns;
	run->classes[ANA_INPUT_UNKNOWN] = now->exposed_ns;
	run->classes[ANA_COMPUTE] = compute < fed ? compute : fed;
	run->classes[ANA_HOST_UNKNOWN] = fed - run->classes[ANA_COMPUTE];
}

/* Of all GPUs for the time of one. */
static void set_cost(struct check_run *run)
{
	if (run->nano_usd_per_hour < 0)
		return;
	run->total_nano_usd = view_cost_amount(run->nano_usd_per_hour, run->gpu_ns);
	run->starved_nano_usd = run->wasted_nano_usd =
		view_cost_amount(run->nano_usd_per_hour, run->starved_ns);
}

/* All that is not in the series: from the recorded run, and from what the series sums to. */
static void complete(struct check_replay *out, const struct check_run *base, struct base_arena *mem)
{
	struct total now = total_of(&out->run.series);

	out->cores = cores_here();
	out->recorded_cores = base->cores;
	set_utilization(out, base, &now);
	set_identity(&out->run, base, out->cores, mem);
	set_classes(&out->run, base, &now);
	set_cost(&out->run);
}

int check_replay(const struct check_run *base, char *const *command, struct base_arena *mem,
		 struct check_replay *out)
{
	struct check_seen *seen = base_arena_alloc(mem, sizeof(*seen));
	struct took best = { 0 };
	char *dir;
	int err;

	*out = (struct check_replay){ 0 };
	if (base->partly) {
		view_error("check: " CHECK_PARTLY);
		return -EINVAL;
	}
	if (!base->series.count) {
		view_error(
			"check: the recorded run has no steps; mark them (docs/CAUSES.md, Steps)");
		return -EINVAL;
	}
	err = make_folder(mem, &dir, &base->series);
	if (err) {
		view_error("%s: %s; set TMPDIR to a folder you may write to", dir, strerror(-err));
		return err;
	}
	err = run_command(dir, command, mem);
	if (!err)
		err = read_folder(dir, &best, &out->processes);
	if (!err && best.count < CHECK_STEPS_LEAST + 1) {
		view_error("%s: it took %zu batches from a DataLoader of torch; a replay needs "
			   "more than %d",
			   command[0], best.count, CHECK_STEPS_LEAST);
		err = -ENODATA;
	}
	if (!err)
		err = read_seen(dir, &best, mem, seen);
	if (!err) {
		int64_t wait = waited(&best);
		set_series(&out->run.series, &best);
		complete(out, base, mem);
		check_seen_share(seen, wait, &out->run);
	}
	free(best.item);
	base_folder_remove(dir);
	return err;
}
