/* SPDX-License-Identifier: Apache-2.0 */
#include "hook.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"

#define FILE_MAX (4u << 20) /* of alerts.jsonl: read, and written */

int live_watch_add(struct live_watch *w, const struct live_condition *c, const char *exec,
		   int budget_pct)
{
	if (w->entries == LIVE_ALERTS_MAX)
		return -ENOSPC;
	w->entry[w->entries++] = (struct live_watch_entry){ .alert = { .condition = *c },
							    .exec = exec,
							    .budget_pct = budget_pct };
	return 0;
}

size_t live_watch_fired(const struct live_watch *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->entries; i++)
		n += w->entry[i].alert.fired;
	return n;
}

/*
 * ---- the file ---------------------------------------------------------------------------------
 */

static int file_path(char path[PATH_MAX], const char *dir, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", dir, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* One write at the end of the file, whole or not at all. */
static int append(const char *dir, const char *line, size_t len)
{
	char path[PATH_MAX];
	struct stat st;
	ssize_t n;
	int err = file_path(path, dir, LIVE_FIRED_FILE), fd;

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size + (off_t)len > FILE_MAX)
		err = -EFBIG;
	if (err)
		goto close_file;
	n = write(fd, line, len);
	if (n < 0)
		err = -errno;
	else if ((size_t)n != len)
		err = ftruncate(fd, st.st_size) ? -EIO : -ENOSPC;
	else if (fdatasync(fd))
		err = -errno;
close_file:
	close(fd);
	return err;
}

static int put_line(const char *dir, const struct live_fired *f)
{
	char line[LIVE_FIRED_LINE];
	int len = live_fired_put(f, line);

	return len < 0 ? len : append(dir, line, (size_t)len);
}

static void recall(void *arg, const struct live_fired *f)
{
	struct live_watch *w = arg;

	if (f->ended || strcmp(f->by, w->by) != 0)
		return;
	for (size_t i = 0; i < w->entries; i++)
		if (!strcmp(w->entry[i].alert.condition.text, f->condition) &&
		    w->entry[i].budget_pct == f->budget_pct)
			w->entry[i].alert.fired = true;
}

void live_watch_restore(struct live_watch *w, const char *dir)
{
	live_alerts_each(dir, recall, w);
}

static void each_of(const char *dir, const char *name,
		    void (*each)(void *arg, const struct live_fired *f), void *arg)
{
	char path[PATH_MAX], line[LIVE_FIRED_LINE];
	struct live_fired f;
	struct stat st;
	size_t bytes = 0;
	FILE *file;
	int fd;

	if (file_path(path, dir, name))
		return;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	file = !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
	if (!file) {
		close(fd);
		return;
	}
	while (bytes < FILE_MAX && fgets(line, sizeof(line), file)) {
		size_t len = strlen(line);
		bytes += len;
		if (len && line[len - 1] == '\n' && !live_fired_get(&f, line, len - 1))
			each(arg, &f);
	}
	fclose(file);
}

void live_alerts_each(const char *dir, void (*each)(void *arg, const struct live_fired *f),
		      void *arg)
{
	each_of(dir, LIVE_FIRED_FILE, each, arg);
}

void live_alerts_each_anywhere(const char *dir, void (*each)(void *arg, const struct live_fired *f),
			       void *arg)
{
	struct dirent **name = NULL;
	int n;

	live_alerts_each(dir, each, arg);
	n = scandir(dir, &name, live_fired_is_of_node, alphasort);
	for (int i = 0; i < n; i++) {
		each_of(dir, name[i]->d_name, each, arg);
		free(name[i]);
	}
	free(name);
}

/*
 * ---- the command ------------------------------------------------------------------------------
 */

