/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader wait: what kept the awaited batch. Rows of batches tell who was to make it, and when it
 * was made; samples tell what that thread was blocked in (cause_samples.c).
 */
#include "cause_wait.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* @ns of the row, of which its thread had a CPU, waited for one, and was blocked. */
static void split_row(const struct wire_batch *r, int64_t ns, int64_t *cpu, int64_t *delay)
{
	int64_t all = r->end_ns - r->start_ns;

	*cpu = r->cpu_ns < (uint64_t)all ? (int64_t)r->cpu_ns : all;
	*delay = r->delay_ns < (uint64_t)(all - *cpu) ? (int64_t)r->delay_ns : all - *cpu;
	*cpu = ana_scale(ns, *cpu, all);
	*delay = ana_scale(ns, *delay, all);
}

/* The lines are those of samples within the wait, else of those since the row began. */
static void add_run(struct ana_cause *b, const struct ana_thread_part *within,
		    const struct ana_thread_part *since, int64_t ns, enum ana_class c)
{
	ana_cause_add(b, c, ns);
	if (ns && !ana_wait_share_run(b, within, ns, c, ANA_VOTER_PRODUCER))
		ana_wait_share_run(b, since, ns, c, ANA_VOTER_PRODUCER);
}

/* The same; where there are none, what the thread was blocked in before tells, less surely. */
static void add_block(struct ana_cause *b, struct ana_evidence *e,
		      const struct ana_thread_part *within, const struct ana_thread_part *since,
		      int64_t ns, enum ana_producer producer)
{
	const struct ana_thread_part far = { within->thread, b->start - ANA_LOOK_BACK_NS, b->end };

	if (!ns || ana_wait_share_block(b, e, within, ns, producer, ANA_BLOCKED_ANY) ||
	    ana_wait_share_block(b, e, since, ns, producer, ANA_BLOCKED_ANY))
		return;
	if (ana_wait_share_block(b, e, &far, ns, producer, ANA_BLOCKED_AT_WORK))
		b->far = true;
	else
		ana_cause_add(b, ANA_INPUT_UNKNOWN, ns);
}

/* The part @ns of the wait in which row @r was under way: by what its thread did during the row. */
static void add_row(struct ana_cause *b, struct ana_evidence *e, const struct wire_batch *r,
		    enum ana_producer producer, int64_t ns)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, r->pid, r->tid);
	const struct ana_thread_part within = { s, base_max(b->start, r->start_ns),
						base_min(b->end, r->end_ns) };
	const struct ana_thread_part since = { s,
					       base_max(r->start_ns, b->start - ANA_LOOK_BACK_NS),
					       within.to };
	int64_t cpu, delay;

	split_row(r, ns, &cpu, &delay);
	add_run(b, &within, &since, cpu, ANA_INPUT_PREP);
	add_run(b, &within, &since, delay, ANA_INPUT_CPU_STARVED);
	add_block(b, e, &within, &since, ns - cpu - delay, producer);
}

