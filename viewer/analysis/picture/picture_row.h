/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row of the picture being painted: what comes first covers what comes later. Caller-owned.
 */
#ifndef ANALYSIS_PICTURE_ROW_H
#define ANALYSIS_PICTURE_ROW_H

#include "picture.h"
#include "analysis/time/span.h"

struct ana_picture_paint {
	int64_t start, end; /* the step */
	struct ana_picture_row *row; /* borrowed */
	int64_t part[ANA_PICTURE_CELLS][ANA_DOES];
	struct ana_spans covered; /* by the layers before */
};

void ana_paint_begin(struct ana_picture_paint *p, struct ana_picture_row *row,
		     const struct ana_step *step);

/* [start, end) is so, as far as nothing before covers it. */
void ana_paint(struct ana_picture_paint *p, enum ana_picture_state state, int64_t start,
	       int64_t end);

/* What is painted from here on is covered by @layer, too; merges it. 0 or -ENOMEM. */
int ana_paint_cover(struct ana_picture_paint *p, struct ana_spans *layer);

/* Paints the layer, then covers with it. 0 or -ENOMEM. */
int ana_paint_layer(struct ana_picture_paint *p, enum ana_picture_state state,
		    struct ana_spans *layer);

/* What is left is @rest; gives the row its letters. */
void ana_paint_end(struct ana_picture_paint *p, enum ana_picture_state rest);

#endif
