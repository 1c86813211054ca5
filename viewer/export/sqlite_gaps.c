/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of idle time, the gaps that they make up, and steps. */
#include <errno.h>
#include <stdlib.h>
#include "sqlite_db.h"

struct view_db_gap { /* of a GPU: the gap whose pieces come now */
	bool open;
	struct ana_piece first;
	int64_t classes[ANA_CLASSES], empty_ns;
	int64_t number;
};

static const char *state(const struct ana_piece *q)
{
	return !q->gap ? "outside" : q->queued ? "queued" : "empty";
}

/* All pieces of it have come. What lies outside of the span is no gap. */
static int close_gap(struct view_db *p, struct view_db_gap *g)
{
	sqlite3_stmt *s = view_db_row(p, I_GAP);
	int c, major = 0;

	if (!g->open || !g->first.gap)
		return 0;
	for (c = 1; c < ANA_CLASSES; c++)
		if (g->classes[c] > g->classes[major])
			major = c;
	view_db_int(p, s, g->number);
	view_db_int(p, s, g->first.gpu);
	view_db_int(p, s, g->first.gap_start_ns);
	view_db_int(p, s, g->first.gap_end_ns);
	view_db_int(p, s, g->first.gap_end_ns - g->first.gap_start_ns);
	view_db_int(p, s, g->empty_ns);
	view_db_name(p, s, ana_class_names[major]);
	view_db_known(p, s, g->first.pid, g->first.pid != 0);
	view_db_known(p, s, g->first.tid, g->first.pid != 0);
	g->open = false;
	return view_db_insert(p, s);
}

static int open_gap(struct view_db *p, struct view_db_gap *g, const struct ana_piece *q)
{
	int err = close_gap(p, g);

	*g = (struct view_db_gap){ .open = true, .first = *q };
	if (q->gap)
		g->number = ++p->gaps;
	return err;
}

static int put_piece(void *arg, const struct ana_piece *q)
{
	struct view_db *p = arg;
	struct view_db_gap *g = &p->gap[q->gpu];
	int64_t ns = q->end_ns - q->start_ns;
	sqlite3_stmt *s;

	if (!g->open || g->first.gap != q->gap || g->first.gap_start_ns != q->gap_start_ns)
		if (open_gap(p, g, q))
			return p->err;
	g->classes[q->class] += ns;
	g->empty_ns += q->queued ? 0 : ns;
	s = view_db_row(p, I_PIECE);
	view_db_int(p, s, q->gpu);
	view_db_int(p, s, q->start_ns);
	view_db_int(p, s, q->end_ns);
	view_db_name(p, s, ana_class_names[q->class]);
	view_db_name(p, s, ana_confidence_names[q->confidence]);
	view_db_name(p, s, state(q));
	view_db_known(p, s, g->number, q->gap);
	return view_db_insert(p, s);
}

static int put_step(void *arg, const struct ana_step *step)
{
	struct view_db *p = arg;
	const struct ana_source *from = &p->x->plan.source[step->process];
	sqlite3_stmt *s = view_db_row(p, I_STEP);

	view_db_name(p, s, from->hello ? from->hello->host : "");
	view_db_int(p, s, from->pid);
	view_db_int(p, s, step->start_ns);
	view_db_int(p, s, step->end_ns);
	view_db_int(p, s, step->end_ns - step->start_ns);
	view_db_int(p, s, step->exposed_ns);
	return view_db_insert(p, s);
}

int view_db_gaps(struct view_db *p)
{
	size_t i, gpus = p->x->summary->result->gpus;
	int err;

	p->gap = calloc(gpus + 1, sizeof(*p->gap));
	if (!p->gap)
		return -ENOMEM;
	err = view_export_pieces(p->x, put_piece, put_step, p);
	for (i = 0; i < gpus && !err; i++)
		err = close_gap(p, &p->gap[i]);
	free(p->gap);
	if (!err && p->x->late_pieces)
		view_db_caveat(
			p, "some pieces of gaps came late: a gap may have two rows, each with a "
			   "part of empty_ns");
	return err;
}
