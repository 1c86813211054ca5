/* SPDX-License-Identifier: Apache-2.0 */
/* The last files that were synced are kept; one that is moved then was saved. */
#include "files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/export.h"
#include "core/thread.h"
#include "ranges/marks.h"
#include "shim.h"

#define KEPT 16
#define WHAT_BYTES 600 /* longer paths are cut on their way anyhow */
#define SAVER "file\t"

struct synced {
	long tid;
	uint64_t inode;
	uint32_t major, minor;
	int64_t born_ns;
};

static struct {
	int (*fsync)(int fd);
	int (*fdatasync)(int fd);
	int (*rename)(const char *from, const char *to);
	int (*renameat)(int from_folder, const char *from, int to_folder, const char *to);
	int (*renameat2)(int from_folder, const char *from, int to_folder, const char *to,
			 unsigned int flags);
} behind;

static struct synced kept[KEPT];
static unsigned int next; /* where the next is kept */
static atomic_flag busy = ATOMIC_FLAG_INIT; /* never waited for */

void prof_files_find(void)
{
	*(void **)&behind.fsync = dlsym(RTLD_NEXT, "fsync");
	*(void **)&behind.fdatasync = dlsym(RTLD_NEXT, "fdatasync");
	*(void **)&behind.rename = dlsym(RTLD_NEXT, "rename");
	*(void **)&behind.renameat = dlsym(RTLD_NEXT, "renameat");
	*(void **)&behind.renameat2 = dlsym(RTLD_NEXT, "renameat2");
}

static bool is_told(void)
{
	return prof_marks_on() && !prof_thread_ours();
}

static int64_t ns_of(const struct statx_timestamp *t)
{
	return t->tv_sec * 1000000000 + t->tv_nsec;
}

#define ASKED (STATX_BASIC_STATS | STATX_BTIME)

static bool is_there(int folder, const char *path, int flags, struct statx *st)
{
	memset(st, 0, sizeof(*st));
	return !syscall(SYS_statx, folder, path, flags | AT_NO_AUTOMOUNT, ASKED, st);
}

/* A file that is large enough, and whose birth the file system knows. */
static bool is_large(const struct statx *st)
{
	return S_ISREG(st->stx_mode) && st->stx_size >= PROF_FILES_LEAST &&
	       (st->stx_mask & ASKED) == ASKED && st->stx_btime.tv_sec > 0;
}

static bool is_same(const struct synced *s, const struct statx *st, long tid)
{
	return s->tid == tid && s->inode == st->stx_ino && s->major == st->stx_dev_major &&
	       s->minor == st->stx_dev_minor;
}

static void keep(const struct statx *st, long tid)
{
	unsigned int at = next % KEPT;

	for (unsigned int i = 0; i < KEPT; i++)
		if (is_same(&kept[i], st, tid))
			at = i;
	if (at == next % KEPT)
		next++;
	kept[at] = (struct synced){ tid, st->stx_ino, st->stx_dev_major, st->stx_dev_minor,
				    ns_of(&st->stx_btime) };
}

void prof_files_synced(int fd)
{
	int before = errno;
	struct statx st;

	if (is_told() && is_there(fd, "", AT_EMPTY_PATH, &st) && is_large(&st) &&
	    !atomic_flag_test_and_set(&busy)) {
		keep(&st, syscall(SYS_gettid));
		atomic_flag_clear(&busy);
	}
	errno = before;
}

/* When it was begun, if it is one of those; it is forgotten then. 0: it is none. */
static int64_t take(const struct statx *st)
{
	long tid = syscall(SYS_gettid);
	int64_t born_ns = 0;

	if (atomic_flag_test_and_set(&busy))
		return 0;
	for (unsigned int i = 0; i < KEPT && !born_ns; i++)
		if (is_same(&kept[i], st, tid)) {
			born_ns = kept[i].born_ns;
			kept[i].tid = 0;
		}
	atomic_flag_clear(&busy);
	return born_ns;
}

