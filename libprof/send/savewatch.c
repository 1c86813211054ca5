/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last saves are watched, each until it is changed or deleted. A watch is of the file, not of
 * its place: one that is moved stays watched.
 */
#include "savewatch.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ownfds.h"
#include "loader/shim.h"
#include "report.h"
#include "stream/writer.h"
#include "traceclock.h"

#define WATCHED 64u
#define AROUND 3 /* folders around a save that are watched, from the inmost on */
#define PATH_BYTES 512
#define READS 64 /* of what has gathered at a time; the rest is read the next time */
#define ENDS (IN_DELETE_SELF | IN_MODIFY)
#define EVENTS (ENDS | IN_MOVE_SELF)

struct watched {
	int watch; /* below 0: none */
	uint32_t what; /* of EVENTS, that happened to it and was not told */
	int around[AROUND]; /* watches, as above */
	uint32_t renamed; /* bits of these folders: not told */
	size_t left; /* of the path: the folder that was told last, or itself; 0: none */
	bool out; /* of a folder around it */
	struct prof_checkpoint saved;
	char path[PATH_BYTES];
};

static struct watched list[WATCHED];
static unsigned int used, next;
static int fd = -1; /* in the writer's table */

/* ---- on the writer ---- */

static void take(struct watched *w, const struct inotify_event *e)
{
	if (w->watch >= 0 && w->watch == e->wd)
		w->what |= e->mask & EVENTS;
	for (int i = 0; i < AROUND && (e->mask & IN_MOVE_SELF); i++)
		if (w->around[i] >= 0 && w->around[i] == e->wd)
			w->renamed |= 1u << i;
}

static void took_place(const struct inotify_event *e)
{
	for (unsigned int i = 0; i < used; i++)
		take(&list[i], e);
}

static void read_events(void)
{
	char in[4096] __attribute__((aligned(8)));

	for (int i = 0; i < READS; i++) {
		ssize_t n = read(fd, in, sizeof(in)), at = 0;
		struct inotify_event e;

		while (n - at >= (ssize_t)sizeof(e)) {
			memcpy(&e, in + at, sizeof(e));
			took_place(&e);
			at += (ssize_t)sizeof(e) + e.len;
		}
		if (n <= 0)
			return;
	}
}

static bool is_used(int watch)
{
	bool used_by = false;

	for (unsigned int i = 0; i < used; i++) {
		used_by |= list[i].watch == watch;
		for (int k = 0; k < AROUND; k++)
			used_by |= list[i].around[k] == watch;
	}
	return used_by;
}

/* One may be of many: a folder's is of all that was saved in it. */
static void release(int *watch)
{
	int was = *watch;

	*watch = -1;
	if (was >= 0 && !is_used(was))
		inotify_rm_watch(fd, was);
}

static void forget(struct watched *w)
{
	if (w->what & IN_DELETE_SELF)
		w->watch = -1;
	release(&w->watch);
	for (int i = 0; i < AROUND; i++)
		release(&w->around[i]);
}

static void look(void *arg)
{
	(void)arg;
	if (!prof_ownfds() || fd < 0)
		return;
	read_events();
	for (unsigned int i = 0; i < used; i++)
		if (list[i].what & ENDS)
			forget(&list[i]);
}

/* Where the @up-th folder's path around it ends, from the inmost on; 0: it has none. */
static size_t folder_end(const char *path, int up)
{
	size_t at = strlen(path);

	do {
		while (at && path[at - 1] != '/')
			at--;
		while (at && path[at - 1] == '/')
			at--;
	} while (at && up--);
	return at;
}

/* None of them is another one by then if the file lies there still. */
static void watch_around(struct watched *w)
{
	char folder[PATH_BYTES];

	for (int i = 0; i < AROUND; i++) {
		size_t end = folder_end(w->path, i);

		if (!end)
			return;
		memcpy(folder, w->path, end);
		folder[end] = 0;
		w->around[i] =
			inotify_add_watch(fd, folder, IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD);
	}
}

/* What was changed since it was whole, and before it was watched, is so now. */
static void watch(void *arg)
{
	struct watched *w = arg;
	struct stat st;

	if (!prof_ownfds())
		return;
	if (fd < 0)
		fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd < 0)
		return;
	if (!w->out && w->around[0] < 0)
		watch_around(w);
	w->watch = inotify_add_watch(fd, w->path, EVENTS);
	if (stat(w->path, &st) || st.st_ino != w->saved.inode)
		forget(w);
	else if (w->watch >= 0 && S_ISREG(st.st_mode) &&
		 ((uint64_t)st.st_size != w->saved.size ||
		  st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec != w->saved.mtime_ns))
		w->what = IN_MODIFY;
}

static void unwatch(void *arg)
{
	if (prof_ownfds() && fd >= 0)
		forget(arg);
}

/* ---- on the sender ---- */

static void report(const struct watched *w, uint32_t state, int64_t t_ns, const char *path)
{
	struct prof_checkpoint c = w->saved;

	c.state = state;
	c.end_ns = t_ns;
	prof_report_checkpoint(&c, "", path);
}

