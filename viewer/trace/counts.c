/* SPDX-License-Identifier: Apache-2.0 */
#include "counts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE 64 /* longer lines are none */

void view_counts_line(struct view_counts *c, const char *line, size_t len)
{
	struct view_unit u;

	if (!len)
		return;
	if (!view_unit_parse(line, len, &u) || !view_unit_add(c->unit, &c->units, &u))
		c->bad++;
}

/* A line without its end was not written whole. */
static void read_lines(struct view_counts *c, FILE *f)
{
	char line[LINE];
	size_t len = 0;
	int b;

	while ((b = getc(f)) != EOF && !c->large) {
		c->large = ++c->bytes > VIEW_COUNTS_BYTES;
		if (b == '\n') {
			if (len < LINE)
				view_counts_line(c, line, len);
			else
				c->bad++;
			len = 0;
		} else if (len < LINE) {
			line[len++] = (char)b;
		}
	}
	c->bad += len > 0;
}

/* A pipe that somebody made there is no file. */
static void read_file(struct view_counts *c, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	FILE *f;

	if (fd < 0)
		return;
	f = !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
	if (!f) {
		close(fd);
		return;
	}
	read_lines(c, f);
	fclose(f);
}

static bool is_ours(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "units-", 6) && n > 10 && !strcmp(name + n - 4, ".txt");
}

int view_counts_read(struct view_counts *c, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (!c->large && (e = readdir(dir)))
		if (is_ours(e->d_name))
			read_file(c, dirfd(dir), e->d_name);
	closedir(dir);
	return 0;
}
