/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/self/cgroup, the cgroup mounts, cpu.stat. A quota may stand at any level: in a container it
 * is at the top of what can be seen, for a batch job somewhere between.
 */
#include "throttle.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/procfile.h"

/* Is @word one of the words in @list, which commas separate and @len bytes hold? */
static bool in_list(const char *list, size_t len, const char *word)
{
	size_t n = strlen(word), at, end;

	for (at = 0; at < len; at = end + 1) {
		for (end = at; end < len && list[end] != ','; end++)
			;
		if (end - at == n && !memcmp(list + at, word, n))
			return true;
	}
	return false;
}

static const struct prof_mount *find_mount(const struct prof_mounts *m, bool second)
{
	size_t i;

	for (i = 0; i < m->count; i++) {
		const struct prof_mount *at = &m->list[i];

		if (second ? !strcmp(at->type, "cgroup2")
			   : !strcmp(at->type, "cgroup") &&
				     in_list(at->options, strlen(at->options), "cpu"))
			return at;
	}
	return NULL;
}

static void add(struct prof_throttle *t, const char *point, const char *path, size_t len)
{
	int n;

	if (t->count == PROF_THROTTLE_LEVELS)
		return;
	n = snprintf(t->path[t->count], sizeof(t->path[0]), "%s%.*s/cpu.stat", point, (int)len,
		     path);
	if (n > 0 && n < (int)sizeof(t->path[0]))
		t->count++;
}

/* The group and those above it, up to what is mounted. The mount may begin below the root. */
static void add_levels(struct prof_throttle *t, const struct prof_mount *m, const char *path,
		       size_t len)
{
	size_t root = strlen(m->root);

	if (root > 1) {
		if (len >= root && !strncmp(path, m->root, root) &&
		    (len == root || path[root] == '/')) {
			path += root;
			len -= root;
		} else {
			len = 0; /* a container sees only its own group, as the top */
		}
	}
	while (len && path[len - 1] == '/')
		len--;
	for (;;) {
		add(t, m->point, path, len);
		if (!len)
			return;
		while (len && path[len - 1] != '/')
			len--;
		if (len)
			len--;
	}
}

/* Lines "4:cpu,cpuacct:/path", and "0::/path" of version 2. */
void prof_throttle_paths(struct prof_throttle *t, const struct prof_mounts *m, const char *cgroup)
{
	const char *line, *end, *list, *path;
	const struct prof_mount *mount;
	bool second;

	t->count = 0;
	for (line = cgroup; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		list = memchr(line, ':', (size_t)(end - line));
		path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
		if (!path)
			continue;
		second = path == list + 1;
		if (!second && !in_list(list + 1, (size_t)(path - list - 1), "cpu"))
			continue;
		mount = find_mount(m, second);
		if (mount)
			add_levels(t, mount, path + 1, (size_t)(end - path - 1));
	}
}

void prof_throttle_find(struct prof_throttle *t, const struct prof_mounts *m)
{
	char text[4096];

	t->count = 0;
	if (prof_proc_read("/proc/self/cgroup", text, sizeof(text)) > 0)
		prof_throttle_paths(t, m, text);
}

uint64_t prof_throttle_parse(const char *text)
{
	uint64_t value;
	const char *p;

	if ((p = strstr(text, "throttled_usec "))) {
		p += strlen("throttled_usec ");
		return prof_proc_number(&p, &value) ? value * 1000 : 0;
	}
	if ((p = strstr(text, "throttled_time "))) {
		p += strlen("throttled_time ");
		return prof_proc_number(&p, &value) ? value : 0;
	}
	return 0;
}

uint64_t prof_throttle_read(const struct prof_throttle *t)
{
	char text[1024];
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < t->count; i++)
		if (prof_proc_read(t->path[i], text, sizeof(text)) > 0)
			sum += prof_throttle_parse(text);
	return sum;
}
