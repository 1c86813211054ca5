/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finer classes for the pieces of gaps that records alone leave unknown, and the lines of code for
 * all others. A piece without any evidence waits for its neighbours (unsampled.h).
 */
#include "attribution.h"

#include <errno.h>
#include <string.h>
#include "analysis/evidence/newcomer.h"
#include "base/vec.h"

#define PLACES_MAX 64u /* of one thread: of waits whose makers may be seen at others */

void ana_attribute_read(struct ana_walk *w, struct ana_proc *p, int64_t start, int64_t t)
{
	int err;

	if (!p->evidence)
		return;
	err = ana_evidence_upto(p->evidence, t, w->floor < start ? w->floor : start);
	if (err)
		w->err = err;
}

static enum ana_piece_kind kind_of(const struct ana_attribution *piece)
{
	return piece->refine == ANA_REFINE_WAIT ? ANA_PIECE_WAIT : ANA_PIECE_HOST;
}

static struct ana_unsampled *unsampled_of(struct ana_walk *w, struct ana_proc *p,
					  const struct ana_attribution *piece)
{
	struct ana_thread *t = ana_host_thread(w, p, piece->tid);

	return t ? ana_host_unsampled(w, t, kind_of(piece)) : NULL;
}

/* For how long the submitter's looks in the piece stand (LEDGER 6). */
static int64_t stands_for(const struct ana_evidence *e, const struct ana_attribution *piece)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, piece->tid);
	size_t i = s ? ana_samples_from(s, piece->start) : 0;
	int64_t ns = 0;

	for (; s && i < s->tail && s->sample[i].t_ns < piece->end && ns < ANA_STAND_MAX_NS; i++)
		ns += s->sample[i].period_ns ? s->sample[i].period_ns : ANA_STAND_NS;
	return base_min(ns, ANA_STAND_MAX_NS);
}

static void remember(struct ana_unsampled_piece *o, const struct wire_sample *s)
{
	o->stack = s->stack;
	o->who_pid = s->pid;
	o->who_tid = s->tid;
	o->state = s->state;
	o->wait = s->wait;
	o->role = s->role;
}

/* Who waits, for the line of code where no neighbour will tell the class. */
static void remember_waiter(struct ana_unsampled_piece *o, const struct ana_evidence *e,
			    const struct ana_attribution *piece)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, piece->tid);
	size_t i = s ? ana_samples_from(s, piece->start) : 0;

	if (!s || i >= s->tail || s->sample[i].t_ns >= piece->end)
		return;
	o->tid = s->tid;
	remember(o, &s->sample[i]);
}

/* Who makes what is awaited, if a chain led there, to a line of the program's. */
static void remember_maker(struct ana_unsampled_piece *o, struct ana_evidence *e,
			   const struct ana_cause *b, enum ana_class c)
{
	const struct ana_vote *best = NULL;
	size_t i;

	for (i = 0; i < b->votes; i++) {
		const struct ana_vote *v = &b->vote[i];

		if (v->class == c && v->path && (!best || v->weight > best->weight) &&
		    ana_pystacks_get(&e->stacks, v->thread->sample[v->sample].stack)->user)
			best = v;
	}
	if (best)
		remember(o, &best->thread->sample[best->sample]);
}

/* Nothing is known of the piece. */
static bool keep_unsampled(struct ana_walk *w, struct ana_proc *p,
			   const struct ana_attribution *piece, bool keep)
{
	struct ana_unsampled *unsampled = keep ? unsampled_of(w, p, piece) : NULL;
	struct ana_unsampled_piece o = {
		.start = piece->start,
		.end = piece->end,
		.gpu = piece->gpu,
		.unknown = (uint8_t)piece->c,
		.record_confidence = (uint8_t)piece->confidence,
		.tid = piece->submitter,
		.gap_start = piece->gap_start,
		.gap_end = piece->gap_end,
	};

	ana_sum(&w->quality.gap_unsampled_ns, piece->end - piece->start);
	remember_waiter(&o, p->evidence, piece);
	if (unsampled && ana_unsampled_add(unsampled, &o))
		w->err = -ENOMEM;
	w->unsampled_pieces += unsampled != NULL;
	memset(w->cause.ns, 0, sizeof(w->cause.ns));
	return unsampled != NULL;
}

void ana_attribute_unseen(struct ana_walk *w, struct ana_thread *t,
			  const struct ana_unsampled_piece *piece)
{
	struct ana_unsampled *unsampled = ana_host_unsampled(w, t, ANA_PIECE_HOST);

	ana_sum(&w->quality.gap_unsampled_ns, piece->end - piece->start);
	if (!unsampled || ana_unsampled_add(unsampled, piece))
		w->err = -ENOMEM;
	w->unsampled_pieces++;
}

