/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve put: a run into an object store, as segments with tables of contents (docs/FORMAT.md).
 * What is there already is left as it is, so a second call goes on where the first was ended.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/files.h"
#include "base/options.h"
#include "base/vec.h"
#include "cmd.h"
#include "core/log.h"
#include "objects/objects.h"
#include "wire/contents.h"
#include "wire/keys.h"
#include "wire/reader.h"

#define SEGMENT_BYTES (32u << 20) /* and one frame more at most; chosen from ... */
#define SEGMENT_MIN (64u << 10)
#define SEGMENT_MAX (64u << 20)

static const char usage[] =
	"usage: gpustarve put RUN s3://BUCKET[/PREFIX] [--segment-bytes N]\n"
	"\n"
	"Copies a run directory into an object store that speaks S3's API, below PREFIX and\n"
	"the run's id; `gpustarve report s3://BUCKET/PREFIX/ID` and the other commands read it\n"
	"there. What is there already stays: a call that was ended is made again. Who may\n"
	"write, and where, comes from the AWS_* variables and ~/.aws, as other programs have it.\n"
	"\n";

struct opts {
	uint64_t segment;
};

static bool set_segment(void *into, char *text)
{
	struct opts *o = into;
	char *end;

	errno = 0;
	o->segment = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && o->segment >= SEGMENT_MIN &&
	    o->segment <= SEGMENT_MAX)
		return true;
	view_error("put: --segment-bytes %s: not a whole number from %u to %u", text, SEGMENT_MIN,
		   SEGMENT_MAX);
	return false;
}

static const struct base_opt opt[] = {
	{ "segment-bytes", 0, "N", "size of the objects (33554432), at most 67108864",
	  .take = set_segment },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_put_options = {
	.command = "put",
	.usage = usage,
	.column = 21,
	.opt = opt,
	.tail = "\n"
		"  gpustarve put gpustarve-runs/20261109-140211-train-4f2a.gst s3://traces/vision\n",
	.error = view_error,
};

struct put {
	struct base_arena mem;
	struct objects *store;
	struct objects_trouble trouble;
	const char *dir, *run, *url; /* @run: the first part of keys */
	uint64_t segment; /* bytes */
	char **name; /* of the files that are put, in their order */
	size_t names, room;
	struct object { /* what lies there below the run, in order of keys */
		const char *key;
		uint64_t bytes;
	} * object;
	size_t objects, object_room;
	uint64_t bytes, segments, there; /* put, put, and found there */
	struct object *sent; /* segments as they have to be there at the end */
	size_t sents, sent_room;
};

/* A frame of the file, and a place that is damaged. */
struct scanned {
	struct wire_entry *entry;
	size_t entries, room;
	struct wire_damage *damage;
	size_t damages;
	uint64_t size;
};

static bool is_stream(const char *name)
{
	size_t n = strlen(name);

	return (n > 4 && !strcmp(name + n - 4, ".gst")) ||
	       (n > 6 && !strcmp(name + n - 6, ".spool"));
}

static int name_order(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int last = !strcmp(x, "run.json") - !strcmp(y, "run.json");

	return last ? last : strcmp(x, y);
}

/* Streams and small files by name, and run.json last: where it is, all is. */
static int list(struct put *p)
{
	DIR *d = opendir(p->dir);
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		if (!is_stream(e->d_name) && !wire_key_is_small(e->d_name))
			continue;
		if (!base_vec_more(p->name, p->names, p->room))
			err = -ENOMEM;
		else
			p->name[p->names++] = base_arena_text(&p->mem, e->d_name);
	}
	closedir(d);
	if (p->names)
		qsort(p->name, p->names, sizeof(*p->name), name_order);
	return err;
}

static int trouble(struct put *p, const char *what, int err)
{
	view_error("put: %s: %s", what, p->trouble.why[0] ? p->trouble.why : strerror(-err));
	return err;
}

static int found(void *arg, const char *key, uint64_t bytes)
{
	struct put *p = arg;

	if (!base_vec_more(p->object, p->objects, p->object_room))
		return -ENOMEM;
	p->object[p->objects++] = (struct object){ base_arena_text(&p->mem, key), bytes };
	return 0;
}

/* What lies there now. */
static int look(struct put *p)
{
	const char *below = base_arena_printf(&p->mem, "%s/", p->run);
	int err;

	p->objects = 0;
	err = objects_list(p->store, below, found, p, &p->trouble);
	return err ? trouble(p, p->url, err) : 0;
}

static int key_order(const void *a, const void *b)
{
	return strcmp(((const struct object *)a)->key, ((const struct object *)b)->key);
}

static const struct object *there(const struct put *p, const char *key)
{
	struct object wanted = { .key = key };

	return p->objects ? bsearch(&wanted, p->object, p->objects, sizeof(wanted), key_order)
			  : NULL;
}

/* A stream's files begin with its id; a spool's has a number behind it. */
static bool is_ours(const struct put *p, const char *segment)
{
	size_t len = strcspn(segment, "./");

	for (size_t i = 0; i < p->names; i++)
		if (is_stream(p->name[i]) && strcspn(p->name[i], ".") == len &&
		    !memcmp(p->name[i], segment, len))
			return true;
	return false;
}