/* The row of next() that covers most of the wait: of the thread, else of any. */
static const struct wire_batch *find_take(const struct ana_cause *b, const struct ana_evidence *e,
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
static const struct wire_batch *find_fetch(const struct ana_cause *b, const struct ana_evidence *e,
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
static const struct wire_batch *find_own(const struct ana_cause *b, const struct ana_evidence *e,
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
		int64_t from = base_max(r->row[i].start_ns, at);
		int64_t to = base_min(r->row[i].end_ns, b);

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
static bool held_up(const struct ana_cause *b, const struct ana_evidence *e,
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
			*until = base_min(*until, r->start_ns);
			break;
		}
		if (r->end_ns > t) {
			busy++;
			*until = base_min(*until, r->end_ns);
		} else if (r->batch > f->batch && r->batch != ANA_BATCH_UNKNOWN) {
			later = true;
		}
	}
	return n && later && 2 * busy <= n;
}

/* [from, to): the owner makes batches, by row @r. */
static void add_making(struct ana_cause *b, struct ana_evidence *e, const struct wire_batch *f,
		       const struct wire_batch *r, int64_t from, int64_t to)
{
	const struct ana_thread_part owner = { ana_evidence_thread(e, r->pid, r->tid), from, to };
	int64_t t = from, until, making = 0;

	for (; t < to; t = until) {
		until = to;
		if (held_up(b, e, f, t, &until)) {
			ana_cause_add(b, ANA_INPUT_PIPELINE, until - t);
			b->idle += until - t;
			b->held += until - t;
		} else {
			making += until - t;
		}
	}
	if (making)
		add_row(b, e, r, ANA_PRODUCER_WORKER, making);
	if (making < to - from) /* the line that holds the others up */
		ana_wait_vote(b, &owner, ANA_INPUT_PIPELINE, ANA_VOTER_PRODUCER);
}

/* [from, to): the owner has not begun with any batch, or is done with one. */
static void add_idle(struct ana_cause *b, const struct ana_evidence *e, const struct wire_batch *f,
		     int64_t from, int64_t to)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, f->pid, f->tid);
	int64_t began = s && s->fetched ? s->first_fetch : f->start_ns;

	if (from < began) { /* it is still starting */
		int64_t until = base_min(to, began);

		ana_cause_add(b, ANA_INPUT_EPOCH, until - from);
		from = until;
	}
	if (from < to) {
		ana_cause_add(b, ANA_INPUT_PIPELINE, to - from);
		b->idle += to - from;
	}
}