/* The waits of the submitter at this place; NULL: there are too many places, or no memory. */
static struct ana_unsampled *takes_at(struct ana_walk *w, struct ana_proc *p,
				      const struct ana_attribution *piece, uint32_t place)
{
	struct ana_thread *t = ana_host_thread(w, p, piece->tid);
	uint32_t i;

	for (i = 0; t && i < t->take_count; i++)
		if (t->takes[i].place == place)
			return &t->takes[i].waits;
	if (!t || t->take_count == PLACES_MAX || !ana_host_unsampled(w, t, ANA_PIECE_HOST) ||
	    !base_vec_more(t->takes, t->take_count, t->take_room))
		return NULL;
	t->takes[t->take_count++] = (struct ana_takes){ .place = place };
	return &t->takes[t->take_count - 1].waits;
}

static enum ana_class most(const struct ana_cause *b)
{
	int c, top = 0;

	for (c = 1; c < ANA_CLASSES; c++)
		if (b->ns[c] > b->ns[top])
			top = c;
	return (enum ana_class)top;
}

/*
 * Nobody was seen to make what the piece waits for: it waits for what others at the same place
 * tell. False: it is what it is.
 */
static bool keep_take(struct ana_walk *w, struct ana_proc *p, const struct ana_attribution *piece)
{
	struct ana_cause *b = &w->cause;
	struct ana_unsampled *takes = takes_at(w, p, piece, b->place);
	enum ana_class c = most(b);
	struct ana_unsampled_piece o = {
		.start = piece->start,
		.end = piece->end,
		.gpu = piece->gpu,
		.unknown = (uint8_t)c,
		.record_confidence = (uint8_t)b->confidence[c],
		.tid = piece->submitter,
		.gap_start = piece->gap_start,
		.gap_end = piece->gap_end,
		.stand_ns = stands_for(p->evidence, piece),
	};

	remember_waiter(&o, p->evidence, piece);
	remember_maker(&o, p->evidence, b, c);
	if (!takes)
		return false;
	if (ana_unsampled_add(takes, &o))
		w->err = -ENOMEM;
	w->unsampled_pieces++;
	memset(b->ns, 0, sizeof(b->ns));
	return true;
}

static bool sampled(const struct ana_evidence *e, const struct ana_attribution *piece)
{
	return ana_samples_within(ana_evidence_thread(e, e->pid, piece->tid), piece->start,
				  piece->end);
}

static void book(struct ana_walk *w, const struct ana_proc *p)
{
	int err;

	w->hotspots.process = p->source_index;
	err = ana_hotspots_add(&w->hotspots, p->evidence, &w->cause);

	if (err)
		w->err = err;
}

bool ana_attribute_line(struct ana_walk *w, struct ana_proc *p, const struct ana_attribution *piece)
{
	struct ana_cause *b = &w->cause;

	if (!sampled(p->evidence, piece))
		return false;
	ana_cause_begin(b, piece->start, piece->end, piece->c, piece->confidence, false);
	ana_cause_votes(b, p->evidence, piece->tid, piece->c);
	ana_cause_all(b, piece->c, piece->confidence);
	b->kind = ANA_PIECE_HOST;
	b->stand_ns = stands_for(p->evidence, piece);
	book(w, p);
	return true;
}

/* Others that wait, or show nothing, may ask what this one was found to be. */
static void tell_neighbours(struct ana_walk *w, struct ana_proc *p,
			    const struct ana_attribution *piece)
{
	struct ana_cause *b = &w->cause;
	/* what a process does behind its last operation tells nothing of gaps */
	bool host = piece->c != ANA_EXCLUDED_TEARDOWN, inside = !piece->outside;
	bool takes = inside && (b->chained || b->served) && b->place;
	struct ana_unsampled *of[] = {
		takes ? takes_at(w, p, piece, b->place) : NULL,
		inside && b->by_feeder ? takes_at(w, p, piece, ANA_PLACE_NATIVE) : NULL,
	};
	struct ana_unsampled *unsampled = host && b->decided ? unsampled_of(w, p, piece) : NULL;
	size_t i;

	if (!b->decided)
		return;
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i] && ana_unsampled_decided(of[i], piece->start, b->ns, 0))
			w->err = -ENOMEM;
	if (unsampled && ana_unsampled_decided(unsampled, piece->start, b->ns, b->stand_ns))
		w->err = -ENOMEM;
}

#define NEWCOMERS 0u /* of all that had not begun, as the thread whose neighbours pieces are */

/* Before it, none of the gap is known to be the submitter's. */
static bool is_newcomers(const struct ana_proc *p, const struct ana_attribution *piece)
{
	return piece->refine == ANA_REFINE_HOST && !piece->outside &&
	       piece->start == piece->gap_start &&
	       ana_newcomer(p->evidence, piece->tid, piece->left, piece->start);
}

