/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controllers lie where every distribution mounts them; what a container does not see of the
 * path in /proc/self/cgroup is not there, and its own group is the top.
 */
#include "headroom.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/procfile.h"

#define LEVELS 12 /* no more groups above each other are looked at */
#define MEMORY_ROOM (UINT64_C(256) << 20) /* at most, of a limit's sixteenth: a hundred workers' */
#define PIDS_ROOM_MIN 16
#define PIDS_ROOM_MAX 128

struct files {
	const char *limit, *used;
	const char *cache; /* in memory.stat: what is used and can be had back at once */
};

static const struct files memory2 = { "memory.max", "memory.current", "\ninactive_file " };
static const struct files memory1 = { "memory.limit_in_bytes", "memory.usage_in_bytes",
				      "\ntotal_inactive_file " };
static const struct files pids = { "pids.max", "pids.current", NULL };

/* False: there is no such file, or no number ("max") in it. */
static bool read_number(const char *group, const char *file, uint64_t *value)
{
	char path[800], text[64];
	const char *p = text;

	return snprintf(path, sizeof(path), "%s/%s", group, file) < (int)sizeof(path) &&
	       prof_proc_read(path, text, sizeof(text)) > 0 && prof_proc_number(&p, value);
}

/* Of a page cache that fills whatever it is given, only the part that nobody uses. */
static uint64_t cached(const char *group, const struct files *f)
{
	char path[800], text[4096];
	uint64_t value;
	const char *p;

	if (!f->cache ||
	    snprintf(path, sizeof(path), "%s/memory.stat", group) >= (int)sizeof(path) ||
	    prof_proc_read(path, text, sizeof(text)) <= 0)
		return 0;
	p = strstr(text, f->cache);
	if (!p)
		return 0;
	p += strlen(f->cache);
	return prof_proc_number(&p, &value) ? value : 0;
}

static uint64_t room_of(uint64_t limit, bool is_memory)
{
	if (is_memory)
		return limit / 16 < MEMORY_ROOM ? limit / 16 : MEMORY_ROOM;
	if (limit / 8 < PIDS_ROOM_MIN)
		return PIDS_ROOM_MIN;
	return limit / 8 < PIDS_ROOM_MAX ? limit / 8 : PIDS_ROOM_MAX;
}

static bool has_room(const char *group, const struct files *f)
{
	uint64_t limit, used, room, back;

	if (!read_number(group, f->limit, &limit) || !read_number(group, f->used, &used))
		return true;
	room = room_of(limit, f != &pids);
	if (used + room <= limit)
		return true;
	back = cached(group, f);
	return used - (back < used ? back : used) + room <= limit;
}

/* The group and those above it. @group is changed; its first @top bytes are the controller's. */
static bool levels_have_room(char *group, size_t top, const struct files *a, const struct files *b)
{
	char *slash;
	int i;

	for (i = 0; i < LEVELS; i++) {
		if (!has_room(group, a) || (b && !has_room(group, b)))
			return false;
		slash = strrchr(group + top, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	return true;
}

/* A line "4:memory:/path", or "0::/path" of version 2. */
static bool line_has_room(const char *line, size_t len, const char *top)
{
	const char *list = memchr(line, ':', len), *path = NULL;
	const struct files *a, *b = NULL;
	char group[700];
	size_t n, at;

	if (list) {
		list++;
		path = memchr(list, ':', (size_t)(line + len - list));
	}
	if (!path)
		return true;
	n = (size_t)(path++ - list);
	if (!n) {
		a = &memory2;
		b = &pids;
	} else if (n == 6 && !memcmp(list, "memory", n)) {
		a = &memory1;
	} else if (n == 4 && !memcmp(list, "pids", n)) {
		a = &pids;
	} else {
		return true;
	}
	at = (size_t)snprintf(group, sizeof(group), "%s%s%.*s", top, n ? "/" : "", (int)n, list);
	if (at + (size_t)(line + len - path) >= sizeof(group))
		return true;
	memcpy(group + at, path, (size_t)(line + len - path));
	group[at + (size_t)(line + len - path)] = 0;
	return levels_have_room(group, at, a, b);
}

bool prof_headroom_in(const char *cgroup, const char *top)
{
	const char *line, *end;

	for (line = cgroup; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (!line_has_room(line, (size_t)(end - line), top))
			return false;
	}
	return true;
}

bool prof_headroom(void)
{
	char text[4096];

	return prof_proc_read("/proc/self/cgroup", text, sizeof(text)) <= 0 ||
	       prof_headroom_in(text, "/sys/fs/cgroup");
}
