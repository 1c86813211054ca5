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

#define STREAMS_MAX 16384u /* processes of one run */

static int build_streams(struct view_trace *t)
{
	struct trace_priv *p = t->priv;
	struct wire_scratch *scratch = wire_scratch_new();
	size_t i, end, streams = count_streams(p);
	int err = -ENOMEM;

	if (streams > STREAMS_MAX) {
		view_trace_note(t, "%zu processes: all but %u are left out", streams, STREAMS_MAX);
		streams = STREAMS_MAX;
	}
	t->stream = calloc(streams + 1, sizeof(*t->stream));
	if (!scratch || !t->stream)
		goto out;
	err = 0;
	for (i = 0; i < p->frames && t->streams < streams && !err; i = end) {
		for (end = i + 1; end < p->frames && same_stream(&p->frame[i], &p->frame[end]);)
			end++;
		t->stream[t->streams].part = p->file[p->frame[i].file].part;
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

static int make_streams(struct view_trace *t)
{
	struct trace_priv *p = t->priv;
	int err;

	if (p->frames)
		qsort(p->frame, p->frames, sizeof(*p->frame), by_sequence);
	drop_duplicates(p);
	err = build_streams(t);
	free(p->frame);
	p->frame = NULL;
	return err;
}

/* What the runs' own files tell of them. */
static int add_info(struct view_trace *t)
{
	struct stat st;
	int err = 0;

	for (size_t i = 0; i < t->parts && !err; i++)
		if (!stat(t->part[i].path, &st) && S_ISDIR(st.st_mode)) {
			err = view_trace_info(t, &t->part[i]);
			view_trace_clocks(t, t->part[i].path);
		}
	if (!err && t->joined) {
		view_trace_sum_parts(t);
		view_trace_note_prices(t);
	}
	return err;
}

static int finish(struct view_trace *t, const char **why)
{
	int err = make_streams(t);

	if (!err)
		err = add_info(t);
	if (err) {
		*why = "not enough memory";
		return err;
	}
	for (size_t i = 0; i < t->streams; i++)
		view_stream_close_hole(t, &t->stream[i]);
	if (t->streams)
		qsort(t->stream, t->streams, sizeof(*t->stream), by_process);
	return 0;
}

/* Everything of the job that the trace keeps, with paths that are its own. */
static void take_job(struct view_trace *t, const struct view_job *job)
{
	struct base_arena *mem = &((struct trace_priv *)t->priv)->arena;
	struct view_alloc *alloc = base_arena_array(mem, job->allocs, sizeof(*alloc));

	t->joined = true;
	t->part = base_arena_array(mem, job->runs, sizeof(*t->part));
	for (t->parts = 0; t->parts < job->runs; t->parts++)
		t->part[t->parts].path = base_arena_text(mem, job->run[t->parts]);
	for (t->allocs = 0; t->allocs < job->allocs; t->allocs++)
		view_alloc_keep(&alloc[t->allocs], &job->alloc[t->allocs], mem);
	t->alloc = alloc;
	for (size_t i = 0; i < job->notes; i++)
		view_trace_note(t, "%s", job->note[i]);
	t->run.job = job->id;
	t->run.job.text[VIEW_JOB_CLUSTER] = NULL; /* as paths have it; others know it better */
	view_job_keep(&t->run.job, mem);
	t->run.id = job->label ? strdup(view_job_safe(mem, job->label))
			       : strdup(view_job_title(mem, &job->id));
}

/* One run of several that cannot be read does not spoil the others. */
static int open_parts(struct view_trace *t, const struct view_job *job, const char **why)
{
	int err = 0;

	take_job(t, job);
	if (job->label)
		view_trace_note(t, "%zu run%s of the label %s, taken for one job", job->runs,
				job->runs == 1 ? "" : "s", job->label);
	for (size_t i = 0; i < t->parts && err != -ENOMEM; i++) {
		err = view_trace_scan(t, (uint32_t)i, t->part[i].path, why);
		if (err && err != -ENOMEM && err != -ENODATA)
			view_trace_note(t, "%s: left out: %s", t->part[i].path, *why);
	}
	if (err == -ENOMEM)
		return err;
	if (!t->allocs) {
		err = t->parts ? view_trace_scanned(t, why) : -ENODATA;
		if (!t->parts)
			*why = "the job has no run and no allocation in that folder";
	} else {
		err = 0;
	}
	return err ? err : finish(t, why);
}

static int open_folder(struct view_trace *t, const char *path, const char **why)
{
	struct view_jobs jobs;
	struct view_job *job;
	int err = view_job_of_folder(&jobs, path, &job);

	*why = "it cannot be read as the folder of a job";
	if (!err)
		err = open_parts(t, job, why);
	view_jobs_fini(&jobs);
	return err;
}

/* As if its small files and its segments lay in one folder. */
static int open_remote(struct view_trace *t, const char *url, const char **why)
{
	struct trace_priv *p = t->priv;
	int err = view_remote_open(&p->remote, url, why);

	if (err)
		return err;
	t->part = base_arena_array(&p->arena, 1, sizeof(*t->part));
	t->part->path = view_remote_folder(p->remote);
	t->parts = 1;
	err = view_trace_scan_remote(t, 0, p->remote, why);
	if (!err)
		err = view_trace_scanned(t, why);
	return err ? err : finish(t, why);
}

static int open_into(struct view_trace *t, const char *path, const char **why)
{
	struct trace_priv *p = t->priv;
	struct stat st;
	int err;

	if (view_is_remote(path))
		return open_remote(t, path, why);
	if (view_job_is_folder(path) && !stat(path, &st) && S_ISDIR(st.st_mode))
		return open_folder(t, path, why);
	t->part = base_arena_array(&p->arena, 1, sizeof(*t->part));
	t->part->path = t->path;
	t->parts = 1;
	err = view_trace_scan(t, 0, path, why);
	if (!err)
		err = view_trace_scanned(t, why);
	return err ? err : finish(t, why);
}

static struct view_trace *new_trace(const char *path)
{
	struct view_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->run.job = VIEW_JOB_NONE;
	t->priv = calloc(1, sizeof(struct trace_priv));
	t->path = strdup(path);
	if (t->priv && t->path)
		return t;
	view_trace_close(t);
	return NULL;
}

int view_trace_open(struct view_trace **out, const char *path, const char **why)
{
	struct view_trace *t = new_trace(path);
	int err;

	*why = "not enough memory";
	err = t ? open_into(t, path, why) : -ENOMEM;
	if (err)
		view_trace_close(t);
	else
		*out = t;
	return err;
}

int view_trace_open_job(struct view_trace **out, const struct view_job *job, const char **why)
{
	struct view_trace *t = new_trace(job->folder ? job->folder : job->runs ? job->run[0] : "");
	int err;

	*why = "not enough memory";
	err = t ? open_parts(t, job, why) : -ENOMEM;
	if (err)
		view_trace_close(t);
	else
		*out = t;
	return err;
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
	view_remote_close(p->remote);
	base_arena_fini(&p->arena);
	free(p);
}

const char *view_trace_trouble(const struct view_trace *t)
{
	const struct trace_priv *p = t->priv;

	return p && p->remote ? view_remote_trouble(p->remote) : NULL;
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

/* @a comes before @b; of operations that start together the lower stream id does. */
static inline bool before(const struct wire_event *a, const struct wire_event *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->kind == WIRE_KIND_OP && (int32_t)a->stream < (int32_t)b->stream;
}

/*
 * Work comes in order of completion, so an event is nearly always at its place or a few before it.
 * Sorts as far as that takes few moves; returns how far.
 */
static size_t sort_nearly(struct wire_event *ev, size_t n)
{
	size_t moves = 4 * n, i, k;

	for (i = 1; i < n; i++) {
		struct wire_event e;

		if (!before(&ev[i], &ev[i - 1]))
			continue;
		e = ev[i];
		for (k = i; k > 0 && moves && before(&e, &ev[k - 1]); k--, moves--)
			ev[k] = ev[k - 1];
		ev[k] = e;
		if (!moves)
			return i;
	}
	return n;
}

static int by_start(const void *a, const void *b)
{
	const struct wire_event *x = *(const struct wire_event *const *)a;
	const struct wire_event *y = *(const struct wire_event *const *)b;

	if (before(x, y))
		return -1;
	if (before(y, x))
		return 1;
	return x < y ? -1 : 1;
}

static int sort_events(struct wire_event *ev, size_t n)
{
	struct wire_event *copy = malloc(n * sizeof(*copy));
	const struct wire_event **p = malloc(n * sizeof(*p));
	int err = -ENOMEM;
	size_t i;

	if (!copy || !p)
		goto out;
	memcpy(copy, ev, n * sizeof(*copy));
	for (i = 0; i < n; i++)
		p[i] = &copy[i];
	qsort(p, n, sizeof(*p), by_start);
	for (i = 0; i < n; i++)
		ev[i] = *p[i];
	err = 0;
out:
	free(p);
	free(copy);
	return err;
}

int view_trace_block(struct view_trace *t, const struct view_block *b, struct wire_scratch *scratch,
		     struct wire_event **ev, size_t *room, size_t *count)
{
	struct trace_priv *p = t->priv;
	struct wire_block_head head;
	bool in_order;
	int err;

	*count = 0;
	if (b->file >= p->files)
		return -EINVAL;
	err = wire_file_block(p->file[b->file].file, scratch, &b->entry, &head, ev, room,
			      &in_order);
	if (err)
		return err;
	if (!in_order && sort_nearly(*ev, head.count) < head.count)
		err = sort_events(*ev, head.count);
	if (!err)
		*count = head.count;
	return err;
}

uint64_t view_trace_bytes(const struct view_trace *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->streams; i++) {
		const struct view_stream *s = &t->stream[i];
		for (size_t k = 0; k < s->blocks; k++)
			sum += wire_frame_bytes(&s->block[k].entry.frame);
		for (size_t k = 0; k < s->evidences; k++)
			sum += wire_frame_bytes(&s->evidence[k].entry.frame);
	}
	return sum;
}

bool view_trace_over(const struct view_trace *t)
{
	bool all = t->allocs > 0;

	for (size_t i = 0; i < t->allocs; i++)
		all &= t->alloc[i].ended;
	return all || t->run.over;
}
