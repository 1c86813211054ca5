/* SPDX-License-Identifier: Apache-2.0 */
#include "remote.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/files.h"
#include "base/vec.h"
#include "objects/objects.h"
#include "remote_kept.h"
#include "remote_shelf.h"
#include "remote_there.h"
#include "wire/keys.h"

#define PIECE_BYTES ((size_t)1 << 20)
#define SHELF_PIECES_MAX (1u << 24) /* what a store says of sizes is hostile */
#define SEGMENTS_MAX 1000000u
#define SMALL_MAX 65536u /* small files; of one: */
#define SMALL_BYTES_MAX (1u << 20)
#define WHY_BYTES 2048u /* names of what lies there instead are in it */

struct segment {
	const char *name;
	uint64_t bytes;
	struct view_remote *remote;
	size_t number;
	size_t first; /* its first piece's number among those of all */
};

struct view_remote {
	struct base_arena mem; /* names */
	struct objects *store;
	char *parent; /* of the folder, made by us */
	char *folder;
	struct segment *segment;
	size_t segments, segment_room;
	struct small {
		const char *name, *path; /* path: here, once it may be there */
		uint64_t bytes;
	} * small;
	size_t smalls, small_room;
	struct view_kept *kept;
	struct view_shelf *shelf; /* NULL: all fits into kept, or there is none */
	atomic_bool failed; /* then ... */
	struct objects_trouble trouble; /* ... why; under ... */
	pthread_mutex_t lock;
	bool opening; /* bytes are asked for as they are: tables of contents are read once */
	const char *below; /* the first run that lies further down; NULL: none */
};

bool view_is_remote(const char *path)
{
	return objects_is_url(path);
}

/* Files in a folder of their own: neither hidden nor elsewhere. */
static bool is_name(const char *name, size_t len)
{
	return len && len < 200 && *name != '.' && !memchr(name, '/', len);
}

static int add_segment(struct view_remote *r, const char *key, uint64_t bytes)
{
	if (r->segments == SEGMENTS_MAX)
		return -E2BIG;
	if (!base_vec_more(r->segment, r->segments, r->segment_room))
		return -ENOMEM;
	r->segment[r->segments] = (struct segment){ .name = base_arena_text(&r->mem, key),
						    .bytes = bytes,
						    .number = r->segments };
	r->segments++;
	return 0;
}

static int add_small(struct view_remote *r, const char *key, uint64_t bytes)
{
	if (r->smalls == SMALL_MAX || bytes > SMALL_BYTES_MAX)
		return -E2BIG;
	if (!base_vec_more(r->small, r->smalls, r->small_room))
		return -ENOMEM;
	r->small[r->smalls++] = (struct small){ base_arena_text(&r->mem, key), NULL, bytes };
	return 0;
}

/* "a/RUN/<file>/<first>-<last>": who looks for a run has named a folder of runs. */
static void note_below(struct view_remote *r, const char *key)
{
	const char *file = key, *at = strchr(key, '/'), *next;

	for (; at && (next = strchr(at + 1, '/')); at = next)
		file = at + 1;
	if (file > key + 1 && wire_key_is_segment(file))
		r->below = base_arena_copy(&r->mem, key, (size_t)(file - 1 - key));
}

/* What else lies there is nobody's concern. */
static int found(void *arg, const char *key, uint64_t bytes)
{
	struct view_remote *r = arg;

	if (wire_key_is_segment(key))
		return add_segment(r, key, bytes);
	if (!r->below)
		note_below(r, key);
	return wire_key_is_small(key) ? add_small(r, key, bytes) : 0;
}

/* The last part of "s3://a/b/RUN/". */
static char *run_name(struct base_arena *mem, const char *url)
{
	size_t len = strlen(url), from;

	while (len && url[len - 1] == '/')
		len--;
	for (from = len; from && url[from - 1] != '/';)
		from--;
	return base_arena_copy(mem, url + from, len - from);
}

/*
 * A signal that ends the command removes the folder first: the files in it are few, and their names
 * are known. One run at a time is cleaned up so; of a comparison's others the folders stay.
 */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static struct view_remote *_Atomic cleaned;

