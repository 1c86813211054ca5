/* SPDX-License-Identifier: Apache-2.0 */
#include "others.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/jsondoc.h"
#include "trace/runjson.h"
#include "trace/trace.h"

static bool is_stream(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool"));
}

static bool is_empty(DIR *d, const char *name)
{
	struct stat st;

	return !fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       !st.st_size;
}

bool view_run_has_streams(const char *dir)
{
	DIR *d = opendir(dir);
	bool any = false;

	for (struct dirent *e; d && !any && (e = readdir(d));)
		any = is_stream(e->d_name);
	if (d)
		closedir(d);
	return any;
}

bool view_run_has_data(const char *dir)
{
	DIR *d = opendir(dir);
	bool any = false;

	for (struct dirent *e; d && !any && (e = readdir(d));)
		any = is_stream(e->d_name) && !is_empty(d, e->d_name);
	if (d)
		closedir(d);
	return any;
}

void view_run_drop_empty_streams(const char *dir)
{
	DIR *d = opendir(dir);

	for (struct dirent *e; d && (e = readdir(d));)
		if (is_stream(e->d_name) && is_empty(d, e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

static bool alive(int64_t pid)
{
	return pid > 0 && (!kill((pid_t)pid, 0) || errno == EPERM);
}

static const char *this_host(void)
{
	static char name[256];

	if (!name[0] && gethostname(name, sizeof(name) - 1))
		strcpy(name, "localhost");
	return name;
}

/* No last word, and either another host's or alive. */
static bool stream_goes_on(const struct view_stream *s)
{
	if (s->bye || !s->hello)
		return false;
	return strcmp(s->hello->host, this_host()) != 0 || alive(s->hello->pid);
}

/* Whoever has left the session has left its command, too, and goes on for as long as it likes. */
static bool has_left(const struct view_stream *s)
{
	return !strcmp(s->hello->host, this_host()) && getsid((pid_t)s->hello->pid) != getsid(0);
}

static bool streams_go_on(const char *dir, bool all)
{
	struct view_trace *t = NULL;
	const char *why;
	bool any = false;

	if (view_trace_open(&t, dir, &why))
		return false;
	for (size_t i = 0; i < t->streams; i++)
		any |= stream_goes_on(&t->stream[i]) && (all || !has_left(&t->stream[i]));
	view_trace_close(t);
	return any;
}

static bool ended(const char *path)
{
	struct base_arena mem = { 0 };
	struct base_json_error error;
	struct base_json *root;
	bool yes = true;

	if (!base_json_read(&mem, path, &root, &error)) {
		const struct base_json *status = base_json_get(root, "exit_status");
		yes = !status || status->type != BASE_JSON_NULL;
	}
	base_arena_fini(&mem);
	return yes;
}

/* exit-<place>-<pid>.json, with the wrapper's pid; a host's name may hold dashes. */
static bool wrapper_goes_on(const char *dir, const char *name, const char *own_record)
{
	char path[4600], host[VIEW_PLACE_BYTES], here[VIEW_PLACE_BYTES];
	const char *dash = strrchr(name, '-');
	const char *own = strrchr(own_record, '/');

	if (strncmp(name, "exit-", 5) || !dash || dash < name + 5 ||
	    !strcmp(own ? own + 1 : own_record, name))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(dash - name - 5), name + 5);
	snprintf(path, sizeof(path), "%.4000s/%.300s", dir, name);
	if (ended(path))
		return false;
	view_run_place(here, sizeof(here), this_host());
	return strcmp(host, here) != 0 || alive(strtoll(dash + 1, NULL, 10));
}

static bool wrappers_go_on(const char *dir, const char *own_record)
{
	DIR *d = opendir(dir);
	bool any = false;

	for (struct dirent *e; d && !any && (e = readdir(d));)
		any = wrapper_goes_on(dir, e->d_name, own_record);
	if (d)
		closedir(d);
	return any;
}

bool view_run_has_more_wrappers(const char *dir)
{
	DIR *d = opendir(dir);
	bool any = false;

	for (struct dirent *e; d && !any && (e = readdir(d));)
		any = !strncmp(e->d_name, "exit-", 5) && strncmp(e->d_name, "exit-coll-", 10) != 0;
	if (d)
		closedir(d);
	return any;
}

bool view_others_go_on(const char *dir, const char *own_record)
{
	return wrappers_go_on(dir, own_record) || streams_go_on(dir, true);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Opening a large trace takes long itself, so the time counts, not the tries. */
bool view_others_wait(const char *dir, const char *own_record, int seconds)
{
	struct timespec nap = { .tv_nsec = 200000000 };
	int64_t began = now_ms(), most = seconds * (int64_t)1000;

	for (;;) {
		bool wrappers = wrappers_go_on(dir, own_record);
		if (!wrappers && !streams_go_on(dir, false))
			return true;
		if (now_ms() - began >= (wrappers ? most : most / 5))
			return false;
		nanosleep(&nap, NULL);
	}
}