/* It lies no more at, or below, the first @end bytes of its path. */
static void tell_moved(struct watched *w, size_t end, int64_t t_ns)
{
	char from[PATH_BYTES];

	if (!end || w->left == end)
		return;
	memcpy(from, w->path, end);
	from[end] = 0;
	report(w, PROF_SAVE_MOVED, t_ns, from);
	w->left = end;
	w->out |= w->path[end] != 0;
}

static void tell_renamed(struct watched *w)
{
	for (int i = 0; i < AROUND; i++)
		if (w->renamed & 1u << i)
			tell_moved(w, folder_end(w->path, i), prof_now_ns());
	w->renamed = 0;
}

static void tell(void)
{
	for (unsigned int i = 0; i < used; i++) {
		struct watched *w = &list[i];

		if (w->what & IN_MOVE_SELF && !w->left)
			tell_moved(w, strlen(w->path), prof_now_ns());
		tell_renamed(w);
		if (w->what & ENDS) {
			report(w, w->what & IN_DELETE_SELF ? PROF_SAVE_DELETED : PROF_SAVE_CHANGED,
			       prof_now_ns(), w->path);
			w->saved.number = 0;
		}
		w->what = 0;
	}
}

static void set_path(struct watched *w, const char *path)
{
	size_t n = strnlen(path, PATH_BYTES - 1);

	memcpy(w->path, path, n);
	w->path[n] = 0;
}

static void add(const struct prof_checkpoint *c, const char *path)
{
	struct watched *w = &list[next % WATCHED];

	if (used == WATCHED)
		prof_writer_call(unwatch, w);
	else
		used++;
	next++;
	*w = (struct watched){ .watch = -1, .around = { -1, -1, -1 }, .saved = *c };
	set_path(w, path);
	prof_writer_call(watch, w);
}

/* Most are saved beside their place, and moved there before they could be watched. */
static void watch_at(struct watched *w, const char *path)
{
	char name[PATH_BYTES];

	memcpy(name, w->path, sizeof(name));
	set_path(w, path);
	prof_writer_call(watch, w);
	memcpy(w->path, name, sizeof(name));
}

/* Of its path: the outmost of the folders that it is not in any more, or itself. */
static size_t left_end(const struct watched *w, uint64_t folders)
{
	size_t end = 0;

	if (folders && folders < PATH_BYTES)
		end = folder_end(w->path, (int)folders - 1);
	return end ? end : strlen(w->path);
}

/* The newest with that inode: those of before were freed. */
static void moved(const struct prof_checkpoint *c, const char *path)
{
	for (unsigned int i = 1; i <= used; i++) {
		struct watched *w = &list[(next - i) % WATCHED];

		if (!w->saved.number || w->saved.inode != c->inode)
			continue;
		tell_moved(w, left_end(w, c->size), c->end_ns);
		if (w->watch < 0)
			watch_at(w, path);
		return;
	}
}

/* Without . and .. and empty parts, as the paths of saves are. */
static void tidy(char *path)
{
	size_t to = 0;

	for (const char *at = path; *at;) {
		size_t n = strcspn(at, "/");

		if (n == 2 && !memcmp(at, "..", 2)) {
			while (to && path[--to] != '/')
				;
		} else if (n && (n > 1 || *at != '.')) {
			path[to++] = '/';
			memmove(path + to, at, n);
			to += n;
		}
		at += n;
		at += *at == '/';
	}
	path[to] = 0;
}

static bool is_below(const struct watched *w, const char *folder, size_t end)
{
	return end && !strncmp(w->path, folder, end) && w->path[end] == '/';
}

/* What is whole only after it was not saved to where it lies by then. */
static void folder_moved(const char *path, int64_t t_ns)
{
	char from[PATH_BYTES];
	size_t end = strnlen(path, PATH_BYTES);

	if (*path != '/' || end == PATH_BYTES)
		return;
	memcpy(from, path, end + 1);
	tidy(from);
	end = strlen(from);
	for (unsigned int i = 0; i < used; i++)
		if (list[i].saved.number && is_below(&list[i], from, end) &&
		    list[i].saved.end_ns <= t_ns)
			tell_moved(&list[i], end, t_ns);
}

void prof_savewatch_told(const struct prof_checkpoint *c, const char *path)
{
	uint32_t state = c->state & ~PROF_SAVE_BITS;

	if (state == PROF_SAVE_FOLDER)
		folder_moved(path, c->end_ns);
	if (!c->inode || !*path || (state != PROF_SAVE_WHOLE && state != PROF_SAVE_MOVED))
		return;
	prof_savewatch_tick(); /* a file that is saved again has the watch of before */
	if (state == PROF_SAVE_WHOLE)
		add(c, path);
	else
		moved(c, path);
	tell();
}

void prof_savewatch_tick(void)
{
	if (!used)
		return;
	prof_writer_call(look, NULL);
	tell();
}
