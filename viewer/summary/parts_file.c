/* SPDX-License-Identifier: Apache-2.0 */
#include "parts_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "base/hash.h"
#include "base/vec.h"
#include "core/log.h"
#include "wire/crc32c.h"

#define RECORDS_MAX (1u << 16)
#define RECORD_MAX (UINT64_C(1) << 30)
#define RECORD_MAGIC 0x74726170u
#define WASTED_MAX (UINT64_C(256) << 20)

struct file_head {
	char magic[24];
	uint64_t run; /* hash of its files */
};

struct record_head {
	uint32_t magic, component;
	uint64_t len;
	uint32_t crc; /* of what stands before it, then of the bytes */
	uint32_t none;
};

struct record {
	uint32_t component;
	uint64_t at, len; /* of the bytes */
	uint32_t crc;
};

struct view_parts_file {
	int fd;
	struct ana_keeper keeper;
	struct record *record; /* of one component the last one counts */
	size_t records, room;
	uint64_t end; /* of the last whole one */
	uint64_t wasted; /* bytes of records of no use that keep their room */
	bool broken; /* nothing more can be written */
	pthread_mutex_t lock; /* of all above */
};

/* ---- of which run ---------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), e = strlen(end);

	return n >= e && !strcmp(name + n - e, end);
}

/* What is made of a trace tells nothing of it. */
static bool is_made(const char *name)
{
	return name[0] == '.' || !strcmp(name, "summary.json") || !strcmp(name, "report.html") ||
	       !strcmp(name, "digest.done") || ends_in(name, ".idx");
}

/* The sum of the hashes of all, for names come in no order. */
static int hash_files(int dir_fd, uint64_t *sum)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while ((e = readdir(d)) != NULL) {
		if (is_made(e->d_name) || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		const int64_t number[] = { st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
					   (int64_t)st.st_ino };
		*sum += base_hash(base_hash_text(BASE_HASH, e->d_name), number, sizeof(number));
	}
	closedir(d);
	return 0;
}

static int make_head(int dir_fd, struct file_head *h)
{
	memset(h, 0, sizeof(*h));
	snprintf(h->magic, sizeof(h->magic), "gpustarve parts 1");
	h->run = base_hash_text(BASE_HASH, GPUSTARVE_VERSION);
	return hash_files(dir_fd, &h->run);
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t crc_of(const struct record_head *h, const uint8_t *bytes, size_t len)
{
	return wire_crc32c(wire_crc32c(0, h, offsetof(struct record_head, crc)), bytes, len);
}

static int get(void *arg, uint32_t component, uint8_t **bytes, size_t *len)
{
	struct view_parts_file *p = arg;
	struct record r = { .len = 0 };
	size_t i;

	pthread_mutex_lock(&p->lock);
	for (i = p->records; i && p->record[i - 1].component != component; i--)
		;
	if (i)
		r = p->record[i - 1];
	pthread_mutex_unlock(&p->lock);
	if (!i)
		return -ENOENT;
	struct record_head h = { .magic = RECORD_MAGIC, .component = component, .len = r.len };
	*bytes = malloc(r.len + 1);
	*len = r.len;
	if (*bytes && pread(p->fd, *bytes, r.len, (off_t)r.at) == (ssize_t)r.len &&
	    crc_of(&h, *bytes, r.len) == r.crc)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return -EBADMSG;
}

/* -ENOMEM */
static int note(struct view_parts_file *p, const struct record_head *h)
{
	if (!base_vec_more(p->record, p->records, p->room))
		return -ENOMEM;
	p->record[p->records++] = (struct record){
		.component = h->component,
		.at = p->end + sizeof(*h),
		.len = h->len,
		.crc = h->crc,
	};
	p->end += sizeof(*h) + h->len;
	return 0;
}

static int append(struct view_parts_file *p, const struct record_head *h, const uint8_t *bytes)
{
	int err = 0;

	if (lseek(p->fd, (off_t)p->end, SEEK_SET) < 0)
		return -errno;
	err = base_write_all(p->fd, h, sizeof(*h));
	if (!err)
		err = base_write_all(p->fd, bytes, h->len);
	return err ? err : note(p, h);
}

/*
 * What a later record takes the place of gives its room back; the file stays as long, so that who
 * asks how far it got sees it grow. False: the file system cannot.
 */
static bool give_back(const struct view_parts_file *p, const struct record *r)
{
	return !r->len || !fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				     (off_t)r->at, (off_t)r->len);
}

