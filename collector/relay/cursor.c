/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of words. The file is ours, but it lies where users can write, so it is read with care.
 */
#include "cursor.h"

#include <dirent.h>
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

#define FIRST_LINE "gpustarve upstream 2"
#define FIRST_LINE_BEFORE "gpustarve upstream 1" /* without centres */
#define SECTION "centre "
#define SECTIONS 4
#define UNKNOWN "-"

static bool read_frames(struct coll_out_run *run, const char *line)
{
	struct coll_out_file *f;
	char first[256], second[256];
	const char *name;
	uint64_t at;
	int words = sscanf(line, "frames %" SCNu64 " %255s %255s", &at, first, second);

	if (words < 2)
		return false;
	name = words == 3 ? second : first; /* as the first version has it */
	f = coll_out_file_named(run, name);
	if (!f || f->kind == COLL_OUT_SIDE)
		return false;
	f->at = at;
	f->extent =
		words == 3 && strcmp(first, UNKNOWN) ? strtoull(first, NULL, 10) : COLL_OUT_UNKNOWN;
	return true;
}

static bool read_side(struct coll_out_run *run, const char *line)
{
	struct coll_out_file *f;
	char name[256];
	uint64_t size;
	int64_t mtime;

	if (sscanf(line, "side %" SCNd64 " %" SCNu64 " %255s", &mtime, &size, name) != 3)
		return false;
	f = coll_out_file_named(run, name);
	if (!f || f->kind != COLL_OUT_SIDE)
		return false;
	f->sent_mtime_ns = mtime;
	f->sent_size = size;
	return true;
}

static bool read_line(struct coll_out_run *run, const char *line)
{
	if (!strcmp(line, "forwarded")) {
		run->forwarded = true;
		return true;
	}
	return read_frames(run, line) || read_side(run, line);
}

/* Where the next section begins, behind that at @text. */
static const char *section_end(const char *text)
{
	const char *end = strstr(text, "\n" SECTION);

	return end ? end + 1 : text + strlen(text);
}

static bool section_is_of(const char *text, const char *id)
{
	size_t len = strlen(id);

	return !strncmp(text, SECTION, strlen(SECTION)) &&
	       !strncmp(text + strlen(SECTION), id, len) && text[strlen(SECTION) + len] == ' ';
}

/* NULL: none is of it. */
static const char *section_of(const char *text, const char *id)
{
	while (*text && !section_is_of(text, id))
		text = section_end(text);
	return *text ? text : NULL;
}

static void forget(struct coll_out_run *run)
{
	for (struct coll_out_file *f = run->files; f; f = f->next) {
		f->at = f->extent = f->unknown_since = f->sent_size = f->sure = 0;
		f->sent_mtime_ns = 0;
		f->again = false;
		f->begun_again = f->conflicts = 0;
		f->stuck = 0;
		f->tag[0] = '\0';
	}
	run->forwarded = false;
	run->start = 0;
}

/* What the section at @text says, in place of what was. False: it makes no sense. */
static bool read_section(struct coll_out_run *run, const char *text)
{
	char *copy = strndup(text, (size_t)(section_end(text) - text)), *rest = copy, *line;
	bool good = copy != NULL;
	int used = -1;

	forget(run);
	line = good ? strsep(&rest, "\n") : NULL;
	good = good && sscanf(line, SECTION "%*32s %" SCNx64 "%n", &run->start, &used) == 1 &&
	       used >= 0 && !line[used];
	while (good && (line = strsep(&rest, "\n")))
		good = !*line || read_line(run, line);
	free(copy);
	return good;
}

static void write_file(FILE *out, const struct coll_out_file *f)
{
	if (f->kind != COLL_OUT_SIDE && f->extent == COLL_OUT_UNKNOWN)
		fprintf(out, "frames %" PRIu64 " " UNKNOWN " %s\n", f->at, f->name);
	else if (f->kind != COLL_OUT_SIDE)
		fprintf(out, "frames %" PRIu64 " %" PRIu64 " %s\n", f->at, f->extent, f->name);
	else if (f->sent_mtime_ns)
		fprintf(out, "side %" PRId64 " %" PRIu64 " %s\n", f->sent_mtime_ns, f->sent_size,
			f->name);
}

