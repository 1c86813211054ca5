/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to a save is told by several messages, which one number of its stream joins. They
 * may come in any order, twice, or not at all.
 */
#include "saves_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/vec.h"
#include "beside.h"
#include "live/run.h"

#define SIGNALS 128 /* of an exit status: what is above is a signal's */
#define SAME_START_NS INT64_C(1000000000) /* a process's start, and when its wrapper says it was */

struct point { /* a message, with its stream */
	const Wire__Checkpoint *c;
	uint32_t process;
	uint32_t order;
};

struct points {
	struct point *point;
	size_t count, room;
};

static int gather(struct saves_facts *f, struct points *p, const struct view_trace *t)
{
	for (size_t i = 0; i < t->streams; i++)
		for (size_t k = 0; k < t->stream[i].fact_count; k++) {
			const Wire__Facts *m = t->stream[i].facts[k];

			for (size_t n = 0; n < m->n_checkpoints; n++) {
				if (p->count > (size_t)4 * SAVES_MAX) {
					f->too_many = true;
					return 0;
				}
				if (!base_vec_more(p->point, p->count, p->room))
					return -ENOMEM;
				p->point[p->count] = (struct point){ m->checkpoints[n], (uint32_t)i,
								     (uint32_t)p->count };
				p->count++;
			}
		}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->c->number != y->c->number)
		return x->c->number < y->c->number ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void take_load(struct saves_facts *f, const struct point *p)
{
	if (f->in.loads == SAVES_LOADS_MAX || !*p->c->path)
		return;
	f->load[f->in.loads++] = (struct live_load){ .process = p->process,
						     .t_ns = live_clamped(p->c->start_ns),
						     .file = live_file_of(p->c),
						     .path = p->c->path };
}

static void take_written(struct saves_facts *f, const struct point *p)
{
	struct live_written one = { .process = p->process,
				    .start_ns = live_clamped(p->c->start_ns),
				    .end_ns = live_clamped(p->c->end_ns),
				    .bytes = p->c->bytes };
	struct live_written *last;

	one.start_ns = base_min(one.start_ns, one.end_ns);
	if (f->in.writtens < SAVES_WRITTEN_MAX) {
		f->written[f->in.writtens++] = one;
		return;
	}
	last = &f->written[f->in.writtens - 1];
	last->start_ns = base_min(last->start_ns, one.start_ns);
	last->end_ns = base_max(last->end_ns, one.end_ns);
	last->bytes = live_bytes_sum(last->bytes, one.bytes);
}

/* Those that saves explain are no news. */
static void leave_unknown(struct saves_facts *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->in.writtens; i++)
		if (!live_written_known(&f->written[i], f->save, f->in.saves))
			f->written[n++] = f->written[i];
	f->in.writtens = n;
}

/* All messages of one number, from @at on. Returns how many there are. */
static size_t take_save(struct saves_facts *f, const struct points *p, size_t at)
{
	const struct point *first = &p->point[at];
	struct live_save s;
	size_t n = 0;

	live_save_begin(&s, first->c);
	s.process = first->process;
	for (; at + n < p->count && p->point[at + n].process == first->process &&
	       p->point[at + n].c->number == first->c->number;
	     n++)
		live_save_tell(&s, p->point[at + n].c);
	if (!*s.path)
		return n;
	if (f->in.saves == SAVES_MAX)
		f->too_many = true;
	else
		f->save[f->in.saves++] = s;
	return n;
}

