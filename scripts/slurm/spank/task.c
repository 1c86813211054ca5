/* SPDX-License-Identifier: Apache-2.0 */
#include "task.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "needs.h"

#define LIST_MAX 16384 /* of LD_PRELOAD; a longer one is left as it is */
#define NAME_MAX_LEN 256
#define STEP_EXTERN 0xfffffffcu /* holds the job's processes together, and runs nothing */
#define STEP_RESERVED 0xfffffff0u /* batch, interactive and extern steps count from here */

/* What is needed of the job's environment. */
struct task {
	spank_t sp;
	const struct gs_spank *g;
	char job[16], node[NAME_MAX_LEN], user[NAME_MAX_LEN];
	char out[GS_PATH_MAX], told[GS_PATH_MAX];
	bool foreign; /* what is set of ours was set in another job */
};

/* False, and "", if it is unset or does not fit. */
static bool get(spank_t sp, const char *name, char *out, size_t room)
{
	out[0] = '\0';
	if (spank_getenv(sp, name, out, (int)room) == ESPANK_SUCCESS)
		return true;
	out[0] = '\0';
	return false;
}

static bool is_one_of(const char *text, const char *const *word)
{
	for (; *word; word++)
		if (!strcmp(text, *word))
			return true;
	return false;
}

static bool is_switched(spank_t sp, const char *const *words)
{
	char value[8];

	return get(sp, "GPUSTARVE", value, sizeof(value)) && is_one_of(value, words);
}

bool gs_spank_names(const char *list, const char *partition)
{
	size_t want = strlen(partition);

	for (size_t len; want && *list; list += len + (list[len] != '\0')) {
		len = strcspn(list, ",");
		if (len == want && !strncmp(list, partition, len))
			return true;
	}
	return false;
}

/* As its partition says, else as the site's default does. */
static bool is_by_default(spank_t sp, const struct gs_spank *g)
{
	char partition[NAME_MAX_LEN];

	get(sp, "SLURM_JOB_PARTITION", partition, sizeof(partition));
	if (gs_spank_names(g->off_in, partition))
		return false;
	return g->on || gs_spank_names(g->on_in, partition);
}

static bool has_gpu(spank_t sp, const char *list)
{
	static const char *const none[] = { "", "NoDevFiles", "-1", NULL };
	char value[4096];

	/* One too long to be read is there. */
	if (spank_getenv(sp, list, value, sizeof(value)) == ESPANK_NOSPACE ||
	    (get(sp, list, value, sizeof(value)) && value[0]))
		return true;
	if (spank_getenv(sp, "CUDA_VISIBLE_DEVICES", value, sizeof(value)) == ESPANK_NOSPACE)
		return true;
	return get(sp, "CUDA_VISIBLE_DEVICES", value, sizeof(value)) && !is_one_of(value, none);
}

bool gs_spank_listed(const char *list, const char *path)
{
	static const char name[] = "/libprof.so";
	size_t want = strlen(path), tail = sizeof(name) - 1;

	for (size_t len; *list; list += len + (list[len] != '\0')) {
		len = strcspn(list, ": ");
		if (len == want && !strncmp(list, path, len))
			return true;
		if (len >= tail && !strncmp(list + len - tail, name, tail))
			return true;
	}
	return false;
}

static bool is_name(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._@-";

	return text[0] && text[0] != '.' && text[0] != '-' && !text[strspn(text, good)];
}

bool gs_spank_fill_in(char *out, size_t room, const char *dir, const char *user)
{
	const char *mark = strstr(dir, "%u");
	int n;

	if (mark && !is_name(user))
		return false;
	if (mark)
		n = snprintf(out, room, "%.*s%s%s", (int)(mark - dir), dir, user, mark + 2);
	else
		n = snprintf(out, room, "%s", dir);
	return n >= 0 && (size_t)n < room;
}

