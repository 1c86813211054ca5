/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run directories, looked at again and again. A look costs a readdir and an fstatat per file.
 */
#include "outbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#include "gone.h"
#include "retain/job_dirs.h"
#include "retain/remove_run.h"
#include "retain/run_dirs.h"
#include "store/run_name.h"

static void run_free(struct coll_out_run *run)
{
	coll_out_files_free(run);
	free(run->others);
	free(run->dir);
	free(run->name);
	free(run);
}

static struct coll_out_run *run_new(const char *dir)
{
	struct coll_out_run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->dir = strdup(dir);
	run->name = coll_run_id_of(dir);
	run->changed_ns = coll_now_ns();
	if (run->dir && run->name)
		return run;
	run_free(run);
	return NULL;
}

static struct coll_out_run *link_run(struct coll_outbox *o, struct coll_out_run *run)
{
	run->next = o->runs;
	o->runs = run;
	return run;
}

/* A directory that is there at the start: forwarded further if that had begun. */
static void add_run_found(struct coll_outbox *o, const char *name)
{
	struct coll_out_run *run;
	char dir[PATH_MAX];
	int err;

	if ((!coll_run_dir_is(name) && !coll_job_dir_is(name)) ||
	    snprintf(dir, sizeof(dir), "%s/%s", o->store->base, name) >= (int)sizeof(dir))
		return;
	if (!coll_run_dir_name_ok(name)) { /* the centre could not be told of it */
		coll_note("%s: not the name of a run; not forwarded", dir);
		return;
	}
	run = run_new(dir);
	if (!run)
		return;
	err = coll_cursor_read(run, o->to, &o->centre);
	if (err == -ENOENT || (run->forwarded && !o->max && !o->remove)) {
		run_free(run);
		return;
	}
	if (err)
		coll_log("%s/" COLL_CURSOR_FILE ": of another upstream, or damaged; all of the run "
			 "is sent again",
			 dir);
	link_run(o, run);
}

int coll_outbox_init(struct coll_outbox *o, struct coll_store *store, const char *to)
{
	struct dirent *e;
	DIR *d;

	o->store = store;
	o->to = to;
	coll_centre_load(&o->centre, store->base_fd);
	d = opendir(store->base);
	if (!d)
		return -errno;
	while ((e = readdir(d)))
		add_run_found(o, e->d_name);
	closedir(d);
	return 0;
}

void coll_outbox_fini(struct coll_outbox *o)
{
	while (o->runs)
		coll_outbox_forget(o, o->runs);
}

void coll_outbox_forget(struct coll_outbox *o, struct coll_out_run *run)
{
	struct coll_out_run **p = &o->runs;

	while (*p && *p != run)
		p = &(*p)->next;
	if (*p)
		*p = run->next;
	run_free(run);
}

void coll_outbox_follow(struct coll_outbox *o, const char *dir)
{
	struct coll_out_run *run = o->runs;

	while (run && strcmp(run->dir, dir))
		run = run->next;
	if (!run) {
		run = run_new(dir);
		if (!run)
			return;
		coll_cursor_read(run, o->to, &o->centre);
		link_run(o, run);
		run->changed = true;
	}
	run->changed |= run->forwarded;
	run->forwarded = false;
	run->changed_ns = coll_now_ns();
	/* From now on a crash cannot make us forget it. */
	if (run->changed && !coll_cursor_write(run, o->to))
		run->changed = false;
}