/* Segments of streams that this run has not: the name is another one's. */
static int nobody_else_is_there(struct put *p)
{
	size_t skip = strlen(p->run) + 1;
	int err = look(p);

	for (size_t i = 0; i < p->objects && !err; i++) {
		const char *key = p->object[i].key + skip;

		if (!wire_key_is_segment(key) || is_ours(p, key))
			continue;
		snprintf(p->trouble.why, sizeof(p->trouble.why),
			 "another run of that name lies there");
		err = trouble(p, p->object[i].key, -EEXIST);
	}
	return err;
}

/* Something of that size under our key is ours; else somebody has used the name. */
static int same_there(struct put *p, uint64_t bytes, size_t len)
{
	if (bytes == len)
		return 0;
	snprintf(p->trouble.why, sizeof(p->trouble.why),
		 "other bytes are there; is it another run of that id?");
	return -EEXIST;
}

static int put_new(struct put *p, const char *key, const void *bytes, size_t len)
{
	const struct object *o = there(p, key);
	uint64_t size;
	int err;

	if (!base_vec_more(p->sent, p->sents, p->sent_room))
		return trouble(p, key, -ENOMEM);
	p->sent[p->sents++] = (struct object){ key, len };
	if (o) {
		err = same_there(p, o->bytes, len);
		p->there += !err;
		return err ? trouble(p, key, err) : 0;
	}
	err = objects_put(p->store, key, bytes, len, true, &p->trouble);
	if (err == -EEXIST) { /* a try of ours whose answer was lost, or another `put` */
		err = objects_size(p->store, key, &size, &p->trouble);
		err = err ? err : same_there(p, size, len);
	}
	if (err)
		return trouble(p, key, err);
	p->bytes += len;
	return 0;
}

/* Small files change while a run goes on. */
static int put_small(struct put *p, const char *name)
{
	const char *key = base_arena_printf(&p->mem, "%s/%s", p->run, name);
	char *bytes;
	size_t len;
	int err = base_file_read(base_arena_printf(&p->mem, "%s/%s", p->dir, name), &bytes, &len);

	if (err)
		return trouble(p, name, err);
	err = objects_put(p->store, key, bytes, len, false, &p->trouble);
	free(bytes);
	if (err)
		return trouble(p, key, err);
	p->bytes += len;
	return 0;
}

static int scan(struct scanned *s, struct wire_file *f)
{
	const struct wire_damage *d;
	struct wire_entry e;
	int got;

	while ((got = wire_file_next(f, &e)) > 0) {
		if (!base_vec_more(s->entry, s->entries, s->room))
			return -ENOMEM;
		s->entry[s->entries++] = e;
	}
	if (got)
		return got;
	d = wire_file_damage(f, &s->damages);
	s->damage = calloc(s->damages + 1, sizeof(*d));
	if (!s->damage)
		return -ENOMEM;
	if (s->damages)
		memcpy(s->damage, d, s->damages * sizeof(*d));
	s->size = wire_file_size(f);
	return 0;
}

static uint64_t end_of(const struct wire_entry *e)
{
	return e->offset + wire_frame_bytes(&e->frame);
}

/* What the frames from @first to before @last, and the bytes from @at to @end, hold. */
static int describe(struct wire_contents *c, const struct scanned *s, size_t first, size_t last,
		    const uint8_t *bytes, uint64_t at, uint64_t end)
{
	int err = 0;

	for (size_t i = 0; i < s->damages && !err; i++)
		if (s->damage[i].offset >= at && s->damage[i].offset < end)
			err = wire_contents_damage(c, s->damage[i].offset - at, s->damage[i].bytes);
	for (size_t i = first; i < last && !err; i++) {
		uint64_t from = s->entry[i].offset - at;

		err = wire_contents_add(c, &s->entry[i].frame,
					bytes + from + WIRE_FRAME_HEADER_BYTES, from);
	}
	return err;
}

static const char *segment_key(struct put *p, const char *name, const struct scanned *s,
			       size_t first, size_t last)
{
	int stem = (int)(strrchr(name, '.') - name);
	uint64_t from = first < last ? s->entry[first].frame.seq : 0;
	uint64_t to = first < last ? s->entry[last - 1].frame.seq : 0;

	return base_arena_printf(&p->mem, "%s/%.*s/%020llu-%020llu", p->run, stem, name,
				 (unsigned long long)from, (unsigned long long)to);
}

