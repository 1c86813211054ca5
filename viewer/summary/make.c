/* SPDX-License-Identifier: Apache-2.0 */
/* From the engine's result and the run's identity to the summary. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "findings/snippet.h"
#include "findings/findings.h"
#include "findings/loader.h"
#include "findings/native.h"
#include "kind.h"
#include "summary_priv.h"
#include "base/units.h"

static void set_waste(struct view_summary *s, const bool *waste)
{
	const struct ana_result *r = s->result;
	bool starved[ANA_CLASSES];

	if (waste)
		memcpy(s->waste, waste, sizeof(s->waste));
	else
		view_waste_default(s->waste);
	view_starved_set(starved);
	s->wasted_ns = view_set_sum(s->waste, r->classes, r->skew_causes);
	s->starved_ns = view_set_sum(starved, r->classes, r->skew_causes);
}

static void widen(int64_t *least, int64_t *most, int64_t start, int64_t end)
{
	if (end <= start || !start)
		return;
	if (!*most || start < *least)
		*least = start;
	if (end > *most)
		*most = end;
}

/* What run.json does not tell, the processes and devices do. */
static void set_times(struct view_summary *s)
{
	const struct ana_result *r = s->result;
	int64_t least = 0, most = 0;

	for (size_t i = 0; i < r->processes; i++)
		widen(&least, &most, r->process[i].start_ns, r->process[i].end_ns);
	for (size_t i = 0; i < r->gpus && !most; i++)
		widen(&least, &most, r->gpu[i].held_start_ns, r->gpu[i].held_end_ns);
	if (!s->start_unix_ns)
		s->start_unix_ns = least;
	if (s->wall_ns <= 0)
		s->wall_ns = most > least ? most - least : 0;
}

static void copy_run(struct view_summary *s, const struct view_trace *t)
{
	const struct view_run_info *run = &t->run;

	s->id = base_arena_text(&s->mem, run->id ? run->id : "");
	s->path = base_arena_text(&s->mem, t->path);
	s->start_unix_ns = run->start_unix_ns;
	s->wall_ns = run->wall_ns;
	s->has_exit_status = run->has_exit_status;
	s->exit_status = run->exit_status;
	s->commands = run->commands;
	s->command = base_arena_array(&s->mem, run->commands, sizeof(*s->command));
	for (size_t i = 0; i < run->commands; i++)
		s->command[i] = base_arena_text(&s->mem, run->command[i]);
	s->labels = run->labels;
	s->label = base_arena_array(&s->mem, run->labels, sizeof(*s->label));
	for (size_t i = 0; i < run->labels; i++)
		s->label[i] = (struct view_label){ base_arena_text(&s->mem, run->label_key[i]),
						   base_arena_text(&s->mem, run->label_value[i]) };
}

/* The last resort: the folder's name without its ending. */
const char *summary_id_from_path(struct view_summary *s, const char *path)
{
	size_t end = strlen(path);

	while (end > 1 && path[end - 1] == '/')
		end--;
	size_t start = end;
	while (start && path[start - 1] != '/')
		start--;
	if (end - start > 4 && !strncmp(path + end - 4, ".gst", 4))
		end -= 4;
	return base_arena_copy(&s->mem, path + start, end - start);
}

/* A run without run.json (plain preloading) is known by its streams. */
static void copy_hello(struct view_summary *s, const struct view_trace *t)
{
	const Wire__Hello *h = NULL;

	for (size_t i = 0; i < t->streams && !h; i++)
		h = t->stream[i].hello;
	if (!h)
		return;
	if (!s->id[0])
		s->id = base_arena_text(&s->mem, h->run_id);
	if (!s->commands) {
		s->commands = h->n_command;
		s->command = base_arena_array(&s->mem, h->n_command, sizeof(*s->command));
		for (size_t i = 0; i < h->n_command; i++)
			s->command[i] = base_arena_text(&s->mem, h->command[i]);
	}
	if (!s->labels) {
		s->labels = h->n_labels;
		s->label = base_arena_array(&s->mem, h->n_labels, sizeof(*s->label));
		for (size_t i = 0; i < h->n_labels; i++)
			s->label[i] =
				(struct view_label){ base_arena_text(&s->mem, h->labels[i]->key),
						     base_arena_text(&s->mem,
								     h->labels[i]->value) };
	}
}

