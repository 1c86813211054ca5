/* SPDX-License-Identifier: Apache-2.0 */
/* A row per GPU, the flagged first. */
#include <inttypes.h>
#include <string.h>
#include "html_priv.h"

#define UUIDS_MAX 32 /* of more GPUs host and index alone are told */

static bool several_hosts(const struct ana_result *r)
{
	for (size_t i = 1; i < r->gpus; i++)
		if (r->gpu[i].host && r->gpu[0].host && strcmp(r->gpu[i].host, r->gpu[0].host))
			return true;
	return false;
}

/* "Rank 3, ", where it has one. */
static void put_rank(struct html *h, size_t g, const char *word)
{
	const struct ana_ranks *r = &h->s->result->ranks;
	size_t row = 0;

	while (row < r->rows && (r->row[row].gpu != g || !r->row[row].has_rank))
		row++;
	if (row == r->rows)
		return;
	html_rank_name(h, row, word);
	html_put(h, ", ");
}

void html_gpu_place(struct html *h, size_t g)
{
	const struct ana_result *r = h->s->result;
	const struct ana_gpu *gpu = &r->gpu[g];

	put_rank(h, g, "Rank ");
	html_put(h, "GPU ");
	html_id(h, gpu->index, "/gpus/%zu/index", g);
	if (several_hosts(r)) {
		html_put(h, " of ");
		html_text(h, "bdi", gpu->host, "/gpus/%zu/host", g);
	}
}

/*
 * It ran a collective while it waited there for a rank that was late by input: that is busy, too.
 */
static bool waits_in_collectives(const struct ana_gpu *g)
{
	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_input((enum ana_class)c) && g->skew_causes[c])
			return true;
	return false;
}

/* "busy 12.0 %, waited for input 0.2 % of its training time"; the table's are of all time held. */
void html_gpu_shares(struct html *h, size_t g)
{
	const struct ana_gpu *gpu = &h->s->result->gpu[g];
	const char *key = base_arena_printf(&h->mem, "/gpus/%zu/held_ns", g);
	int64_t working = view_gpu_working_ns(gpu);

	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_outside(c) && gpu->classes[c])
			key = base_arena_printf(&h->mem, "%s - /gpus/%zu/classes/%s", key, g,
						ana_class_names[c]);
	html_put(h, "busy ");
	html_pct(h, base_ppm(gpu->busy_ns, working), "/gpus/%zu/busy_ns %% %s", g, key);
	html_put(h, ", waited for input ");
	html_pct(h, base_ppm(view_gpu_starved_ns(gpu), working), "/gpus/%zu/starved_ns %% %s", g,
		 key);
	html_put_kind(h, waits_in_collectives(gpu)
				 ? ", in part within collectives, of its training time"
				 : " of its training time");
}

static void put_name(struct html *h, size_t i)
{
	const struct ana_gpu *g = &h->s->result->gpu[i];

	html_text(h, "bdi", g->name, "/gpus/%zu/name", i);
	html_put(h, " <span class=\"soft small\">");
	put_rank(h, i, "rank ");
	html_put(h, "on ");
	if (g->host && g->host[0])
		html_text(h, "bdi", g->host, "/gpus/%zu/host", i);
	else
		html_put(h, "an unknown host");
	if (g->uuid && h->s->result->gpus <= UUIDS_MAX) {
		html_put(h, "<br>");
		html_text(h, "bdi class=\"mono\"", g->uuid, "/gpus/%zu/uuid", i);
	}
	if (g->mig_profile) {
		html_put(h, ", MIG ");
		html_text(h, "bdi", g->mig_profile, "/gpus/%zu/mig_profile", i);
	}
	if (g->shared_with) {
		html_put(h, ", shared with ");
		html_count(h, g->shared_with, "/gpus/%zu/shared_with", i);
		html_put(h, g->shared_with == 1 ? " other process" : " other processes");
	}
	html_put(h, "</span>");
}

static bool memory_is_known(const struct ana_result *r)
{
	for (size_t i = 0; i < r->gpus; i++)
		if (r->gpu[i].memory_used_peak_bytes)
			return true;
	return false;
}

static void put_memory(struct html *h, size_t i)
{
	const struct ana_gpu *g = &h->s->result->gpu[i];

	if (!g->memory_used_peak_bytes)
		return;
	html_bytes(h, g->memory_used_peak_bytes, "/gpus/%zu/memory_used_peak_bytes", i);
	if (g->memory_total_bytes) {
		html_put(h, " of ");
		html_bytes(h, g->memory_total_bytes, "/gpus/%zu/memory_total_bytes", i);
	}
}

static void put_row(struct html *h, size_t i)
{
	const struct ana_gpu *g = &h->s->result->gpu[i];

	html_put(h, "<tr>");
	HTML_ROW(h, html_id(h, g->index, "/gpus/%zu/index", i));
	HTML_CELL_IN(h, "td class=\"wide\"", put_name(h, i));
	HTML_NUMBER(h, html_ns(h, g->held_ns, "/gpus/%zu/held_ns", i));
	HTML_NUMBER(h, html_pct(h, base_ppm(g->busy_ns, g->held_ns),
				"/gpus/%zu/busy_ns %% /gpus/%zu/held_ns", i, i));
	HTML_NUMBER(h, html_pct(h, base_ppm(view_gpu_starved_ns(g), g->held_ns),
				"/gpus/%zu/starved_ns %% /gpus/%zu/held_ns", i, i));
	if (h->s->cost.known)
		HTML_NUMBER(h, html_usd(h, view_gpu_nano_usd(h->s, i), "/gpus/%zu/usd", i));
	if (memory_is_known(h->s->result))
		HTML_NUMBER(h, put_memory(h, i));
	fprintf(h->f, "<td%s>%s</td></tr>\n", g->judgement.flagged ? " class=\"bad\"" : "",
		view_gpu_verdict_words(h->s, i, &h->mem));
}

void html_gpus(struct html *h)
{
	const struct ana_result *r = h->s->result;
	size_t shown = 0;

	if (!r->gpus)
		return;
	html_section(h, "gpus", "GPUs");
	html_table(h, "Each GPU, flagged ones first");
	if (memory_is_known(r))
		HTML_HEADS(h, "#", "GPU", "n:Held", "n:Busy, of that", "n:Lost to input, of that",
			   "$:Cost", "n:Memory, peak", "Diagnosis");
	else
		HTML_HEADS(h, "#", "GPU", "n:Held", "n:Busy, of that", "n:Lost to input, of that",
			   "$:Cost", "Diagnosis");
	for (int flagged = 1; flagged >= 0; flagged--)
		for (size_t i = 0; i < r->gpus && shown < html_budget(h, HTML_GPUS_MAX); i++)
			if (r->gpu[i].judgement.flagged == flagged) {
				put_row(h, i);
				shown++;
			}
	html_table_end(h);
	if (r->gpus > shown) {
		fprintf(h->f, "<p class=\"soft\">%zu of ", shown);
		html_count(h, r->gpus, "#/gpus");
		html_put(h, " GPUs are listed; summary.json has all.</p>\n");
	}
	html_section_end(h);
}