/* LEDGER 6, waits for work: who starts the thread that gives the next work tells. */
static bool attribute_newcomer(struct ana_walk *w, struct ana_proc *p,
			       const struct ana_attribution *piece)
{
	struct ana_cause *b = &w->cause;
	struct ana_attribution of = *piece;

	of.tid = NEWCOMERS;
	ana_cause_begin(b, of.start, of.end, (enum ana_class)of.c, of.confidence, false);
	if (!ana_newcomer_cause(b, p->evidence, piece->tid))
		return false;
	p->served = of.gap_start;
	b->kind = ANA_PIECE_HOST;
	b->stand_ns = 0;
	tell_neighbours(w, p, &of);
	book(w, p);
	return true;
}

/* Of the piece's submitter there is no sample in it. */
static bool keep_unseen(struct ana_walk *w, struct ana_proc *p, const struct ana_attribution *piece,
			bool newcomers, bool keep)
{
	struct ana_attribution of = *piece;

	if (newcomers && p->served != INT64_MIN && of.start - p->served <= ANA_LOOK_BACK_NS)
		of.tid = NEWCOMERS;
	return keep_unsampled(w, p, &of, keep);
}

bool ana_attribute(struct ana_walk *w, struct ana_proc *p, const struct ana_attribution *piece,
		   bool keep)
{
	struct ana_cause *b = &w->cause;
	bool told, newcomers;

	if (!p || !p->evidence || piece->refine == ANA_REFINE_NOT)
		return false;
	if (piece->refine == ANA_REFINE_LINE) {
		ana_attribute_line(w, p, piece);
		return false;
	}
	newcomers = is_newcomers(p, piece);
	if (newcomers && attribute_newcomer(w, p, piece))
		return true;
	if (piece->refine == ANA_REFINE_HOST && !sampled(p->evidence, piece))
		return keep_unseen(w, p, piece, newcomers, keep);
	ana_cause_begin(b, piece->start, piece->end, piece->c, piece->confidence,
			piece->refine == ANA_REFINE_WAIT);
	b->ending = piece->ending;
	if (!piece->outside) {
		b->given = ana_copied_given(&p->copied, piece->gap_start, piece->gap_end,
					    piece->copied, piece->copied_bytes);
		b->given.left = piece->left;
		b->given.read = ana_copied_read(
			&p->copied, ana_evidence_thread(p->evidence, p->evidence->pid, piece->tid),
			piece->gap_start, piece->gap_end);
	}
	told = piece->refine == ANA_REFINE_WAIT ? ana_cause_wait(b, p->evidence, piece->tid)
						: ana_cause_host(b, p->evidence, piece->tid);
	if (!told)
		return keep_unsampled(w, p, piece, keep);
	if (b->asks && keep && keep_take(w, p, piece))
		return true;
	b->kind = kind_of(piece);
	b->stand_ns = b->kind == ANA_PIECE_HOST ? stands_for(p->evidence, piece) : 0;
	tell_neighbours(w, p, piece);
	book(w, p);
	return true;
}

ANA_RARE static void tell(struct ana_walk *w, const struct ana_proc *p,
			  const struct ana_unsampled_piece *o, struct ana_piece piece)
{
	piece.gpu = w->gpu[o->gpu].index;
	piece.gap = true;
	piece.gap_start_ns = o->gap_start;
	piece.gap_end_ns = o->gap_end;
	piece.pid = p->source->pid;
	piece.tid = o->tid;
	w->options->on_piece(w->options->arg, &piece);
}

static void book_line(struct ana_walk *w, const struct ana_proc *p,
		      const struct ana_unsampled_piece *o, const struct ana_piece *piece)
{
	struct wire_sample sample = { .pid = o->who_pid,
				      .tid = o->who_tid,
				      .stack = o->stack,
				      .state = o->state,
				      .wait = o->wait,
				      .role = o->role };
	struct ana_thread_samples seen = { .sample = &sample, .tail = 1 };
	struct ana_cause *b = &w->cause;

	ana_cause_begin(b, piece->start_ns, piece->end_ns, piece->class, piece->confidence, false);
	b->late = o->who_tid != o->tid;
	ana_cause_vote(b, &seen, 0, piece->class, true, 1);
	ana_cause_all(b, piece->class, piece->confidence);
	book(w, p);
}

struct told { /* what neighbours tell of a piece */
	const struct ana_unsampled *by;
	enum ana_piece_kind kind; /* which it is */
	struct ana_told by_class;
};

