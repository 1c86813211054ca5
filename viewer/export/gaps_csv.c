/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: gaps piece by piece, classes per GPU, GPUs, steps. Times are ns, as in summary.json. */
#include <errno.h>
#include "export.h"
#include "core/log.h"
#include "base/units.h"

static void comma(struct view_out *o)
{
	view_out_char(o, ',');
}

static void cell(struct view_out *o, const char *text)
{
	view_out_csv(o, text ? text : "");
	comma(o);
}

static void number(struct view_out *o, int64_t v)
{
	view_out_int(o, v);
	comma(o);
}

static void last(struct view_out *o, int64_t v)
{
	view_out_int(o, v);
	view_out_char(o, '\n');
}

/* Columns that say which GPU it is. */
static void gpu_cells(struct view_export *x, size_t gpu)
{
	const struct ana_gpu *g = &x->summary->result->gpu[gpu];

	number(&x->out, (int64_t)gpu);
	cell(&x->out, g->host);
	number(&x->out, g->index);
}

static const char *state(const struct ana_piece *p)
{
	return !p->gap ? "outside" : p->queued ? "queued" : "empty";
}

static int put_piece(void *arg, const struct ana_piece *p)
{
	struct view_export *x = arg;
	struct view_out *o = &x->out;

	gpu_cells(x, p->gpu);
	number(o, p->start_ns);
	number(o, p->end_ns);
	number(o, p->end_ns - p->start_ns);
	cell(o, state(p));
	cell(o, ana_class_names[p->class]);
	cell(o, ana_confidence_names[p->confidence]);
	number(o, p->gap_start_ns);
	number(o, p->gap_end_ns);
	number(o, p->pid);
	last(o, p->tid);
	x->rows++;
	return o->err;
}

static int put_gaps(struct view_export *x)
{
	view_out_text(&x->out, "gpu,host,index,start_ns,end_ns,ns,state,class,confidence,"
			       "gap_start_ns,gap_end_ns,pid,tid\n");
	return view_export_pieces(x, put_piece, NULL, x);
}

static void put_usd(struct view_out *o, int64_t nano_usd, bool known)
{
	base_unit digits;

	if (known)
		view_out_text(o, base_dollars_exact(digits, nano_usd));
}

static void put_class(struct view_export *x, size_t gpu, int c)
{
	const struct ana_gpu *g = &x->summary->result->gpu[gpu];
	const struct view_cost *cost = &x->summary->cost;
	int k;

	gpu_cells(x, gpu);
	cell(&x->out, g->uuid);
	cell(&x->out, g->name);
	cell(&x->out, ana_class_names[c]);
	number(&x->out, g->classes[c]);
	for (k = 0; k < ANA_CONFIDENCES; k++)
		number(&x->out, g->confidence[c][k]);
	put_usd(&x->out, cost->gpu_class[gpu][c], cost->known);
	view_out_char(&x->out, '\n');
	x->rows++;
}

static int put_classes(struct view_export *x)
{
	const struct ana_result *r = x->summary->result;
	size_t i;
	int c;

	view_out_text(&x->out, "gpu,host,index,uuid,name,class,ns,high_ns,medium_ns,low_ns,"
			       "none_ns,usd\n");
	for (i = 0; i < r->gpus; i++)
		for (c = 0; c < ANA_CLASSES; c++)
			if (r->gpu[i].classes[c])
				put_class(x, i, c);
	return 0;
}

static int put_gpus(struct view_export *x)
{
	const struct ana_result *r = x->summary->result;
	struct view_out *o = &x->out;
	size_t i;

	view_out_text(o, "gpu,host,index,uuid,name,held_start_ns,held_end_ns,held_ns,span_ns,"
			 "busy_ns,idle_ns,empty_ns,queued_ns,starved_ns,loader_exposed_ns,ops,gaps,"
			 "verdict,usd\n");
	for (i = 0; i < r->gpus; i++) {
		const struct ana_gpu *g = &r->gpu[i];
		const int64_t ns[] = { g->held_start_ns,    g->held_end_ns, g->held_ns,
				       g->span_ns,	    g->busy_ns,	    g->idle_ns,
				       g->empty_ns,	    g->queued_ns,   view_gpu_starved_ns(g),
				       g->loader_exposed_ns };
		size_t k;

		gpu_cells(x, i);
		cell(o, g->uuid);
		cell(o, g->name);
		for (k = 0; k < sizeof(ns) / sizeof(ns[0]); k++)
			number(o, ns[k]);
		number(o, (int64_t)g->ops);
		number(o, (int64_t)g->gaps);
		cell(o, ana_verdict_names[g->judgement.verdict]);
		put_usd(o, view_gpu_nano_usd(x->summary, i), x->summary->cost.known);
		view_out_char(o, '\n');
		x->rows++;
	}
	return 0;
}

static int put_outcomes(struct view_export *x)
{
	const struct view_summary *s = x->summary;

	view_out_text(&x->out, "unit,count,divisor,per,usd,source,bound\n");
	for (size_t i = 0; i < s->outcomes; i++) {
		const struct view_outcome *o = &s->outcome[i];

		cell(&x->out, o->unit);
		number(&x->out, o->num);
		number(&x->out, o->den);
		number(&x->out, view_unit_per(o->unit));
		put_usd(&x->out, o->nano_usd, o->nano_usd >= 0);
		/* behind the others, which are read by their places */
		view_out_printf(&x->out, ",%s,%s\n", view_outcome_sources[o->source],
				view_outcome_bounds[o->bound]);
		x->rows++;
	}
	return 0;
}

static int put_step(void *arg, const struct ana_step *s)
{
	struct view_export *x = arg;
	const struct ana_source *p = &x->plan.source[s->process];

	cell(&x->out, p->hello ? p->hello->host : "");
	number(&x->out, p->pid);
	number(&x->out, s->start_ns);
	number(&x->out, s->end_ns);
	number(&x->out, s->end_ns - s->start_ns);
	last(&x->out, s->exposed_ns);
	x->rows++;
	return x->out.err;
}

static int put_steps(struct view_export *x)
{
	view_out_text(&x->out, "host,pid,start_ns,end_ns,ns,exposed_ns\n");
	return view_export_pieces(x, NULL, put_step, x);
}

int view_export_csv(struct view_export *x)
{
	static const struct {
		const char *name;
		int (*put)(struct view_export *x);
	} tables[] = {
		{ "gaps", put_gaps },	{ "classes", put_classes },   { "gpus", put_gpus },
		{ "steps", put_steps }, { "outcomes", put_outcomes },
	};
	const char *wanted = x->table ? x->table : "gaps";
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(tables[i].name, wanted))
			return tables[i].put(x);
	view_error("export: unknown table %s; there are gaps, classes, gpus, steps and "
		   "outcomes",
		   wanted);
	return -ENODATA;
}