static void add_host(struct view_summary *s, const char *host)
{
	if (!host || !host[0])
		return;
	for (size_t i = 0; i < s->hosts; i++)
		if (!strcmp(s->host[i], host))
			return;
	s->host[s->hosts++] = base_arena_text(&s->mem, host);
}

static void set_hosts(struct view_summary *s)
{
	const struct ana_result *r = s->result;

	s->host = base_arena_array(&s->mem, r->processes + r->gpus, sizeof(*s->host));
	for (size_t i = 0; i < r->processes; i++)
		add_host(s, r->process[i].host);
	for (size_t i = 0; i < r->gpus; i++)
		add_host(s, r->gpu[i].host);
}

static void agree(char *all, size_t room, const char *one)
{
	if (strcmp(all, one) != 0)
		snprintf(all, room, "%s", VIEW_SEVERAL);
}

/* What holds for a part of the GPUs alone is not said of the run. */
static void set_machine(struct view_summary *s, const struct view_trace *t)
{
	const struct ana_result *r = s->result;
	struct view_machine *all = &s->machine, one;

	for (size_t i = 0; i < r->gpus; i++) {
		if (i && !strcmp(r->gpu[i].host, r->gpu[i - 1].host))
			continue;
		view_machine_of(t, r->gpu[i].host, &one);
		if (!i)
			*all = one;
		agree(all->provider, sizeof(all->provider), one.provider);
		agree(all->instance_type, sizeof(all->instance_type), one.instance_type);
	}
}

static bool rank_seen(const struct ana_result *r, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (r->process[i].has_rank && r->process[i].rank == r->process[upto].rank)
			return true;
	return false;
}

/* Distinct ranks; without any, as many trainers as there were at once: in turn they are starts. */
static void set_ranks(struct view_summary *s)
{
	const struct ana_result *r = s->result;

	for (size_t i = 0; i < r->processes; i++)
		s->ranks += r->process[i].has_rank && !rank_seen(r, i);
	if (!s->ranks)
		s->ranks = base_max(1, view_trainers_at_once(r, false));
}

static void set_money(struct view_summary *s)
{
	const struct ana_result *r = s->result;
	int64_t useful = r->gpu_ns - s->wasted_ns;

	s->step_nano_usd = s->useful_nano_usd = -1;
	if (!s->cost.known)
		return;
	if (view_steps_in_all(s))
		s->step_nano_usd = base_div_even(s->cost.total, (__int128)view_steps_in_all(s));
	if (useful > 0)
		s->useful_nano_usd =
			base_div_even((__int128)s->cost.total * 3600 * 1000000000, useful);
}

static int64_t behind_usd(const struct view_summary *s, size_t row)
{
	const struct ana_rank *r = &s->result->ranks.row[row];

	return view_cost_amount(s->cost.rate[r->gpu].nano_usd_per_hour, r->behind_ns);
}

/*
 * A waiting GPU's dollars go to the ranks it waited for, in proportion. Where pairs are not kept,
 * all GPUs count alike.
 */
static void set_rank_money(struct view_summary *s)
{
	const struct ana_ranks *r = &s->result->ranks;
	const int64_t skew = s->cost.classes[ANA_COMM_SKEW];
	int64_t whole = s->result->classes[ANA_COMM_SKEW];

	s->rank_nano_usd = base_arena_array(&s->mem, r->rows, sizeof(*s->rank_nano_usd));
	s->left_nano_usd = base_arena_array(&s->mem, r->rows, sizeof(*s->left_nano_usd));
	for (size_t i = 0; s->cost.known && i < r->rows; i++)
		if (r->row[i].behind)
			view_cost_add(&s->left_nano_usd[r->row[i].behind - 1], behind_usd(s, i));
	for (size_t i = 0; s->cost.known && i < r->rows; i++) {
		for (size_t k = 0; r->pair_ns && k < r->rows; k++) {
			int64_t ns = r->pair_ns[k * r->rows + i];
			int64_t of = s->result->gpu[r->row[k].gpu].classes[ANA_COMM_SKEW];
			int64_t usd = s->cost.gpu_class[r->row[k].gpu][ANA_COMM_SKEW];

			if (ns && of)
				view_cost_add(&s->rank_nano_usd[i],
					      base_div_even((__int128)usd * ns, of));
		}
		if (!r->pair_ns && whole)
			s->rank_nano_usd[i] =
				base_div_even((__int128)skew * r->row[i].caused_ns, whole);
	}
}