static int by_start(const void *a, const void *b)
{
	const struct live_save *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int read_saves(struct saves_facts *f, const struct view_trace *t)
{
	struct points p = { 0 };
	int err = gather(f, &p, t);
	size_t n;

	f->save = calloc(base_min(p.count, SAVES_MAX) + 1, sizeof(*f->save));
	f->load = calloc(SAVES_LOADS_MAX, sizeof(*f->load));
	f->written = calloc(SAVES_WRITTEN_MAX, sizeof(*f->written));
	if (!f->save || !f->load || !f->written)
		err = -ENOMEM;
	if (!err && p.count)
		qsort(p.point, p.count, sizeof(*p.point), by_number);
	for (size_t i = 0; i < p.count && !err; i += n) {
		const Wire__Checkpoint *c = p.point[i].c;

		n = 1;
		if (live_tells_of_save(c))
			n = take_save(f, &p, i);
		else if (c->state == WIRE__SAVE_STATE__SAVE_OPENED)
			take_load(f, &p.point[i]);
		else if (c->state == WIRE__SAVE_STATE__SAVE_WRITTEN)
			take_written(f, &p.point[i]);
		else
			f->untold += c->state == WIRE__SAVE_STATE__SAVE_UNTOLD;
	}
	if (!err)
		qsort(f->save, f->in.saves, sizeof(*f->save), by_start);
	free(p.point);
	if (!err)
		err = live_series_prove(f->save, f->in.saves);
	if (!err)
		err = live_moves_find(f->save, f->in.saves);
	if (err)
		return err;
	live_opened_prove(f->save, f->in.saves, f->load, f->in.loads);
	leave_unknown(f);
	return 0;
}

/* Of its number later processes may be, of a run that was started again: the first end counts. */
static const struct view_exit *exit_of(const struct view_trace *t, const struct view_stream *s)
{
	const struct view_exit *first = NULL;
	const Wire__Hello *h = s->hello;

	for (size_t i = 0; h && i < t->run.exits; i++) {
		const struct view_exit *e = &t->run.exit[i];

		if (e->has_status && e->part == s->part && e->pid == h->pid &&
		    !strcmp(e->host, h->host) && e->end_ns >= h->process_start_ns &&
		    (!first || e->end_ns < first->end_ns))
			first = e;
	}
	return first;
}

static const struct view_run_part *part_of(const struct view_trace *t, const struct view_stream *s)
{
	return s->part < t->parts ? &t->part[s->part] : NULL;
}

/* As a shell says it: beyond that a signal's number stands. */
static bool by_itself(int status)
{
	return status && status <= SIGNALS;
}

static struct saves_process process_of(const struct view_trace *t, size_t at,
				       const struct ana_process *p, const struct view_exit *own)
{
	const struct view_stream *s = &t->stream[at];
	int64_t word = base_max(p->start_ns,
				s->last_pulse ? live_clamped(s->last_pulse->t_ns) : INT64_MIN);

	return (struct saves_process){ .part = s->part,
				       .start_ns = p->start_ns,
				       .end_ns = p->end_ns,
				       .holds = p->holds,
				       .ordered = s->bye && !(own && own->status),
				       .failed = own && by_itself(own->status),
				       .told = s->bye != NULL,
				       .runs = !strcmp(p->ended, "running"),
				       .word_ns = s->bye ? live_clamped(s->bye->t_ns) : word };
}

static int64_t wall_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * LIVE_SECOND_NS + now.tv_nsec;
}

/*
 * Whose end nobody saw goes on only as long as one of them may, as `top` has it: who is killed with
 * its wrapper, its container or its node has nobody to tell of it.
 */
static void end_silent(struct saves_facts *f, size_t processes, int64_t now_ns)
{
	int64_t heard = INT64_MIN;

	for (size_t i = 0; i < processes; i++)
		if (f->process[i].runs && f->process[i].holds)
			heard = base_max(heard,
					 base_max(f->process[i].word_ns, f->process[i].end_ns));
	for (size_t i = 0; i < processes; i++)
		f->process[i].runs &= heard > now_ns - LIVE_SILENT_NS;
}

struct blamed {
	int status; /* not 0 */
	const char *host; /* NULL: any */
	const struct view_run_part *part; /* NULL: any */
	int64_t start_ns, end_ns; /* of whoever saw it */
};

static bool may_be(const struct view_trace *t, const struct view_stream *s, const struct blamed *b)
{
	const Wire__Hello *h = s->hello;
	int64_t start;

	if (b->part && part_of(t, s) != b->part)
		return false;
	if (b->host && (!h || strcmp(h->host, b->host) != 0))
		return false;
	if (!h)
		return true;
	start = h->process_start_ns ? h->process_start_ns : h->armed_ns;
	return start >= b->start_ns && start < b->end_ns;
}

/* Did whoever ended first of those that it may be of say so? Then others were ended with it. */
static bool first_said(const struct saves_facts *f, size_t processes, const struct view_trace *t,
		       const struct blamed *b)
{
	size_t first = SIZE_MAX;

	for (size_t k = 0; k < processes; k++)
		if (f->process[k].holds && may_be(t, &t->stream[k], b) &&
		    (first == SIZE_MAX || f->process[k].end_ns < f->process[first].end_ns))
			first = k;
	return first != SIZE_MAX && f->process[first].told;
}

/* Those whose own status nobody knows. */
static void fail_all(struct saves_facts *f, size_t processes, const struct view_trace *t,
		     const struct blamed *b)
{
	for (size_t k = 0; k < processes; k++)
		if (f->process[k].holds && !f->process[k].ordered && may_be(t, &t->stream[k], b))
			f->process[k].failed |= !exit_of(t, &t->stream[k]);
}

/*
 * It came about by the last one that held a GPU. By itself it did if the status is none of a
 * signal, and whoever ended first still said goodbye.
 */
static void blame_last(struct saves_facts *f, size_t processes, const struct view_trace *t,
		       const struct blamed *b)
{
	size_t last = SIZE_MAX;

	for (size_t k = 0; k < processes; k++)
		if (f->process[k].holds && may_be(t, &t->stream[k], b) &&
		    (last == SIZE_MAX || f->process[k].end_ns > f->process[last].end_ns))
			last = k;
	if (last == SIZE_MAX)
		return;
	f->process[last].ordered = false;
	if (by_itself(b->status) && first_said(f, processes, t, b))
		fail_all(f, processes, t, b);
}

