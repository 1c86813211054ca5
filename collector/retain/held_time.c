/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two edges of each file through a live model of its own, which says from when to when it held
 * which GPU; then the union of these spans for each GPU, for files come in no order.
 */
#include "held_time.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/vec.h"
#include "core/clock.h"
#include "live/frame.h"

struct span {
	char gpu[sizeof(((struct live_gpu *)NULL)->key)];
	int64_t begin, end;
};

struct edges {
	struct live_run run; /* of the file that is read */
	struct live_reader *reader;
	struct live_when when;
	uint8_t *bytes; /* COLL_HELD_EDGE */
	struct span *span;
	size_t spans, room;
};

static bool is_trace(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && name[0] != '.' && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool"));
}

/* Whole frames among these bytes, whatever stands between them. */
static void take_frames(struct edges *x, size_t len)
{
	struct wire_frame f;
	size_t at = 0, skip;

	while (wire_frame_scan(x->bytes + at, len - at, true, &f, &skip) == WIRE_SCAN_FRAME) {
		at += skip;
		if (live_frame_wanted(&f))
			live_run_frame(&x->run, x->reader, &f,
				       x->bytes + at + WIRE_FRAME_HEADER_BYTES, &x->when);
		at += (size_t)wire_frame_bytes(&f);
	}
}

static void take_edge(struct edges *x, int fd, off_t at)
{
	ssize_t n = pread(fd, x->bytes, COLL_HELD_EDGE, at);

	if (n > 0)
		take_frames(x, (size_t)n);
}

static void keep_spans(struct edges *x)
{
	for (size_t i = 0; i < x->run.gpus && base_vec_more(x->span, x->spans, x->room); i++) {
		const struct live_gpu *g = &x->run.gpu[i];
		struct span *s = &x->span[x->spans];

		if (g->held_ns <= 0)
			continue;
		memcpy(s->gpu, g->key, sizeof(s->gpu));
		s->end = g->covered_ns;
		s->begin = g->covered_ns - g->held_ns;
		x->spans++;
	}
}

static int by_gpu_and_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int order = strcmp(x->gpu, y->gpu);

	if (order)
		return order;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Sums stay where int64 ends. */
static void sum_up(const struct edges *x, struct coll_held_time *t)
{
	int64_t covered = 0, begin, fresh;

	for (size_t i = 0; i < x->spans; i++) {
		const struct span *s = &x->span[i];
		bool first = !i || strcmp(s->gpu, s[-1].gpu) != 0;

		t->gpus += first;
		begin = first || s->begin > covered ? s->begin : covered;
		if (s->end <= begin)
			continue;
		covered = s->end;
		if (__builtin_sub_overflow(s->end, begin, &fresh) ||
		    __builtin_add_overflow(t->held_ns, fresh, &t->held_ns))
			t->held_ns = INT64_MAX;
	}
}

static void read_file(struct edges *x, struct coll_held_time *t, int run_fd, const char *name)
{
	int fd = openat(run_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	live_run_init(&x->run);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		take_edge(x, fd, 0);
		if (st.st_size > COLL_HELD_EDGE)
			take_edge(x, fd, st.st_size - COLL_HELD_EDGE);
		t->files_read++;
		keep_spans(x);
	}
	live_run_fini(&x->run);
	close(fd);
}

static void read_files(struct edges *x, struct coll_held_time *t, int run_fd)
{
	int fd = openat(run_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d))) {
		if (!is_trace(e->d_name))
			continue;
		t->files++;
		if (t->files_read < COLL_HELD_FILES_MAX)
			read_file(x, t, run_fd, e->d_name);
	}
	if (d)
		closedir(d);
}

void coll_held_time_read(struct coll_held_time *t, int run_fd)
{
	struct edges x = { .reader = live_reader_new(), .bytes = malloc(COLL_HELD_EDGE) };

	*t = (struct coll_held_time){ .gpus = 0 };
	x.when = (struct live_when){ .now_ns = coll_now_ns(),
				     .wall_ns = coll_clock_ns(CLOCK_REALTIME),
				     .history = true };
	if (x.reader && x.bytes)
		read_files(&x, t, run_fd);
	if (x.spans)
		qsort(x.span, x.spans, sizeof(*x.span), by_gpu_and_begin);
	sum_up(&x, t);
	free(x.span);
	live_reader_free(x.reader);
	free(x.bytes);
}