static void add_note(struct view_summary *s, const char *text)
{
	for (size_t i = 0; i < s->notes; i++)
		if (!strcmp(s->note[i], text))
			return;
	s->note[s->notes++] = base_arena_text(&s->mem, text);
}

/* NVML's own figure, averaged over the GPUs that have one; -1: none has. */
static int64_t nvml_ppm(const struct ana_result *r)
{
	int64_t sum = 0, n = 0;

	for (size_t i = 0; i < r->gpus; i++) {
		if (r->gpu[i].nvml_utilization_pct < 0)
			continue;
		sum += (int64_t)(r->gpu[i].nvml_utilization_pct * 10000);
		n++;
	}
	return n ? sum / n : -1;
}

static const char *sampler_note(struct view_summary *s)
{
	int64_t nvml = nvml_ppm(s->result);
	base_unit percent, own;
	const char *said = "";

	if (nvml >= 0)
		said = base_arena_printf(
			&s->mem,
			" over the whole run, by these records (NVML itself said %s %%, on average of "
			"the moments, some seconds apart, in which it was asked)",
			base_percent(own, nvml));
	if (s->wall_ns < VIEW_MONITOR_NS)
		return base_arena_printf(
			&s->mem,
			"GPU utilisation, as monitors show it, was about %s %%%s; it names no cause, and "
			"busy here means that something runs, not that it runs well",
			base_percent(percent, s->sampler_ppm), said);
	return base_arena_printf(
		&s->mem,
		"a sampler that reads GPU utilisation every 15 s would have averaged about %s %%%s "
		"and named no cause; busy here means that something runs, not that it runs well",
		base_percent(percent, s->sampler_ppm), said);
}

static const char *unpriced_note(struct view_summary *s)
{
	for (size_t g = 0; g < s->cost.gpus; g++)
		if (!s->cost.rate[g].known)
			return base_arena_printf(
				&s->mem,
				"no price is known for %s; set one with --price USD, "
				"GPUSTARVE_USD_PER_GPU_HOUR or a row in a site price file",
				s->cost.rate[g].gpu);
	return NULL;
}

static const char *input_note(struct view_summary *s)
{
	const struct ana_result *r = s->result;
	uint64_t kernels = 0;
	int64_t ns = 0;
	base_unit count, time;

	for (size_t g = 0; g < r->gpus; g++) {
		kernels += r->gpu[g].input_kernels;
		view_cost_add(&ns, r->gpu[g].input_kernel_ns);
	}
	if (!kernels)
		return NULL;
	return base_arena_printf(&s->mem,
				 "input work on the GPU: %s kernels that decode or transform input "
				 "(nvJPEG, DALI and their like) took %s; it counts as compute",
				 base_count(count, kernels), base_duration(time, ns));
}

/* What runs inside a graph launch that is recorded as one operation has no name. */
static const char *graph_note(struct view_summary *s)
{
	const struct ana_result *r = s->result;
	uint64_t graphs = 0;
	base_unit count;

	for (size_t g = 0; g < r->gpus; g++)
		graphs += r->gpu[g].graphs;
	if (!graphs || (s->ranks < 2 && r->gpus < 2))
		return NULL;
	return base_arena_printf(&s->mem,
				 "%s graph launches are recorded as one operation each: "
				 "collectives inside them count as compute, and waits for late "
				 "ranks in them are not seen (comm.skew)",
				 base_count(count, graphs));
}

