/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspots_kept.h"

#include "analysis/archive.h"
#include "facts/feeder.h"

static void archive_chain(struct ana_hotspot_chain *c, struct ana_archive *a)
{
	ana_archive_text(a, &c->text);
	ana_archive_time(a, &c->lead);
	for (size_t i = 0; i < ANA_CHAIN_DEPTH + 1; i++) {
		ana_archive_field(a, c->link[i].samples);
		c->link[i].confidence =
			(uint8_t)ana_archive_number(a, c->link[i].confidence, ANA_CONFIDENCES - 1);
	}
}

static void archive_texts(struct ana_hotspot *h, struct ana_archive *a)
{
	ana_archive_text(a, &h->function);
	ana_archive_text(a, &h->file);
	ana_archive_text(a, &h->leaf);
	ana_archive_text(a, &h->native);
	ana_archive_text(a, &h->has_cpu);
	ana_archive_text(a, &h->target);
	ana_archive_text(a, &h->fs);
}

/* A part of what is left of @left, which all of its kind share: who reads them adds them up. */
static void archive_part(struct ana_archive *a, int64_t *ns, int64_t *left)
{
	ana_archive_time(a, ns);
	ana_archive_check(a, *ns >= 0 && *ns <= *left);
	*left -= a->err ? 0 : *ns;
}

/* What merge_row() asks for. @left: of the time of all rows and of what is nearby. */
static void archive_row(struct ana_hotspot_row *r, struct ana_archive *a, int64_t *left)
{
	int64_t by_left;

	struct ana_hotspot *h = &r->hotspot;

	archive_texts(h, a);
	h->class = (enum ana_class)ana_archive_number(a, h->class, ANA_CLASSES - 1);
	archive_part(a, &h->ns, left);
	by_left = h->ns;
	ana_archive_field(a, h->role);
	ana_archive_field(a, h->wait);
	ana_archive_bool(a, &h->runnable);
	ana_archive_field(a, h->line);
	ana_archive_field(a, h->samples);
	ana_archive_field(a, h->threads);
	ana_archive_field(a, h->workers);
	h->feeder = (uint8_t)ana_archive_number(a, h->feeder, FACTS_FEEDERS - 1);
	for (int c = 0; c < ANA_CONFIDENCES; c++)
		archive_part(a, &r->by[c], &by_left);
	for (int kind = 0; kind < ANA_PIECE_KINDS; kind++) {
		ana_archive_time(a, &r->stand_ns[kind]);
		ana_archive_check(a, r->stand_ns[kind] >= 0);
	}
	archive_chain(&r->chain, a);
}

void ana_hotspots_archive(struct ana_hotspots *s, struct ana_archive *a)
{
	int64_t left = ANA_ARCHIVE_TIME_MAX, medium;

	ana_archive_vec(a, s->row, s->count, ANA_HOTSPOTS_MAX);
	for (uint32_t i = 0; i < s->count; i++)
		archive_row(&s->row[i], a, &left);
	archive_part(a, &s->other_ns, &left);
	for (int kind = 0; kind < ANA_PIECE_KINDS; kind++)
		for (int c = 0; c < ANA_CLASSES; c++) {
			archive_part(a, &s->nearby_ns[kind][c], &left);
			medium = s->nearby_ns[kind][c];
			archive_part(a, &s->medium_ns[kind][c], &medium);
		}
	ana_targets_archive(&s->targets, a);
}

static void archive_open_row(struct ana_hotspot_row *r, struct ana_archive *a)
{
	ana_archive_time(a, &r->leaf_lead);
	ana_archive_time(a, &r->native_lead);
	ana_archive_time(a, &r->cpu_lead);
	ana_archive_field(a, r->chain_piece);
	ana_archive_field(a, r->chain_path);
	ana_archive_vec(a, r->thread, r->threads, ANA_HOTSPOT_THREADS_MAX);
	if (a->reading)
		r->thread_room = r->threads;
	ana_archive_bytes(a, r->thread, r->threads * sizeof(*r->thread));
}

void ana_hotspots_archive_open(struct ana_hotspots *s, struct ana_archive *a)
{
	int err;

	ana_hotspots_archive(s, a);
	for (uint32_t i = 0; i < s->count; i++)
		archive_open_row(&s->row[i], a);
	ana_archive_field(a, s->pieces);
	if (!a->reading)
		return;
	err = ana_hotspots_index(s);
	a->err = a->err ? a->err : err;
}