static int run_command(struct live_watch_entry *e, const struct live_fired *f, const char *dir,
		       const char *id)
{
	struct live_command *c = live_command_new();
	char words[LIVE_WORDS_BYTES];
	int err;

	if (!c)
		return -ENOMEM;
	live_command_variable(c, "GPUSTARVE_ALERT_CONDITION=%s", f->condition);
	live_command_variable(c, "GPUSTARVE_ALERT_METRIC=%s", live_metrics[f->metric].name);
	live_command_variable(c, "GPUSTARVE_ALERT_VALUE=%" PRId64, f->value);
	live_command_variable(c, "GPUSTARVE_ALERT_UNIT=%s",
			      live_unit_names[live_metrics[f->metric].unit]);
	live_command_variable(c, "GPUSTARVE_ALERT_TEXT=%s", live_fired_words(words, f));
	live_command_variable(c, "GPUSTARVE_ALERT_BY=%s", f->by);
	live_command_variable(c, "GPUSTARVE_ALERT_TIME_NS=%" PRId64, f->t_unix_ns);
	live_command_variable(c, "GPUSTARVE_ALERT_RUN=%s", dir);
	live_command_variable(c, "GPUSTARVE_ALERT_RUN_ID=%s", id);
	err = live_command_start(c, e->exec, &e->pid);
	if (err)
		e->pid = 0;
	live_command_free(c);
	return err;
}

/*
 * ---- watching ---------------------------------------------------------------------------------
 */

static void copy(char *out, size_t room, const char *text)
{
	snprintf(out, room, "%.*s", (int)room - 1, text);
}

static void fire(struct live_watch *w, struct live_watch_entry *e, const struct live_watched *run,
		 const struct live_when *when)
{
	const struct live_condition *c = &e->alert.condition;
	struct live_fired f = { .metric = c->metric,
				.value = e->alert.value,
				.threshold = c->value,
				.t_unix_ns = when->wall_ns,
				.since_unix_ns = when->wall_ns - (when->now_ns - e->alert.since_ns),
				.budget_pct = e->budget_pct };
	int written, err = 0;

	copy(f.by, sizeof(f.by), w->by);
	copy(f.condition, sizeof(f.condition), c->text);
	copy(f.exec, sizeof(f.exec), e->exec ? e->exec : "");
	if (run->claim) {
		run->claim(run->arg, (size_t)(e - w->entry), &f);
		return;
	}
	written = put_line(run->dir, &f);
	if (e->exec)
		err = run_command(e, &f, run->dir, run->id);
	if (err) {
		copy(f.exec_error, sizeof(f.exec_error), strerror(-err));
		f.ended = true;
		f.status = 126;
		put_line(run->dir, &f);
		f.ended = false;
	}
	if (run->fired)
		run->fired(run->arg, &f, written);
}

void live_watch_start(struct live_watch *w, size_t entry, const struct live_fired *f,
		      const struct live_watched *run)
{
	struct live_watch_entry *e = &w->entry[entry];
	struct live_fired told = *f;
	int err = e->exec ? run_command(e, f, run->dir, run->id) : 0;

	if (err)
		copy(told.exec_error, sizeof(told.exec_error), strerror(-err));
	if (run->fired)
		run->fired(run->arg, &told, 0);
}

void live_watch_check(struct live_watch *w, const struct live_watched *run,
		      const struct live_totals *t, const struct live_when *when)
{
	for (size_t i = 0; i < w->entries; i++)
		if (live_alert_check(&w->entry[i].alert, t, when->now_ns))
			fire(w, &w->entry[i], run, when);
}

void live_watch_reap(struct live_watch *w, const char *dir)
{
	for (size_t i = 0; i < w->entries; i++) {
		struct live_watch_entry *e = &w->entry[i];
		struct live_fired f = { .ended = true };
		int status;
		if (!e->pid || waitpid(e->pid, &status, WNOHANG) != e->pid)
			continue;
		e->pid = 0;
		f.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		copy(f.by, sizeof(f.by), w->by);
		copy(f.condition, sizeof(f.condition), e->alert.condition.text);
		f.budget_pct = e->budget_pct;
		if (dir)
			put_line(dir, &f);
	}
}
