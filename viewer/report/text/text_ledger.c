/* SPDX-License-Identifier: Apache-2.0 */
/* The tables: where the GPU time went, by class, GPU, step, copy and gap. */
#include <inttypes.h>
#include "base/units.h"
#include "findings/lead.h"
#include "findings/words.h"
#include "text_priv.h"

#define GPUS_SHOWN 16
#define GAPS_SHOWN 5
#define WORK_SHOWN 8

static const char *confidence_text(struct page *p, int c)
{
	const int64_t *by = p->s->result->confidence[c];
	const char *all = "";

	if (ana_class_is_recorded(c))
		return "";
	for (int k = 0; k < ANA_CONFIDENCES; k++)
		if (by[k])
			all = base_arena_printf(&p->mem, "%s%s%s", all, *all ? ", " : "",
						ana_confidence_names[k]);
	return all;
}

static void put_ledger_row(struct page *p, char mark, const char *name, int64_t ns, int64_t tenths,
			   const char *usd, const char *confidence)
{
	const char *cost = p->s->cost.known ? usd : "";
	base_unit time, share;

	base_duration(time, ns);
	base_percent(share, tenths < 0 ? base_ppm(ns, p->s->result->gpu_ns) : tenths * 1000);
	if (text_narrow(p))
		fprintf(p->f, "%c %-19s %9s %5s%%\n", mark, name, time, share);
	else
		fprintf(p->f, "%c %-22s %12s %7s %% %*s%s%s\n", mark, name, time, share,
			base_width(cost, 11), cost, confidence ? "  " : "",
			confidence ? confidence : "");
}

void text_ledger(struct page *p)
{
	const struct view_summary *s = p->s;
	struct base_scale scale = view_cost_scale(&s->cost);
	int64_t tenths[ANA_CLASSES];
	base_unit usd;

	view_shares_close(s->result, s->waste, tenths);
	text_heading(p,
		     "Where the GPU time went (of all time held, start-up and shutdown included)");
	if (text_narrow(p))
		fprintf(p->f, "  %-19s %9s %6s\n", "class", "time", "held");
	else
		fprintf(p->f, "  %-22s %12s %9s %11s  %s\n", "class", "time", "of held",
			s->cost.known ? "cost" : "", "confidence");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (s->result->classes[c])
			put_ledger_row(p, s->waste[c] ? '*' : ' ', ana_class_names[c],
				       s->result->classes[c], tenths[c],
				       base_scaled_quanta(usd, scale, s->cost.classes[c],
							  s->cost.quanta[c]),
				       confidence_text(p, c));
	put_ledger_row(p, ' ', "held", s->result->gpu_ns, -1,
		       base_scaled(usd, scale, s->cost.total), NULL);
	put_ledger_row(p, ' ', text_narrow(p) ? "starved (input.*)" : "of it starved (input.*)",
		       s->starved_ns, -1, base_scaled(usd, scale, s->cost.starved), NULL);
	put_ledger_row(p, '*', "of it wasted", s->wasted_ns, -1,
		       base_scaled(usd, scale, s->cost.wasted), NULL);
}

static void put_work_row(struct page *p, const struct view_work *w)
{
	base_unit time, share, usd, count;

	base_duration(time, w->ns);
	base_percent(share, base_ppm(w->ns, p->s->result->classes[ANA_COMPUTE]));
	base_count(count, w->count);
	if (text_narrow(p))
		fprintf(p->f, "  %-12s %-7s %8s %5s%%\n", w->kind, w->precision, time, share);
	else
		fprintf(p->f, "  %-13s %-8s %12s %7s %% %*s %12s\n", w->kind, w->precision, time,
			share,
			base_width(p->s->cost.known ? view_cost_text(usd, &p->s->cost, w->nano_usd)
						    : "",
				   11),
			p->s->cost.known ? usd : "", count);
}

/* "@before 38.0 % of the tensor cores' time@behind (4.0 s of 5.0 s)" */
static void put_used(struct page *p, const struct ana_units *u, const char *before,
		     const char *behind)
{
	base_unit tensor, dram, busy, known;
	const char *memory = "";

	if (u->dram_ns >= 0)
		memory = base_arena_printf(&p->mem, " and %s %% of the memory's bandwidth",
					   base_percent(dram, base_ppm(u->dram_ns, u->busy_ns)));
	text_line(p, base_arena_printf(&p->mem, "%s %s %% of the tensor cores' time%s%s (%s of %s)",
				       before,
				       base_percent(tensor, base_ppm(u->tensor_ns, u->busy_ns)),
				       memory, behind, base_duration(busy, u->busy_ns),
				       base_duration(known, u->known_ns)));
}

