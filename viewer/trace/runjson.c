/* SPDX-License-Identifier: Apache-2.0 */
#include "runjson.h"

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
#include "base/arena.h"
#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "base/files.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* of the machine itself: include/linux/proc_ns.h */

static void put_command(struct base_jsonout *j, char *const *command)
{
	base_json_flat_array(j, "command");
	for (; *command; command++)
		base_json_string(j, NULL, *command);
	base_json_end(j);
}

static void put_labels(struct base_jsonout *j, const struct view_run_record *r)
{
	base_json_object(j, "labels");
	for (size_t i = 0; i < r->labels; i++)
		base_json_string(j, r->label[i].key, r->label[i].value);
	base_json_end(j);
}

static void put_exits(struct base_jsonout *j, const struct view_run_record *r)
{
	base_json_array(j, "exits");
	if (r->ended) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "host", r->host);
		base_json_int(j, "pid", r->pid);
		base_json_int(j, "start_ns", r->start_unix_ns);
		base_json_int(j, "end_ns", r->start_unix_ns + r->wall_ns);
		base_json_int(j, "status", r->exit_status);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_price(struct base_jsonout *j, const struct view_run_record *r)
{
	if (!r->price && !r->price_model)
		return;
	base_json_flat_object(j, "price");
	if (r->price)
		base_json_string(j, "usd_per_gpu_hour", r->price);
	if (r->price_model)
		base_json_string(j, "price_model", r->price_model);
	base_json_string(j, "from", r->price_from);
	base_json_end(j);
}

static void put_units(struct base_jsonout *j, const struct view_run_record *r)
{
	if (!r->units)
		return;
	base_json_flat_object(j, "units");
	for (size_t i = 0; i < r->units; i++)
		base_json_int(j, r->unit[i].name, r->unit[i].count);
	base_json_end(j);
}

/* Whose it is; run.json is how the runs of a job are found (job/find.h). */
static void put_job(struct base_jsonout *j, const struct view_run_record *r)
{
	base_json_string(j, "user", r->user);
	if (!view_job_known(&r->job))
		return;
	base_json_object(j, "slurm");
	view_job_put(j, &r->job);
	base_json_end(j);
}

static char *record_text(const struct view_run_record *r, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);
	struct base_jsonout j = { .f = f };

	if (!f)
		return NULL;
	base_json_object(&j, NULL);
	base_json_string(&j, "id", r->id);
	put_command(&j, r->command);
	base_json_int(&j, "start_unix_ns", r->start_unix_ns);
	base_json_int(&j, "wall_ns", r->wall_ns);
	if (r->ended)
		base_json_int(&j, "exit_status", r->exit_status);
	else
		base_json_null(&j, "exit_status");
	put_labels(&j, r);
	put_exits(&j, r);
	put_price(&j, r);
	put_units(&j, r);
	put_job(&j, r);
	base_json_end(&j);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Adds spaces in front of the last newline, so that @text has @want bytes. NULL: no memory. */
static char *pad(char *text, size_t *len, size_t want)
{
	char *wide;

	if (want <= *len)
		return text;
	wide = realloc(text, want + 1);
	if (!wide) {
		free(text);
		return NULL;
	}
	memset(wide + *len - 1, ' ', want - *len);
	strcpy(wide + want - 1, "\n");
	*len = want;
	return wide;
}

/* The record of a run that goes on, as long as that of its end can become. */
static char *roomy_text(const struct view_run_record *r, size_t *len)
{
	struct view_run_record last = *r;
	char *text, *longest;
	size_t most;

	last.ended = true;
	last.pid = INT_MAX;
	last.exit_status = 255;
	last.wall_ns = INT64_MAX - (r->start_unix_ns > 0 ? r->start_unix_ns : 0);
	longest = record_text(&last, &most);
	if (!longest)
		return NULL;
	free(longest);
	text = record_text(r, len);
	return text ? pad(text, len, most) : NULL;
}

static int put_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int create(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), err;

	if (fd < 0)
		return -errno;
	err = put_all(fd, text, len);
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlink(path);
	return err;
}

/* Over what is there, which on most file systems needs no room even where none is left. */
static int overwrite(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_size < (off_t)len)
		err = -ENOSPC;
	if (!err)
		err = put_all(fd, text, len);
	if (!err && ftruncate(fd, (off_t)len))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

void view_run_place(char *out, size_t room, const char *host)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != FIRST_PID_NAMESPACE)
		snprintf(out, room, "%s.%ju", host, (uintmax_t)st.st_ino);
	else
		snprintf(out, room, "%s", host);
}

int view_run_record_begin(const char *dir, const struct view_run_record *r, bool *first,
			  char **path)
{
	char place[VIEW_PLACE_BYTES];
	size_t len;
	char *text = roomy_text(r, &len);
	int err;

	*path = NULL;
	if (!text)
		return -ENOMEM;
	if (asprintf(path, "%s/run.json", dir) < 0) {
		*path = NULL;
		err = -ENOMEM;
		goto free_text;
	}
	err = create(*path, text, len);
	*first = !err;
	if (err == -EEXIST) {
		free(*path);
		err = 0;
		view_run_place(place, sizeof(place), r->host);
		if (asprintf(path, "%s/exit-%s-%ld.json", dir, place, (long)getpid()) < 0) {
			*path = NULL;
			err = -ENOMEM;
		} else {
			unlink(*path); /* of an earlier process of our number */
			err = create(*path, text, len);
		}
	}
	if (err) {
		free(*path);
		*path = NULL;
	}
free_text:
	free(text);
	return err;
}

int view_run_record_end(const char *path, const struct view_run_record *r)
{
	size_t len;
	char *text = record_text(r, &len);
	int err;

	if (!text)
		return -ENOMEM;
	err = base_file_write(path, text, len);
	if (err && !overwrite(path, text, len))
		err = 0;
	free(text);
	return err;
}

/* False: there is none that can be read. */
static bool read_record(const char *dir, struct base_arena *mem, struct base_json **root)
{
	struct base_json_error why;
	struct stat st;
	char *path;
	bool read;

	if (stat(dir, &st) || !S_ISDIR(st.st_mode) || asprintf(&path, "%s/run.json", dir) < 0)
		return false;
	read = !base_json_read(mem, path, root, &why);
	free(path);
	return read;
}

void view_run_price_read(const char *dir, struct view_run_price *p)
{
	struct base_arena mem = { 0 };
	struct base_json *root;

	*p = (struct view_run_price){ .from = "--price" };
	if (read_record(dir, &mem, &root)) {
		const struct base_json *price = base_json_get(root, "price");
		snprintf(p->price, sizeof(p->price), "%s",
			 base_json_get_text(price, "usd_per_gpu_hour", ""));
		snprintf(p->model, sizeof(p->model), "%s",
			 base_json_get_text(price, "price_model", ""));
		snprintf(p->from, sizeof(p->from), "%s",
			 base_json_get_text(price, "from", "--price"));
	}
	base_arena_fini(&mem);
}

int view_run_exit_read(const char *dir)
{
	struct base_arena mem = { 0 };
	struct base_json *root;
	int64_t status = -1;

	if (read_record(dir, &mem, &root))
		status = base_json_get_int(root, "exit_status", -1);
	base_arena_fini(&mem);
	return status < 0 || status > 255 ? -1 : (int)status;
}