/* Its GPUs may be given back yet, which is written into a file that is sent then. */
static bool job_goes_on(const struct coll_out_run *run)
{
	const struct coll_out_file *f = coll_job_dir_is(run->name) ? run->files : NULL;
	int fd = f ? open(run->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool on = false;

	for (; fd >= 0 && f && !on; f = f->next)
		on = coll_side_is_allocation(f->name) && !coll_job_has_end(fd, f->name);
	if (fd >= 0)
		close(fd);
	return on;
}

static void scan_side_file(struct coll_outbox *o, struct coll_out_run *run, struct coll_out_file *f,
			   const struct stat *st, int64_t now)
{
	int64_t mtime = coll_timespec_ns(st->st_mtim);

	if (f->mtime_ns != mtime || f->size != (uint64_t)st->st_size)
		f->seen = o->looks;

	/* What is known of clocks is written as long as the run is here: it is no sign of life. */
	if ((f->mtime_ns != mtime || f->size != (uint64_t)st->st_size) &&
	    strncmp(f->name, COLL_CLOCK_PREFIX, strlen(COLL_CLOCK_PREFIX)) != 0)
		run->changed_ns = now;
	f->mtime_ns = mtime;
	f->size = (uint64_t)st->st_size;
}

static void scan_file(struct coll_outbox *o, struct coll_out_run *run, DIR *d, const char *name,
		      int64_t now)
{
	struct coll_out_file *f = coll_out_file_named(run, name);
	struct coll_stream *s;
	struct stat st;
	uint64_t size;

	if (!f || fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (coll_timespec_ns(st.st_mtim) > run->mtime_ns)
		run->mtime_ns = coll_timespec_ns(st.st_mtim);
	if (f->kind == COLL_OUT_SIDE) {
		scan_side_file(o, run, f, &st, now);
		return;
	}
	s = f->kind == COLL_OUT_FRAMES ? coll_store_get(o->store, f->stream) : NULL;
	size = s ? s->synced : (uint64_t)st.st_size;
	if (s)
		o->coming += s->size - s->synced;
	if (f->at > size) /* another file than before */
		f->at = f->extent = 0;
	if (size != f->size)
		run->changed_ns = now;
	f->size = size;
}

/* Somebody still writes: a stream is open here. */
static bool is_open(const struct coll_outbox *o, const struct coll_out_run *run)
{
	const struct coll_out_file *f;

	for (f = run->files; f; f = f->next)
		if (f->kind == COLL_OUT_FRAMES && coll_store_get(o->store, f->stream))
			return true;
	return false;
}

/* run.json says that its command goes on. Without one, nobody can tell. */
static bool command_goes_on(const struct coll_out_run *run)
{
	char path[PATH_MAX];
	const char *at;
	uint8_t *text;
	size_t len;
	bool on;

	snprintf(path, sizeof(path), "%s/run.json", run->dir);
	if (coll_file_read(path, COLL_SIDE_MAX, &text, &len))
		return false;
	at = strstr((char *)text, "\"exit_status\"");
	at = at ? at + strlen("\"exit_status\"") : "";
	on = at[strspn(at, " :\t\n")] == 'n';
	free(text);
	return on;
}

/* A process that writes a spool file may be stopped for hours, and go on with that very file. */
static bool is_spooling(const struct coll_out_run *run)
{
	const struct coll_out_file *f = run->files;

	while (f && (f->kind != COLL_OUT_SPOOL || f->bye))
		f = f->next;
	return f != NULL;
}

static bool is_over(const struct coll_outbox *o, const struct coll_out_run *run, int64_t now)
{
	int64_t quiet = (now - run->changed_ns) / COLL_SECOND_NS;

	if (quiet < COLL_OUTBOX_QUIET_S || is_open(o, run))
		return false;
	return quiet > COLL_OUTBOX_GIVEN_UP_S ||
	       !(command_goes_on(run) || job_goes_on(run) || is_spooling(run));
}

static void scan_files(struct coll_outbox *o, struct coll_out_run *run, int64_t now)
{
	DIR *d = opendir(run->dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		scan_file(o, run, d, e->d_name, now);
	if (d)
		closedir(d);
}

static void note_pending(struct coll_outbox *o, uint64_t *all, uint64_t bytes)
{
	*all += bytes;
	if (bytes > o->longest)
		o->longest = bytes;
}

static void scan_run(struct coll_outbox *o, struct coll_out_run *run, int64_t now)
{
	uint64_t pending = 0, files = 0, bytes = 0;
	struct coll_out_file *f;

	scan_files(o, run, now);
	for (f = run->files; f; f = f->next) {
		if (f->kind == COLL_OUT_SIDE)
			files += coll_out_file_pending(f);
		else
			note_pending(o, &pending, coll_out_file_pending(f));
		bytes += f->kind == COLL_OUT_SIDE ? 0 : f->size;
	}
	run->bytes = bytes;
	o->pending += pending;
	o->pending_files += files;
	if (!coll_out_run_is_sure(run, &o->centre))
		o->unchecked++;
	else if (!pending && !files && !run->forwarded && is_over(o, run, now))
		run->forwarded = run->changed = true;
}

void coll_outbox_scan(struct coll_outbox *o, int64_t now_ns)
{
	struct coll_out_run *run;

	o->looks++;
	o->pending = o->stored = o->longest = 0;
	o->unchecked = 0;
	o->pending_files = 0;
	o->coming = 0;
	for (run = o->runs; run; run = run->next) {
		if (!run->forwarded || !run->bytes ||
		    !coll_out_run_is_sure(run, &o->centre)) /* nothing happens in it any more */
			scan_run(o, run, now_ns);
		o->stored += run->bytes;
	}
	if (o->max)
		o->full = o->pending + o->coming > (o->full ? o->max - o->max / 8 : o->max);
}

/* Sizes were looked at before the side file was, or are of what was not durable then. */
bool coll_outbox_frames_left(const struct coll_outbox *o, const struct coll_out_run *run,
			     const struct coll_out_file *f)
{
	const struct coll_out_file *g;

	if (f->seen == o->looks)
		return true;
	for (g = run->files; g; g = g->next) {
		const struct coll_stream *s = NULL;

		if (g->kind == COLL_OUT_FRAMES)
			s = coll_store_get(o->store, g->stream);
		if (g->kind != COLL_OUT_SIDE &&
		    (coll_out_file_pending(g) || (s && coll_stream_dirty(s))))
			return true;
	}
	return false;
}

static bool is_bulky(uint16_t type)
{
	return type != WIRE_FRAME_HELLO && type != WIRE_FRAME_STRINGS && type != WIRE_FRAME_LOSS &&
	       type != WIRE_FRAME_BYE;
}

bool coll_outbox_drops(struct coll_outbox *o, uint16_t type, uint64_t bytes)
{
	if (o->max && is_bulky(type))
		o->full |= bytes > o->max || o->pending + o->coming > o->max - bytes;
	if (o->full && is_bulky(type))
		return true;
	o->coming += bytes;
	return false;
}

/* True: it is gone. Not while somebody has a stream of it open. */
static bool remove_run(const struct coll_outbox *o, const struct coll_out_run *run)
{
	int fd = open(o->store->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return false;
	err = coll_remove_run(fd, strrchr(run->dir, '/') + 1, coll_gone_lets_go);
	close(fd);
	if (err && err != -EBUSY && err != -ENOENT)
		coll_note("%s: cannot be removed: %s", run->dir, strerror(-err));
	return !err || err == -ENOENT;
}

/* Written to since it was forwarded: a process without a collector goes on with its spool file. */
static bool has_news(struct coll_outbox *o, struct coll_out_run *run)
{
	const struct coll_out_file *f;

	scan_files(o, run, coll_now_ns());
	for (f = run->files; f && !coll_out_file_pending(f); f = f->next)
		;
	return f != NULL;
}

static bool is_done(const struct coll_outbox *o, struct coll_out_run *run)
{
	return run->forwarded && !run->changed && coll_out_run_is_sure(run, &o->centre);
}

static struct coll_out_run *oldest_done(const struct coll_outbox *o)
{
	struct coll_out_run *run, *oldest = NULL;

	for (run = o->runs; run; run = run->next)
		if (is_done(o, run) && (!oldest || run->mtime_ns < oldest->mtime_ns))
			oldest = run;
	return oldest;
}

size_t coll_outbox_retire(struct coll_outbox *o)
{
	struct coll_out_run *run;
	size_t gone = 0;

	while ((run = oldest_done(o)) && (o->remove || o->stored > o->max)) {
		bool removing = o->remove || o->max;

		if (removing && has_news(o, run)) {
			run->forwarded = false;
			run->changed = true;
			continue;
		}
		if (removing && !remove_run(o, run))
			break;
		gone += removing;
		o->stored -= run->bytes;
		coll_outbox_forget(o, run);
	}
	return gone;
}

static void rotate_files(struct coll_out_run *run)
{
	struct coll_out_file *first = run->files, **p = &run->files;

	if (!first || !first->next)
		return;
	while (*p)
		p = &(*p)->next;
	run->files = first->next;
	first->next = NULL;
	*p = first;
}

void coll_outbox_rotate(struct coll_outbox *o)
{
	struct coll_out_run *first = o->runs, **p = &o->runs, *run;

	for (run = o->runs; run; run = run->next)
		rotate_files(run);
	if (!first || !first->next)
		return;
	while (*p)
		p = &(*p)->next;
	o->runs = first->next;
	first->next = NULL;
	*p = first;
}

void coll_outbox_save(struct coll_outbox *o)
{
	struct coll_out_run *run;

	for (run = o->runs; run; run = run->next) {
		int err = run->changed ? coll_cursor_write(run, o->to) : 0;

		if (!err)
			run->changed = false;
		else if (err != -ENOENT) /* its directory was removed */
			coll_note("%s/" COLL_CURSOR_FILE ": %s", run->dir, strerror(-err));
	}
}
