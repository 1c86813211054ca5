/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of copies. While the call that makes a copy lasts, its thread is in it: its samples
 * show the line. A copy whose call is over by then has none, whatever its thread does next.
 */
#include "component.h"

#include "analysis/gap/attribution.h"
#include "base/minmax.h"

void ana_copying_begin(struct ana_gpu_state *g, const struct ana_proc *p,
		       const struct wire_event *op, const struct ana_call *call)
{
	if (!p->evidence || !call || call->process != p->index || op->op != WIRE_OP_COPY)
		return;
	g->copying = (struct ana_copying){
		.start = base_max(op->start_ns, call->start),
		.end = base_min(op->end_ns, call->end),
		.process = p->index,
		.tid = call->tid,
	};
}

void ana_copying_tell(struct ana_walk *w, struct ana_gpu_state *g, int64_t upto)
{
	const struct ana_copying *c = &g->copying;
	struct ana_proc *p = &w->process[c->process];
	struct ana_attribution piece = {
		.gpu = (uint32_t)(g - w->gpu),
		.start = base_max(base_max(c->start, g->at), base_max(g->compute_end, g->comm_end)),
		.end = base_min(c->end, upto),
		.c = ANA_COPY,
		.confidence = ANA_HIGH,
		.tid = c->tid,
		.submitter = c->tid,
	};

	if (piece.start >= piece.end)
		return;
	piece.gap_start = piece.start;
	piece.gap_end = piece.end;
	ana_attribute_read(w, p, piece.start, piece.end);
	if (!ana_attribute_line(w, p, &piece))
		ana_hotspots_add_nearby(&w->hotspots, ANA_PIECE_HOST, ANA_COPY, ANA_LOW,
					piece.end - piece.start);
}
