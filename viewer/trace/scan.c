/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files of a run and the frames in them. Damage is noted with file and byte.
 */
#include "trace_priv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define FILES_OPEN 256u /* of one run; others are opened for each block, for descriptors are few */
#define FILES_SHARE 2u /* of what the process may have: threads and all else need some, too */

/* Whether one more of @files may stay open. */
static bool may_stay_open(size_t files)
{
	struct rlimit limit;

	return files <= FILES_OPEN &&
	       (getrlimit(RLIMIT_NOFILE, &limit) || files <= limit.rlim_cur / FILES_SHARE);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

static bool is_stream_file(const char *name)
{
	return ends_with(name, ".gst") || ends_with(name, ".spool");
}

/*
 * The head of a block or of evidence, as small as it can be kept; NULL for other frames and for bad
 * heads.
 */
static struct wire_block_head *keep_head(struct trace_priv *p, const struct wire_file *file,
					 const struct wire_entry *e)
{
	struct wire_block_head head, *kept;
	size_t bytes;

	if (e->frame.type < WIRE_FRAME_BLOCK || e->frame.type > WIRE_FRAME_WORKERS)
		return NULL;
	if (wire_block_head_get(&head, wire_file_head(file), e->frame.head_len))
		return NULL;
	bytes = offsetof(struct wire_block_head, device) + head.devices * sizeof(head.device[0]);
	kept = base_arena_alloc(&p->arena, bytes);
	memcpy(kept, &head, bytes);
	return kept;
}

static int take_frame(struct trace_priv *p, uint32_t file, const struct wire_entry *e)
{
	int err;

	if (!e->frame.seq || e->frame.type == WIRE_FRAME_ACK)
		return 0;
	err = view_grow(&p->frame, &p->frame_room, p->frames, sizeof(*p->frame));
	if (err)
		return err;
	p->frame[p->frames++] =
		(struct trace_frame){ *e, file, keep_head(p, p->file[file].file, e) };
	return 0;
}

static void note_damage(struct view_trace *t, const struct trace_file *f)
{
	const struct wire_damage *d;
	uint64_t bytes = 0;
	size_t i, n;

	d = wire_file_damage(f->file, &n);
	for (i = 0; i < n; i++)
		bytes += d[i].bytes;
	t->damage_spans += n;
	t->damage_bytes += bytes;
	if (n)
		view_trace_note(t,
				"%s: %llu bytes at %zu place%s are damaged, the first at byte "
				"%llu; what they held is missing",
				f->name, (unsigned long long)bytes, n, n == 1 ? "" : "s",
				(unsigned long long)d[0].offset);
}

/* Takes over @file, which is open; on an error it is closed. */
static int scan_open(struct view_trace *t, uint32_t part, struct wire_file *file, const char *name)
{
	struct trace_priv *p = t->priv;
	struct trace_file *f;
	struct wire_entry e;
	int err, got;

	err = view_grow(&p->file, &p->file_room, p->files, sizeof(*p->file));
	f = &p->file[p->files];
	if (!err)
		*f = (struct trace_file){ .name = strdup(name), .part = part, .file = file };
	if (err || !f->name) {
		wire_file_close(file);
		return -ENOMEM;
	}
	p->bytes += wire_file_size(f->file);
	p->files++;
	while ((got = wire_file_next(f->file, &e)) > 0) {
		err = take_frame(p, (uint32_t)(p->files - 1), &e);
		if (err)
			return err;
	}
	if (got < 0)
		view_trace_note(t, "%s: cannot be read to its end: %s", name, strerror(-got));
	note_damage(t, f);
	wire_file_scanned(f->file, may_stay_open(p->files));
	return 0;
}

static int scan_file(struct view_trace *t, uint32_t part, const char *path, const char *name)
{
	struct wire_file *file;
	int err = wire_file_open(&file, path);

	return err ? err : scan_open(t, part, file, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_files(const char *dir, char ***names, size_t *n)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t room = 0;
	int err = 0;

	*names = NULL;
	*n = 0;
	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		if (!is_stream_file(e->d_name))
			continue;
		err = view_grow(names, &room, *n, sizeof(**names));
		if (!err && !((*names)[*n] = strdup(e->d_name)))
			err = -ENOMEM;
		if (!err)
			++*n;
	}
	closedir(d);
	if (*n)
		qsort(*names, *n, sizeof(**names), by_name);
	return err;
}

/* One file that cannot be read does not spoil the others. */
static int scan_named(struct view_trace *t, uint32_t part, const char *dir, const char *name,
		      int *first)
{
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	err = scan_file(t, part, path, name);
	free(path);
	if (err == -ENOMEM || !err)
		return err;
	view_trace_note(t, "%s: cannot be read: %s", name, strerror(-err));
	if (!*first)
		*first = err;
	return 0;
}

static int scan_directory(struct view_trace *t, uint32_t part, const char *dir, const char **why)
{
	struct trace_priv *p = t->priv;
	char **names;
	size_t i, n, before = p->files;
	int err, first = 0;

	err = list_files(dir, &names, &n);
	for (i = 0; i < n && !err; i++)
		err = scan_named(t, part, dir, names[i], &first);
	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (err)
		*why = err == -ENOMEM ? "not enough memory" : "the directory cannot be read";
	else if (!n)
		*why = "the directory holds no trace (no .gst or .spool file)", err = -ENODATA;
	else if (p->files == before)
		*why = "none of its files can be read", err = first;
	return err;
}

static const char *explain(int err)
{
	switch (err) {
	case -ENOENT:
		return "no such file or directory";
	case -EACCES:
		return "permission denied";
	case -EINVAL:
		return "neither a file nor a directory";
	case -ENOMEM:
		return "not enough memory";
	default:
		return "it cannot be read";
	}
}

int view_trace_scan(struct view_trace *t, uint32_t part, const char *path, const char **why)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	int err;

	if (stat(path, &st)) {
		err = -errno;
		*why = explain(err);
		return err;
	}
	if (S_ISDIR(st.st_mode)) {
		err = scan_directory(t, part, path, why);
	} else {
		err = scan_file(t, part, path, slash ? slash + 1 : path);
		if (err)
			*why = explain(err);
	}
	return err;
}

