/* SPDX-License-Identifier: Apache-2.0 */
#include "hook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "folder.h"
#include "nvml.h"

#define SECOND INT64_C(1000000000)

static const char *variable(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/*
 * When the scheduler gave the GPUs to the job; a time to come is its clock being ahead. 0: untold.
 */
static int64_t told_start(void)
{
	const char *text = variable("SLURM_JOB_START_TIME");
	int64_t now = now_ns(), ns;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	long long s = strtoll(text, &end, 10);
	if (*end || errno || s <= 0 || s > INT64_MAX / SECOND)
		return 0;
	ns = (int64_t)s * SECOND;
	return ns < now ? ns : now;
}

static bool add_gpu(struct view_alloc_gpu *gpu, size_t *n, int64_t index, const char *uuid)
{
	if (*n == VIEW_ALLOC_GPUS_MAX)
		return false;
	for (size_t i = 0; i < *n; i++)
		if (uuid ? gpu[i].uuid && !strcmp(gpu[i].uuid, uuid) : gpu[i].index == index)
			return true;
	gpu[(*n)++] = (struct view_alloc_gpu){ .index = index, .uuid = uuid };
	return true;
}

/* "3" or "0-3"; other words are none. */
static void add_numbers(struct view_alloc_gpu *gpu, size_t *n, const char *word)
{
	char *end;

	if (word[0] < '0' || word[0] > '9')
		return;
	long first = strtol(word, &end, 10), last = first;
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		last = strtol(end + 1, &end, 10);
	if (*end || first > last || last > 65535)
		return;
	for (long i = first; i <= last && add_gpu(gpu, n, i, NULL); i++)
		;
}

static size_t add_list(struct base_arena *mem, struct view_alloc_gpu *gpu, const char *list,
		       bool uuids)
{
	char *copy = base_arena_text(mem, list), *save = NULL;
	size_t n = 0;

	for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (view_alloc_is_uuid(word))
			add_gpu(gpu, &n, -1, word);
		else if (!uuids)
			add_numbers(gpu, &n, word);
	}
	return n;
}

size_t view_hook_gpus(struct base_arena *mem, const char *numbers, const char *visible,
		      struct view_alloc_gpu **gpu)
{
	size_t n = 0;

	*gpu = base_arena_array(mem, VIEW_ALLOC_GPUS_MAX, sizeof(**gpu));
	if (visible)
		n = add_list(mem, *gpu, visible, true);
	if (!n && numbers)
		n = add_list(mem, *gpu, numbers, false);
	if (!n && visible)
		n = add_list(mem, *gpu, visible, false);
	return n;
}

static const char *host_name(struct base_arena *mem)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) || !host[0])
		return "localhost";
	return base_arena_text(mem, host);
}

static int fail(struct view_hook *h, int err, const char *why)
{
	h->why = why ? why : strerror(-err);
	return err;
}

/* Whose it is and where, from the environment. */
static int identify(struct view_hook *h)
{
	struct view_alloc *a = &h->alloc;

	*h = (struct view_hook){ .path = "SLURM_JOB_ID" };
	view_job_from_environment(&a->id);
	if (!view_job_known(&a->id))
		return fail(h, -EINVAL, "not set: this is not a hook of a scheduler's job");
	view_job_keep(&a->id, &h->mem);
	a->host = host_name(&h->mem);
	a->node = base_arena_text(&h->mem, variable("SLURMD_NODENAME"));
	if (!a->node)
		a->node = a->host;
	a->gpus = view_hook_gpus(&h->mem, variable("SLURM_JOB_GPUS"),
				 variable("CUDA_VISIBLE_DEVICES"), &a->gpu);
	return 0;
}

static const char *explain(int err)
{
	switch (err) {
	case -EPERM:
		return "it belongs to somebody else";
	case -ELOOP:
	case -ENOTDIR:
		return "it is not a folder";
	default:
		return strerror(-err);
	}
}

static int open_folder(struct view_hook *h, const char *out, bool make)
{
	int dir = view_job_folder_open(out, &h->alloc.id, make, &h->mem, &h->path);

	return dir < 0 ? fail(h, dir, explain(dir)) : dir;
}

/* Allocations of this job in its folder; whatever else lies there is none. */
static size_t keep_ours(const struct view_hook *h, struct view_alloc *all, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (all[i].id.number[VIEW_JOB_ID] == h->alloc.id.number[VIEW_JOB_ID])
			all[kept++] = all[i];
	return kept;
}

/*
 * What a Prolog is told of it under a name of its own; -1: nothing. An Epilog is told so, too, but
 * of a job that is requeued the number of its next life.
 */
static int64_t told_restart(void)
{
	const char *text = variable("SLURM_JOB_RESTART_COUNT");
	char *end;
	long v = text && *text ? strtol(text, &end, 10) : -1;

	return v >= 0 && v <= VIEW_JOB_NUMBER_MAX && !*end ? v : -1;
}

