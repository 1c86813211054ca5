/* SPDX-License-Identifier: Apache-2.0 */
#include "seen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 8192

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void add(struct check_seen *s, struct base_arena *mem, const struct check_hotspot *p)
{
	if (p->ns > INT64_MAX / 2 - s->all_ns)
		return;
	s->all_ns += p->ns;
	for (size_t i = 0; i < s->hotspots; i++) {
		struct check_hotspot *old = &s->hotspot[i];
		if (old->class == p->class && old->line == p->line &&
		    same_text(old->file, p->file) && same_text(old->function, p->function)) {
			old->ns += p->ns;
			return;
		}
	}
	if (s->hotspots == CHECK_SEEN_MAX)
		return;
	s->hotspot[s->hotspots] = *p;
	s->hotspot[s->hotspots].file = base_arena_text(mem, p->file);
	s->hotspot[s->hotspots++].function = base_arena_text(mem, p->function);
}

/* "class ns line\tfunction\tfile". */
static bool parse(char *text, struct check_hotspot *p)
{
	char *ns = strchr(text, ' '), *line = NULL, *function = NULL, *file = NULL, *end;

	if (ns) {
		*ns++ = '\0';
		p->ns = strtoll(ns, &line, 10);
		p->line = (uint32_t)strtoul(line, &function, 10);
	}
	if (!function || *function != '\t')
		return false;
	*function++ = '\0';
	file = strchr(function, '\t');
	end = file ? strchr(file, '\n') : NULL;
	if (!end)
		return false;
	*file++ = '\0';
	*end = '\0';
	int class = ana_class_by_name(text);
	if (class < 0 || p->ns <= 0 || p->ns > INT64_MAX / 4 || strncmp(text, "input.", 6))
		return false;
	p->class = (enum ana_class) class;
	p->file = file[0] && p->line ? file : NULL;
	p->function = p->file && function[0] ? function : NULL;
	p->line = p->file ? p->line : 0;
	return true;
}

static int read_file(int dir, const char *name, struct base_arena *mem, struct check_seen *s)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[LINE_MAX_BYTES];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		struct check_hotspot p = { 0 };
		if (parse(line, &p))
			add(s, mem, &p);
	}
	fclose(f);
	return 0;
}

int check_seen_read(int dir, const char *trainer, struct base_arena *mem, struct check_seen *s)
{
	char prefix[64];
	int err = 0, fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	snprintf(prefix, sizeof(prefix), "seen.%.32s.", trainer);
	if (!d)
		return -errno;
	while (!err && (e = readdir(d)))
		if (!strncmp(e->d_name, prefix, strlen(prefix)))
			err = read_file(dir, e->d_name, mem, s);
	closedir(d);
	return err;
}

static int most_first(const void *a, const void *b)
{
	const struct check_hotspot *x = a, *y = b;
	int by_file;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	by_file = strcmp(x->file ? x->file : "", y->file ? y->file : "");
	return by_file ? by_file : (x->line > y->line) - (x->line < y->line);
}

void check_seen_share(struct check_seen *s, int64_t waited_ns, struct check_run *run)
{
	int64_t whole = waited_ns > s->all_ns ? waited_ns : s->all_ns;

	if (s->all_ns < CHECK_SEEN_LEAST_NS)
		return;
	qsort(s->hotspot, s->hotspots, sizeof(*s->hotspot), most_first);
	for (size_t i = 0; i < s->hotspots; i++) {
		struct check_hotspot p = s->hotspot[i];
		p.ns = (int64_t)((__int128)run->starved_ns * p.ns / whole);
		run->classes[ANA_INPUT_UNKNOWN] -= p.ns;
		run->classes[p.class] += p.ns;
		if (p.file && p.ns && run->hotspots < CHECK_HOTSPOTS_MAX)
			run->hotspot[run->hotspots++] = p;
	}
}