static void on_end(int signal)
{
	const struct view_remote *r = atomic_exchange(&cleaned, NULL);

	for (size_t i = 0; r && i < r->smalls; i++)
		if (r->small[i].path)
			unlink(r->small[i].path);
	if (r) {
		rmdir(r->folder);
		rmdir(r->parent);
	}
	raise(signal); /* as the default has it, for SA_RESETHAND */
}

/* Signals that somebody has a use for stay as they are. */
static void clean_up_at_end(struct view_remote *r)
{
	struct sigaction now, ours = { .sa_handler = on_end, .sa_flags = SA_RESETHAND };
	struct view_remote *none = NULL;

	if (!atomic_compare_exchange_strong(&cleaned, &none, r))
		return;
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!sigaction(ending[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(ending[i], &ours, NULL);
}

static int make_folder(struct view_remote *r, const char *url)
{
	const char *tmp = getenv("TMPDIR"), *name = run_name(&r->mem, url);
	char *parent;

	if (!is_name(name, strlen(name)))
		return -EINVAL;
	parent = base_arena_printf(&r->mem, "%s/gpustarve-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(parent))
		return -errno;
	r->parent = parent;
	r->folder = base_arena_printf(&r->mem, "%s/%s", parent, name);
	if (mkdir(r->folder, 0700))
		return -errno;
	clean_up_at_end(r);
	return 0;
}

static bool is_begun(const struct small *s)
{
	return strcmp(s->name, WIRE_KEY_RUN_BEGUN) == 0;
}

/* Where there is a run.json nothing else says what it would. */
static bool is_wanted(const struct view_remote *r, const struct small *s)
{
	bool wanted = true;

	for (size_t i = 0; i < r->smalls && is_begun(s) && wanted; i++)
		wanted = strcmp(r->small[i].name, "run.json") != 0;
	return wanted;
}

static int fetch_small(struct view_remote *r, struct small *s, struct objects_trouble *t)
{
	void *bytes = malloc(s->bytes + 1);
	ssize_t got;
	int err = -ENOMEM;

	if (!bytes)
		return err;
	s->path =
		base_arena_printf(&r->mem, "%s/%s", r->folder, is_begun(s) ? "run.json" : s->name);
	got = objects_get(r->store, s->name, 0, bytes, s->bytes, t);
	err = got < 0 ? (int)got : base_file_write(s->path, bytes, (size_t)got);
	free(bytes);
	return err;
}

/* The first reason counts: without these bytes nothing that is said of the run would be right. */
static void fail(struct view_remote *r, const char *name, const struct objects_trouble *t)
{
	pthread_mutex_lock(&r->lock);
	if (!atomic_load(&r->failed))
		snprintf(r->trouble.why, sizeof(r->trouble.why), "%.100s: %.150s", name, t->why);
	atomic_store(&r->failed, true);
	pthread_mutex_unlock(&r->lock);
}

static ssize_t ask(void *own, size_t object, void *to, size_t len, uint64_t at)
{
	struct view_remote *r = own;
	const struct segment *s = &r->segment[object];
	struct objects_trouble t;
	ssize_t got, want = at < s->bytes && len > s->bytes - at ? (ssize_t)(s->bytes - at)
								 : (ssize_t)len;

	if (atomic_load(&r->failed))
		return -EIO;
	got = objects_get(r->store, s->name, at, to, len, &t);
	if (got >= 0 && got < want)
		snprintf(t.why, sizeof(t.why), "it is shorter than it was");
	if (got < want)
		fail(r, s->name, &t);
	return got < want && got >= 0 ? -EIO : got;
}

/* A piece: from the shelf, or asked for and put there. */
static ssize_t ask_piece(void *own, size_t object, void *to, size_t len, uint64_t at)
{
	struct view_remote *r = own;
	const struct segment *s = &r->segment[object];
	size_t piece = s->first + (size_t)(at / PIECE_BYTES);
	size_t want = at < s->bytes && len > s->bytes - at ? (size_t)(s->bytes - at) : len;
	ssize_t got = view_shelf_read(r->shelf, piece, to, want);

	if (got >= 0)
		return got;
	got = ask(own, object, to, len, at);
	if (got > 0)
		view_shelf_put(r->shelf, piece, to, (size_t)got);
	return got;
}

/* What is read twice comes once. */
static void make_shelf(struct view_remote *r)
{
	size_t pieces = 0;

	for (size_t i = 0; i < r->segments; i++) {
		uint64_t more = r->segment[i].bytes / PIECE_BYTES + 1;

		if (more > SHELF_PIECES_MAX - pieces)
			return;
		r->segment[i].first = pieces;
		pieces += (size_t)more;
	}
	if (pieces > VIEW_REMOTE_KEPT_BYTES / PIECE_BYTES)
		r->shelf = view_shelf_new(pieces, PIECE_BYTES);
}

static int open_into(struct view_remote *r, const char *url, struct objects_trouble *t)
{
	int err = objects_open(&r->store, url, t);

	if (!err)
		err = objects_list(r->store, "", found, r, t);
	if (err == -E2BIG)
		snprintf(t->why, sizeof(t->why),
			 "more lies there than a run is made of, or a small file that is none");
	if (!err && !r->segments)
		return -ENODATA;
	if (!err)
		err = make_folder(r, url);
	for (size_t i = 0; i < r->smalls && !err; i++)
		err = is_wanted(r, &r->small[i]) ? fetch_small(r, &r->small[i], t) : 0;
	if (err)
		return err;
	for (size_t i = 0; i < r->segments; i++)
		r->segment[i].remote = r;
	make_shelf(r);
	r->kept = view_kept_new(ask_piece, r, VIEW_REMOTE_KEPT_BYTES / PIECE_BYTES, PIECE_BYTES);
	return r->kept ? 0 : -ENOMEM;
}

int view_remote_open(struct view_remote **out, const char *url, const char **why)
{
	static _Thread_local char told[WHY_BYTES];
	struct objects_trouble t;
	struct view_remote *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	t.why[0] = '\0';
	if (r) {
		pthread_mutex_init(&r->lock, NULL);
		err = open_into(r, url, &t);
	}
	if (!err) {
		*out = r;
		return 0;
	}
	snprintf(told, sizeof(told), "%s",
		 err == -ENODATA ? view_remote_there(&r->mem, r->store, url, r->below)
		 : t.why[0]	 ? t.why
				 : strerror(-err));
	*why = told;
	view_remote_close(r);
	return err;
}

void view_remote_close(struct view_remote *r)
{
	struct view_remote *own = r;

	if (!r)
		return;
	atomic_compare_exchange_strong(&cleaned, &own, NULL);
	if (r->folder)
		base_folder_remove(r->folder);
	if (r->parent)
		rmdir(r->parent);
	view_kept_free(r->kept);
	view_shelf_free(r->shelf);
	objects_close(r->store);
	pthread_mutex_destroy(&r->lock);
	free(r->segment);
	free(r->small);
	base_arena_fini(&r->mem);
	free(r);
}

const char *view_remote_folder(const struct view_remote *r)
{
	return r->folder;
}

size_t view_remote_segments(const struct view_remote *r)
{
	return r->segments;
}

const char *view_remote_trouble(const struct view_remote *r)
{
	return atomic_load(&r->failed) ? r->trouble.why : NULL;
}

const char *view_remote_name(const struct view_remote *r, size_t i)
{
	return r->segment[i].name;
}

static ssize_t read_segment(void *own, void *to, size_t len, uint64_t at)
{
	struct segment *s = own;

	if (s->remote->opening)
		return ask(s->remote, s->number, to, len, at);
	return view_kept_read(s->remote->kept, s->number, s->bytes, to, len, at);
}

int view_remote_segment(struct view_remote *r, size_t i, struct wire_file **f)
{
	struct wire_bytes bytes = { .size = r->segment[i].bytes,
				    .read = read_segment,
				    .own = &r->segment[i] };
	int err;

	r->opening = true;
	err = wire_file_open_segment(f, &bytes);
	r->opening = false;
	return err;
}