/* Walks of the component of the last record that were kept before it. */
static void drop_amid(struct view_parts_file *p)
{
	uint32_t amid = p->record[p->records - 1].component | ANA_KEPT_AMID;
	size_t n = 0;

	for (size_t i = 0; i + 1 < p->records; i++) {
		if (p->record[i].component != amid)
			p->record[n++] = p->record[i];
		else if (!give_back(p, &p->record[i]))
			p->wasted += p->record[i].len;
	}
	p->record[n++] = p->record[p->records - 1];
	p->records = n;
}

static void put(void *arg, uint32_t component, const uint8_t *bytes, size_t len)
{
	struct view_parts_file *p = arg;
	struct record_head h = { .magic = RECORD_MAGIC, .component = component, .len = len };
	int err = 0;

	if (len > RECORD_MAX)
		return;
	h.crc = crc_of(&h, bytes, len);
	pthread_mutex_lock(&p->lock);
	if (!p->broken && p->records < RECORDS_MAX &&
	    (!(component & ANA_KEPT_AMID) || p->wasted < WASTED_MAX)) {
		err = append(p, &h, bytes);
		if (!err)
			drop_amid(p);
	}
	if (err) {
		p->broken = true;
		view_note(VIEW_PARTS_FILE ": %s; what is finished is not kept any more",
			  strerror(-err));
	}
	pthread_mutex_unlock(&p->lock);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Up to what is cut or is none. */
static int read_records(struct view_parts_file *p, uint64_t size)
{
	struct record_head h;
	int err = 0;

	while (!err && p->records < RECORDS_MAX && size - p->end >= sizeof(h) &&
	       pread(p->fd, &h, sizeof(h), (off_t)p->end) == (ssize_t)sizeof(h) &&
	       h.magic == RECORD_MAGIC && h.len <= RECORD_MAX && h.len <= size - p->end - sizeof(h))
		err = note(p, &h);
	if (!err && p->records)
		drop_amid(p);
	if (!err && ftruncate(p->fd, (off_t)p->end))
		err = -errno;
	return err;
}

static bool is_ours(int fd, const struct file_head *want, uint64_t *size)
{
	struct file_head head;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	return pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       !memcmp(&head, want, sizeof(head));
}

static bool is_named(int dir_fd, int fd)
{
	struct stat own, named;

	return !fstat(fd, &own) && !fstatat(dir_fd, VIEW_PARTS_FILE, &named, AT_SYMLINK_NOFOLLOW) &&
	       own.st_ino == named.st_ino && own.st_dev == named.st_dev;
}

/*
 * Anew, with its head; it gets its name when that is in it. Another process that makes one at the
 * same moment may take our name away, or give our file its own: whose file has the name keeps.
 */
static int make(int dir_fd, const struct file_head *head)
{
	static const char tmp[] = VIEW_PARTS_FILE ".tmp";
	int fd, err;

	unlinkat(dir_fd, tmp, 0);
	fd = openat(dir_fd, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : base_write_all(fd, head, sizeof(*head));
	if (!err && renameat(dir_fd, tmp, dir_fd, VIEW_PARTS_FILE))
		err = -errno;
	if (is_named(dir_fd, fd))
		return fd;
	close(fd);
	unlinkat(dir_fd, tmp, 0);
	return err ? err : -EAGAIN;
}

/* The descriptor, locked; *size: of what is in it already. */
static int open_file(int dir_fd, const struct file_head *head, uint64_t *size)
{
	int fd = openat(dir_fd, VIEW_PARTS_FILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	*size = sizeof(*head);
	if (fd < 0)
		return make(dir_fd, head);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		int err = -errno;

		close(fd);
		return err;
	}
	if (is_ours(fd, head, size))
		return fd;
	close(fd);
	*size = sizeof(*head);
	return make(dir_fd, head);
}

struct view_parts_file *view_parts_file_open(const char *run_dir)
{
	int dir_fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct view_parts_file *p = dir_fd < 0 ? NULL : calloc(1, sizeof(*p));
	struct file_head head;
	uint64_t size = 0;

	if (!p) {
		if (dir_fd >= 0)
			close(dir_fd);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->keeper = (struct ana_keeper){ .get = get, .put = put, .arg = p };
	p->end = sizeof(head);
	p->fd = -1;
	err = make_head(dir_fd, &head);
	if (!err)
		p->fd = err = open_file(dir_fd, &head, &size);
	if (err >= 0)
		err = read_records(p, size);
	close(dir_fd);
	if (err >= 0)
		return p;
	view_note("%s/" VIEW_PARTS_FILE ": %s; nothing is kept of what is finished", run_dir,
		  strerror(-err));
	view_parts_file_close(p);
	return NULL;
}

const struct ana_keeper *view_parts_file_keeper(const struct view_parts_file *p)
{
	return &p->keeper;
}

void view_parts_file_close(struct view_parts_file *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	pthread_mutex_destroy(&p->lock);
	free(p->record);
	free(p);
}