/* Of the time in which anything ran, as far as GPM was asked; by phase, if there are several. */
static void put_units(struct page *p)
{
	const struct ana_result *r = p->s->result;

	if (!r->units.busy_ns)
		return;
	put_used(p, &r->units, "NVML:", " used while anything ran");
	if (ana_units_told(r->units_in) < 2)
		return;
	for (int i = 0; i < ANA_PHASES; i++)
		if (r->units_in[i].busy_ns)
			put_used(p, &r->units_in[i],
				 base_arena_printf(&p->mem, "  %s:", view_phase_words[i]), "");
}

void text_work(struct page *p)
{
	struct view_work rows[ANA_WORKS];
	size_t n = view_work_rows(p->s, rows);

	if (!n)
		return;
	text_heading(p, "What compute consists of, by the kernels' names");
	if (!text_narrow(p))
		fprintf(p->f, "  %-13s %-8s %12s %9s %11s %12s\n", "kind", "in", "time",
			"of compute", p->s->cost.known ? "cost" : "", "kernels");
	for (size_t i = 0; i < n && i < WORK_SHOWN; i++)
		put_work_row(p, &rows[i]);
	if (n > WORK_SHOWN)
		fprintf(p->f, "  and %zu more (see --format json)\n", n - WORK_SHOWN);
	put_units(p);
}

static void put_gpu(struct page *p, size_t i)
{
	const struct ana_gpu *g = &p->s->result->gpu[i];
	int64_t input = view_gpu_starved_ns(g), usd = view_gpu_nano_usd(p->s, i);
	base_unit held, busy, starved, text;
	const char *who, *cost = "";

	base_duration(held, g->held_ns);
	base_percent(busy, base_ppm(g->busy_ns, g->held_ns));
	base_percent(starved, base_ppm(input, g->held_ns));
	who = base_arena_printf(&p->mem, "%s%s%s on %s%s%s", g->uuid ? g->uuid : "",
				g->uuid ? ", " : "", g->name, g->host[0] ? g->host : "?",
				g->mig_profile ? ", MIG " : "",
				g->mig_profile ? g->mig_profile : "");
	if (text_narrow(p)) {
		fprintf(p->f, "%c %3" PRIu32 " %9s %5s %% %5s %%\n",
			g->judgement.flagged ? '!' : ' ', g->index, held, busy, starved);
		text_line(p, base_arena_printf(&p->mem, "%s; %s",
					       view_gpu_verdict_words(p->s, i, &p->mem), who));
		return;
	}
	if (p->s->cost.known)
		cost = view_cost_text(text, &p->s->cost, usd);
	fprintf(p->f, "%c %3" PRIu32 "  %10s %6s %% %6s %% %*s  %s\n",
		g->judgement.flagged ? '!' : ' ', g->index, held, busy, starved,
		base_width(cost, 10), cost, view_gpu_verdict_words(p->s, i, &p->mem));
	fputs("       ", p->f);
	text_wrap(p, 7, 9, who);
}

/* The flagged first, then the others, in order. */
void text_gpus(struct page *p)
{
	const struct ana_result *r = p->s->result;
	size_t shown = 0;

	text_heading(p, "GPUs (! flagged; busy and starved are shares of the time held)");
	if (text_narrow(p))
		fprintf(p->f, "  %3s %9s %7s %7s\n", "#", "held", "busy", "starved");
	else
		fprintf(p->f, "  %3s  %10s %8s %8s %10s  %s\n", "#", "held", "busy", "starved",
			p->s->cost.known ? "cost" : "", "diagnosis");
	for (int pass = 1; pass >= 0; pass--)
		for (size_t i = 0; i < r->gpus; i++)
			if (r->gpu[i].judgement.flagged == pass && shown++ < GPUS_SHOWN)
				put_gpu(p, i);
	if (shown > GPUS_SHOWN)
		fprintf(p->f, "  and %zu more (see --format json)\n", shown - GPUS_SHOWN);
}

