/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a run: scan, sort by stream and sequence, drop what is there twice, build the streams.
 */
#include "trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "trace_priv.h"

int view_grow(void *p, size_t *room, size_t n, size_t each)
{
	size_t want = *room ? *room * 2 : 16;
	void *grown;

	if (n < *room)
		return 0;
	grown = reallocarray(*(void **)p, want, each);
	if (!grown)
		return -ENOMEM;
	*(void **)p = grown;
	*room = want;
	return 0;
}

#define NOTES_MAX 1000u /* a hostile file could make one for every byte */

void view_trace_note(struct view_trace *t, const char *fmt, ...)
{
	struct trace_priv *p = t->priv;
	va_list args;
	char *text;
	int len;

	if (t->notes >= NOTES_MAX || view_grow(&t->note, &p->note_room, t->notes, sizeof(*t->note)))
		return;
	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len >= 0)
		t->note[t->notes++] = text;
}

/* By stream, then sequence, then where it was found first. */
static int by_sequence(const void *a, const void *b)
{
	const struct trace_frame *x = a, *y = b;
	int d = memcmp(x->entry.frame.stream, y->entry.frame.stream, WIRE_STREAM_ID_BYTES);

	if (d)
		return d;
	if (x->entry.frame.seq != y->entry.frame.seq)
		return x->entry.frame.seq < y->entry.frame.seq ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->entry.offset < y->entry.offset ? -1 : x->entry.offset > y->entry.offset;
}

static bool same_stream(const struct trace_frame *a, const struct trace_frame *b)
{
	return !memcmp(a->entry.frame.stream, b->entry.frame.stream, WIRE_STREAM_ID_BYTES);
}

/* A frame that was sent again, or spooled and sent, is there twice. */
static void drop_duplicates(struct trace_priv *p)
{
	size_t i, kept = 0;

	for (i = 0; i < p->frames; i++) {
		const struct trace_frame *f = &p->frame[i];

		if (kept && same_stream(f, &p->frame[kept - 1]) &&
		    f->entry.frame.seq == p->frame[kept - 1].entry.frame.seq)
			continue;
		p->frame[kept++] = *f;
	}
	p->frames = kept;
}

static size_t count_streams(const struct trace_priv *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->frames; i++)
		n += !i || !same_stream(&p->frame[i], &p->frame[i - 1]);
	return n;
}

static int build_streams(struct view_trace *t)
{
	struct trace_priv *p = t->priv;
	struct wire_scratch *scratch = wire_scratch_new();
	size_t i, end;
	int err = -ENOMEM;

	t->stream = calloc(count_streams(p) + 1, sizeof(*t->stream));
	if (!scratch || !t->stream)
		goto out;
	err = 0;
	for (i = 0; i < p->frames && !err; i = end) {
		for (end = i + 1; end < p->frames && same_stream(&p->frame[i], &p->frame[end]);)
			end++;
		err = view_stream_build(t, &t->stream[t->streams++], &p->frame[i], end - i,
					scratch);
	}
out:
	wire_scratch_free(scratch);
	return err;
}

/* Streams come by their random ids; people and tests like them by process. */
static int by_process(const void *a, const void *b)
{
	const struct view_stream *x = a, *y = b;
	const Wire__Hello *h = x->hello, *g = y->hello;
	int d;

	if (!h || !g)
		d = (h != NULL) - (g != NULL);
	else if ((d = strcmp(h->host, g->host)) == 0)
		d = h->pid != g->pid ? (h->pid < g->pid ? -1 : 1)
				     : (h->armed_ns > g->armed_ns) - (h->armed_ns < g->armed_ns);
	return d ? d : memcmp(x->id, y->id, sizeof(x->id));
}

static int open_into(struct view_trace *t, const char *path, const char **why)
{
	struct trace_priv *p = t->priv;
	struct stat st;
	size_t i;
	int err;

	err = view_trace_scan(t, path, why);
	if (err)
		return err;
	qsort(p->frame, p->frames, sizeof(*p->frame), by_sequence);
	drop_duplicates(p);
	err = build_streams(t);
	free(p->frame);
	p->frame = NULL;
	if (!err && !stat(path, &st) && S_ISDIR(st.st_mode))
		err = view_trace_info(t, path);
	if (err) {
		*why = "not enough memory";
		return err;
	}
	for (i = 0; i < t->streams; i++)
		view_stream_close_hole(t, &t->stream[i]);
	qsort(t->stream, t->streams, sizeof(*t->stream), by_process);
	return 0;
}

int view_trace_open(struct view_trace **out, const char *path, const char **why)
{
	struct view_trace *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	*why = "not enough memory";
	if (!t)
		return -ENOMEM;
	t->priv = calloc(1, sizeof(struct trace_priv));
	t->path = strdup(path);
	if (t->priv && t->path)
		err = open_into(t, path, why);
	if (err) {
		view_trace_close(t);
		return err;
	}
	*out = t;
	return 0;
}

static void run_fini(struct view_run_info *r)
{
	size_t i;

	free(r->id);
	for (i = 0; i < r->commands; i++)
		free(r->command[i]);
	free(r->command);
	for (i = 0; i < r->labels; i++) {
		free(r->label_key[i]);
		free(r->label_value[i]);
	}
	free(r->label_key);
	free(r->label_value);
	for (i = 0; i < r->exits; i++)
		free(r->exit[i].host);
	free(r->exit);
}

static void priv_free(struct trace_priv *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->files; i++) {
		wire_file_close(p->file[i].file);
		free(p->file[i].name);
	}
	free(p->file);
	free(p->frame);
	view_arena_fini(&p->arena);
	free(p);
}

void view_trace_close(struct view_trace *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->streams; i++)
		view_stream_fini(&t->stream[i]);
	free(t->stream);
	for (i = 0; i < t->notes; i++)
		free(t->note[i]);
	free(t->note);
	run_fini(&t->run);
	priv_free(t->priv);
	free(t->path);
	free(t);
}

struct place {
	int64_t start;
	uint32_t index;
};

static int by_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static bool sorted(const struct wire_event *ev, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (ev[i].start_ns < ev[i - 1].start_ns)
			return false;
	return true;
}

/* Events of a block are nearly always in order; this is for those that are not. */
static int sort_events(struct wire_event *ev, size_t n)
{
	struct place *place = malloc(n * sizeof(*place));
	struct wire_event *copy = malloc(n * sizeof(*copy));
	int err = -ENOMEM;
	size_t i;

	if (!place || !copy)
		goto out;
	for (i = 0; i < n; i++)
		place[i] = (struct place){ ev[i].start_ns, (uint32_t)i };
	qsort(place, n, sizeof(*place), by_start);
	memcpy(copy, ev, n * sizeof(*copy));
	for (i = 0; i < n; i++)
		ev[i] = copy[place[i].index];
	err = 0;
out:
	free(copy);
	free(place);
	return err;
}

int view_trace_block(struct view_trace *t, const struct view_stream *s, const struct view_block *b,
		     struct wire_scratch *scratch, struct wire_event **ev, size_t *room,
		     size_t *count)
{
	struct trace_priv *p = t->priv;
	struct wire_block_head head;
	int err;

	(void)s;
	*count = 0;
	if (b->file >= p->files)
		return -EINVAL;
	err = wire_file_block(p->file[b->file].file, scratch, &b->entry, &head, ev, room);
	if (err)
		return err;
	if (!sorted(*ev, head.count))
		err = sort_events(*ev, head.count);
	if (!err)
		*count = head.count;
	return err;
}
