/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line, with one write.
 */
#include "unbilled.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/escape.h"
#include "base/files.h"
#include "core/clock.h"
#include "digest_tries.h"
#include "held_time.h"

static void put_text(FILE *f, const char *member, const char *value)
{
	fprintf(f, ",\"%s\":", member);
	base_put_quoted(f, BASE_AS_JSON, value);
}

static void put_held(FILE *f, const struct coll_held_time *t)
{
	if (t->gpus)
		fprintf(f, ",\"held_ns\":%" PRId64, t->held_ns);
	else
		fputs(",\"held_ns\":null", f);
	fprintf(f, ",\"gpus\":%zu,\"files\":%zu,\"files_read\":%zu", t->gpus, t->files,
		t->files_read);
}

static void put_line(FILE *f, const struct coll_run_dir *run, int run_fd, const char *why)
{
	int len = (int)(strlen(run->name) - strlen(".gst"));
	struct coll_digest_tries tries;
	struct coll_held_time held;
	char id[256];

	snprintf(id, sizeof(id), "%.*s", len, run->name);
	coll_held_time_read(&held, run_fd);
	coll_digest_tries_read(&tries, run_fd, run->newest_ns);
	fputs("{\"run\":", f);
	base_put_quoted(f, BASE_AS_JSON, id);
	put_text(f, "team", run->team);
	fprintf(f, ",\"removed_unix_ns\":%" PRId64 ",\"last_write_unix_ns\":%" PRId64,
		coll_clock_ns(CLOCK_REALTIME), run->newest_ns);
	put_held(f, &held);
	fprintf(f, ",\"provisional\":%s", run->row_made ? "true" : "false");
	fprintf(f, ",\"bytes\":%" PRIu64 ",\"digest_attempts\":%u", run->bytes, tries.attempts);
	if (tries.attempts)
		put_text(f, "digest_error", tries.error);
	put_text(f, "why", why);
	fputs("}\n", f);
}

static int append(int folder_fd, const char *text, size_t len)
{
	int fd = openat(folder_fd, COLL_UNBILLED,
			O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	int err;

	if (fd < 0)
		return -errno;
	err = base_write_all(fd, text, len);
	if (!err && fsync(fd))
		err = -errno;
	close(fd);
	if (!err && fsync(folder_fd) && errno != EINVAL)
		err = -errno;
	return err;
}

int coll_unbilled_note(int folder_fd, const struct coll_run_dir *run, const char *why)
{
	int fd = openat(folder_fd, run->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0;
	int err = -ENOMEM;
	FILE *f;

	if (fd < 0)
		return -errno;
	f = open_memstream(&text, &len);
	if (f) {
		put_line(f, run, fd, why);
		if (!fclose(f) && text)
			err = append(folder_fd, text, len);
	}
	free(text);
	close(fd);
	return err;
}
