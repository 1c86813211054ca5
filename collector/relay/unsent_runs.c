/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One readdir of the folder; a run that is known costs nothing, another one look for its cursor,
 * and one more when its turn comes.
 * Names are asked for in a table that is made for each scan: of runs, known ones and listed ones
 * there may be a hundred thousand each.
 */
#include "unsent_runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "cursor.h"
#include "retain/run_dirs.h"
#include "store/run_name.h"
#include "wire/keyed_hash.h"

#define LIST_MAX (16u << 20)
#define HEAD "# runs that lay here before there was an upstream; they are not forwarded\n"

/*
 * Names that are not looked at, in a table with at least as many empty places. Texts are borrowed.
 */
struct names {
	const char **at;
	size_t room; /* a power of two */
	uint64_t seed; /* run ids are a client's to choose */
};

static const char **place_of(const struct names *n, const char *name)
{
	size_t i = (size_t)base_hash_text(n->seed, name) & (n->room - 1);

	while (n->at[i] && strcmp(n->at[i], name) != 0)
		i = (i + 1) & (n->room - 1);
	return &n->at[i];
}

static bool is_among(const struct names *n, const char *name)
{
	return *place_of(n, name) != NULL;
}

static int make_room(struct names *n, size_t count)
{
	if (getrandom(&n->seed, sizeof(n->seed), GRND_NONBLOCK) < 0)
		n->seed = (uint64_t)coll_now_ns();
	n->room = 64;
	while (n->room < 2 * count)
		n->room *= 2;
	n->at = calloc(n->room, sizeof(*n->at));
	return n->at ? 0 : -ENOMEM;
}

static size_t count_lines(const char *text)
{
	size_t lines = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		lines++;
	}
	return lines;
}

/* The lines of @list, which are cut apart, and runs that are known. */
static int gather(struct names *n, const struct coll_outbox *o, char *list)
{
	const struct coll_out_run *run;
	size_t count = count_lines(list);
	char *name;
	int err;

	for (run = o->runs; run; run = run->next)
		count++;
	err = make_room(n, count);
	if (err)
		return err;
	for (run = o->runs; run; run = run->next) {
		name = strrchr(run->dir, '/') + 1;
		*place_of(n, name) = name;
	}
	while ((name = strsep(&list, "\n")))
		*place_of(n, name) = name;
	return 0;
}