/* That of the present centre, then what is kept of others, but for what is of it, too. */
static void write_sections(FILE *out, const struct coll_out_run *run)
{
	const char *text = run->others ? run->others : "", *end;
	unsigned int count = 1;

	fprintf(out, SECTION "%s %" PRIx64 "\n", run->centre, run->start);
	for (const struct coll_out_file *f = run->files; f; f = f->next)
		write_file(out, f);
	if (run->forwarded)
		fputs("forwarded\n", out);
	for (; *text && count < SECTIONS; text = end) {
		end = section_end(text);
		if (section_is_of(text, run->centre))
			continue;
		fwrite(text, 1, (size_t)(end - text), out);
		count++;
	}
}

static char *sections_text(const struct coll_out_run *run)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	write_sections(out, run);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/*
 * Of a centre that did not say which it was it is not known how long its streams were. Of a run
 * that was over they are as long as what was sent of them, or longer; of others all is to be gone
 * through.
 */
static void inherit_mute(struct coll_out_run *run)
{
	for (struct coll_out_file *f = run->files; f; f = f->next) {
		if (f->kind == COLL_OUT_SIDE)
			continue;
		f->extent = COLL_OUT_UNKNOWN;
		if (run->forwarded)
			f->extent = f->kind == COLL_OUT_FRAMES ? f->at : 0;
	}
}

/* What the store @centre has acknowledged, or the last one that it is a copy of. */
static void pick(struct coll_out_run *run, const struct coll_centre *centre)
{
	const char *text = run->others ? run->others : "";
	const char *found = section_of(text, centre->id);
	bool own = found != NULL;

	for (unsigned int i = 0; !found && i < centre->parents; i++)
		found = section_of(text, centre->parent[i]);
	if (!found)
		found = section_of(text, COLL_CENTRE_MUTE);
	if (found && !read_section(run, found))
		forget(run);
	snprintf(run->centre, sizeof(run->centre), "%s", centre->id);
	run->mute_before = found && !own && section_is_of(found, COLL_CENTRE_MUTE);
	if (run->mute_before)
		inherit_mute(run);
	if (!own)
		run->start = 0;
}

void coll_cursor_turn(struct coll_out_run *run, const struct coll_centre *centre)
{
	char *text;

	if (!strcmp(run->centre, centre->id))
		return;
	if (run->centre[0]) {
		text = sections_text(run);
		free(run->others); /* without memory all goes again */
		run->others = text;
	}
	forget(run);
	pick(run, centre);
	run->changed = true;
}

/* All sections; NULL: of another upstream, or no cursor. @to NULL: of any. */
static char *read_head(char *text, const char *to)
{
	char *rest = text, *line = strsep(&rest, "\n"), *sections = NULL;
	bool before = line && !strcmp(line, FIRST_LINE_BEFORE);

	if (!before && (!line || strcmp(line, FIRST_LINE)))
		return NULL;
	line = strsep(&rest, "\n");
	if (!line || strncmp(line, "to ", 3) || (to && strcmp(line + 3, to)))
		return NULL;
	if (!before)
		return strdup(rest ? rest : "");
	if (asprintf(&sections, SECTION COLL_CENTRE_MUTE " 0\n%s", rest ? rest : "") < 0)
		return NULL;
	return sections;
}

/* That it is all ours to read. */
static bool check_sections(struct coll_out_run *run, const char *text)
{
	bool good = !*text || !strncmp(text, SECTION, strlen(SECTION));

	for (; good && *text; text = section_end(text))
		good = read_section(run, text);
	forget(run);
	return good;
}