/* The restart of what begins now, where nobody tells it. */
static int64_t next_restart(const struct view_alloc *all, size_t n, const char *node)
{
	int64_t last = -1;
	bool joins = false;

	for (size_t i = 0; i < n; i++)
		if (all[i].id.number[VIEW_JOB_RESTART] > last)
			last = all[i].id.number[VIEW_JOB_RESTART];
	for (size_t i = 0; i < n; i++) {
		if (all[i].id.number[VIEW_JOB_RESTART] != last)
			continue;
		if (!strcmp(all[i].node, node))
			return last + 1;
		joins |= !all[i].ended;
	}
	return joins ? last : last + 1;
}

/* This node's allocation: of @restart; of the last one where that is not known. */
static const struct view_alloc *of_node(const struct view_alloc *all, size_t n, const char *node,
					int64_t restart)
{
	const struct view_alloc *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].node, node) &&
		    (restart < 0 || all[i].id.number[VIEW_JOB_RESTART] == restart))
			found = &all[i];
	return found;
}

static void ask_nvml(struct view_hook *h)
{
	struct view_alloc *a = &h->alloc;
	int err = view_nvml_fill(a->gpu, a->gpus, &h->mem);

	for (size_t i = 0; i < a->gpus && !h->remark; i++)
		if (!a->gpu[i].uuid)
			h->remark = "no UUID is known of some GPUs: they are told apart by number";
	if (err)
		h->remark = err == -ENOENT ? "there is no NVML: GPUs are known by number alone"
					   : "NVML does not work: GPUs are known by number alone";
}

static int begin_in(struct view_hook *h, int dir)
{
	struct view_alloc *a = &h->alloc, *all;
	int64_t *restart = &a->id.number[VIEW_JOB_RESTART];
	const struct view_alloc *before;
	size_t n;
	int err = view_job_folder_list(dir, &h->mem, &all, &n, NULL, NULL);

	if (err)
		return fail(h, err, NULL);
	n = keep_ours(h, all, n);
	if (*restart < 0)
		*restart = told_restart();
	if (*restart < 0)
		*restart = next_restart(all, n, a->node);
	before = of_node(all, n, a->node, *restart);
	a->start_ns = told_start();
	if (!a->start_ns)
		a->start_ns = now_ns();
	if (before && before->start_ns < a->start_ns)
		a->start_ns = before->start_ns;
	err = view_job_folder_put(dir, &h->mem, a);
	return err ? fail(h, err, NULL) : 1;
}

int view_hook_begin(struct view_hook *h, const char *out)
{
	int err = identify(h), dir;

	if (err || !h->alloc.gpus)
		return err;
	ask_nvml(h);
	dir = open_folder(h, out, true);
	if (dir < 0)
		return dir;
	err = begin_in(h, dir);
	close(dir);
	return err;
}

/* Whatever the Epilog knows that the Prolog did not is added. */
static int complete(struct view_hook *h, int dir, const struct view_alloc *begun)
{
	struct view_alloc *a = &h->alloc;
	struct view_job_identity told = a->id;
	int err;

	*a = *begun;
	view_job_add(&a->id, &told);
	if (a->ended)
		return 1;
	a->ended = true;
	a->end_ns = now_ns();
	if (a->end_ns < a->start_ns)
		a->end_ns = a->start_ns;
	err = view_job_folder_put(dir, &h->mem, a);
	return err ? fail(h, err, NULL) : 1;
}

/* No Prolog wrote anything; then the start must be told. */
static int write_late(struct view_hook *h, int dir)
{
	struct view_alloc *a = &h->alloc;
	int err;

	a->start_ns = told_start();
	if (!a->start_ns)
		return fail(h, -ENOENT,
			    "nothing of this node is in it, and nobody says when the job began");
	if (a->id.number[VIEW_JOB_RESTART] < 0)
		a->id.number[VIEW_JOB_RESTART] = 0;
	a->ended = true;
	a->end_ns = now_ns();
	err = view_job_folder_put(dir, &h->mem, a);
	return err ? fail(h, err, NULL) : 1;
}

static int end_in(struct view_hook *h, int dir)
{
	const struct view_alloc *begun;
	struct view_alloc *all;
	size_t n;
	int err = view_job_folder_list(dir, &h->mem, &all, &n, NULL, NULL);

	if (err)
		return fail(h, err, NULL);
	n = keep_ours(h, all, n);
	begun = of_node(all, n, h->alloc.node, h->alloc.id.number[VIEW_JOB_RESTART]);
	return begun ? complete(h, dir, begun) : write_late(h, dir);
}

int view_hook_end(struct view_hook *h, const char *out)
{
	int err = identify(h), dir;

	if (err || !h->alloc.gpus)
		return err;
	dir = open_folder(h, out, told_start() > 0);
	if (dir < 0)
		return dir;
	err = end_in(h, dir);
	close(dir);
	return err;
}

void view_hook_fini(struct view_hook *h)
{
	base_arena_fini(&h->mem);
}
