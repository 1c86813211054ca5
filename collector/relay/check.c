/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions of many files at a time; a file that was asked about is sure until the centre's next
 * start.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "cursor.h"
#include "store/held.h"
#include "store/run_name.h"
#include "wire/crc32c.h"

#define LEAVE_OUT_FRAMES 65536 /* of one answer */

static void turn_runs(struct coll_upstream *u)
{
	struct coll_out_run *run;
	int err = coll_centre_save(&u->box.centre, u->box.store->base);

	if (err)
		coll_note("%s/" COLL_CENTRE_FILE ": %s", u->box.store->base, strerror(-err));
	for (run = u->box.runs; run; run = run->next)
		coll_cursor_turn(run, &u->box.centre);
}

bool coll_check_heard(struct coll_upstream *u, const struct coll_answer *a)
{
	struct coll_centre heard;
	bool other;

	if (a->trouble || !coll_centre_read(&heard, a->epoch) ||
	    (heard.start == u->box.centre.start && !strcmp(heard.id, u->box.centre.id)))
		return false;
	other = strcmp(heard.id, u->box.centre.id) != 0;
	if (other && !coll_centre_is_mute(&u->box.centre))
		coll_log("%s has another store than before; it is asked what it holds", u->box.to);
	u->box.centre = heard;
	turn_runs(u);
	return true;
}

void coll_check_heard_mute(struct coll_upstream *u)
{
	if (coll_centre_is_mute(&u->box.centre))
		return;
	coll_centre_mute(&u->box.centre);
	turn_runs(u);
}

/* The files of a run that are not sure yet, as far as there is room. */
static int add_run(struct coll_upstream *u, struct coll_out_run *run)
{
	char line[2 * NAME_MAX];
	struct coll_out_file *f;
	int err = 0;

	for (f = run->files; !err && f && u->check.count < COLL_HELD_LINES; f = f->next) {
		if (!coll_out_file_is_claimed(f) || f->sure == u->box.centre.start)
			continue;
		if (f->kind == COLL_OUT_SPOOL) /* its frames are in the stream of that number */
			snprintf(line, sizeof(line), "%s %.*s" COLL_RUN_SUFFIX "\n", run->name,
				 2 * WIRE_STREAM_ID_BYTES, f->name);
		else
			snprintf(line, sizeof(line), "%s %s\n", run->name, f->name);
		err = wire_buf_append(&u->check.body, line, strlen(line));
		u->check.item[u->check.count].run = run;
		u->check.item[u->check.count++].file = f;
	}
	return err;
}

int coll_check_next(struct coll_upstream *u, struct coll_request *r)
{
	struct coll_out_run *run;
	int err = 0;

	u->check.body.len = 0;
	u->check.count = 0;
	for (run = u->box.runs; !err && run && u->check.count < COLL_HELD_LINES; run = run->next)
		if (!coll_out_run_is_sure(run, &u->box.centre))
			err = add_run(u, run);
	if (err || !u->check.count)
		return err;
	r->method = "POST";
	r->path = COLL_HELD_PATH;
	r->body = u->check.body.data;
	r->len = u->check.body.len;
	return 1;
}

/* The first time in a while is said with its name. */
static void tell(struct coll_upstream *u, const struct coll_out_run *run,
		 const struct coll_out_file *f, uint64_t has, bool gone)
{
	if (gone)
		coll_log("%s/%s: %s has %" PRIu64
			 " bytes of what it has acknowledged, and the file is "
			 "not here any more: the rest is lost",
			 run->dir, f->name, u->box.to, has);
	else
		coll_log("%s/%s: %s has %" PRIu64
			 " bytes, less than it has acknowledged; it is sent "
			 "again",
			 run->dir, f->name, u->box.to, has);
}

static bool is_gone(const struct coll_out_run *run, const struct coll_out_file *f)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/%s", run->dir, f->name) >= (int)sizeof(path) ||
	       (lstat(path, &st) && errno == ENOENT);
}

static void send_again(struct coll_upstream *u, struct coll_out_run *run, struct coll_out_file *f,
		       uint64_t has)
{
	bool gone = is_gone(run, f);

	tell(u, run, f, has, gone);
	u->context->count.up_behind++;
	coll_behind_note(&u->behind, gone);
	if (gone) {
		u->context->count.up_lost++;
		coll_context_lost(u->context);
	}
	f->at = f->extent = f->stuck = 0;
	f->again = true;
	run->forwarded = false;
	run->changed = true;
	run->changed_ns = coll_now_ns();
}

void coll_check_fell_back(struct coll_upstream *u, struct coll_out_run *run,
			  const struct coll_out_file *f, uint64_t has)
{
	struct coll_out_file *other;

	for (other = run->files; other; other = other->next)
		if (other->kind != COLL_OUT_SIDE && other->at && other->extent > has &&
		    !memcmp(other->stream, f->stream, sizeof(f->stream)))
			send_again(u, run, other, has);
}

