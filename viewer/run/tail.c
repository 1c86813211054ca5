/* SPDX-License-Identifier: Apache-2.0 */
#include "tail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX (1u << 20) /* of those that are read */
#define SEARCH_BYTES (64u << 10) /* at a time, for a frame behind damage */
#define PULSES_BETWEEN 1000u /* of what lay there: besides the first and the last */

#define FACTS (UINT64_C(1) << 63) /* in found.at: it is no pulse, and is not left out */

struct found { /* frames of one file that are to be read */
	uint64_t *at;
	size_t count, room;
};

int view_tail_init(struct view_tail *t, const char *dir)
{
	*t = (struct view_tail){ .dir = dir };
	live_run_init(&t->run);
	t->reader = live_reader_new();
	t->frame = malloc(FRAME_MAX);
	if (t->reader && t->frame)
		return 0;
	view_tail_fini(t);
	return -ENOMEM;
}

void view_tail_fini(struct view_tail *t)
{
	for (size_t i = 0; i < t->files; i++)
		free(t->file[i].name);
	free(t->file);
	free(t->frame);
	live_reader_free(t->reader);
	live_run_fini(&t->run);
	*t = (struct view_tail){ 0 };
}

struct live_when view_tail_now(void)
{
	struct timespec mono, wall;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (struct live_when){ .now_ns = mono.tv_sec * LIVE_SECOND_NS + mono.tv_nsec,
				   .wall_ns = wall.tv_sec * LIVE_SECOND_NS + wall.tv_nsec };
}

static struct view_tail_file *file_of(struct view_tail *t, const char *name)
{
	for (size_t i = 0; i < t->files; i++)
		if (!strcmp(t->file[i].name, name))
			return &t->file[i];
	if (t->files == VIEW_TAIL_FILES)
		return NULL;
	if (t->files == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		struct view_tail_file *more = realloc(t->file, room * sizeof(*more));
		if (!more)
			return NULL;
		t->file = more;
		t->room = room;
	}
	char *copy = strdup(name);
	if (!copy)
		return NULL;
	t->file[t->files] = (struct view_tail_file){ .name = copy };
	return &t->file[t->files++];
}

static void remember(struct found *f, uint64_t at)
{
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 64;
		uint64_t *more = realloc(f->at, room * sizeof(*more));
		if (!more)
			return; /* one pulse less */
		f->at = more;
		f->room = room;
	}
	f->at[f->count++] = at;
}

/* The next header at or behind @at, beyond damage; @end if there is none. */
static uint64_t search(int fd, uint64_t at, uint64_t end)
{
	static uint8_t bytes[SEARCH_BYTES];
	struct wire_frame f;

	while (at + WIRE_FRAME_HEADER_BYTES <= end) {
		ssize_t n = pread(fd, bytes, sizeof(bytes), (off_t)at);
		if (n < WIRE_FRAME_HEADER_BYTES)
			return at;
		size_t last = (size_t)n - WIRE_FRAME_HEADER_BYTES;
		for (size_t i = 0; i <= last; i++)
			if (!memcmp(bytes + i, WIRE_FRAME_MAGIC, 4) &&
			    !wire_frame_header_get(&f, bytes + i))
				return at + i;
		at += last + 1;
	}
	return at;
}

/* Headers from s->at on; where the frames stand that tell of the run. */
static void walk(int fd, struct view_tail_file *s, uint64_t end, struct found *found)
{
	uint8_t raw[WIRE_FRAME_HEADER_BYTES];
	struct wire_frame f;

	while (s->at + sizeof(raw) <= end &&
	       pread(fd, raw, sizeof(raw), (off_t)s->at) == (ssize_t)sizeof(raw)) {
		if (wire_frame_header_get(&f, raw)) {
			s->at = search(fd, s->at + 1, end);
			continue;
		}
		if (s->at + wire_frame_bytes(&f) > end)
			break;
		if (live_frame_wanted(&f))
			remember(found, s->at | (f.type == WIRE_FRAME_FACTS ? FACTS : 0));
		s->at += wire_frame_bytes(&f);
	}
}

static bool take(struct view_tail *t, int fd, uint64_t at, const struct live_when *when)
{
	struct wire_frame f;
	uint64_t len;

	if (pread(fd, t->frame, WIRE_FRAME_HEADER_BYTES, (off_t)at) != WIRE_FRAME_HEADER_BYTES ||
	    wire_frame_header_get(&f, t->frame))
		return false;
	len = wire_frame_bytes(&f);
	if (len > FRAME_MAX || pread(fd, t->frame, (size_t)len, (off_t)at) != (ssize_t)len ||
	    !wire_frame_payload_ok(&f, t->frame + WIRE_FRAME_HEADER_BYTES))
		return false;
	return !live_run_frame(&t->run, t->reader, &f, t->frame + WIRE_FRAME_HEADER_BYTES, when);
}

/* The first ones (Hello among them), the last ones, Facts, and some of those between. */
static size_t take_all(struct view_tail *t, int fd, const struct found *f,
		       const struct live_when *when)
{
	size_t edge = 2 * LIVE_POINTS, every = 1, taken = 0;

	if (when->history && f->count > 2 * edge)
		every = 1 + (f->count - 2 * edge) / PULSES_BETWEEN;
	for (size_t i = 0; i < f->count; i++)
		if (i < edge || i + edge >= f->count || i % every == 0 || f->at[i] & FACTS)
			taken += take(t, fd, f->at[i] & ~FACTS, when);
	return taken;
}

static size_t look_at(struct view_tail *t, const char *name)
{
	struct view_tail_file *s = file_of(t, name);
	struct live_when when = view_tail_now();
	struct found found = { 0 };
	char path[4400];
	struct stat st;
	size_t taken = 0;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/%.300s", t->dir, name);
	fd = s ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1;
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto close_file;
	if (s->at > (uint64_t)st.st_size)
		s->at = 0; /* taken back to what was durable: read again, known frames are known */
	when.history = !s->at;
	walk(fd, s, (uint64_t)st.st_size, &found);
	taken = take_all(t, fd, &found, &when);
	free(found.at);
close_file:
	close(fd);
	return taken;
}

static int is_stream(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && e->d_name[0] != '.' && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool"));
}

/* The collector saw the process end, though it said no goodbye. */
static bool end_was_seen(const struct view_tail *t, const struct live_stream *s)
{
	char path[PATH_MAX], hex[2 * WIRE_STREAM_ID_BYTES + 1];

	for (size_t i = 0; i < WIRE_STREAM_ID_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", s->id[i]);
	return snprintf(path, sizeof(path), "%s/exit-coll-%s.json", t->dir, hex) <
		       (int)sizeof(path) &&
	       !access(path, F_OK);
}

static void look_for_ends(struct view_tail *t)
{
	for (size_t i = 0; i < t->run.streams; i++) {
		struct live_stream *s = t->run.stream[i];

		s->gone = !s->ended && (s->gone || end_was_seen(t, s));
	}
}

size_t view_tail_look(struct view_tail *t)
{
	struct dirent **list;
	/* 2.spool before 10.spool */
	int n = scandir(t->dir, &list, is_stream, versionsort);
	size_t taken = 0;

	for (int i = 0; i < n; i++) {
		taken += look_at(t, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	look_for_ends(t);
	return taken;
}
