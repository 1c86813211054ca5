/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports files into a run directory: tells what each is, has it read, resolved and written, and
 * gives the directory its name only when everything is in it.
 */
#include "import.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"

#define SQLITE_MAGIC "SQLite format 3" /* its NUL included */

int view_import_fail(struct view_import_job *job, int err, const char *format, ...)
{
	va_list ap;

	job->error->file = job->path;
	va_start(ap, format);
	vsnprintf(job->error->why, sizeof(job->error->why), format, ap);
	va_end(ap);
	return err;
}

int view_import_progress(struct view_import_job *job, double done, uint64_t rows)
{
	const struct view_import_options *o = job->options;

	if (o && o->stop && *o->stop)
		return view_import_fail(job, -EINTR, "interrupted; nothing was written");
	if (o && o->progress)
		o->progress(o->arg, job->path, done, rows);
	return 0;
}

static void note(struct view_import_job *job, const char *text)
{
	const struct view_import_options *o = job->options;

	if (o && o->note)
		o->note(o->arg, job->path, text);
}

/* --- what a file is --- */

enum format {
	FORMAT_UNKNOWN,
	FORMAT_JSON,
	FORMAT_SQLITE,
};

static enum format format_of(const uint8_t *data, size_t len)
{
	size_t i = len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;

	if (len >= sizeof(SQLITE_MAGIC) && !memcmp(data, SQLITE_MAGIC, sizeof(SQLITE_MAGIC)))
		return FORMAT_SQLITE;
	while (i < len && isspace(data[i]))
		i++;
	return i < len && (data[i] == '{' || data[i] == '[') ? FORMAT_JSON : FORMAT_UNKNOWN;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcasecmp(text + n - m, end);
}

static int fail_format(struct view_import_job *job)
{
	if (ends_with(job->path, ".nsys-rep") || ends_with(job->path, ".qdrep"))
		return view_import_fail(job, -EINVAL,
					"an nsys report cannot be read directly; run nsys export "
					"--type sqlite on it and import the result");
	return view_import_fail(job, -EINVAL,
				"neither JSON nor SQLite; give a Kineto or Chrome trace (.json, "
				".json.gz) or an nsys export (.sqlite, .sqlite.gz)");
}

static int read_file(struct view_import_job *job, struct view_import_trace *t)
{
	struct view_import_input *in;
	const uint8_t *data = NULL;
	const char *why = "";
	size_t len = 0;
	int err;

	err = view_import_input_open(&in, job->path, &why);
	if (err)
		return view_import_fail(job, err, "%s", why);
	err = view_import_input_read(in, &data, &len, true, &why);
	if (err < 0)
		err = view_import_fail(job, err, "%s", why);
	else if (format_of(data, len) == FORMAT_JSON)
		err = view_import_kineto(job, in, t);
	else if (format_of(data, len) == FORMAT_SQLITE)
		err = view_import_nsys(job, in, t);
	else
		err = fail_format(job);
	view_import_input_close(in);
	return err;
}

/* --- one file --- */

static int fail_resolve(struct view_import_job *job, const struct view_import_trace *t, int err)
{
	if (err != -ENODATA)
		return view_import_fail(job, err, "%s", view_import_strerror(err));
	if (!t->rows)
		return view_import_fail(job, err,
					"no trace events in it; give a Kineto or Chrome trace or "
					"an nsys export");
	if (t->table[0].n)
		return view_import_fail(job, err,
					"every GPU operation in it ends before it starts; record "
					"the trace again");
	return view_import_fail(
		job, err,
		"no GPU work in it, only %llu rows of the CPU; record with the GPU's "
		"activities on",
		(unsigned long long)t->rows);
}

static void note_losses(struct view_import_job *job, const struct view_import_trace *t)
{
	char text[160];

	if (t->skipped) {
		snprintf(text, sizeof(text), "%llu rows left out: they have no usable time",
			 (unsigned long long)t->skipped);
		note(job, text);
	}
	if (t->table[0].n) {
		snprintf(text, sizeof(text),
			 "%llu GPU operations end before they start: counted as invalid",
			 (unsigned long long)t->table[0].n);
		note(job, text);
	}
}

static int import_file(struct view_import_job *job, int dirfd, struct view_import_stats *stats)
{
	struct view_import_trace t;
	int err = view_import_trace_init(&t);

	if (err)
		return view_import_fail(job, err, "out of memory");
	err = read_file(job, &t);
	if (err)
		goto out;
	err = view_import_resolve(&t);
	if (err) {
		fail_resolve(job, &t, err);
		goto out;
	}
	err = view_import_write(job, &t, dirfd, stats);
	if (err && err != -EINTR)
		view_import_fail(job, err, "cannot write the run (%s); is there room for it?",
				 view_import_strerror(err));
	if (!err)
		note_losses(job, &t);
out:
	view_import_trace_fini(&t);
	return err;
}

/* --- the run directory --- */

static int fail_out(struct view_import_error *error, const char *out, int err)
{
	error->file = out;
	if (err == -EEXIST)
		snprintf(error->why, sizeof(error->why),
			 "it exists already; remove it or give another name with -o");
	else
		snprintf(error->why, sizeof(error->why),
			 "cannot make the run directory (%s); give another place with -o",
			 strerror(-err));
	return err;
}

static int make_dir(const char *out, char **temporary, int *fd)
{
	struct stat st;

	if (!lstat(out, &st))
		return -EEXIST;
	if (asprintf(temporary, "%s.part-XXXXXX", out) < 0) {
		*temporary = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(*temporary)) {
		int err = errno;

		free(*temporary);
		*temporary = NULL;
		return err ? -err : -EIO;
	}
	*fd = open(*temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

/* mkdtemp() lets nobody else in; the run gets what the user's umask gives. */
static int publish(const char *temporary, const char *out)
{
	mode_t mask = umask(0);

	umask(mask);
	/* NOLINTNEXTLINE */ /* -fanalyzer: it has a name where make_dir() did not fail */
	if (chmod(temporary, 0777 & ~mask) || rename(temporary, out))
		return errno == ENOTEMPTY ? -EEXIST : -errno;
	return 0;
}

int view_import_files(char *const files[], size_t n, const char *out,
		      const struct view_import_options *options, struct view_import_stats *stats,
		      struct view_import_error *error)
{
	struct view_import_job job = { .options = options, .error = error };
	char *temporary = NULL;
	int fd = -1, err;
	size_t i;

	memset(stats, 0, sizeof(*stats));
	err = make_dir(out, &temporary, &fd);
	if (err) {
		fail_out(error, out, err);
		goto out;
	}
	for (i = 0; !err && i < n; i++) {
		job.path = files[i];
		job.file_index = (uint32_t)i;
		err = import_file(&job, fd, stats);
	}
	if (err)
		goto out;
	err = publish(temporary, out);
	if (err)
		fail_out(error, out, err);
out:
	if (fd >= 0)
		close(fd);
	if (temporary && err)
		base_folder_remove(temporary);
	free(temporary);
	return err;
}
