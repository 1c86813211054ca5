/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json's step_picture: two steps from near, written and read back. */
#include <string.h>
#include "analysis/picture/picture.h"
#include "summary_priv.h"

/* What is negative is not known. */
static void put_or_null(struct base_jsonout *j, const char *key, int64_t v)
{
	if (v >= 0)
		base_json_int(j, key, v);
	else
		base_json_null(j, key);
}

static void put_line(struct base_jsonout *j, const struct ana_picture_row *r)
{
	if (!r->file) {
		base_json_null(j, "where");
		return;
	}
	base_json_flat_object(j, "where");
	base_json_string(j, "file", r->file);
	put_or_null(j, "line", r->line ? (int64_t)r->line : -1);
	base_json_string(j, "function", r->function);
	base_json_uint(j, "samples", r->line_samples);
	base_json_bool(j, "tied", r->line_tied);
	base_json_string(j, "did", ana_picture_words[r->line_state].name);
	base_json_end(j);
}

static void put_row(struct base_jsonout *j, const struct ana_picture_row *r)
{
	bool gpu = r->kind == ANA_ROW_GPU;

	base_json_object(j, NULL);
	base_json_string(j, "row", ana_picture_kinds[r->kind]);
	put_or_null(j, gpu ? "gpu" : "worker", r->number);
	if (!gpu) {
		base_json_int(j, "pid", r->pid);
		base_json_int(j, "tid", r->tid);
		base_json_uint(j, "samples", r->samples);
	}
	base_json_string(j, "cells", r->cell);
	if (gpu)
		base_json_string(j, "busy_eighths", r->eighth);
	base_json_flat_object(j, "states_ns");
	for (int k = 0; k < ANA_DOES; k++)
		if (r->ns[k])
			base_json_int(j, ana_picture_words[k].name, r->ns[k]);
	base_json_end(j);
	if (!gpu)
		put_line(j, r);
	base_json_end(j);
}

static void put_step(struct base_jsonout *j, const char *which, const struct ana_picture_step *s)
{
	base_json_object(j, NULL);
	base_json_string(j, "which", which);
	base_json_uint(j, "process", s->step.process);
	base_json_int(j, "start_ns", s->step.start_ns);
	base_json_int(j, "step_ns", s->step.end_ns - s->step.start_ns);
	base_json_int(j, "exposed_ns", s->step.exposed_ns);
	base_json_uint(j, "gpus_left_out", s->gpus_left_out);
	base_json_uint(j, "workers_left_out", s->workers_left_out);
	base_json_array(j, "rows");
	for (size_t i = 0; i < s->rows; i++)
		put_row(j, &s->row[i]);
	base_json_end(j);
	base_json_end(j);
}

void summary_put_picture(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_picture *p = s->result->picture;

	if (!p)
		return;
	base_json_object(j, "step_picture");
	base_json_string(j, "absent", ana_picture_absent_names[p->absent]);
	base_json_array(j, "steps");
	for (int k = 0; p->absent == ANA_PICTURE_DRAWN && k < ANA_PICTURES; k++)
		put_step(j, ana_picture_names[k], &p->at[k]);
	base_json_end(j);
	base_json_end(j);
}

static enum ana_picture_state state_by_name(const char *name)
{
	int k = 0;

	while (k < ANA_DOES && (!name || strcmp(name, ana_picture_words[k].name) != 0))
		k++;
	return k < ANA_DOES ? (enum ana_picture_state)k : ANA_DOES_UNSEEN;
}

/* Letters that are none are what was not looked at. */
static void read_cells(char *cell, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < ANA_PICTURE_CELLS; i++) {
		cell[i] = ana_picture_words[ANA_DOES_UNSEEN].letter;
		for (int k = 0; k < ANA_DOES && i < n; k++)
			if (text[i] == ana_picture_words[k].letter)
				cell[i] = text[i];
	}
	cell[ANA_PICTURE_CELLS] = '\0';
}

/* Documents from before it was there have letters alone. */
static void read_eighths(struct ana_picture_row *r, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < ANA_PICTURE_CELLS; i++)
		r->eighth[i] = i < n && text[i] >= '0' && text[i] <= '8'	       ? text[i]
			       : r->cell[i] == ana_picture_words[ANA_DOES_BUSY].letter ? '8'
										       : '0';
	r->eighth[ANA_PICTURE_CELLS] = '\0';
}

static void read_row(struct view_summary *s, const struct base_json *n, struct ana_picture_row *r)
{
	const struct base_json *ns = base_json_get(n, "states_ns"),
			       *where = base_json_get(n, "where");

	r->kind = (enum ana_picture_kind)summary_by_name(base_json_get_text(n, "row", NULL),
							 ana_picture_kinds, ANA_ROW_KINDS,
							 ANA_ROW_WORKER);
	r->number =
		summary_within(n, r->kind == ANA_ROW_GPU ? "gpu" : "worker", -1, -1, UINT32_MAX);
	r->pid = summary_within(n, "pid", 0, 0, UINT32_MAX);
	r->tid = summary_within(n, "tid", 0, 0, UINT32_MAX);
	r->samples = base_json_get_uint(n, "samples", 0);
	read_cells(r->cell, base_json_get_text(n, "cells", ""));
	read_eighths(r, base_json_get_text(n, "busy_eighths", ""));
	for (int k = 0; k < ANA_DOES; k++)
		r->ns[k] = summary_span(ns, ana_picture_words[k].name);
	r->file = summary_text(s, where, "file");
	r->function = summary_text(s, where, "function");
	r->line = summary_u32(where, "line");
	r->line_samples = base_json_get_uint(where, "samples", 0);
	r->line_tied = base_json_get_bool(where, "tied", false);
	r->line_state = state_by_name(base_json_get_text(where, "did", NULL));
}

static void read_step(struct view_summary *s, const struct base_json *n, struct ana_picture_step *t)
{
	t->step.process = summary_u32(n, "process");
	t->step.start_ns = summary_stamp(n, "start_ns");
	t->step.end_ns = t->step.start_ns + summary_span(n, "step_ns");
	t->step.exposed_ns = summary_span(n, "exposed_ns");
	t->gpus_left_out = (size_t)summary_within(n, "gpus_left_out", 0, 0, UINT32_MAX);
	t->workers_left_out = (size_t)summary_within(n, "workers_left_out", 0, 0, UINT32_MAX);
	BASE_JSON_EACH(row, base_json_get(n, "rows"))
		if (t->rows < ANA_PICTURE_ROWS)
			read_row(s, row, &t->row[t->rows++]);
}

void summary_read_picture(struct view_summary *s, const struct base_json *n)
{
	const struct base_json *steps = base_json_get(n, "steps");
	struct ana_picture *p;
	size_t k = 0;

	if (!n || n->type != BASE_JSON_OBJECT)
		return;
	p = base_arena_alloc(&s->mem, sizeof(*p));
	p->absent = (enum ana_picture_absent)summary_by_name(
		base_json_get_text(n, "absent", NULL), ana_picture_absent_names,
		ANA_PICTURE_ABSENTS,
		base_json_count(steps) == ANA_PICTURES ? ANA_PICTURE_DRAWN : ANA_PICTURE_NO_STEPS);
	BASE_JSON_EACH(step, steps)
		if (k < ANA_PICTURES)
			read_step(s, step, &p->at[k++]);
	s->result->picture = p;
}
