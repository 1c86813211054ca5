/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader wait: what kept the awaited batch. Rows of batches tell who was to make it, and when it
 * was made; samples tell what that thread was blocked in.
 */
#include "blame.h"

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t overlap(const struct wire_batch *r, int64_t a, int64_t b)
{
	int64_t ns = least(r->end_ns, b) - most(r->start_ns, a);

	return ns > 0 ? ns : 0;
}

/* What it means for the batch that its maker is blocked so. */
static enum ana_class class_of_block(const struct wire_sample *s, bool own)
{
	switch (s->wait) {
	case WIRE_WAIT_READ:
	case WIRE_WAIT_WRITE:
	case WIRE_WAIT_FAULT:
	case WIRE_WAIT_SOCKET:
	case WIRE_WAIT_PIPE:
	case WIRE_WAIT_SLEEP:
		return ANA_INPUT_FETCH;
	case WIRE_WAIT_GIL:
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
		return ANA_INPUT_PIPELINE;
	case WIRE_WAIT_QUEUE:
		return own ? ANA_INPUT_UNKNOWN : ANA_INPUT_PIPELINE;
	default:
		return s->state == WIRE_STATE_DISK ? ANA_INPUT_FETCH : ANA_INPUT_UNKNOWN;
	}
}

/* One that waits for work has nothing to do with the batch: it gets no site. */
static void blocked_part(struct ana_blame *b, const struct ana_seen *s, size_t i, bool own,
			 int64_t ns)
{
	const struct wire_sample *w = &s->sample[i];
	enum ana_class c = class_of_block(w, own);

	ana_blame_add(b, c, ns);
	if (w->wait == WIRE_WAIT_QUEUE && !own)
		b->idle += ns;
	else
		ana_blame_vote(b, s, i, c, true, ns);
}

/* Votes of a thread's samples in an interval, whatever they show. */
static void see(struct ana_blame *b, const struct ana_seen *s, int64_t from, int64_t to,
		enum ana_class c, bool maker)
{
	struct ana_shares h;
	size_t i;

	if (from >= to || !ana_shares_of(s, from, to, &h))
		return;
	for (i = h.first; i < h.end; i++)
		ana_blame_vote(b, s, i, c, maker, ana_shares_weight(s, &h, i));
}

/* The trainer's own name the line that waits; those that do not wait show it at work on a batch. */
static void see_trainer(struct ana_blame *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_seen *s = ana_evidence_thread(e, e->pid, tid);
	struct ana_shares h;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return;
	for (i = h.first; i < h.end; i++)
		ana_blame_vote(b, s, i,
			       s->sample[i].wait == WIRE_WAIT_QUEUE ? ANA_INPUT_UNKNOWN
								    : ANA_INPUT_HANDOFF,
			       false, ana_shares_weight(s, &h, i));
}

/* The lines of @ns on a CPU, or waiting for one, for the sites alone. */
static bool share_run(struct ana_blame *b, const struct ana_seen *s, int64_t from, int64_t to,
		      int64_t ns, enum ana_class c, bool maker)
{
	struct ana_shares h;
	size_t i;

	if (from >= to || !ana_shares_of(s, from, to, &h) || !h.running)
		return false;
	for (i = h.first; i < h.end; i++)
		if (ana_sample_runs(&s->sample[i]))
			ana_blame_vote(b, s, i, c, maker,
				       ana_scale(ns, ana_shares_weight(s, &h, i), h.running));
	return true;
}

