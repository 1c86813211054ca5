/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"

#define ALLOCS_MAX 65536u /* nodes times restarts */
#define BYTES_MAX ((size_t)64 << 20) /* of all of them */

/* What is made in somebody's folder is theirs, and root has no business in it otherwise. */
static int become_owner(const struct stat *st)
{
	if (geteuid() || !st->st_uid)
		return 0;
	if (setgroups(0, NULL) || setresgid(st->st_gid, st->st_gid, st->st_gid) ||
	    setresuid(st->st_uid, st->st_uid, st->st_uid))
		return -errno;
	return 0;
}

static int open_out(const char *out)
{
	int fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	if (!err)
		err = become_owner(&st);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Readable for all who may look into the folder of runs, whatever the hook's umask is. */
static int open_below(int out, const char *name, bool make)
{
	bool made = make && !mkdirat(out, name, 0755);
	int fd, err = 0;
	struct stat st;

	if (make && !made && errno != EEXIST)
		return -errno;
	fd = openat(out, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_uid != geteuid())
		err = -EPERM;
	else if (made && fchmod(fd, 0755))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int view_job_folder_open(const char *out, const struct view_job_identity *id, bool make,
			 struct base_arena *mem, const char **what)
{
	const char *name = view_job_folder_name(mem, id);
	int outer = open_out(out), fd;

	*what = out;
	if (outer < 0)
		return outer;
	*what = base_arena_printf(mem, "%s/%s", out, name);
	fd = open_below(outer, name, make);
	close(outer);
	return fd;
}

int view_job_folder_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd;
}

/* At most *most bytes, which get fewer by what is read. */
static int read_text(int dir, struct base_arena *mem, const char *name, size_t *most, char **text,
		     size_t *len)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (st.st_size > (off_t)VIEW_ALLOC_BYTES_MAX || st.st_size > (off_t)*most)
		err = -EFBIG;
	if (!err) {
		*most -= (size_t)st.st_size;
		*text = base_arena_alloc(mem, (size_t)st.st_size + 1);
		err = base_read_upto(fd, *text, (size_t)st.st_size, len);
	}
	close(fd);
	return err;
}

static int get_within(int dir, struct base_arena *mem, const char *name, size_t *most,
		      struct view_alloc *a, const char **why)
{
	char *text = NULL;
	size_t len = 0;
	int err = read_text(dir, mem, name, most, &text, &len);

	*why = err == -ELOOP	? "it is a link"
	       : err == -EINVAL ? "it is not a file"
				: strerror(-err);
	return err ? err : view_alloc_parse(a, mem, text, len, why);
}

int view_job_folder_get(int dir, struct base_arena *mem, const char *name, struct view_alloc *a,
			const char **why)
{
	size_t most = BYTES_MAX;

	return get_within(dir, mem, name, &most, a, why);
}

static int by_node(const void *a, const void *b)
{
	const struct view_alloc *x = a, *y = b;
	int64_t i = x->id.number[VIEW_JOB_RESTART], k = y->id.number[VIEW_JOB_RESTART];
	int d = strcmp(x->node, y->node);

	return d ? d : (i > k) - (i < k);
}

struct listing { /* of a job's folder */
	int dir;
	DIR *d;
	struct base_arena *mem;
	struct view_alloc *alloc;
	size_t n, room;
	void (*bad)(void *arg, const char *name, const char *why); /* may be NULL */
	void *arg;
};

static int make_room(struct listing *l)
{
	size_t room = l->room ? l->room * 2 : 8;
	struct view_alloc *more;

	if (l->n < l->room)
		return 0;
	more = reallocarray(l->alloc, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->alloc = more;
	l->room = room;
	return 0;
}

/* What is in the file decides; its name only says that it is worth a look. */
static int read_allocs(struct listing *l)
{
	size_t most = BYTES_MAX;
	struct dirent *e;
	const char *why;

	while ((e = readdir(l->d)) && l->n < ALLOCS_MAX) {
		if (view_alloc_restart_of(e->d_name) < 0)
			continue;
		if (make_room(l))
			return -ENOMEM;
		if (!get_within(l->dir, l->mem, e->d_name, &most, &l->alloc[l->n], &why))
			l->n++;
		else if (l->bad)
			l->bad(l->arg, e->d_name, why);
	}
	return 0;
}

/* Nodes on which tasks ran that nobody recorded. */
static void mark_unseen(struct listing *l)
{
	const char **safe = base_arena_array(l->mem, l->n, sizeof(*safe));
	struct dirent *e;

	for (size_t i = 0; i < l->n; i++)
		safe[i] = view_job_safe(l->mem, l->alloc[i].node);
	rewinddir(l->d);
	while (l->n && (e = readdir(l->d))) {
		const char *node = view_alloc_unrecorded_node(e->d_name);

		for (size_t i = 0; node && i < l->n; i++)
			if (!strcmp(safe[i], node))
				l->alloc[i].unseen = true;
	}
}

/* By node and restart, into the arena. */
static struct view_alloc *sorted(struct listing *l)
{
	struct view_alloc *to;

	if (!l->n)
		return NULL;
	qsort(l->alloc, l->n, sizeof(*l->alloc), by_node);
	to = base_arena_array(l->mem, l->n, sizeof(*to));
	memcpy(to, l->alloc, l->n * sizeof(*to));
	return to;
}

int view_job_folder_list(int dir, struct base_arena *mem, struct view_alloc **alloc, size_t *n,
			 void (*bad)(void *arg, const char *name, const char *why), void *arg)
{
	struct listing l = { .dir = dir, .mem = mem, .bad = bad, .arg = arg };
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	*alloc = NULL;
	*n = 0;
	l.d = fd < 0 ? NULL : fdopendir(fd);
	if (!l.d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = read_allocs(&l);
	mark_unseen(&l);
	closedir(l.d);
	*n = l.n;
	if (!err)
		*alloc = sorted(&l);
	free(l.alloc);
	return err;
}

static int put_text(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return fchmod(fd, 0644) || fsync(fd) ? -errno : 0;
}

static int put_file(int dir, const char *temp, const char *name, const char *text, size_t len)
{
	int fd, err;

	unlinkat(dir, temp, 0); /* of an earlier process of our number */
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = put_text(fd, text, len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, temp, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temp, 0);
	return err;
}

int view_job_folder_put(int dir, struct base_arena *mem, const struct view_alloc *a)
{
	const char *name = view_alloc_name(mem, a->node, a->id.number[VIEW_JOB_RESTART]);
	const char *temp = base_arena_printf(mem, ".%s.%ld.tmp", name, (long)getpid());
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err;

	if (!f)
		return -ENOMEM;
	view_alloc_write(a, f);
	err = fclose(f) ? -ENOMEM : put_file(dir, temp, name, text, len);
	free(text);
	return err;
}