static int put_segment(struct put *p, const char *name, int fd, const struct scanned *s,
		       size_t first, size_t last, uint64_t at, uint64_t end)
{
	struct wire_contents contents = { .frames = 0 };
	struct wire_buf bytes = { .data = NULL };
	size_t len = (size_t)(end - at), got = 0;
	int err = wire_buf_reserve(&bytes, len);

	if (!err && lseek(fd, (off_t)at, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = base_read_upto(fd, (char *)bytes.data, len, &got);
	bytes.len = got;
	if (!err && got < len)
		err = -ESTALE; /* it is shorter than it was */
	if (!err)
		err = describe(&contents, s, first, last, bytes.data, at, end);
	if (!err)
		err = wire_contents_end(&contents, len, &bytes);
	p->trouble.why[0] = '\0';
	if (err)
		trouble(p, name, err);
	else
		err = put_new(p, segment_key(p, name, s, first, last), bytes.data, bytes.len);
	p->segments += !err;
	wire_contents_fini(&contents);
	wire_buf_fini(&bytes);
	return err;
}

/*
 * Pieces end with a frame. What stands behind the last one may be a frame that is being written: it
 * is left out, and comes with a later `put`.
 */
static int put_pieces(struct put *p, const char *name, int fd, const struct scanned *s)
{
	size_t first = 0, i;
	uint64_t at = 0;
	int err = 0;

	for (i = 0; i < s->entries && !err; i++) {
		uint64_t end = end_of(&s->entry[i]);

		if (end - at < p->segment && i + 1 < s->entries)
			continue;
		err = put_segment(p, name, fd, s, first, i + 1, at, end);
		first = i + 1;
		at = end;
	}
	return err;
}

static int put_stream(struct put *p, const char *name)
{
	const char *path = base_arena_printf(&p->mem, "%s/%s", p->dir, name);
	struct scanned s = { .entries = 0 };
	struct wire_file *f = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	int err = fd < 0 ? -errno : wire_file_open(&f, path);

	if (!err)
		err = scan(&s, f);
	if (err)
		trouble(p, name, err);
	else
		err = put_pieces(p, name, fd, &s);
	wire_file_close(f);
	free(s.entry);
	free(s.damage);
	if (fd >= 0)
		close(fd);
	return err;
}

/* A store may have said so and kept nothing. */
static int all_is_there(struct put *p)
{
	int err = look(p);

	for (size_t i = 0; i < p->sents && !err; i++) {
		const struct object *o = there(p, p->sent[i].key);

		if (o && o->bytes == p->sent[i].bytes)
			continue;
		snprintf(p->trouble.why, sizeof(p->trouble.why),
			 "the store took it, and does not have it");
		err = trouble(p, p->sent[i].key, -EIO);
	}
	return err;
}

static int put_all(struct put *p)
{
	int err = list(p);
	size_t streams = 0;

	if (err)
		return trouble(p, p->dir, err);
	for (size_t i = 0; i < p->names; i++)
		streams += is_stream(p->name[i]);
	if (!streams) {
		view_error("put: %s: the directory holds no trace (no .gst or .spool file)",
			   p->dir);
		return -ENODATA;
	}
	err = nobody_else_is_there(p);
	for (size_t i = 0; i < p->names && !err; i++)
		err = is_stream(p->name[i]) ? put_stream(p, p->name[i]) : 0;
	if (!err)
		err = all_is_there(p);
	for (size_t i = 0; i < p->names && !err; i++)
		err = is_stream(p->name[i]) ? 0 : put_small(p, p->name[i]);
	return err;
}

/* The folder's name, as it was given, without ".gst". */
static const char *run_of(struct put *p, const char *dir)
{
	char whole[PATH_MAX], *name;
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	snprintf(whole, sizeof(whole), "/%.*s", (int)len, dir);
	name = strrchr(whole, '/') + 1;
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) {
		if (!realpath(dir, whole))
			return NULL;
		name = strrchr(whole, '/') + 1;
	}
	len = strlen(name);
	if (len > 4 && !strcmp(name + len - 4, ".gst"))
		name[len - 4] = '\0';
	return *name ? base_arena_text(&p->mem, name) : NULL;
}

static void tell(const struct put *p)
{
	size_t len = strlen(p->url);

	while (len && p->url[len - 1] == '/')
		len--;
	printf("%llu segment%s, %llu of them there already; %llu bytes sent\n"
	       "gpustarve report %.*s/%s\n",
	       (unsigned long long)p->segments, p->segments == 1 ? "" : "s",
	       (unsigned long long)p->there, (unsigned long long)p->bytes, (int)len, p->url,
	       p->run);
}

int view_cmd_put(int argc, char **argv)
{
	struct opts o = { .segment = SEGMENT_BYTES };
	struct put p = { .bytes = 0 };
	int go = base_options_parse(&view_put_options, argc, argv, &o), err;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (argc - optind != 2) {
		view_error("put: a run directory and s3://BUCKET/PREFIX were expected; see "
			   "gpustarve put --help");
		return VIEW_EXIT_ERROR;
	}
	p.segment = o.segment;
	p.dir = argv[optind];
	p.url = argv[optind + 1];
	p.run = run_of(&p, p.dir);
	err = p.run ? objects_open(&p.store, p.url, &p.trouble) : -ENOENT;
	if (err)
		trouble(&p, p.run ? p.url : p.dir, err);
	else
		err = put_all(&p);
	if (!err)
		tell(&p);
	objects_close(p.store);
	free(p.name);
	free(p.object);
	free(p.sent);
	base_arena_fini(&p.mem);
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