/* "file", a tab, the absolute path. False: it has none that can be told. */
static bool name(char *what, int folder, const char *path)
{
	size_t at = sizeof(SAVER) - 1, len = strlen(path);
	char link[32];
	long n;

	memcpy(what, SAVER, sizeof(SAVER));
	if (path[0] != '/') {
		if (folder == AT_FDCWD)
			snprintf(link, sizeof(link), "/proc/self/cwd");
		else
			snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
		n = syscall(SYS_readlinkat, AT_FDCWD, link, what + at, WHAT_BYTES - at - 1);
		if (n <= 0 || (size_t)n >= WHAT_BYTES - at - 1)
			return false;
		at += (size_t)n;
		what[at++] = '/';
	}
	if (at + len >= WHAT_BYTES)
		return false;
	memcpy(what + at, path, len + 1);
	return true;
}

static bool is_plain(const char *part, size_t n)
{
	return n && !(part[0] == '.' && (n == 1 || (n == 2 && part[1] == '.')));
}

/* How many parts it has; 0: not known without asking the kernel. */
static unsigned int parts_of(const char *path)
{
	unsigned int parts = 0;

	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (!is_plain(path, n))
			return 0;
		parts++;
	}
	return parts;
}

/* How many folders, from the inmost on, it was in and is not any more, as far as names tell. */
static unsigned int folders_left(int from_folder, const char *from, const char *to)
{
	char what[WHAT_BYTES];
	size_t at = 0;
	unsigned int parts;

	if (!name(what, from_folder, from))
		return 0;
	while (what[at] && what[at] == to[at])
		at++;
	while (at && what[at - 1] != '/')
		at--;
	parts = parts_of(what + at);
	return parts && parts_of(to + at) ? parts - 1 : 0;
}

/* What was saved below it lies elsewhere now. */
static void tell_folder(int folder, const char *from)
{
	char what[WHAT_BYTES];

	if (prof_shim_saves() && name(what, folder, from))
		prof_shim_renamed_folder(what);
}

void prof_files_moved(int from_folder, const char *from, int folder, const char *path)
{
	int before = errno;
	char what[WHAT_BYTES];
	struct statx st;
	int64_t born_ns;
	bool saved;

	if (is_told() && is_there(folder, path, AT_SYMLINK_NOFOLLOW, &st)) {
		if (S_ISDIR(st.stx_mode))
			tell_folder(from_folder, from);
		born_ns = is_large(&st) ? take(&st) : 0;
		saved = prof_shim_saved(st.stx_ino);
		if ((born_ns || saved) && name(what, folder, path)) {
			if (saved)
				prof_shim_renamed(what, st.stx_ino,
						  folders_left(from_folder, from, what));
			if (born_ns)
				prof_shim_moved(what, born_ns, st.stx_ino, st.stx_size,
						(uint64_t)ns_of(&st.stx_mtime));
		}
	}
	errno = before;
}

#ifdef PROF_SHARED_LIBRARY
/* Programs bind to these; the last is not in headers of before glibc 2.28. */
PROF_EXPORT int fsync(int fd);
PROF_EXPORT int fdatasync(int fd);
PROF_EXPORT int rename(const char *from, const char *to);
PROF_EXPORT int renameat(int from_folder, const char *from, int to_folder, const char *to);
PROF_EXPORT int renameat2(int from_folder, const char *from, int to_folder, const char *to,
			  unsigned int flags);

int fsync(int fd)
{
	int status = behind.fsync ? behind.fsync(fd) : (int)syscall(SYS_fsync, fd);

	if (!status)
		prof_files_synced(fd);
	return status;
}

int fdatasync(int fd)
{
	int status = behind.fdatasync ? behind.fdatasync(fd) : (int)syscall(SYS_fdatasync, fd);

	if (!status)
		prof_files_synced(fd);
	return status;
}

static int move(int from_folder, const char *from, int to_folder, const char *to,
		unsigned int flags)
{
	return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int rename(const char *from, const char *to)
{
	int status =
		behind.rename ? behind.rename(from, to) : move(AT_FDCWD, from, AT_FDCWD, to, 0);

	if (!status)
		prof_files_moved(AT_FDCWD, from, AT_FDCWD, to);
	return status;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	int status = behind.renameat ? behind.renameat(from_folder, from, to_folder, to)
				     : move(from_folder, from, to_folder, to, 0);

	if (!status)
		prof_files_moved(from_folder, from, to_folder, to);
	return status;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags)
{
	int status = behind.renameat2 ? behind.renameat2(from_folder, from, to_folder, to, flags)
				      : move(from_folder, from, to_folder, to, flags);

	if (!status)
		prof_files_moved(from_folder, from, to_folder, to);
	return status;
}
#endif
