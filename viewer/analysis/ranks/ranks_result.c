/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks_result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/note.h"
#include "base/hash.h"

static enum ana_class top_of(const int64_t causes[ANA_CLASSES])
{
	int top = ANA_CLASSES, c;

	for (c = 0; c < ANA_CLASSES; c++)
		if (causes[c] > 0 && (top == ANA_CLASSES || causes[c] > causes[top]))
			top = c;
	return (enum ana_class)top;
}

/* Where the rank's own time of that class went, by its own samples. */
static int set_hotspot(const struct ana_skew *k, struct ana_rank *r, uint32_t device)
{
	const struct ana_hotspots *s = &k->found[k->plan->device[device].component].hotspots;
	const struct ana_hotspot *best = NULL;
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		const struct ana_hotspot *hotspot = &s->row[i].hotspot;

		if (hotspot->class == r->top_cause && (hotspot->file || hotspot->function) &&
		    (!best || hotspot->ns > best->ns))
			best = hotspot;
	}
	if (!best)
		return 0;
	r->role = best->role;
	r->line = best->line;
	r->file = best->file ? strdup(best->file) : NULL;
	r->function = best->function ? strdup(best->function) : NULL;
	return (best->file && !r->file) || (best->function && !r->function) ? -ENOMEM : 0;
}

static int fill_row(struct ana_skew *k, size_t i)
{
	struct ana_skew_row *c = &k->attribution.row[i];
	struct ana_rank *r = &k->result->ranks.row[i];
	const struct ana_source *s = &k->plan->source[k->source[i]];
	const struct ana_collective_log *t = k->log[i];

	r->gpu = k->device[i];
	r->process = k->source[i];
	r->has_rank = s->hello && s->hello->has_rank;
	r->rank = s->hello ? s->hello->rank : 0;
	r->collectives = t->collectives + t->left_out;
	r->matched = c->matched;
	r->late = c->late;
	r->late_much = k->attribution.straggler[i].events;
	r->caused_ns = c->caused_ns;
	memcpy(r->causes, c->causes, sizeof(r->causes));
	r->waited_ns = c->waited_ns;
	r->lateness_median_ns = ana_lateness_median(&c->lateness);
	r->culprit = k->attribution.straggler[i].verdict;
	r->last_ns = t->last_ns; /* who has nothing on the log has no row */
	if (t->lanes) {
		r->last_name = strdup(t->lane[t->last_lane].text);
		if (!r->last_name)
			return -ENOMEM;
	}
	r->top_cause = top_of(r->causes);
	return r->top_cause < ANA_CLASSES ? set_hotspot(k, r, k->device[i]) : 0;
}

static int fill_clocks(struct ana_skew *k)
{
	struct ana_ranks *r = &k->result->ranks;
	uint32_t h;

	r->clock = calloc(k->hosts + 1u, sizeof(*r->clock));
	if (!r->clock)
		return -ENOMEM;
	for (h = 0; h < k->hosts; h++) {
		const struct ana_timebase *b = &k->align.host[h];
		const Wire__Hello *hello = k->plan->source[k->host_source[h]].hello;
		struct ana_clock *c = &r->clock[r->clocks++];

		*c = (struct ana_clock){ .host = strdup(hello ? hello->host : ""),
					 .offset_ns = ana_align_offset(b),
					 .drift_ppb = b->drift_ppb,
					 .residual_ns = b->points ? b->residual_ns : -1,
					 .points = b->points,
					 .aligned = b->aligned };
		if (!c->host)
			return -ENOMEM;
	}
	return 0;
}

static int by_matched(const void *a, const void *b)
{
	const struct ana_group *x = a, *y = b;

	if (x->matched != y->matched)
		return x->matched > y->matched ? -1 : 1;
	if (x->members != y->members)
		return x->members > y->members ? -1 : 1;
	return memcmp(x->member, y->member, x->members * sizeof(*x->member));
}