/* A user's folder that somebody else has made in the site's common one gets no trace. */
static bool is_own(const char *dir, const char *path)
{
	size_t len = strlen(dir);
	struct stat st;

	if (len < 3 || strcmp(dir + len - 3, "/%u") != 0)
		return true;
	if (mkdir(path, 0755) == 0)
		return true;
	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* The folder that Prolog wrote down for this job on this node; "" if none. */
static void read_told(struct task *t)
{
	char path[GS_PATH_MAX + 2 * NAME_MAX_LEN], *end;
	ssize_t n;
	int fd;

	t->told[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s@%s.out", t->g->run, t->job, t->node);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, t->told, sizeof(t->told) - 1);
	close(fd);
	t->told[n > 0 ? n : 0] = '\0';
	end = strchr(t->told, '\n'); /* without one it is longer than we may read */
	*(end ? end : t->told) = '\0';
}

static bool site_dir(struct task *t)
{
	char submit[GS_PATH_MAX];
	int n;

	if (t->g->dir[0])
		return gs_spank_fill_in(t->out, sizeof(t->out), t->g->dir, t->user) &&
		       is_own(t->g->dir, t->out);
	if (!get(t->sp, "SLURM_SUBMIT_DIR", submit, sizeof(submit)))
		return false;
	n = snprintf(t->out, sizeof(t->out), "%s/gpustarve-runs", submit);
	return n > 0 && (size_t)n < sizeof(t->out);
}

static bool asked_dir(struct task *t)
{
	char here[GS_PATH_MAX];
	int n;

	if (t->g->asked[0] == '/')
		n = snprintf(t->out, sizeof(t->out), "%s", t->g->asked);
	else if (getcwd(here, sizeof(here)))
		n = snprintf(t->out, sizeof(t->out), "%s/%s", here, t->g->asked);
	else
		return false;
	return n > 0 && (size_t)n < sizeof(t->out);
}

/* As the option, the user's environment, Prolog and the site say, in that order. */
static bool choose_out(struct task *t)
{
	if (t->g->asked[0])
		return asked_dir(t);
	if (!t->foreign && get(t->sp, "GPUSTARVE_OUT", t->out, sizeof(t->out)) && t->out[0])
		return true;
	if (t->told[0]) {
		memcpy(t->out, t->told, sizeof(t->out));
		return true;
	}
	return site_dir(t);
}

static bool is_socket(const char *path)
{
	struct stat st;

	return path[0] && !stat(path, &st) && S_ISSOCK(st.st_mode);
}

/* The node's collector is the task's if it stores where the task does. */
static void set_socket(const struct task *t)
{
	char have[GS_PATH_MAX], sock[GS_PATH_MAX + 2 * NAME_MAX_LEN];
	bool set = get(t->sp, "GPUSTARVE_SOCKET", have, sizeof(have));

	snprintf(sock, sizeof(sock), "%s/%s@%s/sock", t->g->run, t->job, t->node);
	if (set && !t->foreign && is_socket(have))
		return;
	if (!strcmp(t->out, t->told) && is_socket(sock))
		spank_setenv(t->sp, "GPUSTARVE_SOCKET", sock, 1);
	else if (set && t->foreign)
		spank_unsetenv(t->sp, "GPUSTARVE_SOCKET");
}

static void set_out(const struct task *t)
{
	spank_setenv(t->sp, "GPUSTARVE_OUT", t->out, 1);
	spank_setenv(t->sp, "GPUSTARVE_SLURM_JOB", t->job, 1);
	spank_setenv(t->sp, "GPUSTARVE_QUIET_ERRORS", "1", 0);
}

/* Programs that let nothing be preloaded are left to CUDA; so is what the user says is one. */
static bool may_preload(const struct task *t)
{
	static const char *const no[] = { "0", "off", "no", NULL };
	char said[8], path[LIST_MAX], name[VIEW_NEEDS_NAME], **word = NULL;
	int words = 0;

	if (get(t->sp, "GPUSTARVE_PRELOAD", said, sizeof(said)) && is_one_of(said, no))
		return false;
	if (spank_get_item(t->sp, S_JOB_ARGV, &words, &word) != ESPANK_SUCCESS || words < 1)
		return true;
	return !view_needs_sanitizer(word[0], get(t->sp, "PATH", path, sizeof(path)) ? path : NULL,
				     name);
}

/*
 * What libprof's constructor would set. TaskProlog may come after us, and is told to preload
 * nothing.
 */
static bool set_injection(const struct task *t)
{
	if (access(t->g->lib, R_OK))
		return false;
	spank_setenv(t->sp, "GPUSTARVE_PRELOAD", "0", 1);
	spank_setenv(t->sp, "NVTX_INJECTION64_PATH", t->g->lib, 0);
	spank_setenv(t->sp, "CUDA_INJECTION64_PATH", t->g->lib, 0);
	return true;
}

/* False: it cannot be listed, and nothing else is worth setting. */
static bool set_preload(const struct task *t)
{
	char have[LIST_MAX], list[LIST_MAX + GS_PATH_MAX];

	if (strpbrk(t->g->lib, ": ") || access(t->g->lib, R_OK))
		return false;
	if (spank_getenv(t->sp, "LD_PRELOAD", have, sizeof(have)) == ESPANK_NOSPACE)
		return false;
	get(t->sp, "LD_PRELOAD", have, sizeof(have));
	if (gs_spank_listed(have, t->g->lib))
		return true;
	/* Last: a sanitizer's runtime has to come first, and nothing else cares. */
	snprintf(list, sizeof(list), "%s%s%s", have, have[0] ? ":" : "", t->g->lib);
	return spank_setenv(t->sp, "LD_PRELOAD", list, 1) == ESPANK_SUCCESS;
}

/* An id that came along from another job, or from this one's batch shell, is not this step's. */
static void forget_run_id(const struct task *t)
{
	char id[512], mine[40], batch[40];

	if (!get(t->sp, "GPUSTARVE_RUN_ID", id, sizeof(id)) || strncmp(id, "slurm-", 6) != 0)
		return;
	snprintf(mine, sizeof(mine), "-%s.", t->job);
	snprintf(batch, sizeof(batch), "-%s.batch-", t->job);
	if (!strstr(id, mine) || strstr(id, batch))
		spank_unsetenv(t->sp, "GPUSTARVE_RUN_ID");
}

static void set_batch_id(const struct task *t)
{
	char id[512], cluster[NAME_MAX_LEN], restart[16];

	if (get(t->sp, "GPUSTARVE_RUN_ID", id, sizeof(id)) && strncmp(id, "slurm-", 6) != 0)
		return;
	if (!get(t->sp, "SLURM_CLUSTER_NAME", cluster, sizeof(cluster)) || !cluster[0])
		strcpy(cluster, "cluster");
	if (!get(t->sp, "SLURM_RESTART_COUNT", restart, sizeof(restart)) || !restart[0])
		strcpy(restart, "0");
	snprintf(id, sizeof(id), "slurm-%s-%s.batch-%s", cluster, t->job, restart);
	spank_setenv(t->sp, "GPUSTARVE_RUN_ID", id, 1);
}

static void know(struct task *t)
{
	char set_in[16];

	get(t->sp, "SLURM_JOB_ID", t->job, sizeof(t->job));
	get(t->sp, "SLURMD_NODENAME", t->node, sizeof(t->node));
	get(t->sp, "SLURM_JOB_USER", t->user, sizeof(t->user));
	t->foreign = get(t->sp, "GPUSTARVE_SLURM_JOB", set_in, sizeof(set_in)) &&
		     strcmp(set_in, t->job) != 0;
	read_told(t);
}

/*
 * Nobody will know what the task does with the job's GPUs, and a report must not take that for
 * nothing: said in the job's folder, if Prolog has made one for this user.
 */
static void tell_unrecorded(struct task *t)
{
	char cluster[NAME_MAX_LEN], path[GS_PATH_MAX + 3 * NAME_MAX_LEN];
	struct stat st;
	int n, fd;

	know(t);
	if (!t->told[0] || !get(t->sp, "SLURM_CLUSTER_NAME", cluster, sizeof(cluster)))
		return;
	n = snprintf(path, sizeof(path), "%s/%s-%s.job", t->told, cluster, t->job);
	if (n < 0 || lstat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return;
	snprintf(path + n, sizeof(path) - (size_t)n, "/unrecorded-%s", t->node);
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

/* 1: a task of a step, 2: a batch shell that is to be recorded, 0: neither. */
static int kind_of(spank_t sp, const struct gs_spank *g, uint32_t step)
{
	char kind[16];

	if (step < STEP_RESERVED)
		return 1;
	return g->batch && get(sp, "ENVIRONMENT", kind, sizeof(kind)) && !strcmp(kind, "BATCH") ? 2
												: 0;
}

static void record(struct task *t, int kind)
{
	know(t);
	if (!t->job[0] || !choose_out(t) || strchr(t->out, '\n'))
		return;
	if (may_preload(t) ? !set_preload(t) : !set_injection(t)) {
		tell_unrecorded(t);
		return;
	}
	if (kind == 1)
		forget_run_id(t);
	else
		set_batch_id(t);
	set_out(t);
	set_socket(t);
	if (t->told[0] && strcmp(t->out, t->told) != 0)
		tell_unrecorded(t); /* it is told where the job's report does not look */
}

void gs_spank_task(spank_t sp, const struct gs_spank *g)
{
	static const char *const no[] = { "0", "off", "no", NULL };
	static const char *const yes[] = { "1", "on", "yes", NULL };
	struct task t = { .sp = sp, .g = g };
	uint32_t step = 0;
	int kind;

	if (g->off)
		spank_setenv(sp, "GPUSTARVE", "0", 1); /* for what else sets things: TaskProlog */
	if (g->off || spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
	    step == STEP_EXTERN)
		return;
	kind = kind_of(sp, g, step);
	if (!has_gpu(sp, kind == 1 ? "SLURM_STEP_GPUS" : "SLURM_JOB_GPUS"))
		return;
	if (is_switched(sp, no))
		tell_unrecorded(&t);
	else if (!g->given && !is_switched(sp, yes) && !is_by_default(sp, g))
		return; /* TaskProlog may know better */
	else if (!kind)
		tell_unrecorded(&t);
	else
		record(&t, kind);
}
