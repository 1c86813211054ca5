/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame graphs: what is too thin to be seen goes to "(other)" of its parent, so that every node
 * still sums to its children and its own.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/time/span.h"
#include "data_priv.h"
#include "wire/evidence.h"

#define OTHER "(other)"
#define NEW_ALL 0u /* the first two names */
#define NEW_OTHER 1u
#define NO_FRAME UINT32_MAX

struct coarseness {
	int64_t thin; /* nodes of less than 1/thin of all samples' time; 0: none are too thin */
	size_t graphs;
	unsigned int depth;
};

static const struct coarseness levels[DATA_FLAME_LEVELS] = {
	{ 0, 192, 99 },	 { 20000, 192, 99 }, { 5000, 192, 99 }, { 1000, 96, 99 }, { 300, 64, 99 },
	{ 100, 32, 64 }, { 50, 16, 32 },     { 20, 8, 24 },	{ 10, 4, 16 },
};

static const char *const role_names[] = {
	[WIRE_ROLE_OTHER] = "other",
	[WIRE_ROLE_SUBMITTER] = "submitter",
	[WIRE_ROLE_WORKER] = "worker",
	[WIRE_ROLE_PIN] = "pin",
	[WIRE_ROLE_WORKER_OTHER] = "worker_other",
	[WIRE_ROLE_PRODUCER] = "producer",
	[WIRE_ROLE_FEEDER] = "feeder",
};

struct row { /* a node as it is written */
	uint32_t back, frame;
	int64_t ns;
};

struct flames {
	struct data *d;
	const struct coarseness *k;
	int64_t least_ns;
	uint32_t *frame; /* engine's name to the block's, NO_FRAME: not used yet */
	uint32_t *name; /* the block's to the engine's */
	uint32_t names;
	/* of the graph at hand, per node of the engine */
	int64_t *other;
	uint32_t *place; /* where it is written, NO_FRAME: nowhere */
	uint8_t *depth;
	struct row *row;
	size_t rows;
};

static bool is_other(const struct flames *x, uint32_t frame)
{
	return !strcmp(x->d->series->frame[frame], OTHER);
}

/* Which nodes stay, and how much their parents' "(other)" gets. */
static void choose(struct flames *x, const struct ana_flame *f)
{
	for (size_t i = 0; i < f->nodes; i++) {
		const struct ana_flame_node *n = &f->node[i];
		bool stays = !i;
		x->other[i] = 0;
		x->depth[i] = i ? (uint8_t)(x->depth[n->parent] + 1) : 0;
		if (i && x->place[n->parent] != NO_FRAME) {
			stays = n->ns >= x->least_ns && x->depth[i] <= x->k->depth &&
				!is_other(x, n->frame);
			if (!stays)
				ana_sum(&x->other[n->parent], n->ns);
		}
		x->place[i] = stays ? 0 : NO_FRAME;
	}
}

static uint32_t name_of(struct flames *x, uint32_t frame)
{
	if (x->frame[frame] == NO_FRAME) {
		x->name[x->names] = frame;
		x->frame[frame] = x->names++;
	}
	return x->frame[frame];
}

static void add_row(struct flames *x, size_t parent, uint32_t frame, int64_t ns)
{
	x->row[x->rows] = (struct row){ (uint32_t)(x->rows - parent), frame, ns };
	x->rows++;
}

static int64_t lay_out(struct flames *x, const struct ana_flame *f)
{
	int64_t folded = 0;

	x->rows = 0;
	for (size_t i = 0; i < f->nodes; i++) {
		const struct ana_flame_node *n = &f->node[i];
		size_t at = x->rows;
		if (x->place[i] == NO_FRAME)
			continue;
		x->place[i] = (uint32_t)at;
		add_row(x, i ? x->place[n->parent] : at, i ? name_of(x, n->frame) : NEW_ALL, n->ns);
		if (x->other[i])
			add_row(x, at, NEW_OTHER, x->other[i]);
		ana_sum(&folded, x->other[i]);
	}
	return folded;
}

static void put_graph(struct flames *x, const struct ana_flame *f)
{
	static const char *const column[] = { "parent", "frame", "ns_below" };
	struct data_out *o = &x->d->out;
	int64_t folded;

	choose(x, f);
	folded = lay_out(x, f);
	data_open(o, NULL, '{');
	data_uint(o, "process", data_process(x->d, f->process));
	data_text(o, "role", f->role <= WIRE_ROLE_FEEDER ? role_names[f->role] : "other", false);
	data_int(o, "ns", f->node[0].ns);
	data_int(o, "folded_ns", folded);
	for (int k = 0; k < 3; k++) {
		data_open(o, column[k], '[');
		for (size_t i = 0; i < x->rows; i++) {
			const struct row *r = &x->row[i];
			data_int(o, NULL, k == 0 ? r->back : k == 1 ? r->frame : r->ns);
		}
		data_close(o, ']');
	}
	data_close(o, '}');
}

static bool make_room(struct flames *x)
{
	const struct ana_series *s = x->d->series;
	size_t most = 1;

	for (size_t i = 0; i < s->flames; i++)
		if (s->flame[i].nodes > most)
			most = s->flame[i].nodes;
	x->frame = malloc((s->frames + 1) * sizeof(*x->frame));
	x->name = calloc(s->frames + 2, sizeof(*x->name));
	x->other = calloc(most, sizeof(*x->other));
	x->place = calloc(most, sizeof(*x->place));
	x->depth = calloc(most, sizeof(*x->depth));
	x->row = calloc(most * 2, sizeof(*x->row));
	if (!x->frame || !x->name || !x->other || !x->place || !x->depth || !x->row)
		return false;
	memset(x->frame, 0xff, (s->frames + 1) * sizeof(*x->frame));
	x->names = NEW_OTHER + 1;
	return true;
}

static void free_room(struct flames *x)
{
	free(x->frame);
	free(x->name);
	free(x->other);
	free(x->place);
	free(x->depth);
	free(x->row);
}

static void put_flames(struct flames *x)
{
	const struct ana_series *s = x->d->series;
	size_t shown = s->flames < x->k->graphs ? s->flames : x->k->graphs;
	struct data_out *o = &x->d->out;
	int64_t left = 0;

	data_open(o, "graphs", '[');
	for (size_t i = 0; i < s->flames; i++) {
		if (i < shown)
			put_graph(x, &s->flame[i]);
		else
			ana_sum(&left, s->flame[i].node[0].ns);
	}
	data_close(o, ']');
	data_uint(o, "graphs_left_out", s->flames - shown);
	data_int(o, "left_out_ns", left);
	data_open(o, "frames", '[');
	data_text(o, NULL, "all", false);
	data_text(o, NULL, OTHER, false);
	for (uint32_t i = NEW_OTHER + 1; i < x->names; i++)
		data_text(o, NULL, s->frame[x->name[i]], true);
	data_close(o, ']');
}

void data_flame(struct data *d, unsigned int level)
{
	struct flames x = { .d = d, .k = &levels[level] };

	if (!d->series->flames) {
		data_null(&d->out, "flame");
		return;
	}
	if (x.k->thin)
		x.least_ns = d->series->flame_sampled_ns / x.k->thin;
	data_open(&d->out, "flame", '{');
	data_int(&d->out, "total_ns", d->series->flame_total_ns);
	data_int(&d->out, "sampled_ns", d->series->flame_sampled_ns);
	if (make_room(&x))
		put_flames(&x);
	free_room(&x);
	data_close(&d->out, '}');
}
