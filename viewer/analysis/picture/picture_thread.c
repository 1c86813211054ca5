/* SPDX-License-Identifier: Apache-2.0 */
/* What samples and batches show of one thread in a step. */
#include "picture_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/evidence.h"
#include "analysis/evidence/shares.h"
#include "analysis/evidence/take.h"
#include "analysis/map.h"
#include "analysis/worker_state.h"

#define PERIOD_NS 10000000 /* where a sample does not tell its own */
#define LINES_MAX 64u /* told apart in a row */
#define BATCHES_PART 4 /* of a step: less waiting for batches is not what it is about */

/* ---- which threads --------------------------------------------------------------------------- */

static int thread_order(uint32_t pid, uint32_t tid, uint32_t other_pid, uint32_t other_tid)
{
	if (pid != other_pid)
		return pid < other_pid ? -1 : 1;
	return tid < other_tid ? -1 : tid > other_tid;
}

bool ana_picture_next(const struct ana_picture_reading *r, size_t *at_sample, size_t *at_batch,
		      struct ana_picture_thread *t)
{
	const struct wire_sample *s = *at_sample < r->samples ? &r->sample[*at_sample] : NULL;
	const struct wire_batch *b = *at_batch < r->batches ? &r->batch[*at_batch] : NULL;

	if (!s && !b)
		return false;
	if (s && (!b || thread_order(s->pid, s->tid, b->pid, b->tid) <= 0))
		*t = (struct ana_picture_thread){ .pid = s->pid, .tid = s->tid };
	else
		*t = (struct ana_picture_thread){ .pid = b->pid, .tid = b->tid };
	t->sample = s;
	t->batch = b;
	for (; *at_sample < r->samples && r->sample[*at_sample].pid == t->pid &&
	       r->sample[*at_sample].tid == t->tid;
	     ++*at_sample)
		t->samples++;
	for (; *at_batch < r->batches && r->batch[*at_batch].pid == t->pid &&
	       r->batch[*at_batch].tid == t->tid;
	     ++*at_batch)
		t->batches++;
	return true;
}

static size_t in_role(const struct ana_picture_reading *r, const struct ana_picture_thread *t,
		      uint8_t role)
{
	size_t n = 0;

	for (size_t i = 0; i < t->samples; i++)
		n += t->sample[i].role == role && t->sample[i].t_ns >= r->step.start_ns;
	return n;
}

bool ana_picture_makes(const struct ana_picture_reading *r, const struct ana_picture_thread *t)
{
	return t->batches || in_role(r, t, WIRE_ROLE_WORKER) || in_role(r, t, WIRE_ROLE_PRODUCER);
}

/* Of the loader waits, the thread with most. */
static uint32_t waiter(const struct ana_picture_reading *r)
{
	int64_t most = 0, sum = 0;
	uint32_t tid = 0;

	for (size_t i = 0; i < r->waits; i++) {
		sum = 0;
		for (size_t k = i; k < r->waits && k < i + 1024; k++)
			if (r->wait[k].tid == r->wait[i].tid)
				ana_sum(&sum, r->wait[k].end - r->wait[k].start);
		if (sum > most) {
			most = sum;
			tid = r->wait[i].tid;
		}
	}
	return tid;
}

struct ana_picture_thread ana_picture_main(const struct ana_picture_reading *r)
{
	struct ana_picture_thread best = { 0 }, t;
	size_t at_sample = 0, at_batch = 0, most = 0;

	while (ana_picture_next(r, &at_sample, &at_batch, &t)) {
		size_t n = in_role(r, &t, WIRE_ROLE_SUBMITTER);

		if (n <= most)
			continue;
		most = n;
		best = t;
	}
	if (!most)
		best = (struct ana_picture_thread){ .pid = (uint32_t)r->source->pid,
						    .tid = waiter(r) };
	return best;
}

/* ---- what a sample shows --------------------------------------------------------------------- */

/* A take from a queue or of a future, where the wait itself is no reading of data. */
static bool takes(const struct ana_pystack *stack, uint8_t wait)
{
	return stack->take == ANA_TAKE_ITEM &&
	       (ana_worker_blocked(wait) == ANA_WORKER_LOCK || wait == WIRE_WAIT_PIPE);
}