/*
 * It says so; of runs that were over it did not before, and where it has nothing of them that was
 * it.
 */
static bool was_removed_there(const struct coll_out_run *run, const char *line)
{
	return !strcmp(line, COLL_HELD_REMOVED) ||
	       (run->mute_before && run->forwarded && !strcmp(line, COLL_HELD_NONE));
}

/* Nobody said before that anything is missing there. */
static void go_through(struct coll_out_run *run, struct coll_out_file *f)
{
	f->at = f->extent = f->stuck = 0;
	f->again = run->changed = true;
}

static void answer_frames(struct coll_upstream *u, struct coll_out_run *run,
			  struct coll_out_file *f, const char *line)
{
	uint64_t has = strcmp(line, COLL_HELD_NONE) ? strtoull(line, NULL, 10) : 0;

	f->sure = u->box.centre.start;
	if (was_removed_there(run, line))
		return;
	if (f->extent == COLL_OUT_UNKNOWN && f->unknown_since == u->box.centre.start)
		f->extent = has;
	else if (f->extent == COLL_OUT_UNKNOWN && run->mute_before)
		go_through(run, f);
	else if (f->extent > has)
		send_again(u, run, f, has);
}

/* As it was sent; if it has changed since it is sent anyway. */
static void answer_side(struct coll_upstream *u, struct coll_out_run *run, struct coll_out_file *f,
			const char *line)
{
	char path[PATH_MAX], here[48];
	uint8_t *bytes;
	size_t len;

	f->sure = u->box.centre.start;
	snprintf(path, sizeof(path), "%s/%s", run->dir, f->name);
	if (was_removed_there(run, line) || coll_file_read(path, COLL_SIDE_MAX, &bytes, &len))
		return;
	snprintf(here, sizeof(here), "%zu %" PRIu32, len, wire_crc32c(0, bytes, len));
	free(bytes);
	if (!strcmp(here, line))
		return;
	f->sent_mtime_ns = 0;
	f->sent_size = 0;
	f->tag[0] = '\0';
	run->forwarded = false;
	run->changed = true;
}

static bool is_line(const char *line)
{
	size_t digits = strspn(line, "0123456789");

	if (!strcmp(line, COLL_HELD_NONE) || !strcmp(line, COLL_HELD_REMOVED))
		return true;
	if (digits && line[digits] == ' ') {
		line += digits + 1;
		digits = strspn(line, "0123456789");
	}
	return digits && !line[digits];
}

/* A line for each question. */
static bool makes_sense(const struct coll_upstream *u, const struct coll_answer *a)
{
	char *copy = strndup((const char *)a->bytes, a->len), *rest = copy, *line;
	size_t lines = 0;
	bool good = copy != NULL;

	while (good && (line = strsep(&rest, "\n")) && rest) {
		good = is_line(line);
		lines++;
	}
	free(copy);
	return good && lines == u->check.count;
}

bool coll_check_answer(struct coll_upstream *u, const struct coll_answer *a)
{
	char line[64];
	const char *at = (const char *)a->bytes;

	if (!makes_sense(u, a))
		return false;
	for (size_t i = 0; i < u->check.count; i++, at += strcspn(at, "\n") + 1) {
		struct coll_out_file *f = u->check.item[i].file;

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		if (f->kind == COLL_OUT_SIDE)
			answer_side(u, u->check.item[i].run, f, line);
		else
			answer_frames(u, u->check.item[i].run, f, line);
	}
	u->check.count = 0;
	return true;
}

/*
 * Behind it stands a frame that the centre may lack, half a one, or nothing that one could leave
 * out.
 */
static bool is_held(int fd, const struct coll_out_file *f, uint64_t top, uint64_t *bytes)
{
	uint8_t header[WIRE_FRAME_HEADER_BYTES];
	struct wire_frame frame;

	if (pread(fd, header, sizeof(header), (off_t)f->at) != sizeof(header) ||
	    wire_frame_header_get(&frame, header) || !frame.seq || frame.seq > top ||
	    memcmp(frame.stream, f->stream, sizeof(f->stream)) != 0)
		return false;
	*bytes = wire_frame_bytes(&frame);
	return f->at + *bytes <= f->size;
}

void coll_check_leave_out(struct coll_out_run *run, struct coll_out_file *f, uint64_t top)
{
	char path[PATH_MAX];
	unsigned int frames = 0;
	uint64_t bytes;
	int fd = -1;

	if (snprintf(path, sizeof(path), "%s/%s", run->dir, f->name) < (int)sizeof(path))
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	while (frames++ < LEAVE_OUT_FRAMES && is_held(fd, f, top, &bytes))
		f->at += bytes;
	f->again = frames > LEAVE_OUT_FRAMES;
	close(fd);
}
