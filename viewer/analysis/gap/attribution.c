/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why: finer classes for the pieces of gaps that records alone leave unknown, and the lines of code
 * for all others. A piece without any evidence waits for its kin.
 */
#include "analysis/walk/walk.h"

#include <errno.h>
#include <string.h>

void ana_why_read(struct ana_walk *w, struct ana_proc *p, int64_t start, int64_t t)
{
	int err;

	if (!p->evidence)
		return;
	err = ana_evidence_upto(p->evidence, t, w->floor < start ? w->floor : start);
	if (err)
		w->err = err;
}

static struct ana_kin *kin_of(struct ana_walk *w, struct ana_proc *p, const struct ana_case *piece)
{
	struct ana_thread *t = ana_host_thread(w, p, piece->tid);

	return t ? &t->kin[piece->why == ANA_WHY_WAIT ? ANA_KIND_WAIT : ANA_KIND_HOST] : NULL;
}

/* The line that waits, for what nobody will know. */
static void remember_line(struct ana_orphan *o, const struct ana_evidence *e,
			  const struct ana_case *piece)
{
	const struct ana_seen *s = ana_evidence_thread(e, e->pid, piece->tid);
	size_t i = s ? ana_seen_from(s, piece->start) : 0;

	if (!s || i >= s->tail || s->sample[i].t_ns >= piece->end)
		return;
	o->tid = s->tid;
	o->stack = s->sample[i].stack;
	o->state = s->sample[i].state;
	o->wait = s->sample[i].wait;
	o->role = s->sample[i].role;
}

/* Nothing is known of the piece. */
static bool orphan(struct ana_walk *w, struct ana_proc *p, const struct ana_case *piece, bool keep)
{
	struct ana_kin *kin = keep ? kin_of(w, p, piece) : NULL;
	struct ana_orphan o = {
		.start = piece->start,
		.end = piece->end,
		.gpu = piece->gpu,
		.unknown = (uint8_t)piece->c,
		.base = (uint8_t)piece->confidence,
		.tid = piece->submitter,
		.gap_start = piece->gap_start,
		.gap_end = piece->gap_end,
	};

	ana_sum(&w->quality.gap_unsampled_ns, piece->end - piece->start);
	remember_line(&o, p->evidence, piece);
	if (kin && ana_kin_orphan(kin, &o))
		w->err = -ENOMEM;
	w->orphans += kin != NULL;
	memset(w->blame.ns, 0, sizeof(w->blame.ns));
	return kin != NULL;
}

static bool sampled(const struct ana_evidence *e, const struct ana_case *piece)
{
	const struct ana_seen *s = ana_evidence_thread(e, e->pid, piece->tid);
	size_t i = s ? ana_seen_from(s, piece->start) : 0;

	return s && i < s->tail && s->sample[i].t_ns < piece->end;
}

static void book(struct ana_walk *w, const struct ana_proc *p)
{
	int err;

	w->sites.options = w->options;
	w->sites.process = p->source_index;
	err = ana_sites_book(&w->sites, p->evidence, &w->blame);

	if (err)
		w->err = err;
}

static void site_only(struct ana_walk *w, struct ana_proc *p, const struct ana_case *piece)
{
	struct ana_blame *b = &w->blame;

	if (!sampled(p->evidence, piece))
		return;
	ana_blame_begin(b, piece->start, piece->end, piece->c, piece->confidence, false);
	ana_blame_see(b, p->evidence, piece->tid, piece->c);
	ana_blame_all(b, piece->c, piece->confidence);
	book(w, p);
}

