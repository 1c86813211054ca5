/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of a row, and the letters that come of them. */
#include "picture_row.h"

#include <string.h>

void ana_paint_begin(struct ana_picture_paint *p, struct ana_picture_row *row,
		     const struct ana_step *step)
{
	memset(p->part, 0, sizeof(p->part));
	p->covered = (struct ana_spans){ 0 };
	p->row = row;
	p->start = step->start_ns;
	p->end = step->end_ns;
}

static int64_t edge(const struct ana_picture_paint *p, size_t cell)
{
	return p->start +
	       (int64_t)((__int128)(p->end - p->start) * (__int128)cell / (int)ANA_PICTURE_CELLS);
}

static size_t cell_at(const struct ana_picture_paint *p, int64_t t)
{
	size_t i =
		(size_t)((__int128)(t - p->start) * (int)ANA_PICTURE_CELLS / (p->end - p->start));

	while (i + 1 < ANA_PICTURE_CELLS && edge(p, i + 1) <= t)
		i++;
	return i;
}

/* [start, end) within the step, covered by nothing. */
static void put(struct ana_picture_paint *p, enum ana_picture_state state, int64_t start,
		int64_t end)
{
	p->row->ns[state] += end - start;
	while (start < end) {
		size_t i = cell_at(p, start);
		int64_t stop = i + 1 < ANA_PICTURE_CELLS ? base_min(edge(p, i + 1), end) : end;

		p->part[i][state] += stop - start;
		start = stop;
	}
}

void ana_paint(struct ana_picture_paint *p, enum ana_picture_state state, int64_t start,
	       int64_t end)
{
	start = base_max(start, p->start);
	end = base_min(end, p->end);
	while (start < end) {
		int64_t until;
		bool covered = ana_spans_at(&p->covered, start, &until);

		until = base_min(until, end);
		if (!covered)
			put(p, state, start, until);
		start = until;
	}
}

int ana_paint_cover(struct ana_picture_paint *p, struct ana_spans *layer)
{
	int err = 0;

	for (size_t i = 0; i < layer->count && !err; i++)
		err = ana_spans_add(&p->covered, layer->span[i].start, layer->span[i].end);
	ana_spans_merge(&p->covered);
	return err;
}

int ana_paint_layer(struct ana_picture_paint *p, enum ana_picture_state state,
		    struct ana_spans *layer)
{
	ana_spans_merge(layer);
	for (size_t i = 0; i < layer->count; i++)
		ana_paint(p, state, layer->span[i].start, layer->span[i].end);
	return ana_paint_cover(p, layer);
}

static char eighths(const struct ana_picture_paint *p, size_t cell)
{
	int64_t ns = edge(p, cell + 1) - edge(p, cell);

	return ns > 0 ? (char)('0' + ((__int128)p->part[cell][ANA_DOES_BUSY] * 8 + ns - 1) / ns)
		      : '0';
}

void ana_paint_end(struct ana_picture_paint *p, enum ana_picture_state rest)
{
	ana_paint(p, rest, p->start, p->end);
	for (size_t i = 0; i < ANA_PICTURE_CELLS; i++) {
		size_t most = rest;

		for (size_t k = 0; k < ANA_DOES; k++)
			if (p->part[i][k] > p->part[i][most])
				most = k;
		p->row->cell[i] = ana_picture_words[most].letter;
		p->row->eighth[i] = eighths(p, i);
	}
	p->row->eighth[ANA_PICTURE_CELLS] = '\0';
	p->row->cell[ANA_PICTURE_CELLS] = '\0';
	ana_spans_fini(&p->covered);
}
