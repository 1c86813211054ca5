/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of idle time in order of start, per GPU. The engine decides some of them late (those that
 * no sample tells of, by their neighbours within two seconds), so they wait here, as many as
 * VIEW_ORDER_PIECES in all. What comes later than that is handed out late, and counted.
 */
#ifndef EXPORT_ORDER_H
#define EXPORT_ORDER_H

#include "analysis/ledger.h"

#define VIEW_ORDER_PIECES (1u << 20)

struct view_ordered { /* a piece, packed */
	int64_t start, end, gap_start, gap_end, pid;
	uint32_t tid;
	uint8_t class, confidence, gap, queued;
};

struct view_order_gpu { /* a heap, the earliest first */
	struct view_ordered *piece;
	uint32_t n, room;
	int64_t upto; /* start of the piece handed out last */
};

struct view_order {
	struct view_order_gpu *gpu;
	uint32_t gpus, most; /* per GPU */
	uint64_t late;
	int (*take)(void *arg, const struct ana_piece *p);
	void *arg;
};

int view_order_init(struct view_order *o, size_t gpus,
		    int (*take)(void *arg, const struct ana_piece *p), void *arg);
void view_order_fini(struct view_order *o);

/* 0, -ENOMEM, or what @take returned. */
int view_order_add(struct view_order *o, const struct ana_piece *p);
int view_order_finish(struct view_order *o); /* hands out the rest, GPU by GPU */

#endif