/* A listener reads nothing: it has no work until somebody comes. */
static bool listens(const struct wire_sample *s)
{
	static const uint16_t accept[] = { 43, 288, 202,
					   242 }; /* and accept4; x86-64, then the newer table */

	for (size_t i = 0; s->wait == WIRE_WAIT_SOCKET && i < sizeof(accept) / sizeof(accept[0]);
	     i++)
		if (s->syscall == accept[i] + 1)
			return true;
	return false;
}

static enum ana_picture_state blocked(const struct ana_pystack *stack, const struct wire_sample *s,
				      bool main)
{
	static const enum ana_picture_state of[ANA_WORKER_STATES] = {
		[ANA_WORKER_IO] = ANA_DOES_IO,
		[ANA_WORKER_CPU] = ANA_DOES_CPU,
		[ANA_WORKER_RUNNABLE] = ANA_DOES_RUNNABLE,
		[ANA_WORKER_IDLE] = ANA_DOES_NO_WORK,
		[ANA_WORKER_LOCK] = ANA_DOES_LOCK,
		[ANA_WORKER_OTHER] = ANA_DOES_OTHER,
	};

	const uint8_t wait = s->wait;

	if (wait == WIRE_WAIT_GPU)
		return ANA_DOES_DEVICE;
	if (listens(s))
		return ANA_DOES_NO_WORK;
	if (wait == WIRE_WAIT_SLEEP)
		return ANA_DOES_ASLEEP;
	if (wait == WIRE_WAIT_QUEUE || takes(stack, wait) || (main && stack->waits))
		return main ? ANA_DOES_AWAITS : ANA_DOES_NO_WORK;
	return of[ana_worker_blocked(wait)];
}

static enum ana_picture_state running(const struct wire_sample *s, bool has_next)
{
	int64_t run, delay;

	return has_next && ana_shares_between(s, s + 1, &run, &delay) && delay > run
		       ? ANA_DOES_RUNNABLE
		       : ANA_DOES_CPU;
}

/* Threads without Python that give the GPU work beside the main one: where they run. */
struct helpers {
	const struct wire_sample **seen; /* by time, then as they are read */
	size_t count;
};