bool ana_why(struct ana_walk *w, struct ana_proc *p, const struct ana_case *piece, bool keep)
{
	struct ana_blame *b = &w->blame;
	struct ana_kin *kin;
	bool told;

	if (!p || !p->evidence || piece->why == ANA_WHY_NOT)
		return false;
	if (piece->why == ANA_WHY_SITE) {
		site_only(w, p, piece);
		return false;
	}
	if (piece->why == ANA_WHY_HOST && !sampled(p->evidence, piece))
		return orphan(w, p, piece, keep);
	ana_blame_begin(b, piece->start, piece->end, piece->c, piece->confidence,
			piece->why == ANA_WHY_WAIT);
	told = piece->why == ANA_WHY_WAIT ? ana_blame_wait(b, p->evidence, piece->tid)
					  : ana_blame_host(b, p->evidence, piece->tid);
	if (!told)
		return orphan(w, p, piece, keep);
	kin = b->decided ? kin_of(w, p, piece) : NULL;
	if (kin && ana_kin_decided(kin, piece->start, b->ns))
		w->err = -ENOMEM;
	book(w, p);
	return true;
}

ANA_RARE static void tell(struct ana_walk *w, const struct ana_proc *p, const struct ana_orphan *o,
			  struct ana_piece piece)
{
	piece.gpu = w->gpu[o->gpu].index;
	piece.gap = true;
	piece.gap_start_ns = o->gap_start;
	piece.gap_end_ns = o->gap_end;
	piece.pid = p->source->pid;
	piece.tid = o->tid;
	w->options->on_piece(w->options->arg, &piece);
}

static void book_line(struct ana_walk *w, const struct ana_proc *p, const struct ana_orphan *o,
		      const struct ana_piece *piece)
{
	struct wire_sample sample = { .pid = p->evidence->pid,
				      .tid = o->tid,
				      .stack = o->stack,
				      .state = o->state,
				      .wait = o->wait,
				      .role = o->role };
	struct ana_seen seen = { .sample = &sample, .tail = 1 };
	struct ana_blame *b = &w->blame;

	ana_blame_begin(b, piece->start_ns, piece->end_ns, piece->class, piece->confidence, false);
	ana_blame_vote(b, &seen, 0, piece->class, true, 1);
	ana_blame_all(b, piece->class, piece->confidence);
	book(w, p);
}

static void give_part(struct ana_walk *w, const struct ana_proc *p, const struct ana_orphan *o,
		      int c, int64_t start, int64_t end)
{
	bool known = c != o->unknown && c != ANA_HOST_UNKNOWN && c != ANA_INPUT_UNKNOWN;
	struct ana_piece piece = {
		.class = known ? (enum ana_class)c : (enum ana_class)o->unknown,
		.confidence = known ? ANA_LOW : (enum ana_confidence)o->base,
		.start_ns = start,
		.end_ns = end,
	};

	ana_gpu_add(&w->gpu[o->gpu], piece.class, piece.confidence, start, end);
	if (o->stack && !known)
		book_line(w, p, o, &piece);
	if (w->options->on_piece)
		tell(w, p, o, piece);
}

static void give_orphan(struct ana_walk *w, const struct ana_proc *p, const struct ana_orphan *o,
			const int64_t ns[ANA_CLASSES])
{
	int64_t at = o->start;
	int c;

	for (c = 0; c < ANA_CLASSES; c++) {
		if (!ns[c])
			continue;
		give_part(w, p, o, c, at, at + ns[c]);
		at += ns[c];
	}
	if (at < o->end)
		give_part(w, p, o, o->unknown, at, o->end);
}

void ana_why_orphans(struct ana_walk *w, int64_t floor)
{
	int64_t ns[ANA_CLASSES];
	struct ana_orphan o;
	uint32_t i, k;
	int kind;

	for (i = 0; i < w->processes; i++) {
		struct ana_proc *p = &w->process[i];

		for (k = 0; p->evidence && k < p->threads; k++)
			for (kind = 0; kind < ANA_KINDS; kind++)
				while (ana_kin_next(&p->thread[k]->kin[kind], floor, &o, ns)) {
					give_orphan(w, p, &o, ns);
					w->orphans--;
				}
	}
}