/* One segment that cannot be read does not spoil the others. */
static int scan_segment(struct view_trace *t, uint32_t part, struct view_remote *r, size_t i)
{
	struct wire_file *file;
	int err = view_remote_segment(r, i, &file);

	if (!err)
		return scan_open(t, part, file, view_remote_name(r, i));
	if (err != -ENOMEM)
		view_trace_note(t, "%s: cannot be read: %s", view_remote_name(r, i),
				strerror(-err));
	return err;
}

int view_trace_scan_remote(struct view_trace *t, uint32_t part, struct view_remote *r,
			   const char **why)
{
	struct trace_priv *p = t->priv;
	size_t i, before = p->files;
	int err = 0, first = 0;

	for (i = 0; i < view_remote_segments(r) && err != -ENOMEM; i++) {
		err = scan_segment(t, part, r, i);
		first = first ? first : err;
	}
	if (err == -ENOMEM) {
		*why = "not enough memory";
		return err;
	}
	if (view_remote_trouble(r)) {
		*why = view_remote_trouble(r);
		return -EIO;
	}
	if (p->files == before)
		*why = "none of its segments can be read";
	return p->files == before ? first : 0;
}

int view_trace_scanned(const struct view_trace *t, const char **why)
{
	const struct trace_priv *p = t->priv;

	if (p->frames)
		return 0;
	if (!p->bytes) {
		*why = "it is empty";
		return -ENODATA;
	}
	*why = t->damage_bytes ? "there is nothing in it that gpustarve wrote, or only damage"
			       : "no frame in it";
	return t->damage_bytes ? -EBADMSG : -ENODATA;
}