static void put_outcomes(struct page *p)
{
	const char *of = view_outcome_loaders(p->s, &p->mem);

	for (size_t i = 0; i < p->s->outcomes; i++)
		text_line(p, view_outcome_words(&p->s->outcome[i], &p->mem));
	if (of)
		text_line(p, of);
}

void text_steps(struct page *p)
{
	const struct ana_result *r = p->s->result;
	enum view_outcome_bound bound = view_told_bound(p->s);
	base_unit count, median, p95, usd;
	const char *t;

	if (!view_steps_shown(r) && !p->s->outcomes && !view_outcome_loaders(p->s, &p->mem))
		return;
	text_heading(p, "Steps");
	put_outcomes(p);
	if (!view_steps_shown(r))
		return;
	t = base_arena_printf(&p->mem, "%s%s steps%s, from %s%s", view_bound_words[bound],
			      base_count(count, view_steps_shown(r)), view_steps_of_words(r),
			      view_step_source_words[r->step_source],
			      bound ? ", up to the last record" : "");
	if (view_steps_recorded(r))
		t = base_arena_printf(&p->mem, "%s; of %s that were recorded", t,
				      base_count(count, r->unrecorded.steps_recorded));
	if (r->step_median_ns >= 0)
		t = base_arena_printf(&p->mem, "%s%s median %s, p95 %s", t,
				      view_steps_recorded(r) ? "" : ";",
				      base_duration(median, r->step_median_ns),
				      base_duration(p95, r->step_p95_ns));
	if (p->s->step_nano_usd >= 0)
		t = base_arena_printf(
			&p->mem, "%s; %s%s each%s", t, view_bound_each[bound],
			base_money(usd, p->s->step_nano_usd),
			view_working_ns(p->s) < r->gpu_ns ? ", with start-up and shutdown" : "");
	text_line(p, t);
}

static void put_copy(struct page *p, int d)
{
	const struct ana_copies *c = &p->s->result->copies[d];
	base_unit count, bytes, time, exposed, pageable;

	base_count(count, c->count);
	base_bytes(bytes, c->bytes);
	base_duration(time, c->ns);
	base_duration(exposed, c->exposed_ns);
	base_count(pageable, c->pageable_count);
	if (text_narrow(p))
		text_line(p, base_arena_printf(&p->mem, "%s: %s, %s, %s; exposed %s; pageable %s",
					       ana_copy_names[d], count, bytes, time, exposed,
					       pageable));
	else
		fprintf(p->f, "  %-7s %12s %10s %10s %12s %12s\n", ana_copy_names[d], count, bytes,
			time, exposed, pageable);
}

void text_copies(struct page *p)
{
	const struct ana_result *r = p->s->result;
	bool any = false;

	for (int d = 0; d < ANA_COPY_DIRS; d++) {
		if (!r->copies[d].count)
			continue;
		if (!any)
			text_heading(p, "Copies");
		if (!any && !text_narrow(p))
			fprintf(p->f, "  %-7s %12s %10s %10s %12s %12s\n", "", "count", "bytes",
				"time", "exposed", "pageable");
		any = true;
		put_copy(p, d);
	}
}

static void put_gap(struct page *p, const struct ana_gap *g)
{
	const struct ana_result *r = p->s->result;
	bool known = g->gpu < r->gpus;
	base_unit length, at;
	const char *where;

	base_duration(length, g->end_ns - g->start_ns);
	where = base_arena_printf(&p->mem, "GPU %" PRIu32, known ? r->gpu[g->gpu].index : g->gpu);
	if (known)
		where = base_arena_printf(
			&p->mem, "%s, at %s", where,
			base_duration(at, g->start_ns - r->gpu[g->gpu].held_start_ns));
	if (g->pid)
		where = base_arena_printf(&p->mem, "%s, pid %" PRId64, where, g->pid);
	if (text_narrow(p))
		text_line(p, base_arena_printf(&p->mem, "%s %s, %s", length,
					       ana_class_names[g->major], where));
	else
		fprintf(p->f, "  %10s  %-18s %s\n", length, ana_class_names[g->major], where);
}

void text_gaps(struct page *p)
{
	const struct ana_result *r = p->s->result;

	if (!r->top_gaps)
		return;
	text_heading(p, "Longest gaps");
	for (size_t i = 0; i < r->top_gaps && i < GAPS_SHOWN; i++)
		put_gap(p, &r->top_gap[i]);
}
