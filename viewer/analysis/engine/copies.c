/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a GPU by direction: how many, how large, from pageable memory, and how long without a
 * kernel beside them.
 */
#include "component.h"

void ana_copies_expose(struct ana_gpu_state *g, int64_t start, int64_t end)
{
	int d;

	for (d = 0; d < ANA_COPY_DIRS; d++) {
		int64_t stop = g->dir_end[d] < end ? g->dir_end[d] : end;

		if (stop > start)
			g->gpu->copies[d].exposed_ns += stop - start;
	}
}

enum ana_copy_dir ana_copies_direction(const struct wire_event *op)
{
	if (op->op == WIRE_OP_MEMSET)
		return ANA_MEMSET;
	switch (op->copy) {
	case WIRE_COPY_H2D:
	case 3: /* host to array */
		return ANA_H2D;
	case WIRE_COPY_D2H:
	case 4: /* array to host */
		return ANA_D2H;
	case WIRE_COPY_H2H:
		return ANA_H2H;
	case WIRE_COPY_P2P:
		return ANA_P2P;
	default: /* within the device, or not told */
		return ANA_D2D;
	}
}

static bool is_pageable(const struct wire_event *op, enum ana_copy_dir d)
{
	bool from = op->src == WIRE_MEM_PAGEABLE, to = op->dst == WIRE_MEM_PAGEABLE;

	return d == ANA_H2D ? from : d == ANA_D2H ? to : d == ANA_H2H && (from || to);
}

void ana_copies_count(struct ana_gpu_state *g, const struct wire_event *op)
{
	enum ana_copy_dir d = ana_copies_direction(op);
	struct ana_copies *c = &g->gpu->copies[d];

	c->count++;
	c->bytes += op->bytes;
	ana_sum(&c->ns, op->end_ns - op->start_ns);
	if (is_pageable(op, d)) {
		c->pageable_count++;
		c->pageable_bytes += op->bytes;
	}
	if (op->op == WIRE_OP_COPY && !(op->flags & WIRE_EV_FL_ASYNC))
		c->synchronous++;
	if (op->end_ns > g->dir_end[d])
		g->dir_end[d] = op->end_ns;
}