/* The owner of the awaited batch, row by row, up to when that is made. */
static void add_owner(struct ana_cause *b, struct ana_evidence *e, const struct wire_batch *f,
		      int64_t made)
{
	int64_t at = b->start;
	size_t i, end;

	for (i = ana_batches_near(&e->fetch, b->start, made, &end); i < end && at < made; i++) {
		const struct wire_batch *r = &e->fetch.row[i];
		int64_t from = base_max(r->start_ns, at), to = base_min(r->end_ns, made);

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
	return base_min(ns, to - from);
}

/*
 * [from, to), @ns of it: the batch is made, the trainer waits for it, and no pin thread has it. The
 * owner's process is to send it, in a thread of its own: that may have no CPU, and it has to wait
 * while the main thread holds Python's lock, at work on the next batch or blocked in reading it;
 * then that work sets the pace. A process that is stopped sends nothing. The rest is on its way.
 */
static void add_sending(struct ana_cause *b, struct ana_evidence *e, const struct wire_batch *f,
			int64_t from, int64_t to, int64_t ns)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, f->pid, f->tid);
	const struct ana_thread_part owner = { s, from, to };
	int64_t starved = ana_scale(ns, starved_sender(e, f, from, to), to - from), part;
	struct ana_shares h;
	size_t i;

	ana_cause_add(b, ANA_INPUT_CPU_STARVED, starved);
	ana_wait_share_run(b, &owner, starved, ANA_INPUT_CPU_STARVED, ANA_VOTER_PRODUCER);
	ns -= starved;
	ana_cause_add(b, ANA_INPUT_HANDOFF, ns);
	if (!ana_shares_of(s, from, to, &h))
		return;
	for (i = h.first; i < h.end; i++) {
		const struct wire_sample *w = &s->sample[i];
		const bool stopped = !ana_sample_runs(w) && w->wait == WIRE_WAIT_STOPPED;
		enum ana_class c = stopped		? ANA_INPUT_UNKNOWN
				   : ana_sample_runs(w) ? ANA_INPUT_PREP
							: ana_maker_class(w, ANA_PRODUCER_WORKER);

		part = ana_shares_weight(s, &h, i);
		if (stopped || (w->flags & WIRE_SAMPLE_FL_GIL &&
				(c == ANA_INPUT_PREP || c == ANA_INPUT_FETCH))) {
			part = ana_scale(ns, part, to - from);
			ana_cause_add(b, c, part);
			ana_cause_add(b, ANA_INPUT_HANDOFF, -part);
			ana_cause_vote(b, s, i, c, true, part);
		} else if (ana_sample_runs(w)) { /* seen, but it makes another batch */
			ana_cause_vote(b, s, i, c, true, 0);
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
static void add_handoff(struct ana_cause *b, struct ana_evidence *e, const struct wire_batch *take,
			const struct wire_batch *f, int64_t made)
{
	const struct ana_thread_part trainer = { ana_evidence_thread(e, take->pid, take->tid), made,
						 b->end };
	int64_t left = b->end - made, own = starved_trainer(e, take, made, b->end);

	ana_cause_add(b, ANA_INPUT_CPU_STARVED, own);
	ana_wait_share_run(b, &trainer, own, ANA_INPUT_CPU_STARVED, ANA_VOTER_OTHER);
	left -= own;
	own = take->cpu_ns < (uint64_t)left ? (int64_t)take->cpu_ns : left;
	own += base_min(covered(&e->pin, made, b->end), left - own);
	ana_cause_add(b, ANA_INPUT_HANDOFF, own);
	left -= own;
	if (left)
		add_sending(b, e, f, made, b->end, left);
}

static void by_owner(struct ana_cause *b, struct ana_evidence *e, const struct wire_batch *take,
		     const struct wire_batch *f)
{
	int64_t made = base_min(base_max(f->end_ns, b->start), b->end);

	b->rows = true;
	add_owner(b, e, f, made);
	if (made < b->end)
		add_handoff(b, e, take, f, made);
	ana_wait_vote_trainer(b, e, take->tid);
}

/* Rows of any worker within the wait; false: there are none. */
static bool by_rows(struct ana_cause *b, struct ana_evidence *e, const struct wire_batch *take)
{
	const struct ana_loader_facts *l = take ? ana_loaders_get(&e->loaders, take->loader) : NULL;
	int64_t idle = 0, making = 0;
	size_t i, end;

	for (i = ana_batches_near(&e->fetch, b->start, b->end, &end); i < end; i++) {
		const struct wire_batch *r = &e->fetch.row[i];
		int64_t ns = overlap(r, b->start, b->end);

		if (!r->worker || !ns || (take && r->loader != take->loader))
			continue;
		add_row(b, e, r, ANA_PRODUCER_WORKER, ns);
		making += ns;
	}
	if (!making)
		return false;
	b->rows = true;
	if (l && l->known & ANA_LOADER_WORKERS && l->workers < 65536)
		idle = ana_scale(b->end - b->start, l->workers, 1) - making;
	if (idle > 0) {
		ana_cause_add(b, ANA_INPUT_PIPELINE, idle);
		b->idle += idle;
	}
	return true;
}

static bool worker_seen(const struct ana_cause *b, const struct ana_evidence *e,
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
	for (k = 0; k < e->threads; k++)
		if (e->thread[k]->role == WIRE_ROLE_WORKER &&
		    ana_shares_of(e->thread[k], b->start, b->end, &h))
			return true;
	return false;
}

/* ---- the wait -------------------------------------------------------------------------------- */

static bool by_trainer(struct ana_cause *b, struct ana_evidence *e, uint32_t tid,
		       const struct wire_batch *own)
{
	if (!own || 2 * overlap(own, b->start, b->end) < b->end - b->start)
		return ana_wait_producer(b, e, ana_evidence_thread(e, e->pid, tid),
					 ANA_PRODUCER_TRAINER);
	b->rows = true;
	add_row(b, e, own, ANA_PRODUCER_TRAINER, b->end - b->start);
	return true;
}

bool ana_cause_wait(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct wire_batch *take = find_take(b, e, tid);
	const struct wire_batch *f = find_fetch(b, e, take), *own;
	bool told;

	if (take)
		tid = take->tid;
	own = find_own(b, e, tid);
	if ((take && !take->batch) ||
	    2 * covered(&e->close, b->start, b->end) >= b->end - b->start) {
		ana_wait_vote_trainer(b, e, tid);
		ana_cause_all(b, ANA_INPUT_EPOCH, ANA_HIGH);
		return true;
	}
	if (f) {
		by_owner(b, e, take, f);
		told = true;
	} else if (own || !worker_seen(b, e, take) || (!take && ana_wait_is_followed(b, e, tid))) {
		told = by_trainer(b, e, tid, own);
	} else {
		told = by_rows(b, e, take) || ana_wait_by_samples(b, e, tid);
		ana_wait_vote_trainer(b, e, tid);
	}
	if (told)
		ana_cause_decide(b);
	/* rows that tell how long its producer was blocked, and no sample that tells in what */
	return told && (b->producers || !b->ns[b->unknown]);
}