/* A thread that makes batches, over an interval, from its samples alone. */
static bool add_maker(struct ana_blame *b, const struct ana_seen *s, bool own)
{
	struct ana_shares h;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return false;
	ana_blame_add(b, ANA_INPUT_CPU_STARVED, h.delay);
	share_run(b, s, b->start, b->end, h.delay, ANA_INPUT_CPU_STARVED, true);
	if (!h.running)
		ana_blame_add(b, ANA_INPUT_PREP, h.run);
	for (i = h.first; i < h.end; i++) {
		int64_t ns = ana_shares_part(s, &h, i);

		if (!ana_sample_runs(&s->sample[i])) {
			blocked_part(b, s, i, own, ns);
			continue;
		}
		ana_blame_add(b, ANA_INPUT_PREP, ns);
		ana_blame_vote(b, s, i, ANA_INPUT_PREP, true, ns);
	}
	return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/*
 * Gives @ns, in which the thread was blocked, to what its samples in [a, b) were blocked in. With
 * @work those that wait for work do not count. False: there are none.
 */
static bool share_block(struct ana_blame *b, const struct ana_seen *s, int64_t from, int64_t to,
			bool own, bool work, int64_t ns)
{
	struct ana_shares h;
	int64_t all = 0;
	size_t i;

	if (from >= to || !ana_shares_of(s, from, to, &h))
		return false;
	for (i = h.first; i < h.end; i++)
		if (!ana_sample_runs(&s->sample[i]) &&
		    !(work && s->sample[i].wait == WIRE_WAIT_QUEUE))
			all += ana_shares_weight(s, &h, i);
	if (!all)
		return false;
	for (i = h.first; i < h.end; i++)
		if (!ana_sample_runs(&s->sample[i]) &&
		    !(work && s->sample[i].wait == WIRE_WAIT_QUEUE))
			blocked_part(b, s, i, own, ana_scale(ns, ana_shares_weight(s, &h, i), all));
	return true;
}

/* The part @ns of the wait in which row @r was under way: by what its thread did during the row. */
static void add_row(struct ana_blame *b, struct ana_evidence *e, const struct wire_batch *r,
		    bool own, int64_t ns)
{
	struct ana_seen *s = ana_evidence_thread(e, r->pid, r->tid);
	int64_t all = r->end_ns - r->start_ns, back = b->start - ANA_LOOK_BACK_NS;
	int64_t cpu, delay, blocked, from = most(b->start, r->start_ns);
	int64_t to = least(b->end, r->end_ns), since = most(r->start_ns, back);

	cpu = r->cpu_ns < (uint64_t)all ? (int64_t)r->cpu_ns : all;
	delay = r->delay_ns < (uint64_t)(all - cpu) ? (int64_t)r->delay_ns : all - cpu;
	cpu = ana_scale(ns, cpu, all);
	delay = ana_scale(ns, delay, all);
	blocked = ns - cpu - delay;
	ana_blame_add(b, ANA_INPUT_PREP, cpu);
	ana_blame_add(b, ANA_INPUT_CPU_STARVED, delay);
	if (cpu && !share_run(b, s, from, to, cpu, ANA_INPUT_PREP, true))
		share_run(b, s, since, to, cpu, ANA_INPUT_PREP, true);
	if (delay && !share_run(b, s, from, to, delay, ANA_INPUT_CPU_STARVED, true))
		share_run(b, s, since, to, delay, ANA_INPUT_CPU_STARVED, true);
	if (!blocked || share_block(b, s, from, to, own, false, blocked) ||
	    share_block(b, s, since, to, own, false, blocked))
		return;
	if (share_block(b, s, back, b->end, own, true, blocked))
		b->far = true;
	else
		ana_blame_add(b, ANA_INPUT_UNKNOWN, blocked);
}

/* The row of next() that covers most of the wait: of the thread, else of any. */
static const struct wire_batch *find_take(const struct ana_blame *b, const struct ana_evidence *e,
					  uint32_t tid)
{
	const struct wire_batch *best = NULL;
	int64_t most_ns = 0;
	bool mine = false;
	size_t i, end;

	for (i = ana_batches_near(&e->take, b->start, b->end, &end); i < end; i++) {
		const struct wire_batch *r = &e->take.row[i];
		int64_t ns = overlap(r, b->start, b->end);
		bool own = r->tid == tid;

		if (!ns || (mine && !own) || (own == mine && ns <= most_ns))
			continue;
		best = r;
		most_ns = ns;
		mine = own;
	}
	return best;
}

/* The row of the awaited batch; of several the last. */
static const struct wire_batch *find_fetch(const struct ana_blame *b, const struct ana_evidence *e,
					   const struct wire_batch *take)
{
	size_t i, end;

	if (!take || take->batch == ANA_BATCH_UNKNOWN)
		return NULL;
	ana_batches_near(&e->fetch, b->start, b->end, &end);
	for (i = end; i-- > e->fetch.head;) {
		const struct wire_batch *r = &e->fetch.row[i];

		if (r->loader == take->loader && r->batch == take->batch && r->worker)
			return r;
	}
	return NULL;
}

/* The trainer's own fetch that covers most of the wait. */
static const struct wire_batch *find_own(const struct ana_blame *b, const struct ana_evidence *e,
					 uint32_t tid)
{
	const struct wire_batch *best = NULL;
	int64_t most_ns = 0;
	size_t i, end;

	for (i = ana_batches_near(&e->fetch, b->start, b->end, &end); i < end; i++) {
		const struct wire_batch *r = &e->fetch.row[i];
		int64_t ns = overlap(r, b->start, b->end);

		if (r->worker || r->tid != tid || ns <= most_ns)
			continue;
		best = r;
		most_ns = ns;
	}
	return best;
}

/* The measure of these rows within [a, b). */
static int64_t covered(const struct ana_batches *r, int64_t a, int64_t b)
{
	int64_t ns = 0, at = a;
	size_t i, end;

	for (i = ana_batches_near(r, a, b, &end); i < end; i++) {
		int64_t from = most(r->row[i].start_ns, at);
		int64_t to = least(r->row[i].end_ns, b);

		if (from >= to)
			continue;
		ns += to - from;
		at = to;
	}
	return ns;
}

/* ---- workers --------------------------------------------------------------------------------- */

/* How many workers the loader has besides the one; 0: not known. */
static uint32_t others(const struct ana_evidence *e, const struct wire_batch *f)
{
	const struct ana_loader_facts *l = ana_loaders_get(&e->loaders, f->loader);

	return l && l->known & ANA_LOADER_WORKERS && l->workers ? l->workers - 1 : 0;
}

/*
 * Up to *until: a later batch of the loader is made, this one is not, and at least half of the
 * other workers make nothing: they are not let on.
 */
static bool held_up(const struct ana_blame *b, const struct ana_evidence *e,
		    const struct wire_batch *f, int64_t t, int64_t *until)
{
	uint32_t busy = 0, n = others(e, f);
	bool later = false;
	size_t i, end;

	ana_batches_near(&e->fetch, t, b->end, &end);
	for (i = e->fetch.head; i < end; i++) {
		const struct wire_batch *r = &e->fetch.row[i];

		if (r->loader != f->loader || !r->worker || r->worker == f->worker)
			continue;
		if (r->start_ns > t) {
			*until = least(*until, r->start_ns);
			break;
		}
		if (r->end_ns > t) {
			busy++;
			*until = least(*until, r->end_ns);
		} else if (r->batch > f->batch && r->batch != ANA_BATCH_UNKNOWN) {
			later = true;
		}
	}
	return n && later && 2 * busy <= n;
}

/* [from, to): the owner makes batches, by row @r. */
static void add_making(struct ana_blame *b, struct ana_evidence *e, const struct wire_batch *f,
		       const struct wire_batch *r, int64_t from, int64_t to)
{
	int64_t t = from, until, making = 0;

	for (; t < to; t = until) {
		until = to;
		if (held_up(b, e, f, t, &until)) {
			ana_blame_add(b, ANA_INPUT_PIPELINE, until - t);
			b->idle += until - t;
			b->held += until - t;
		} else {
			making += until - t;
		}
	}
	if (making)
		add_row(b, e, r, false, making);
	if (making < to - from) /* the line that holds the others up */
		see(b, ana_evidence_thread(e, r->pid, r->tid), from, to, ANA_INPUT_PIPELINE, true);
}

/* [from, to): the owner has not begun with any batch, or is done with one. */
static void add_idle(struct ana_blame *b, const struct ana_evidence *e, const struct wire_batch *f,
		     int64_t from, int64_t to)
{
	const struct ana_seen *s = ana_evidence_thread(e, f->pid, f->tid);
	int64_t began = s && s->fetched ? s->first_fetch : f->start_ns;

	if (from < began) { /* it is still starting */
		int64_t until = least(to, began);

		ana_blame_add(b, ANA_INPUT_EPOCH, until - from);
		from = until;
	}
	if (from < to) {
		ana_blame_add(b, ANA_INPUT_PIPELINE, to - from);
		b->idle += to - from;
	}
}

/* The owner of the awaited batch, row by row, up to when that is made. */
static void add_owner(struct ana_blame *b, struct ana_evidence *e, const struct wire_batch *f,
		      int64_t made)
{
	int64_t at = b->start;
	size_t i, end;

	for (i = ana_batches_near(&e->fetch, b->start, made, &end); i < end && at < made; i++) {
		const struct wire_batch *r = &e->fetch.row[i];
		int64_t from = most(r->start_ns, at), to = least(r->end_ns, made);

		if (r->pid != f->pid || r->tid != f->tid || from >= to)
			continue;
		if (at < from)
			add_idle(b, e, f, at, from);
		add_making(b, e, f, r, from, to);
		at = to;
	}
	if (at < made)
		add_idle(b, e, f, at, made);
}

/*
 * How much of [from, to) the owner has no CPU, by the rows of its next fetches. Where it waits for
 * one as long as it has one or longer, its threads compete, and the one that sends has none.
 */
static int64_t starved_sender(const struct ana_evidence *e, const struct wire_batch *f,
			      int64_t from, int64_t to)
{
	int64_t ns = 0;
	size_t i, end;

	for (i = ana_batches_near(&e->fetch, from, to, &end); i < end; i++) {
		const struct wire_batch *r = &e->fetch.row[i];
		int64_t all = r->end_ns - r->start_ns, cpu, delay;

		if (r->pid != f->pid || r->tid != f->tid)
			continue;
		cpu = r->cpu_ns < (uint64_t)all ? (int64_t)r->cpu_ns : all;
		delay = r->delay_ns < (uint64_t)(all - cpu) ? (int64_t)r->delay_ns : all - cpu;
		ns += ana_scale(overlap(r, from, to), delay < cpu ? delay : cpu + delay, all);
	}
	return least(ns, to - from);
}

/*
 * [from, to), @ns of it: the batch is made, the trainer waits for it, and no pin thread has it. The
 * owner's process is to send it, in a thread of its own: that may have no CPU, and it has to wait
 * while the main thread holds Python's lock, at work on the next batch or blocked in reading it;
 * then that work sets the pace. The rest is on its way.
 */
static void add_sending(struct ana_blame *b, struct ana_evidence *e, const struct wire_batch *f,
			int64_t from, int64_t to, int64_t ns)
{
	const struct ana_seen *s = ana_evidence_thread(e, f->pid, f->tid);
	int64_t starved = ana_scale(ns, starved_sender(e, f, from, to), to - from), part;
	struct ana_shares h;
	size_t i;

	ana_blame_add(b, ANA_INPUT_CPU_STARVED, starved);
	share_run(b, s, from, to, starved, ANA_INPUT_CPU_STARVED, true);
	ns -= starved;
	ana_blame_add(b, ANA_INPUT_HANDOFF, ns);
	if (!ana_shares_of(s, from, to, &h))
		return;
	for (i = h.first; i < h.end; i++) {
		const struct wire_sample *w = &s->sample[i];
		enum ana_class c = ana_sample_runs(w) ? ANA_INPUT_PREP : class_of_block(w, false);

		part = ana_shares_weight(s, &h, i);
		if (w->flags & WIRE_SAMPLE_FL_GIL &&
		    (c == ANA_INPUT_PREP || c == ANA_INPUT_FETCH)) {
			part = ana_scale(ns, part, to - from);
			ana_blame_add(b, c, part);
			ana_blame_add(b, ANA_INPUT_HANDOFF, -part);
			ana_blame_vote(b, s, i, c, true, part);
		} else if (ana_sample_runs(w)) { /* seen, but it makes another batch */
			ana_blame_vote(b, s, i, c, true, 0);
		}
	}
}

/* For how long the trainer could run and had no CPU; its row may not tell, its samples may. */
static int64_t starved_trainer(const struct ana_evidence *e, const struct wire_batch *take,
			       int64_t from, int64_t to)
{
	struct ana_shares h;

	if (take->delay_ns)
		return take->delay_ns < (uint64_t)(to - from) ? (int64_t)take->delay_ns : to - from;
	return ana_shares_of(ana_evidence_thread(e, take->pid, take->tid), from, to, &h) ? h.delay
											 : 0;
}

/* After the batch was made: what the trainer did itself, then what it waited for. */
static void add_handoff(struct ana_blame *b, struct ana_evidence *e, const struct wire_batch *take,
			const struct wire_batch *f, int64_t made)
{
	int64_t left = b->end - made, own = starved_trainer(e, take, made, b->end);

	ana_blame_add(b, ANA_INPUT_CPU_STARVED, own);
	share_run(b, ana_evidence_thread(e, take->pid, take->tid), made, b->end, own,
		  ANA_INPUT_CPU_STARVED, false);
	left -= own;
	own = take->cpu_ns < (uint64_t)left ? (int64_t)take->cpu_ns : left;
	own += least(covered(&e->pin, made, b->end), left - own);
	ana_blame_add(b, ANA_INPUT_HANDOFF, own);
	left -= own;
	if (left)
		add_sending(b, e, f, made, b->end, left);
}

static void by_owner(struct ana_blame *b, struct ana_evidence *e, const struct wire_batch *take,
		     const struct wire_batch *f)
{
	int64_t made = least(most(f->end_ns, b->start), b->end);

	b->rows = true;
	add_owner(b, e, f, made);
	if (made < b->end)
		add_handoff(b, e, take, f, made);
	see_trainer(b, e, take->tid);
}

/* Rows of any worker within the wait; false: there are none. */
static bool by_rows(struct ana_blame *b, struct ana_evidence *e, const struct wire_batch *take)
{
	const struct ana_loader_facts *l = take ? ana_loaders_get(&e->loaders, take->loader) : NULL;
	int64_t idle = 0, making = 0;
	size_t i, end;

	for (i = ana_batches_near(&e->fetch, b->start, b->end, &end); i < end; i++) {
		const struct wire_batch *r = &e->fetch.row[i];
		int64_t ns = overlap(r, b->start, b->end);

		if (!r->worker || !ns || (take && r->loader != take->loader))
			continue;
		add_row(b, e, r, false, ns);
		making += ns;
	}
	if (!making)
		return false;
	b->rows = true;
	if (l && l->known & ANA_LOADER_WORKERS && l->workers < 65536)
		idle = ana_scale(b->end - b->start, l->workers, 1) - making;
	if (idle > 0) {
		ana_blame_add(b, ANA_INPUT_PIPELINE, idle);
		b->idle += idle;
	}
	return true;
}

/* How much of the wait the trainer, or its pin thread, had the batch already. */
static int64_t handed(struct ana_blame *b, struct ana_evidence *e, uint32_t tid, int64_t *delay)
{
	const struct ana_seen *s = ana_evidence_thread(e, e->pid, tid);
	int64_t waiting = 0, pinned = 0;
	struct ana_shares h, p;
	size_t i;
	uint32_t k;

	*delay = 0;
	if (!ana_shares_of(s, b->start, b->end, &h))
		return 0;
	for (i = h.first; i < h.end; i++)
		if (s->sample[i].wait == WIRE_WAIT_QUEUE || s->sample[i].wait == WIRE_WAIT_LOCK)
			waiting += ana_shares_part(s, &h, i);
	for (k = 0; k < e->seens; k++) {
		const struct ana_seen *pin = e->seen[k];

		if (pin->role != WIRE_ROLE_PIN || !ana_shares_of(pin, b->start, b->end, &p))
			continue;
		for (i = p.first; i < p.end; i++)
			if (pin->sample[i].wait != WIRE_WAIT_QUEUE)
				pinned += ana_shares_weight(pin, &p, i);
		pinned = least(pinned, waiting);
	}
	*delay = h.delay;
	return b->end - b->start - waiting + pinned;
}

/* No rows: all workers that were seen, and the trainer. */
static bool by_samples(struct ana_blame *b, struct ana_evidence *e, uint32_t tid)
{
	struct ana_blame part = { .start = b->start, .end = b->end };
	int64_t delay, after = handed(b, e, tid, &delay), all = 0, left = b->end - b->start - after;
	bool any = false;
	size_t i;
	uint32_t k;
	int c;

	for (k = 0; k < e->seens; k++)
		if (e->seen[k]->role == WIRE_ROLE_WORKER)
			any |= add_maker(&part, e->seen[k], false);
	for (c = 0; c < ANA_CLASSES; c++)
		ana_sum(&all, part.weight[c]);
	for (c = 0; c < ANA_CLASSES; c++)
		ana_blame_add(b, c, ana_scale(left, part.weight[c], all));
	b->idle = ana_scale(left, part.idle, all);
	if (!all)
		ana_blame_add(b, ANA_INPUT_UNKNOWN, left);
	for (i = 0; i < part.votes; i++)
		ana_blame_vote(b, part.vote[i].seen, part.vote[i].sample, part.vote[i].class, true,
			       ana_scale(left, part.vote[i].weight, all));
	b->err = part.err ? part.err : b->err;
	ana_blame_fini(&part);
	delay = least(delay, after);
	ana_blame_add(b, ANA_INPUT_CPU_STARVED, delay);
	ana_blame_add(b, ANA_INPUT_HANDOFF, after - delay);
	return any || after;
}

static bool worker_seen(const struct ana_blame *b, const struct ana_evidence *e,
			const struct wire_batch *take)
{
	const struct ana_loader_facts *l = take ? ana_loaders_get(&e->loaders, take->loader) : NULL;
	struct ana_shares h;
	size_t i, end;
	uint32_t k;

	if (l && l->known & ANA_LOADER_WORKERS)
		return l->workers != 0;
	for (i = ana_batches_near(&e->fetch, b->start, b->end, &end); i < end; i++)
		if (e->fetch.row[i].worker && overlap(&e->fetch.row[i], b->start, b->end))
			return true;
	for (k = 0; k < e->seens; k++)
		if (e->seen[k]->role == WIRE_ROLE_WORKER &&
		    ana_shares_of(e->seen[k], b->start, b->end, &h))
			return true;
	return false;
}

/* ---- the wait -------------------------------------------------------------------------------- */

static bool by_trainer(struct ana_blame *b, struct ana_evidence *e, uint32_t tid,
		       const struct wire_batch *own)
{
	if (!own || 2 * overlap(own, b->start, b->end) < b->end - b->start)
		return add_maker(b, ana_evidence_thread(e, e->pid, tid), true);
	b->rows = true;
	add_row(b, e, own, true, b->end - b->start);
	return true;
}

bool ana_blame_wait(struct ana_blame *b, struct ana_evidence *e, uint32_t tid)
{
	const struct wire_batch *take = find_take(b, e, tid);
	const struct wire_batch *f = find_fetch(b, e, take), *own;
	bool told;

	if (take)
		tid = take->tid;
	own = find_own(b, e, tid);
	if ((take && !take->batch) ||
	    2 * covered(&e->close, b->start, b->end) >= b->end - b->start) {
		see_trainer(b, e, tid);
		ana_blame_all(b, ANA_INPUT_EPOCH, ANA_HIGH);
		return true;
	}
	if (f) {
		by_owner(b, e, take, f);
		told = true;
	} else if (own || !worker_seen(b, e, take)) {
		told = by_trainer(b, e, tid, own);
	} else {
		told = by_rows(b, e, take) || by_samples(b, e, tid);
		see_trainer(b, e, tid);
	}
	if (told)
		ana_blame_decide(b);
	/* rows that tell how long its maker was blocked, and no sample that tells in what */
	return told && (b->makers || !b->ns[b->unknown]);
}