static int by_time(const void *a, const void *b)
{
	const struct wire_sample *x = *(const struct wire_sample *const *)a;
	const struct wire_sample *y = *(const struct wire_sample *const *)b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int find_helpers(const struct ana_picture_reading *r, const struct ana_picture_thread *t,
			struct helpers *h)
{
	h->seen = calloc(r->samples + 1, sizeof(*h->seen));
	if (!h->seen)
		return -ENOMEM;
	for (size_t i = 0; i < r->samples && r->sample[i].pid <= t->pid; i++) {
		const struct wire_sample *o = &r->sample[i];

		if (o->pid == t->pid && o->tid != t->tid && o->role == WIRE_ROLE_SUBMITTER &&
		    !o->stack && ana_sample_runs(o))
			h->seen[h->count++] = o;
	}
	qsort(h->seen, h->count, sizeof(*h->seen), by_time);
	return 0;
}

/* The first of those at @t or later. */
static size_t helper_from(const struct helpers *h, int64_t t)
{
	size_t low = 0, high = h->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->seen[mid]->t_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Of two as near the one that is read first; NULL: there is none. */
static const struct wire_sample *nearest_helper(const struct helpers *h, int64_t t)
{
	size_t at = helper_from(h, t);
	const struct wire_sample *after = at < h->count ? h->seen[at] : NULL, *before = NULL;
	int64_t apart;

	if (at)
		before = h->seen[helper_from(h, h->seen[at - 1]->t_ns)];
	if (!before || !after)
		return before ? before : after;
	apart = (t - before->t_ns) - (after->t_ns - t);
	return apart < 0 || (!apart && before < after) ? before : after;
}

/*
 * What a thread without Python that gives the GPU work does while the main thread waits for it at a
 * lock, as autograd's does inside loss.backward(): that is what the main process does.
 * ANA_DOES_LOCK: nobody was seen.
 */
static enum ana_picture_state done_for(const struct ana_picture_reading *r, const struct helpers *h,
				       const struct wire_sample *s)
{
	const struct wire_sample *best = nearest_helper(h, s->t_ns);

	if (!best || llabs(best->t_ns - s->t_ns) > 2 * PERIOD_NS)
		return ANA_DOES_LOCK;
	return running(best, best + 1 < r->sample + r->samples && best[1].pid == best->pid &&
				     best[1].tid == best->tid);
}

static bool is_at(const struct ana_hotspot *h, struct ana_text file, uint32_t line)
{
	return h->file && h->line == line && strlen(h->file) == file.len &&
	       !memcmp(h->file, file.at, file.len);
}

/* At a line at which the run's main process makes its batches outside of any loader. */
static bool makes_inline(const struct ana_result *r, const struct ana_pystack *stack)
{
	for (size_t i = 0; i < r->hotspots && stack->file.len; i++)
		if (r->hotspot[i].class == ANA_INPUT_INLINE &&
		    is_at(&r->hotspot[i], stack->file, stack->line))
			return true;
	return false;
}

/* @helpers: of the main thread; NULL: it is another. */
static enum ana_picture_state state_of(const struct ana_picture_reading *r,
				       const struct ana_picture_thread *t, size_t i,
				       const struct ana_pystack *stack,
				       const struct helpers *helpers)
{
	const struct wire_sample *s = &t->sample[i];
	const bool main = helpers != NULL;
	enum ana_picture_state state;

	state = ana_sample_runs(s) ? running(s, i + 1 < t->samples) : blocked(stack, s, main);
	if (main && state != ANA_DOES_DEVICE && state != ANA_DOES_AWAITS &&
	    makes_inline(r->result, stack))
		return ANA_DOES_MAKES;
	return main && state == ANA_DOES_LOCK ? done_for(r, helpers, s) : state;
}

/*
 * A sample stands until the thread's next one, for its period and a quarter at most: looks come
 * late.
 */
static int64_t stands_until(const struct ana_picture_thread *t, size_t i)
{
	const struct wire_sample *s = &t->sample[i];
	int64_t most = s->period_ns ? (int64_t)s->period_ns * 5 / 4 : PERIOD_NS;

	if (i + 1 < t->samples)
		most = base_min(most, t->sample[i + 1].t_ns - s->t_ns);
	return s->t_ns + most;
}

/* ---- its line -------------------------------------------------------------------------------- */

struct seen {
	struct ana_text function, file;
	uint32_t line;
	uint64_t samples;
	int64_t by[ANA_DOES]; /* ns of the step for which they stand */
};

static void see(struct seen *seen, size_t *count, const struct ana_pystack *k,
		enum ana_picture_state state, int64_t ns)
{
	size_t i = 0;

	while (i < *count && !(seen[i].line == k->line && ana_text_same(seen[i].file, k->file) &&
			       ana_text_same(seen[i].function, k->function)))
		i++;
	if (i == LINES_MAX)
		return;
	if (i == *count)
		seen[(*count)++] = (struct seen){ k->function, k->file, k->line, 0, { 0 } };
	seen[i].samples++;
	ana_sum(&seen[i].by[state], ns);
}

static int64_t for_batches(const struct seen *at)
{
	return at->by[ANA_DOES_AWAITS] + at->by[ANA_DOES_MAKES];
}

/*
 * Where a batch was awaited or made says more than where much else was done, if the step is about
 * batches at all.
 */
static bool tells_more(const struct seen *a, const struct seen *b, bool batches)
{
	if (batches && for_batches(a) != for_batches(b))
		return for_batches(a) > for_batches(b);
	return a->samples > b->samples;
}

static bool about_batches(const struct ana_picture_row *row, int64_t step_ns)
{
	return row->ns[ANA_DOES_AWAITS] + row->ns[ANA_DOES_MAKES] >= step_ns / BATCHES_PART;
}

/* What the run lost at this line. */
static int64_t cost_of(const struct ana_result *r, const struct seen *at)
{
	int64_t ns = 0;

	for (size_t i = 0; i < r->hotspots; i++) {
		if (is_at(&r->hotspot[i], at->file, at->line))
			ana_sum(&ns, r->hotspot[i].ns);
	}
	return ns;
}

/*
 * The line that tells most; of equals, and where the samples are too few to tell, the one that cost
 * the run most.
 */
static const struct seen *line_of(const struct ana_picture_reading *r,
				  const struct ana_picture_row *row, const struct seen *seen,
				  size_t count, bool *tied)
{
	const struct seen *most = NULL, *best;
	const bool batches = about_batches(row, r->step.end_ns - r->step.start_ns);

	for (size_t i = 0; i < count; i++)
		if (!most || tells_more(&seen[i], most, batches))
			most = &seen[i];
	best = most;
	*tied = false;
	for (size_t i = 0; i < count; i++) {
		bool equal = &seen[i] != most && !tells_more(most, &seen[i], batches);

		*tied |= equal;
		if ((equal || row->samples < ANA_PICTURE_FEW) &&
		    cost_of(r->result, &seen[i]) > cost_of(r->result, best))
			best = &seen[i];
	}
	return best;
}

static int name_line(const struct ana_picture_reading *r, struct ana_picture_row *row,
		     const struct seen *seen, size_t count)
{
	const struct seen *best = line_of(r, row, seen, count, &row->line_tied);

	if (!best)
		return 0;
	row->file = strndup(best->file.at, best->file.len);
	row->function = strndup(best->function.at, best->function.len);
	row->line = best->line;
	row->line_samples = best->samples;
	row->line_state = ANA_DOES_BUSY;
	for (size_t k = 0; k < ANA_DOES; k++)
		if (best->by[k] > best->by[row->line_state])
			row->line_state = (enum ana_picture_state)k;
	return row->file && row->function ? 0 : -ENOMEM;
}

/* ---- the row --------------------------------------------------------------------------------- */

/* What is known to the nanosecond, and covers what samples show; of a worker nothing is. */
struct known {
	struct ana_spans *awaits; /* borrowed; NULL: of a worker */
	struct ana_spans device, call;
};

/* Of the thread's samples the first, or where they would be: they are in order. */
static size_t first_of(const struct ana_picture_reading *r, uint32_t pid, uint32_t tid)
{
	size_t low = 0, high = r->samples;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (thread_order(r->sample[mid].pid, r->sample[mid].tid, pid, tid) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * A thread that gives the GPU work, and that no sample shows in Python, does so for the main thread
 * (autograd's).
 */
static bool gives_for_main(const struct ana_picture_reading *r, uint32_t pid, uint32_t tid)
{
	bool gives = false;
	size_t i;

	for (i = first_of(r, pid, tid); i < r->samples; i++) {
		const struct wire_sample *s = &r->sample[i];

		if (s->pid != pid || s->tid != tid)
			break;
		if (s->stack)
			return false;
		gives |= s->role == WIRE_ROLE_SUBMITTER;
	}
	return gives;
}

/* Whether the thread's calls are the row's, asked once of each. */
static int counts(const struct ana_picture_reading *r, const struct ana_picture_thread *t,
		  struct ana_map *asked, uint32_t tid, bool *is)
{
	uint32_t known = ana_map_get(asked, tid);

	*is = known == 1;
	if (known != ANA_MAP_NONE)
		return 0;
	*is = tid == t->tid || gives_for_main(r, t->pid, tid);
	return ana_map_put(asked, tid, *is);
}

static int know_calls(const struct ana_picture_reading *r, const struct ana_picture_thread *t,
		      struct known *k)
{
	struct ana_map asked = { 0 };
	int err = 0;

	for (size_t i = 0; i < r->calls && !err; i++) {
		const struct ana_picture_wait *c = &r->call[i];
		bool is;

		err = counts(r, t, &asked, c->tid, &is);
		if (!err && is)
			err = ana_spans_add(c->sync ? &k->device : &k->call, c->start, c->end);
	}
	ana_map_fini(&asked);
	return err;
}

/* Within its call to a loader without workers the main process makes the batch. */
static enum ana_picture_state loader_wait(const struct ana_result *r)
{
	const struct ana_loader_facts *l = r->loaders ? &r->loader[0] : NULL;

	return l && l->known & ANA_LOADER_WORKERS && !l->workers ? ANA_DOES_MAKES : ANA_DOES_AWAITS;
}

static int paint_known(const struct ana_picture_reading *r, const struct ana_picture_thread *t,
		       struct ana_picture_paint *p, struct known *k)
{
	int err = 0;

	for (size_t i = 0; i < r->waits && !err; i++)
		if (r->wait[i].tid == t->tid)
			err = ana_spans_add(k->awaits, r->wait[i].start, r->wait[i].end);
	if (!err)
		err = know_calls(r, t, k);
	if (!err)
		err = ana_paint_layer(p, loader_wait(r->result), k->awaits);
	if (!err)
		err = ana_paint_layer(p, ANA_DOES_DEVICE, &k->device);
	return err ? err : ana_paint_layer(p, ANA_DOES_CALL, &k->call);
}

/* What the row shows at @t; ANA_DOES: samples alone tell. */
static enum ana_picture_state known_at(const struct ana_picture_reading *r, struct known *k,
				       int64_t t)
{
	int64_t until;

	if (k->awaits && ana_spans_at(k->awaits, t, &until))
		return loader_wait(r->result);
	if (ana_spans_at(&k->device, t, &until))
		return ANA_DOES_DEVICE;
	return ana_spans_at(&k->call, t, &until) ? ANA_DOES_CALL : ANA_DOES;
}

static int paint_samples(const struct ana_picture_reading *r, struct ana_picture_paint *p,
			 struct ana_pystacks *stacks, const struct ana_picture_thread *t,
			 struct ana_picture_row *row, struct known *known)
{
	struct seen *seen = calloc(LINES_MAX, sizeof(*seen));
	struct ana_spans layer = { 0 }, awaits = { 0 };
	struct helpers helpers = { 0 }, *main = known->awaits ? &helpers : NULL;
	bool told = known->awaits && known->awaits->count; /* waits are, to the nanosecond */
	size_t lines = 0;
	int err = seen ? 0 : -ENOMEM;

	if (main && !err)
		err = find_helpers(r, t, main);
	for (size_t i = 0; i < t->samples && !err; i++) {
		const struct wire_sample *s = &t->sample[i];
		const struct ana_pystack *k = ana_pystacks_get(stacks, s->stack);
		enum ana_picture_state state = state_of(r, t, i, k, main);
		enum ana_picture_state exact = known_at(r, known, s->t_ns);
		int64_t until = stands_until(t, i);

		if (state != ANA_DOES_AWAITS || !told) {
			ana_paint(p, state, s->t_ns, until);
			err = ana_spans_add(&layer, s->t_ns, until);
		}
		if (!err && (state == ANA_DOES_MAKES || (!told && state == ANA_DOES_AWAITS)))
			err = ana_spans_add(&awaits, s->t_ns, until);
		if (until <= p->start)
			continue;
		row->samples++;
		if (k->file.len && state != ANA_DOES_NO_WORK)
			see(seen, &lines, k, exact == ANA_DOES ? state : exact,
			    base_max(base_min(until, r->step.end_ns) - base_max(s->t_ns, p->start),
				     0));
	}
	for (size_t i = 0; i < awaits.count && !err; i++)
		err = ana_spans_add(known->awaits, awaits.span[i].start, awaits.span[i].end);
	if (!err)
		err = ana_paint_cover(p, &layer);
	if (!err)
		err = name_line(r, row, seen, lines);
	ana_spans_fini(&awaits);
	ana_spans_fini(&layer);
	free(helpers.seen);
	free(seen);
	return err;
}

static int paint_batches(struct ana_picture_paint *p, const struct ana_picture_thread *t)
{
	struct ana_spans layer = { 0 };
	int err = 0;

	for (size_t i = 0; i < t->batches && !err; i++)
		err = ana_spans_add(&layer, t->batch[i].start_ns, t->batch[i].end_ns);
	if (!err)
		err = ana_paint_layer(p, ANA_DOES_MAKING, &layer);
	ana_spans_fini(&layer);
	return err;
}

int ana_picture_paint_thread(const struct ana_picture_reading *r, struct ana_pystacks *stacks,
			     const struct ana_picture_thread *t, struct ana_picture_paint *p,
			     struct ana_picture_row *row, struct ana_spans *awaits)
{
	struct known known = { .awaits = awaits };
	int err;

	*row = (struct ana_picture_row){
		.kind = awaits ? ANA_ROW_MAIN : ANA_ROW_WORKER,
		.number = t->batches ? (int64_t)t->batch->worker - 1 : -1,
		.pid = t->pid,
		.tid = t->tid,
	};
	ana_paint_begin(p, row, &r->step);
	err = awaits ? paint_known(r, t, p, &known) : 0;
	if (!err)
		err = paint_samples(r, p, stacks, t, row, &known);
	if (!err && !awaits)
		err = paint_batches(p, t);
	if (awaits)
		ana_spans_merge(awaits);
	ana_paint_end(p, ANA_DOES_UNSEEN);
	ana_spans_fini(&known.device);
	ana_spans_fini(&known.call);
	return err;
}