static void give_part(struct ana_walk *w, const struct ana_proc *p,
		      const struct ana_unsampled_piece *o, const struct told *told, int c,
		      int64_t start, int64_t end)
{
	struct ana_gpu_state *g = &w->gpu[o->gpu];
	bool known = c != o->unknown && c != ANA_HOST_UNKNOWN && c != ANA_INPUT_UNKNOWN;
	struct ana_piece piece = {
		.class = known ? (enum ana_class)c : (enum ana_class)o->unknown,
		.confidence = known ? ana_unsampled_sure(told->by, c)
				    : (enum ana_confidence)o->record_confidence,
		.start_ns = start,
		.end_ns = end,
	};

	ana_gpu_add(g, piece.class, piece.confidence, start, end);
	if (ana_class_is_input(piece.class))
		ana_exposed_input(w, g, start, end);
	ana_top_book(&w->top, g->index, o->gap_start, o->gap_end, piece.class, end - start);
	ana_top_book(&g->top, g->index, o->gap_start, o->gap_end, piece.class, end - start);
	if (o->stack && !known)
		book_line(w, p, o, &piece);
	else if (known)
		ana_hotspots_add_nearby(&w->hotspots, told->kind, piece.class, piece.confidence,
					end - start);
	if (w->options->on_piece)
		tell(w, p, o, piece);
}

/*
 * A wait that nobody was seen to end has its class by now: it tells of pieces without samples, too.
 */
static void pass_on(struct ana_walk *w, struct ana_unsampled *all,
		    const struct ana_unsampled_piece *o, const struct ana_told *told)
{
	int64_t is[ANA_CLASSES] = { 0 }, left = o->end - o->start;
	uint32_t i;

	for (i = 0; i < told->count; i++) {
		int c = told->class[i];

		if (c == ANA_HOST_UNKNOWN || c == ANA_INPUT_UNKNOWN)
			continue;
		is[c] = told->ns[i];
		left -= told->ns[i];
	}
	is[o->unknown] += left;
	if (ana_unsampled_decided(all, o->start, is, o->stand_ns))
		w->err = -ENOMEM;
}

static void give_unsampled(struct ana_walk *w, const struct ana_proc *p,
			   const struct ana_unsampled_piece *o, const struct told *told)
{
	int64_t at = o->start;
	uint32_t i;

	for (i = 0; i < told->by_class.count; i++) {
		int64_t ns = told->by_class.ns[i];

		if (!ns)
			continue;
		give_part(w, p, o, told, told->by_class.class[i], at, at + ns);
		at += ns;
	}
	if (at < o->end)
		give_part(w, p, o, told, o->unknown, at, o->end);
}

/* @of: whom the pieces are neighbours of once they have a class; NULL: of none. */
static void give_all(struct ana_walk *w, const struct ana_proc *p, struct ana_unsampled *k,
		     enum ana_piece_kind kind, struct ana_unsampled *of, int64_t floor)
{
	struct ana_unsampled_piece o;
	struct told told;

	told.by = k;
	told.kind = kind;
	while (ana_unsampled_next(k, floor, &o, &told.by_class)) {
		if (of)
			pass_on(w, of, &o, &told.by_class);
		give_unsampled(w, p, &o, &told);
		w->unsampled_pieces--;
	}
}

/* Waits at places first: as long as one has no class, what begins near it waits on. */
static void give_thread(struct ana_walk *w, const struct ana_proc *p, struct ana_thread *t,
			int64_t floor)
{
	uint32_t i;
	int kind;

	for (i = 0; i < t->take_count; i++)
		give_all(w, p, &t->takes[i].waits, ANA_PIECE_HOST, t->unsampled[ANA_PIECE_HOST],
			 floor);
	for (i = 0; i < t->take_count; i++)
		floor = base_min(floor, ana_unsampled_first(&t->takes[i].waits));
	for (kind = 0; kind < ANA_PIECE_KINDS; kind++)
		if (t->unsampled[kind])
			give_all(w, p, t->unsampled[kind], (enum ana_piece_kind)kind, NULL, floor);
}

void ana_attribute_unsampled(struct ana_walk *w, int64_t floor)
{
	uint32_t i, k;

	for (i = 0; i < w->processes; i++) {
		struct ana_proc *p = &w->process[i];

		for (k = 0; p->evidence && k < p->threads; k++)
			give_thread(w, p, p->thread[k], floor);
	}
}

static int64_t first_of(const struct ana_thread *t)
{
	int64_t first = INT64_MAX;
	uint32_t i;
	int kind;

	for (i = 0; i < t->take_count; i++)
		first = base_min(first, ana_unsampled_first(&t->takes[i].waits));
	for (kind = 0; kind < ANA_PIECE_KINDS; kind++)
		if (t->unsampled[kind])
			first = base_min(first, ana_unsampled_first(t->unsampled[kind]));
	return first;
}

int64_t ana_attribute_first(const struct ana_walk *w)
{
	int64_t first = INT64_MAX;
	uint32_t i, k;

	for (i = 0; i < w->processes; i++) {
		const struct ana_proc *p = &w->process[i];

		for (k = 0; p->evidence && k < p->threads; k++)
			first = base_min(first, first_of(p->thread[k]));
	}
	return first;
}