static const char *lost_note(struct view_summary *s)
{
	uint64_t lost = s->result->quality.graphs_lost;
	base_unit count;

	if (!lost)
		return NULL;
	return base_arena_printf(
		&s->mem,
		"%s launches of graphs have no record of the device: time in which "
		"they may have run, and nothing else did, is not known (device.unknown)",
		base_count(count, lost));
}

/* Of what the program counted (GPUSTARVE_UNITS). */
static const char *counts_note(struct view_summary *s, const struct view_counts *c)
{
	base_unit bad;

	if (c->large)
		return "the files to which the program adds its counts are larger than 256 MiB: "
		       "nothing of them is used";
	if (!c->bad)
		return NULL;
	return base_arena_printf(
		&s->mem,
		"%s lines of what the program counted say nothing (NAME COUNT does) "
		"and are left out",
		base_count(bad, c->bad));
}

static void set_notes(struct view_summary *s, const struct view_trace *t)
{
	const struct ana_quality *q = &s->result->quality;
	const char *unpriced = unpriced_note(s);

	s->note = base_arena_array(&s->mem, q->note_count + (t ? t->notes : 0) + 11,
				   sizeof(*s->note));
	for (size_t i = 0; i < q->note_count; i++)
		add_note(s, q->notes[i]);
	for (size_t i = 0; t && i < t->notes; i++)
		add_note(s, t->note[i]);
	if (s->result->simulated)
		add_note(s, "the GPUs of this run are simulated: the simulator is a model");
	if (s->ranks > 1 && !ana_ranks_compared(&s->result->ranks))
		add_note(s, "several ranks: the time that others waited inside collectives for a "
			    "starved rank is left out, so starved is a lower bound");
	if (!s->result->complete && !s->result->imported)
		add_note(s, "a process ended without saying so, or is still running: "
			    "totals are a lower bound");
	if (input_note(s))
		add_note(s, input_note(s));
	if (graph_note(s))
		add_note(s, graph_note(s));
	if (lost_note(s))
		add_note(s, lost_note(s));
	if (t && counts_note(s, &t->run.counts))
		add_note(s, counts_note(s, &t->run.counts));
	add_note(s, sampler_note(s));
	add_note(s,
		 unpriced ? unpriced
			  : "dollars are the price of the GPUs only, for the time they were held");
}

int view_summary_make(struct view_summary **out, struct ana_result *r, const struct view_trace *t,
		      struct view_rate *rate, const struct view_summary_options *o)
{
	struct view_summary *s = calloc(1, sizeof(*s));

	if (!s)
		goto free_inputs;
	s->result = r;
	s->window = o->window;
	s->rules = ANA_RULES;
	set_waste(s, o->waste);
	if (view_cost_compute(&s->cost, r, rate, s->waste))
		goto free_summary;
	s->id = "";
	if (t) {
		copy_run(s, t);
		copy_hello(s, t);
		if (!s->id[0] && t->path)
			s->id = summary_id_from_path(s, t->path);
	}
	summary_make_job(s, t);
	summary_make_alerts(s, t);
	set_times(s);
	set_hosts(s);
	set_machine(s, t);
	set_ranks(s);
	summary_make_kind(s, t);
	set_money(s);
	summary_make_outcomes(s, t);
	set_rank_money(s);
	if (summary_make_saves(s, t))
		goto free_summary;
	s->sampler_ppm =
		base_ppm(r->classes[ANA_COMPUTE] + r->classes[ANA_COMM] + r->classes[ANA_COMM_SKEW],
			 r->gpu_ns);
	set_notes(s, t);
	view_findings_add(s);
	view_native_add(s);
	view_loader_add(s);
	view_advice_add(s);
	view_snippets_add(s);
	*out = s;
	return 0;

free_summary:
	view_summary_free(s);
	return -ENOMEM;
free_inputs:
	ana_result_free(r);
	free(rate);
	return -ENOMEM;
}

void view_summary_free(struct view_summary *s)
{
	if (!s)
		return;
	if (!s->result_in_mem)
		ana_result_free(s->result);
	view_cost_fini(&s->cost);
	base_arena_fini(&s->mem);
	free(s);
}