static int fill_group(struct ana_skew *k, uint32_t i)
{
	const struct ana_member_set *from = &k->groups.group[i];
	struct ana_group *g = &k->result->ranks.group[k->result->ranks.groups++];
	uint32_t gpu = from->gpu[0];
	const struct ana_lane *l = &k->log[gpu]->lane[from->lane - k->groups.first_lane[gpu]];

	g->name = strdup(l->text);
	g->member = malloc(from->gpus * sizeof(*g->member));
	if (!g->name || !g->member)
		return -ENOMEM;
	memcpy(g->member, from->gpu, from->gpus * sizeof(*g->member));
	g->members = from->gpus;
	g->told = k->groups.key[from->lane] != l->hash;
	g->matched = k->attribution.group[i].matched;
	g->refused = k->attribution.group[i].refused;
	g->waited_ns = k->attribution.group[i].waited_ns;
	return 0;
}

static int fill_groups(struct ana_skew *k)
{
	struct ana_ranks *r = &k->result->ranks;
	uint32_t i;
	int err = 0;

	r->group = calloc(k->groups.groups + 1u, sizeof(*r->group));
	if (!r->group)
		return -ENOMEM;
	for (i = 0; i < k->groups.groups && !err; i++)
		err = fill_group(k, i);
	if (!err && r->groups)
		qsort(r->group, r->groups, sizeof(*r->group), by_matched);
	return err;
}

static void fill_gpus(struct ana_skew *k)
{
	size_t i;
	int c;

	for (i = 0; i < k->gpus; i++) {
		struct ana_gpu *g = &k->result->gpu[k->device[i]];

		for (c = 0; c < ANA_CLASSES; c++)
			g->skew_causes[c] += k->attribution.row[i].causes_waited[c];
	}
}

/* --- how fast they are --- */

static size_t count_speeds(const struct ana_skew *k)
{
	size_t rows = 0, i;
	uint32_t l;

	for (i = 0; i < k->gpus; i++) {
		const struct ana_kernel_speed *p = &k->plan->device[k->device[i]].recorder->speed;

		for (l = 0; l < p->lists; l++)
			rows += p->list[l].room;
	}
	return rows;
}

static size_t add_speeds(const struct ana_skew *k, size_t gpu, struct ana_kernel_speed_row *row)
{
	const struct ana_kernel_speed *p = &k->plan->device[k->device[gpu]].recorder->speed;
	size_t rows = 0;
	uint32_t l, n;

	for (l = 0; l < p->lists; l++) {
		const struct view_stream *s = k->plan->source[p->list[l].source].s;

		for (n = 0; n < p->list[l].room; n++) {
			const struct ana_kernel_time *cell = &p->list[l].cell[n];
			const char *name = cell->count ? wire_strtab_get(s->strings, n, NULL) : "";

			if (cell->count)
				row[rows++] = (struct ana_kernel_speed_row){
					base_hash_text(BASE_HASH, name), (uint32_t)gpu, cell->count,
					cell->ns
				};
		}
	}
	return rows;
}

static int fill_speeds(struct ana_skew *k)
{
	struct ana_kernel_speed_row *row = malloc((count_speeds(k) + 1) * sizeof(*row));
	struct ana_kernel_speed_found *found = calloc(k->gpus + 1, sizeof(*found));
	size_t rows = 0, i;

	for (i = 0; row && i < k->gpus; i++)
		rows += add_speeds(k, i, row + rows);
	if (row && found)
		ana_kernel_speed_compare(row, rows, found, k->gpus);
	for (i = 0; found && i < k->gpus; i++) {
		struct ana_rank *r = &k->result->ranks.row[i];

		r->has_straggler = found[i].known;
		r->straggler_ppm = found[i].ppm;
		r->straggler = found[i].known && found[i].ppm >= ANA_KERNEL_SPEED_SLOW_PPM;
	}
	free(row);
	free(found);
	return row && found ? 0 : -ENOMEM;
}

/* --- remarks --- */