int coll_cursor_read(struct coll_out_run *run, const char *to, const struct coll_centre *centre)
{
	char path[PATH_MAX], *sections;
	uint8_t *text;
	size_t len;
	int err;

	snprintf(run->centre, sizeof(run->centre), "%s", centre->id);
	if (snprintf(path, sizeof(path), "%s/" COLL_CURSOR_FILE, run->dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = coll_file_read(path, COLL_CURSOR_MAX, &text, &len);
	if (err)
		return err == -ENOENT ? err : -ESTALE;
	sections = strlen((char *)text) == len ? read_head((char *)text, to) : NULL;
	free(text);
	if (sections && check_sections(run, sections)) {
		free(run->others);
		run->others = sections;
		pick(run, centre);
		return 0;
	}
	free(sections);
	coll_out_files_free(run);
	return -ESTALE;
}

static bool covers(const struct coll_out_file *f, const struct stat *st)
{
	if (f->kind == COLL_OUT_SIDE)
		return f->sent_mtime_ns == coll_timespec_ns(st->st_mtim) &&
		       f->sent_size == (uint64_t)st->st_size;
	return f->at >= (uint64_t)st->st_size;
}

/*
 * What was damaged for good is behind the cursor for ever. So where it says that the run is
 * forwarded only what was written since counts: @since_ns; else INT64_MIN.
 */
static bool covers_all(struct coll_out_run *run, DIR *d, int64_t since_ns)
{
	struct coll_out_file *f;
	struct dirent *e;
	struct stat st;

	while ((e = readdir(d))) {
		f = coll_out_file_named(run, e->d_name);
		if (!f)
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			return false;
		if (S_ISREG(st.st_mode) && coll_timespec_ns(st.st_mtim) >= since_ns &&
		    !covers(f, &st))
			return false;
	}
	return true;
}

static bool directory_covered(struct coll_out_run *run, int run_fd)
{
	int fd = openat(run_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct stat cursor;
	bool all;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (run->forwarded && fstatat(fd, COLL_CURSOR_FILE, &cursor, AT_SYMLINK_NOFOLLOW))
		all = false;
	else
		all = covers_all(run, d,
				 run->forwarded ? coll_timespec_ns(cursor.st_mtim) : INT64_MIN);
	closedir(d);
	return all;
}

static bool read_present(struct coll_out_run *run, int run_fd, char *text)
{
	int base_fd = openat(run_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *sections = read_head(text, NULL);
	struct coll_centre centre;
	const char *found;
	bool good;

	coll_centre_mute(&centre);
	if (base_fd >= 0) {
		coll_centre_load(&centre, base_fd);
		close(base_fd);
	}
	found = sections ? section_of(sections, centre.id) : NULL;
	good = found && read_section(run, found) && run->start == centre.start;
	snprintf(run->centre, sizeof(run->centre), "%s", centre.id);
	free(sections);
	return good;
}

int coll_cursor_read_present(struct coll_out_run *run, int run_fd)
{
	uint8_t *text;
	size_t len;
	bool good;
	int err = coll_file_read_at(run_fd, COLL_CURSOR_FILE, COLL_CURSOR_MAX, &text, &len);

	if (err)
		return err == -ENOENT ? err : -ESTALE;
	good = strlen((char *)text) == len && read_present(run, run_fd, (char *)text);
	free(text);
	return good ? 0 : -ESTALE;
}

int coll_cursor_has_all(int run_fd)
{
	struct coll_out_run run = { .files = NULL };
	int err = coll_cursor_read_present(&run, run_fd);
	bool all = !err && directory_covered(&run, run_fd);

	coll_out_files_free(&run);
	return err == -ENOENT ? err : all;
}

int coll_cursor_write(const struct coll_out_run *run, const char *to)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = -ENOMEM;

	if (!out)
		return -ENOMEM;
	fprintf(out, FIRST_LINE "\nto %s\n", to);
	write_sections(out, run);
	if (!fclose(out) && text)
		err = coll_file_replace(run->dir, COLL_CURSOR_FILE, text, len);
	free(text);
	return err;
}
