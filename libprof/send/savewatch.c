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

#define WATCHED 16u
#define PATH_BYTES 512
#define READS 64 /* of what has gathered at a time; the rest is read the next time */
#define ENDS (IN_DELETE_SELF | IN_MODIFY)
#define EVENTS (ENDS | IN_MOVE_SELF)

struct watched {
	int watch; /* below 0: none */
	uint32_t what; /* of EVENTS, that happened to it and was not told */
	bool moved; /* that was told */
	struct prof_checkpoint saved;
	char path[PATH_BYTES];
};

static struct watched list[WATCHED];
static unsigned int used, next;
static int fd = -1; /* in the writer's table */

/* ---- on the writer ---- */

static void took_place(const struct inotify_event *e)
{
	for (unsigned int i = 0; i < used; i++)
		if (list[i].watch >= 0 && list[i].watch == e->wd)
			list[i].what |= e->mask & EVENTS;
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

static void forget(struct watched *w)
{
	if (w->watch >= 0 && !(w->what & IN_DELETE_SELF))
		inotify_rm_watch(fd, w->watch);
	w->watch = -1;
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

/* What was changed since it was whole, and before it was watched, is so now. */
static void watch(void *arg)
{
	struct watched *w = arg;
	struct stat st;

	w->watch = -1;
	if (!prof_ownfds())
		return;
	if (fd < 0)
		fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd < 0)
		return;
	w->watch = inotify_add_watch(fd, w->path, EVENTS);
	if (w->watch < 0)
		return;
	if (stat(w->path, &st) || st.st_ino != w->saved.inode)
		forget(w);
	else if (S_ISREG(st.st_mode) &&
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

static void report(const struct watched *w, uint32_t state, int64_t t_ns)
{
	struct prof_checkpoint c = w->saved;

	c.state = state;
	c.end_ns = t_ns;
	prof_report_checkpoint(&c, "", w->path);
}

static void tell_moved(struct watched *w, int64_t t_ns)
{
	if (!w->moved)
		report(w, PROF_SAVE_MOVED, t_ns);
	w->moved = true;
}

static void tell(void)
{
	for (unsigned int i = 0; i < used; i++) {
		struct watched *w = &list[i];

		if (w->what & IN_MOVE_SELF)
			tell_moved(w, prof_now_ns());
		if (w->what & ENDS) {
			report(w, w->what & IN_DELETE_SELF ? PROF_SAVE_DELETED : PROF_SAVE_CHANGED,
			       prof_now_ns());
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
	*w = (struct watched){ .watch = -1, .saved = *c };
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

/* The newest with that inode: those of before were freed. */
static void moved(const struct prof_checkpoint *c, const char *path)
{
	for (unsigned int i = 1; i <= used; i++) {
		struct watched *w = &list[(next - i) % WATCHED];

		if (!w->saved.number || w->saved.inode != c->inode)
			continue;
		tell_moved(w, c->end_ns);
		if (w->watch < 0)
			watch_at(w, path);
		return;
	}
}

void prof_savewatch_told(const struct prof_checkpoint *c, const char *path)
{
	uint32_t state = c->state & ~PROF_SAVE_BITS;

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
