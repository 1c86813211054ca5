/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, over the facts of all streams on the device, the time for which each holds times
 * own / all, in millionths of the held time. A process counts all others on the device, those of
 * its own run included; which of them are ours is told by the streams.
 */
#include "share.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "wire/session.pb-c.h"

#define MILLION 1000000

struct point { /* a fact: so many processes, the one that tells it included, from t on */
	int64_t t;
	uint32_t processes;
};

struct spell { /* the time for which a process of the run was on the device */
	int64_t from, to;
};

struct told {
	struct point *point;
	struct spell *spell;
	size_t points, spells;
};

static void uuid_text(char out[48], const uint8_t u[16])
{
	snprintf(out, 48, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
}

/* The ordinal under which a stream knows the GPU, or -1. */
static int64_t ordinal_of(const struct ana_gpu *gpu, const struct view_stream *s)
{
	char text[48];

	if (!s->hello || !gpu->uuid || strcmp(s->hello->host, gpu->host) != 0)
		return -1;
	for (size_t d = 0; d < s->hello->n_devices; d++) {
		const Wire__Device *dev = s->hello->devices[d];
		if (dev->uuid.len != 16)
			continue;
		uuid_text(text, dev->uuid.data);
		if (strstr(gpu->uuid, text))
			return dev->ordinal;
	}
	return -1;
}

static bool others_at(const Wire__Facts *f, int64_t ordinal, uint32_t *others)
{
	for (size_t d = 0; d < f->n_devices; d++) {
		if (f->devices[d]->ordinal == ordinal) {
			*others = f->devices[d]->other_processes;
			return true;
		}
	}
	return false;
}

static int by_time(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

/* From its context to its last word, or what of that is known. */
static struct spell spell_of(const struct view_stream *s, int64_t ordinal, struct spell told)
{
	int64_t context = 0;

	for (size_t d = 0; d < s->hello->n_devices; d++)
		if (s->hello->devices[d]->ordinal == ordinal)
			context = s->hello->devices[d]->context_ns;
	if (!context)
		context = s->hello->armed_ns;
	if (context && context < told.from)
		told.from = context;
	if (s->last_pulse && s->last_pulse->t_ns > told.to)
		told.to = s->last_pulse->t_ns;
	if (s->bye && s->bye->t_ns > told.to)
		told.to = s->bye->t_ns;
	return told;
}

static void take_facts(const struct view_stream *s, int64_t ordinal, struct told *told)
{
	struct spell spell = { INT64_MAX, INT64_MIN };
	uint32_t others;

	for (size_t k = 0; k < s->fact_count; k++) {
		int64_t t = s->facts[k]->t_ns;
		if (!others_at(s->facts[k], ordinal, &others))
			continue;
		told->point[told->points++] = (struct point){ t, others + 1 };
		spell.from = t < spell.from ? t : spell.from;
		spell.to = t > spell.to ? t : spell.to;
	}
	if (spell.from <= spell.to)
		told->spell[told->spells++] = spell_of(s, ordinal, spell);
}

/* Everything the run's processes said about the device, in order of time. */
static bool collect(const struct ana_gpu *gpu, const struct view_trace *t, struct told *told)
{
	size_t room = 1;

	for (size_t i = 0; i < t->streams; i++)
		room += t->stream[i].fact_count;
	*told = (struct told){ .point = calloc(room, sizeof(*told->point)),
			       .spell = calloc(t->streams + 1, sizeof(*told->spell)) };
	if (!told->point || !told->spell)
		return false;
	for (size_t i = 0; i < t->streams; i++) {
		int64_t ordinal = ordinal_of(gpu, &t->stream[i]);
		if (ordinal >= 0)
			take_facts(&t->stream[i], ordinal, told);
	}
	qsort(told->point, told->points, sizeof(*told->point), by_time);
	return told->points > 0;
}

/* Processes of the run on the device; at least the one that tells. */
static uint32_t own_at(const struct told *told, int64_t t)
{
	uint32_t own = 0;

	for (size_t i = 0; i < told->spells; i++)
		own += told->spell[i].from <= t && t <= told->spell[i].to;
	return own ? own : 1;
}

/* Nanoseconds of the held time that the run pays for, times a million. */
static __int128 paid_for(const struct ana_gpu *gpu, const struct told *told)
{
	__int128 paid = 0;

	for (size_t i = 0; i < told->points; i++) {
		/* The first fact also speaks for the time before it, the last for the rest. */
		const struct point *p = &told->point[i];
		int64_t from = i ? p->t : gpu->held_start_ns;
		int64_t to = i + 1 < told->points ? told->point[i + 1].t : gpu->held_end_ns;
		uint32_t own = own_at(told, p->t);
		uint32_t all = p->processes > own ? p->processes : own;
		from = base_clamp(from, gpu->held_start_ns, gpu->held_end_ns);
		to = base_clamp(to, gpu->held_start_ns, gpu->held_end_ns);
		paid += (__int128)(to - from) * own * MILLION / all;
	}
	return paid;
}

/* Facts come about once a second; a part within their rounding of a small fraction is that. */
static void simplify(uint32_t *num, uint32_t *den)
{
	for (uint32_t d = 1; d <= 8; d++) {
		for (uint32_t k = 1; k <= d; k++) {
			int64_t off = (int64_t)*num * d - (int64_t)k * MILLION;
			if (off > -2 * (int64_t)d && off < 2 * (int64_t)d) {
				*num = k;
				*den = d;
				return;
			}
		}
	}
}

void view_share_of(const struct ana_gpu *gpu, const struct view_trace *t, uint32_t *num,
		   uint32_t *den)
{
	int64_t whole = gpu->held_end_ns - gpu->held_start_ns;
	struct told told = { 0 };

	*num = *den = 1;
	if (t && whole > 0 && collect(gpu, t, &told)) {
		*num = (uint32_t)((paid_for(gpu, &told) + whole / 2) / whole);
		*den = MILLION;
		simplify(num, den);
	}
	free(told.point);
	free(told.spell);
}