static int note_refused(struct ana_skew *k)
{
	const struct ana_ranks *r = &k->result->ranks;
	uint64_t all = r->refused;
	char text[240];
	size_t i;

	for (i = 0; i < r->rows; i++)
		all += r->row[i].matched;
	if (!r->refused)
		return 0;
	snprintf(text, sizeof(text),
		 "%llu of %llu kernels of collectives have no counterpart on other GPUs, or none "
		 "that is certain: the time that their ranks waited for each other stays comm",
		 (unsigned long long)r->refused, (unsigned long long)all);
	return ana_quality_note(&k->result->quality, text);
}

static int note_clocks(struct ana_skew *k)
{
	char text[320];
	uint32_t h;
	int err = 0;

	for (h = 0; h < k->hosts && !err; h++) {
		if (k->align.host[h].aligned)
			continue;
		snprintf(text, sizeof(text),
			 "the clock of %.200s could not be aligned with the others': its ranks are "
			 "compared among themselves only",
			 k->result->ranks.clock[h].host);
		err = ana_quality_note(&k->result->quality, text);
	}
	return err;
}

static int note_full(struct ana_skew *k)
{
	const struct ana_collective_log *t = NULL;
	size_t i, full = 0;
	char text[320];

	for (i = 0; i < k->gpus; i++) {
		full += k->log[i]->full;
		t = !t && k->log[i]->full ? k->log[i] : t;
	}
	if (!t)
		return 0;
	snprintf(
		text, sizeof(text),
		"more collectives than memory has room for, and no temporary file that takes the rest "
		"(%.80s; TMPDIR says where): in the later ones of %zu GPU%s, the time that ranks "
		"waited for each other stays comm",
		t->spill_err ? strerror(-t->spill_err) : "none", full, full == 1 ? "" : "s");
	return ana_quality_note(&k->result->quality, text);
}

static int note_state(struct ana_skew *k, const struct ana_rank *r)
{
	const struct ana_gpu *g = &k->result->gpu[r->gpu];
	const char *what = r->state == ANA_RANK_DEAD ? "ended while others went on"
						     : "came to no further collective";
	char text[400], who[96];

	if (r->state == ANA_RANK_ENDED)
		return 0;
	if (r->has_rank)
		snprintf(who, sizeof(who), "rank %d", r->rank);
	else
		snprintf(who, sizeof(who), "the rank on GPU %u", g->index);
	snprintf(text, sizeof(text),
		 "%s (%.80s) is %s: it %s; the last collective seen of it was %.120s", who, g->host,
		 ana_rank_state_names[r->state], what, r->last_name ? r->last_name : "none");
	return ana_quality_note(&k->result->quality, text);
}

static int fill_notes(struct ana_skew *k)
{
	size_t i;
	int err = note_refused(k);

	if (!err)
		err = note_clocks(k);
	if (!err)
		err = note_full(k);
	for (i = 0; i < k->gpus && !err; i++)
		err = note_state(k, &k->result->ranks.row[i]);
	return err;
}

int ana_ranks_result_make(struct ana_skew *k)
{
	struct ana_ranks *r = &k->result->ranks;
	size_t i;
	int err = 0;

	r->row = calloc(k->gpus + 1, sizeof(*r->row));
	if (!r->row)
		return -ENOMEM;
	for (i = 0; i < k->gpus && !err; i++, r->rows++)
		err = fill_row(k, i);
	r->matched = k->attribution.matched;
	for (i = 0; i < k->gpus; i++) {
		r->refused += k->attribution.row[i].refused + k->log[i]->left_out;
		ana_sum(&r->refused_ns, k->attribution.row[i].refused_ns);
		r->p2p += k->log[i]->p2p;
		r->p2p_matched += k->attribution.row[i].sent;
	}
	r->late_ns = k->attribution.late_ns;
	r->step_ns = k->attribution.step_ns;
	r->pair_ns = k->attribution.pair_ns;
	k->attribution.pair_ns = NULL;
	if (!err)
		err = fill_clocks(k);
	if (!err)
		err = fill_groups(k);
	if (!err)
		err = fill_speeds(k);
	if (err)
		return err;
	fill_gpus(k);
	ana_skew_faults(k);
	return fill_notes(k);
}