/* A run that was started again has a wrapper for each start; run.json is the first one's. */
static void blame_parts(struct saves_facts *f, size_t processes, const struct view_trace *t)
{
	for (size_t i = 0; i < t->parts; i++) {
		const struct view_run_part *part = &t->part[i];
		struct blamed b = { .status = part->first_status,
				    .part = part,
				    .start_ns = INT64_MIN,
				    .end_ns = INT64_MAX };

		if (part->wall_ns > 0 &&
		    __builtin_add_overflow(part->start_unix_ns, part->wall_ns, &b.end_ns))
			b.end_ns = INT64_MAX;
		if (part->first_status)
			blame_last(f, processes, t, &b);
	}
}

/* Of a wrapper's child that held none itself: a shell, a launcher. */
static void blame_exits(struct saves_facts *f, size_t processes, const struct view_trace *t,
			const struct view_exit *const *own)
{
	for (size_t i = 0; i < t->run.exits; i++) {
		const struct view_exit *e = &t->run.exit[i];
		const struct blamed b = { .status = e->status,
					  .host = e->host,
					  .part = e->part < t->parts ? &t->part[e->part] : NULL,
					  .start_ns = live_clamped(e->start_ns) - SAME_START_NS,
					  .end_ns = e->end_ns };
		bool held = false;

		if (!e->has_status || !e->status)
			continue;
		for (size_t k = 0; k < processes && !held; k++)
			held = f->process[k].holds && own[k] == e;
		if (!held)
			blame_last(f, processes, t, &b);
	}
}

static int read_ends(struct saves_facts *f, size_t processes, const struct view_trace *t,
		     const struct ana_result *r)
{
	const struct view_exit **own = calloc(processes + 1, sizeof(*own));

	if (!own)
		return -ENOMEM;
	for (size_t i = 0; i < processes; i++) {
		own[i] = exit_of(t, &t->stream[i]);
		f->process[i] = process_of(t, i, &r->process[i], own[i]);
	}
	end_silent(f, processes, wall_now());
	blame_parts(f, processes, t);
	blame_exits(f, processes, t, own);
	free(own);
	return 0;
}

static int read_lives(struct saves_facts *f, const struct view_trace *t, const struct ana_result *r)
{
	size_t n = base_min(t->streams, r->processes);

	f->process = calloc(t->streams + 1, sizeof(*f->process));
	f->gpu = calloc(r->gpus + 1, sizeof(*f->gpu));
	if (!f->process || !f->gpu || read_ends(f, n, t, r))
		return -ENOMEM;
	for (size_t g = 0; g < r->gpus; g++)
		f->gpu[g] = (struct saves_gpu){ .held = r->gpu[g].held,
						.helds = r->gpu[g].helds,
						.life = r->gpu[g].life,
						.lives = r->gpu[g].lives,
						.held_ns = r->gpu[g].held_ns,
						.submitted_ns = r->gpu[g].submitted_ns,
						.last_end_ns = r->gpu[g].last_end_ns };
	f->in.processes = n;
	f->in.gpus = r->gpus;
	f->in.over = view_trace_over(t);
	return 0;
}

int saves_facts_read(struct saves_facts *f, const struct view_trace *t, const struct ana_result *r)
{
	int err;

	*f = (struct saves_facts){ 0 };
	err = read_saves(f, t);
	if (!err)
		err = read_lives(f, t, r);
	f->in.save = f->save;
	f->in.load = f->load;
	f->in.written = f->written;
	f->in.process = f->process;
	f->in.gpu = f->gpu;
	for (size_t g = 0; g < r->gpus; g++)
		f->in.memory_bytes = base_max(f->in.memory_bytes, r->gpu[g].memory_used_peak_bytes);
	return err;
}

void saves_facts_fini(struct saves_facts *f)
{
	free(f->save);
	free(f->load);
	free(f->process);
	free(f->gpu);
	free(f->written);
	*f = (struct saves_facts){ 0 };
}

int saves_of_run(struct view_insurance *out, const struct view_trace *t, const struct ana_result *r)
{
	struct saves_facts f;
	int err;

	*out = (struct view_insurance){ 0 };
	if (r->imported)
		return 1;
	err = saves_facts_read(&f, t, r);
	if (!err && f.too_many)
		err = -ERANGE;
	if (!err)
		err = saves_insure(&f.in, out);
	if (!err && (err = saves_beside(&f.in, out)))
		saves_insure_fini(out);
	if (!err && !out->segments) {
		saves_insure_fini(out);
		err = 1;
	}
	if (!err)
		out->untold = f.untold;
	saves_facts_fini(&f);
	return err == -ERANGE ? 1 : err;
}