static int open_run(int base_fd, const char *name)
{
	return openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool has_cursor(int base_fd, const char *name)
{
	char path[NAME_MAX + sizeof("/" COLL_CURSOR_FILE)];

	snprintf(path, sizeof(path), "%s/" COLL_CURSOR_FILE, name);
	return !faccessat(base_fd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool holds_spool(int base_fd, const char *name)
{
	int fd = open_run(base_fd, name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	bool found = false;

	if (!d && fd >= 0)
		close(fd);
	while (d && !found && (e = readdir(d)))
		found = coll_out_kind_of(e->d_name) == COLL_OUT_SPOOL;
	if (d)
		closedir(d);
	return found;
}

/* What a trace lies in that nobody forwards, or not yet. */
static bool stays(const struct coll_outbox *o, int base_fd, const char *name)
{
	const struct coll_out_run *run;
	int fd;
	DIR *d;
	struct dirent *e;
	bool found = false;

	for (run = o->runs; run; run = run->next)
		if (!strcmp(strrchr(run->dir, '/') + 1, name))
			return false;
	if (has_cursor(base_fd, name))
		return false;
	fd = open_run(base_fd, name);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	while (d && !found && (e = readdir(d)))
		found = coll_out_kind_of(e->d_name) == COLL_OUT_SPOOL ||
			coll_out_kind_of(e->d_name) == COLL_OUT_FRAMES;
	if (d)
		closedir(d);
	return found;
}

/*
 * A job goes once no run of its stays here: a centre that had its GPUs and not its runs would say
 * that nobody used them.
 */
static bool job_may_go(const struct coll_outbox *o, int base_fd, const char *job)
{
	int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char of[COLL_RUN_BYTES];
	struct dirent *e;
	bool may = d != NULL;

	if (!d && fd >= 0)
		close(fd);
	while (may && (e = readdir(d)))
		if (coll_job_of_run(of, e->d_name) && !strcmp(of, job))
			may = !stays(o, base_fd, e->d_name);
	if (d)
		closedir(d);
	return may;
}

/* One that was done, and the centre does not have all of it, or was not asked since its start. */
static bool has_news(int base_fd, const char *name)
{
	int fd = open_run(base_fd, name);
	bool news = fd >= 0 && !coll_cursor_has_all(fd);

	if (fd >= 0)
		close(fd);
	return news;
}

/* A job that is started along with its collector may well be the quicker one. */
static bool begun_with_us(int base_fd, const char *name)
{
	int64_t now = coll_clock_ns(CLOCK_REALTIME) / COLL_SECOND_NS;
	struct stat st;

	return !fstatat(base_fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_mtime >= now - COLL_UNSENT_WITH_US_S;
}

/* What else lies here now without a cursor was recorded before. */
static int make_list(const struct coll_outbox *o, DIR *d)
{
	struct dirent *e;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err = -ENOMEM;

	if (!f)
		return err;
	fputs(HEAD, f);
	while ((e = readdir(d)))
		if (coll_run_dir_name_ok(e->d_name) && !has_cursor(dirfd(d), e->d_name) &&
		    !begun_with_us(dirfd(d), e->d_name))
			fprintf(f, "%s\n", e->d_name);
	if (!fclose(f) && text)
		err = coll_file_replace(o->store->base, COLL_UNSENT_FILE, text, len);
	free(text);
	return err;
}

/* @known: it was forwarded before. */
static bool forward_run(struct coll_outbox *o, const char *name, bool known)
{
	char dir[PATH_MAX];

	if (snprintf(dir, sizeof(dir), "%s/%s", o->store->base, name) >= (int)sizeof(dir))
		return false;
	if (known)
		coll_note("%s: is looked at again", dir);
	else if (!coll_job_dir_is(name))
		coll_log(
			"%s: was recorded without this collector; is forwarded from its spool files",
			dir);
	coll_outbox_follow(o, dir);
	return true;
}

static uint64_t *slot_of(const struct coll_unsent_set *set, uint64_t key)
{
	size_t i = (size_t)key & (set->room - 1);

	while (set->at[i] && set->at[i] != key)
		i = (i + 1) & (set->room - 1);
	return &set->at[i];
}

static bool set_has(const struct coll_unsent_set *set, uint64_t key)
{
	return set->room && *slot_of(set, key);
}

static bool set_grow(struct coll_unsent_set *set)
{
	struct coll_unsent_set more = { .room = set->room ? 2 * set->room : 64 };

	more.at = calloc(more.room, sizeof(*more.at));
	if (!more.at)
		return false;
	for (size_t i = 0; i < set->room; i++)
		if (set->at[i])
			*slot_of(&more, set->at[i]) = set->at[i];
	more.count = set->count;
	free(set->at);
	*set = more;
	return true;
}

/* Without memory it is looked for again. */
static void set_put(struct coll_unsent_set *set, uint64_t key)
{
	if (2 * set->count >= set->room && !set_grow(set))
		return;
	*slot_of(set, key) = key;
	set->count++;
}

/* One that was removed and made anew is another. */
static uint64_t key_of(const struct dirent *e)
{
	const struct wire_secret s = wire_secret();
	uint64_t h = wire_keyed_hash(e->d_name, strlen(e->d_name), &s);

	h = wire_keyed_end(wire_keyed_mix(h, e->d_ino, &s), &s);
	return h ? h : 1;
}

/* @look: whatever is remembered. Goes into @now, what is to be remembered. */
static bool is_done(const struct coll_unsent_runs *s, struct coll_unsent_set *now, int base_fd,
		    const struct dirent *e, bool look)
{
	uint64_t key = key_of(e);

	if ((look || !set_has(&s->done, key)) && !has_cursor(base_fd, e->d_name))
		return false;
	set_put(now, key);
	return true;
}

static size_t scan_entries(struct coll_unsent_runs *s, struct coll_outbox *o, DIR *d,
			   const struct names *known)
{
	struct coll_unsent_set now = { .room = 0 };
	size_t done = 0, taken = 0;
	struct dirent *e;

	while ((e = readdir(d))) {
		const char *name = e->d_name;
		bool stray, had,
			turn = done >= s->looked && done < s->looked + COLL_UNSENT_DONE_EACH;

		if (!coll_run_dir_name_ok(name) || is_among(known, name))
			continue;
		had = is_done(s, &now, dirfd(d), e, turn);
		if (had) {
			stray = turn && has_news(dirfd(d), name);
			done++;
		} else {
			stray = coll_job_dir_is(name) ? job_may_go(o, dirfd(d), name)
						      : holds_spool(dirfd(d), name);
		}
		if (stray)
			taken += forward_run(o, name, had);
	}
	s->looked += COLL_UNSENT_DONE_EACH;
	if (s->looked >= done)
		s->looked = 0;
	free(s->done.at);
	s->done = now;
	return taken;
}

static size_t scan_folder(struct coll_unsent_runs *s, struct coll_outbox *o, DIR *d)
{
	struct names known = { .at = NULL };
	uint8_t *list = NULL;
	size_t taken = 0, len;
	int err = coll_file_read_at(o->store->base_fd, COLL_UNSENT_FILE, LIST_MAX, &list, &len);

	if (err == -ENOENT) {
		err = make_list(o, d);
	} else if (!err) {
		err = gather(&known, o, (char *)list);
		if (!err)
			taken = scan_entries(s, o, d, &known);
	}
	if (err && !s->logged)
		coll_log("%s/" COLL_UNSENT_FILE
			 ": %s; runs that are recorded while no collector is here are not "
			 "forwarded",
			 o->store->base, strerror(-err));
	s->logged = err != 0;
	free(known.at);
	free(list);
	return taken;
}

void coll_unsent_runs_fini(struct coll_unsent_runs *s)
{
	free(s->done.at);
	s->done = (struct coll_unsent_set){ .room = 0 };
}

size_t coll_unsent_runs_scan(struct coll_unsent_runs *s, struct coll_outbox *o, int64_t now_ns)
{
	size_t taken = 0;
	DIR *d;

	if (now_ns < s->next_ns)
		return 0;
	s->next_ns = now_ns + COLL_UNSENT_EVERY_S * COLL_SECOND_NS;
	d = opendir(o->store->base);
	if (!d)
		return 0;
	taken = scan_folder(s, o, d);
	closedir(d);
	return taken;
}
